"""Time from data to a solver's arrays, fsopt beside cvxpy: ``python benchmarks/modelling.py --repeat 5``.

The seconds of fsopt are those of ``build``, ``compile_model`` and the solver's arrays; those of cvxpy, of the same
problem and ``get_problem_data``, its arrays for the solver. Neither calls the solver. The two alternate in one process,
A B A B, so that the load of the computer is the same for both. The ratio is fsopt / cvxpy. The exit code is 1 if the
median ratio of ``onsvm`` exceeds 1.5.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import fsopt
from fsopt.compiler import compile_model
from fsopt.models.gmeb.moments import second_moments
from fsopt.models.mpm.moments import Moments, kappa
from fsopt.solvers.conic import ConicForm

try:
    import cvxpy as cp
except ImportError:
    cp = None

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


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    gc.collect()
    started = time.perf_counter()
    result = action()
    return time.perf_counter() - started, result


def ours(case: Case, data: fsopt.Dataset) -> Any:
    program = compile_model(fsopt.build(case.slug, data, **case.params))
    if case.solver == "highs":
        return program  # its arrays are what HiGHS is given
    form = ConicForm(program)
    return form.hessian(), form.linear(), form.matrix(), form.right_hand_side()


def theirs(case: Case, data: fsopt.Dataset) -> Any:
    return case.other(data).get_problem_data(case.solver.upper())


def measure(case: Case, repeat: int) -> list[tuple[float, float]]:
    """Return pairs (fsopt, cvxpy) of seconds; a first pair, not measured, loads the modules."""
    small, data = make_data(20, 5), make_data(case.n, case.p)
    ours(case, small)
    theirs(case, small)
    return [(timed(lambda: ours(case, data))[0], timed(lambda: theirs(case, data))[0]) for _ in range(repeat)]


def disagreement(case: Case) -> float:
    """Return the relative difference of both optima on a small instance, which shows that the problems are the same."""
    data = make_data(60, 8)
    value = fsopt.solve(fsopt.build(case.slug, data, **case.params), case.solver).objective
    other = case.other(data).solve(solver=case.solver.upper())
    if value is None:
        return float("inf")
    return abs(value - other) / max(1.0, abs(other))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=5, help="pairs of measurements per problem")
    args = parser.parse_args()
    if args.repeat < 1:
        parser.error("--repeat must be at least 1")
    if cp is None:
        print("cvxpy is not installed: pip install 'fsopt[bench]'", file=sys.stderr)
        return 2
    table = Table(title="data to solver arrays, seconds (median of pairs)")
    for heading in ("model", "n x p", "solver", "fsopt", "cvxpy", "ratio", "min", "max"):
        table.add_column(heading, justify="left" if heading in ("model", "solver") else "right")
    medians: dict[str, float] = {}
    for case in CASES:
        if (difference := disagreement(case)) > 1e-5:
            print(f"{case.slug}: optima differ by {difference:.2g}, the comparison is void", file=sys.stderr)
            return 2
        pairs = measure(case, args.repeat)
        ratios = [a / b for a, b in pairs]
        medians[case.slug] = median(ratios)
        seconds = (f"{median(column):.3f}" for column in zip(*pairs, strict=True))
        spread = (f"{x:.2f}" for x in (medians[case.slug], min(ratios), max(ratios)))
        table.add_row(case.slug, f"{case.n} x {case.p}", case.solver, *seconds, *spread)
    Console().print(table)
    if medians["onsvm"] > LIMIT:
        print(f"onsvm: ratio {medians['onsvm']:.2f} exceeds {LIMIT}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
