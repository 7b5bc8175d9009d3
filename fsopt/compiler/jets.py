"""Functions in terms: their shapes, and exact first and second derivatives by the chain rule, for many at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pyomo.core.expr.numeric_expr import (
    DivisionExpression,
    NumericExpression,
    PowExpression,
    ProductExpression,
    UnaryFunctionExpression,
)
from pyomo.core.expr.numvalue import is_potentially_variable, value

from fsopt.compiler.expressions import read
from fsopt.typing import Matrix, Vector

MOST_NESTED = 200
"""Functions of functions: every reader of an expression, of fsopt or not, takes some calls within calls for each."""
Shape: TypeAlias = tuple[Any, ...]
"""An operator and the shapes of its arguments: ``(name, argument, ...)``."""


class Chain(NamedTuple):
    """Values (b,), first and second derivatives (b,) of a function of one number, at b numbers."""

    f: Vector
    first: Vector
    second: Vector


UNARY: Mapping[str, Callable[[Vector], Chain]] = {
    "exp": lambda u: Chain(np.exp(u), np.exp(u), np.exp(u)),
    "log": lambda u: Chain(np.log(u), 1 / u, -1 / u**2),
    "log10": lambda u: Chain(np.log10(u), 1 / (np.log(10) * u), -1 / (np.log(10) * u**2)),
    "sqrt": lambda u: Chain(np.sqrt(u), 0.5 / np.sqrt(u), -0.25 / u**1.5),
    "sin": lambda u: Chain(np.sin(u), np.cos(u), -np.sin(u)),
    "cos": lambda u: Chain(np.cos(u), -np.sin(u), -np.cos(u)),
    "tanh": lambda u: Chain(np.tanh(u), 1 - np.tanh(u) ** 2, -2 * np.tanh(u) * (1 - np.tanh(u) ** 2)),
    "abs": lambda u: Chain(np.abs(u), np.sign(u), np.zeros_like(u)),
    "1/": lambda u: Chain(1 / u, -1 / u**2, 2 / u**3),
}
"""The functions of one argument that an expression may contain; ``abs`` has a subgradient at 0."""


def power(u: Vector, p: Vector) -> Chain:
    """Return u^p and its derivatives, which are 0 where their factors p and p (p - 1) are, also at u = 0."""
    first = np.where(p == 0, 0.0, p * u ** (p - 1))
    second = np.where((p == 0) | (p == 1), 0.0, p * (p - 1) * u ** (p - 2))
    return Chain(u**p, first, second)


@dataclass
class Jet:
    """Values (b,), gradients (b, k) and Hessians (b, k, k) of b functions of k variables each."""

    f: Vector
    g: Matrix
    H: NDArray[np.float64]

    def through(self, outer: Chain) -> Jet:
        """Return the jet of an outer function phi of this one: gradient phi' g, Hessian phi' H + phi'' gg'."""
        squares = self.g[:, :, None] * self.g[:, None, :]
        H = outer.first[:, None, None] * self.H + outer.second[:, None, None] * squares
        return Jet(outer.f, outer.first[:, None] * self.g, H)

    def times(self, factor: Vector) -> Jet:
        """Return the jet of each function multiplied by a number of factor (b,)."""
        return Jet(factor * self.f, factor[:, None] * self.g, factor[:, None, None] * self.H)

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.f + other.f, self.g + other.g, self.H + other.H)

    def __mul__(self, other: Jet) -> Jet:
        cross = self.g[:, :, None] * other.g[:, None, :]
        return Jet(
            self.f * other.f,
            self.f[:, None] * other.g + other.f[:, None] * self.g,
            self.f[:, None, None] * other.H + other.f[:, None, None] * self.H + cross + cross.transpose(0, 2, 1),
        )


class TermReader:
    """Reads one term into its shape, the columns of its variables, and its numbers in the order of the shape.

    ``unsupported`` are the operators in it that have no derivatives here, by name. A term that is nested more than
    :data:`MOST_NESTED` deep raises RecursionError.
    """

    def __init__(self, column: dict[int, int]) -> None:
        self.column = column
        self.slots: dict[int, int] = {}
        self.numbers: list[float] = []
        self.unsupported: list[str] = []
        self.depth = 0

    def _slot(self, j: int) -> int:
        return self.slots.setdefault(j, len(self.slots))

    def form(self, expression: NumericExpression) -> Shape:
        """Return the shape of a sum of linear, quadratic and other terms."""
        terms = read(expression, self.column)
        linear = terms.affine(self.column)
        self.numbers += [terms.constant, *linear.values(), *(v for _, _, v in terms.quadratic)]
        self.numbers += [scale for scale, _ in terms.nonlinear]
        pairs = tuple((self._slot(i), self._slot(j)) for i, j, _ in terms.quadratic)
        slots = tuple(map(self._slot, linear))
        return ("form", slots, pairs, tuple(self.operator(node) for _, node in terms.nonlinear))

    def operator(self, node: NumericExpression) -> Shape:
        """Return the shape of a node that is neither linear nor quadratic."""
        self.depth += 1
        if self.depth > MOST_NESTED:
            raise RecursionError
        shape = self._shape(node)
        self.depth -= 1
        return shape

    def _shape(self, node: NumericExpression) -> Shape:
        if isinstance(node, ProductExpression):
            return ("*", self.form(node.args[0]), self.form(node.args[1]))
        if isinstance(node, DivisionExpression):
            return ("*", self.form(node.args[0]), ("1/", self.form(node.args[1])))
        if isinstance(node, PowExpression):
            base, exponent = node.args
            if not is_potentially_variable(exponent):
                self.numbers.append(float(value(exponent)))
                return ("power", self.form(base))
            return ("exp", ("*", self.form(exponent), ("log", self.form(base))))
        if not node.is_expression_type():
            raise KeyError(id(node))  # a variable of another model
        name = str(node.getname()) if isinstance(node, UnaryFunctionExpression) else type(node).__name__
        if name not in UNARY:
            self.unsupported.append(name)
            return (name,)
        return (name, self.form(node.args[0]))
