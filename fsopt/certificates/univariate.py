r"""Linear underestimators of functions of one number on an interval, which may be unbounded.

For f concave on :math:`[l, u]` the secant is the convex envelope: each point of the interval is a mixture
:math:`r = (1-\theta) l + \theta u`, and Jensen's inequality gives

.. math:: f(r) \ge (1-\theta) f(l) + \theta f(u) = f(l) + \frac{f(u) - f(l)}{u - l}\,(r - l).

On an unbounded interval the limit :math:`u \to \infty` of the secant has the slope :math:`\lim f(u)/u`, which is 0 for
a bounded f: :math:`1 - e^{-\alpha r} \ge 1 - e^{-\alpha l}` for :math:`r \ge l`. For f convex any tangent is below it,
:math:`f(r) \ge f(a) + f'(a)(r - a)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from pyomo.core.expr.numeric_expr import PowExpression, UnaryFunctionExpression
from pyomo.core.expr.numvalue import is_potentially_variable, value

from fsopt.compiler.expressions import read

Number = Callable[[float], float]


class Shape(NamedTuple):
    """An increasing function without a change of curvature on its domain.

    Attributes
    ----------
    f, slope, inverse : the function, its derivative, and the argument of a value; with their limits at infinity.
    curvature : +1 for a convex function, -1 for a concave one.
    least : the smallest argument of the domain.
    """

    f: Number
    slope: Number
    inverse: Number
    curvature: int
    least: float


def _quiet(f: Callable[[Any], Any]) -> Number:
    """Return a function whose overflow, and whose value at 0 and at infinity, is a limit and no warning."""

    def limit(r: float) -> float:
        with np.errstate(all="ignore"):
            return float(f(np.float64(r)))

    return limit


SHAPES: Mapping[str, Shape] = {
    "exp": Shape(_quiet(np.exp), _quiet(np.exp), _quiet(np.log), 1, -np.inf),
    "log": Shape(_quiet(np.log), _quiet(lambda r: 1 / r), _quiet(np.exp), -1, 0.0),
    "sqrt": Shape(_quiet(np.sqrt), _quiet(lambda r: 0.5 / np.sqrt(r)), _quiet(np.square), -1, 0.0),
}
"""Increasing functions of one argument by their name in an expression."""


def _root(p: float) -> Shape | None:
    """Return r^p with 0 < p < 1 or p > 1, which needs r >= 0 where p is no whole number; None for other exponents."""
    if p <= 0.0 or p == int(p):
        return None
    slope = _quiet(lambda r: p * r ** (p - 1.0))
    return Shape(_quiet(lambda r: r**p), slope, _quiet(lambda v: v ** (1.0 / p)), -1 if p < 1.0 else 1, 0.0)


class Line(NamedTuple):
    """The function ``at + slope * r``."""

    at: float
    slope: float


class Term(NamedTuple):
    r"""A term :math:`s f(r)` with an affine argument :math:`r = a'x + \beta`.

    Attributes
    ----------
    scale : s. ``shape`` : f.
    form : column -> coefficient of a. ``constant`` : beta.
    """

    scale: float
    shape: Shape
    form: dict[int, float]
    constant: float

    def at(self, r: float) -> float:
        """Return the value at an argument."""
        return self.scale * self.shape.f(r)

    def argument(self, x: Any) -> float:
        """Return the argument at a point (n,)."""
        return self.constant + sum(a * float(x[j]) for j, a in self.form.items())

    def interval(self, low: Any, high: Any) -> tuple[float, float]:
        """Return the smallest and largest argument on a box, within the domain of the function."""
        ends = [[a * low[j], a * high[j]] if a > 0.0 else [a * high[j], a * low[j]] for j, a in self.form.items()]
        least = self.constant + sum(e[0] for e in ends)
        return max(float(least), self.shape.least), float(self.constant + sum(e[1] for e in ends))

    def least(self, low: float, high: float) -> float:
        """Return the smallest value on an interval of arguments, at one of its ends."""
        return min(self.at(low), self.at(high))

    def line(self, low: float, high: float, near: float) -> Line | None:
        """Return a linear underestimator on an interval; None where there is none.

        Parameters
        ----------
        near : argument of the tangent, where the term is convex.
        """
        if self.scale * self.shape.curvature > 0:
            r = min(max(near, low), high)
            slope = self.scale * self.shape.slope(r)
            return Line(self.at(r) - slope * r, slope) if np.isfinite(slope) else Line(self.least(low, high), 0.0)
        ends = self.at(low), self.at(high)
        if np.isfinite([low, high, *ends]).all() and high > low:
            slope = (ends[1] - ends[0]) / (high - low)
            return Line(ends[0] - slope * low, slope)
        least = min(ends)
        return Line(least, 0.0) if np.isfinite(least) else None

    def within(self, most: float) -> tuple[float, float]:
        """Return the interval of the arguments at which the value is at most a number."""
        share = most / self.scale
        if self.scale > 0.0:
            return -np.inf, (self.shape.inverse(share) if share > self.shape.f(self.shape.least) else self.shape.least)
        return (self.shape.inverse(share) if share > self.shape.f(self.shape.least) else -np.inf), np.inf


def term_of(scale: float, node: Any, column: dict[int, int]) -> Term | None:
    """Return a nonlinear term of an expression; None where it is of no kind here."""
    if isinstance(node, PowExpression) and not is_potentially_variable(node.args[1]):
        shape = _root(float(value(node.args[1])))
    elif isinstance(node, UnaryFunctionExpression):
        shape = SHAPES.get(node.getname())
    else:
        shape = None
    inner = None if shape is None else read(node.args[0], column)
    if shape is None or inner is None or not inner.linear:
        return None
    return Term(scale, shape, inner.affine(column), inner.constant)
