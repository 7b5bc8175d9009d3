"""HiGHS: linear, convex quadratic and mixed-integer linear programs, updated in place and re-solved warm."""

from __future__ import annotations

import time
from typing import Any

import highspy
import numpy as np
import scipy.sparse as sp

from fsopt.compiler import Program
from fsopt.errors import SolverError
from fsopt.results import Point, Status
from fsopt.solvers.interface import Change, Outcome, Settings, refuse_option

_M = highspy.HighsModelStatus
STATUS_MAP = {
    _M.kOptimal: (Status.OPTIMAL, "optimal"),
    _M.kModelEmpty: (Status.OPTIMAL, "optimal"),
    _M.kInfeasible: (Status.INFEASIBLE, "infeasible"),
    _M.kUnbounded: (Status.UNBOUNDED, "unbounded"),
    _M.kTimeLimit: (Status.NONE, "time-limit"),
    _M.kIterationLimit: (Status.NONE, "iteration-limit"),
    _M.kSolutionLimit: (Status.NONE, "iteration-limit"),
    _M.kInterrupt: (Status.NONE, "interrupted"),
    _M.kUnknown: (Status.NONE, "numerical"),
    _M.kSolveError: (Status.NONE, "numerical"),
}
TOLERANCE = 1e-9
PRIMAL_SIMPLEX = 4
INTERIOR = 100_000
"""Nonzeros from which the first solve of a linear program is by interior point with crossover, not by simplex."""
FAR = 1e6
"""A quadratic program whose answer lies further out than this is asked whether it is unbounded."""


