"""Exact first and second derivatives by the chain rule, for many functions at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fsopt.typing import Matrix, Vector

Hessians: TypeAlias = NDArray[np.float64]
"""Symmetric matrices (b, k, k), one for each of b functions."""


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
    "tan": lambda u: Chain(np.tan(u), 1 + np.tan(u) ** 2, 2 * np.tan(u) * (1 + np.tan(u) ** 2)),
    "asin": lambda u: Chain(np.arcsin(u), (1 - u**2) ** -0.5, u * (1 - u**2) ** -1.5),
    "acos": lambda u: Chain(np.arccos(u), -((1 - u**2) ** -0.5), -u * (1 - u**2) ** -1.5),
    "atan": lambda u: Chain(np.arctan(u), 1 / (1 + u**2), -2 * u / (1 + u**2) ** 2),
    "sinh": lambda u: Chain(np.sinh(u), np.cosh(u), np.sinh(u)),
    "cosh": lambda u: Chain(np.cosh(u), np.sinh(u), np.cosh(u)),
    "tanh": lambda u: Chain(np.tanh(u), 1 - np.tanh(u) ** 2, -2 * np.tanh(u) * (1 - np.tanh(u) ** 2)),
    "asinh": lambda u: Chain(np.arcsinh(u), (1 + u**2) ** -0.5, -u * (1 + u**2) ** -1.5),
    "acosh": lambda u: Chain(np.arccosh(u), (u**2 - 1) ** -0.5, -u * (u**2 - 1) ** -1.5),
    "atanh": lambda u: Chain(np.arctanh(u), 1 / (1 - u**2), 2 * u / (1 - u**2) ** 2),
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
    H: Hessians

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
