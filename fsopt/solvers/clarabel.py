"""Clarabel: linear, convex quadratic and second-order cone programs in conic form."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp

from fsopt.answers.results import Status
from fsopt.common import clock
from fsopt.common.clock import deferred_interruption
from fsopt.compiler import Program
from fsopt.errors import OptionError
from fsopt.solvers.conic import ConicForm
from fsopt.solvers.spec import UNKNOWN, Change, Outcome, Package, Settings, SolverSpec, set_options

clarabel = Package("clarabel")
STATUS_MAP = {
    "Solved": (Status.OPTIMAL, "optimal"),
    "AlmostSolved": (Status.OPTIMAL, "almost"),
    "PrimalInfeasible": (Status.INFEASIBLE, "infeasible"),
    "DualInfeasible": (Status.UNBOUNDED, "unbounded"),
    "MaxIterations": (Status.FEASIBLE, "iteration-limit"),
    "MaxTime": (Status.FEASIBLE, "time-limit"),
    "NumericalError": (Status.FEASIBLE, "numerical"),
    "InsufficientProgress": (Status.FEASIBLE, "numerical"),
    "CallbackTerminated": (Status.FEASIBLE, "interrupted"),
}
"""By the names in ``clarabel.SolverStatus``; every other one is none."""
TOLERANCE = 1e-9


class Clarabel:
    """One program loaded into Clarabel by its conic form; ``time_limit`` is of every solve that is given none."""

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
        clock.look()  # Clarabel equilibrates and orders the rows when it is loaded, and hears nothing meanwhile
        return clarabel.DefaultSolver(
            self.hessian,
            self.form.linear(),
            self.matrix,
            self.form.right_hand_side(),
            cones,
            self.settings,
        )

    def update(self, change: Change) -> str | None:
        """Take over a change in place; bounds that appear or vanish, and new constraints, need a new load."""
        if reason := self.form.moved(change):
            return reason
        new: dict[str, Any] = {}
        if change.objective:
            new["q"] = self.form.linear()
        if change.hessian:
            P = self.form.hessian()
            if not (np.array_equal(P.indptr, self.hessian.indptr) and np.array_equal(P.indices, self.hessian.indices)):
                return "the quadratic objective got other products"
            new["P"] = P
        if change.bounds or change.rows is not None:
            new["b"] = self.form.right_hand_side()
        if change.rows is not None:
            # Clarabel equilibrates every entry that it is given, so only the changed ones are sent; as lists, because
            # before numpy 2.1 it may refuse arrays here ("Data formatting error").
            before, self.matrix = self.matrix, self.form.matrix()
            places = np.flatnonzero(self.matrix.data != before.data)
            new["A"] = (places.tolist(), self.matrix.data[places].tolist())
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
        with deferred_interruption() as asked:
            self.solver.set_termination_callback(lambda info: asked())
            solution = self.solver.solve()
            self.solver.unset_termination_callback()
        x, z = np.array(solution.x), np.array(solution.z)
        ended = STATUS_MAP.get(str(solution.status), UNKNOWN)
        return self.form.outcome(ended, x, z, int(solution.iterations), started, str(solution.status))


def _settings(settings: Settings) -> Any:
    s = clarabel.DefaultSettings()
    tolerance = TOLERANCE if settings.tolerance is None else settings.tolerance
    s.verbose = settings.tee
    s.max_threads = settings.threads
    s.tol_gap_abs = s.tol_gap_rel = s.tol_feas = tolerance
    # Presolve removes rows without a bound, and then forbids updates in place; the conic form has no such rows.
    s.presolve_enable = False

    def put(name: str, value: Any) -> None:
        if name.startswith("_") or not hasattr(s, name):
            raise AttributeError("there is no such setting")
        setattr(s, name, value)

    set_options("clarabel", settings.own, put, (TypeError, ValueError, OverflowError, AttributeError))
    try:
        clarabel.DefaultSolver(sp.csc_matrix((1, 1)), np.zeros(1), sp.csc_matrix((0, 1)), np.zeros(0), [], s)
    except Exception as error:  # Clarabel checks its settings here and raises nothing more special
        raise OptionError(f"solver 'clarabel' refused its options ({error})", "see the solver's manual") from error
    return s


SPEC = SolverSpec(
    name="clarabel",
    connect=Clarabel,
    package="clarabel",
    ranks={"LP": 20, "QP": 10, "SOCP": 10, "SDP": 10},
    in_place=True,
    pip="pip install clarabel",
    finer=(1e-10, 1e-11),
    licence="Apache-2.0, in the core install",
)
