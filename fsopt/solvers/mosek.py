r"""MOSEK: linear, convex quadratic and second-order cone programs, with integers or not, and semidefinite programs.

The variables have the units of ``Program.scaling`` (integer ones their own). A cone is the affine conic constraint
:math:`T(Gx + h) \in \mathcal{Q}`, whose multiplier is the cone's; that of a
semidefinite matrix takes its lower triangle. MOSEK takes no quadratic objective beside cones:
there :math:`\tfrac12 x'Px` becomes a new variable t with :math:`(t, 1, Fx)` in a rotated cone, :math:`F'F = P`.
"""

from __future__ import annotations

import dataclasses
import itertools
import sys
import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fsopt.answers.results import Point, Status
from fsopt.common import clock
from fsopt.compiler import Program
from fsopt.errors import SolverError
from fsopt.solvers import shared
from fsopt.solvers.interface import Change, Outcome, Settings, set_options
from fsopt.solvers.scaled import Scaled
from fsopt.solvers.spec import Package, SolverSpec
from fsopt.typing import Vector

mosek = Package("mosek")
STATUS_MAP = {
    "optimal": (Status.OPTIMAL, "optimal"),
    "integer_optimal": (Status.OPTIMAL, "optimal"),
    "prim_infeas_cer": (Status.INFEASIBLE, "infeasible"),
    "dual_infeas_cer": (Status.UNBOUNDED, "unbounded"),
    "prim_and_dual_feas": (Status.FEASIBLE, "almost"),
    "prim_feas": (Status.FEASIBLE, "almost"),
    "dual_feas": (Status.NONE, "numerical"),
    "prim_illposed_cer": (Status.NONE, "numerical"),
    "dual_illposed_cer": (Status.NONE, "numerical"),
    "unknown": (Status.NONE, "numerical"),
}
"""By the names in ``mosek.solsta``."""
STOP_MAP = {
    "ok": None,
    "trm_max_time": "time-limit",
    "trm_max_iterations": "iteration-limit",
    "trm_mio_num_relaxs": "iteration-limit",
    "trm_mio_num_branches": "iteration-limit",
    "trm_num_max_num_int_solutions": "iteration-limit",
    "trm_max_num_setbacks": "numerical",
    "trm_numerical_problem": "numerical",
    "trm_stall": "numerical",
    "trm_user_callback": "interrupted",
}
"""By the names in ``mosek.rescode``: why MOSEK ended early; None where the status of the solution says it all."""
NO_POINT = ("prim_infeas_cer", "dual_infeas_cer", "prim_illposed_cer", "dual_illposed_cer")
"""Statuses of a solution that holds a certificate in the place of a point."""
INFEASIBLE_INTEGER = ("prim_infeas", "prim_infeas_or_unbounded")
"""Names in ``mosek.prosta`` after which a program with integers has no point, or is unbounded."""
BOUND_KEYS = {"fixed": "fx", "range": "ra", "upper": "up", "lower": "lo", "free": "fr"}
"""Kind of a pair of bounds -> name in ``mosek.boundkey``."""
COUNTERS = ("intpnt_iter", "sim_primal_iter", "sim_dual_iter")
TOLERANCE = 1e-9
ERRORS = shared.Errors(
    "MOSEK",
    "get one at mosek.com (free for academics, 30-day trial for all) and save it as mosek/mosek.lic in the"
    " home folder, or set MOSEKLM_LICENSE_FILE to its path",
)


