"""Cost of re-solving: the loops of fsopt beside the same loops written by hand on the arrays of the solver.

``python benchmarks/resolve.py --repeat 3``. For each loop: the total seconds of the driver after the first iteration
over the seconds of its solver (the rest is modelling, reading back and certifying); the seconds of the first solve over
the mean of the third and later ones (the saving of a warm start); and the total seconds of the driver beside those of
hand-written code for the same number of solves, in turn, A B A B. The hand-written code builds no arrays and certifies
nothing; its HiGHS starts by primal simplex, that of fsopt by interior point from 30,000 nonzeros on. The script ends
with 1 where the median of the last column is above the loop's aim, the number behind its data. ``-o FILE`` appends the
seconds of each round. Seconds are CPU seconds: those of a clock differ threefold between two runs on a shared machine.

The first of these ratios has no aim: it divides by the seconds of warm solves, rises where these fall, and says nothing
of the whole. It was 1.27 for a loop with 0.57 of the seconds of hand-written code, and 1.18 for one with 1.23.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import clarabel
import highspy
import numpy as np
from rich.console import Console
from rich.table import Table

import fsopt
from fsopt.answers.results import DriverResult
from fsopt.compiler import Program, compile_model
from fsopt.data import Dataset, gbd_set_one
from fsopt.drivers.dca import dca
from fsopt.drivers.gbd.driver import GbdSettings, gbd
from fsopt.drivers.penalties import Exponential
from fsopt.drivers.sla import ConcaveTerms, sla
from fsopt.models.sla.hyperplane import exponential_costs
from fsopt.solvers.conic import ConicForm

time.perf_counter = time.process_time  # also in the records of the drivers
PHASES = ("translate", "update", "solve", "load")


def data(n: int, p: int, gap: float = 0.3) -> Dataset:
    rng = np.random.default_rng(0)
    y = np.where(rng.standard_normal(n) > 0, 1.0, -1.0)
    return Dataset(rng.standard_normal((n, p)) + gap * y[:, None] * (np.arange(p) < 10), y)


def run_sla(source: Dataset) -> DriverResult:
    model = fsopt.build("fsv-step", source, lam=0.05)
    return sla(model, ConcaveTerms((("v", "cost_v"),), 5.0, weight=0.05))


def run_misclass(source: Dataset) -> DriverResult:
    model = fsopt.build("misclass-step", source)
    return sla(model, ConcaveTerms((("y", "cost_y"), ("z", "cost_z")), 5.0))


def hand_misclass(source: Dataset, solves: int) -> float:
    program = compile_model(fsopt.build("misclass-step", source))
    errors = (*program.model.y.values(), *program.model.z.values())
    return _hand_sla(program, np.array([program.column[id(v)] for v in errors]), 1.0, solves)


def hand_sla(source: Dataset, solves: int) -> float:
    program = compile_model(fsopt.build("fsv-step", source, lam=0.05))
    columns = np.array([program.column[id(v)] for v in program.model.v.values()])
    return _hand_sla(program, columns, 0.05, solves)


def _hand_sla(program: Program, columns: np.ndarray[Any, Any], weight: float, solves: int) -> float:
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    A = program.A
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = program.n, A.shape[0]
    lp.col_cost_ = program.c
    lp.col_lower_, lp.col_upper_ = program.lb, program.ub
    lp.row_lower_, lp.row_upper_ = program.lo, program.hi
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = A.indptr, A.indices
    lp.a_matrix_.value_ = A.data
    h.passModel(lp)
    h.setOptionValue("simplex_strategy", 4)
    started = time.process_time()
    for _ in range(solves):
        h.run()
        v = np.array(h.getSolution().col_value)[columns]
        h.changeColsCost(len(columns), columns.astype(np.int32), weight * exponential_costs(5.0, np.maximum(v, 0)))
    return time.process_time() - started


def run_dca(source: Dataset) -> DriverResult:
    return dca(fsopt.build("l0-mpm-step", source, delta=0.3), Exponential(5.0))


def hand_dca(source: Dataset, solves: int) -> float:
    model = fsopt.build("l0-mpm-step", source, delta=0.3)
    program = compile_model(model)
    form, penalty = ConicForm(program), Exponential(5.0)
    plus, minus = (np.array([program.column[id(x)] for x in part.values()]) for part in (model.w_plus, model.w_minus))
    solver, q = _clarabel(form), form.linear()
    started = time.process_time()
    for _ in range(solves):
        x = form.scale * np.array(solver.solve().x)
        v = penalty.gradient(x[plus] - x[minus])
        q[plus], q[minus] = form.scale[plus] * (5.0 - v), form.scale[minus] * (5.0 + v)
        solver.update(q=q)
    return time.process_time() - started


def _clarabel(form: ConicForm) -> Any:
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.presolve_enable = False, False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-9
    cones = [clarabel.ZeroConeT(form.equalities), clarabel.NonnegativeConeT(form.inequalities)]
    cones += [clarabel.SecondOrderConeT(int(k)) for k in form.program.cones.sizes]
    return clarabel.DefaultSolver(form.hessian(), form.linear(), form.matrix(), form.right_hand_side(), cones, settings)


def run_gbd(source: Dataset) -> DriverResult:
    master, sub = fsopt.build("fsp-master", source, m=4), fsopt.build("fsp-sub", source, c=16.0)
    settings = GbdSettings(max_cuts=40, master_solver="highs")
    return gbd(source, master, sub, c=16.0, settings=settings)


def hand_gbd(source: Dataset, solves: int) -> float:
    sub = fsopt.build("fsp-sub", source, c=16.0)
    program = compile_model(sub)
    form = ConicForm(program)
    rows = np.array([program.row_of[id(r)] for r in sub.selection.values()])
    u = np.array([program.column[id(v)] for v in sub.u.values()])
    places = [np.flatnonzero(program.A[i].indices == j)[0] + program.A.indptr[i] for i, j in zip(rows, u, strict=True)]
    solver, p = _clarabel(form), source.p
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    h.addVars(p + 1, np.zeros(p + 1), np.append(np.ones(p), np.inf))
    h.changeColsIntegrality(p, np.arange(p, dtype=np.int32), np.ones(p, dtype=np.uint8))
    h.changeColCost(p, 1.0)
    h.addRow(-np.inf, 4.0, p, np.arange(p, dtype=np.int32), np.ones(p))
    h.setOptionValue("mip_rel_gap", 0.05)
    started = time.process_time()
    for _ in range(solves):
        y = form.point(*(np.array(part) for part in _solved(solver))).y
        alpha = np.clip(y[: source.n], 0, 16.0)
        q = source.X.T @ (alpha * source.y)
        h.addRow(alpha.sum(), np.inf, p + 1, np.arange(p + 1, dtype=np.int32), np.append(0.5 * q**2, 1.0))
        h.run()
        program.A.data[places] = -np.round(np.array(h.getSolution().col_value)[:p])
        solver.update(A=form.matrix())
    return time.process_time() - started


def _solved(solver: Any) -> tuple[Any, Any]:
    solution = solver.solve()
    return solution.x, solution.z


@dataclass(frozen=True)
class Pair:
    """One run of a loop, and of its hand-written code.

    Attributes
    ----------
    solves : number of solves.
    overhead : seconds of the driver over those of its solver, after the first iteration.
    warm : seconds of the first solve over the mean of the third and later ones.
    fsopt, by_hand : total seconds.
    """

    solves: int
    overhead: float
    warm: float
    fsopt: float
    by_hand: float


def measure(source: Dataset, ours: Callable[..., DriverResult], theirs: Callable[..., float]) -> Pair:
    """Return one run of a loop, and of its hand-written code."""
    history = ours(source).history
    total = {phase: sum(record[f"seconds_{phase}"] for record in history[1:]) for phase in PHASES}
    first = sum(history[0][f"seconds_{phase}"] for phase in ("solve", "load"))
    seconds = [record["seconds_solve"] for record in history]
    return Pair(
        solves=len(history),
        overhead=sum(total.values()) / total["solve"],
        warm=seconds[0] / float(np.mean(seconds[2:])),
        fsopt=first + sum(total.values()),
        by_hand=theirs(source, len(history)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path, help="append the seconds of each round to this file (JSON lines)")
    args = parser.parse_args()
    cases: list[tuple[str, str, Dataset, float, Callable[..., DriverResult], Callable[..., float]]] = [
        ("SLA, misclass", "HiGHS", data(2000, 14), 1.2, run_misclass, hand_misclass),
        ("SLA, fsv", "HiGHS", data(2000, 14), 1.2, run_sla, hand_sla),
        ("SLA, fsv", "HiGHS", data(1000, 200), 1.0, run_sla, hand_sla),
        ("DCA, l0-mpm", "Clarabel", data(400, 200), 1.0, run_dca, hand_dca),
        ("GBD", "HiGHS and Clarabel", gbd_set_one(20, 500, 4)[0], 1.2, run_gbd, hand_gbd),
    ]
    table = Table("loop", "solves", "loop / solver", "first / third+", "fsopt s", "by hand s", "fsopt / by hand")
    above = False
    for name, solver, source, aim, ours, theirs in cases:
        pairs = [measure(source, ours, theirs) for _ in range(args.repeat)]
        size = f"{source.n} x {source.p}"
        if args.output:
            row = {"group": "loops", "case": name, "data": size, "beside": f"{solver} by hand"}
            row |= {"fsopt": [pair.fsopt for pair in pairs], "other": [pair.by_hand for pair in pairs]}
            with args.output.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(row) + "\n")
        ratios = [pair.fsopt / pair.by_hand for pair in pairs]
        above |= median(ratios) > aim
        overhead = median(pair.overhead for pair in pairs)
        warm = median(pair.warm for pair in pairs)
        seconds = [f"{median(pair.fsopt for pair in pairs):.3f}", f"{median(pair.by_hand for pair in pairs):.3f}"]
        spread = f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        table.add_row(f"{name} {size}", str(pairs[-1].solves), f"{overhead:.2f}", f"{warm:.1f}", *seconds, spread)
    Console(width=120).print(table)
    raise SystemExit(int(above))


if __name__ == "__main__":
    main()
