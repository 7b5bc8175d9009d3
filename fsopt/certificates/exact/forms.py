"""Rational numbers with common denominators: affine forms, their values, and rounding to a side.

A double is an integer times a power of two. Sums of products of doubles are therefore sums of products of integers,
which is far faster than arithmetic on single fractions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

ZERO = Fraction(0)


@dataclass(frozen=True)
class Vector:
    """Rational numbers over one denominator."""

    numerators: list[int]
    denominator: int

    @classmethod
    def of(cls, values: Iterable[Fraction]) -> Vector:
        """Return numbers over their common denominator."""
        held = list(values)
        denominator = math.lcm(*{v.denominator for v in held}) if held else 1
        return cls([v.numerator * (denominator // v.denominator) for v in held], denominator)

    def __getitem__(self, place: int) -> Fraction:
        return Fraction(self.numerators[place], self.denominator)


@dataclass(frozen=True)
class Form:
    r"""An affine form :math:`(\sum_j v_j x_j + v_0) / d` with integers v and d > 0."""

    columns: tuple[int, ...]
    values: tuple[int, ...]
    constant: int
    denominator: int

    @classmethod
    def of(cls, columns: Sequence[int], values: Iterable[Fraction], constant: Fraction = ZERO) -> Form:
        """Return the form of rational coefficients; zeros are dropped."""
        kept = [(j, v) for j, v in zip(columns, values, strict=True) if v]
        scaled = Vector.of([*(v for _, v in kept), constant])
        *numerators, last = scaled.numerators
        return cls(tuple(j for j, _ in kept), tuple(numerators), last, scaled.denominator)

    def at(self, x: Vector) -> Fraction:
        """Return the value at x."""
        held = x.numerators
        total = sum(map(mul, self.values, [held[j] for j in self.columns])) + self.constant * x.denominator
        return Fraction(total, self.denominator * x.denominator)

    def coefficient(self, place: int) -> Fraction:
        """Return the coefficient of the place-th column of the form."""
        return Fraction(self.values[place], self.denominator)

    @property
    def offset(self) -> Fraction:
        """The value at 0."""
        return Fraction(self.constant, self.denominator)

    def negative(self) -> Form:
        """Return the negative of the form."""
        return Form(self.columns, tuple(-v for v in self.values), -self.constant, self.denominator)

    def less(self, constant: Fraction) -> Form:
        """Return the form less a constant."""
        if not constant:
            return self
        denominator = math.lcm(self.denominator, constant.denominator)
        scale = denominator // self.denominator
        rest = self.constant * scale - constant.numerator * (denominator // constant.denominator)
        return Form(self.columns, tuple(scale * v for v in self.values), rest, denominator)


def fractions_of(values: Iterable[float]) -> list[Fraction]:
    """Return doubles as rational numbers."""
    return [Fraction(v) for v in values]
