r"""A program as a smooth nonlinear program, with exact derivatives, for solvers of that kind, and as a Pyomo model.

In the units of :class:`fsopt.compiler.scaling.Scaling`, :math:`x = Dx'`, with the rows of the cones as
variables :math:`s` of their own:

.. math:: \min f(Dx') \quad\text{s.t.}\quad R\ell \le RADx' \le Ru,\quad s - TGDx' = Th,\quad
          \frac{\|s_{2:}\|^2}{s_1} - s_1 \le 0,\quad s_1 \ge 0,\quad \text{general constraints},

with factors of the objective and of the general constraints that bring coefficients of odd size to about 1.

An interior method keeps :math:`s_1 > 0`, where the quotient is smooth and convex, and a violation
:math:`\epsilon` of it is a distance to the cone of that order; :math:`\|s_{2:}\|^2 \le s_1^2` would let
:math:`\|s_{2:}\| = \sqrt\epsilon` through at the apex. With its multiplier :math:`\lambda \ge 0` and that of
the bound :math:`\beta \ge 0`, stationarity in s says that the multipliers of the linking rows are
:math:`\nu = \lambda (1 + \|s_{2:}\|^2 / s_1^2,\, -2 s_{2:} / s_1) + \beta e_1`, which lies in the cone because
:math:`1 + r^2 \ge 2r`; and stationarity in x that :math:`z = T'\nu`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp
from pyomo.core.expr.numeric_expr import LinearExpression
from pyomo.core.expr.visitor import replace_expressions

from fsopt.answers.results import Point
from fsopt.compiler import Program
from fsopt.compiler.derivatives import derivatives_of
from fsopt.compiler.scaling import row_factors
from fsopt.errors import SolverError
from fsopt.solvers.shared import objective_factor
from fsopt.solvers.spec import INFINITY, optional
from fsopt.typing import Indices, Vector

WHOLE = 1e-9
"""Distance from a whole number, and from 0, that counts as rounding."""


class NonlinearForm:
    """The functions of a program in its smooth form, at variables v = (x', s).

    Ipopt may refuse a program with more equations than variables, and solve one with as many as a system of equations,
    without its objective; but the equations of a model may repeat one another. Then ``spare`` variables in [0, 1] that
    occur nowhere follow s, so that there are more variables than equations.

    ``low`` and ``high`` are bounds of linear constraints, links, cones and general constraints, ``lower`` and ``upper``
    those of v; ``factors`` (q + 1,) are those of the functions in ``other``, the objective's last.
    """

    def __init__(self, program: Program) -> None:
        if program.cones.orders.any():
            raise SolverError("a nonlinear solver takes no semidefinite cones", "use a conic solver")
        p = self.program = program
        self.other = derivatives_of(program)
        self.D, self.R = p.scaling.columns, p.scaling.rows
        self.factor = objective_factor(p)
        self.factors = np.append(general_factors(p), self.factor)
        self.n, self.m = p.n, p.A.shape[0]
        self.k, self.cones = len(p.cones.h), len(p.cones)
        self.heads = p.cones.starts[:-1].astype(int)
        self.block = np.repeat(np.arange(self.cones), p.cones.sizes)
        self.tail = np.ones(self.k, dtype=bool)
        self.tail[self.heads] = False
        self.P = sp.csr_matrix(self.factor * sp.diags(self.D) @ p.P @ sp.diags(self.D))
        self.lower_P = sp.tril(self.P, format="coo")
        self.q = self.factor * self.D * p.c
        self._bounds()
        self._constant()

    def _constant(self) -> None:
        """Build the part of the Jacobian that does not depend on the point."""
        p, scale = self.program, sp.diags(self.D)
        rows = sp.diags(self.R) @ p.A @ scale
        links = -(p.scaling.cone @ p.cones.G @ scale)
        of_x_and_s = sp.vstack(
            [sp.hstack([rows, sp.csr_matrix((self.m, self.k))]), sp.hstack([links, sp.identity(self.k)])]
        )
        of_spare = sp.csr_matrix((self.m + self.k, self.spare))
        self.product = sp.csr_matrix(sp.hstack([of_x_and_s, of_spare]))
        self.linear = self.product.tocoo()
        if self.m and not self.product.nnz:  # cyipopt takes no constraints without an entry
            self.linear = sp.coo_matrix(([0.0], ([0], [0])), shape=self.product.shape)

    def _bounds(self) -> None:
        p = self.program
        link = p.scaling.cone @ p.cones.h
        first = np.full(self.k, -np.inf)
        first[self.heads] = 0.0
        equations = np.count_nonzero(p.lo == p.hi) + np.count_nonzero(self.other.lo == self.other.hi)
        self.spare = max(0, int(equations - np.count_nonzero(p.lb < p.ub)) + 1)
        self.size = self.n + self.k + self.spare
        self.lower = _finite(np.concatenate([p.lb / self.D, first, np.zeros(self.spare)]))
        self.upper = _finite(np.concatenate([p.ub / self.D, np.full(self.k, np.inf), np.ones(self.spare)]))
        low, high = self.factors[:-1] * self.other.lo, self.factors[:-1] * self.other.hi
        self.low = _finite(np.concatenate([self.R * p.lo, link, np.full(self.cones, -np.inf), low]))
        self.high = _finite(np.concatenate([self.R * p.hi, link, np.zeros(self.cones), high]))

    def start(self, x: Vector) -> Vector:
        """Return a starting point v at x (n,), strictly inside the cones."""
        p = self.program
        s = np.asarray(p.scaling.cone @ (p.cones.G @ x + p.cones.h))
        norms = np.sqrt(np.bincount(self.block, np.where(self.tail, s, 0.0) ** 2, self.cones))
        s[self.heads] = np.maximum(s[self.heads], 1.1 * norms + 1e-2)
        return np.concatenate([x / self.D, s, np.full(self.spare, 0.5)])

    def objective(self, v: Vector) -> float:
        """Return the objective at v, without its constant, times its factor."""
        x = v[: self.n]
        other = self.other.values(self.D * x)[-1] if self.other.batches else 0.0
        return float(0.5 * x @ (self.P @ x) + self.q @ x + self.factor * other)

    def gradient(self, v: Vector) -> Vector:
        """Return the gradient of the objective at v."""
        x = v[: self.n]
        g = self.P @ x + self.q
        if self.other.batches:
            g += self.factor * self.D * self.other.jacobian(self.D * x)[-1].toarray().ravel()
        return np.concatenate([g, np.zeros(self.k + self.spare)])

    def _quotients(self, v: Vector) -> tuple[Vector, Vector, Vector]:
        """Return s, the heads, and the squared norms of the tails divided by the head."""
        s = v[self.n : self.n + self.k]
        head = s[self.heads]
        with np.errstate(all="ignore"):
            return s, head, np.bincount(self.block, np.where(self.tail, s, 0.0) ** 2, self.cones) / head

    def constraints(self, v: Vector) -> Vector:
        """Return the values of the constraints at v."""
        _, head, quotient = self._quotients(v)
        general = self.other.values(self.D * v[: self.n])[:-1] if self.other.q else np.zeros(0)
        return np.concatenate([self.product @ v, quotient - head, self.factors[:-1] * general])

    def jacobianstructure(self) -> tuple[Indices, Indices]:
        """Return rows and columns of the entries of the Jacobian."""
        other = self.other.jacobian_pattern
        kept = other.rows < self.other.q  # the last function is the objective
        above = self.m + self.k
        rows = np.concatenate([self.linear.row, above + self.block, above + self.cones + other.rows[kept]])
        return rows, np.concatenate([self.linear.col, self.n + np.arange(self.k), other.columns[kept]])

    def jacobian(self, v: Vector) -> Vector:
        r"""Return the entries of the Jacobian at v.

        Those of a cone :math:`g = \|t\|^2/s_1 - s_1` are :math:`2t/s_1` and :math:`-\|t\|^2/s_1^2 - 1`.
        """
        s, head, quotient = self._quotients(v)
        cone = np.where(self.tail, 2 * s, -quotient[self.block]) / head[self.block] - ~self.tail
        general = np.zeros(0)
        if self.other.q:
            other = self.other.jacobian_pattern
            entries = self.other.jacobian_values(self.D * v[: self.n]) * self.D[other.columns]
            general = (self.factors[other.rows] * entries)[other.rows < self.other.q]
        return np.concatenate([self.linear.data, cone, general])

    def hessianstructure(self) -> tuple[Indices, Indices]:
        """Return rows and columns of the entries of the Hessian's lower triangle."""
        s = self.n + np.arange(self.k)
        head = self.n + self.heads[self.block]
        other = self.other.hessian_pattern
        rows = np.concatenate([self.lower_P.row, s, s[self.tail], other.rows])
        return rows, np.concatenate([self.lower_P.col, s, head[self.tail], other.columns])

    def hessian(self, v: Vector, multipliers: Vector, factor: float) -> Vector:
        r"""Return the entries of the Hessian of ``factor * f + multipliers'constraints`` at v.

        Those of a cone are :math:`2/s_1` and :math:`2\|t\|^2/s_1^3` on the diagonal, and :math:`-2t/s_1^2` beside it.
        """
        s, head, quotient = self._quotients(v)
        above = self.m + self.k
        weight = (multipliers[above : above + self.cones] / head)[self.block]
        ratio = s / head[self.block]
        own = 2 * weight * np.where(self.tail, 1.0, (quotient / head)[self.block])
        mixed = (-2 * weight * ratio)[self.tail]
        general = np.zeros(0)
        other = self.other.hessian_pattern
        if len(other.rows):
            weights = self.factors * np.append(multipliers[above + self.cones :], factor)
            curvature = self.other.hessian_values(self.D * v[: self.n], weights)
            general = curvature * self.D[other.rows] * self.D[other.columns]
        return np.concatenate([factor * self.lower_P.data, own, mixed, general])

    def point(self, v: Vector, multipliers: Vector) -> Point:
        """Return the primal-dual point of the program; the multipliers of general constraints follow the linear ones.

        An interior method returns multipliers of both signs within its tolerance. Those of a sign for which the
        constraint has no bound would make the dual value minus infinity: they are put to 0, which the residual of
        stationarity then shows.
        """
        p = self.program
        x = np.clip(self.D * v[: self.n], p.lb, p.ub)
        rows, link, _, general = np.split(-multipliers / self.factor, np.cumsum([self.m, self.k, self.cones]))
        y = np.concatenate([self.R * rows, self.factors[:-1] * general])
        low, high = np.append(p.lo, self.other.lo), np.append(p.hi, self.other.hi)
        y = np.where(np.isfinite(low), y, np.minimum(y, 0.0))
        y = np.where(np.isfinite(high), y, np.maximum(y, 0.0))
        return Point(x, y, p.scaling.cone.T @ -link)


def general_factors(program: Program) -> Vector:
    """Return the powers of two (q,) for the general constraints, from their coefficients as those of linear rows."""
    p, d = program, program.scaling.columns
    sizes: list[float] = []
    ends = [0]
    for row in p.general:
        sizes += [v * d[j] for j, v in row.terms.affine(p.column).items()]
        sizes += [v * d[i] * d[j] for i, j, v in row.terms.quadratic]
        sizes += [scale for scale, _ in row.terms.nonlinear]
        ends.append(len(sizes))
    table = sp.csr_matrix((sizes, np.arange(len(sizes)), ends), shape=(len(p.general), len(sizes)))
    return row_factors(table, np.ones(len(sizes)), np.zeros(len(sizes), dtype=bool))


def _finite(bounds: Vector) -> Vector:
    clipped: Vector = np.clip(bounds, -INFINITY, INFINITY)
    return clipped


# -- as a Pyomo model, for solvers that are called through Pyomo ------------------------------------------


def pyomo_model(form: NonlinearForm, start: Vector) -> pyo.ConcreteModel:
    """Return the form as a Pyomo model, variables ``v`` and constraints ``rows``; a cone is ``||t||^2 <= s_1^2``."""
    m = pyo.ConcreteModel()
    m.v = pyo.Var(range(form.size))
    for j in np.flatnonzero(form.program.integer).tolist():
        m.v[j].domain = pyo.Integers
    lower, upper = (optional(bounds) for bounds in whole_bounds(form))
    for j, variable in m.v.items():
        variable.setlb(lower[j])
        variable.setub(upper[j])
        variable.set_value(float(start[j]), skip_validation=True)
    v = list(m.v.values())
    bodies = _linear(form, v) + _cones(form, v) + _general(form, v)
    low, high = optional(form.low), optional(form.high)
    # Writers of files refuse constraints without a variable, and Pyomo those without a bound.
    rows = [i for i, body in enumerate(bodies) if body.nargs() and (low[i], high[i]) != (None, None)]
    m.rows = pyo.Constraint(rows, rule=lambda m, i: (low[i], bodies[i], high[i]))
    m.objective = pyo.Objective(expr=_objective(form, v))
    if rows and not form.program.integer.any():  # some interfaces fail where they are asked for what there is not
        m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


def whole_bounds(form: NonlinearForm) -> tuple[Vector, Vector]:
    """Return the bounds of the variables, those of integer ones as whole numbers: GLPK refuses others."""
    integer = np.flatnonzero(form.program.integer)
    lower, upper = form.lower.copy(), form.upper.copy()
    lower[integer] = np.ceil(lower[integer] - WHOLE)
    upper[integer] = np.floor(upper[integer] + WHOLE)
    return lower, upper


def _linear(form: NonlinearForm, v: list[Any]) -> list[Any]:
    """Return the bodies of the linear constraints and of the links between x and s, without their zeros."""
    product, bodies = form.product, []
    for first, last in zip(product.indptr[:-1], product.indptr[1:], strict=True):
        kept = first + np.flatnonzero(product.data[first:last])
        terms = [v[j] for j in product.indices[kept].tolist()]
        bodies.append(LinearExpression(linear_coefs=product.data[kept].tolist(), linear_vars=terms))
    return bodies


def _cones(form: NonlinearForm, v: list[Any]) -> list[Any]:
    """Return ``||tail||^2 - head^2`` of every cone."""
    starts = form.n + form.program.cones.starts.astype(int)
    blocks = [v[first:last] for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)]
    return [pyo.quicksum(a**2 for a in tail) - head**2 for head, *tail in blocks]


