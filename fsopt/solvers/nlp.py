r"""A program as a smooth nonlinear program, with exact derivatives, for solvers of that kind.

In the units of :class:`fsopt.compiler.scaling.Scaling`, :math:`x = Dx'`, with the rows of the cones as
variables :math:`s` of their own:

.. math:: \min f(Dx') \quad\text{s.t.}\quad R\ell \le RADx' \le Ru,\quad s - TGDx' = Th,\quad
          \frac{\|s_{2:}\|^2}{s_1} - s_1 \le 0,\quad s_1 \ge 0,\quad \text{general rows}.

An interior method keeps :math:`s_1 > 0`, where the quotient is smooth and convex, and a violation
:math:`\epsilon` of it is a distance to the cone of that order; :math:`\|s_{2:}\|^2 \le s_1^2` would let
:math:`\|s_{2:}\| = \sqrt\epsilon` through at the apex. With its multiplier :math:`\lambda \ge 0` and that of
the bound :math:`\beta \ge 0`, stationarity in s says that the multipliers of the linking rows are
:math:`\nu = \lambda (1 + \|s_{2:}\|^2 / s_1^2,\, -2 s_{2:} / s_1) + \beta e_1`, which lies in the cone because
:math:`1 + r^2 \ge 2r`; and stationarity in x that :math:`z = T'\nu`.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import scipy.sparse as sp

from fsopt.compiler import Program
from fsopt.compiler.derivatives import derivatives_of
from fsopt.errors import SolverError
from fsopt.results import Point
from fsopt.typing import Indices, Vector

INFINITY = 1e20
"""What stands for an absent side."""


class NonlinearForm:
    """The functions of a program in its smooth form, at variables v = (x', s).

    Where there are as many equations as variables, some of them repeated perhaps, a solver may refuse or forget the
    objective: ``spare`` variables in [0, 1] that occur nowhere follow s then.

    Attributes
    ----------
    program, other : the arrays, and the functions that are neither linear nor conic.
    lower, upper : bounds of v; low, high : sides of the constraints (rows, links, cones, general rows).
    """

    def __init__(self, program: Program) -> None:
        if program.cones.orders.any():
            raise SolverError("a nonlinear solver takes no semidefinite cones", "use a conic solver")
        p = self.program = program
        self.other = derivatives_of(program)
        self.D, self.R = p.scaling.columns, p.scaling.rows
        self.n, self.m, self.k, self.cones = p.n, p.A.shape[0], len(p.cones.h), len(p.cones)
        self.heads = p.cones.starts[:-1].astype(int)
        self.block = np.repeat(np.arange(self.cones), p.cones.sizes)
        self.tail = np.ones(self.k, dtype=bool)
        self.tail[self.heads] = False
        self.P = sp.csr_matrix(sp.diags(self.D) @ p.P @ sp.diags(self.D))
        self.lower_P = sp.tril(self.P, format="coo")
        self.q = self.D * p.c
        self._sides()
        self._constant()

    def _constant(self) -> None:
        """Build the part of the Jacobian that does not depend on the point."""
        p, scale = self.program, sp.diags(self.D)
        rows = sp.diags(self.R) @ p.A @ scale
        links = -(p.scaling.cone @ p.cones.G @ scale)
        none = sp.csr_matrix((self.m, self.k)), sp.csr_matrix((self.m + self.k, self.spare))
        both = sp.vstack([sp.hstack([rows, none[0]]), sp.hstack([links, sp.identity(self.k)])])
        self.product = sp.csr_matrix(sp.hstack([both, none[1]]))
        self.linear = self.product.tocoo()

    def _sides(self) -> None:
        p = self.program
        link = p.scaling.cone @ p.cones.h
        first = np.full(self.k, -np.inf)
        first[self.heads] = 0.0
        equations = np.count_nonzero(p.lo == p.hi) + np.count_nonzero(self.other.lo == self.other.hi)
        self.spare = max(0, int(equations - np.count_nonzero(p.lb < p.ub)) + 1)
        self.lower = _finite(np.concatenate([p.lb / self.D, first, np.zeros(self.spare)]))
        self.upper = _finite(np.concatenate([p.ub / self.D, np.full(self.k, np.inf), np.ones(self.spare)]))
        self.low = _finite(np.concatenate([self.R * p.lo, link, np.full(self.cones, -np.inf), self.other.lo]))
        self.high = _finite(np.concatenate([self.R * p.hi, link, np.zeros(self.cones), self.other.hi]))

    @property
    def size(self) -> int:
        """Number of variables v."""
        return self.n + self.k + self.spare

    def start(self, x: Vector) -> Vector:
        """Return a starting point v at x (n,), strictly inside the cones."""
        p = self.program
        s = np.asarray(p.scaling.cone @ (p.cones.G @ x + p.cones.h))
        norms = np.sqrt(np.bincount(self.block, np.where(self.tail, s, 0.0) ** 2, self.cones))
        s[self.heads] = np.maximum(s[self.heads], 1.1 * norms + 1e-2)
        return np.concatenate([x / self.D, s, np.full(self.spare, 0.5)])

    def objective(self, v: Vector) -> float:
        """Return the objective at v, without its constant."""
        x = v[: self.n]
        other = self.other.values(self.D * x)[-1] if self.other.batches else 0.0
        return float(0.5 * x @ (self.P @ x) + self.q @ x + other)

    def gradient(self, v: Vector) -> Vector:
        """Return the gradient of the objective at v."""
        x = v[: self.n]
        g = self.P @ x + self.q
        if self.other.batches:
            g += self.D * self.other.jacobian(self.D * x)[-1].toarray().ravel()
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
        return np.concatenate([self.product @ v, quotient - head, general])

    def jacobianstructure(self) -> tuple[Indices, Indices]:
        """Return rows and columns of the entries of the Jacobian."""
        kept = self.other.jacobian_pattern.rows < self.other.q
        above = self.m + self.k
        rows = np.concatenate(
            [self.linear.row, above + self.block, above + self.cones + self.other.jacobian_pattern.rows[kept]]
        )
        columns = np.concatenate(
            [self.linear.col, self.n + np.arange(self.k), self.other.jacobian_pattern.columns[kept]]
        )
        return rows, columns

    def jacobian(self, v: Vector) -> Vector:
        """Return the entries of the Jacobian at v."""
        s, head, quotient = self._quotients(v)
        cone = np.where(self.tail, 2 * s, -quotient[self.block]) / head[self.block] - ~self.tail
        kept = self.other.jacobian_pattern.rows < self.other.q
        general = np.zeros(0)
        if self.other.q:
            general = (self.other.jacobian_values(self.D * v[: self.n]) * self.D[self.other.jacobian_pattern.columns])[
                kept
            ]
        return np.concatenate([self.linear.data, cone, general])

    def hessianstructure(self) -> tuple[Indices, Indices]:
        """Return rows and columns of the entries of the Hessian's lower triangle."""
        s = self.n + np.arange(self.k)
        head = self.n + self.heads[self.block]
        rows = np.concatenate([self.lower_P.row, s, s[self.tail], self.other.hessian_pattern.rows])
        return rows, np.concatenate([self.lower_P.col, s, head[self.tail], self.other.hessian_pattern.columns])

    def hessian(self, v: Vector, multipliers: Vector, factor: float) -> Vector:
        """Return the entries of the Hessian of ``factor * f + multipliers'constraints`` at v."""
        s, head, quotient = self._quotients(v)
        above = self.m + self.k
        weight = (multipliers[above : above + self.cones] / head)[self.block]
        ratio = s / head[self.block]
        own = 2 * weight * np.where(self.tail, 1.0, (quotient / head)[self.block])
        mixed = (-2 * weight * ratio)[self.tail]
        general = np.zeros(0)
        if len(self.other.hessian_pattern.rows):
            weights = np.append(multipliers[above + self.cones :], factor)
            curved = self.other.hessian_values(self.D * v[: self.n], weights)
            general = curved * self.D[self.other.hessian_pattern.rows] * self.D[self.other.hessian_pattern.columns]
        return np.concatenate([factor * self.lower_P.data, own, mixed, general])

    def point(self, v: Vector, multipliers: Vector) -> Point:
        """Return the primal-dual point of the program; the multipliers of general rows follow those of the rows."""
        p = self.program
        x = np.clip(self.D * v[: self.n], p.lb, p.ub)
        rows, link, _, general = np.split(-multipliers, np.cumsum([self.m, self.k, self.cones]))
        y = np.concatenate([self.R * rows, general])
        low, high = np.append(p.lo, self.other.lo), np.append(p.hi, self.other.hi)
        y = np.where(np.isfinite(low), y, np.minimum(y, 0.0))
        y = np.where(np.isfinite(high), y, np.maximum(y, 0.0))
        return Point(x, y, p.scaling.cone.T @ -link)


def _finite(sides: Vector) -> Vector:
    clipped: Vector = np.clip(sides, -INFINITY, INFINITY)
    return clipped


def elastic(program: Program) -> Program:
    """Return the convex program of least violation: rows may be missed at a price, cones may be moved.

    Its optimum is positive iff the program has no point, and then its multipliers are a proof of that.
    """
    p = program
    m, k, cones = p.A.shape[0], len(p.cones.h), len(p.cones)
    unit = sp.diags(1 / p.scaling.rows)
    heads = sp.csr_matrix((np.ones(cones), (p.cones.starts[:-1], np.arange(cones))), shape=(k, cones))
    moved = p.scaling.uncone @ heads if k else heads
    more = 2 * m + cones
    return _derived(
        p,
        c=np.concatenate([np.zeros(p.n), np.ones(more)]),
        A=sp.csr_matrix(sp.hstack([p.A, unit, -unit, sp.csr_matrix((m, cones))])),
        lb=np.concatenate([p.lb, np.zeros(more)]),
        ub=np.concatenate([p.ub, np.full(more, np.inf)]),
        cones=dataclasses.replace(p.cones, G=sp.csr_matrix(sp.hstack([p.cones.G, sp.csr_matrix((k, 2 * m)), moved]))),
    )


def recession(program: Program) -> Program:
    """Return the program of the steepest direction in which a convex program's objective falls for ever."""
    p = program
    flat = sp.csr_matrix(p.P)[np.flatnonzero(np.diff(p.P.indptr))]
    still = np.zeros(flat.shape[0])
    return _derived(
        p,
        c=p.c,
        A=sp.vstack([p.A, flat], format="csr"),
        lo=np.append(np.where(np.isfinite(p.lo), 0.0, -np.inf), still),
        hi=np.append(np.where(np.isfinite(p.hi), 0.0, np.inf), still),
        lb=np.where(np.isfinite(p.lb), 0.0, -p.scaling.columns),
        ub=np.where(np.isfinite(p.ub), 0.0, p.scaling.columns),
        cones=dataclasses.replace(p.cones, h=np.zeros_like(p.cones.h)),
    )


def _derived(program: Program, **arrays: Any) -> Program:
    n = len(arrays["c"])
    flat = {"P": sp.csc_matrix((n, n)), "c0": 0.0, "sign": 1.0, "integer": np.zeros(n, dtype=bool)}
    return dataclasses.replace(program, **flat, **arrays)
