"""The checks of the parts of a data set, which of its labels is +1, and the order of its features by their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fsopt.common.arguments import LIST
from fsopt.common.texts import counted
from fsopt.data.encoding import is_frame, numbers_of_frame
from fsopt.data.layout import few, is_missing, label_key, label_text, refuse_repeated
from fsopt.data.matrices import MATRIX_HINT, canonical, is_sparse, largest_values, parts_of, refuse_others
from fsopt.errors import DataError, ParameterError, foreign, shown
from fsopt.typing import Indices, Matrix, Vector

LARGEST = 1e140
"""Largest size of a value, and its inverse the smallest of the largest one of a column: variances are then numbers."""
_USUAL = "1 +1 yes ja oui si sí true positive pos case malignant cancer ill sick krank diseased disease event dead"
USUAL_POSITIVES = frozenset(_USUAL.split())
"""Labels that are +1 beside another one, in lower case."""


def as_matrix(X: ArrayLike) -> Matrix:
    """Return a C-contiguous float copy of a matrix of numbers, which may hold NaN, sparse if it is; or DataError."""
    if is_frame(X):
        X = numbers_of_frame(X)
    if is_sparse(X):
        return canonical(X)  # type: ignore[no-any-return]
    values = _array(X, "X", "is not a matrix, its rows differ in length", MATRIX_HINT)
    refuse_others(values)
    with np.errstate(over="ignore"):  # a long double may be infinite as a double, and is reported as that
        return np.array(values, dtype=np.float64, order="C")


def refuse_masked(given: Any, name: str) -> None:
    """Raise DataError for an array with masked values, which numpy would unmask."""
    if np.ma.is_masked(given):
        raise DataError(f"{name} has masked values", f"fill them ({name}.filled(...)) or leave out their samples")


def _array(given: ArrayLike, name: str, fault: str, hint: str) -> NDArray[Any]:
    """Return an argument as an array; raises DataError for masked values, and for what is no array."""
    refuse_masked(given, name)
    with foreign("numpy", f"{name} {fault}", hint, DataError, passed=()):
        return np.asarray(given)


def check_index(X: Any, y: Any) -> None:
    """Raise DataError for the index of a DataFrame of as many samples that is not that of its labels."""
    if hasattr(X, "iloc") and hasattr(y, "iloc") and len(X) == len(y) and not X.index.equals(y.index):
        raise DataError("X and y differ in their index", "give y.loc[X.index], or y.to_numpy() for its order as it is")


def names_of(features: Sequence[str], p: int) -> tuple[str, ...]:
    """Return the names of p features as texts; raises DataError unless they are p different ones."""
    hint = "give one name per feature"
    if not LIST.holds(features):
        raise DataError(f"features is {shown(features)}, not a list of names", hint)
    names = tuple(map(str, features))
    if len(names) != p:
        raise DataError(f"there are {len(names)} names for {counted(p, 'feature')}", hint)
    if not all(map(str.strip, names)):
        raise DataError("a feature has an empty name", hint)
    refuse_repeated(names, "feature")
    return names


def check_finite(X: Any, names: Sequence[str], hint: str) -> None:
    """Raise DataError that names the first place of X (n, p) whose value is not finite."""
    held = parts_of(X)[-1].ravel()
    wrong = np.flatnonzero(~np.isfinite(held))
    if len(wrong):
        k, values = int(wrong[0]), held[wrong]
        i, j = (np.searchsorted(X.indptr, k, side="right") - 1, X.indices[k]) if is_sparse(X) else divmod(k, X.shape[1])
        what = counted(len(wrong), "missing value" if np.isnan(values).all() else "infinite or missing value")
        raise DataError(f"X has {what}, first in row {i + 1}, column '{names[j]}' ({values[0]})", hint)


def check_values(X: Matrix, names: tuple[str, ...]) -> None:
    """Raise DataError that names the first column of X (n, p) with a value that is not finite, or without squares."""
    largest = largest_values(X)
    if not np.isfinite(largest).all():
        hint = "missing= (drop, mean, median) treats missing values where data are loaded"
        check_finite(X, names, f"{hint}; remove infinite ones")
    bad = np.flatnonzero((largest > LARGEST) | ((largest < 1.0 / LARGEST) & (largest > 0.0)))
    if len(bad):
        j = int(bad[0])
        raise DataError(
            f"column '{names[j]}' has a value of size {largest[j]:.2g}, its largest: numbers beyond {LARGEST:g}, and "
            f"below {1 / LARGEST:g}, have no squares",
            "multiply it by a power of ten, or replace the value where it is a mark of a missing one",
        )


def classes_of(y: ArrayLike, n: int, labels: tuple[str, str] | None = None) -> tuple[Vector, tuple[str, str]]:
    """Return the classes (n,), -1 and +1 as floats, and the texts of both, see :class:`fsopt.Dataset`; or DataError."""
    hint = "y holds a label for each sample, -1 or +1, or two other numbers or texts"
    if labels is not None and (not LIST.holds(labels) or len(labels) != 2 or str(labels[0]) == str(labels[1])):
        raise DataError(f"labels is {shown(labels)}", "give two different texts, of -1 and of +1, in this order")
    texts = labels and (str(labels[0]), str(labels[1]))
    values = _array(y, "y", "is not a vector", hint)
    if values.shape != (n,):
        raise DataError(f"y has shape {values.shape}, expected ({n},) for the {n} samples", hint)
    if values.dtype.kind in "iuf" and np.isin(values, (-1, 1)).all() and np.ptp(values):
        return values.astype(np.float64), texts or ("-1", "+1")
    listed = values.tolist()
    for value in listed:
        if not isinstance(value, str | bool | int | float) or is_missing(str(value)):
            raise DataError(f"y has a value that is no label: {shown(value)}", hint)
    names = [label_text(value) for value in listed]
    classes, own = map_labels(names, texts[1:] if texts and set(texts) == set(names) else ())
    return classes, texts or own


def weights_of(weights: ArrayLike, n: int, *, zeros: bool = False) -> Vector:
    """Return the weights (n,) as floats; raises DataError unless they are positive; ``zeros`` may be among them."""
    hint = "give a positive number for each sample; Dataset.weighted leaves out samples of weight zero"
    name = "sample_weight" if zeros else "weights"
    values = _array(weights, name, "is not a vector", hint)
    used = values[values != 0] if zeros and values.shape == (n,) else values
    fits = values.shape == (n,) and values.dtype.kind in "biuf" and len(used) > 0
    if not (fits and (used >= 1.0 / LARGEST).all() and (used <= LARGEST).all()):
        raise DataError(f"{name} is no vector of {n} numbers from {1.0 / LARGEST:g} to {LARGEST:g}", hint)
    return values.astype(np.float64)


def positions_of(index: slice | ArrayLike, size: int, what: str) -> Indices:
    """Return the places in 0..size-1 that an index means; raises ParameterError for one that is none."""
    hint = f"use 0..{size - 1}, a mask or a slice"
    with foreign("numpy", f"these are not {what} of the data set", hint, ParameterError, passed=()):
        return np.ravel(np.arange(size)[index if isinstance(index, slice) else np.asarray(index)])


def map_labels(texts: Sequence[str], positive: Sequence[str] = ()) -> tuple[Vector, tuple[str, str]]:
    """Return labels as -1 and +1 (n,), the ``positive`` ones against the rest, and the texts of both; or DataError."""
    # Each in its first spelling: 1 and 1.0 are one number.
    first = {label_key(text): text for text in reversed(list(dict.fromkeys(texts)))}
    asked = {label_key(text): text for text in positive}
    listed = few([*first.values()][::-1], shown)
    absent = [text for key, text in asked.items() if key not in first]
    if absent:
        raise DataError(f"no sample has the label {shown(absent[0])}", f"choose the positive class among {listed}")
    if not asked:
        asked = {_usual(first, listed): ""}
    rest = [text for key, text in reversed(first.items()) if key not in asked]
    if not rest:
        raise DataError("every label is positive, no sample would be -1", "choose fewer positive classes")
    name = "|".join(first[key] for key in asked)
    keys = {text: label_key(text) for text in set(texts)}
    y = np.array([1.0 if keys[text] in asked else -1.0 for text in texts])
    return y, (rest[0] if len(rest) == 1 else f"not {name}", name)


def _usual(first: dict[float | str, str], listed: str) -> float | str:
    """Return which of the labels, by their keys, is +1 where nothing is said of it."""
    keys = list(first)
    if len(keys) != 2:
        many = "positive= makes one of them (or several) +1 and the rest -1; or make two classes, as in y == 'ill'"
        remedy = many if keys[2:] else "give samples of both classes: a larger part, another seed, or another target="
        raise DataError(f"the label must have exactly two different values, {len(keys)} found: {listed}", remedy)
    numbers = [key for key in keys if isinstance(key, float)]
    if len(numbers) == 2:
        return max(numbers)
    usual = [key for key in keys if first[key].casefold() in USUAL_POSITIVES]
    if len(usual) != 1:
        hint = "name the one that is with positive= of a table, or labels=(text of -1, text of +1)"
        raise DataError(f"the labels are {listed}, and either may be +1", hint)
    return usual[0]


def places_by_name(features: Sequence[str]) -> Indices:
    """Return the place (p,) of each feature in the order of names, x2 before x10; columns have theirs by accident."""
    return np.argsort(sorted(range(len(features)), key=lambda j: (len(features[j]), features[j])))