def _general(form: NonlinearForm, v: list[Any]) -> list[Any]:
    """Return the bodies of the general constraints without their constants, which are in the bounds."""
    p = form.program
    x = [d * a for d, a in zip(form.D.tolist(), v, strict=False)]
    bodies = []
    for f, row in zip(form.factors.tolist(), p.general, strict=False):
        body = pyo.quicksum(f * c * x[j] for j, c in row.terms.affine(p.column).items())
        body += pyo.quicksum(f * c * x[i] * x[j] for i, j, c in row.terms.quadratic)
        bodies.append(body + f * _replaced(row.terms.nonlinear, p, x))
    return bodies


def _replaced(terms: list[tuple[float, Any]], program: Program, x: list[Any]) -> Any:
    """Return the sum of scaled nodes of the user's model, with the expressions x in the place of its variables."""
    columns = {identity: x[j] for identity, j in program.column.items()}
    return pyo.quicksum(scale * replace_expressions(node, columns) for scale, node in terms)


def _objective(form: NonlinearForm, v: list[Any]) -> Any:
    p, lower = form.program, form.lower_P
    x = [d * a for d, a in zip(form.D.tolist(), v, strict=False)]
    linear = pyo.quicksum(c * a for c, a in zip(form.q.tolist(), v, strict=False) if c)
    entries = zip(lower.row.tolist(), lower.col.tolist(), lower.data.tolist(), strict=True)
    quadratic = pyo.quicksum((0.5 if i == j else 1.0) * c * v[i] * v[j] for i, j, c in entries)
    return linear + quadratic + form.factor * p.sign * _replaced(p.objective_terms, p, x)