class Highs:
    """One program loaded into HiGHS."""

    def __init__(self, program: Program, settings: Settings) -> None:
        self.program = program
        self.mip = bool(program.integer.any())
        self.mip_gap = settings.mip_gap
        self.interior = not (self.mip or program.P.nnz or "solver" in settings.own) and program.A.nnz >= INTERIOR
        self.h = highspy.Highs()
        self._options(settings)
        self._load()

    def _options(self, settings: Settings) -> None:
        tolerance = TOLERANCE if settings.tolerance is None else max(settings.tolerance, 1e-10)
        common: dict[str, Any] = {
            "output_flag": settings.tee,
            "threads": settings.threads,
            "random_seed": settings.seed,
            "primal_feasibility_tolerance": tolerance,
            "dual_feasibility_tolerance": tolerance,
            "mip_feasibility_tolerance": tolerance,
            "mip_rel_gap": settings.mip_gap,
            "mip_abs_gap": 1e-9,
            "qp_regularization_value": 1e-10,
        }
        self.h.setOptionValue("output_flag", False)
        for name, value in {**common, **settings.own}.items():
            try:
                taken = self.h.setOptionValue(name, value) == highspy.HighsStatus.kOk
            except TypeError:
                taken = False
            if not taken:
                raise refuse_option("highs", name, f"unknown name or bad value {value!r}")

    def _load(self) -> None:
        p = self.program
        A = p.A
        lower = sp.tril(p.P, format="csc")
        status = self.h.passModel(
            p.n, A.shape[0], A.nnz, lower.nnz, int(highspy.MatrixFormat.kRowwise),
            int(highspy.HessianFormat.kTriangular), 1, p.c0, p.c, p.lb, p.ub, p.lo, p.hi,
            A.indptr.astype(np.int32), A.indices.astype(np.int32), A.data,
            lower.indptr.astype(np.int32), lower.indices.astype(np.int32), lower.data,
            p.integer.astype(np.int32),
        )  # fmt: skip
        if status == highspy.HighsStatus.kError:
            raise SolverError("HiGHS refused the model", "check its coefficients for nan and infinity")

    def update(self, change: Change) -> str | None:
        """Take over a change in place."""
        p, h = self.program, self.h
        everything = np.arange(p.n, dtype=np.int32)
        if change.hessian:
            return "the quadratic objective changed"
        if change.objective:
            h.changeColsCost(p.n, everything, p.c)
            h.changeObjectiveOffset(p.c0)
            if not (change.bounds or change.added or change.rows is not None):
                # The last vertex stays feasible: primal simplex goes on from it.
                h.setOptionValue("simplex_strategy", PRIMAL_SIMPLEX)
        if change.bounds:
            h.changeColsBounds(p.n, everything, p.lb, p.ub)
        if change.rows is not None:
            self._change_rows(change.rows)
        if change.added:
            new = p.A[-change.added :]
            h.addRows(
                change.added, p.lo[-change.added :], p.hi[-change.added :], new.nnz,
                new.indptr[:-1].astype(np.int32), new.indices.astype(np.int32), new.data,
            )  # fmt: skip
        return None

    def _change_rows(self, rows: np.ndarray[Any, Any]) -> None:
        p = self.program
        self.h.changeRowsBounds(len(rows), rows.astype(np.int32), p.lo[rows], p.hi[rows])
        for i in rows.tolist():
            for k in range(p.A.indptr[i], p.A.indptr[i + 1]):
                self.h.changeCoeff(i, int(p.A.indices[k]), float(p.A.data[k]))

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Run HiGHS; an incumbent of branch and bound is solved again with its integers fixed."""
        started = time.perf_counter()
        deadline = np.inf if time_limit is None else self.h.getRunTime() + time_limit
        self.h.setOptionValue("time_limit", deadline)
        self.h.setOptionValue("mip_rel_gap", self.mip_gap if mip_gap is None else mip_gap)
        self._run()
        claim, stop = self._status()
        if self.h.getModelStatus() == _M.kUnboundedOrInfeasible:
            claim, stop = self._tell_apart()
        if self.program.P.nnz and not self.mip and self._recedes():
            claim, stop = Status.UNBOUNDED, "unbounded"
        info = self.h.getInfo()
        feasible = info.primal_solution_status == 2 and claim is not Status.UNBOUNDED
        bound = float(info.mip_dual_bound) if self.mip else None
        iterations = int(info.mip_node_count if self.mip else max(info.simplex_iteration_count, 0))
        iterations += 0 if self.mip else max(int(info.ipm_iteration_count), 0) + max(int(info.qp_iteration_count), 0)
        point = self._point() if feasible else None
        if point is not None and self.mip:
            point = self._polish(point)
        ray = self._ray() if claim is Status.INFEASIBLE and not self.mip else None
        message = self.h.modelStatusToString(self.h.getModelStatus())
        return Outcome(claim, stop, point, bound, iterations, time.perf_counter() - started, message, ray)

    def _run(self) -> None:
        """Run HiGHS: a large linear program first by interior point, which leaves simplex a vertex to go on from."""
        if self.interior:
            self.interior = False
            self.h.setOptionValue("solver", "ipm")
            self.h.run()
            self.h.setOptionValue("solver", "choose")
            if self.h.getModelStatus() in (_M.kOptimal, _M.kTimeLimit, _M.kInterrupt):
                return
        self.h.run()

    def _status(self) -> tuple[Status, str]:
        code = self.h.getModelStatus()
        if code == _M.kUnboundedOrInfeasible:
            return Status.NONE, "numerical"
        if code not in STATUS_MAP:
            raise SolverError(f"HiGHS stopped with '{self.h.modelStatusToString(code)}'", "try --solver clarabel")
        return STATUS_MAP[code]

    def _tell_apart(self) -> tuple[Status, str]:
        self.h.setOptionValue("presolve", "off")
        self.h.run()
        self.h.setOptionValue("presolve", "choose")
        return self._status()

    def _recedes(self) -> bool:
        """Tell an unbounded quadratic program, which HiGHS regularises and calls optimal far out.

        It is unbounded along d iff Pd = 0, c'd < 0 and d never meets a side or bound: a linear program.
        """
        p = self.program
        if np.abs(np.array(self.h.getSolution().col_value)).max(initial=0.0) < FAR:
            return False
        low, high = (np.where(np.isfinite(side), 0.0, big) for side, big in ((p.lb, -1.0), (p.ub, 1.0)))
        sides = [np.where(np.isfinite(side), 0.0, side) for side in (p.lo, p.hi)]
        rows = sp.vstack([p.A, p.P], format="csr")
        still = np.zeros(p.n)
        h = highspy.Highs()
        h.setOptionValue("output_flag", False)
        h.passModel(
            p.n, rows.shape[0], rows.nnz, 0, int(highspy.MatrixFormat.kRowwise),
            int(highspy.HessianFormat.kTriangular), 1, 0.0, p.c, low, high,
            np.concatenate([sides[0], still]), np.concatenate([sides[1], still]),
            rows.indptr.astype(np.int32), rows.indices.astype(np.int32), rows.data,
            np.zeros(1, np.int32), np.zeros(0, np.int32), np.zeros(0), np.zeros(p.n, np.int32),
        )  # fmt: skip
        h.run()
        return bool(h.getInfo().objective_function_value < -1e-7 * max(1.0, np.abs(p.c).max()))

    def _point(self) -> Point:
        solution = self.h.getSolution()
        y = np.array(solution.row_dual) if solution.dual_valid else None
        return Point(np.array(solution.col_value), y, np.zeros(0) if y is not None else None)

    def _polish(self, incumbent: Point) -> Point:
        """Round the integers and solve the rest again, so that no tolerance hides in them."""
        p, h = self.program, self.h
        columns = np.flatnonzero(p.integer).astype(np.int32)
        values = np.round(incumbent.x[columns])
        h.changeColsBounds(len(columns), columns, values, values)
        h.changeColsIntegrality(len(columns), columns, np.zeros(len(columns), dtype=np.uint8))
        h.setOptionValue("time_limit", np.inf)
        h.run()
        fixed = self._point() if h.getInfo().primal_solution_status == 2 else incumbent
        h.changeColsBounds(len(columns), columns, p.lb[columns], p.ub[columns])
        h.changeColsIntegrality(len(columns), columns, np.ones(len(columns), dtype=np.uint8))
        return Point(fixed.x)

    def _ray(self) -> Point | None:
        _, exists, ray = self.h.getDualRay()
        return Point(np.zeros(self.program.n), np.array(ray), np.zeros(0)) if exists else None


def connect(program: Program, settings: Settings) -> Highs:
    """Load a program into HiGHS."""
    return Highs(program, settings)
