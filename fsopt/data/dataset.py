"""The data set for all models, methods and estimators: validated once, then frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fsopt.common.arguments import TEXT, Argument, checked
from fsopt.data.encoding import Encoded, Encoding, is_frame
from fsopt.data.matrices import equal_columns, freeze, identifying_columns, is_sparse
from fsopt.data.validation import (
    as_matrix,
    check_index,
    check_values,
    classes_of,
    names_of,
    positions_of,
    weights_of,
)
from fsopt.data.weights import weights_of_samples
from fsopt.errors import DataError
from fsopt.typing import Indices, Matrix, Vector


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Dataset:
    """A two-class data set with named features.

    A constant feature is no error (see :attr:`constant`). Copies and pickles are read-only as well.

    Parameters
    ----------
    X : (n, p) array, DataFrame, or sparse matrix or array of scipy.sparse, of finite numbers
        One sample per row. Copied to float64, C-contiguous or a ``csr_array``, and made read-only.
    y : (n,) array of two labels
        -1 and +1, +1 for the condition one looks for; or two others, the larger number, the text that is a usual one
        of +1 (:data:`fsopt.data.validation.USUAL_POSITIVES`), or the second one of `labels` being +1. Held as float64
        and made read-only.
    features : sequence of p different names, optional
        Their names; if not given, those of the columns of a DataFrame, or ``x1 .. xp``.
    name : str
        Name of the data set in reports.
    labels : (str, str), optional
        Texts of the labels -1 and +1, in this order: ``("benign", "malignant")``.
    weights : (n,) array of positive numbers, optional
        Weights of the samples in the losses of models and in statistics; a whole number counts as so many equal
        samples. Copied and made read-only. None for equal weights, see :meth:`weighted`.
    encoded : Encoded, optional
        The columns of a table that the features were made of, and the map from them, see :func:`fsopt.load_dataset`.

    Raises
    ------
    DataError
        If `X` is not a matrix of finite numbers with at least one sample and one feature, `y` does not hold two
        labels, or the names are not p different non-empty texts.
    """

    X: Matrix
    y: Vector
    features: tuple[str, ...]
    name: str
    labels: tuple[str, str]
    weights: Vector | None = None
    encoded: Encoded | None = None

    @checked(name=TEXT)
    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        features: Sequence[str] | None = None,
        *,
        name: str = "data",
        labels: tuple[str, str] | None = None,
        weights: ArrayLike | None = None,
        encoded: Encoded | None = None,
    ) -> None:
        check_index(X, y)
        matrix = as_matrix(X)
        n, p = matrix.shape
        if features is None and is_frame(X):
            features = [str(name) for name in X.columns]
        names = tuple(f"x{j}" for j in range(1, p + 1)) if features is None else names_of(features, p)
        check_values(matrix, names)
        classes, texts = classes_of(y, n, labels)
        self.__setstate__(
            {
                "X": matrix,
                "y": classes,
                "features": names,
                "name": name,
                "labels": texts,
                "weights": None if weights is None else weights_of(weights, n),
                "encoded": encoded,
            }
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        freeze(self.X)
        self.y.setflags(write=False)
        if self.weights is not None:
            self.weights.setflags(write=False)

    def weighted(
        self, class_weight: str | Mapping[str | int, float] | None = None, sample_weight: ArrayLike | None = None
    ) -> Dataset:
        r"""Return the data set with weights of the samples, in place of those that it has.

        Parameters
        ----------
        class_weight : ``"balanced"`` gives each class the same total, :math:`n / (2 n_\pm)`; a mapping has a positive
            weight for each label, by its text or by -1 and +1. It multiplies ``sample_weight``, and counts of
            ``"balanced"`` are sums of these.
        sample_weight : (n,) numbers >= 0; samples of weight 0 are left out.

        Raises
        ------
        DataError : weights of another number or sign, or only one class with a positive weight.
        ParameterError : a class weight of another kind.
        """
        equal = replace(self, weights=None)
        if sample_weight is None:
            return replace(equal, weights=weights_of_samples(self.y, self.labels, class_weight, None))
        given = weights_of(sample_weight, self.n, zeros=True)
        chosen = equal if given.all() else equal.rows(np.flatnonzero(given))
        return replace(chosen, weights=weights_of_samples(chosen.y, self.labels, class_weight, given[given > 0]))

    def __repr__(self) -> str:
        negative, positive = self.labels
        counts = f"+1 ({positive}): {self.positive.size}, -1 ({negative}): {self.negative.size}"
        stored = f", nonzeros={self.X.nnz}" if self.sparse else ""  # type: ignore[attr-defined]
        return f"Dataset({self.name!r}, n={self.n}, p={self.p}{stored}, {counts})"

    @property
    def sparse(self) -> bool:
        """Whether X is a sparse matrix; methods without sparse arithmetic refuse it."""
        return is_sparse(self.X)

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.X.shape[0])

    @property
    def p(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def total(self) -> float:
        """Sum of the weights of the samples; n for equal weights."""
        return float(self.n) if self.weights is None else float(self.weights.sum())

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
        return tuple(self.features[j] for j in np.flatnonzero(equal_columns(self.X)))

    @property
    def identifiers(self) -> tuple[str, ...]:
        """Names of the features with a different whole number in every one of 30 samples and more."""
        return tuple(self.features[j] for j in identifying_columns(self.X)) if self.n >= 30 else ()

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
        DataError : if there is no sample, or the samples are of one class only.
        ParameterError : if `index` is not a valid index of the n samples.
        """
        positions = positions_of(index, self.n, "samples")
        return replace(
            self,
            X=self.X[positions],
            y=self.y[positions],
            weights=None if self.weights is None else self.weights[positions],
            encoded=None if self.encoded is None else self.encoded.rows(positions),
        )

    def encoded_by(self, encoding: Encoding) -> Dataset:
        """Return the data set with the features that another encoding makes of its columns."""
        if self.encoded is None:
            raise DataError("the data set has no columns of a table", "load it with onehot or missing")
        source = self.encoded.source
        return replace(self, X=encoding.matrix(source), features=encoding.features, encoded=Encoded(encoding, source))

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
        DataError : if there is no feature, or one occurs twice.
        ParameterError : if `index` is not a valid index of the p features.
        """
        positions = positions_of(index, self.p, "features")
        return replace(self, X=self.X[:, positions], features=tuple(self.features[j] for j in positions), encoded=None)

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
        DataError : if `X` is not an (n, p) matrix of finite numbers.
        """
        return Dataset(X, self.y, self.features, name=self.name, labels=self.labels, weights=self.weights)


DATASET = Argument(
    "a Dataset",
    lambda value: isinstance(value, Dataset),
    "make one with fsopt.Dataset(X, y) or fsopt.load_dataset(path)",
)
