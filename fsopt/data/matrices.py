"""Matrices of samples, dense or sparse: their canonical form, statistics of their columns, and their scaling.

A sparse matrix is a ``scipy.sparse.csr_array`` in canonical form. Nothing here makes one dense.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsopt.errors import DataError, foreign
from fsopt.typing import Mask, Matrix, Vector

CONSTANT = 1e-12
"""Standard deviation, relative to the largest value, up to which a feature is constant: that of rounding is 1e-16."""
SMALL = 5_000_000
"""Entries up to which a sparse file becomes a dense matrix, 40 MB, which every method takes."""
FEW = 0.1
"""Share of nonzeros from which a matrix takes more memory and time as a sparse one."""
BLOCK = 1 << 22
"""Entries of a block of features or samples that are worked on together."""
MATRIX_HINT = "pass a matrix of numbers with one sample per row and one feature per column"


def is_sparse(X: Any) -> bool:
    """Return whether a value is a matrix or array of scipy.sparse, without an import of it."""
    return hasattr(X, "nnz") and hasattr(X, "tocsr")


def stays_sparse(X: Any) -> bool:
    """Return whether a sparse matrix of a file is large and has few nonzeros; others are made dense."""
    entries = X.shape[0] * X.shape[1]
    return bool(entries > SMALL and X.nnz < FEW * entries)


def refuse_sparse(what: str, X: Any, able: str = "") -> None:
    """Raise DataError for a sparse X where ``what`` needs a dense one, with the memory that this would take."""
    if is_sparse(X):
        n, p = X.shape
        raise DataError(
            f"{what} needs dense data: {n} x {p} numbers would take {8e-9 * n * p:.2g} GB",
            f"{able}make them dense with Dataset(X.toarray(), y)",
        )


def refuse_others(X: Any) -> None:
    """Raise DataError for an array or a sparse matrix that has no numbers, not two dimensions, or nothing in one."""
    if X.dtype.kind not in "biuf":
        raise DataError(f"X is not numeric, its values are of type {X.dtype}", MATRIX_HINT)
    if X.ndim != 2 or 0 in X.shape:
        raise DataError(
            f"X needs at least one sample and one feature, in two dimensions; its shape is {X.shape}", MATRIX_HINT
        )


def canonical(X: Any) -> Any:
    """Return a copy of a sparse matrix as rows of doubles in the one form that equal content has, or DataError."""
    from scipy.sparse import csr_array

    refuse_others(X)
    # A long double may be infinite as a double, and is reported as that.
    with foreign("scipy", "X is no valid sparse matrix", MATRIX_HINT, DataError), np.errstate(over="ignore"):
        matrix = csr_array(X, dtype=np.float64, copy=True)
        matrix.check_format(full_check=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def parts_of(X: Any) -> list[Any]:
    """Return the arrays that hold a matrix."""
    return [X.indptr, X.indices, X.data] if is_sparse(X) else [X]


def exact_sums(X: Matrix, weights: Vector | None = None) -> Vector:
    """Return the sums (p,) of the columns of a matrix, of products with weights (n,) where there are some."""
    # Rounded once: the same on every processor, in any order of the rows. No program of larger data is proved exactly.
    terms = X if weights is None else X * weights[:, None]
    if is_sparse(terms) or terms.size > SMALL:
        return np.asarray(terms.sum(axis=0))
    return np.array([_sum(column.tolist()) for column in terms.T])


def _sum(values: list[float]) -> float:
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):  # of numbers whose sum is no double, or infinite
        return float(np.sum(values))


def column_means(X: Any, weights: Vector | None = None) -> Vector:
    """Return the means (p,) of the columns, by weights (n,) of the rows where there are some."""
    # The mean of one value is that value: a sum would leave its rounding behind as a feature.
    means = exact_sums(X, weights) / (X.shape[0] if weights is None else math.fsum(weights))
    return means if is_sparse(X) else np.where(equal_columns(X), X[0], means)


def column_deviations(X: Any, weights: Vector | None = None) -> Vector:
    """Return the standard deviations (p,) of the columns, by weights (n,) of the rows where there are some."""
    return np.asarray(np.sqrt(column_variances(X, weights)))


def column_variances(X: Any, weights: Vector | None = None) -> Vector:
    """Return the variances (p,) of the columns, about their means, by weights (n,) of the rows where there are some."""
    mean, total = column_means(X, weights), X.shape[0] if weights is None else math.fsum(weights)
    if not is_sparse(X):
        return np.asarray(exact_sums((X - mean) ** 2, weights) / total)
    squares = _column_sums(X, (X.data - mean[X.indices]) ** 2, weights)
    zeros = np.maximum(total - _column_sums(X, np.ones(X.nnz), weights), 0.0)
    return np.asarray((squares + zeros * mean**2) / total)


def _ends(X: Any) -> tuple[Vector, Vector]:
    """Return the smallest and the largest values (p,) of the columns, NaN for one with NaN."""
    low, high = (end.toarray().ravel() if is_sparse(X) else end for end in (X.min(axis=0), X.max(axis=0)))
    return low, high


def largest_values(X: Any) -> Vector:
    """Return the largest absolute values (p,) of the columns."""
    low, high = _ends(X)
    return np.maximum(high, -low)


def apart(one: Vector, other: Vector) -> Vector:
    """Return the differences of numbers relative to the larger one of each two, 0 for equal ones, in whatever units."""
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.abs(one - other) / np.maximum(np.abs(one), np.abs(other))
    return np.where(one == other, 0.0, np.where(np.isnan(found), np.inf, found))


def constant_columns(X: Any, deviations: Vector) -> Mask:
    """Return which columns (p,), of these standard deviations, are constant up to rounding, in whatever units."""
    return np.asarray(deviations <= CONSTANT * largest_values(X))


def equal_columns(X: Any) -> Mask:
    """Return which columns (p,) have the same value in every row."""
    return np.equal(*_ends(X))


def numbers_rows(column: Vector) -> bool:
    """Return whether a column has whole numbers that rise or fall from row to row, or each of a range once."""
    whole, steps = np.array_equal(np.floor(column), column), np.diff(column)
    return bool(whole and ((steps > 0).all() or (steps < 0).all() or (np.diff(np.sort(column)) == 1).all()))


def row_norms(X: Any) -> Vector:
    """Return the norms (n,) of the rows."""
    return np.asarray(np.sqrt(exact_sums((X**2).T)))


def row_places(X: Any) -> Any:
    """Return the row of each stored number of a sparse matrix."""
    return np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))


def divided(X: Any, columns: Vector, rows: Vector) -> Any:
    """Return X with each column divided by its number in ``columns`` (p,), then each row by that in ``rows`` (n,)."""
    if not is_sparse(X):
        result = X / columns
        result /= rows[:, None]
        return result
    result = X.copy()
    result.data /= columns[X.indices]
    result.data /= rows[row_places(X)]
    return result


def _column_sums(X: Any, values: Vector, weights: Vector | None) -> Vector:
    """Return the sums (p,) of values in place of the stored numbers, times the weights of their rows."""
    if weights is not None:
        values = values * weights[row_places(X)]
    return np.asarray(np.bincount(X.indices, values, minlength=X.shape[1]), dtype=float)


@dataclass(frozen=True)
class Preprocessing:
    """The map of samples before a method: an affine map of each feature, and division by the norm if ``unit_rows``.

    A sample x (p,) becomes ``z = (x - shift) / scale``, and with ``unit_rows`` then ``z / ||z||`` (0 stays 0). Samples
    of sparse training data are not shifted, so that their zeros stay 0: ``shift`` is 0. The unpenalised intercept b
    of a hyperplane absorbs a shift, w'(x - shift) + b = w'x + (b - w'shift), so that only ``unit-rows`` makes another
    problem of it. ``kind`` is the name of the map, for example ``standard``; ``shift`` and ``scale`` are (p,) each.
    """

    kind: str
    shift: Vector
    scale: Vector

    @property
    def unit_rows(self) -> bool:
        """Whether each sample is divided by its norm after the affine map."""
        return self.kind == "unit-rows"

    def row_norms(self, X: Matrix) -> Vector:
        """Return the divisors (n,) of the samples X (n, p): all ones unless ``unit_rows``."""
        ones = np.ones(X.shape[0])
        norms = row_norms(divided(self.shifted(X), self.scale, ones)) if self.unit_rows else ones
        return np.where(norms > 0, norms, 1.0)

    def apply(self, X: Matrix) -> Matrix:
        """Return the preprocessed copy of the samples X (n, p)."""
        return divided(self.shifted(X), self.scale, self.row_norms(X))  # type: ignore[no-any-return]

    def shifted(self, X: Matrix) -> Matrix:
        """Return X - shift; raises ValueError for sparse samples of a map that shifts, which would be dense."""
        if is_sparse(X) and self.shift.any():
            raise ValueError("sparse samples are not shifted")
        return X if is_sparse(X) else X - self.shift
