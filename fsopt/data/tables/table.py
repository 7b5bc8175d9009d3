"""The content of a table, and from it to a data set: missing values, texts and labels are treated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fsopt.data.matrices import is_sparse, with_nan
from fsopt.data.tables.columns import numbers_alone
from fsopt.data.tables.encoding import Encoded, Encoding
from fsopt.data.tables.layout import Layout
from fsopt.data.tables.questions import Question, about_classes, about_columns, error_of, identifiers, labelled
from fsopt.errors import DataError
from fsopt.typing import Indices, Matrix, Vector

if TYPE_CHECKING:
    from pandas import DataFrame

Tell: TypeAlias = Callable[[str], None]


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
    said : sentences on what was found and left out.
    asked : what is open of the target and the spelling of numbers; the likeliest answers are taken.
    """

    X: Matrix
    labels: list[str]
    features: list[str] | None
    source: DataFrame | None = None
    ids: list[str] | None = None
    weights: Vector | None = None
    places: list[str] | None = None
    said: tuple[str, ...] = ()
    asked: tuple[Question, ...] = ()

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def rows(self, positions: Indices) -> Table:
        """Return the content of some rows."""
        lists = {"labels": self.labels, "ids": self.ids, "places": self.rows_named}
        kept: dict[str, Any] = {name: one and [one[i] for i in positions] for name, one in lists.items()}
        source = None if self.source is None else self.source.iloc[positions]
        weights = None if self.weights is None else self.weights[positions]
        return replace(self, X=self.X[positions], source=source, weights=weights, **kept)

    @property
    def rows_named(self) -> list[str]:
        """The places of the rows for messages."""
        return self.places or [f"row {i}" for i in range(1, self.n + 1)]

    @property
    def columns(self) -> DataFrame:
        """The columns of the features, dense ones; where they have no names, they are called ``x1 .. xp``."""
        import pandas as pd

        if self.source is not None:
            return self.source
        return pd.DataFrame(self.X, columns=self.features or [f"x{j}" for j in range(1, self.X.shape[1] + 1)])


def parts_of(table: Table, name: str, layout: Layout, tell: Tell) -> dict[str, Any]:
    """Return the arguments of the data set of a table: missing values and texts are treated, labels mapped.

    Parameters
    ----------
    name : of the data set.
    layout : the treatment of missing values and of texts, and the positive labels.
    tell : called with each sentence on what is left out or taken for the same.

    Raises
    ------
    TableError
        If the layout leaves something open: a value is missing and not treated, a column holds texts, or there are not
        two classes. All of it is asked at once.
    """
    if len(table.labels) != table.n:
        raise DataError(f"there are {len(table.labels)} labels for {table.n} rows", "give one label per row")
    kept, without = labelled(table.labels, layout)
    if without:
        tell(without)
        table = table.rows(kept)
    texts, positive, same = _unified(table.labels, layout.positive)
    questions = [*table.asked]
    try:
        map_labels(texts, positive)
    except DataError as error:
        if positive:
            raise
        questions.append(about_classes(error, texts))
    if not is_sparse(table.X):
        strange = {} if table.source is None or layout.columns else identifiers(table.source)
        if strange:
            tell(
                f"left out, as identifiers or free text (option id takes one for names): {', '.join(strange.values())}"
            )
            table = _without(table, list(strange))
        questions += about_columns(table.columns, layout, table.rows_named)
    if questions:
        raise error_of(questions)
    if same:
        tell(same)
    table = replace(table, labels=texts)
    table = _complete(table) if layout.missing == "drop" else table
    X, features, encoded = _encoded(table, layout)
    y, labels = map_labels(table.labels, positive)
    given = {"features": features, "name": name, "labels": labels}
    return {"X": X, "y": y, **given, "weights": table.weights, "encoded": encoded}


def _unified(texts: list[str], positive: Sequence[str]) -> tuple[list[str], tuple[str, ...], str]:
    """Return labels and positive ones, of which those that differ in case alone are one, and a sentence on it.

    Without positive ones they are that where two classes are left.
    """
    counts, best = Counter(texts), dict[str, str]()
    for text in sorted(counts, key=lambda text: (-counts[text], text)):
        best.setdefault(text.casefold(), text)
    asked = tuple(text if text in counts else best.get(text.casefold(), text) for text in positive)
    if len(counts) <= 2 or len(best) == len(counts) or (len(best) > 2 and not positive):
        return texts, asked, ""
    changed = [f"'{text}' is taken as '{best[text.casefold()]}'" for text in counts if text not in best.values()]
    same = [best[text.casefold()] for text in texts]
    return same, tuple(best.get(text.casefold(), text) for text in positive), f"labels: {', '.join(changed)}"


def _without(table: Table, names: Sequence[str]) -> Table:
    """Return a table without some columns."""
    left = table.columns.drop(columns=list(names))
    if not left.shape[1]:
        raise DataError("no column is left for the features", "name categories with columns=")
    X = numbers_alone(left)
    source, X = (left, table.X) if X is None else (None, X)
    return replace(table, X=X, source=source, features=list(left.columns))


def _encoded(table: Table, layout: Layout) -> tuple[Matrix, list[str] | None, Encoded | None]:
    """Return the features of a table, their names, and the map to them, where it is more than the names."""
    if table.source is None and (layout.missing in (None, "drop") or is_sparse(table.X)):
        return table.X, table.features, None
    encoding = Encoding.learned(table.columns, layout.missing)
    return encoding.matrix(table.columns), list(encoding.features), Encoded(encoding, table.columns)


def _complete(table: Table) -> Table:
    """Return the rows without a missing value."""
    gone = with_nan(table.X) if table.source is None else table.source.isna().to_numpy().any(axis=1)
    if gone.all():
        raise DataError(f"every one of the {table.n} rows has a missing value", "use missing='mean'")
    return table.rows(np.flatnonzero(~gone))


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
    """Return whether two texts are the same label: 1 and 1.0 are, and Yes and yes."""
    return _key(first.casefold()) == _key(second.casefold())


def _key(text: str) -> float | str:
    """Return a label to be compared: 1 and 1.0 are the same."""
    try:
        return float(text)
    except ValueError:
        return text
