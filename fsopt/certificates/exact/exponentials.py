r"""Rational bounds on :math:`e^{-x}`, by the partial sums of an alternating series.

For :math:`0 \le t \le 1/2` the terms :math:`t^k/k!` fall, so that partial sums of :math:`\sum_k (-t)^k/k!` with an even
number of terms are below :math:`e^{-t}` and those with an odd number above it. With :math:`t = x/2^m` the m squarings
are rounded outward.
"""

from __future__ import annotations

import math
from fractions import Fraction

from fsopt.certificates.exact.forms import rounded

TERMS = 46
"""Terms of the series: the next one is below 2^-230."""
LARGEST = 4096
"""Exponents from which 0 is the bound from below."""
BITS = 260
"""Bits that the squarings keep."""
GRID = 2**100
"""Both bounds are rounded outward to multiples of 1 / GRID, so that every checker finds the same ones."""


def exponential(x: Fraction) -> tuple[Fraction, Fraction]:
    """Return rational numbers below and above exp(-x) for x >= 0; raises ValueError for another x."""
    if x < 0:
        raise ValueError("an exponent is negative")
    if x > LARGEST:
        return Fraction(0), exponential(Fraction(LARGEST))[1]
    halvings = max(x.numerator.bit_length() - x.denominator.bit_length() + 2, 0)
    ends = []
    for up in (False, True):
        # exp(-t) falls: its lower end is that of the larger t
        t = rounded(x / 2**halvings, up=not up, bits=BITS)
        total, term = Fraction(0), Fraction(1)
        for k in range(1, TERMS + (2 if up else 1)):
            total += term
            term *= -t / k
        for _ in range(halvings):
            total = rounded(total, up=up, bits=BITS) ** 2
        ends.append(total)
    low, high = ends
    return Fraction(math.floor(low * GRID), GRID), Fraction(math.ceil(high * GRID), GRID)
