r"""SCIP: mixed-integer, conic and nonconvex programs, solved globally by branch and bound.

A second-order cone is handed over as :math:`\|s_{2:}\| \le s_1` with its own variables
:math:`s = T(Gx + h)` in balanced units: what SCIP then calls the violation is a distance to the cone. As
:math:`w^2 \le f g` a tolerance of :math:`\epsilon` would allow :math:`w = \sqrt\epsilon` at f = g = 0.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pyscipopt
from pyomo.core.base.expression import NamedExpressionData
from pyomo.core.expr import numeric_expr as pe
from pyomo.core.expr.numvalue import native_numeric_types, value
from pyscipopt.scip import Expr, ExprCons

from fsopt.compiler import Program
from fsopt.compiler.classes import convex
from fsopt.errors import SolverError
from fsopt.results import Point, Status
from fsopt.solvers.interface import Change, Outcome, Settings, refuse_option
from fsopt.typing import Indices, Vector

STATUS_MAP = {
    "optimal": (Status.OPTIMAL, "optimal"),
    "gaplimit": (Status.OPTIMAL, "optimal"),
    "infeasible": (Status.INFEASIBLE, "infeasible"),
    "unbounded": (Status.UNBOUNDED, "unbounded"),
    "inforunbd": (Status.NONE, "numerical"),
    "timelimit": (Status.FEASIBLE, "time-limit"),
    "nodelimit": (Status.FEASIBLE, "iteration-limit"),
    "totalnodelimit": (Status.FEASIBLE, "iteration-limit"),
    "stallnodelimit": (Status.FEASIBLE, "iteration-limit"),
    "restartlimit": (Status.FEASIBLE, "iteration-limit"),
    "sollimit": (Status.FEASIBLE, "iteration-limit"),
    "bestsollimit": (Status.FEASIBLE, "iteration-limit"),
    "primallimit": (Status.FEASIBLE, "iteration-limit"),
    "duallimit": (Status.FEASIBLE, "iteration-limit"),
    "memlimit": (Status.FEASIBLE, "numerical"),
    "userinterrupt": (Status.FEASIBLE, "interrupted"),
    "terminate": (Status.FEASIBLE, "interrupted"),
    "unknown": (Status.NONE, "numerical"),
    "failure": (Status.NONE, "numerical"),
}
FAILURE = "failure"
"""Our word for an error that SCIP raised while it ran."""
TOLERANCE = 1e-9
TOLERANCE_QUADRATIC = 1e-8
"""For quadratic programs without cones: below it SCIP's linear programs fail, and nothing leaks there."""
NLP_HEURISTICS = ("heuristics/multistart/freq",)
"""Switched off for convex cone programs: there its local solver runs for minutes at the tips of cones."""
FUNCTIONS = {"exp": pyscipopt.exp, "log": pyscipopt.log, "sqrt": pyscipopt.sqrt, "sin": pyscipopt.sin,
             "cos": pyscipopt.cos}  # fmt: skip
"""Functions of one argument that are translated; everything else is refused by name."""


