"""From the content of a table to a data set: missing values, texts and labels are treated, before its validation."""

from __future__ import annotations

from typing import Any

import numpy as np

from fsopt.data.matrices import is_sparse, with_nan
from fsopt.data.tables.encoding import Encoded, as_source, learn
from fsopt.data.tables.layout import Layout
from fsopt.data.tables.source import Source, absent, is_missing, refuse_texts
from fsopt.data.tables.table import Table, map_labels
from fsopt.errors import DataError
from fsopt.typing import Matrix


def parts_of(table: Table, name: str, layout: Layout) -> dict[str, Any]:
    """Return the arguments of the data set of a table: missing values and texts are treated, labels mapped.

    Parameters
    ----------
    table : Table
    name : str
        Name of the data set.
    layout : Layout
        The treatment of missing values and of texts, and the positive labels.

    Raises
    ------
    DataError
        If a value or label is missing and not treated, or there are not two classes.
    """
    n = table.n
    unlabelled = np.array([is_missing(text) for text in table.labels], dtype=bool)
    if unlabelled.size != n:
        raise DataError(f"there are {len(table.labels)} labels for {n} rows", "give one label per row")
    if layout.missing == "drop":
        table = _complete(table, unlabelled)
    elif unlabelled.any():
        first = int(np.argmax(unlabelled)) + 1
        raise DataError(
            f"{int(unlabelled.sum())} rows have no label, the first is row {first}",
            "use missing='drop'; a label cannot be filled with a mean",
        )
    X, features, encoded = encode(table, layout)
    y, labels = map_labels(table.labels, layout.positive)
    given = {"features": features, "name": name, "labels": labels}
    return {"X": X, "y": y, **given, "weights": table.weights, "encoded": encoded}


def encode(table: Table, layout: Layout) -> tuple[Matrix, list[str] | None, Encoded | None]:
    """Return the features of a table, their names, and the map to them, where it is more than the names.

    Missing values of a sparse table have no substitutes: rows with one are dropped, or are an error of the data set.
    """
    source = table.source
    rows = [f"row {i}" for i in range(1, table.n + 1)] if table.places is None else table.places
    if source is not None and not layout.onehot:
        refuse_texts(source, rows)
    if source is not None and source.numeric and layout.missing in (None, "drop"):
        return np.column_stack(source.values), list(source.names), None
    if source is None and (layout.missing in (None, "drop") or is_sparse(table.X)):
        return table.X, table.features, None
    source = _source(table)
    encoding = learn(source, layout.missing, rows)
    return encoding.matrix(source), list(encoding.features), Encoded(encoding, source)


def _complete(table: Table, unlabelled: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Table:
    """Return the rows without a missing value."""
    source: Source | None = table.source
    gone = with_nan(table.X) if source is None else source.absent
    keep = np.flatnonzero(~(gone | unlabelled))
    if not keep.size:
        raise _none_complete(table)
    return table.rows(keep)


def _none_complete(table: Table) -> DataError:
    """Return the error of a table whose every row has a missing value; a column without any is named."""
    if not is_sparse(table.X):
        source = _source(table)
        for name, values in zip(source.names, source.values, strict=True):
            if absent(values).all():
                return DataError(f"column '{name}' has no value at all", f"leave it out: drop='{name}'")
    return DataError(f"every one of the {table.n} rows has a missing value", "use missing='mean'")


def _source(table: Table) -> Source:
    """Return the columns of a table whose features have names, or get them."""
    if table.source is not None:
        return table.source
    return as_source(table.X, table.features or [f"x{j}" for j in range(1, table.X.shape[1] + 1)])
