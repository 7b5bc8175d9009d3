r"""FICO Xpress: linear, quadratic and second-order cone programs, with integers or not, and nonconvex quadratics.

The variables have the units of ``Program.scaling`` (integer ones their own). A cone is new variables
:math:`s = T(Gx + h)` with :math:`\sum_{i>0} s_i^2 \le s_0^2,\ s_0 \ge 0`; the multipliers of the equations that
define s are those of the cone. Everything goes in one call of ``loadMIQCQP``; a change loads it anew.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
import time
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from fsopt.answers.results import Point, Status
from fsopt.common import clock
from fsopt.compiler import Program
from fsopt.errors import SolverError
from fsopt.solvers import shared
from fsopt.solvers.interface import INFINITY, Change, Outcome, Settings, set_options
from fsopt.solvers.scaled import Scaled
from fsopt.solvers.spec import Package, SolverSpec
from fsopt.solvers.watched_trees import watch_xpress
from fsopt.typing import Vector

xp = Package("xpress")
SOLUTION_MAP = {
    "OPTIMAL": (Status.OPTIMAL, "optimal"),
    "INFEASIBLE": (Status.INFEASIBLE, "infeasible"),
    "UNBOUNDED": (Status.UNBOUNDED, "unbounded"),
}
"""By the names in ``xpress.SolStatus``."""
STOP_MAP = {
    "NONE": "numerical",
    "TIMELIMIT": "time-limit",
    "WORKLIMIT": "time-limit",
    "CTRLC": "interrupted",
    "USER": "interrupted",
    "NODELIMIT": "iteration-limit",
    "ITERLIMIT": "iteration-limit",
    "SOLLIMIT": "iteration-limit",
    "MEMORYERROR": "iteration-limit",
    "MIPGAP": "optimal",
    "SOLVECOMPLETE": "almost",
    "NUMERICALERROR": "numerical",
    "GENERICERROR": "numerical",
}
"""By the names in ``xpress.StopType``: why Xpress stopped where it neither solved the program nor proved anything."""
TOLERANCE = 1e-9
CONES = {"presolve": 0, "bargapstop": 1e-11}
"""Cone programs: with presolve, or at the gap alone, the multipliers come back with errors up to 1e-4."""
TOO_LARGE = ("?120", "?277", "?301")
"""Xpress's errors for a model that is too large for the community licence."""
ERRORS = shared.Errors(
    "Xpress", "set XPAUTH_PATH to your licence file (free for academics at fico.com/xpress), or use another solver"
)
ROW_TYPES = {"fixed": "E", "range": "R", "upper": "L", "lower": "G", "free": "N"}
"""Kind of a pair of bounds -> Xpress's letter."""