class Scip:
    """One program loaded into SCIP.

    Attributes
    ----------
    scale : (n,) d with x = d x'; 1 for integer columns. ``x`` are SCIP's variables x', ``terms`` are d x'.
    """

    def __init__(self, program: Program, settings: Settings) -> None:
        self.program = program
        self.settings = settings
        self.scale: Vector = np.where(program.integer, 1.0, program.scaling.columns)
        self.m = pyscipopt.Model()
        self._options()
        self._load()

    def _curved(self) -> bool:
        return bool(self.program.P.nnz or self.program.nonconic)

    def _options(self) -> None:
        s, m = self.settings, self.m
        standard = TOLERANCE if len(self.program.cones) or not self._curved() else TOLERANCE_QUADRATIC
        tolerance = standard if s.tolerance is None else max(s.tolerance, 1e-10)
        if not s.tee:
            m.hideOutput()
        common: dict[str, Any] = {
            "numerics/feastol": tolerance,
            "numerics/dualfeastol": 1e-7,
            "limits/gap": s.mip_gap,
            "limits/absgap": s.mip_gap,  # the gap is relative to max(1, |value|), as in the certificate
            "lp/threads": s.threads,
            "randomization/randomseedshift": s.seed,
        }
        if len(self.program.cones) and not self.program.nonconic and convex(self.program.P):
            common |= dict.fromkeys(NLP_HEURISTICS, -1)
        known = m.getParams()
        for name, chosen in {**common, **s.own}.items():
            if name not in known:
                raise refuse_option("scip", name, "unknown name")
            try:
                m.setParam(name, chosen)
            except (TypeError, ValueError, KeyError, OverflowError, AttributeError, OSError) as error:
                raise refuse_option("scip", name, f"bad value {chosen!r}") from error

    # -- loading ------------------------------------------------------------------------------------------

    def _load(self) -> None:
        p, m = self.program, self.m
        kind = np.where(p.integer, "I", "C").tolist()
        low, high = (_sides(side / self.scale) for side in (p.lb, p.ub))
        self.x = [m.addVar(f"x{j}", kind[j], low[j], high[j]) for j in range(p.n)]
        self.terms = [float(d) * v for d, v in zip(self.scale.tolist(), self.x, strict=True)]
        self._add_rows()
        self._add_cones()
        for row in p.general:
            body = self._quadratic(row.terms.quadratic) + row.terms.constant
            body += pyscipopt.quicksum(v * self.terms[j] for j, v in row.terms.affine(p.column).items())
            for factor, node in row.terms.nonlinear:
                body = body + factor * self._node(node, row.constraint.name)
            self._add(body, row.lo, row.hi)
        self._add_epigraph()

    def _add(self, body: Any, low: float, high: float) -> None:
        if np.isfinite(low) or np.isfinite(high):
            self.m.addCons(ExprCons(body, *_sides(np.array([low, high]))))

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
        p, m = self.program, self.m
        if not len(p.cones):
            return
        turned = (p.scaling.cone @ p.cones.G).tocsr()
        shift = p.scaling.cone @ p.cones.h
        for start, end in zip(p.cones.starts[:-1].tolist(), p.cones.starts[1:].tolist(), strict=True):
            s = []
            for i in range(start, end):
                at = slice(turned.indptr[i], turned.indptr[i + 1])
                columns = turned.indices[at]
                s.append(m.addVar(f"s{i}", "C", 0.0 if i == start else None, None))
                self._add(self._form(columns, turned.data[at] * self.scale[columns]) - s[-1], -shift[i], -shift[i])
            if len(s) == 2:
                self._add(s[1] - s[0], -np.inf, 0.0)
                self._add(-s[1] - s[0], -np.inf, 0.0)
            elif len(s) > 2:
                self._add(pyscipopt.sqrt(pyscipopt.quicksum(v * v for v in s[1:])) - s[0], -np.inf, 0.0)

    def _quadratic(self, triples: list[tuple[int, int, float]]) -> Any:
        return pyscipopt.quicksum(v * self.terms[i] * self.terms[j] for i, j, v in triples if v)

    def _add_epigraph(self) -> None:
        """Minimise ``c'x + q`` with ``q >= x'Px/2 + the other nonlinear terms``."""
        p = self.program
        upper = p.P.tocoo()
        triples = [
            (int(i), int(j), float(v) * (0.5 if i == j else 1.0))
            for i, j, v in zip(upper.row, upper.col, upper.data, strict=True)
            if i <= j
        ]
        self.curved = None
        if triples or p.objective_terms:
            self.curved = self.m.addVar("q", "C", None, None)
            body = self._quadratic(triples)
            for factor, node in p.objective_terms:
                body = body + p.sign * factor * self._node(node, p.objective_name)
            self._add(body - self.curved, -np.inf, 0.0)
        self._set_objective()

    def _set_objective(self) -> None:
        p = self.program
        goal = self._form(np.arange(p.n), p.c * self.scale) + p.c0
        self.m.setObjective(goal + self.curved if self.curved is not None else goal, "minimize")

    def _node(self, node: Any, where: str) -> Any:
        """Return a Pyomo expression as one of SCIP; raises SolverError for a function that it has not."""
        if node.__class__ in native_numeric_types or not node.is_potentially_variable():
            return float(value(node))
        if not node.is_expression_type():
            return self.terms[self.program.column[id(node)]]
        if isinstance(node, NamedExpressionData):
            return self._node(node.expr, where)
        arguments = [self._node(a, where) for a in node.args]
        if isinstance(node, pe.SumExpression):
            return pyscipopt.quicksum(arguments)
        if isinstance(node, pe.ProductExpression):
            return arguments[0] * arguments[1]
        if isinstance(node, pe.DivisionExpression):
            return arguments[0] / arguments[1]
        if isinstance(node, pe.NegationExpression):
            return -1.0 * arguments[0]
        if isinstance(node, pe.PowExpression) and isinstance(arguments[1], float):
            return arguments[0] ** arguments[1]
        if isinstance(node, pe.PowExpression) and isinstance(arguments[0], float) and arguments[0] > 0:
            return pyscipopt.exp(float(np.log(arguments[0])) * arguments[1])
        if isinstance(node, pe.AbsExpression):
            return abs(arguments[0])
        if isinstance(node, pe.UnaryFunctionExpression) and node.getname() in FUNCTIONS:
            return FUNCTIONS[node.getname()](arguments[0])
        name = node.getname() if hasattr(node, "getname") else type(node).__name__
        raise SolverError(
            f"solver 'scip' does not take the function '{name}' in '{where}'",
            f"it takes sums, products, quotients, powers with a constant, abs, {', '.join(FUNCTIONS)}",
        )

    # -- solving ------------------------------------------------------------------------------------------

    def update(self, change: Change) -> str | None:
        """Take over new linear costs in place; SCIP keeps its solutions. Everything else needs a new load."""
        if change.hessian or change.bounds or change.added or change.rows is not None:
            return "SCIP takes over new linear costs only"
        if change.objective:
            self.m.freeTransform()
            self._set_objective()
        return None

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Run SCIP; its dual bound is the bound, its incumbent the point."""
        started = time.perf_counter()
        self.m.freeTransform()
        self._limits(time_limit, mip_gap)
        message = self._run()
        claim, stop = STATUS_MAP[message]
        bound, nodes, point = None, 0, None
        if message != FAILURE:
            bound, nodes = float(self.m.getDualbound()), int(self.m.getNTotalNodes())
        if claim in (Status.OPTIMAL, Status.FEASIBLE) and self.m.getNSols():
            point = self._point()
        if message == "inforunbd":
            claim, stop = self._tell_apart()
        elif point is not None and self.m.getPrimalbound() <= -0.99 * self.m.infinity():
            claim, stop, point = *STATUS_MAP["unbounded"], None
        return Outcome(
            claim=claim,
            stop=stop,
            point=point,
            bound=bound if bound is not None and abs(bound) < 0.99 * self.m.infinity() else None,
            iterations=nodes,
            seconds=time.perf_counter() - started,
            message=message,
        )

    def _limits(self, time_limit: float | None, mip_gap: float | None) -> None:
        """Set the limits of this call; without them those of the options hold."""
        own, m = self.settings.own, self.m
        seconds = own.get("limits/time", m.infinity()) if time_limit is None else time_limit
        m.setParam("limits/time", float(seconds))
        gap = self.settings.mip_gap if mip_gap is None else mip_gap
        for name in ("limits/gap", "limits/absgap"):
            m.setParam(name, own.get(name, gap) if mip_gap is None else gap)

    def _run(self) -> str:
        """Run SCIP and return its status; a model on which it failed is loaded anew."""
        try:
            self.m.optimize()
        except Exception:  # pyscipopt raises nothing more special where an LP of SCIP fails
            self.m = pyscipopt.Model()
            self._options()
            self._load()
            return FAILURE
        message = str(self.m.getStatus())
        if message not in STATUS_MAP:
            raise SolverError(f"SCIP stopped with '{message}'", "try another solver: 'fsopt solvers' lists them")
        return message

    def _point(self) -> Point:
        """Return the incumbent, its integers rounded."""
        best = self.m.getBestSol()
        x = self.scale * np.array([self.m.getSolVal(best, v) for v in self.x])
        whole = self.program.integer & (np.abs(x - np.round(x)) <= 1e-6)
        return Point(np.where(whole, np.round(x), x))

    def _tell_apart(self) -> tuple[Status, str]:
        """Tell infeasible from unbounded: without an objective only the first is left."""
        self.m.freeTransform()
        self.m.setObjective(Expr(), "minimize")
        message = self._run()
        self.m.freeTransform()
        self._set_objective()
        return STATUS_MAP["unbounded" if message in ("optimal", "gaplimit") else message]


def _sides(sides: Vector) -> list[float | None]:
    """Return sides as SCIP takes them: None for infinite ones."""
    return [float(side) if np.isfinite(side) else None for side in sides]


def connect(program: Program, settings: Settings) -> Scip:
    """Load a program into SCIP."""
    return Scip(program, settings)
