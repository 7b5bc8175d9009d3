"""Readers of the text formats with named columns: CSV and TSV (plain or gzip) and dense ARFF."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from fsopt.data.content import text_bytes
from fsopt.data.rows import Body, read_rows
from fsopt.data.table import Table
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
    return _separated(path, label, ",", required)


def read_tsv(path: Path, label: str, *, required: bool = True) -> Table:
    """Read the same with tabs in place of commas."""
    return _separated(path, label, "\t", required)


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

    Notes
    -----
    The rows are read like those of a CSV file. SciPy's reader takes the quotes of the first row for those of all,
    drops surplus fields without a word and refuses attributes of the type ``string``.
    """
    lines = list(io.StringIO(text_bytes(path, ",").decode(), newline=""))
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
    nominal = [j for j, name in enumerate(names) if name.lower() == "class" and kinds[j].startswith("{")]
    use_class = label == "label" and label not in names and nominal
    position = nominal[-1] if use_class else label_position(names, label)
    return read_rows(Body("".join(body).encode(), start, names, position, quote=quote, escape="\\"))


def label_position(names: Sequence[str], label: str) -> int:
    """Return the place of the label's column; raises DataError where it is not there, or twice."""
    if names.count(label) > 1:
        raise DataError(f"there are {names.count(label)} columns '{label}'", "give every column its own name")
    if label in names:
        return names.index(label)
    near = get_close_matches(label, names, n=3) or names[-3:]
    raise DataError(
        f"there is no column '{label}' among the {len(names)} columns",
        f"name the label's column with --label, for example one of: {', '.join(near)}",
    )


def _separated(path: Path, label: str, delimiter: str, required: bool) -> Table:
    content = text_bytes(path, delimiter)
    above = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")
    before = size = 0
    line = ""
    while not line.strip() and (line := above.readline()):  # blank lines above the header count for nothing
        before, size = before + 1, size + len(line.encode())
    try:
        header = [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))]
    except csv.Error as error:
        raise DataError(f"the header, line {before}, cannot be read ({error})", "give a text file") from error
    if header in ([], [""]):
        raise DataError("the file is empty", "give a header row and one row per sample")
    if line.count('"') % 2:
        raise DataError(f"a quote in the header, line {before}, does not close on the same line", "close the quote")
    if all(_is_number(cell) for cell in header):
        raise DataError("the first row is numbers only, there is no header", "put the names in the first row")
    position = label_position(header, label) if required or label in header else None
    return read_rows(Body(content[size:], before, header, position, delimiter))


def _attribute(line: str, number: int) -> tuple[str, str]:
    match = _ATTRIBUTE.match(line.strip())
    if match is None:
        raise DataError(f"line {number} is not an attribute: {line.strip()[:80]!r}", "write @attribute NAME TYPE")
    name, kind = match.groups()
    if name[0] in "'\"":
        name = re.sub(r"\\(.)", r"\1", name[1:-1])
    return name, kind


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
