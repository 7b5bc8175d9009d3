r"""MOSEK: linear, convex quadratic and second-order cone programs, with integers or not.

Columns are handed over in the units of ``Program.scaling`` (integer ones as they are), a cone as the affine conic
constraint :math:`T(Gx + h) \in \mathcal{Q}` whose multiplier is the cone's. MOSEK takes no quadratic objective
beside cones: there :math:`\tfrac12 x'Px` becomes a new column t with
:math:`(t, 1, Fx)` in a rotated cone, :math:`F'F = P`.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from typing import Any

import mosek
import numpy as np
import scipy.sparse as sp
from mosek import boundkey, rescode, solsta, soltype
from numpy.typing import NDArray

from fsopt.compiler import Program
from fsopt.errors import SolverError
from fsopt.results import Point, Status
from fsopt.solvers.interface import Change, Outcome, Settings, refuse_option
from fsopt.typing import Vector

STATUS_MAP = {
    solsta.optimal: (Status.OPTIMAL, "optimal"),
    solsta.integer_optimal: (Status.OPTIMAL, "optimal"),
    solsta.prim_infeas_cer: (Status.INFEASIBLE, "infeasible"),
    solsta.dual_infeas_cer: (Status.UNBOUNDED, "unbounded"),
    solsta.prim_and_dual_feas: (Status.FEASIBLE, "almost"),
    solsta.prim_feas: (Status.FEASIBLE, "almost"),
    solsta.dual_feas: (Status.NONE, "numerical"),
    solsta.prim_illposed_cer: (Status.NONE, "numerical"),
    solsta.dual_illposed_cer: (Status.NONE, "numerical"),
    solsta.unknown: (Status.NONE, "numerical"),
}
STOP_MAP = {
    rescode.ok: None,
    rescode.trm_max_time: "time-limit",
    rescode.trm_max_iterations: "iteration-limit",
    rescode.trm_mio_num_relaxs: "iteration-limit",
    rescode.trm_mio_num_branches: "iteration-limit",
    rescode.trm_num_max_num_int_solutions: "iteration-limit",
    rescode.trm_max_num_setbacks: "numerical",
    rescode.trm_numerical_problem: "numerical",
    rescode.trm_stall: "numerical",
    rescode.trm_user_callback: "interrupted",
}
"""Why MOSEK ended early; None where the solution's status says it all."""
INFEASIBLE_INTEGER = (mosek.prosta.prim_infeas, mosek.prosta.prim_infeas_or_unbounded)
TOLERANCE = 1e-9


