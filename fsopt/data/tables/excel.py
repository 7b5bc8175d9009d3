"""Reader of Excel workbooks, by pandas and openpyxl."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from fsopt.common.budget import check_size, size_limit
from fsopt.data.tables.frames import table_of_frame
from fsopt.data.tables.layout import Layout
from fsopt.data.tables.table import Table
from fsopt.errors import DataError, PackageError, foreign

CELL = 40
"""Bytes of a cell while a sheet is read: its place in a list, in an array of objects, and its number."""
_HINT = "save it as an Excel workbook (.xlsx) or as CSV"


def read_excel(path: Path, layout: Layout, *, required: bool = True) -> Table:
    """Read the first sheet of a workbook, with the names of the columns in its first row, by openpyxl.

    An empty cell is a missing value; empty rows and columns are no part of the table. Formulas have the values that
    were saved with them.
    """
    if find_spec("openpyxl") is None:
        raise PackageError("Excel workbooks need the package openpyxl", "pip install 'fsopt[excel]'")
    import pandas as pd

    with foreign("openpyxl", "the file is no Excel workbook, or damaged", _HINT, DataError):
        with ZipFile(path) as archive:
            check_size(sum(member.file_size for member in archive.infolist()), "the workbook")
        with pd.ExcelFile(path, engine="openpyxl") as book:
            sheets = [str(name) for name in book.sheet_names]
            _check_cells(book.book[sheets[0]])
            frame = pd.read_excel(book, keep_default_na=False, na_values=[""])
    frame = frame.dropna(how="all")
    blank = [name for name in frame.columns if str(name).startswith("Unnamed: ")]
    named = [name for name in blank if frame[name].notna().any()]
    if named or not frame.shape[1]:
        raise DataError(f"sheet '{sheets[0]}' has a column without a name in its first row", "put the names there")
    table = table_of_frame(frame.drop(columns=blank), layout, required=required)
    more = f", the first of {len(sheets)} sheets" if len(sheets) > 1 else ""
    return replace(table, read_as=f"sheet '{sheets[0]}'{more}" if more else "")


def _check_cells(sheet: Any) -> None:
    """Refuse a sheet whose rows, filled up to the longest one, exceed the limit: a cell far away makes all long.

    The size that a sheet states of itself may be wrong. Rows are read one by one, so this stops at the limit.
    """
    sheet.reset_dimensions()
    width, most = 0, size_limit() / CELL
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        width = max(width, len(row))
        if number * width > most:
            check_size(CELL * number * width, f"a sheet of {width} columns and {number} rows", more=True)
