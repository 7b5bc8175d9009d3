r"""Gurobi: linear, convex quadratic and second-order cone programs, with integers or not, and nonconvex quadratics.

The variables have the units of ``Program.scaling`` (integer ones their own). A cone is new variables
:math:`s = T(Gx + h)` with :math:`\sum_{i>0} s_i^2 \le s_0^2,\ s_0 \ge 0`; the multipliers of the equations that
define s are those of the cone, :math:`2\lambda(s_0, -s_1, \dots)` with the multiplier :math:`\lambda` of the
quadratic constraint.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import time
from typing import Any

import numpy as np
import scipy.sparse as sp

from fsopt.answers.results import Point, Status
from fsopt.certificates.bounds import farkas
from fsopt.certificates.convex import certify_convex
from fsopt.common import clock
from fsopt.compiler import Program
from fsopt.errors import SolverError
from fsopt.solvers import shared, watching
from fsopt.solvers.interface import Change, Outcome, Settings, set_options
from fsopt.solvers.proof_programs import dual_program
from fsopt.solvers.scaled import Scaled
from fsopt.solvers.spec import Package, SolverSpec
from fsopt.solvers.watched_trees import gurobi_callback

gp = Package("gurobipy")
STATUS_MAP = {
    "OPTIMAL": (Status.OPTIMAL, "optimal"),
    "SUBOPTIMAL": (Status.FEASIBLE, "almost"),
    "INFEASIBLE": (Status.INFEASIBLE, "infeasible"),
    "UNBOUNDED": (Status.UNBOUNDED, "unbounded"),
    "INF_OR_UNBD": (Status.UNBOUNDED, "unbounded"),  # one or the other: ``solve`` looks for a feasible point
    "TIME_LIMIT": (Status.NONE, "time-limit"),
    "WORK_LIMIT": (Status.NONE, "time-limit"),
    "ITERATION_LIMIT": (Status.NONE, "iteration-limit"),
    "NODE_LIMIT": (Status.NONE, "iteration-limit"),
    "SOLUTION_LIMIT": (Status.NONE, "iteration-limit"),
    "MEM_LIMIT": (Status.NONE, "iteration-limit"),
    "CUTOFF": (Status.NONE, "iteration-limit"),
    "USER_OBJ_LIMIT": (Status.NONE, "iteration-limit"),
    "INTERRUPTED": (Status.NONE, "interrupted"),
    "NUMERIC": (Status.NONE, "numerical"),
}
"""By the names in ``GRB.Status``."""
TOLERANCE = 1e-9
ERRORS = shared.Errors(
    "Gurobi",
    "get a licence (free for academics) at gurobi.com/licenses and set GRB_LICENSE_FILE to it, or swap the solver",
)


class Gurobi:
    """One program loaded into Gurobi.

    Attributes
    ----------
    program, settings : as given.
    depth : 0 for the user's program; 1 and 2 for programs derived from it, which look for fewer proofs themselves.
    mip, nonconvex : whether it has integers; whether it is solved by branch and bound over quadratics.
    scaled : the arrays in the units of Gurobi. Its variables ``x`` are x'; ``s`` are those of the cones.
    """

    def __init__(self, program: Program, settings: Settings, *, depth: int = 0) -> None:
        shared.refuse_other_than_quadratic(program, "gurobi")
        self.program = program
        self.settings = settings
        self.depth = depth
        self.mip = program.discrete
        self.nonconvex = not program.convex
        self.scaled = Scaled(program)
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
            "Seed": min(settings.seed, gp.GRB.MAXINT),
            **dict.fromkeys(("FeasibilityTol", "OptimalityTol", "IntFeasTol"), feasibility),
            **dict.fromkeys(("BarConvTol", "BarQCPConvTol"), min(tolerance, 1.0)),
            "MIPGap": settings.mip_gap,
            "MIPGapAbs": 1e-9 * self.scaled.absolute_gap,
            "QCPDual": int(not (self.mip or self.nonconvex)),
            **({"NonConvex": 2} if self.nonconvex else {}),
        }
        refusals = (gp.GurobiError, TypeError, ValueError, AttributeError)
        set_options("gurobi", {**common, **settings.own}, self._set_option, refusals)
        self.m.setParam("OutputFlag", int(settings.tee))

    def _set_option(self, name: str, value: Any) -> None:
        if not name.isalnum():  # Gurobi would expand wildcards
            raise ValueError("a name has letters and digits only")
        self.m.setParam(name, value)

    def _load(self) -> None:
        p, scaled = self.program, self.scaled
        vtype = np.where(p.integer, gp.GRB.INTEGER, gp.GRB.CONTINUOUS)
        self.x = self.m.addMVar(p.n, lb=scaled.lb, ub=scaled.ub, vtype=vtype)
        self._set_objective()
        self.linear = shared.one_sided(p)
        self.A = scaled.A[self.linear.rows]
        right = scaled.rows[self.linear.rows] * self.linear.right
        self.constraints = self.m.addMConstr(self.A, self.x, self.linear.sense, right)
        if len(p.cones):
            self._add_cones()
        for constraint in shared.quadratic_constraints(p, scaled.columns):
            self._add_quadratic(constraint)

    def _add_cones(self) -> None:
        cones = self.program.cones
        k = len(cones.h)
        low = np.full(k, -np.inf)
        low[cones.starts[:-1]] = 0.0
        self.s = self.m.addMVar(k, lb=low)
        definition = sp.hstack([self.scaled.G, -sp.identity(k)], format="csr")
        self.cone_rows = self.m.addMConstr(definition, gp.concatenate([self.x, self.s]), "=", -self.scaled.h)
        for start, size in zip(cones.starts[:-1].tolist(), cones.sizes.tolist(), strict=True):
            block = self.s[start : start + size]
            self.m.addMQConstr(sp.diags(shared.lorentz(size)), None, "<", 0.0, block, block)

    def _add_quadratic(self, constraint: shared.QuadraticConstraint) -> None:
        """Add a quadratic constraint: an equation once, else one inequality for each finite bound."""
        Q, a = constraint.Q, constraint.a
        if constraint.low == constraint.high:
            self.m.addMQConstr(Q, a, "=", constraint.high, self.x, self.x, self.x)
            return
        for bound, sense in ((constraint.high, "<"), (constraint.low, ">")):
            if np.isfinite(bound):
                self.m.addMQConstr(Q, a, sense, bound, self.x, self.x, self.x)

    def _set_objective(self) -> None:
        p = self.scaled
        Q = p.P / 2 if self.program.P.nnz else None
        self.m.setMObjective(Q, p.c, p.c0, self.x, self.x, self.x, gp.GRB.MINIMIZE)

    def update(self, change: Change) -> str | None:
        """Take over a change in place; new constraints, and bounds that appear or vanish, need a new load."""
        p, scaled = self.program, self.scaled
        if change.added:
            return "constraints were added"
        if change.rows is not None:
            linear = shared.one_sided(p)
            if not (np.array_equal(linear.rows, self.linear.rows) and np.array_equal(linear.sense, self.linear.sense)):
                return "a bound of a constraint appeared or vanished"
            if not np.array_equal(scaled.A[linear.rows].data, self.A.data):
                return "coefficients of constraints changed"
            self.constraints.setAttr("RHS", scaled.rows[linear.rows] * linear.right)
        if change.objective or change.hessian:
            self._set_objective()
        if change.bounds:
            self.x.setAttr("LB", scaled.lb)
            self.x.setAttr("UB", scaled.ub)
        return None

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Run Gurobi; an incumbent of branch and bound is solved again with its integers fixed."""
        started = time.perf_counter()
        m = self.m
        m.Params.TimeLimit = gp.GRB.INFINITY if time_limit is None else time_limit
        m.Params.MIPGap = self.settings.mip_gap if mip_gap is None else mip_gap
        tree = self.mip or self.nonconvex
        try:
            if (start := watching.start()) is not None:
                self.x.Start = start / self.scaled.columns
            m.optimize(gurobi_callback(self.scaled.bound) if self.depth == 0 else None)
            status, stop = STATUS_MAP[_status_name(m.Status)]
            best = getattr(m, "ObjBound", gp.GRB.INFINITY)  # it has none for some unbounded programs
            bound = self.scaled.bound(float(best)) if tree and abs(best) < gp.GRB.INFINITY else None
            iterations = int(m.NodeCount if tree else m.IterCount + m.BarIterCount)
            found = status not in (Status.UNBOUNDED, Status.INFEASIBLE) and m.SolCount > 0
            point = self._point() if found else None
        except gp.GurobiError as error:
            raise _failure(error) from error
        if status is Status.UNBOUNDED and not self._feasible():
            status, stop = Status.INFEASIBLE, "infeasible"
        ray = None
        if not tree and self.depth < 2 and stop in ("infeasible", "almost", "numerical"):
            # Gurobi hands out no Farkas vector of a cone program: it is looked for here, and checked.
            ray = self._ray(point)
            if ray is not None:
                status, stop = Status.INFEASIBLE, "infeasible"
            elif status is Status.NONE and self.depth == 0 and self._recedes():
                status, stop = Status.UNBOUNDED, "unbounded"
        point = None if status in (Status.INFEASIBLE, Status.UNBOUNDED) else point
        seconds, words = time.perf_counter() - started, f"status {m.Status}"
        whole = max(m.Params.IntFeasTol, m.Params.FeasibilityTol)
        return Outcome(status, stop, point, bound, iterations, seconds, words, ray, integer_tolerance=whole)

    def _point(self) -> Point:
        """Return the point of the program; multipliers only of a convex program without integers."""
        point = Point(self.scaled.x(self.x.X))
        return point if self.nonconvex or self.mip else self._with_multipliers(point)

    def _with_multipliers(self, point: Point) -> Point:
        """Return a point with Gurobi's multipliers, or with those that solve the dual program where they are poor."""
        # At the apex of a cone s_0 = 0, and 2 lambda (s_0, -s_1, ...) vanishes while the multipliers of the cone may be
        # any of its vectors: there Gurobi has none, or a lambda that grows without end.
        p = self.program
        with contextlib.suppress(gp.GurobiError):
            y = np.zeros(p.A.shape[0])
            np.add.at(y, self.linear.rows, self.constraints.Pi)
            z = self.scaled.z(self.cone_rows.Pi) if len(p.cones) else np.zeros(0)
            point = Point(point.x, self.scaled.y(y), z)
        ended = self.m.Status in (gp.GRB.OPTIMAL, gp.GRB.SUBOPTIMAL) and self.depth == 0
        good = point.y is not None and certify_convex(p, point.x, point, "").ok
        if good or not ended or not len(p.cones):
            return point
        found = self._dual(ray=False)
        return point if found is None else dataclasses.replace(found, x=point.x)

    # -- proofs by other programs -----------------------------------------------------------------------------

    def _solve_other(self, program: Program, *, depth: int = 2) -> Outcome:
        """Solve another program; only up to depth 1 for a ray as well, so that the proofs do not call one another."""
        return Gurobi(program, dataclasses.replace(self.settings, tee=False), depth=depth).solve(clock.left())

    def _feasible(self) -> bool:
        return shared.is_feasible(self.program, self._solve_other)

    def _ray(self, point: Point | None) -> Point | None:
        """Return a proof of infeasibility where there is no point, or none whose multipliers hold."""
        if point is not None and certify_convex(self.program, point.x, point, "").ok:
            return None
        ray = self._dual(ray=True)
        return ray if ray is not None and farkas(self.program, ray).ok else None

    def _dual(self, *, ray: bool) -> Point | None:
        """Return the multipliers that solve the dual program."""
        dual, form = dual_program(self.program, ray=ray)
        found = self._solve_other(dual).point
        return None if found is None else form.point(np.zeros(self.program.n), found.x[: form.shape[0]])

    def _recedes(self) -> bool:
        """Return whether there is a point but provably no dual one: then the program is unbounded."""
        dual, _ = dual_program(self.program, ray=False)
        return self._solve_other(dual, depth=1).status is Status.INFEASIBLE and self._feasible()


