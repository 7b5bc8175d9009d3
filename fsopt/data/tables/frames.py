"""Tables from DataFrames, and from the files that pandas reads whole: Parquet, Feather and Excel workbooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import numpy as np

from fsopt.common.memory import check_size, size_limit
from fsopt.data.tables.columns import (
    TEXT,
    as_numbers,
    in_pandas,
    is_frame,
    is_number,
    kind_of,
    label_text,
    number,
    numbers_alone,
    sparse_of_frame,
    typed_columns,
    with_orders,
)
from fsopt.data.tables.layout import Layout
from fsopt.data.tables.questions import Question, about_target, labelled, outcomes_of
from fsopt.data.tables.spelling import NUMBER, SAMPLE, Spelling, header_of, marks_of
from fsopt.data.tables.table import Table
from fsopt.errors import DataError, PackageError, foreign, shown
from fsopt.typing import Vector

if TYPE_CHECKING:
    from pandas import DataFrame

PYTHON = Spelling()
CELL = 40
"""Bytes of a cell while a sheet is read: its place in a list, in an array of objects, and its number."""


def table_of_frame(
    frame: Any,
    layout: Layout,
    *,
    required: bool = True,
    spelling: Spelling | None = PYTHON,
    places: Callable[[], Sequence[str]] | None = None,
) -> Table:
    """Return the content of a DataFrame.

    Parameters
    ----------
    frame : the columns are the features, apart from those that the layout gives another meaning.
    required : whether the target must be there.
    spelling : of numbers in its texts; None to find it, as where the layout says something of it.
    places : the rows in messages, called where they are needed; by default ``row 1`` and so on.
    """
    if not is_frame(frame):
        raise DataError(f"{shown(frame)} is not a DataFrame", "give one, or a path to fsopt.load_dataset")
    frame, said = _named(in_pandas(frame))
    names = list(frame.columns)
    outcomes = outcomes_of(frame, layout.target) if required and layout.target not in names else ()
    asked = [about_target(outcomes, layout.target)] if outcomes else []
    layout = replace(layout, target=outcomes[0]) if outcomes else layout
    features = layout.features(names, required=required)
    if not len(frame):
        raise DataError("there is no row", "give one row per sample")
    rows = places or (lambda: [f"row {i}" for i in range(1, len(frame) + 1)])
    texts = {}
    for name in {layout.target, layout.id, layout.weights}.intersection(names):
        cells = zip(frame[name].astype(object), frame[name].isna(), strict=True)
        texts[name] = ["" if gone else label_text(value) for value, gone in cells]
    if layout.weights in texts:
        texts[layout.weights] = (spelling or PYTHON).respelled(texts[layout.weights], str(layout.weights), rows)
    held, without = frame[features], ""
    if required:  # before the columns are typed: a row of totals has words among the numbers
        kept, without = labelled(texts[layout.target], layout)
        if without:
            said, told = [*said, without], rows()
            held, rows = held.iloc[kept], lambda: [told[i] for i in kept]
            texts = {name: [cells[i] for i in kept] for name, cells in texts.items()}
    source, X = None, sparse_of_frame(held)
    if X is None:
        held, open_ = _respelled(held, layout, spelling, rows)
        asked, source = [*asked, *open_], typed_columns(held)
        for name in [one for one in layout.numbers if one in source and kind_of(source[one]) == TEXT]:
            source[name], sentence = as_numbers(source[name], name, rows())
            said += [sentence] if sentence else []
        source = with_orders(source, layout.order) if required else source
        X = numbers_alone(source)
    source, X = (source, np.empty((len(held), 0))) if X is None else (None, X)
    weights = None if layout.weights not in texts else _weights(str(layout.weights), texts[layout.weights], rows)
    named = [*rows()] if source is not None or without else None
    ids = texts.get(layout.id or "")
    return Table(X, texts.get(layout.target, []), features, source, ids, weights, named, tuple(said), tuple(asked))


def _named(frame: Any) -> tuple[Any, list[str]]:
    """Return a frame with texts as names, without columns that have neither a name nor a value, and what is said.

    The first column may have values and no name: it then names the rows, as R and pandas write them.
    """
    names = [str(name) for name in frame.columns]
    blank = [j for j, name in enumerate(names) if not name.strip()]
    filled = [j for j in blank if frame.iloc[:, j].notna().any()]
    if filled not in ([], [0]):
        raise DataError(f"column {filled[-1] + 1} has values and no name", "put a name above it")
    frame = frame.set_axis(names, axis=1)
    said = ["the first column, which has no name, is left out"] if filled else []
    return frame.loc[:, [j not in blank for j in range(len(names))]] if blank else frame, said


def _respelled(
    frame: DataFrame, layout: Layout, spelling: Spelling | None, places: Callable[[], Sequence[str]]
) -> tuple[DataFrame, tuple[Question, ...]]:
    """Return columns with the numbers in their texts in Python's spelling, and what is open of it."""
    asked: tuple[Question, ...] = ()
    texts = [name for name, kind in frame.dtypes.items() if kind.kind not in "biufM" and str(kind) != "category"]
    columns = {name: [cell if isinstance(cell, str) else None for cell in frame[name].astype(object)] for name in texts}
    if (spelling is None or (spelling is PYTHON and (layout.decimal, layout.thousands) != (None, None))) and texts:
        cells = "\n".join(cell.replace("\n", " ") for column in columns.values() for cell in column if cell)
        decimal, thousands, asked = marks_of(cells.encode(), "\n", layout, lambda line: "a cell")
        spelling = Spelling("", "", decimal, thousands)
    if spelling is None or (spelling.decimal, spelling.thousands) == (".", ""):
        return frame, asked
    changed = {}
    for name, column in columns.items():
        found = spelling.respelled([cell or "" for cell in column], name, places)
        own = zip(found, column, frame[name].astype(object), strict=True)
        changed[name] = [value if cell is None else text for text, cell, value in own]
    return frame.assign(**changed), asked


