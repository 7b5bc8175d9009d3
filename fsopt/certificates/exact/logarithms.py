r"""Rational bounds on :math:`\ln x`, and the term and the loss of logistic regression within them.

With :math:`x = 2^k m`, :math:`2/3 \le m \le 4/3` and :math:`z = (m - 1) / (m + 1)`, :math:`|z| \le 1/5`,

.. math:: \ln x = k \ln 2 + 2\,\mathrm{artanh}\,z, \qquad
          \mathrm{artanh}\,z = \sum_{j \ge 0} \frac{z^{2j+1}}{2j + 1}, \qquad \ln 2 = 2\,\mathrm{artanh}\,\tfrac13.

The series is summed in integers, units of 2^-BITS, with every number rounded towards 0. An error of a unit in z changes
the sum by less than 2 units, and one in each of the falling powers of z by less than 2 in each of N terms, which are
rounded themselves; less than 3 are left where a power is 0. So the sum is low by less than 4 N + 8 units.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from fsopt.certificates.exact.exponentials import exponential

BITS = 160
"""Units of the sums are 2^-BITS."""
GRID = 64
"""Both bounds are rounded outward to multiples of 2^-GRID, where another checker finds the same ones."""


def logarithm(numerator: int, denominator: int) -> tuple[Fraction, Fraction]:
    """Return rational numbers below and above ln(numerator / denominator), of positive integers."""
    if numerator == denominator:
        return Fraction(0), Fraction(0)
    k = numerator.bit_length() - denominator.bit_length()
    a, b = numerator << max(-k, 0), denominator << max(k, 0)
    if 3 * a > 4 * b:
        k, b = k + 1, 2 * b
    elif 3 * a < 2 * b:
        k, a = k - 1, 2 * a
    total, error = _artanh((abs(a - b) << BITS) // (a + b))
    sign = 1 if a >= b else -1
    parts = [sign * 2 * total, sign * 2 * (total + error)]
    twos = [k * end for end in _ln2()]
    low, high = (min(parts) + min(twos)) >> (BITS - GRID), -(-(max(parts) + max(twos)) >> (BITS - GRID))
    return Fraction(low, 1 << GRID), Fraction(high, 1 << GRID)


def _artanh(z: int) -> tuple[int, int]:
    """Return a lower bound of artanh z for 0 <= z <= 1/3 plus a unit, in units, and how far above it is at most."""
    square, power = (z * z) >> BITS, z
    total, j = 0, 1
    while power:
        total += power // j
        power, j = (power * square) >> BITS, j + 2
    return total, 2 * j + 8


@cache
def _ln2() -> tuple[int, int]:
    total, error = _artanh((1 << BITS) // 3)
    return 2 * total, 2 * (total + error)


def entropy(grid: Sequence[int], steps: int) -> Fraction:
    """Return a lower bound of the sum of -t ln t - (1 - t) ln(1 - t) over t = grid / steps in [0, 1]."""
    parts = [part for v in grid for part in (v, steps - v) if part]
    return -sum((part * logarithm(part, steps)[1] for part in parts), Fraction(0)) / steps


def logistic_loss(margin: Fraction) -> Fraction:
    """Return an upper bound of ln(1 + exp(-margin)), which is -margin and that of the opposite one for margin < 0."""
    above = 1 + exponential(abs(margin))[1]
    return max(-margin, Fraction(0)) + logarithm(above.numerator, above.denominator)[1]
