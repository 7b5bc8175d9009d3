"""Exponentials and logarithms in rational numbers, with the standard library alone and no import of fsopt.

Both ends of e^-x come from the series of e^t at a small t = x / 2^k. A logarithm is 2^k times that of the k-th square
root, by the series of ln(1 + z) at a small z. docs/exact.md has the lemmas of what they are for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

BITS, GRID = 192, 64  # units of the series are 2^-BITS; both bounds are rounded outward to multiples of 2^-GRID
ROOTS, TERMS = 8, 24
ERROR = 3 * TERMS  # in units: a rounded power and a rounded quotient of each term, and less than 1 for those left out


def logarithm(top: int, bottom: int) -> tuple[Fraction, Fraction]:
    """Return rational numbers below and above the logarithm of top / bottom, between 2^-60 and 2^60."""
    if top == bottom:
        return Fraction(0), Fraction(0)
    roots = ROOTS + abs(top.bit_length() - bottom.bit_length()).bit_length()
    low = (top << BITS) // bottom
    high = low + 1
    for _ in range(roots):
        low, high = math.isqrt(low << BITS), math.isqrt((high << BITS) - 1) + 1
    z, total = low - (1 << BITS), 0  # |z| < 1/300 of a unit: |ln| / 2^roots is at most ln 2 / 256
    power = z
    for k in range(1, TERMS):
        total += power // k if k % 2 else -power // k
        power = (power * z) >> BITS
    ends = ((total - ERROR) << roots, (total + ERROR + 2 * (high - low)) << roots)
    return Fraction(ends[0] >> BITS - GRID, 2**GRID), Fraction(-(-ends[1] >> BITS - GRID), 2**GRID)


def entropy(grid: Sequence[int], steps: int) -> Fraction:
    """Return a number below the sum of -t ln t - (1 - t) ln(1 - t) over t = grid / steps."""
    parts = [part for a in grid for part in (a, steps - a) if part]
    return -sum((part * logarithm(part, steps)[1] for part in parts), Fraction(0)) / steps


def exponential(x: Fraction) -> tuple[Fraction, Fraction]:
    """Return rational numbers below and above e^-x for x >= 0, from the series of e^t at t = x / 2^k <= 1/2."""
    if x > 4096:
        return Fraction(0), exponential(Fraction(4096))[1]
    halvings = max(x.numerator.bit_length() - x.denominator.bit_length() + 2, 0)
    unit, grid = 2**300, 2**100
    ends = []
    for rounded in (math.floor, math.ceil):
        t = Fraction(rounded(x * unit / 2**halvings), unit)
        value = term = Fraction(1)
        for k in range(1, 50):
            term *= t / k
            value += term
        value += term if rounded is math.ceil else 0  # the terms that are left out are at most half of the last one
        for _ in range(halvings):
            value = Fraction(rounded(value * unit), unit) ** 2
        ends.append(value)
    return Fraction(math.floor(grid / ends[1]), grid), Fraction(math.ceil(grid / ends[0]), grid)


def logistic(margin: Fraction) -> Fraction:
    """Return a number above ln(1 + e^-u) = ln(1 + e^u) - u at a margin u."""
    above = 1 + exponential(abs(margin))[1]
    return logarithm(above.numerator, above.denominator)[1] + max(-margin, Fraction(0))
