"""Exponentials and logarithms in rational numbers, from the decimal numbers of the standard library.

``decimal`` rounds exponentials and logarithms correctly, here to 60 digits. Bounds are 10^-40 further out, which is far
more than what is lost before, and rounded outward to multiples of 2^-100. docs/exact.md has the lemmas that need them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction

from .rationals import spend

EXACT = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)
MARGIN, GRID = Fraction(1, 10**40), 2**100
Ends = tuple[Fraction, Fraction]


def enclosed(function: Callable[[Decimal], Decimal], x: Fraction) -> Ends:
    """Return rational numbers below and above the value of a function of :data:`EXACT` at a number."""
    spend(1000 + x.numerator.bit_length() * x.denominator.bit_length() // 100)
    found = Fraction(function(EXACT.divide(Decimal(x.numerator), Decimal(x.denominator))))
    return Fraction(math.floor((found - MARGIN) * GRID), GRID), Fraction(math.ceil((found + MARGIN) * GRID), GRID)


def logarithm(x: Fraction) -> Ends:
    """Return rational numbers below and above the logarithm of a number between 2^-100 and 2^100."""
    return enclosed(EXACT.ln, x)


def exponential(x: Fraction) -> Ends:
    """Return rational numbers below and above e^-x for x >= 0."""
    low, high = enclosed(EXACT.exp, -min(x, Fraction(100)))
    return max(low, Fraction(0)) if x <= 100 else Fraction(0), high


def entropy(grid: Sequence[int], steps: int) -> Fraction:
    """Return a number below the sum of -t ln t - (1 - t) ln(1 - t) over t = grid / steps."""
    parts = [part for a in grid for part in (a, steps - a) if part]
    return -sum((part * logarithm(Fraction(part, steps))[1] for part in parts), Fraction(0)) / steps


def logistic(margin: Fraction) -> Fraction:
    """Return a number above ln(1 + e^-u) = ln(1 + e^u) - u at a margin u."""
    return logarithm(1 + exponential(abs(margin))[1])[1] + max(-margin, Fraction(0))