class Xpress:
    """One program loaded into Xpress.

    Attributes
    ----------
    program, settings : as given.
    mip, nonconvex : whether it has integers; whether it is solved by branch and bound over quadratics.
    scaled : the arrays in the units of Xpress. The first n variables of the problem ``p`` are x'.
    """

    def __init__(self, program: Program, settings: Settings) -> None:
        shared.refuse_other_than_quadratic(program, "xpress")
        self.program = program
        self.settings = settings
        self.mip = program.discrete
        self.nonconvex = not program.convex
        self.scaled = Scaled(program)
        try:
            _take_licence()
            self.p: Any = xp.problem()
            self._options(settings)
            self.p.loadMIQCQP(**load_arguments(self.scaled))
            self.p.setControl("outputlog", int(settings.tee))
            self.p.chgObj([-1], [-self.scaled.c0])  # the constant, with its sign turned, is the entry -1
        except _errors() as error:
            raise _failure(error) from error

    def _options(self, settings: Settings) -> None:
        tolerance = TOLERANCE if settings.tolerance is None else min(settings.tolerance, 0.1)
        common: dict[str, Any] = {
            "outputlog": 0,
            "threads": settings.threads,
            "randomseed": settings.seed,
            "feastol": tolerance,
            "feastoltarget": tolerance,
            "optimalitytol": tolerance,
            "optimalitytoltarget": tolerance,
            "miptol": tolerance,
            **dict.fromkeys(("bargapstop", "barprimalstop", "bardualstop"), tolerance),
            **(CONES if len(self.program.cones) and not (self.mip or self.nonconvex) else {}),
            **dict.fromkeys(("nlpvalidationtol_a", "nlpvalidationtol_r", "nlpvalidationtol_k"), tolerance),
            "miprelstop": settings.mip_gap,
            "mipabsstop": 1e-9 * self.scaled.absolute_gap,
            "mipaddcutoff": -1e-9 * self.scaled.absolute_gap,
            "miprelcutoff": 0.0,
        }
        refusals = (*_errors(), TypeError, ValueError)
        set_options("xpress", {**common, **settings.own}, self.p.setControl, refusals)
        if settings.tee:
            self.p.addMessageCallback(_show, None, 0)

    def update(self, change: Change) -> str | None:
        """Ask for a new load: Xpress keeps nothing here that would make the next solve faster."""
        return "Xpress is loaded anew"

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Run Xpress; an incumbent of branch and bound is solved again with its integers fixed."""
        started = time.perf_counter()
        self.p.setControl("timelimit", 1e20 if time_limit is None else time_limit)
        self.p.setControl("miprelstop", self.settings.mip_gap if mip_gap is None else mip_gap)
        tree = self.mip or self.nonconvex
        try:
            if tree:
                watch_xpress(self.p, self.scaled.bound)
            self.p.optimize("x" if self.nonconvex else "")
            a = self.p.attributes
            status, stop = self._status()
            bound = self.scaled.bound(float(a.bestbound)) if tree and abs(a.bestbound) < 1e20 else None
            iterations = int(a.nodes if tree else a.simplexiter + a.bariter)
            message = f"{a.solstatus.name}, {xp.StopType(a.stopstatus).name}"
            point = self._point() if a.solstatus.name in ("OPTIMAL", "FEASIBLE") else None
        except _errors() as error:
            raise _failure(error) from error
        if status is Status.UNBOUNDED and not shared.is_feasible(self.program, self._solve_other):
            status, stop = Status.INFEASIBLE, "infeasible"
        ray = self._ray() if status is Status.INFEASIBLE and not (tree or len(self.program.cones)) else None
        seconds = time.perf_counter() - started
        tolerance = max(self.p.getControl(name) for name in ("miptol", "feastol"))
        return Outcome(status, stop, point, bound, iterations, seconds, message, ray, integer_tolerance=tolerance)

    def _status(self) -> tuple[Status, str]:
        a = self.p.attributes
        if a.solstatus.name in SOLUTION_MAP:
            return SOLUTION_MAP[a.solstatus.name]
        why = xp.StopType(a.stopstatus).name
        if why not in STOP_MAP:
            raise SolverError(f"Xpress stopped with {why}", "try another solver")
        return Status.NONE, STOP_MAP[why]

    def _point(self) -> Point:
        p, m = self.program, self.program.A.shape[0]
        point = Point(self.scaled.x(np.array(self.p.getSolution())[: p.n]))
        if self.nonconvex or self.mip:
            return point
        try:
            duals = np.array(self.p.getDuals() if m + len(p.cones) else [])
        except xp.ModelError:  # presolve left nothing to optimize
            return point
        return Point(point.x, self.scaled.y(duals[:m]), self.scaled.z(duals[m : m + len(p.cones.h)]))

    def _other(self, program: Program) -> Xpress:
        return Xpress(program, dataclasses.replace(self.settings, tee=False))

    def _solve_other(self, program: Program) -> Outcome:
        return self._other(program).solve(clock.left())

    def _ray(self) -> Point | None:
        """Return the multipliers that prove linear constraints and bounds infeasible; they need presolve off."""
        other = self._other(shared.without_objective(self.program))
        other.p.setControl("presolve", 0)
        other.p.lpOptimize()
        ray = other.p.getDualRay()
        return None if ray is None else Point(np.zeros(self.program.n), other.scaled.y(np.array(ray)), np.zeros(0))


def _show(_problem: Any, _data: Any, text: str, _kind: int) -> None:
    sys.stdout.write(f"{text}\n")


@functools.lru_cache(maxsize=1)
def _take_licence() -> None:
    """Take the licence once: the user's own if there is one, else the free one of the package, without its remark."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xp.LicenseWarning)
        xp.init()


def _errors() -> tuple[type[Exception], ...]:
    """Return the exceptions by which Xpress refuses and fails."""
    return xp.SolverError, xp.ModelError, xp.InterfaceError


def _failure(error: Exception) -> SolverError:
    """Return Xpress's error as one with the next step."""
    words = f"{error}".strip().splitlines()[0]
    if any(code in words for code in TOO_LARGE):
        return ERRORS.too_large(words)
    if "licen" in words.lower():
        return ERRORS.no_licence(words)
    return ERRORS.failed(words)