class Mosek:
    """One program loaded into MOSEK.

    Attributes
    ----------
    program, settings : as given.
    mip : whether it has integers.
    scaled : the arrays in the units of MOSEK. The first n variables of the ``task`` are x'.
    """

    def __init__(self, program: Program, settings: Settings) -> None:
        self.program = program
        self.settings = settings
        self.mip = bool(program.integer.any())
        self.scaled = Scaled(program)
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
            "MSK_DPAR_MIO_TOL_ABS_GAP": 1e-9 * self.scaled.absolute_gap,
        }
        for name in ("MIO_TOL_FEAS", "MIO_TOL_ABS_RELAX_INT", "BASIS_TOL_X", "BASIS_TOL_S"):
            common[f"MSK_DPAR_{name}"] = max(tolerance, 1e-9)  # the smallest that MOSEK takes
        for kind, what in itertools.product(("TOL", "QO_TOL", "CO_TOL"), ("PFEAS", "DFEAS", "REL_GAP")):
            common[f"MSK_DPAR_INTPNT_{kind}_{what}"] = max(tolerance, 1e-14)
        set_options("mosek", {**common, **settings.own}, self._set_option, (mosek.Error, TypeError))
        if settings.tee:
            self.task.set_Stream(mosek.streamtype.log, _show)

    def _set_option(self, name: str, value: Any) -> None:
        text = {True: "MSK_ON", False: "MSK_OFF"}[value] if isinstance(value, bool) else str(value)
        self.task.putparam(name, text)

    def _load(self) -> None:
        p, t = self.program, self.task
        t.appendvars(p.n)
        t.appendcons(p.A.shape[0])
        t.putobjsense(mosek.objsense.minimize)
        t.putacollist(_places(p.n), *_compressed(sp.csc_matrix(self.scaled.A)))
        self._put_constraint_bounds(_places(p.A.shape[0]))
        self._put_variable_bounds()
        integers = np.flatnonzero(p.integer).astype(np.int32)
        t.putvartypelist(integers, [mosek.variabletype.type_int] * len(integers))
        if len(p.cones):
            self._put_cones()
        self._put_objective()

    def _put_constraint_bounds(self, rows: NDArray[np.int32]) -> None:
        if len(rows):
            self.task.putconboundlist(rows, *_bounds(self.scaled.lo[rows], self.scaled.hi[rows]))

    def _put_variable_bounds(self) -> None:
        self.task.putvarboundlist(_places(self.program.n), *_bounds(self.scaled.lb, self.scaled.ub))

    def _put_objective(self) -> None:
        p, t = self.program, self.task
        t.putclist(_places(p.n), self.scaled.c)
        t.putcfix(self.scaled.c0)
        P = self.scaled.P
        lower = sp.tril(P, format="coo")
        if not len(p.cones):
            t.putqobj(lower.row, lower.col, lower.data)
        elif lower.nnz:
            self._put_epigraph(P)

    def _put_cones(self) -> None:
        t, cones = self.task, self.program.cones
        h, entries = self.scaled.h, sp.coo_matrix(self.scaled.G)
        t.appendafes(len(h))
        t.putafefentrylist(entries.row.astype(np.int64), entries.col.astype(np.int32), entries.data)
        t.putafegslice(0, len(h), h)
        kinds = list(zip(cones.sizes.tolist(), (cones.orders > 0).tolist(), strict=True))
        domain = {
            (size, matrix): (t.appendsvecpsdconedomain if matrix else t.appendquadraticconedomain)(size)
            for size, matrix in sorted(set(kinds))
        }
        t.appendaccs([domain[kind] for kind in kinds], cones.by_lower_triangles(), None)

    def _put_epigraph(self, P: sp.csc_matrix) -> None:
        """Add the variable t at cost 1, and (t, 1, Fx) in the rotated cone 2 t 1 >= ||Fx||^2."""
        t, n = self.task, self.program.n
        active, F = shared.factor(P)
        first, rows = t.getnumafe(), len(F)
        t.appendvars(1)
        t.putvarbound(n, mosek.boundkey.fr, 0.0, 0.0)
        t.putcj(n, 1.0)
        t.appendafes(rows + 2)
        t.putafefentry(first, n, 1.0)
        t.putafeg(first + 1, 1.0)
        i, j = np.nonzero(F)
        t.putafefentrylist(first + 2 + i, active[j].astype(np.int32), F[i, j])
        t.appendaccseq(t.appendrquadraticconedomain(rows + 2), first, None)

    def update(self, change: Change) -> str | None:
        """Take over a change in place; a quadratic objective beside cones stands in a cone, which needs a new load."""
        p, t = self.program, self.task
        if (change.hessian or change.objective) and len(p.cones) and p.P.nnz:
            return "the quadratic objective stands in a cone"
        if change.objective or change.hessian:
            self._put_objective()
        if change.bounds:
            self._put_variable_bounds()
        changed = np.zeros(0, dtype=int) if change.rows is None else change.rows
        if change.added:
            t.appendcons(change.added)
            changed = np.union1d(changed, np.arange(p.A.shape[0] - change.added, p.A.shape[0]))
        if len(changed):
            t.putarowlist(changed.astype(np.int32), *_compressed(self.scaled.A[changed]))
            self._put_constraint_bounds(changed.astype(np.int32))
        return None

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Run MOSEK; an incumbent of branch and bound is solved again with its integers fixed."""
        started = time.perf_counter()
        t = self.task
        t.putdouparam(mosek.dparam.optimizer_max_time, -1.0 if time_limit is None else time_limit)
        t.putdouparam(mosek.dparam.mio_tol_rel_gap, self.settings.mip_gap if mip_gap is None else mip_gap)
        try:
            ended = t.optimize()
            which = self._solution()
            word = _word(t.getsolsta(which)) if t.solutiondef(which) else None
            status, stop = self._status(_word(ended), which, word)
            if status is Status.UNBOUNDED and not self._feasible():
                status, stop = Status.INFEASIBLE, "infeasible"
            point = ray = None
            if word is not None and word not in NO_POINT:
                point = self._point(which)
            if word == "prim_infeas_cer":
                ray = dataclasses.replace(self._point(which), x=np.zeros(self.program.n))
            bound = self.scaled.bound(t.getdouinf(mosek.dinfitem.mio_obj_bound)) if self.mip else None
            counters = ("mio_num_branch",) if self.mip else COUNTERS
            iterations = sum(t.getintinf(getattr(mosek.iinfitem, name)) for name in counters)
        except mosek.Error as error:
            raise _failure(error) from error
        seconds = time.perf_counter() - started
        tolerance = max(t.getdouparam(mosek.dparam.mio_tol_feas), t.getdouparam(mosek.dparam.mio_tol_abs_relax_int))
        return Outcome(
            status, stop, point, bound, int(iterations), seconds, f"{ended}", ray, integer_tolerance=tolerance
        )

    def _solution(self) -> Any:
        """Return which of MOSEK's solutions to read: integer, basic (of a linear program), or interior-point."""
        if self.mip:
            return mosek.soltype.itg
        return mosek.soltype.bas if self.task.solutiondef(mosek.soltype.bas) else mosek.soltype.itr

    def _status(self, ended: str, which: Any, word: str | None) -> tuple[Status, str]:
        """Return status and stop from MOSEK's names for its end and for the solution, None where it has none."""
        status = word or "unknown"
        if ended not in STOP_MAP or status not in STATUS_MAP:
            raise SolverError(f"MOSEK stopped with {ended} and {status}", "try another solver")
        if self.mip and word is not None and _word(self.task.getprosta(which)) in INFEASIBLE_INTEGER:
            unbounded = self._feasible()
            return (Status.UNBOUNDED, "unbounded") if unbounded else (Status.INFEASIBLE, "infeasible")
        found, stop = STATUS_MAP[status]
        return found, STOP_MAP[ended] or stop

    def _point(self, which: Any) -> Point:
        p, t = self.program, self.task
        x = self.scaled.x(np.array(t.getxx(which))[: p.n])
        if self.mip:
            return Point(x)
        z = np.zeros(len(p.cones.h))
        if len(z):
            z[p.cones.by_lower_triangles()] = np.array(t.getaccdotys(which))[: len(z)]
            z = self.scaled.z(z)
        return Point(x, self.scaled.y(np.array(t.gety(which))), z)

    def _solve_other(self, program: Program) -> Outcome:
        return Mosek(program, self.settings).solve(clock.left())

    def _feasible(self) -> bool:
        return shared.is_feasible(self.program, self._solve_other)


