r"""FICO Xpress: linear, quadratic and second-order cone programs, with integers or not, and nonconvex quadratics.

Columns are handed over in the units of ``Program.scaling`` (integer ones as they are), a cone as new columns
:math:`s = T(Gx + h)` with :math:`\sum_{i>0} s_i^2 \le s_0^2,\ s_0 \ge 0`; the multipliers of the rows that
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
import xpress as xp

from fsopt.compiler import Program
from fsopt.compiler.classes import convex
from fsopt.compiler.rows import hessian, linear_part
from fsopt.errors import SolverError
from fsopt.results import Point, Status
from fsopt.solvers.interface import Change, Outcome, Settings, refuse_option
from fsopt.typing import Indices, Vector

Triples = tuple[Indices, Indices, Vector]
_ERRORS = (xp.SolverError, xp.ModelError, xp.InterfaceError)
_X: Any = xp
_L, _S = _X.StopType, _X.SolStatus
SOLUTION_MAP = {
    _S.OPTIMAL: (Status.OPTIMAL, "optimal"),
    _S.INFEASIBLE: (Status.INFEASIBLE, "infeasible"),
    _S.UNBOUNDED: (Status.UNBOUNDED, "unbounded"),
}
STOP_MAP = {
    _L.NONE: "numerical",
    _L.TIMELIMIT: "time-limit",
    _L.WORKLIMIT: "time-limit",
    _L.CTRLC: "interrupted",
    _L.USER: "interrupted",
    _L.NODELIMIT: "iteration-limit",
    _L.ITERLIMIT: "iteration-limit",
    _L.SOLLIMIT: "iteration-limit",
    _L.MEMORYERROR: "iteration-limit",
    _L.MIPGAP: "optimal",
    _L.SOLVECOMPLETE: "almost",
    _L.NUMERICALERROR: "numerical",
    _L.GENERICERROR: "numerical",
}
"""Why Xpress stopped where its answer is neither optimal nor a proof that there is none."""
TOLERANCE = 1e-9
CONES = {"presolve": 0, "bargapstop": 1e-11}
"""Cone programs: with presolve, or at the gap alone, the multipliers come back with errors up to 1e-4."""
TOO_LARGE = ("?120", "?277", "?301")
"""Xpress's errors for a model that is too large for the community licence."""


