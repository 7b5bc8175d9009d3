r"""SCIP: mixed-integer, conic and nonconvex programs, solved globally by branch and bound.

SCIP gets a second-order cone as :math:`\|s_{2:}\| \le s_1` with variables :math:`s = T(Gx + h)` of its own, in balanced
units: its violation is then a distance to the cone. In the form :math:`w^2 \le f g` a tolerance of :math:`\epsilon`
would allow :math:`w = \sqrt\epsilon` at f = g = 0.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from pyomo.core.base.expression import NamedExpressionData
from pyomo.core.expr import numeric_expr as pe
from pyomo.core.expr.numvalue import native_numeric_types, value

from fsopt.answers.results import Point, Status
from fsopt.compiler import Program
from fsopt.compiler.expressions import ConstraintRow
from fsopt.errors import SolverError
from fsopt.solvers.nlp import general_factors
from fsopt.solvers.shared import objective_factor
from fsopt.solvers.spec import EITHER, UNKNOWN, Change, Outcome, Package, Settings, SolverSpec, optional, set_options
from fsopt.typing import Indices, Vector

pyscipopt = Package("pyscipopt")
LIMITS = (
    *("nodelimit", "totalnodelimit", "stallnodelimit", "restartlimit"),
    *("sollimit", "bestsollimit", "primallimit", "duallimit"),
)
STATUS_MAP = {
    "optimal": (Status.OPTIMAL, "optimal"),
    "gaplimit": (Status.OPTIMAL, "optimal"),
    "infeasible": (Status.INFEASIBLE, "infeasible"),
    "unbounded": (Status.UNBOUNDED, "unbounded"),
    "inforunbd": EITHER,
    "timelimit": (Status.FEASIBLE, "time-limit"),
    "memlimit": (Status.FEASIBLE, "numerical"),
    "userinterrupt": (Status.FEASIBLE, "interrupted"),
    "terminate": (Status.FEASIBLE, "interrupted"),
    **dict.fromkeys(LIMITS, (Status.FEASIBLE, "iteration-limit")),
}
"""By SCIP's own words; every other one is none."""
FAILURE = "failure"
"""Our status for an exception in SCIP during the solve."""
INFINITE = 0.99
"""A value from this fraction of SCIP's infinity on is infinite."""
FUNCTIONS = ("exp", "log", "sqrt", "sin", "cos")
"""Functions of one argument that are translated; all others are refused by name."""