def load_arguments(scaled: Scaled) -> dict[str, Any]:
    r"""Return the arguments of ``loadMIQCQP`` for a program in the units of Xpress.

    The variables are x' and s, and the constraints come in this order: 1. The linear constraints :math:`R\ell \le R A D
    x' \le R u`, 2. the equations :math:`TGDx' - s = -Th`, 3. the cones :math:`\sum_{i>0} s_i^2 - s_0^2 \le 0`, and 4.
    the other quadratic inequalities.
    """
    p = scaled.program
    k, n_cones = len(p.cones.h), len(p.cones)
    others = _inequalities(p, scaled.columns)
    left = sp.vstack([scaled.A, scaled.G, sp.csr_matrix((n_cones, p.n)), *(a for _, a, _ in others)])
    right = sp.vstack([sp.csr_matrix((p.A.shape[0], k)), -sp.identity(k), sp.csr_matrix((n_cones + len(others), k))])
    M = sp.hstack([left, right], format="csc")
    letters = [ROW_TYPES[kind] for kind in shared.bound_kinds(p.lo, p.hi)]
    integers = np.flatnonzero(p.integer)
    return {
        "probname": "",
        "rowtype": [*letters, *"E" * k, *"L" * (n_cones + len(others))],
        "rhs": np.concatenate(
            [_right_hand_sides(scaled), -scaled.h, np.zeros(n_cones), [bound for *_, bound in others]]
        ),
        "rng": np.concatenate([_ranges(scaled), np.zeros(k + n_cones + len(others))]),
        "start": M.indptr,
        "rowind": M.indices,
        "rowcoef": M.data,
        **_objective(scaled),
        **_bounds(scaled),
        **_quadratic_rows(p, [Q for Q, *_ in others]),
        "coltype": ["I"] * len(integers),
        "entind": integers,
    }


def _right_hand_sides(scaled: Scaled) -> Vector:
    """Return the upper bounds of the linear constraints, the lower ones where these are absent."""
    right: Vector = np.where(scaled.hi < np.inf, scaled.hi, shared.present(scaled.lo))
    return right


def _ranges(scaled: Scaled) -> Vector:
    """Return the distance between the bounds of the linear constraints that have both, 0 for the others."""
    low, high = scaled.lo, scaled.hi
    both = np.isfinite(low) & np.isfinite(high)
    ranges: Vector = np.where(both, high, 0.0) - np.where(both, low, 0.0)
    return ranges


def _objective(scaled: Scaled) -> dict[str, Any]:
    Q = sp.triu(scaled.P, format="coo")
    costs = np.concatenate([scaled.c, np.zeros(len(scaled.program.cones.h))])
    return {"objcoef": costs, "objqcol1": Q.row, "objqcol2": Q.col, "objqcoef": Q.data}


def _bounds(scaled: Scaled) -> dict[str, Vector]:
    """Return the bounds of x' and of the variables s of the cones, whose heads are at least 0."""
    program = scaled.program
    k = len(program.cones.h)
    low = np.concatenate([scaled.lb, np.full(k, -np.inf)])
    high = np.concatenate([scaled.ub, np.full(k, np.inf)])
    low[program.n + program.cones.starts[:-1]] = 0.0
    return {"lb": np.clip(low, -INFINITY, INFINITY), "ub": np.clip(high, -INFINITY, INFINITY)}


def _quadratic_rows(program: Program, others: list[sp.coo_matrix]) -> dict[str, Any]:
    """Return the places and the quadratic parts of the cones and of the other inequalities."""
    cones = zip(program.cones.starts[:-1].tolist(), program.cones.sizes.tolist(), strict=True)
    matrices = [_lorentz(program.n + start, size) for start, size in cones] + others
    first = program.A.shape[0] + len(program.cones.h)
    return {
        "qrowind": first + np.arange(len(matrices)),
        "nrowqcoefs": [Q.nnz for Q in matrices],
        "rowqcol1": np.concatenate([np.zeros(0, dtype=int), *(Q.row for Q in matrices)]),
        "rowqcol2": np.concatenate([np.zeros(0, dtype=int), *(Q.col for Q in matrices)]),
        "rowqcoef": np.concatenate([np.zeros(0), *(Q.data for Q in matrices)]),
    }


def _inequalities(program: Program, d: Vector) -> list[tuple[sp.coo_matrix, sp.csr_matrix, float]]:
    """Return (Q, a, bound) of ``x'Qx + a'x <= bound``, for each finite bound of the quadratic constraints."""
    return [
        (sp.triu(sign * c.Q, format="coo"), sp.csr_matrix((sign * c.a)[None, :]), sign * bound)
        for c in shared.quadratic_constraints(program, d)
        for sign, bound in ((1.0, c.high), (-1.0, c.low))
        if np.isfinite(bound)
    ]


def _lorentz(start: int, size: int) -> sp.coo_matrix:
    """Return the quadratic part of ``sum of squares of the tail - head^2`` over consecutive variables."""
    i = start + np.arange(size)
    return sp.coo_matrix((shared.lorentz(size), (i, i)))


SPEC = SolverSpec(
    name="xpress",
    connect=Xpress,
    package="xpress",
    # Before Gurobi, of rank 50, for cones: it gives the multipliers of a cone at its apex without a second solve.
    ranks=dict.fromkeys(("LP", "QP", "MILP", "MIQP", "MISOCP", "NLP", "MINLP"), 60) | {"SOCP": 45},
    proves="global",
    duals=True,
    vertex=True,
    in_place=False,
    tolerance=1e-6,
    pip="pip install xpress",
    licence="commercial, free for academics (fico.com/xpress); the wheel alone takes 200-5000 rows + columns",
)