class Xpress:
    """One program loaded into Xpress."""

    def __init__(self, program: Program, settings: Settings) -> None:
        _check(program)
        self.program, self.settings = program, settings
        self.mip = bool(program.integer.any())
        self.curved = bool(program.general) or not convex(program.P)
        self.scale: Vector = np.where(program.integer, 1.0, program.scaling.columns)
        self.turn = program.scaling.cone
        try:
            _licence()
            self.p: Any = xp.problem()
            self._options(settings)
            self._load()
        except _ERRORS as error:
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
            **(CONES if len(self.program.cones) and not (self.mip or self.curved) else {}),
            **dict.fromkeys(("nlpvalidationtol_a", "nlpvalidationtol_r", "nlpvalidationtol_k"), tolerance),
            "miprelstop": settings.mip_gap,
            "mipabsstop": 1e-9,
            "mipaddcutoff": -1e-9,
            "miprelcutoff": 0.0,
        }
        for name, value in {**common, **settings.own}.items():
            try:
                self.p.setControl(name, value)
            except (*_ERRORS, TypeError, ValueError) as error:
                raise refuse_option("xpress", name, f"{error}") from error
        if settings.tee:
            self.p.addMessageCallback(_show, None, 0)

    def _load(self) -> None:
        p, d, k = self.program, self.scale, len(self.program.cones.h)
        D = sp.diags(d)
        m, n_cones = p.A.shape[0], len(p.cones)
        kinds, sides, ranges = _rows(p)
        general = [_quadratic(row, sign, side, p, d) for row in p.general for sign, side in _one_sided(row)]
        turned = self.turn @ p.cones.G @ D if k else sp.csr_matrix((0, p.n))
        linear = [p.A @ D, turned, sp.csr_matrix((n_cones, p.n)), *(a for a, _, _ in general)]
        beside = sp.vstack([sp.csr_matrix((m, k)), -sp.identity(k), sp.csr_matrix((n_cones + len(general), k))])
        M = sp.hstack([sp.vstack(linear), beside], format="csc")
        low, high = np.concatenate([p.lb / d, np.full(k, -np.inf)]), np.concatenate([p.ub / d, np.full(k, np.inf)])
        low[p.n + p.cones.starts[:-1]] = 0.0
        cones = zip(p.cones.starts.tolist(), p.cones.sizes.tolist(), strict=False)
        matrices = [_lorentz(p.n + start, size) for start, size in cones] + [Q for _, Q, _ in general]
        i, j, v = (np.concatenate([part, *(Q[at] for Q in matrices)]) for at, part in enumerate(_NOTHING))
        integers = np.flatnonzero(p.integer)
        h = self.turn @ p.cones.h if k else np.zeros(0)
        self.cone_rows = m + np.arange(k)
        self.p.loadMIQCQP(
            probname="", rowtype=[*kinds, *"E" * k, *"L" * len(matrices)],
            rhs=np.concatenate([sides, -h, np.zeros(n_cones), [side for _, _, side in general]]),
            rng=np.concatenate([ranges, np.zeros(k + len(matrices))]),
            objcoef=np.concatenate([d * p.c, np.zeros(k)]), start=M.indptr, rowind=M.indices, rowcoef=M.data,
            lb=_finite(low), ub=_finite(high),
            **dict(zip(("objqcol1", "objqcol2", "objqcoef"), _upper(D @ p.P @ D), strict=True)),
            qrowind=m + k + np.arange(len(matrices)), nrowqcoefs=[len(Q[0]) for Q in matrices],
            rowqcol1=i, rowqcol2=j, rowqcoef=v, coltype=["I"] * len(integers), entind=integers,
        )  # fmt: skip
        self.p.setControl("outputlog", int(self.settings.tee))
        self.p.chgObj([-1], [-p.c0])  # the constant, with its sign turned, is the entry -1

    def update(self, change: Change) -> str | None:
        """Ask for a new load: Xpress keeps nothing here that would make the next solve faster."""
        return "Xpress is loaded anew"

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Run Xpress; an incumbent of branch and bound is solved again with its integers fixed."""
        started = time.perf_counter()
        self.p.setControl("timelimit", 1e20 if time_limit is None else time_limit)
        self.p.setControl("miprelstop", self.settings.mip_gap if mip_gap is None else mip_gap)
        tree = self.mip or self.curved
        try:
            self.p.optimize("x" if self.curved else "")
            a = self.p.attributes
            claim, stop = self._status()
            bound = float(a.bestbound) if tree and abs(a.bestbound) < 1e20 else None
            iterations = int(a.nodes if tree else a.simplexiter + a.bariter)
            message = f"{a.solstatus.name}, {_L(a.stopstatus).name}"
            point = self._point() if a.solstatus in (_S.OPTIMAL, _S.FEASIBLE) else None
        except _ERRORS as error:
            raise _failure(error) from error
        if claim is Status.UNBOUNDED and not self._feasible():
            claim, stop = Status.INFEASIBLE, "infeasible"
        ray = self._ray() if claim is Status.INFEASIBLE and not (tree or len(self.program.cones)) else None
        return Outcome(claim, stop, point, bound, iterations, time.perf_counter() - started, message, ray)

    def _status(self) -> tuple[Status, str]:
        a = self.p.attributes
        if a.solstatus in SOLUTION_MAP:
            return SOLUTION_MAP[a.solstatus]
        why = _L(a.stopstatus)
        if why not in STOP_MAP:
            raise SolverError(f"Xpress stopped with {why.name}", "try another solver")
        return Status.NONE, STOP_MAP[why]

    def _point(self) -> Point:
        p = self.program
        point = Point(self.scale * np.array(self.p.getSolution())[: p.n])
        if self.curved:
            return point
        if self.mip:
            return self._polish(point)
        try:
            duals = np.array(self.p.getDuals() if p.A.shape[0] + len(p.cones) else [])
        except xp.ModelError:  # nothing was left to optimize
            return point
        z = self.turn.T @ duals[self.cone_rows] if len(p.cones) else np.zeros(0)
        return Point(point.x, duals[: p.A.shape[0]], z)

    def _variant(self, **arrays: Any) -> Xpress:
        """Return the program with other arrays in the place of some, loaded."""
        return Xpress(dataclasses.replace(self.program, **arrays), dataclasses.replace(self.settings, tee=False))

    def _polish(self, incumbent: Point) -> Point:
        """Round the integers and solve the rest again, so that no tolerance hides in them."""
        p = self.program
        low, high = (np.where(p.integer, np.round(incumbent.x), side) for side in (p.lb, p.ub))
        found = self._variant(lb=low, ub=high, integer=np.zeros(p.n, dtype=bool)).solve(None).point
        return incumbent if found is None else Point(found.x)

    def _without_objective(self) -> Xpress:
        return self._variant(P=sp.csc_matrix((self.program.n, self.program.n)), c=np.zeros(self.program.n))

    def _feasible(self) -> bool:
        """Return whether there is a point at all: a ray of descent alone does not make a program unbounded."""
        return self._without_objective().solve(None).claim is not Status.INFEASIBLE

    def _ray(self) -> Point | None:
        """Return the multipliers that prove linear rows and bounds to be infeasible; they need presolve off."""
        other = self._without_objective().p
        other.setControl("presolve", 0)
        other.lpOptimize()
        ray = other.getDualRay()
        return None if ray is None else Point(np.zeros(self.program.n), np.array(ray), np.zeros(0))


_NOTHING = (np.zeros(0, dtype=int), np.zeros(0, dtype=int), np.zeros(0))


def _rows(program: Program) -> tuple[list[str], Vector, Vector]:
    """Return Xpress's letter, right-hand side and range of each row."""
    low, high = program.lo, program.hi
    up, down = high < np.inf, low > -np.inf
    both = up & down
    letters = np.select([low == high, both, up, down], ["E", "R", "L", "G"], "N").tolist()
    ranges = np.where(both, high, 0.0) - np.where(both, low, 0.0)
    return letters, np.where(up, high, np.where(down, low, 0.0)), ranges