class Scip:
    """One program in SCIP: ``x`` are x', ``terms`` d x'; ``epigraph`` is above what is nonlinear in the objective."""

    def __init__(self, program: Program, settings: Settings) -> None:
        self.program = program
        self.settings = settings
        self.scale = program.scaling.columns
        self.factor = objective_factor(program)
        self._new()

    # -- loading ------------------------------------------------------------------------------------------

    def _new(self) -> None:
        """Load the program into a new model."""
        self.m = pyscipopt.Model()
        put_options(self.m, self.program, self.settings, self.factor)
        self._load()

    def _load(self) -> None:
        p, m = self.program, self.m
        kind = np.where(p.integer, "I", "C").tolist()
        low, high = (optional(bound / self.scale) for bound in (p.lb, p.ub))
        self.x = [m.addVar(f"x{j}", kind[j], low[j], high[j]) for j in range(p.n)]
        self.terms = [float(d) * v for d, v in zip(self.scale.tolist(), self.x, strict=True)]
        self._add_rows()
        self._add_cones()
        for row, factor in zip(p.general, general_factors(p).tolist(), strict=True):
            self._add_general(row, factor)
        self._add_epigraph()

    def _add_general(self, row: ConstraintRow, f: float) -> None:
        """Add a general constraint times the factor f."""
        p = self.program
        body = self._quadratic(row.terms.quadratic) + row.terms.constant
        body += pyscipopt.quicksum(v * self.terms[j] for j, v in row.terms.affine(p.column).items())
        for factor, node in row.terms.nonlinear:
            body = body + factor * translate(node, p.column, self.terms, row.constraint.name)
        self._add(f * body, f * row.lo, f * row.hi)

    def _add(self, body: Any, low: float, high: float) -> None:
        """Add a constraint, unless it has no bounds."""
        bounds = optional(np.array([low, high]))
        if bounds != [None, None]:
            self.m.addCons(pyscipopt.ExprCons(body, *bounds))

    def _form(self, columns: Indices, coefs: Vector) -> Any:
        """Return ``coefs'x'`` as an expression of SCIP."""
        return pyscipopt.quicksum(c * self.x[j] for j, c in zip(columns.tolist(), coefs.tolist(), strict=True) if c)

    def _add_rows(self) -> None:
        p, factor = self.program, self.program.scaling.rows
        for i in range(p.A.shape[0]):
            at = slice(p.A.indptr[i], p.A.indptr[i + 1])
            columns, f = p.A.indices[at], factor[i]
            body = self._form(columns, f * p.A.data[at] * self.scale[columns])
            self._add(body, f * p.lo[i], f * p.hi[i])

    def _add_cones(self) -> None:
        p = self.program
        G, h = sp.csr_matrix(p.scaling.cone @ p.cones.G @ sp.diags(self.scale)), p.scaling.cone @ p.cones.h
        for start, end in zip(p.cones.starts[:-1].tolist(), p.cones.starts[1:].tolist(), strict=True):
            s = []
            for i in range(start, end):
                at = slice(G.indptr[i], G.indptr[i + 1])
                s.append(self.m.addVar(f"s{i}", "C", 0.0 if i == start else None, None))
                self._add(self._form(G.indices[at], G.data[at]) - s[-1], -h[i], -h[i])
            self._add_norm(s)

    def _add_norm(self, s: list[Any]) -> None:
        """Add ``||s[1:]|| <= s[0]``; with one entry in the tail it is two linear inequalities."""
        if len(s) == 2:
            self._add(s[1] - s[0], -np.inf, 0.0)
            self._add(-s[1] - s[0], -np.inf, 0.0)
        elif len(s) > 2:
            self._add(pyscipopt.sqrt(pyscipopt.quicksum(v * v for v in s[1:])) - s[0], -np.inf, 0.0)

    def _quadratic(self, triples: list[tuple[int, int, float]]) -> Any:
        return pyscipopt.quicksum(v * self.terms[i] * self.terms[j] for i, j, v in triples if v)

    def _add_epigraph(self) -> None:
        """Minimise ``f c'x + q`` with ``q >= f(x'Px/2 + the other nonlinear terms)`` and the factor f."""
        p = self.program
        upper = sp.triu(p.P, format="coo")
        triples = [
            (int(i), int(j), float(v) * (0.5 if i == j else 1.0))
            for i, j, v in zip(upper.row, upper.col, upper.data, strict=True)
        ]
        self.epigraph = None
        if triples or p.objective_terms:
            self.epigraph = self.m.addVar("q", "C", None, None)
            body = self._quadratic(triples)
            for factor, node in p.objective_terms:
                body = body + p.sign * factor * translate(node, p.column, self.terms, p.objective_name)
            self._add(self.factor * body - self.epigraph, -np.inf, 0.0)
        self._set_objective()

    def _set_objective(self) -> None:
        p = self.program
        goal = self._form(np.arange(p.n), self.factor * p.c * self.scale) + self.factor * p.c0
        self.m.setObjective(goal if self.epigraph is None else goal + self.epigraph, "minimize")

    # -- solving ------------------------------------------------------------------------------------------

    def update(self, change: Change) -> str | None:
        """Take over nothing: a change needs a new load."""
        return "SCIP is loaded anew"

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Run SCIP; its dual bound is the bound, its incumbent the point."""
        started = time.perf_counter()
        self.m.freeTransform()
        self._limits(time_limit, mip_gap)
        message = self._run()
        status, stop = STATUS_MAP.get(message, UNKNOWN)
        infinite, whole = INFINITE * self.m.infinity(), float(self.m.getParam("numerics/feastol"))
        bound, nodes = (float(self.m.getDualbound()), int(self.m.getNTotalNodes())) if message != FAILURE else (None, 0)
        point = self._point() if status in (Status.OPTIMAL, Status.FEASIBLE) and self.m.getNSols() else None
        if point is not None and self.m.getPrimalbound() <= -infinite:
            status, stop = STATUS_MAP["unbounded"]
            point = None
        bound = bound / self.factor if bound is not None and abs(bound) < infinite else None
        seconds = time.perf_counter() - started
        return Outcome(status, stop, point, bound, nodes, seconds, message, integer_tolerance=whole)

    def _limits(self, time_limit: float | None, mip_gap: float | None) -> None:
        """Set the limits of this call; without them those of the options hold."""
        own, m = self.settings.own, self.m
        seconds = own.get("limits/time", m.infinity()) if time_limit is None else time_limit
        m.setParam("limits/time", float(seconds))
        gap = self.settings.mip_gap if mip_gap is None else mip_gap
        for name, limit in (("limits/gap", gap), ("limits/absgap", gap * min(self.factor, 1.0))):
            m.setParam(name, own.get(name, limit) if mip_gap is None else limit)

    def _run(self) -> str:
        """Run SCIP and return its status; a model on which it failed is loaded anew."""
        try:
            self.m.optimize()
        except Exception:  # pyscipopt has no exception of its own for a linear program that SCIP fails to solve
            self._new()
            return FAILURE
        return str(self.m.getStatus())

    def _point(self) -> Point:
        """Return the incumbent, its integers rounded."""
        best = self.m.getBestSol()
        x = self.scale * np.array([self.m.getSolVal(best, v) for v in self.x])
        whole = self.program.integer & (np.abs(x - np.round(x)) <= 1e-6)
        return Point(np.where(whole, np.round(x), x))


TOLERANCE = 1e-9
TOLERANCE_QUADRATIC = 1e-8
"""For quadratic programs without cones: below it SCIP's linear programs fail.

