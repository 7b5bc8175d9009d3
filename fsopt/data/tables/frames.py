"""Tables with columns of any kind: from a DataFrame of pandas, or texts, to the content of a table."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, TypeGuard

import numpy as np

from fsopt.data.matrices import canonical
from fsopt.data.tables.layout import Layout
from fsopt.data.tables.source import Source, label_text, of_frame, of_texts
from fsopt.data.tables.table import Table
from fsopt.errors import DataError, PackageError, shown
from fsopt.typing import Frame, Matrix, Vector


def is_frame(value: Any) -> TypeGuard[Frame]:
    """Return whether a value is a DataFrame of pandas, or of polars and others that become one by ``to_pandas``.

    Neither package is imported for it.
    """
    return type(value).__name__ == "DataFrame" and (hasattr(value, "iloc") or hasattr(value, "to_pandas"))


def in_pandas(frame: Any) -> Any:
    """Return a frame as a pandas DataFrame."""
    if hasattr(frame, "iloc"):
        return frame
    if find_spec("pyarrow") is None:
        raise PackageError(
            "DataFrames of other packages become those of pandas by pyarrow", "pip install 'fsopt[parquet]'"
        )
    return frame.to_pandas()


def with_texts_as_names(frame: Any) -> Any:
    """Return a DataFrame of pandas whose columns have texts as names, those of several levels too."""
    return frame.set_axis([str(name) for name in frame.columns], axis=1)


def table_of_frame(frame: Any, layout: Layout, *, required: bool = True) -> Table:
    """Return the content of a DataFrame.

    Parameters
    ----------
    frame : the columns are the features, apart from those that the layout gives another meaning.
    required : whether the target must be there.
    """
    if not is_frame(frame):
        raise DataError(f"{shown(frame)} is not a DataFrame", "give one, or a path to fsopt.load_dataset")
    frame = with_texts_as_names(in_pandas(frame))
    names = [str(name) for name in frame.columns]
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"two columns have the name '{twice}'", "give each a name of its own")
    features = layout.features(names, required=required)
    if not len(frame):
        raise DataError("there is no row", "give one row per sample")
    columns = {name: frame[name] for name in (layout.target, layout.id, layout.weights) if name in names}
    texts = {
        name: ["" if gone else label_text(v) for v, gone in zip(column.astype(object), column.isna(), strict=True)]
        for name, column in columns.items()
    }
    held = sparse_of_frame(frame[features])
    return table_of_columns(of_frame(frame, features) if held is None else held, features, texts, layout)


def sparse_of_frame(frame: Any) -> Any:
    """Return the sparse matrix of a DataFrame whose columns are all sparse with zeros left out, None for any other."""
    columns = [frame.iloc[:, k] for k in range(frame.shape[1])]
    if not columns or not all(hasattr(column, "sparse") and column.sparse.fill_value == 0 for column in columns):
        return None
    return canonical(frame.sparse.to_coo())


def table_of_texts(
    names: list[str],
    columns: list[list[str]],
    layout: Layout,
    places: list[str],
    *,
    required: bool = True,
) -> Table:
    """Return the content of a text file, of which every column is a list of texts."""
    features = layout.features(names, required=required)
    texts = dict(zip(names, columns, strict=True))
    source = of_texts(features, [texts[name] for name in features])
    table = table_of_columns(source, features, texts, layout)
    return Table(table.X, table.labels, table.features, table.source, table.ids, table.weights, places)


def table_of_columns(
    source: Source | Matrix, features: list[str], texts: dict[str, list[str]], layout: Layout
) -> Table:
    """Return the content of a table from its features, columns or a sparse matrix, and the texts of other columns."""
    labels = texts.get(layout.target, [])
    ids = None if layout.id is None else texts.get(layout.id)
    weights = None
    if layout.weights is not None and layout.weights in texts:
        weights = _weights(layout.weights, texts[layout.weights])
    if not isinstance(source, Source):
        return Table(source, labels, features, None, ids, weights)
    return Table(np.empty((source.n, 0)), labels, features, source, ids, weights)


def _weights(name: str, texts: list[str]) -> Vector:
    values = []
    for row, text in enumerate(texts, start=1):
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 < value < np.inf:
            raise DataError(f"row {row}, column '{name}': '{text}' is no weight", "give a number > 0 in every row")
        values.append(value)
    return np.array(values)