class Mosek:
    """One program loaded into MOSEK."""

    def __init__(self, program: Program, settings: Settings) -> None:
        self.program = program
        self.settings = settings
        self.mip = bool(program.integer.any())
        self.mip_gap = settings.mip_gap
        self.scale: Vector = np.where(program.integer, 1.0, program.scaling.columns)
        self.turn = program.scaling.cone
        try:
            self.task: Any = mosek.Task()
            self._options(settings)
            self._load()
        except mosek.Error as error:
            raise _failure(error) from error

    def _options(self, settings: Settings) -> None:
        tolerance = TOLERANCE if settings.tolerance is None else min(settings.tolerance, 1.0)
        common: dict[str, Any] = {
            "MSK_IPAR_NUM_THREADS": settings.threads,
            "MSK_IPAR_MIO_SEED": settings.seed,
            "MSK_DPAR_MIO_TOL_ABS_GAP": 1e-9,
            "MSK_DPAR_MIO_TOL_FEAS": max(tolerance, 1e-9),
            "MSK_DPAR_MIO_TOL_ABS_RELAX_INT": max(tolerance, 1e-9),
            "MSK_DPAR_BASIS_TOL_X": max(tolerance, 1e-9),
            "MSK_DPAR_BASIS_TOL_S": max(tolerance, 1e-9),
        }
        for kind in ("TOL", "QO_TOL", "CO_TOL"):
            for what in ("PFEAS", "DFEAS", "REL_GAP"):
                common[f"MSK_DPAR_INTPNT_{kind}_{what}"] = max(tolerance, 1e-14)
        for name, value in {**common, **settings.own}.items():
            text = {True: "MSK_ON", False: "MSK_OFF"}[value] if isinstance(value, bool) else str(value)
            try:
                self.task.putparam(name, text)
            except (mosek.Error, TypeError) as error:
                raise refuse_option("mosek", name, f"unknown name or bad value {value!r}") from error
        if settings.tee:
            self.task.set_Stream(mosek.streamtype.log, _show)

    def _load(self) -> None:
        p, t = self.program, self.task
        t.appendvars(p.n)
        t.appendcons(p.A.shape[0])
        t.putobjsense(mosek.objsense.minimize)
        A = sp.csc_matrix(p.A @ sp.diags(self.scale))
        t.putacollist(_places(p.n), *_compressed(A))
        self._put_sides(_places(p.A.shape[0]))
        self._put_bounds()
        integers = np.flatnonzero(p.integer).astype(np.int32)
        t.putvartypelist(integers, [mosek.variabletype.type_int] * len(integers))
        if len(p.cones):
            self._put_cones()
        self._put_objective()

    def _put_sides(self, rows: NDArray[np.int32]) -> None:
        p = self.program
        if len(rows):
            self.task.putconboundlist(rows, _kinds(p.lo[rows], p.hi[rows]), _number(p.lo[rows]), _number(p.hi[rows]))

    def _put_bounds(self) -> None:
        low, high = self.program.lb / self.scale, self.program.ub / self.scale
        self.task.putvarboundlist(_places(self.program.n), _kinds(low, high), _number(low), _number(high))

    def _put_objective(self) -> None:
        p, t = self.program, self.task
        t.putclist(_places(p.n), self.scale * p.c)
        t.putcfix(p.c0)
        D = sp.diags(self.scale)
        lower = sp.tril(D @ p.P @ D, format="coo")
        if not len(p.cones):
            t.putqobj(lower.row, lower.col, lower.data)
        elif lower.nnz:
            self._put_epigraph(D @ p.P @ D)

    def _put_cones(self) -> None:
        p, t = self.program, self.task
        F = sp.coo_matrix(self.turn @ p.cones.G @ sp.diags(self.scale))
        g = self.turn @ p.cones.h
        t.appendafes(len(g))
        t.putafefentrylist(F.row.astype(np.int64), F.col.astype(np.int32), F.data)
        t.putafegslice(0, len(g), g)
        domain = {size: t.appendquadraticconedomain(size) for size in set(p.cones.sizes.tolist())}
        t.appendaccsseq([domain[k] for k in p.cones.sizes.tolist()], len(g), 0, None)

    def _put_epigraph(self, P: sp.csc_matrix) -> None:
        """Add the column t at cost 1, and (t, 1, Fx) in the rotated cone 2 t 1 >= ||Fx||^2."""
        t, n = self.task, self.program.n
        active = np.flatnonzero(np.diff(sp.csc_matrix(P).indptr))
        values, vectors = np.linalg.eigh(sp.csc_matrix(P)[active][:, active].toarray())
        keep = values > 1e-14 * values[-1]
        F = np.sqrt(values[keep])[:, None] * vectors[:, keep].T
        first, rows = t.getnumafe(), len(F)
        t.appendvars(1)
        t.putvarbound(n, boundkey.fr, 0.0, 0.0)
        t.putcj(n, 1.0)
        t.appendafes(rows + 2)
        t.putafefentry(first, n, 1.0)
        t.putafeg(first + 1, 1.0)
        i, j = np.nonzero(F)
        t.putafefentrylist(first + 2 + i, active[j].astype(np.int32), F[i, j])
        t.appendaccseq(t.appendrquadraticconedomain(rows + 2), first, None)

    def update(self, change: Change) -> str | None:
        """Take over a change in place; new rows are appended, a quadratic objective beside cones is not changed."""
        p, t = self.program, self.task
        if (change.hessian or change.objective) and len(p.cones) and p.P.nnz:
            return "the quadratic objective stands in a cone"
        if change.objective or change.hessian:
            self._put_objective()
        if change.bounds:
            self._put_bounds()
        changed = np.zeros(0, dtype=int) if change.rows is None else change.rows
        if change.added:
            t.appendcons(change.added)
            changed = np.union1d(changed, np.arange(p.A.shape[0] - change.added, p.A.shape[0]))
        if len(changed):
            A = sp.csr_matrix(p.A[changed] @ sp.diags(self.scale))
            t.putarowlist(changed.astype(np.int32), *_compressed(A))
            self._put_sides(changed.astype(np.int32))
        return None

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Run MOSEK; an incumbent of branch and bound is solved again with its integers fixed."""
        started = time.perf_counter()
        t = self.task
        t.putdouparam(mosek.dparam.optimizer_max_time, -1.0 if time_limit is None else time_limit)
        t.putdouparam(mosek.dparam.mio_tol_rel_gap, self.mip_gap if mip_gap is None else mip_gap)
        try:
            ended = t.optimize()
            which = self._solution()
            claim, stop = self._status(ended, which)
            if claim is Status.UNBOUNDED and not self._feasible():
                claim, stop = Status.INFEASIBLE, "infeasible"
            point = ray = None
            if t.solutiondef(which) and t.getsolsta(which) not in _NO_POINT:
                point = self._point(which)
                point = self._polish(point) if self.mip else point
            if t.solutiondef(which) and t.getsolsta(which) == solsta.prim_infeas_cer:
                ray = dataclasses.replace(self._point(which), x=np.zeros(self.program.n))
            bound = t.getdouinf(mosek.dinfitem.mio_obj_bound) if self.mip else None
            counters = (mosek.iinfitem.mio_num_branch,) if self.mip else _COUNTERS
            iterations = sum(t.getintinf(item) for item in counters)
        except mosek.Error as error:
            raise _failure(error) from error
        seconds = time.perf_counter() - started
        return Outcome(claim, stop, point, bound, int(iterations), seconds, f"{ended}", ray)

    def _solution(self) -> Any:
        """Return which of MOSEK's solutions to read: integer, basic (of a linear program), or interior-point."""
        if self.mip:
            return soltype.itg
        return soltype.bas if self.task.solutiondef(soltype.bas) else soltype.itr

    def _status(self, ended: Any, which: Any) -> tuple[Status, str]:
        t = self.task
        status = t.getsolsta(which) if t.solutiondef(which) else solsta.unknown
        if ended not in STOP_MAP or status not in STATUS_MAP:
            raise SolverError(f"MOSEK stopped with {ended} and {status}", "try another solver")
        if self.mip and t.solutiondef(which) and t.getprosta(which) in INFEASIBLE_INTEGER:
            return self._tell_apart()
        claim, stop = STATUS_MAP[status]
        return claim, STOP_MAP[ended] or stop

    def _tell_apart(self) -> tuple[Status, str]:
        unbounded = self._feasible()
        return (Status.UNBOUNDED, "unbounded") if unbounded else (Status.INFEASIBLE, "infeasible")

    def _point(self, which: Any) -> Point:
        p, t = self.program, self.task
        x = self.scale * np.array(t.getxx(which))[: p.n]
        if self.mip:
            return Point(x)
        k = len(p.cones.h)
        z = self.turn.T @ np.array(t.getaccdotys(which))[:k] if k else np.zeros(0)
        return Point(x, np.array(t.gety(which)), z)

    def _variant(self, **arrays: Any) -> Outcome:
        """Solve the program with other arrays in the place of some."""
        return Mosek(dataclasses.replace(self.program, **arrays), self.settings).solve(None)

    def _polish(self, incumbent: Point) -> Point:
        """Round the integers and solve the rest again, so that no tolerance hides in them."""
        p = self.program
        low, high = (np.where(p.integer, np.round(incumbent.x), side) for side in (p.lb, p.ub))
        found = self._variant(lb=low, ub=high, integer=np.zeros(p.n, dtype=bool)).point
        return incumbent if found is None else Point(found.x)

    def _feasible(self) -> bool:
        """Return whether there is a point at all: a ray of descent alone does not make a program unbounded."""
        p = self.program
        return self._variant(P=sp.csc_matrix((p.n, p.n)), c=np.zeros(p.n)).claim is not Status.INFEASIBLE


