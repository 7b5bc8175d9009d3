r"""Clarabel through the conic form of a program.

.. math:: \min \tfrac12 x'Px + q'x \quad\text{s.t.}\quad Mx + s = b,\ s \in \{0\} \times \mathbb{R}_+ \times
          \mathcal{Q}_1 \times \dots

The columns are scaled so that features in any units give rows of comparable size, and multipliers are mapped
back to the rows of the program.
"""

from __future__ import annotations

import time
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fsopt.compiler import Program
from fsopt.errors import OptionError
from fsopt.results import Point, Status
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
        self._layout()
        self.solver = self._load()

    def _layout(self) -> None:
        """Decide which row of the program goes where; the places do not change with the values."""
        p = self.program
        self.eq = np.flatnonzero(p.lo == p.hi)
        self.up = np.flatnonzero((p.hi < np.inf) & (p.lo != p.hi))
        self.down = np.flatnonzero((p.lo > -np.inf) & (p.lo != p.hi))
        self.fixed = np.flatnonzero(p.lb == p.ub)
        self.above = np.flatnonzero((p.ub < np.inf) & (p.lb != p.ub))
        self.below = np.flatnonzero((p.lb > -np.inf) & (p.lb != p.ub))
        places = p.A.copy()
        places.data = np.arange(1, p.A.nnz + 1, dtype=float)
        offset = p.A.nnz + 1
        unit = sp.identity(p.n, format="csr")
        unit.data = np.full(p.n, float(offset))
        self.turned = sp.csr_matrix(p.scaling.cone @ p.cones.G)
        cone = self.turned.copy()
        cone.data = offset + 1 + np.arange(cone.nnz, dtype=float)
        stacked = sp.vstack(
            [places[self.eq], unit[self.fixed], places[self.up], unit[self.above], places[self.down],
             unit[self.below], cone], format="csc",
        )  # fmt: skip
        self.source = stacked.data.astype(int) - 1
        self.indices, self.indptr, self.shape = stacked.indices, stacked.indptr, stacked.shape
        plus = len(self.eq) + len(self.fixed) + len(self.up) + len(self.above)
        self.row_sign = np.concatenate([np.ones(plus), -np.ones(stacked.shape[0] - plus)])
        self.scale = p.scaling.columns

    def _matrix(self) -> sp.csc_matrix:
        p = self.program
        data = np.concatenate([p.A.data, [1.0], self.turned.data])[self.source] * self.row_sign[self.indices]
        M = sp.csc_matrix((data, self.indices, self.indptr), shape=self.shape)
        M.data *= np.repeat(self.scale, np.diff(self.indptr))
        return M

    def _right_hand_side(self) -> NDArray[np.float64]:
        p = self.program
        return np.concatenate(
            [p.lo[self.eq], p.lb[self.fixed], p.hi[self.up], p.ub[self.above], -p.lo[self.down],
             -p.lb[self.below], p.scaling.cone @ p.cones.h]
        )  # fmt: skip

    def _hessian(self) -> sp.csc_matrix:
        D = sp.diags(self.scale)
        return sp.triu(D @ self.program.P @ D, format="csc")

    def _load(self) -> Any:
        cones = [
            clarabel.ZeroConeT(len(self.eq) + len(self.fixed)),
            clarabel.NonnegativeConeT(len(self.up) + len(self.above) + len(self.down) + len(self.below)),
            *(clarabel.SecondOrderConeT(int(k)) for k in self.program.cones.sizes),
        ]
        self.hessian = self._hessian()
        return clarabel.DefaultSolver(
            self.hessian,
            self.scale * self.program.c,
            self._matrix(),
            self._right_hand_side(),
            cones,
            self.settings,
        )

    def update(self, change: Change) -> str | None:
        """Take over a change in place; sides that change their kind or new rows need a new load."""
        p = self.program
        if change.added:
            return "rows were added"
        new: dict[str, Any] = {}
        if change.objective:
            new["q"] = self.scale * p.c
        if change.hessian:
            P = self._hessian()
            if not (np.array_equal(P.indptr, self.hessian.indptr) and np.array_equal(P.indices, self.hessian.indices)):
                return "the quadratic objective got other products"
            new["P"] = P
        if change.bounds or change.rows is not None:
            if self._kinds_changed():
                return "a side or bound appeared or vanished"
            new["b"] = self._right_hand_side()
        if change.rows is not None:
            new["A"] = self._matrix()
        if new:
            self.solver.update(**new)
        return None

    def _kinds_changed(self) -> bool:
        p = self.program
        return not (
            np.array_equal(self.eq, np.flatnonzero(p.lo == p.hi))
            and np.array_equal(self.up, np.flatnonzero((p.hi < np.inf) & (p.lo != p.hi)))
            and np.array_equal(self.down, np.flatnonzero((p.lo > -np.inf) & (p.lo != p.hi)))
            and np.array_equal(self.fixed, np.flatnonzero(p.lb == p.ub))
            and np.array_equal(self.above, np.flatnonzero((p.ub < np.inf) & (p.lb != p.ub)))
            and np.array_equal(self.below, np.flatnonzero((p.lb > -np.inf) & (p.lb != p.ub)))
        )

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Run Clarabel from its own starting point (interior-point methods do not start warm)."""
        started = time.perf_counter()
        limit = self.time_limit if time_limit is None else float(time_limit)
        if limit != self.settings.time_limit:
            self.settings.time_limit = limit
            self.solver.update(settings=self.settings)
        solution = self.solver.solve()
        claim, stop = STATUS_MAP[str(solution.status)]
        z = np.array(solution.z)
        found = Point(self.scale * np.array(solution.x), *self._multipliers(z))
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

    def _multipliers(self, z: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (y, z) of the program from the multipliers of the stacked rows."""
        p = self.program
        parts = np.split(
            z, np.cumsum([len(k) for k in (self.eq, self.fixed, self.up, self.above, self.down, self.below)])
        )
        y = np.zeros(p.A.shape[0])
        y[self.eq] -= parts[0]
        y[self.up] -= parts[2]
        y[self.down] += parts[4]
        return y, p.scaling.cone.T @ parts[6]


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