def _places(count: int) -> NDArray[np.int32]:
    return np.arange(count, dtype=np.int32)


def _compressed(matrix: sp.csr_matrix) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], Vector]:
    """Return first and last place, indices and values of the rows (or columns), in the widths that MOSEK takes."""
    starts = matrix.indptr.astype(np.int64)
    return starts[:-1], starts[1:], matrix.indices.astype(np.int32), matrix.data


def _bounds(low: Vector, high: Vector) -> tuple[list[Any], Vector, Vector]:
    """Return MOSEK's keys of pairs of bounds, and the bounds."""
    keys = [getattr(mosek.boundkey, BOUND_KEYS[kind]) for kind in shared.bound_kinds(low, high)]
    return keys, shared.present(low), shared.present(high)


def _word(code: Any) -> str:
    """Return the name of one of MOSEK's constants, without its family."""
    return str(code).rpartition(".")[2]


def _show(text: str) -> None:
    sys.stdout.write(text)


def _failure(error: Any) -> SolverError:
    """Return MOSEK's error as one with the next step, in one line."""
    if "license" in str(error.errno):
        return ERRORS.no_licence(_word(error.errno))
    return ERRORS.failed(f"{_word(error.errno)} {error.msg}".replace("\n", " ").rstrip())


SPEC = SolverSpec(
    name="mosek",
    connect=Mosek,
    package="mosek",
    ranks=dict.fromkeys(("LP", "QP", "SOCP", "SDP", "MILP", "MIQP", "MISOCP"), 70),
    proves="global",
    duals=True,
    vertex=True,
    in_place=True,
    tolerance=1e-6,
    pip="pip install mosek",
    licence="commercial, free for academics, trial for all (mosek.com): mosek.lic in the home folder's mosek/",
)