@functools.lru_cache(maxsize=1)
def _environment() -> Any:
    """Return the one environment of this process, which holds the licence."""
    env = gp.Env(empty=True)
    env.setParam("OutputFlag", 0)
    env.start()
    return env


def _status_name(code: int) -> str:
    """Return the name of a status code; raises SolverError for one without an entry in ``STATUS_MAP``."""
    for name in STATUS_MAP:
        if getattr(gp.GRB, name) == code:
            return name
    raise SolverError(f"Gurobi stopped with the status code {code}", "try another solver")


def _failure(error: Any) -> SolverError:
    """Return Gurobi's error as one with the next step."""
    if error.errno == gp.GRB.Error.SIZE_LIMIT_EXCEEDED:
        return ERRORS.too_large(error)
    if error.errno == gp.GRB.Error.NO_LICENSE:
        return ERRORS.no_licence(error)
    return ERRORS.failed(error)


SPEC = SolverSpec(
    name="gurobi",
    connect=Gurobi,
    package="gurobipy",
    ranks=dict.fromkeys(("LP", "QP", "SOCP", "MILP", "MIQP", "MISOCP", "NLP", "MINLP"), 50),
    proves="global",
    duals=True,
    vertex=True,
    in_place=True,
    tolerance=1e-6,
    finer=(1e-10, 1e-11),
    pip="pip install gurobipy",
    licence="commercial, free for academics (gurobi.com/licenses); the wheel alone solves up to 2000 columns",
    interior=(("Crossover", 0),),
)
