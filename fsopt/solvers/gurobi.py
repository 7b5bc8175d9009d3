r"""Gurobi: linear, convex quadratic and second-order cone programs, with integers or not, and nonconvex quadratics.

Columns have the units of ``Program.scaling`` (integer ones their own). A cone is new columns :math:`s = T(Gx + h)` with
:math:`\sum_{i>0} s_i^2 \le s_0^2,\ s_0 \ge 0`; the multipliers of the rows that define s are those of the cone,
:math:`2\lambda(s_0, -s_1, \dots)` with the multiplier :math:`\lambda` of the quadratic row.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import time
from typing import Any

import gurobipy as gp
import numpy as np
import scipy.sparse as sp
from gurobipy import GRB

from fsopt.certificates.convex import dual_point, farkas
from fsopt.certificates.model import certify_point
from fsopt.compiler import Program
from fsopt.compiler.classes import convex
from fsopt.compiler.rows import hessian, linear_part
from fsopt.errors import SolverError
from fsopt.results import Point, Status
from fsopt.solvers.conic import ConicForm
from fsopt.solvers.interface import Change, Outcome, Settings, refuse_option
from fsopt.typing import Indices, Vector

STATUS_MAP = {
    GRB.OPTIMAL: (Status.OPTIMAL, "optimal"),
    GRB.SUBOPTIMAL: (Status.FEASIBLE, "almost"),
    GRB.INFEASIBLE: (Status.INFEASIBLE, "infeasible"),
    GRB.UNBOUNDED: (Status.UNBOUNDED, "unbounded"),
    GRB.INF_OR_UNBD: (Status.UNBOUNDED, "unbounded"),  # one or the other: it is asked for a feasible point below
    **dict.fromkeys((GRB.TIME_LIMIT, GRB.WORK_LIMIT), (Status.NONE, "time-limit")),
    **dict.fromkeys(
        (GRB.ITERATION_LIMIT, GRB.NODE_LIMIT, GRB.SOLUTION_LIMIT, GRB.MEM_LIMIT, GRB.CUTOFF, GRB.USER_OBJ_LIMIT),
        (Status.NONE, "iteration-limit"),
    ),
    GRB.INTERRUPTED: (Status.NONE, "interrupted"),
    GRB.NUMERIC: (Status.NONE, "numerical"),
}
TOLERANCE = 1e-9
PRECISE = 1e-7  # residual up to which the multipliers of a cone program are taken from Gurobi as they are


class Gurobi:
    """One program loaded into Gurobi."""

    def __init__(self, program: Program, settings: Settings, *, depth: int = 0) -> None:
        _check(program)
        self.program, self.settings, self.depth = program, settings, depth
        self.mip = bool(program.integer.any())
        self.curved = bool(program.general) or not convex(program.P)
        self.scale: Vector = np.where(program.integer, 1.0, program.scaling.columns)
        self.turn = program.scaling.cone
        try:
            self.m: Any = gp.Model(env=_environment())
            self._options(settings)
            self._load()
        except gp.GurobiError as error:
            raise _failure(error) from error

    def _options(self, settings: Settings) -> None:
        tolerance = TOLERANCE if settings.tolerance is None else settings.tolerance
        feasibility = min(max(tolerance, 1e-9), 1e-2)  # the range that Gurobi takes
        common: dict[str, Any] = {
            "OutputFlag": 0,
            "Threads": settings.threads,
            "Seed": min(settings.seed, GRB.MAXINT),
            **dict.fromkeys(("FeasibilityTol", "OptimalityTol", "IntFeasTol"), feasibility),
            **dict.fromkeys(("BarConvTol", "BarQCPConvTol"), min(tolerance, 1.0)),
            "MIPGap": settings.mip_gap,
            "MIPGapAbs": 1e-9,
            "QCPDual": int(not (self.mip or self.curved)),
            **({"NonConvex": 2} if self.curved else {}),
        }
        for name, value in {**common, **settings.own}.items():
            try:
                if not name.isalnum():  # Gurobi would expand wildcards
                    raise ValueError("unknown name")
                self.m.setParam(name, value)
            except (gp.GurobiError, TypeError, ValueError, AttributeError) as error:
                raise refuse_option("gurobi", name, f"{error}") from error
        self.m.setParam("OutputFlag", int(settings.tee))

    def _load(self) -> None:
        p, d = self.program, self.scale
        vtype = np.where(p.integer, GRB.INTEGER, GRB.CONTINUOUS)
        self.x = self.m.addMVar(p.n, lb=p.lb / d, ub=p.ub / d, vtype=vtype)
        self._set_objective()
        self.rows, self.sense, sides = _sides(p)
        self.A = sp.csr_matrix(p.A[self.rows] @ sp.diags(d))
        self.constraints = self.m.addMConstr(self.A, self.x, self.sense, sides)
        if k := len(p.cones.h):
            low = np.full(k, -np.inf)
            low[p.cones.starts[:-1]] = 0.0
            self.s = self.m.addMVar(k, lb=low)
            F = sp.hstack([self.turn @ p.cones.G @ sp.diags(d), -sp.identity(k)], format="csr")
            both = gp.concatenate([self.x, self.s])
            self.cone_rows = self.m.addMConstr(F, both, "=", -(self.turn @ p.cones.h))
            for start, size in zip(p.cones.starts[:-1].tolist(), p.cones.sizes.tolist(), strict=True):
                block = self.s[start : start + size]
                Q = sp.diags(np.concatenate([[-1.0], np.ones(size - 1)]))
                self.m.addMQConstr(Q, None, "<", 0.0, block, block)
        for row in p.general:
            self._add_quadratic(row)

    def _add_quadratic(self, row: Any) -> None:
        """Add a quadratic row that is no cone, one side after the other."""
        D = sp.diags(self.scale)
        Q = D @ hessian(row.terms, self.program.n) @ D / 2
        a = self.scale * linear_part(row.terms, self.program.column)
        equation = row.lo == row.hi
        for side, sense in ((row.hi, "=" if equation else "<"), (row.lo, ">")):
            if np.isfinite(side) and not (equation and sense == ">"):
                self.m.addMQConstr(Q, a, sense, side - row.terms.constant, self.x, self.x, self.x)

    def _set_objective(self) -> None:
        p, D = self.program, sp.diags(self.scale)
        Q = D @ p.P @ D / 2 if p.P.nnz else None
        self.m.setMObjective(Q, self.scale * p.c, p.c0, self.x, self.x, self.x, GRB.MINIMIZE)

    def update(self, change: Change) -> str | None:
        """Take over a change in place; new rows, and sides that appear or vanish, need a new load."""
        p, d = self.program, self.scale
        if change.added:
            return "rows were added"
        if change.rows is not None:
            rows, sense, sides = _sides(p)
            if not (np.array_equal(rows, self.rows) and np.array_equal(sense, self.sense)):
                return "a side appeared or vanished"
            A = sp.csr_matrix(p.A[rows] @ sp.diags(d))
            if not np.array_equal(A.data, self.A.data):
                return "coefficients of rows changed"
            self.constraints.setAttr("RHS", sides)
        if change.objective or change.hessian:
            self._set_objective()
        if change.bounds:
            self.x.setAttr("LB", p.lb / d)
            self.x.setAttr("UB", p.ub / d)
        return None

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Run Gurobi; an incumbent of branch and bound is solved again with its integers fixed."""
        started = time.perf_counter()
        m = self.m
        m.Params.TimeLimit = GRB.INFINITY if time_limit is None else time_limit
        m.Params.MIPGap = self.settings.mip_gap if mip_gap is None else mip_gap
        try:
            m.optimize()
            if m.Status not in STATUS_MAP:
                raise SolverError(f"Gurobi stopped with the status code {m.Status}", "try another solver")
            claim, stop = STATUS_MAP[m.Status]
            tree = self.mip or self.curved
            bound = float(m.ObjBound) if tree and abs(m.ObjBound) < GRB.INFINITY else None
            iterations = int(m.NodeCount if tree else m.IterCount + m.BarIterCount)
            found = claim not in (Status.UNBOUNDED, Status.INFEASIBLE) and m.SolCount > 0
            point = self._point() if found else None
        except gp.GurobiError as error:
            raise _failure(error) from error
        if claim is Status.UNBOUNDED and not self._feasible():
            claim, stop = Status.INFEASIBLE, "infeasible"
        asked = not tree and self.depth < 2 and stop in ("infeasible", "almost", "numerical")
        ray = self._ray(point) if asked else None
        if ray is not None:
            claim, stop, point = Status.INFEASIBLE, "infeasible", None
        elif asked and claim is Status.NONE and self.depth == 0 and self._recedes():
            claim, stop, point = Status.UNBOUNDED, "unbounded", None
        return Outcome(claim, stop, point, bound, iterations, time.perf_counter() - started, f"status {m.Status}", ray)

    def _point(self) -> Point:
        """Return the point of the program; multipliers only of a convex program without integers."""
        p = self.program
        point = Point(self.scale * self.x.X)
        if self.curved or self.mip:
            return point if self.curved else self._polish(point)
        with contextlib.suppress(gp.GurobiError):
            y = np.zeros(p.A.shape[0])
            np.add.at(y, self.rows, self.constraints.Pi)
            z = self.turn.T @ self.cone_rows.Pi if len(p.cones) else np.zeros(0)
            point = Point(point.x, y, z)
        ended = self.m.Status in (GRB.OPTIMAL, GRB.SUBOPTIMAL) and self.depth == 0
        good = point.y is not None and max(dual_point(p, point)[1].values()) <= PRECISE
        if good or not ended or not len(p.cones):
            return point
        found = self._dual(ray=False)  # at the apex of a cone Gurobi's multipliers are missing or poor
        return point if found is None else dataclasses.replace(found, x=point.x)

    def _ray(self, point: Point | None) -> Point | None:
        """Return a proof of infeasibility where there is no point, or none whose multipliers hold."""
        if point is not None and certify_point(self.program, point).ok:
            return None
        ray = self._dual(ray=True)
        return ray if ray is not None and farkas(self.program, ray).ok else None

    def _dual(self, *, ray: bool) -> Point | None:
        """Return the multipliers that solve the dual program."""
        arrays, form = _dual_arrays(self.program, ray=ray)
        found = self._variant(**arrays).point
        return None if found is None else form.point(np.zeros(self.program.n), found.x[: form.shape[0]])

    def _recedes(self) -> bool:
        """Return whether there is a point but provably no dual one: then the program is unbounded."""
        arrays, _ = _dual_arrays(self.program, ray=False)
        return self._variant(depth=1, **arrays).claim is Status.INFEASIBLE and self._feasible()

    def _variant(self, *, depth: int = 2, **arrays: Any) -> Outcome:
        """Solve the program with other arrays in the place of some; only up to depth 1 for a ray as well."""
        program = dataclasses.replace(self.program, **arrays)
        return Gurobi(program, dataclasses.replace(self.settings, tee=False), depth=depth).solve(None)

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


