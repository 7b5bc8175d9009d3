"""Several classes by several classifiers of two: one against the rest, or one against one (Yang & Ju, section 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fsopt.arguments import word
from fsopt.data import Dataset
from fsopt.data.validation import as_matrix
from fsopt.errors import DataError
from fsopt.methods.registry import fit
from fsopt.results import Fit

SCHEMES = ("rest", "pairs")


@dataclass(frozen=True)
class MulticlassFit:
    """Classifiers of two classes that vote.

    Attributes
    ----------
    classes : names of the classes, sorted.
    fits : (class, None) -> the fit of that class against the rest, or (class, other class) -> the fit of the pair; the
        first class has the label +1.
    """

    classes: tuple[str, ...]
    fits: Mapping[tuple[str, str | None], Fit]

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features that one of the classifiers selects, in the order of the data."""
        places = {j: name for one in self.fits.values() for j, name in zip(one.support, one.features, strict=True)}
        return tuple(places[j] for j in sorted(places))

    def predict(self, X: ArrayLike) -> NDArray[np.str_]:
        """Return the classes (n,): the largest score against the rest, or most votes; ties go to the first class."""
        matrix = as_matrix(X)
        votes = np.zeros((len(matrix), len(self.classes)))
        for (first, second), one in self.fits.items():
            scores = one.decision_function(matrix)
            if second is None:
                votes[:, self.classes.index(first)] = scores
                continue
            votes[:, self.classes.index(first)] += scores > 0
            votes[:, self.classes.index(second)] += scores <= 0
        named: NDArray[np.str_] = np.array(self.classes)[votes.argmax(axis=1)]
        return named


def fit_multiclass(
    method: str,
    X: ArrayLike,
    labels: Sequence[Any],
    *,
    scheme: str = "rest",
    features: Sequence[str] | None = None,
    **params: Any,
) -> MulticlassFit:
    """Fit a method to more than two classes.

    Parameters
    ----------
    method : registry name.
    X : (n, p) samples.
    labels : (n,) names or numbers of the classes; at least two different ones.
    scheme : ``rest``: one classifier for each class against all others; ``pairs``: one for each pair of classes.
    features : (p,) names.
    params : keywords of :func:`fsopt.fit`.

    Raises
    ------
    DataError : fewer than two classes, or another number of labels than samples.
    UnknownNameError, ParameterError, InfeasibleError, SolverError : as in :func:`fsopt.fit`.

    Notes
    -----
    Yang & Ju, section 5: "standard techniques", which the paper does not use itself.
    """
    word("scheme", scheme, SCHEMES)
    matrix, named = as_matrix(X), np.array([str(label) for label in labels])
    classes = tuple(sorted(set(named.tolist())))
    if len(classes) < 2 or len(named) != len(matrix):
        raise DataError(
            f"there are {len(named)} labels of {len(classes)} classes for {len(matrix)} samples",
            "give one label for each sample, of two classes at least",
        )
    tasks: list[tuple[str, str | None]] = [(name, None) for name in classes]
    if scheme == "pairs":
        tasks = list(combinations(classes, 2))
    fits = {}
    for first, second in tasks:
        kept = np.isin(named, (first, second)) if second is not None else np.ones(len(named), dtype=bool)
        y = np.where(named[kept] == first, 1.0, -1.0)
        fits[first, second] = fit(method, Dataset(matrix[kept], y, features), **params)
    return MulticlassFit(classes, fits)
