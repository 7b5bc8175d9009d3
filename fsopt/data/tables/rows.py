"""The rows of text files: read by pandas, and again one by one where a row is to be named or pandas takes none."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fsopt.data.tables.frames import table_of_texts
from fsopt.data.tables.layout import Layout
from fsopt.data.tables.source import NO_VALUE, is_missing
from fsopt.data.tables.spelling import AS_NAMED, Spelling
from fsopt.data.tables.table import Table
from fsopt.errors import DataError
from fsopt.typing import Vector

WIDE = 20_000
"""Columns from which pandas, with 30 microseconds for each, is slower than one row after the other."""
EXACT_BY_DEFAULT = (3, 1)
"""The version of pandas from which decimals are read exactly without a request, and the request is deprecated."""

_OPEN = "a quote that opens there does not close on the same line"


@dataclass(frozen=True)
class Body:
    """The rows of a text file, below its header.

    Attributes
    ----------
    content : UTF-8 text of the rows.
    before : number of lines above it, for messages.
    names : of all columns.
    layout : the meaning of the columns.
    spelling : of the fields.
    quote, escape : characters of the format.
    """

    content: bytes
    before: int
    names: list[str]
    layout: Layout
    spelling: Spelling = AS_NAMED
    quote: str = '"'
    escape: str | None = None

    @property
    def position(self) -> int | None:
        """The place of the label's column; None where there is none."""
        return self.names.index(self.layout.target) if self.layout.target in self.names else None

    @property
    def features(self) -> list[str]:
        """The names of the columns other than the label's."""
        position = self.position
        return [name for k, name in enumerate(self.names) if k != position]

    @property
    def dialect(self) -> dict[str, Any]:
        """The characters of the format, in the keywords that ``csv`` and pandas share."""
        return {
            "delimiter": self.spelling.separator,
            "quotechar": self.quote,
            "escapechar": self.escape,
            "skipinitialspace": True,
        }


def read_rows(body: Body) -> Table:
    """Read the rows of a text file.

    Raises
    ------
    DataError
        If there is no row, or a row has another number of fields, a quote that is not closed on its line, or a
        feature that is not a number; the message names row, line and column.
    """
    features = body.layout.features(body.names, required=body.position is not None)
    twice = [name for name, count in Counter(features).items() if count > 1]
    if twice:
        raise DataError(f"duplicate feature names: {', '.join(twice)}", "give every feature its own name")
    plain = body.layout.whole and body.layout.missing != "indicator"
    table = _by_pandas(body) if plain and len(body.names) <= WIDE and not body.spelling.thousands else None
    if table is None and plain and body.spelling.plain:
        table = _plain(body)
    if table is None:
        table = _as_texts(body)
    if not table.n:
        raise DataError("there is no row after the header", "give one row per sample")
    return replace(table, read_as=str(body.spelling) if body.spelling.guess else "")


def records(body: Body) -> Iterator[tuple[int, int, list[str]]]:
    """Yield number, line and fields of each row that is not blank; the first faulty row is an error."""
    text = io.TextIOWrapper(io.BytesIO(body.content), encoding="utf-8", newline="")
    reader = csv.reader(text, strict=True, **body.dialect)
    count = end = 0
    while True:
        start = end + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            joined = reader.line_num > start or "end of data" in str(error)
            raise _bad_line(body.before + start, _OPEN if joined else str(error)) from error
        end = reader.line_num
        if end > start:
            raise _bad_line(body.before + start, _OPEN)
        if fields in ([], [""]):
            continue
        count += 1
        if len(fields) != len(body.names):
            raise DataError(
                f"row {count} (line {body.before + end}) has {len(fields)} fields, there are {len(body.names)} columns",
                "repair the row",
            )
        yield count, body.before + end, fields


def _bad_line(line: int, reason: str) -> DataError:
    return DataError(
        f"line {line} is not a row of separated fields ({reason})",
        "close the quote, and write a quote inside a quoted field twice",
    )


def _by_pandas(body: Body) -> Table | None:
    """Return the table as pandas reads it, None where a row or cell is not as it should be, or may not be.

    pandas fills short rows up and joins lines between stray quotes without a word. So its numbers of rows and fields
    are compared with those in the text, counted where there are no quotes and read where there are some.
    """
    import pandas as pd

    quoted = body.quote.encode() in body.content or (body.escape or body.quote).encode() in body.content
    rows = sum(1 for _ in records(body)) if quoted else None
    if rows == 0:
        return None
    version = tuple(int(part) for part in pd.__version__.split(".")[:2])
    exact = {} if version >= EXACT_BY_DEFAULT else {"float_precision": "round_trip"}
    kinds: dict[int, type] = defaultdict(lambda: float)
    if body.position is not None:
        kinds[body.position] = str
    try:
        frame = pd.read_csv(
            io.BytesIO(body.content),
            header=None,
            names=range(len(body.names)),
            dtype=kinds,
            keep_default_na=False,
            na_values=[*NO_VALUE, "NaN", "NAN", "NA", "N/A", "NULL"],
            encoding="utf-8",
            decimal=body.spelling.decimal,
            **body.dialect,
            **exact,
        )
    except (ValueError, OverflowError):  # pandas's errors of parsing are ValueErrors
        return None
    n, width = frame.shape
    fields = body.content.count(body.spelling.separator.encode()) + n if rows is None else rows * width
    surplus = not isinstance(frame.index, pd.RangeIndex)  # fields of a longer first row, which pandas takes for names
    if surplus or width != len(body.names) or fields != n * width:
        return None
    labels: list[str] = []
    if body.position is not None:
        labels = frame.pop(body.position).fillna("").str.strip().tolist()
    return Table(frame.to_numpy(dtype=float), labels, body.features)


def _plain(body: Body) -> Table | None:
    """Return the table, row after row; None where a cell is not a number."""
    values: list[Vector] = []
    labels: list[str] = []
    if b"_" in body.content:  # Python's own numbers may have underscores
        return None
    for _, _, row in records(body):
        if body.position is not None:
            labels.append(row.pop(body.position).strip())
        try:
            values.append(np.array([np.nan if is_missing(cell) else float(cell) for cell in row]))
        except ValueError:
            return None
    X = np.array(values, dtype=float).reshape(len(values), len(body.features))
    return Table(X, labels, body.features)


def _as_texts(body: Body) -> Table:
    """Return the table with columns of numbers, dates and texts."""
    rows: list[list[str]] = []
    places: list[str] = []
    for count, line, row in records(body):
        rows.append([cell.strip() for cell in row])
        places.append(f"row {count} (line {line})")
    if not rows:
        return Table(np.empty((0, 0)), [], body.features)
    columns = [list(column) for column in zip(*rows, strict=True)]
    required = body.position is not None
    if not body.spelling.plain:
        numbers = {*body.layout.features(body.names, required=required), body.layout.weights}
        columns = [
            _in_python(column, name, places, body.spelling) if name in numbers else column
            for name, column in zip(body.names, columns, strict=True)
        ]
    return table_of_texts(body.names, columns, body.layout, places, required=required)


def _in_python(column: list[str], name: str, places: list[str], spelling: Spelling) -> list[str]:
    """Return the fields of a column with their numbers in Python's spelling."""
    read = spelling.reader()
    found = []
    for cell, place in zip(column, places, strict=True):
        text = read(cell)
        if text is None:
            raise DataError(
                f"{place}, column '{name}': '{cell}' has a point, the decimal mark of the file is '{spelling.decimal}'",
                "correct the cell, or say what the point is: decimal='.' or thousands='.'",
            )
        found.append(text)
    return found
