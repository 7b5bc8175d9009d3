r"""MOSEK: linear, convex quadratic and second-order cone programs, with integers or not, and semidefinite programs.

The task is the program in its conic form (:class:`fsopt.solvers.conic.ConicForm`), integer variables in their own unit:
bounds are rows, and a cone is the affine conic constraint :math:`b - Mx \in \mathcal{Q}`, a semidefinite matrix by its
lower triangle. MOSEK takes no quadratic objective beside cones.
"""

from __future__ import annotations

import itertools
import sys
import time
from typing import Any

import numpy as np
import scipy.sparse as sp

from fsopt.answers.results import Point, Status
from fsopt.compiler import Program
from fsopt.errors import SolverError
from fsopt.solvers.conic import ConicForm
from fsopt.solvers.spec import UNKNOWN, Change, Outcome, Package, Settings, SolverSpec, set_options

mosek = Package("mosek")
STATUS_MAP = {
    "optimal": (Status.OPTIMAL, "optimal"),
    "integer_optimal": (Status.OPTIMAL, "optimal"),
    "prim_infeas_cer": (Status.INFEASIBLE, "infeasible"),
    "dual_infeas_cer": (Status.UNBOUNDED, "unbounded"),
    "prim_and_dual_feas": (Status.FEASIBLE, "almost"),
    "prim_feas": (Status.FEASIBLE, "almost"),
}
"""By the names in ``mosek.solsta``; every other one, and no solution, is none."""
ITERATIONS = ("trm_max_iterations", "trm_mio_num_relaxs", "trm_mio_num_branches", "trm_num_max_num_int_solutions")
STOP_MAP = {"trm_max_time": "time-limit", "trm_user_callback": "interrupted"}
STOP_MAP |= dict.fromkeys(ITERATIONS, "iteration-limit")
"""By the names in ``mosek.rescode``: why MOSEK ended early; every other one is numerical."""
NO_POINT = ("prim_infeas_cer", "dual_infeas_cer", "prim_illposed_cer", "dual_illposed_cer")
"""Statuses of a solution that holds a certificate in the place of a point."""
COUNTERS = ("intpnt_iter", "sim_primal_iter", "sim_dual_iter")
TOLERANCE = 1e-9
LICENCE = (
    "get one at mosek.com (free for academics, 30-day trial for all) and save it as mosek/mosek.lic in the"
    " home folder, or set MOSEKLM_LICENSE_FILE to its path"
)