def _one_sided(row: Any) -> list[tuple[float, float]]:
    """Return (sign, side) of each finite side of a quadratic row, which then reads ``sign * body <= side``."""
    sides = ((1.0, row.hi), (-1.0, row.lo))
    return [(sign, sign * (side - row.terms.constant)) for sign, side in sides if np.isfinite(side)]


def _quadratic(row: Any, sign: float, side: float, program: Program, d: Vector) -> tuple[sp.csr_matrix, Triples, float]:
    """Return the linear part, the quadratic part and the side of a quadratic row."""
    D = sp.diags(d)
    linear = sp.csr_matrix((sign * d * linear_part(row.terms, program.column))[None, :])
    return linear, _upper(sign * D @ hessian(row.terms, program.n) @ D / 2), side


def _upper(matrix: Any) -> Triples:
    """Return the upper triangle of a symmetric matrix as Xpress takes it: one entry for each pair."""
    U = sp.triu(matrix, format="coo")
    return U.row, U.col, U.data


def _lorentz(start: int, size: int) -> Triples:
    """Return the quadratic part of ``sum of squares of the tail - head^2``."""
    i = start + np.arange(size)
    return i, i, np.concatenate([[-1.0], np.ones(size - 1)])


def _show(_problem: Any, _data: Any, text: str, _kind: int) -> None:
    sys.stdout.write(f"{text}\n")


def _finite(side: Vector) -> Vector:
    return np.clip(side, -xp.infinity, xp.infinity)


def _check(program: Program) -> None:
    """Refuse what is not even quadratic, by name."""
    rows = [row.constraint.name for row in program.general if row.terms.nonlinear]
    names = rows + ([program.objective_name] if program.objective_terms else [])
    if names:
        reason = dict(program.nonconic)[names[0]]
        raise SolverError(f"solver 'xpress' does not take '{names[0]}' ({reason})", "use a solver for NLP: ipopt, scip")


@functools.lru_cache(maxsize=1)
def _licence() -> None:
    """Take the licence once: the user's own if there is one, else the free one of the package, without its remark."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xp.LicenseWarning)
        _X.init()


def _failure(error: Exception) -> SolverError:
    """Turn Xpress's error into one that says what to do."""
    words = f"{error}".strip().splitlines()[0]
    hint = "set XPAUTH_PATH to your licence file (free for academics at fico.com/xpress), or use another solver"
    if any(code in words for code in TOO_LARGE):
        return SolverError(f"the community licence of Xpress does not take a model of this size ({words})", hint)
    if "licen" in words.lower():
        return SolverError(f"Xpress found no valid licence ({words})", hint)
    return SolverError(f"Xpress failed: {words}", "try another solver")


def connect(program: Program, settings: Settings) -> Xpress:
    """Load a program into Xpress."""
    return Xpress(program, settings)