def _weights(name: str, texts: list[str], places: Callable[[], Sequence[str]]) -> Vector:
    values = np.array([number(text) if is_number(text) else 0.0 for text in texts])
    wrong = np.flatnonzero(~((values > 0) & (values < np.inf)))
    if wrong.size:
        place = f"{places()[wrong[0]]}, column '{name}'"
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
    """Read a sheet of a workbook by openpyxl: the one of the layout, or the first one with the target.

    An empty cell is a missing value; empty rows and columns, and titles above the names of the columns, are no part of
    the table. Formulas have the values that were saved with them.
    """
    _need("openpyxl", "Excel workbooks", "excel")
    import pandas as pd

    hint = "save it as an Excel workbook (.xlsx) or as CSV"
    with foreign("openpyxl", "the file is no Excel workbook, or damaged", hint, DataError):
        with ZipFile(path) as archive:
            check_size(sum(member.file_size for member in archive.infolist()), "the workbook")
        with pd.ExcelFile(path, engine="openpyxl") as book:
            sheets = [str(name) for name in book.sheet_names]
            listed = ", ".join(f"'{name}'" for name in sheets)
            if layout.sheet not in (None, *sheets):
                raise DataError(f"there is no sheet '{layout.sheet}'", f"name one with sheet=: {listed}")
            wanted = sheets if layout.sheet is None else [layout.sheet]
            for name in wanted:
                _check_cells(book.book[name])
            grids = pd.read_excel(book, sheet_name=wanted, header=None, keep_default_na=False, na_values=[""])
    frames = {name: _below_titles(grid) for name, grid in grids.items()}
    chosen = [name for name, (frame, _) in frames.items() if layout.target in frame.columns]
    name = (chosen or [max(frames, key=lambda name: frames[name][0].shape[1])])[0]
    frame, above = frames[name]
    if not frame.shape[1]:
        raise DataError(f"sheet '{name}' is empty", "give a row of names and one row per sample")
    said = [f"read as sheet '{name}' of {listed}"] if len(wanted) > 1 else []
    said += [f"left out, above the names of the columns: {above} rows"] if above else []
    table = table_of_frame(frame, layout, required=required, spelling=None)
    return replace(table, said=(*said, *table.said))


def _below_titles(grid: DataFrame) -> tuple[DataFrame, int]:
    """Return the table in the cells of a sheet, and the number of rows with titles above the names of its columns."""
    grid = grid.dropna(how="all").dropna(how="all", axis=1)
    head = grid.iloc[:SAMPLE].astype(object)
    rows = [
        ["" if value != value or value is None else label_text(value) for value in row]
        for row in head.to_numpy().tolist()
    ]
    above = header_of(rows) if rows else 0
    names = [" ".join(name.split()) for name in rows[above]] if rows else []
    return grid.iloc[above + 1 :].infer_objects().set_axis(names, axis=1), above


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
