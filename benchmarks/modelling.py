"""Time from data to a solver's arrays, fsopt beside others: ``python benchmarks/modelling.py --repeat 5``.

The seconds of fsopt are those of ``build``, ``compile_model`` and the solver's arrays; those of cvxpy, of the same
problem and ``get_problem_data``, its arrays for the solver; those of linopy, of the problem and its ``matrices``; and
``by hand`` is the linear program as one passes it to highspy, from matrices of SciPy. None calls the solver. They
alternate in one process, A B A B, so that the load of the computer is the same for all, and seconds are CPU seconds.
``-o FILE`` appends the seconds of each round. The ratio is that of fsopt to the other one. The exit code is 1 if the
median ratio of ``onsvm`` to cvxpy exceeds 1.5.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import highspy
import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table

import fsopt
from fsopt.compiler import compile_model
from fsopt.models.gmeb.norm import second_moments
from fsopt.models.mpm.moments import Moments, kappa
from fsopt.solvers.conic import ConicForm

try:
    import cvxpy as cp
except ImportError:
    cp = None

try:
    import linopy
    import xarray
except ImportError:
    linopy = None

LIMIT = 1.5
"""Largest median ratio of onsvm."""


@dataclass(frozen=True)
class Case:
    """One problem: its size, parameters, the solver on both sides, and the same problem in cvxpy."""

    slug: str
    n: int
    p: int
    params: dict[str, Any]
    solver: str
    other: Callable[[fsopt.Dataset], Any]


def onsvm(data: fsopt.Dataset) -> Any:
    plus, minus = cp.Variable(data.p, nonneg=True), cp.Variable(data.p, nonneg=True)
    w, b = cp.Variable(data.p), cp.Variable()
    xi = cp.Variable(data.n, nonneg=True)
    constraints = [(data.X * data.y[:, None]) @ w + data.y * b + xi >= 1, w == plus - minus]
    return cp.Problem(cp.Minimize(cp.sum(plus) + cp.sum(minus) + cp.sum(xi)), constraints)


def gmeb_dual(data: fsopt.Dataset) -> Any:
    v_plus, v_minus = second_moments(data)
    mu, s = cp.Variable(data.n), cp.Variable(data.p)
    mu1, mu_plus, mu_minus = (cp.Variable(nonneg=True) for _ in range(3))
    q = v_plus * mu_plus + v_minus * mu_minus
    ones = np.ones(data.p)
    constraints = [
        (data.X * data.y[:, None]).T @ mu == s,
        data.y @ mu == 0,
        mu >= 0,
        mu <= 1,
        cp.SOC(mu1 * ones + q, cp.vstack([s, mu1 * ones - q]), axis=0),
    ]
    return cp.Problem(cp.Maximize(cp.sum(mu) - mu1 - 3.0 * mu_plus - 3.0 * mu_minus), constraints)


def l1_mpm(data: fsopt.Dataset) -> Any:
    moments, k = Moments.of(data), kappa(0.5)
    plus, minus = cp.Variable(data.p, nonneg=True), cp.Variable(data.p, nonneg=True)
    w, b = cp.Variable(data.p), cp.Variable()
    m1, m2 = cp.Variable(), cp.Variable()
    constraints = [
        w == plus - minus,
        moments.mean1 @ w - b == m1,
        b - moments.mean2 @ w == m2,
        m1 >= k * cp.norm(moments.factor1 @ w, 2),
        m2 >= k * cp.norm(moments.factor2 @ w, 2),
        m1 >= 1,
        m2 >= 1,
    ]
    return cp.Problem(cp.Minimize(cp.sum(plus) + cp.sum(minus)), constraints)


def fsp_sub(data: fsopt.Dataset) -> Any:
    w, u = cp.Variable(data.p), cp.Variable(data.p)
    b = cp.Variable()
    xi = cp.Variable(data.n, nonneg=True)
    constraints = [
        (data.X * data.y[:, None]) @ w + data.y * b + xi >= 1,
        w == cp.multiply(np.ones(data.p), u),
    ]
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(u) + cp.sum(xi)), constraints)


def onsvm_in_linopy(data: fsopt.Dataset) -> Any:
    m = linopy.Model()
    samples, features = range(data.n), range(data.p)
    plus, minus = (m.add_variables(0, coords={"j": features}, dims=["j"], name=name) for name in ("w+", "w-"))
    w, b = m.add_variables(coords={"j": features}, dims=["j"], name="w"), m.add_variables(name="b")
    xi = m.add_variables(0, coords={"i": samples}, dims=["i"], name="xi")
    signed = xarray.DataArray(data.X * data.y[:, None], {"i": samples, "j": features}, ["i", "j"])
    labels = xarray.DataArray(data.y, {"i": samples}, ["i"])
    m.add_constraints((signed * w).sum("j") + labels * b + xi >= 1)
    m.add_constraints(w - plus + minus == 0)
    m.add_objective(plus.sum() + minus.sum() + xi.sum())
    return m


def onsvm_by_hand(data: fsopt.Dataset) -> highspy.HighsLp:
    n, p = data.n, data.p
    eye = sp.identity(p, format="csr")
    margins = [sp.csr_matrix(data.X * data.y[:, None]), data.y[:, None], sp.csr_matrix((n, 2 * p)), sp.identity(n)]
    A = sp.vstack([sp.hstack(margins), sp.hstack([eye, sp.csr_matrix((p, 1)), -eye, eye, sp.csr_matrix((p, n))])])
    A = A.tocsr()
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = A.shape[1], A.shape[0]
    lp.col_cost_ = np.concatenate([np.zeros(p + 1), np.ones(2 * p + n)])
    lp.col_lower_ = np.concatenate([np.full(p + 1, -np.inf), np.zeros(2 * p + n)])
    lp.col_upper_ = np.full(A.shape[1], np.inf)
    lp.row_lower_ = np.concatenate([np.ones(n), np.zeros(p)])
    lp.row_upper_ = np.concatenate([np.full(n, np.inf), np.zeros(p)])
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = A.indptr, A.indices
    lp.a_matrix_.value_ = A.data
    return lp


CASES = (
    Case("onsvm", 1000, 800, {"c": 1.0}, "highs", onsvm),
    Case("gmeb-dual", 200, 500, {"r_plus": 3.0, "r_minus": 3.0}, "clarabel", gmeb_dual),
    Case("l1-mpm", 400, 300, {"delta": 0.5}, "clarabel", l1_mpm),
    Case("fsp-sub", 1000, 100, {"c": 1.0}, "clarabel", fsp_sub),
)


def make_data(n: int, p: int, seed: int = 0) -> fsopt.Dataset:
    """Return two Gaussian classes that differ in a tenth of the features, centred."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = rng.standard_normal((n, p))
    X[:, : max(1, p // 10)] += 1.5 * y[:, None]
    return fsopt.Dataset(X - X.mean(axis=0), y)


def seconds(action: Callable[[], Any]) -> float:
    gc.collect()
    started = time.process_time()
    action()
    return time.process_time() - started


def ours(case: Case, data: fsopt.Dataset) -> Any:
    program = compile_model(fsopt.build(case.slug, data, **case.params))
    if case.solver == "highs":
        return program  # its arrays are what HiGHS is given
    form = ConicForm(program)
    return form.hessian(), form.linear(), form.matrix(), form.right_hand_side()


def others(case: Case) -> dict[str, Callable[[fsopt.Dataset], Any]]:
    """Return name -> the same arrays by other software."""
    found: dict[str, Callable[[fsopt.Dataset], Any]] = {
        "cvxpy": lambda data: case.other(data).get_problem_data(case.solver.upper())
    }
    if case.slug == "onsvm":
        if linopy is not None:
            found["linopy"] = lambda data: (lambda m: (m.A, m.b, m.c, m.lb, m.ub))(onsvm_in_linopy(data).matrices)
        found["by hand"] = onsvm_by_hand
    return found


def measure(case: Case, repeat: int) -> list[dict[str, float]]:
    """Return rounds of name -> seconds; a first round, not measured, loads the modules."""
    small, data = make_data(20, 5), make_data(case.n, case.p)
    actions = {"fsopt": lambda data: ours(case, data), **others(case)}
    for action in actions.values():
        action(small)
    return [{name: seconds(lambda f=action: f(data)) for name, action in actions.items()} for _ in range(repeat)]


def optima(case: Case, data: fsopt.Dataset) -> list[float]:
    """Return the optima of a small instance by each software, which shows that the problems are the same."""
    found = [fsopt.solve(fsopt.build(case.slug, data, **case.params), case.solver).objective or np.nan]
    found.append(case.other(data).solve(solver=case.solver.upper()))
    if case.slug == "onsvm":
        programs = [onsvm_by_hand(data)]
        programs += [] if linopy is None else [linopy.io.to_highspy(onsvm_in_linopy(data)).getLp()]
        for program in programs:
            solver = highspy.Highs()
            solver.setOptionValue("output_flag", False)
            solver.passModel(program)
            solver.run()
            found.append(solver.getObjectiveValue())
    return found


def append(path: Path, case: Case, name: str, rounds: list[dict[str, float]]) -> None:
    """Append a line with the seconds of fsopt and of other software."""
    row = {"group": "arrays", "case": case.slug, "data": f"{case.n} x {case.p}", "beside": name}
    row |= {"fsopt": [one["fsopt"] for one in rounds], "other": [one[name] for one in rounds]}
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(row) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=5, help="pairs of measurements per problem")
    parser.add_argument("-o", "--output", type=Path, help="append the seconds of each round to this file (JSON lines)")
    args = parser.parse_args()
    if args.repeat < 1:
        parser.error("--repeat must be at least 1")
    if cp is None:
        print("cvxpy is not installed: pip install 'fsopt[bench]'", file=sys.stderr)
        return 2
    table = Table("model", "n x p", "solver", "beside", title="data to solver arrays, CPU seconds (medians of rounds)")
    for heading in ("fsopt", "other", "ratio", "min", "max"):
        table.add_column(heading, justify="right")
    medians: dict[str, float] = {}
    for case in CASES:
        found = optima(case, make_data(60, 8))
        if not np.ptp(found) <= 1e-5 * max(1.0, abs(found[0])):
            print(f"{case.slug}: the optima {found} differ, the comparison is void", file=sys.stderr)
            return 2
        rounds = measure(case, args.repeat)
        for name in others(case):
            ratios = [one["fsopt"] / one[name] for one in rounds]
            if args.output:
                append(args.output, case, name, rounds)
            if name == "cvxpy":
                medians[case.slug] = median(ratios)
            spent = (f"{median(one[who] for one in rounds):.3f}" for who in ("fsopt", name))
            spread = (f"{x:.2f}" for x in (median(ratios), min(ratios), max(ratios)))
            table.add_row(case.slug, f"{case.n} x {case.p}", case.solver, name, *spent, *spread)
    Console().print(table)
    if medians["onsvm"] > LIMIT:
        print(f"onsvm: ratio {medians['onsvm']:.2f} exceeds {LIMIT}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
