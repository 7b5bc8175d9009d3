r"""Sums of products at twice the working precision, the same on every processor.

A pair (h, l) of doubles stands for the number h + l. A product is split into itself and its rounding error (Veltkamp
and Dekker), a sum of k terms into multiples of one power of two, whose sum has no error, and the rest:

.. math:: \sum_j a_jx_j = h + l + e, \qquad |e| \le 2 k u \sum_j |l_j|, \qquad u = 2^{-53},

with the small parts l_j of the terms, so that e is 0 for small whole numbers.

Dekker, A floating-point technique for extending the available precision, Numerische Mathematik 18, 1971; Ogita, Rump
and Oishi, Accurate sum and dot product, SIAM Journal on Scientific Computing 26, 2005.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from fsopt.typing import Indices, Vector

SPLIT = 2.0**27 + 1.0
"""Factor that splits a double into two halves of 26 bits."""
UNIT = 2.0**-53
"""Relative rounding error of one operation on doubles."""


class Sums(NamedTuple):
    """Sums of terms as pairs.

    Attributes
    ----------
    high, low : (m,) the numbers ``high + low``.
    terms : (m,) sums of the absolute values of the terms.
    error : (m,) bounds of the errors of these numbers, before they are rounded to one double.
    """

    high: Vector
    low: Vector
    terms: Vector
    error: Vector

    @property
    def value(self) -> Vector:
        """The sums, rounded once."""
        total: Vector = self.high + self.low
        return total

    @np.errstate(invalid="ignore")
    def plus(self, other: Sums) -> Sums:
        """Return the sums of both."""
        high, lost = _two_sum(self.high, other.high)
        parts = np.abs(self.low) + np.abs(other.low) + np.abs(lost)
        low = np.where(np.isfinite(high), self.low + other.low + lost, 0.0)
        total = high + low
        terms = self.terms + other.terms
        rest = np.where(np.isfinite(total), low - (total - high), 0.0)
        return Sums(total, rest, terms, self.error + other.error + 4.0 * UNIT * parts)

    def minus(self, other: Sums) -> Sums:
        """Return the differences."""
        return self.plus(Sums(-other.high, -other.low, other.terms, other.error))


def of(values: Vector) -> Sums:
    """Return doubles (m,) as sums of one term each."""
    nothing = np.zeros_like(values)
    return Sums(values, nothing, np.abs(values), nothing)


def product(matrix: sp.csr_matrix, x: Vector) -> Sums:
    """Return the product of a sparse matrix (m, n) in rows with a vector (n,)."""
    return segments(matrix.data, x[matrix.indices], matrix.indptr)


def plain(matrix: sp.csr_matrix, x: Vector) -> Sums:
    """Return the product of a sparse matrix (m, n) in rows with a vector (n,) in working precision."""
    terms = abs(matrix) @ np.abs(x)
    error = 2.0 * UNIT * (np.diff(matrix.indptr) + 1.0) * terms
    return Sums(matrix @ x, np.zeros_like(terms), terms + error, error)


def dot(a: Vector, b: Vector) -> tuple[float, float]:
    """Return the product of two vectors (k,), and the sum of the absolute values of its terms."""
    found = segments(a, b, np.array([0, len(a)]))
    return float(found.value[0]), float(found.terms[0])


@np.errstate(all="ignore")
def segments(a: Vector, b: Vector, indptr: Indices) -> Sums:
    """Return the sums of the products of two vectors over each segment ``indptr[i]`` to ``indptr[i + 1]``."""
    m, sizes = len(indptr) - 1, np.diff(indptr)
    high, low, terms, error = np.zeros((4, m))
    filled = np.flatnonzero(sizes)
    if not len(filled):
        return Sums(high, low, terms, error)
    starts, counts = indptr[:-1][filled], sizes[filled]
    products, errors = _two_product(a, b)
    terms[filled] = np.add.reduceat(np.abs(products), starts)
    # Multiples of 2^-52 of a power of two above the sum of all terms: their sums are exact in any order.
    scale = np.ldexp(1.0, np.frexp(terms[filled])[1] + 1)
    scale = np.repeat(np.where(np.isfinite(scale), scale, 0.0), counts)
    upper = (products + scale) - scale
    high[filled] = np.add.reduceat(upper, starts)
    rest = products - upper
    low[filled] = np.add.reduceat(rest + errors, starts)
    error[filled] = 2.0 * UNIT * counts * np.add.reduceat(np.abs(rest) + np.abs(errors), starts)
    return Sums(high, low, terms, error)


def _two_sum(a: Vector, b: Vector) -> tuple[Vector, Vector]:
    """Return the rounded sum and its error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a: Vector, b: Vector) -> tuple[Vector, Vector]:
    """Return the rounded product and its error; 0 in the place of an error that is no number."""
    p = a * b
    c, d = SPLIT * a, SPLIT * b
    a1, b1 = c - (c - a), d - (d - b)
    a2, b2 = a - a1, b - b1
    error = ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2
    return p, np.where(np.isfinite(error), error, 0.0)
