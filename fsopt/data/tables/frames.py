"""Tables from DataFrames, and from the files that pandas reads whole: Parquet, Feather and Excel workbooks."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from fsopt.common.memory import check_size, size_limit
from fsopt.data.tables.columns import (
    in_pandas,
    is_frame,
    is_number,
    label_text,
    number,
    numbers_alone,
    sparse_of_frame,
    typed_columns,
    with_texts_as_names,
)
from fsopt.data.tables.layout import Layout
from fsopt.data.tables.spelling import NUMBER
from fsopt.data.tables.table import Table
from fsopt.errors import DataError, PackageError, foreign, shown
from fsopt.typing import Vector

CELL = 40
"""Bytes of a cell while a sheet is read: its place in a list, in an array of objects, and its number."""


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
    names = list(frame.columns)
    features = layout.features(names, required=required)
    if not len(frame):
        raise DataError("there is no row", "give one row per sample")
    texts = {}
    for name in {layout.target, layout.id, layout.weights}.intersection(names):
        cells = zip(frame[name].astype(object), frame[name].isna(), strict=True)
        texts[name] = ["" if gone else label_text(value) for value, gone in cells]
    held = frame[features]
    source, X = None, sparse_of_frame(held)
    if X is None:
        source = typed_columns(held)
        X = numbers_alone(source)
    source, X = (source, np.empty((len(frame), 0))) if X is None else (None, X)
    weights = None if layout.weights not in texts else _weights(str(layout.weights), texts[layout.weights])
    return Table(X, texts.get(layout.target, []), features, source, texts.get(layout.id or ""), weights)


def _weights(name: str, texts: list[str]) -> Vector:
    values = np.array([number(text) if is_number(text) else 0.0 for text in texts])
    wrong = np.flatnonzero(~((values > 0) & (values < np.inf)))
    if wrong.size:
        place = f"row {wrong[0] + 1}, column '{name}'"
        raise DataError(f"{place}: '{texts[wrong[0]]}' is no weight", "give a number > 0 in every row")
    return values


def read_parquet(path: Path, layout: Layout, *, required: bool = True) -> Table:
    """Read a Parquet file, by pyarrow; a null is a missing value."""
    _need("pyarrow", "Parquet files", "parquet")
    hint = "write it with pandas.DataFrame.to_parquet(path, index=False)"
    # Texts are decoded when they are used; an OSError is pyarrow's word for damaged pages.
    with foreign("pyarrow", "the file is not in Parquet format, or damaged", hint, DataError, passed=()):
        import pandas as pd
        import pyarrow.parquet as pq

        facts = pq.read_metadata(path)
        groups = sum(facts.row_group(k).total_byte_size for k in range(facts.num_row_groups))
        _check_table(facts.num_rows, facts.num_columns, groups)
        return table_of_frame(pd.read_parquet(path, engine="pyarrow"), layout, required=required)


def read_feather(path: Path, layout: Layout, *, required: bool = True) -> Table:
    """Read a Feather file of version 2, by pyarrow; a null is a missing value."""
    _need("pyarrow", "Feather files", "parquet")
    hint = "write it with pandas.DataFrame.to_feather(path)"
    with foreign("pyarrow", "the file is not in Feather format, or damaged", hint, DataError):
        from pyarrow import ipc

        one = ipc.IpcReadOptions(included_fields=[0])  # whose rows are counted before all columns are expanded
        with ipc.open_file(path, options=one) as first:
            rows = sum(first.get_batch(k).num_rows for k in range(first.num_record_batches))
        with ipc.open_file(path) as file:
            _check_table(rows, len(file.schema))
            table = file.read_all()
        table.validate(full=True)  # offsets beyond the end of a column are read without a look at them, and crash
        return table_of_frame(table.to_pandas(), layout, required=required)


def read_excel(path: Path, layout: Layout, *, required: bool = True) -> Table:
    """Read the first sheet of a workbook, with the names of the columns in its first row, by openpyxl.

    An empty cell is a missing value; empty rows and columns are no part of the table. Formulas have the values that
    were saved with them.
    """
    _need("openpyxl", "Excel workbooks", "excel")
    import pandas as pd

    hint = "save it as an Excel workbook (.xlsx) or as CSV"
    with foreign("openpyxl", "the file is no Excel workbook, or damaged", hint, DataError):
        with ZipFile(path) as archive:
            check_size(sum(member.file_size for member in archive.infolist()), "the workbook")
        with pd.ExcelFile(path, engine="openpyxl") as book:
            sheets = [str(name) for name in book.sheet_names]
            _check_cells(book.book[sheets[0]])
            frame = pd.read_excel(book, keep_default_na=False, na_values=[""]).dropna(how="all")
    blank = [name for name in frame.columns if str(name).startswith("Unnamed: ")]
    if not frame.shape[1] or any(frame[name].notna().any() for name in blank):
        raise DataError(f"sheet '{sheets[0]}' has a column without a name in its first row", "put the names there")
    table = table_of_frame(frame.drop(columns=blank), layout, required=required)
    return replace(table, read_as=f"sheet '{sheets[0]}', the first of {len(sheets)} sheets" if sheets[1:] else "")


def _need(package: str, what: str, extra: str) -> None:
    if find_spec(package) is None:
        raise PackageError(f"{what} need the package {package}", f"pip install 'fsopt[{extra}]'")


def _check_table(rows: int, columns: int, stored: int = 0) -> None:
    check_size(max(NUMBER * rows * columns, stored), f"the table of {rows} rows and {columns} columns")


def _check_cells(sheet: Any) -> None:
    """Refuse a sheet whose rows, filled up to the longest one, exceed the limit: a cell far away makes all long."""
    # The size that a sheet states of itself may be wrong. Rows are read one by one, so this stops at the limit.
    sheet.reset_dimensions()
    width, most = 0, size_limit() / CELL
    for rows, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        width = max(width, len(row))
        if rows * width > most:
            check_size(CELL * rows * width, f"a sheet of {width} columns and {rows} rows", more=True)