_NO_POINT = (solsta.prim_infeas_cer, solsta.dual_infeas_cer, solsta.prim_illposed_cer, solsta.dual_illposed_cer)
_COUNTERS = (mosek.iinfitem.intpnt_iter, mosek.iinfitem.sim_primal_iter, mosek.iinfitem.sim_dual_iter)


def _places(count: int) -> NDArray[np.int32]:
    return np.arange(count, dtype=np.int32)


def _compressed(matrix: sp.csr_matrix) -> tuple[Any, ...]:
    """Return first and last place, indices and values of the rows (or columns), in the widths that MOSEK takes."""
    starts = matrix.indptr.astype(np.int64)
    return starts[:-1], starts[1:], matrix.indices.astype(np.int32), matrix.data


def _kinds(low: Vector, high: Vector) -> list[Any]:
    """Return MOSEK's word for each pair of sides."""
    names = [boundkey.fx, boundkey.ra, boundkey.up, boundkey.lo, boundkey.fr]
    up, down = high < np.inf, low > -np.inf
    return [names[k] for k in np.select([low == high, up & down, up, down], [0, 1, 2, 3], 4).tolist()]


def _number(side: Vector) -> Vector:
    """Return sides without infinities; MOSEK does not read a side that its word says is absent."""
    return np.where(np.isfinite(side), side, 0.0)


def _show(text: str) -> None:
    sys.stdout.write(text)


def _failure(error: mosek.Error) -> SolverError:
    """Turn MOSEK's error into one line that says what to do."""
    if "license" in str(error.errno):
        hint = (
            "get one at mosek.com (free for academics, 30-day trial for all) and save it as mosek/mosek.lic in the"
            " home folder, or set MOSEKLM_LICENSE_FILE to its path"
        )
        return SolverError(f"MOSEK found no valid licence ({_word(error)})", hint)
    return SolverError(f"MOSEK failed: {_word(error)} {error.msg}".replace("\n", " ").rstrip(), "try another solver")


def _word(error: mosek.Error) -> str:
    return str(error.errno).removeprefix("rescode.")


def connect(program: Program, settings: Settings) -> Mosek:
    """Load a program into MOSEK."""
    return Mosek(program, settings)