class Mosek:
    """One program for MOSEK: variables of the conic form are the first n of the task, which is None after a change."""

    def __init__(self, program: Program, settings: Settings) -> None:
        self.program = program
        self.settings = settings
        self.mip = bool(program.integer.any())
        if len(program.cones) and program.P.nnz:
            raise SolverError("MOSEK takes no quadratic objective beside cones", "state it by a cone and a variable")
        self.form = ConicForm(program)
        self.task: Any = None
        self._load()

    def _load(self) -> None:
        """Load the program into a new task."""
        try:
            self.task = mosek.Task()
            self._options(self.settings)
            self._put_rows()
            self._put_objective()
        except mosek.Error as error:
            raise _failure(error) from error

    def _options(self, settings: Settings) -> None:
        tolerance = TOLERANCE if settings.tolerance is None else min(settings.tolerance, 1.0)
        common: dict[str, Any] = {
            "MSK_IPAR_NUM_THREADS": settings.threads,
            "MSK_IPAR_MIO_SEED": settings.seed,
            "MSK_DPAR_MIO_TOL_ABS_GAP": 1e-9,
        }
        for name in ("MIO_TOL_FEAS", "MIO_TOL_ABS_RELAX_INT", "BASIS_TOL_X", "BASIS_TOL_S"):
            common[f"MSK_DPAR_{name}"] = max(tolerance, 1e-9)  # the smallest that MOSEK takes
        for kind, what in itertools.product(("TOL", "QO_TOL", "CO_TOL"), ("PFEAS", "DFEAS", "REL_GAP")):
            common[f"MSK_DPAR_INTPNT_{kind}_{what}"] = max(tolerance, 1e-14)
        set_options("mosek", {**common, **settings.own}, self._set_option, (mosek.Error, TypeError))
        if settings.tee:
            self.task.set_Stream(mosek.streamtype.log, sys.stdout.write)

    def _set_option(self, name: str, value: Any) -> None:
        text = {True: "MSK_ON", False: "MSK_OFF"}[value] if isinstance(value, bool) else str(value)
        self.task.putparam(name, text)

    def _put_rows(self) -> None:
        """Add variables without bounds, the rows of equations and inequalities, and the cones."""
        t, n = self.task, self.program.n
        form = self.form
        M, b = form.matrix(), form.right_hand_side()
        first = form.equalities + form.inequalities
        t.appendvars(n)
        t.appendcons(first)
        columns = np.arange(n, dtype=np.int32)
        t.putvarboundlist(columns, [mosek.boundkey.fr] * n, np.zeros(n), np.zeros(n))
        linear = sp.coo_matrix(M[:first])
        t.putaijlist(linear.row.astype(np.int32), linear.col.astype(np.int32), linear.data)
        keys = [mosek.boundkey.fx] * form.equalities + [mosek.boundkey.up] * form.inequalities
        t.putconboundlist(np.arange(first, dtype=np.int32), keys, b[:first], b[:first])
        integers = np.flatnonzero(self.program.integer).astype(np.int32)
        t.putvartypelist(integers, [mosek.variabletype.type_int] * len(integers))
        if len(self.program.cones):
            self._put_cones(sp.csc_matrix(-M[first:]), b[first:])

    def _put_cones(self, G: sp.csc_matrix, h: np.ndarray) -> None:
        """Add the constraints that Gx + h is in the cones."""
        t, cones = self.task, self.program.cones
        entries = sp.coo_matrix(G)
        t.appendafes(len(h))
        t.putafefentrylist(entries.row.astype(np.int64), entries.col.astype(np.int32), entries.data)
        t.putafegslice(0, len(h), h)
        kinds = list(zip(cones.sizes.tolist(), (cones.orders > 0).tolist(), strict=True))
        domain = {
            (size, matrix): (t.appendsvecpsdconedomain if matrix else t.appendquadraticconedomain)(size)
            for size, matrix in sorted(set(kinds))
        }
        t.appendaccs([domain[kind] for kind in kinds], cones.by_lower_triangles(), None)

    def _put_objective(self) -> None:
        t, n = self.task, self.program.n
        t.putobjsense(mosek.objsense.minimize)
        t.putclist(np.arange(n, dtype=np.int32), self.form.linear())
        t.putcfix(self.program.c0)
        lower = sp.coo_matrix(self.form.hessian().T)
        if lower.nnz:
            t.putqobj(lower.row, lower.col, lower.data)

    def update(self, change: Change) -> str | None:
        """Take over a change: the next solve loads the program anew, but its rows must have kept their places."""
        self.task = None
        return self.form.moved(change)

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Run MOSEK."""
        started = time.perf_counter()
        if self.task is None:
            self._load()
        t = self.task
        t.putdouparam(mosek.dparam.optimizer_max_time, -1.0 if time_limit is None else time_limit)
        t.putdouparam(mosek.dparam.mio_tol_rel_gap, self.settings.mip_gap if mip_gap is None else mip_gap)
        try:
            ended = t.optimize()
            which = self._solution()
            word = _word(t.getsolsta(which)) if t.solutiondef(which) else None
            status, stop = self._status(_word(ended), which, word)
            point = None if word is None or word in NO_POINT else self._point(which)
            ray = self._point(which) if word == "prim_infeas_cer" else None
            bound = t.getdouinf(mosek.dinfitem.mio_obj_bound) if self.mip else None
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
        if self.mip and word is not None and _word(self.task.getprosta(which)) == "prim_infeas":
            return Status.INFEASIBLE, "infeasible"
        found, stop = STATUS_MAP.get(word or "", UNKNOWN)
        return found, stop if ended == "ok" else STOP_MAP.get(ended, "numerical")

    def _point(self, which: Any) -> Point:
        """Return the point of a solution; that of a proof of infeasibility has x = 0."""
        p, t = self.program, self.task
        proof = _word(t.getsolsta(which)) in NO_POINT
        x = np.zeros(p.n) if proof else np.array(t.getxx(which))[: p.n]
        if self.mip:
            return Point(self.form.scale * x)
        # The Lagrangian of MOSEK has -y'Mx for the rows, and -z'(b - Mx) for the cones.
        z = np.append(-np.array(t.gety(which)), np.zeros(len(p.cones.h)))
        if len(p.cones):
            first = self.form.equalities + self.form.inequalities
            z[first + p.cones.by_lower_triangles()] = np.array(t.getaccdotys(which))[: len(p.cones.h)]
        return self.form.point(x, z)


def _word(code: Any) -> str:
    """Return the name of one of MOSEK's constants, without its family."""
    return str(code).rpartition(".")[2]


def _failure(error: Any) -> SolverError:
    """Return MOSEK's error as one with the next step, in one line."""
    if "license" in str(error.errno):
        return SolverError(f"MOSEK found no valid licence ({_word(error.errno)})", LICENCE)
    words = f"{_word(error.errno)} {error.msg}".replace("\n", " ").rstrip()
    return SolverError(f"MOSEK failed: {words}", "try another solver")


SPEC = SolverSpec(
    name="mosek",
    connect=Mosek,
    package="mosek",
    ranks=dict.fromkeys(("LP", "QP", "SOCP", "SDP", "MILP", "MIQP", "MISOCP"), 70),
    vertex=True,
    in_place=True,
    pip="pip install mosek",
    licence="commercial, free for academics, trial for all (mosek.com): mosek.lic in the home folder's mosek/",
)