It is too much for a sum of exponentials, say, in which every term gains by its tolerance.
"""


def put_options(m: Any, program: Program, settings: Settings, factor: float) -> None:
    """Set the parameters of a model of pyscipopt, with a factor of the objective, and then the user's."""
    if not settings.tee:
        m.hideOutput()
    products = program.P.nnz or any(row.terms.quadratic for row in program.general)
    standard = TOLERANCE_QUADRATIC if products and not len(program.cones) else TOLERANCE
    common: dict[str, Any] = {
        "numerics/feastol": standard if settings.tolerance is None else max(settings.tolerance, 1e-10),
        "numerics/dualfeastol": 1e-9,
        "limits/gap": settings.mip_gap,
        # Relative to max(1, |value|), as in the certificate.
        "limits/absgap": settings.mip_gap * min(factor, 1.0),
        "lp/threads": settings.threads,
        "randomization/randomseedshift": settings.seed,
    }
    if len(program.cones) and program.convex:
        common["heuristics/multistart/freq"] = -1  # its local solver runs for minutes at the tips of cones
    known = m.getParams()

    def put(name: str, value: Any) -> None:
        if name not in known:
            raise KeyError("there is no such parameter")
        m.setParam(name, value)

    refusals = (TypeError, ValueError, KeyError, OverflowError, AttributeError, OSError)
    set_options("scip", {**common, **settings.own}, put, refusals)


def translate(node: Any, column: Mapping[int, int], terms: Sequence[Any], where: str) -> Any:
    """Return a Pyomo expression by SCIP's ``terms`` of variables; SolverError for a function that it does not have."""
    if node.__class__ in native_numeric_types or not node.is_potentially_variable():
        return float(value(node))
    if not node.is_expression_type():
        return terms[column[id(node)]]
    if isinstance(node, NamedExpressionData):
        return translate(node.expr, column, terms, where)
    found = _apply(node, [translate(argument, column, terms, where) for argument in node.args])
    if found is None:
        name = node.getname() if hasattr(node, "getname") else type(node).__name__
        raise SolverError(
            f"solver 'scip' does not take the function '{name}' in '{where}'",
            f"it takes sums, products, quotients, powers with a constant, abs, {', '.join(FUNCTIONS)}",
        )
    return found


def _apply(node: Any, arguments: list[Any]) -> Any:
    """Return the operator of a node applied to SCIP's arguments, None where SCIP does not have it."""
    if isinstance(node, pe.SumExpression):
        return pyscipopt.quicksum(arguments)
    if isinstance(node, pe.ProductExpression):
        return arguments[0] * arguments[1]
    if isinstance(node, pe.DivisionExpression):
        return arguments[0] / arguments[1]
    if isinstance(node, pe.NegationExpression):
        return -1.0 * arguments[0]
    if isinstance(node, pe.PowExpression):
        return _power(*arguments)
    if isinstance(node, pe.AbsExpression):
        return abs(arguments[0])
    if isinstance(node, pe.UnaryFunctionExpression) and node.getname() in FUNCTIONS:
        return getattr(pyscipopt, node.getname())(arguments[0])
    return None


def _power(base: Any, exponent: Any) -> Any:
    """Return a power with a constant exponent, or one with a positive constant base as an exponential."""
    if isinstance(exponent, float):
        return base**exponent
    if isinstance(base, float) and base > 0:
        return pyscipopt.exp(float(np.log(base)) * exponent)
    return None


SPEC = SolverSpec(
    name="scip",
    connect=Scip,
    package="pyscipopt",
    ranks=dict.fromkeys(("LP", "QP", "SOCP", "MILP", "MIQP", "MISOCP", "NLP", "MINLP"), 40),
    duals=False,
    pip="pip install pyscipopt",
    licence="Apache-2.0, in the wheel",
)
