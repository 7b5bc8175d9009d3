"""The content of a table, and from it to a data set: missing values, texts and labels are treated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fsopt.data.matrices import is_sparse, with_nan
from fsopt.data.tables.columns import is_missing, refuse_texts
from fsopt.data.tables.encoding import Encoded, Encoding
from fsopt.data.tables.layout import Layout
from fsopt.errors import DataError
from fsopt.typing import Indices, Matrix, Vector

if TYPE_CHECKING:
    from pandas import DataFrame


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
    source: DataFrame | None = None
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
        lists = {name: getattr(self, name) for name in ("labels", "ids", "places")}
        kept: dict[str, Any] = {name: one and [one[i] for i in positions] for name, one in lists.items()}
        source = None if self.source is None else self.source.iloc[positions]
        weights = None if self.weights is None else self.weights[positions]
        return replace(self, X=self.X[positions], source=source, weights=weights, **kept)

    @property
    def columns(self) -> DataFrame:
        """The columns of the features, dense ones; where they have no names, they are called ``x1 .. xp``."""
        import pandas as pd

        if self.source is not None:
            return self.source
        return pd.DataFrame(self.X, columns=self.features or [f"x{j}" for j in range(1, self.X.shape[1] + 1)])


def parts_of(table: Table, name: str, layout: Layout) -> dict[str, Any]:
    """Return the arguments of the data set of a table: missing values and texts are treated, labels mapped.

    Parameters
    ----------
    name : of the data set.
    layout : the treatment of missing values and of texts, and the positive labels.

    Raises
    ------
    DataError
        If a value or label is missing and not treated, or there are not two classes.
    """
    unlabelled = np.array([is_missing(text) for text in table.labels], dtype=bool)
    if unlabelled.size != table.n:
        raise DataError(f"there are {len(table.labels)} labels for {table.n} rows", "give one label per row")
    if layout.missing == "drop":
        table = _complete(table, unlabelled)
    elif unlabelled.any():
        raise DataError(
            f"{int(unlabelled.sum())} rows have no label, the first is row {int(np.argmax(unlabelled)) + 1}",
            "use missing='drop'; a label cannot be filled with a mean",
        )
    X, features, encoded = _encoded(table, layout)
    y, labels = map_labels(table.labels, layout.positive)
    given = {"features": features, "name": name, "labels": labels}
    return {"X": X, "y": y, **given, "weights": table.weights, "encoded": encoded}


def _encoded(table: Table, layout: Layout) -> tuple[Matrix, list[str] | None, Encoded | None]:
    """Return the features of a table, their names, and the map to them, where it is more than the names."""
    rows = table.places or [f"row {i}" for i in range(1, table.n + 1)]
    if table.source is not None and not layout.onehot:
        refuse_texts(table.source, rows)
    if table.source is None and (layout.missing in (None, "drop") or is_sparse(table.X)):
        return table.X, table.features, None
    encoding = Encoding.learned(table.columns, layout.missing, rows)
    return encoding.matrix(table.columns), list(encoding.features), Encoded(encoding, table.columns)


def _complete(table: Table, unlabelled: NDArray[np.bool_]) -> Table:
    """Return the rows without a missing value; where there is none, a column without any value is named."""
    gone = with_nan(table.X) if table.source is None else table.source.isna().to_numpy().any(axis=1)
    keep = np.flatnonzero(~(gone | unlabelled))
    if keep.size:
        return table.rows(keep)
    if not is_sparse(table.X):
        empty = table.columns.isna().all()
        if empty.any():
            name = empty.idxmax()
            raise DataError(f"column '{name}' has no value at all", f"leave it out: drop='{name}'")
    raise DataError(f"every one of the {table.n} rows has a missing value", "use missing='mean'")


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
    listed = ", ".join(f"'{text}'" for text in distinct[:6]) + (", ..." if len(distinct) > 6 else "")
    if positive:
        return _one_versus_rest(texts, distinct, positive, listed)
    try:
        order = {text: float(text) for text in distinct}
    except ValueError:
        order = {text: float(place) for place, text in enumerate(sorted(distinct))}
    values = sorted(set(order.values()))
    if len(values) != 2:
        of_several = "positive= makes one of them (or several) +1 and the rest -1"
        remedy = "give samples of both classes" if len(values) < 2 else of_several
        raise DataError(
            f"the label must have exactly two different values, {len(values)} found: {listed}",
            f"{remedy}; or choose a two-valued column with target=",
        )
    first = {order[text]: text for text in reversed(distinct)}
    y = np.array([1.0 if order[text] == values[1] else -1.0 for text in texts])
    return y, (first[values[0]], first[values[1]])


def _one_versus_rest(
    texts: Sequence[str], distinct: Sequence[str], positive: Sequence[str], listed: str
) -> tuple[Vector, tuple[str, str]]:
    """Return the labels of classes that are +1 against the rest, and the texts of both."""
    same = {text: _key(text) for text in distinct}
    asked = {_key(text): text for text in positive}
    first = {key: text for text, key in reversed(same.items())}
    absent = [text for key, text in asked.items() if key not in first]
    if absent:
        raise DataError(f"no sample has the label '{absent[0]}'", f"choose the positive class among {listed}")
    rest = [text for key, text in first.items() if key not in asked]
    if not rest:
        raise DataError("every label is positive, no sample would be -1", "choose fewer positive classes")
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
