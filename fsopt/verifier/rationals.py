"""Rational numbers as integers over common denominators, the work that is left, and exponentials and logarithms.

``decimal`` rounds exponentials and logarithms correctly, here to 60 digits. Bounds are 10^-40 further out, which is far
more than what is lost before, and rounded outward to multiples of 2^-100. docs/exact.md has the lemmas that need them.
"""

from __future__ import annotations

import decimal as decimals
import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from operator import mul
from typing import NoReturn

ZERO, ONE = Fraction(0), Fraction(1)
MOST_BITS = 2**18  # of a numerator or a denominator
MOST_WORK = 2 * 10**9  # of Work, in products of numbers of one word
SHORT = 96  # bits after the leading one that a rounded end of an interval keeps
EXACT = decimals.Context(prec=60, Emax=decimals.MAX_EMAX, Emin=decimals.MIN_EMIN)
MARGIN, GRID = Fraction(1, 10**40), 2**100


class Refuted(Exception):
    """A number of the proof does not support its statement."""


class Unreadable(ValueError):
    """The file is no proof, or takes more than is allowed."""


class Work:
    """The work that is left, an upper bound in products of one word: a small file does not take for ever."""

    left: float = math.inf


def spend(count: int, bits: int = 64, others: int = 64) -> None:
    """Count products of integers of so many bits with others; raise Unreadable where the work is used up."""
    Work.left -= count * (1 + bits // 64) * (1 + others // 64)
    if Work.left < 0:
        refuse("it takes more work than is allowed: --work 10 allows ten times as much")


def need(holds: bool, reason: str) -> None:
    """Raise Refuted with a reason where a condition does not hold."""
    if not holds:
        raise Refuted(reason)


def refuse(reason: str) -> NoReturn:
    """Raise Unreadable."""
    raise Unreadable(reason)


def common(values: Iterable[Fraction]) -> tuple[list[int], int, int]:
    """Return rational numbers as integers over one denominator, and the bits of the longest of all these."""
    held, bottom = list(values), 1
    for below in {v.denominator for v in held}:
        spend(1, bottom.bit_length(), below.bit_length())
        bottom = math.lcm(bottom, below)
        if bottom.bit_length() > MOST_BITS:
            refuse("its numbers have no common denominator of a reasonable length")
    spend(len(held), bottom.bit_length())
    tops = [v.numerator * (bottom // v.denominator) for v in held]
    return tops, bottom, max(map(int.bit_length, [*tops, bottom]))


def total(values: Iterable[Fraction]) -> Fraction:
    """Return the sum of rational numbers."""
    tops, bottom, _ = common(values)
    return Fraction(sum(tops), bottom)


class AffineForm:
    """An affine form: columns, integers, an integer constant, one denominator, and the bits of the longest of them."""

    def __init__(self, columns: list[int], values: list[Fraction], constant: Fraction = ZERO) -> None:
        need(len(columns) == len(values), "a form is damaged")
        self.columns = columns
        (*self.values, self.constant), self.bottom, self.bits = common([*values, constant])

    def at(self, x: tuple[list[int], int, int]) -> Fraction:
        """Return the value at a point."""
        tops, bottom, bits = x
        spend(len(self.columns) + 1, self.bits, bits)
        spend(1, self.bits + bits, self.bits + bits)  # lowest terms
        top: int = sum(map(mul, self.values, [tops[j] for j in self.columns])) + self.constant * bottom
        return Fraction(top, self.bottom * bottom)


def rounded(value: Fraction, *, up: bool) -> Fraction:
    """Return a number with a short denominator on one side of a value, at most 2^-96 of its size away."""
    if value.denominator.bit_length() <= SHORT:
        return value
    unit = 1 << max(SHORT - value.numerator.bit_length() + value.denominator.bit_length(), 0)
    return Fraction(math.ceil(value * unit) if up else math.floor(value * unit), unit)


def decimal(value: Fraction, *, up: bool, digits: int = 12) -> str:
    """Return a decimal number of so many digits on one side of a value."""
    rounding = decimals.ROUND_CEILING if up else decimals.ROUND_FLOOR
    context = decimals.Context(digits, rounding, decimals.MIN_EMIN, decimals.MAX_EMAX)
    return f"{context.divide(decimals.Decimal(value.numerator), decimals.Decimal(value.denominator)):g}"


def enclosed(function: Callable[[decimals.Decimal], decimals.Decimal], x: Fraction) -> tuple[Fraction, Fraction]:
    """Return rational numbers below and above the value of a function of :data:`EXACT`, of ln from 2^-100 to 2^100."""
    spend(1000 + x.numerator.bit_length() * x.denominator.bit_length() // 100)
    found = Fraction(function(EXACT.divide(decimals.Decimal(x.numerator), decimals.Decimal(x.denominator))))
    return Fraction(math.floor((found - MARGIN) * GRID), GRID), Fraction(math.ceil((found + MARGIN) * GRID), GRID)


def exponential(x: Fraction) -> tuple[Fraction, Fraction]:
    """Return rational numbers below and above e^-x for x >= 0."""
    low, high = enclosed(EXACT.exp, -min(x, Fraction(100)))
    return max(low, ZERO) if x <= 100 else ZERO, high


def entropy(grid: Sequence[int], steps: int) -> Fraction:
    """Return a number below the sum of -t ln t - (1 - t) ln(1 - t) over t = grid / steps."""
    parts = [part for a in grid for part in (a, steps - a) if part]
    return -sum((part * enclosed(EXACT.ln, Fraction(part, steps))[1] for part in parts), ZERO) / steps


def logistic(margin: Fraction) -> Fraction:
    """Return a number above ln(1 + e^-u) = ln(1 + e^u) - u at a margin u."""
    return enclosed(EXACT.ln, 1 + exponential(abs(margin))[1])[1] + max(-margin, ZERO)