def _sides(program: Program) -> tuple[Indices, Any, Vector]:
    """Return number, sense and right-hand side of each one-sided row that the program's rows make."""
    low, high = program.lo, program.hi
    equal = low == high
    parts = [(equal, "=", low), (~equal & (high < np.inf), "<", high), (~equal & (low > -np.inf), ">", low)]
    numbers = [np.flatnonzero(mask) for mask, _, _ in parts]
    sense = np.repeat([letter for _, letter, _ in parts], [len(k) for k in numbers])
    sides = np.concatenate([side[k] for k, (_, _, side) in zip(numbers, parts, strict=True)])
    return np.concatenate(numbers), sense, sides


def _dual_arrays(program: Program, *, ray: bool) -> tuple[dict[str, Any], ConicForm]:
    r"""Return the dual program and the conic form :math:`Mx + s = b` whose multipliers are its columns.

    .. math:: \max -b'z - \tfrac12 v'Pv \quad\text{s.t.}\quad M'z + Pv = -q,\ z \in \mathbb{R}^e \times \mathbb{R}_+^l
              \times \mathcal{Q}_1 \times \dots

    A ray is the smallest z with :math:`M'z = 0` and :math:`-b'z = 1` in these cones.
    """
    p, form = program, ConicForm(program)
    b, plain, k, curved = form.right_hand_side(), form.equalities + form.inequalities, len(p.cones.h), p.n * (not ray)
    D = sp.diags(form.scale)
    P = sp.csc_matrix(D @ p.P @ D)[:, :curved]
    A, target = sp.hstack([form.matrix().T, P], format="csr"), -form.linear()
    cost = np.concatenate([b, np.zeros(curved)])
    low = np.full(len(cost), -np.inf)
    low[form.equalities : plain] = 0.0
    if ray:
        A, target = sp.vstack([A, -b[None, :]], format="csr"), np.concatenate([np.zeros(p.n), [1.0]])
        cost = (low == 0).astype(float)
        cost[plain + p.cones.starts[:-1]] = 1.0
    P = sp.block_diag([sp.csc_matrix((len(b), len(b))), P[:curved]], format="csc")
    picked = sp.hstack([sp.csr_matrix((k, plain)), sp.identity(k), sp.csr_matrix((k, curved))], format="csr")
    cones = dataclasses.replace(p.cones, G=picked, h=np.zeros(k))
    bounds = {"lb": low, "ub": np.full(len(low), np.inf), "integer": np.zeros(len(low), dtype=bool)}
    return {"P": P, "c": cost, "c0": 0.0, "A": A, "lo": target, "hi": target, "cones": cones, **bounds}, form


