"""From the content of a file to a data set: the labels -1 and +1, and the treatment of missing values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fsopt.data.dataset import Dataset
from fsopt.errors import DataError
from fsopt.typing import Matrix, Vector

NO_VALUE = frozenset({"", "?", "nan"})
"""Texts of a missing value, in lower case."""


@dataclass(frozen=True)
class Table:
    """The raw content of a data file.

    Attributes
    ----------
    X : (n, p) numbers, NaN for a missing value.
    labels : n texts, one of NO_VALUE for a missing label.
    features : p names; None if the format has none.
    """

    X: Matrix
    labels: list[str]
    features: list[str] | None


def is_missing(text: str) -> bool:
    """Return whether a cell is a missing value."""
    return text.strip().lower() in NO_VALUE


def label_texts(values: NDArray[np.generic]) -> list[str]:
    """Return the labels of an array as texts, whole numbers without a decimal point."""
    return [str(value).removesuffix(".0") for value in values.tolist()]


def map_labels(texts: Sequence[str]) -> tuple[Vector, tuple[str, str]]:
    """Map two different labels to -1 and +1.

    Two numbers are compared as numbers and two other texts alphabetically; the larger one is +1. So 1 of
    {0, 1}, 2 of {1, 2}, 1 of {-1, 1} and "malignant" of {"benign", "malignant"} are +1.

    Parameters
    ----------
    texts : n labels

    Returns
    -------
    y : (n,) array in {-1, +1}
    labels : (str, str)
        The original texts of -1 and +1, each in its first spelling (1 and 1.0 are the same number).

    Raises
    ------
    DataError
        If there are not exactly two different labels.
    """
    distinct = list(dict.fromkeys(texts))
    try:
        order = {text: float(text) for text in distinct}
    except ValueError:
        order = {text: float(place) for place, text in enumerate(sorted(distinct))}
    values = sorted(set(order.values()))
    if len(values) != 2:
        shown = ", ".join(f"'{text}'" for text in distinct[:6]) + (", ..." if len(distinct) > 6 else "")
        raise DataError(
            f"the label must have exactly two different values, {len(values)} found: {shown}",
            "choose a two-valued column with --label NAME, or keep the rows of two classes",
        )
    first = {order[text]: text for text in reversed(distinct)}
    y = np.array([1.0 if order[text] == values[1] else -1.0 for text in texts])
    return y, (first[values[0]], first[values[1]])


def to_dataset(table: Table, name: str, missing: str | None) -> Dataset:
    """Return the data set of a table: missing values are treated, labels mapped, and the result validated.

    Parameters
    ----------
    table : Table
    name : str
        Name of the data set.
    missing : {"drop", "mean"}, optional
        The treatment of missing values, see :func:`fsopt.load_dataset`; None makes them an error.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        If a value or label is missing and not treated, or the rest is not a valid two-class data set.
    """
    X, texts = table.X, table.labels
    unlabelled = np.array([is_missing(text) for text in texts], dtype=bool)
    if unlabelled.size != len(X):
        raise DataError(f"there are {len(texts)} labels for {len(X)} rows", "give one label per row")
    if missing == "drop":
        keep = ~(np.isnan(X).any(axis=1) | unlabelled)
        if not keep.any():
            raise DataError(f"every one of the {len(X)} rows has a missing value", "use --missing mean")
        X, texts = X[keep], [text for text, complete in zip(texts, keep, strict=True) if complete]
    elif unlabelled.any():
        first = int(np.argmax(unlabelled)) + 1
        raise DataError(
            f"{int(unlabelled.sum())} rows have no label, the first is row {first}",
            "use --missing drop (missing='drop' of load_dataset); a label cannot be filled with a mean",
        )
    if missing == "mean":
        X = _fill(X, table.features)
    y, labels = map_labels(texts)
    return Dataset(X, y, table.features, name=name, labels=labels)


def _fill(X: Matrix, features: list[str] | None) -> Matrix:
    absent = np.isnan(X)
    empty = np.flatnonzero(absent.all(axis=0))
    if empty.size:
        names = ", ".join(f"'{features[j]}'" if features else f"{j + 1}" for j in empty)
        raise DataError(f"column {names} has no value at all, so no mean", "remove the column from the file")
    with np.errstate(invalid="ignore", over="ignore"):  # infinite values are reported by Dataset
        means = np.where(absent, 0.0, X).sum(axis=0) / (~absent).sum(axis=0)
    return np.where(absent, means, X)
