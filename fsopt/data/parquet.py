"""Reader of Parquet files, by pandas and pyarrow."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from fsopt.data.content import NUMBER, check_size, foreign
from fsopt.data.table import Table
from fsopt.data.text import label_position
from fsopt.errors import DataError, PackageError

_HINT = "write it with pandas.DataFrame.to_parquet(path, index=False)"


def read_parquet(path: Path, label: str, *, required: bool = True) -> Table:
    """Read a Parquet file with a column for each feature and one for the label.

    Parameters
    ----------
    path : Path
    label : str
        Name of the label's column.
    required : bool
        Whether a file without that column is an error; otherwise the table has no labels.

    Returns
    -------
    Table
        A null is a missing value.

    Raises
    ------
    DataError
        If the file is damaged or too large, or a feature is a column of another kind than numbers.
    PackageError
        If pyarrow is not installed.
    """
    if find_spec("pyarrow") is None:
        raise PackageError("Parquet files need the package pyarrow", "pip install 'fsopt[parquet]'")
    with foreign("the file is not in Parquet format, or damaged", _HINT):  # texts are decoded when they are used
        names, frame = _frame(path)
        position = label_position(names, label) if required or label in names else None
        return _table(names, frame, position)


def _frame(path: Path) -> tuple[list[str], Any]:
    """Return the names of the columns, and the table as pandas reads it."""
    import pandas as pd
    import pyarrow.parquet as pq

    try:
        facts = pq.read_metadata(path)
        groups = [facts.row_group(k).total_byte_size for k in range(facts.num_row_groups)]
        size = max(NUMBER * facts.num_rows * facts.num_columns, sum(groups))
        check_size(size, f"the table of {facts.num_rows} rows and {facts.num_columns} columns")
        frame = pd.read_parquet(path, engine="pyarrow")
    except OSError as error:  # pyarrow's word for damaged pages
        raise DataError(f"the file is damaged ({error})", _HINT) from error
    return [str(name) for name in frame.columns], frame


def _table(names: list[str], frame: Any, position: int | None) -> Table:
    """Return the features as numbers and the labels as texts."""
    columns = [j for j in range(len(names)) if j != position]
    if not columns:
        raise DataError(f"'{names[0] if names else ''}' is the only column", "give a file with features")
    values = np.empty((len(frame), len(columns)))
    for k, j in enumerate(columns):
        series = frame.iloc[:, j]
        if series.dtype.kind not in "biuf":
            raise DataError(
                f"column '{names[j]}' holds values of the type {series.dtype}, not numbers",
                "code categories as 0/1 columns, and write numbers as numbers",
            )
        values[:, k] = series.to_numpy(dtype=float, na_value=np.nan)
    if not len(frame):
        raise DataError("there is no row", "give one row per sample")
    labels: list[str] = []
    if position is not None:
        texts = frame.iloc[:, position].astype(object)
        labels = ["" if missing else _text(v) for v, missing in zip(texts, texts.isna(), strict=True)]
    return Table(values, labels, [names[j] for j in columns])


def _text(value: object) -> str:
    """Return a label as a text, a whole number without a decimal point."""
    return str(value).strip().removesuffix(".0")
