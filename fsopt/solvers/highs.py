"""HiGHS: linear and mixed-integer linear programs, updated in place and re-solved warm.

A linear program goes to its simplex method, a large one first to its interior-point method IPX. The option ``solver``
takes another: ``ipx``, ``pdlp`` (first-order), or ``hipo`` (interior point, from the package ``highspy-extras``).

HiGHS scales inside, but it leaves coefficients up to 1e-12 out, and has absolute tolerances: it gets the units of
:class:`fsopt.compiler.scaling.Scaling`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fsopt.answers.results import Point, Status
from fsopt.common.clock import deferred_interruption
from fsopt.compiler import Program
from fsopt.compiler.scaling import row_factors
from fsopt.errors import SolverError
from fsopt.solvers.spec import EITHER, UNKNOWN, Change, Outcome, Package, Settings, SolverSpec, set_options
from fsopt.typing import Indices, Vector

highspy = Package("highspy")
STATUS_MAP = {
    "kOptimal": (Status.OPTIMAL, "optimal"),
    "kModelEmpty": (Status.OPTIMAL, "optimal"),
    "kInfeasible": (Status.INFEASIBLE, "infeasible"),
    "kUnbounded": (Status.UNBOUNDED, "unbounded"),
    "kUnboundedOrInfeasible": EITHER,
    "kTimeLimit": (Status.NONE, "time-limit"),
    "kIterationLimit": (Status.NONE, "iteration-limit"),
    "kSolutionLimit": (Status.NONE, "iteration-limit"),
    "kInterrupt": (Status.NONE, "interrupted"),
}
"""By the names in ``highspy.HighsModelStatus``; every other one is none."""
TOLERANCE = 1e-9
SMALLEST = 1e-12
"""The smallest value of the option ``small_matrix_value``, up to which HiGHS leaves coefficients out."""
FEASIBILITY = ("primal_feasibility_tolerance", "mip_feasibility_tolerance")
PRIMAL_SIMPLEX = 4
FEASIBLE = 2
"""HiGHS's code for a feasible primal solution."""
INTERIOR = 30_000
"""Nonzeros from which the first solve of a linear program is by interior point with crossover, not by simplex.

Below, the two take the same time on the linear programs of the papers."""


