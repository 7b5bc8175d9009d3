"""The data set for all models, methods and estimators: validated once, then frozen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fsopt.arguments import TEXT, Kind, checked
from fsopt.errors import DataError, ParameterError, shown
from fsopt.typing import Indices, Matrix, Vector


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Dataset:
    """A two-class data set with named features.

    Parameters
    ----------
    X : (n, p) array of finite numbers
        One sample per row. Copied to C-contiguous float64 and made read-only.
    y : (n,) array in {-1, +1}
        Labels, +1 for the condition one looks for. Copied to float64 and made read-only.
    features : sequence of p different names, optional
        Their names; ``x1 .. xp`` if not given.
    name : str
        Name of the data set in reports.
    labels : (str, str), optional
        Original texts of the labels -1 and +1, in this order: ``("benign", "malignant")``.

    Raises
    ------
    DataError
        If `X` is not a matrix of finite numbers with at least one sample and one feature, if `y` does not hold
        -1 or +1 for each sample or holds one class only, or if the names are not p different non-empty texts.

    Notes
    -----
    A constant feature is not an error (see :attr:`constant`). Copies and pickles are read-only as well.
    """

    X: Matrix
    y: Vector
    features: tuple[str, ...]
    name: str
    labels: tuple[str, str]

    @checked(name=TEXT)
    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        features: Sequence[str] | None = None,
        *,
        name: str = "data",
        labels: tuple[str, str] | None = None,
    ) -> None:
        matrix = as_matrix(X)
        n, p = matrix.shape
        names = tuple(f"x{j}" for j in range(1, p + 1)) if features is None else _names(features, p)
        _check_finite(matrix, names)
        self.__setstate__(
            {
                "X": matrix,
                "y": _classes(y, n),
                "features": names,
                "name": name,
                "labels": ("-1", "+1") if labels is None else _label_texts(labels),
            }
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.X.setflags(write=False)
        self.y.setflags(write=False)

    def __repr__(self) -> str:
        negative, positive = self.labels
        counts = f"+1 ({positive}): {self.positive.size}, -1 ({negative}): {self.negative.size}"
        return f"Dataset({self.name!r}, n={self.n}, p={self.p}, {counts})"

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.X)

    @property
    def p(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def positive(self) -> Indices:
        """Indices of the samples with y = +1, increasing."""
        return np.flatnonzero(self.y > 0)

    @property
    def negative(self) -> Indices:
        """Indices of the samples with y = -1, increasing."""
        return np.flatnonzero(self.y < 0)

    @property
    def constant(self) -> tuple[str, ...]:
        """Names of the features with the same value in every sample."""
        same = np.equal(self.X, self.X[0]).all(axis=0)
        return tuple(self.features[j] for j in np.flatnonzero(same))

    def rows(self, index: slice | ArrayLike) -> Dataset:
        """Return the data set of some samples, for example of one fold.

        Parameters
        ----------
        index : slice, (m,) array of integers, or (n,) array of bools
            The samples, in the order of the result; as in numpy, negative positions count from the end.

        Returns
        -------
        Dataset
            (m, p), with the same features, name and labels.

        Raises
        ------
        DataError
            If there is no sample, or the samples are of one class only.
        ParameterError
            If `index` is not a valid index of the n samples.
        """
        positions = _positions(index, self.n, "samples")
        return replace(self, X=self.X[positions], y=self.y[positions])

    def columns(self, index: slice | ArrayLike) -> Dataset:
        """Return the data set of some features, for example of the selected ones.

        Parameters
        ----------
        index : slice, (m,) array of integers, or (p,) array of bools
            The features, in the order of the result; as in numpy, negative positions count from the end.

        Returns
        -------
        Dataset
            (n, m), with the same samples, name and labels.

        Raises
        ------
        DataError
            If there is no feature, or one occurs twice.
        ParameterError
            If `index` is not a valid index of the p features.
        """
        positions = _positions(index, self.p, "features")
        return replace(self, X=self.X[:, positions], features=tuple(self.features[j] for j in positions))

    def with_X(self, X: ArrayLike) -> Dataset:
        """Return the data set with other values of the same features, for example scaled ones.

        Parameters
        ----------
        X : (n, p) array of finite numbers

        Returns
        -------
        Dataset
            With the same y, features, name and labels.

        Raises
        ------
        DataError
            If `X` is not an (n, p) matrix of finite numbers.
        """
        return Dataset(X, self.y, self.features, name=self.name, labels=self.labels)


def check_features(data: Dataset, other: Dataset, what: str) -> None:
    """Refuse a second data set, such as that for tests, with another number of features than the first."""
    if data.p != other.p:
        raise DataError(
            f"the {what} data have {other.p} features, the training data {data.p}", "give the same features"
        )


DATASET = Kind(
    "a Dataset",
    lambda value: isinstance(value, Dataset),
    "make one with fsopt.Dataset(X, y) or fsopt.load_dataset(path)",
)


def as_matrix(X: ArrayLike) -> Matrix:
    """Return a C-contiguous float copy of a two-dimensional array of numbers, which may hold NaN.

    Raises
    ------
    DataError
        If `X` is not two-dimensional, not numeric, or has no sample or no feature, or values of it are masked.
    """
    hint = "pass a dense array of numbers with one sample per row and one feature per column"
    values = _array(X, "X", "is not a matrix, its rows differ in length", hint)
    if values.dtype.kind not in "biuf":
        raise DataError(f"X is not numeric, its values are of type {values.dtype}", hint)
    if values.ndim != 2:
        raise DataError(f"X must be two-dimensional (samples, features), its shape is {values.shape}", hint)
    if 0 in values.shape:
        raise DataError(f"X needs at least one sample and one feature, its shape is {values.shape}", hint)
    with np.errstate(over="ignore"):  # a long double may be infinite as a double, and is reported as that
        return np.array(values, dtype=np.float64, order="C")


def _array(given: ArrayLike, name: str, fault: str, hint: str) -> NDArray[Any]:
    """Return an argument as an array; a masked value, which numpy would unmask, is an error."""
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        count = int(np.ma.getmaskarray(given).sum())
        raise DataError(
            f"{name} has {count} masked values", f"fill them ({name}.filled(...)) or leave out their samples"
        )
    try:
        return np.asarray(given)
    except Exception as error:  # of numpy, or of the object's own conversion, which may raise anything
        raise DataError(f"{name} {fault} ({error})", hint) from error


def _names(features: Sequence[str], p: int) -> tuple[str, ...]:
    if isinstance(features, str):
        raise DataError("features is one text, not a list of names", "pass one name per feature")
    try:
        names = tuple(str(name) for name in features)
    except Exception as error:  # of whatever is no list
        raise DataError(f"features is {shown(features)}, not a list of names", "pass one name per feature") from error
    if len(names) != p:
        raise DataError(f"there are {len(names)} names for {p} features", "give one name per feature")
    empty = [str(j) for j, name in enumerate(names, start=1) if not name.strip()]
    if empty:
        raise DataError(f"the name of feature {', '.join(empty)} is empty", "give every feature a name")
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(f"duplicate feature names: {', '.join(repeated)}", "give every feature its own name")
    return names


def _check_finite(X: Matrix, names: tuple[str, ...]) -> None:
    bad = ~np.isfinite(X)
    if not bad.any():
        return
    i, j = np.argwhere(bad)[0]
    count = int(bad.sum())
    values = "1 value that is not finite" if count == 1 else f"{count} values that are not finite, the first"
    raise DataError(
        f"X has {values} in row {i + 1}, column '{names[j]}' ({X[i, j]})",
        "if values are missing use --missing drop|mean (missing= of load_dataset); remove infinite values",
    )


def _classes(y: ArrayLike, n: int) -> Vector:
    hint = "y holds -1 or +1 for each sample; load_dataset maps other pairs of labels"
    values = _array(y, "y", "is not a vector", hint)
    if values.shape != (n,):
        raise DataError(f"y has shape {values.shape}, expected ({n},) for the {n} samples", hint)
    if values.dtype.kind not in "iuf":
        raise DataError(f"y is not numeric, its values are of type {values.dtype}", hint)
    found = np.unique(values).tolist()
    wrong = [value for value in found if value not in (-1, 1)]
    if wrong:
        shown = ", ".join(map(str, wrong[:5])) + (", ..." if len(wrong) > 5 else "")
        raise DataError(f"y has labels other than -1 and +1: {shown}", hint)
    if len(found) == 1:
        raise DataError(
            f"only one class is present, all {n} labels are {found[0]:+g}",
            "use samples of both classes (stratified folds, more samples, or another seed)",
        )
    return values.astype(np.float64)


def _label_texts(labels: tuple[str, str]) -> tuple[str, str]:
    listed = isinstance(labels, Sequence) and not isinstance(labels, str)
    if not listed or len(labels) != 2 or str(labels[0]) == str(labels[1]):
        raise DataError(f"labels is {shown(labels)}", "give two different texts, of -1 and of +1, in this order")
    return str(labels[0]), str(labels[1])


def _positions(index: slice | ArrayLike, size: int, what: str) -> Indices:
    try:
        valid = index if isinstance(index, slice) else np.asarray(index)
        if isinstance(valid, np.ndarray) and valid.size == 0:
            valid = slice(0)  # an empty list becomes an array of floats, which is no index
        positions = np.arange(size)[valid]
    except Exception as error:  # of numpy, or of the object's own conversion
        raise ParameterError(
            f"these are not {what} of the data set: {error}", f"use 0..{size - 1}, a mask or a slice"
        ) from error
    if positions.ndim != 1:
        raise ParameterError(f"one list of {what} is needed, got {shown(index)}", "use a list, a mask or a slice")
    return positions
