"""Readers of the text formats with named columns: CSV (plain or gzip) and dense ARFF."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from fsopt.data.table import Table, is_missing
from fsopt.errors import DataError

_ATTRIBUTE = re.compile(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\s{]+)\s*(.+)", re.IGNORECASE)


def read_csv(path: Path, label: str, *, required: bool = True) -> Table:
    """Read a comma-separated file with a header, compressed with gzip if its name ends in .gz.

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

    Raises
    ------
    DataError
        If the file is not such a file; the message names the row, column and cell.
    """
    rows = _rows(_lines(path), skipinitialspace=True)
    _, first = next(rows, (0, []))
    header = [cell.strip() for cell in first]
    if not header:
        raise DataError("the file is empty", "give a header row and one row per sample")
    if all(_is_number(cell) for cell in header):
        raise DataError("the first row is numbers only, there is no header", "put the names in the first row")
    return _table(rows, header, _label_position(header, label) if required or label in header else None)


def read_arff(path: Path, label: str) -> Table:
    """Read a dense ARFF file with numeric features.

    Parameters
    ----------
    path : Path
    label : str
        Name of the label's attribute. If it is ``label`` and there is none, the last nominal attribute
        called ``class`` (in any case) is taken.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If the file is not such a file; the message names the row, column and cell.
    """
    lines = _lines(path)
    names: list[str] = []
    kinds: list[str] = []
    start = 0
    for number, line in enumerate(lines, start=1):
        keyword = line.strip().lower()
        if keyword.startswith("@data"):
            start = number
            break
        if keyword.startswith("@attribute"):
            name, kind = _attribute(line, number)
            names.append(name)
            kinds.append(kind)
    if not names or not start:
        raise DataError("there are no @attribute lines followed by @data", "give an ARFF file")
    body = ["\n" if line.lstrip().startswith("%") else line for line in lines[start:]]
    if any(line.lstrip().startswith("{") for line in body):
        raise DataError("sparse ARFF rows ({index value, ...}) are not read", "save it as dense ARFF or .libsvm")
    quote = '"' if any('"' in line for line in body) else "'"
    rows = _rows(body, before=start, skipinitialspace=True, quotechar=quote, escapechar="\\")
    nominal = [j for j, name in enumerate(names) if name.lower() == "class" and kinds[j].startswith("{")]
    use_class = label == "label" and label not in names and nominal
    return _table(rows, names, nominal[-1] if use_class else _label_position(names, label))


def _rows(lines: Iterable[str], *, before: int = 0, **dialect: Any) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, each with the line of the file that it ends on."""
    reader = csv.reader(lines, **dialect)
    try:
        for row in reader:
            if row not in ([], [""]):
                yield before + reader.line_num, row
    except csv.Error as error:
        line = before + reader.line_num
        raise DataError(f"line {line} is not comma-separated text ({error})", "give a text file") from error


def _lines(path: Path) -> list[str]:
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix.lower() == ".gz" else path.read_bytes()
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(
            f"the file is not valid gzip ({error})", "drop .gz from its name, or compress it anew"
        ) from error
    try:
        return list(io.StringIO(content.decode("utf-8-sig"), newline=""))
    except UnicodeDecodeError as error:
        raise DataError(f"the file is not UTF-8 text ({error})", "save it as UTF-8") from error


def _attribute(line: str, number: int) -> tuple[str, str]:
    match = _ATTRIBUTE.match(line.strip())
    if match is None:
        raise DataError(f"line {number} is not an attribute: {line.strip()!r}", "write @attribute NAME TYPE")
    name, kind = match.groups()
    if name[0] in "'\"":
        name = re.sub(r"\\(.)", r"\1", name[1:-1])
    return name, kind


def _label_position(names: Sequence[str], label: str) -> int:
    if names.count(label) > 1:
        raise DataError(f"there are {names.count(label)} columns '{label}'", "give every column its own name")
    if label in names:
        return names.index(label)
    near = get_close_matches(label, names, n=3) or names[-3:]
    raise DataError(
        f"there is no column '{label}' among the {len(names)} columns",
        f"name the label's column with --label, for example one of: {', '.join(near)}",
    )


def _table(rows: Iterator[tuple[int, list[str]]], names: list[str], position: int | None) -> Table:
    features = [name for k, name in enumerate(names) if k != position]
    if not features:
        raise DataError(f"'{names[0]}' is the only column", "give a comma-separated file with features")
    values: list[list[float]] = []
    labels: list[str] = []
    for count, (line, row) in enumerate(rows, start=1):
        where = f"row {count} (line {line})"
        if len(row) != len(names):
            raise DataError(f"{where} has {len(row)} fields, there are {len(names)} columns", "repair the row")
        if position is not None:
            labels.append(row.pop(position).strip())
        try:
            values.append(list(map(float, row)))
        except ValueError:
            values.append([_number(cell, where, name) for cell, name in zip(row, features, strict=True)])
    if not values:
        raise DataError("there is no row after the header", "give one row per sample")
    return Table(np.array(values), labels, features)


def _number(cell: str, where: str, name: str) -> float:
    if is_missing(cell):
        return float("nan")
    try:
        return float(cell)
    except ValueError:
        raise DataError(
            f"{where}, column '{name}': '{cell}' is not a number",
            "code categories as 0/1 columns; a missing value is an empty field, ? or nan",
        ) from None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