class Highs:
    """One program loaded into HiGHS: x = d x' for its x' with d in ``columns``; ``rows`` are factors of the rows."""

    def __init__(self, program: Program, settings: Settings) -> None:
        self.program = program
        self.columns, self.rows = program.scaling.columns, program.scaling.rows.copy()
        self.mip = bool(program.integer.any())
        self.mip_gap = settings.mip_gap
        self.interior = not (self.mip or "solver" in settings.own) and program.A.nnz >= INTERIOR
        self.h = silent()
        self._options(settings)
        self._load()

    def _options(self, settings: Settings) -> None:
        tolerance = TOLERANCE if settings.tolerance is None else max(settings.tolerance, 1e-10)
        common: dict[str, Any] = {
            "output_flag": settings.tee,
            "threads": settings.threads,
            "random_seed": settings.seed,
            "dual_feasibility_tolerance": tolerance,
            **dict.fromkeys(FEASIBILITY, tolerance),
            "mip_rel_gap": settings.mip_gap,
            "mip_abs_gap": 1e-9,
            "small_matrix_value": SMALLEST,
        }
        set_options("highs", {**common, **settings.own}, self._set_option, (TypeError, ValueError))

    def _set_option(self, name: str, value: Any) -> None:
        if self.h.setOptionValue(name, value) != highspy.HighsStatus.kOk:
            raise ValueError("HiGHS refused it")

    def _row_factors(self, rows: Indices) -> Vector:
        """Return the factors of some rows in the units of the columns."""
        return row_factors(self.program.A[rows], self.columns, self.program.integer)

    def _entries(self, rows: Indices) -> sp.csr_matrix:
        """Return some rows as HiGHS gets them, explicit zeros kept."""
        A = self.program.A[rows]
        A.data = A.data * self.columns[A.indices] * np.repeat(self.rows[rows], np.diff(A.indptr))
        return A

    def _load(self) -> None:
        p = self.program
        d, f = self.columns, self.rows
        A = self._entries(np.arange(len(f)))
        kind = int(highspy.MatrixFormat.kRowwise)
        bounds = (p.lb / d, p.ub / d, f * p.lo, f * p.hi)
        matrix = (*_int32(A), A.data, p.integer.astype(np.int32))
        minimise = 1
        status = self.h.passModel(p.n, len(f), A.nnz, kind, minimise, p.c0, d * p.c, *bounds, *matrix)
        if status == highspy.HighsStatus.kError:
            raise SolverError("HiGHS refused the model", "check its coefficients for nan and infinity")

    def update(self, change: Change) -> str | None:
        """Take over a change in place."""
        p, h = self.program, self.h
        columns = np.arange(p.n, dtype=np.int32)
        if change.hessian:
            return "the objective became quadratic"
        if change.objective:
            h.changeColsCost(p.n, columns, self.columns * p.c)
            h.changeObjectiveOffset(p.c0)
            if not (change.bounds or change.added or change.rows is not None):
                # The last vertex stays feasible: primal simplex goes on from it.
                h.setOptionValue("simplex_strategy", PRIMAL_SIMPLEX)
        if change.bounds:
            h.changeColsBounds(p.n, columns, p.lb / self.columns, p.ub / self.columns)
        if change.rows is not None:
            self._change_rows(change.rows)
        if change.added:
            self._add_rows(change.added)
        return None

    def _change_rows(self, rows: Indices) -> None:
        p = self.program
        f = self.rows[rows] = self._row_factors(rows)
        self.h.changeRowsBounds(len(rows), rows.astype(np.int32), f * p.lo[rows], f * p.hi[rows])
        A = self._entries(rows)
        for k, i in enumerate(rows.tolist()):
            for at in range(A.indptr[k], A.indptr[k + 1]):
                self.h.changeCoeff(i, int(A.indices[at]), float(A.data[at]))

    def _add_rows(self, count: int) -> None:
        """Append the last rows of the program."""
        p = self.program
        added = np.arange(len(self.rows), len(self.rows) + count)
        self.rows = np.concatenate([self.rows, f := self._row_factors(added)])
        new = self._entries(added)
        starts, indices = _int32(new)
        self.h.addRows(count, f * p.lo[added], f * p.hi[added], new.nnz, starts[:-1], indices, new.data)

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Run HiGHS."""
        started = time.perf_counter()
        deadline = np.inf if time_limit is None else self.h.getRunTime() + time_limit
        self.h.setOptionValue("time_limit", deadline)
        self.h.setOptionValue("mip_rel_gap", self.mip_gap if mip_gap is None else mip_gap)
        with deferred_interruption() as asked:
            self._hear(asked)
            self._run()
        status, stop = STATUS_MAP.get(self._word(), UNKNOWN)
        info = self.h.getInfo()
        feasible = info.primal_solution_status == FEASIBLE and status is not Status.UNBOUNDED
        bound = float(info.mip_dual_bound) if self.mip else None
        counts = (info.simplex_iteration_count, info.ipm_iteration_count, info.pdlp_iteration_count)
        # HiGHS counts -1 for a method that did not run.
        iterations = int(info.mip_node_count) if self.mip else sum(max(int(count), 0) for count in counts)
        point = self._point() if feasible else None
        if point is not None and self.mip:
            point = Point(point.x)
        ray = self._ray() if status is Status.INFEASIBLE and not self.mip else None
        message = self.h.modelStatusToString(self.h.getModelStatus())
        tolerance = max(self.h.getOptionValue(name)[1] for name in FEASIBILITY)
        seconds = time.perf_counter() - started
        return Outcome(status, stop, point, bound, iterations, seconds, message, ray, integer_tolerance=tolerance)

    def _hear(self, asked: Callable[[], bool]) -> None:
        """Let HiGHS stop after Ctrl-C; its functions never see an exception."""
        kinds = highspy.cb.HighsCallbackType

        def callback(kind: Any, message: str, told: Any, answer: Any, data: Any) -> None:
            try:
                answer.user_interrupt = asked()
            except KeyboardInterrupt:
                answer.user_interrupt = True

        self.h.setCallback(callback, None)
        for kind in (kinds.kCallbackMipInterrupt, kinds.kCallbackSimplexInterrupt, kinds.kCallbackIpmInterrupt):
            self.h.startCallback(kind)

    def _run(self) -> None:
        """Run HiGHS: a large linear program first by interior point, which leaves simplex a vertex to go on from."""
        if self.interior:
            self.interior = False
            self.h.setOptionValue("solver", "ipx")  # "ipm" would be HiPO where that is installed
            run_highs(self.h)
            self.h.setOptionValue("solver", "choose")
            if self._word() in ("kOptimal", "kTimeLimit", "kInterrupt"):
                return
        run_highs(self.h)

    def _word(self) -> str:
        return str(self.h.getModelStatus().name)

    def _point(self) -> Point:
        solution = self.h.getSolution()
        y = self.rows * np.array(solution.row_dual) if solution.dual_valid else None
        return Point(self.columns * np.array(solution.col_value), y, np.zeros(0) if y is not None else None)

    def _ray(self) -> Point | None:
        _, exists, ray = self.h.getDualRay()
        return Point(np.zeros(self.program.n), self.rows * np.array(ray), np.zeros(0)) if exists else None


def run_highs(h: Any) -> None:
    """Run an instance of HiGHS; it refuses another number of threads than the last run in this process had."""
    if h.run() == highspy.HighsStatus.kError and h.getModelStatus() == highspy.HighsModelStatus.kNotset:
        highspy.Highs.resetGlobalScheduler(True)
        h.run()


def silent() -> Any:
    """Return an instance of HiGHS that prints nothing; from 1.16 on a callback of the constructor prints."""

    class Silent(highspy.Highs):  # type: ignore[misc, name-defined]
        def enableCallbacks(self) -> None:
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()

    return Silent()


def _int32(matrix: sp.csr_matrix) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the starts and indices of a compressed matrix in the width that HiGHS takes."""
    return matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)


SPEC = SolverSpec(
    name="highs",
    connect=Highs,
    package="highspy",
    ranks={"LP": 10, "MILP": 10},
    declined={"QP": "its QP solver fails on everyday support vector machines"},
    vertex=True,
    in_place=True,
    tolerance=1e-7,
    pip="pip install highspy",
    licence="MIT, in the core install",
)
