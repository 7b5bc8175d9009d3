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

import numpy as np
import scipy.sparse as sp

from fsopt.typing import Vector as Floats

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

    @property
    def coefficients(self) -> list[Fraction]:
        """The coefficients of the columns."""
        return [Fraction(v, self.denominator) for v in self.values]

    @property
    def offset(self) -> Fraction:
        """The value at 0."""
        return Fraction(self.constant, self.denominator)

    def times(self, factor: int) -> Form:
        """Return a multiple of the form."""
        return Form(self.columns, tuple(factor * v for v in self.values), factor * self.constant, self.denominator)

    def less(self, constant: Fraction) -> Form:
        """Return the form less a constant."""
        return Form.of(self.columns, self.coefficients, self.offset - constant) if constant else self


def stacked(forms: Sequence[Form], size: int) -> tuple[sp.csr_matrix, Floats]:
    """Return the coefficients (m, size) and the constants (m,) of forms, rounded."""
    values = [v / form.denominator for form in forms for v in form.values]
    starts = np.cumsum([0, *(len(form.columns) for form in forms)])
    matrix = sp.csr_matrix((values, [j for form in forms for j in form.columns], starts), shape=(len(forms), size))
    matrix.sort_indices()
    return matrix, np.array([form.constant / form.denominator for form in forms])