def _check(program: Program) -> None:
    """Refuse what is not even quadratic, by name."""
    rows = [row.constraint.name for row in program.general if row.terms.nonlinear]
    names = rows + ([program.objective_name] if program.objective_terms else [])
    if names:
        reason = dict(program.nonconic)[names[0]]
        raise SolverError(f"solver 'gurobi' does not take '{names[0]}' ({reason})", "use a solver for NLP: ipopt, scip")


@functools.lru_cache(maxsize=1)
def _environment() -> Any:
    """Return the one environment of this process, which holds the licence."""
    env = gp.Env(empty=True)
    env.setParam("OutputFlag", 0)
    env.start()
    return env


def _failure(error: gp.GurobiError) -> SolverError:
    """Turn Gurobi's error into one that says what to do."""
    hint = (
        "get a licence (free for academics) at gurobi.com/licenses and set GRB_LICENSE_FILE to it, or swap the solver"
    )
    if error.errno == GRB.Error.SIZE_LIMIT_EXCEEDED:
        return SolverError(f"Gurobi's size-limited licence does not take a model of this size ({error})", hint)
    if error.errno == GRB.Error.NO_LICENSE:
        return SolverError(f"Gurobi found no valid licence ({error})", hint)
    return SolverError(f"Gurobi failed: {error}", "try another solver")


def connect(program: Program, settings: Settings) -> Gurobi:
    """Load a program into Gurobi."""
    return Gurobi(program, settings)
