"""From the content of a file to a data set: the labels -1 and +1, and the treatment of missing values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fsopt.data.tables.source import Source
from fsopt.errors import DataError
from fsopt.typing import Indices, Matrix, Vector


@dataclass(frozen=True)
class Table:
    """The raw content of a data file.

    Attributes
    ----------
    X : (n, p) numbers, NaN for a missing value; sparse, or without a column where there is a ``source``.
    labels : n texts, one of NO_VALUE for a missing label.
    features : p names; None if the format has none.
    source : the columns of the features, where not all of them are plain numbers.
    ids : the names of the samples, from a column of their own.
    weights : (n,) weights of the samples, from a column of their own.
    places : n texts that tell a row in messages; ``row 1`` and so on where there are none.
    read_as : the spelling of the file that was found, where it is not the one that its suffix stands for.
    """

    X: Matrix
    labels: list[str]
    features: list[str] | None
    source: Source | None = None
    ids: list[str] | None = None
    weights: Vector | None = None
    places: list[str] | None = None
    read_as: str = ""

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def rows(self, positions: Indices) -> Table:
        """Return the content of some rows."""
        return replace(
            self,
            X=self.X[positions],
            source=None if self.source is None else self.source.rows(positions),
            weights=None if self.weights is None else self.weights[positions],
            labels=[self.labels[i] for i in positions],
            ids=None if self.ids is None else [self.ids[i] for i in positions],
            places=None if self.places is None else [self.places[i] for i in positions],
        )


def label_texts(values: NDArray[np.generic]) -> list[str]:
    """Return the labels of an array as texts, whole numbers without a decimal point."""
    return [str(value).removesuffix(".0") for value in values.tolist()]


def map_labels(texts: Sequence[str], positive: Sequence[str] = ()) -> tuple[Vector, tuple[str, str]]:
    """Map labels to -1 and +1.

    Two numbers are compared as numbers and two other texts alphabetically; the larger one is +1. So 1 of
    {0, 1}, 2 of {1, 2}, 1 of {-1, 1} and "malignant" of {"benign", "malignant"} are +1.

    Parameters
    ----------
    texts : n labels
    positive : the labels that are +1, against all others; by default one of two different labels, as above.

    Returns
    -------
    y : (n,) array in {-1, +1}
    labels : (str, str)
        The original texts of -1 and +1, each in its first spelling (1 and 1.0 are the same number).

    Raises
    ------
    DataError
        If there are not exactly two different labels, or a positive one does not occur.
    """
    distinct = list(dict.fromkeys(texts))
    if positive:
        return _one_versus_rest(texts, distinct, positive)
    try:
        order = {text: float(text) for text in distinct}
    except ValueError:
        order = {text: float(place) for place, text in enumerate(sorted(distinct))}
    values = sorted(set(order.values()))
    if len(values) != 2:
        shown = ", ".join(f"'{text}'" for text in distinct[:6]) + (", ..." if len(distinct) > 6 else "")
        of_several = "positive= makes one of them (or several) +1 and the rest -1"
        remedy = "give samples of both classes" if len(values) < 2 else of_several
        raise DataError(
            f"the label must have exactly two different values, {len(values)} found: {shown}",
            f"{remedy}; or choose a two-valued column with target=",
        )
    first = {order[text]: text for text in reversed(distinct)}
    y = np.array([1.0 if order[text] == values[1] else -1.0 for text in texts])
    return y, (first[values[0]], first[values[1]])


def _one_versus_rest(
    texts: Sequence[str], distinct: Sequence[str], positive: Sequence[str]
) -> tuple[Vector, tuple[str, str]]:
    """Return the labels of classes that are +1 against the rest, and the texts of both."""
    same = {text: _key(text) for text in distinct}
    asked = {_key(text): text for text in positive}
    absent = [text for key, text in asked.items() if key not in same.values()]
    if absent:
        shown = ", ".join(f"'{text}'" for text in distinct[:6]) + (", ..." if len(distinct) > 6 else "")
        raise DataError(f"no sample has the label '{absent[0]}'", f"choose the positive class among {shown}")
    rest = list({key: text for text, key in reversed(same.items()) if key not in asked}.values())
    if not rest:
        raise DataError("every label is positive, no sample would be -1", "choose fewer positive classes")
    first = {key: text for text, key in reversed(same.items())}
    name = "|".join(first[key] for key in asked)
    y = np.array([1.0 if same[text] in asked else -1.0 for text in texts])
    return y, (rest[0] if len(rest) == 1 else f"not {name}", name)


def same_label(first: str, second: str) -> bool:
    """Return whether two texts are the same label: 1 and 1.0 are."""
    return _key(first) == _key(second)


def _key(text: str) -> float | str:
    """Return a label to be compared: 1 and 1.0 are the same."""
    try:
        return float(text)
    except ValueError:
        return text
