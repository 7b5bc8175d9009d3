"""Clarabel: linear, convex quadratic and second-order cone programs in conic form."""

from __future__ import annotations

import time
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp

from fsopt.compiler import Program
from fsopt.errors import OptionError
from fsopt.results import Status
from fsopt.solvers.conic import ConicForm
from fsopt.solvers.interface import Change, Outcome, Settings, refuse_option

_S = clarabel.SolverStatus
STATUS_MAP = {
    str(_S.Solved): (Status.OPTIMAL, "optimal"),
    str(_S.AlmostSolved): (Status.OPTIMAL, "almost"),
    str(_S.PrimalInfeasible): (Status.INFEASIBLE, "infeasible"),
    str(_S.AlmostPrimalInfeasible): (Status.NONE, "numerical"),
    str(_S.DualInfeasible): (Status.UNBOUNDED, "unbounded"),
    str(_S.AlmostDualInfeasible): (Status.NONE, "numerical"),
    str(_S.MaxIterations): (Status.FEASIBLE, "iteration-limit"),
    str(_S.MaxTime): (Status.FEASIBLE, "time-limit"),
    str(_S.NumericalError): (Status.FEASIBLE, "numerical"),
    str(_S.InsufficientProgress): (Status.FEASIBLE, "numerical"),
    str(_S.CallbackTerminated): (Status.FEASIBLE, "interrupted"),
    str(_S.Unsolved): (Status.NONE, "numerical"),
}
TOLERANCE = 1e-9


class Clarabel:
    """One program loaded into Clarabel."""

    def __init__(self, program: Program, settings: Settings) -> None:
        self.program = program
        self.settings = _settings(settings)
        self.time_limit = self.settings.time_limit
        self.form = ConicForm(program)
        self.solver = self._load()

    def _load(self) -> Any:
        cones = [
            clarabel.ZeroConeT(self.form.equalities),
            clarabel.NonnegativeConeT(self.form.inequalities),
            *(
                clarabel.PSDTriangleConeT(int(order)) if order else clarabel.SecondOrderConeT(int(size))
                for size, order in zip(self.program.cones.sizes, self.program.cones.orders, strict=True)
            ),
        ]
        self.hessian, self.matrix = self.form.hessian(), self.form.matrix()
        return clarabel.DefaultSolver(
            self.hessian,
            self.form.linear(),
            self.matrix,
            self.form.right_hand_side(),
            cones,
            self.settings,
        )

    def update(self, change: Change) -> str | None:
        """Take over a change in place; sides that change their kind or new rows need a new load."""
        if change.added:
            return "rows were added"
        new: dict[str, Any] = {}
        if change.objective:
            new["q"] = self.form.linear()
        if change.hessian:
            P = self.form.hessian()
            if not (np.array_equal(P.indptr, self.hessian.indptr) and np.array_equal(P.indices, self.hessian.indices)):
                return "the quadratic objective got other products"
            new["P"] = P
        if change.bounds or change.rows is not None:
            if self.form.kinds_changed():
                return "a side or bound appeared or vanished"
            new["b"] = self.form.right_hand_side()
        if change.rows is not None:
            # Clarabel scales what it is given: only what changed.
            before, self.matrix = self.matrix, self.form.matrix()
            places = np.flatnonzero(self.matrix.data != before.data)
            new["A"] = (places, self.matrix.data[places])
        if new:
            self.solver.update(**new)
        return None

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Run Clarabel from its own starting point (interior-point methods do not start warm)."""
        started = time.perf_counter()
        limit = self.time_limit if time_limit is None else float(time_limit)
        if limit != self.settings.time_limit:
            self.settings.time_limit = limit
            self.solver.update(settings=self.settings)
        solution = self.solver.solve()
        claim, stop = STATUS_MAP[str(solution.status)]
        found = self.form.point(np.array(solution.x), np.array(solution.z))
        usable = claim in (Status.OPTIMAL, Status.FEASIBLE) and bool(np.all(np.isfinite(found.x)))
        return Outcome(
            claim=claim,
            stop=stop,
            point=found if usable else None,
            bound=None,
            iterations=int(solution.iterations),
            seconds=time.perf_counter() - started,
            message=str(solution.status),
            ray=found if claim is Status.INFEASIBLE else None,
        )


def _settings(settings: Settings) -> Any:
    s = clarabel.DefaultSettings()
    tolerance = TOLERANCE if settings.tolerance is None else settings.tolerance
    s.verbose = settings.tee
    s.max_threads = settings.threads
    s.tol_gap_abs = s.tol_gap_rel = s.tol_feas = tolerance
    # Presolve would forbid updates in place; the program has no rows that it could remove.
    s.presolve_enable = False
    for name, value in settings.own.items():
        if name.startswith("_") or not hasattr(s, name):
            raise refuse_option("clarabel", name, "unknown name")
        try:
            setattr(s, name, value)
        except (TypeError, ValueError, OverflowError, AttributeError) as error:
            raise refuse_option("clarabel", name, f"bad value {value!r}") from error
    try:
        clarabel.DefaultSolver(sp.csc_matrix((1, 1)), np.zeros(1), sp.csc_matrix((0, 1)), np.zeros(0), [], s)
    except Exception as error:  # Clarabel checks its settings here and raises nothing more special
        raise OptionError(f"solver 'clarabel' refused its options ({error})", "see the solver's manual") from error
    return s


def connect(program: Program, settings: Settings) -> Clarabel:
    """Load a program into Clarabel."""
    return Clarabel(program, settings)
