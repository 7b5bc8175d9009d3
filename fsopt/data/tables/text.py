"""Readers of the text formats with named columns: CSV and TSV (plain or gzip) and dense ARFF."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from itertools import islice
from pathlib import Path

from fsopt.data.tables.content import text_bytes
from fsopt.data.tables.layout import DEFAULT_TARGET, Layout, refuse_absent
from fsopt.data.tables.rows import Body, read_rows
from fsopt.data.tables.spelling import SAMPLE, SEPARATORS, Spelling, separator_of, spelled
from fsopt.data.tables.table import Table
from fsopt.errors import DataError

_ATTRIBUTE = re.compile(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\s{]+)\s*(.+)", re.IGNORECASE)


def read_csv(path: Path, layout: Layout, *, required: bool = True) -> Table:
    """Read a comma-separated file with a header, compressed with gzip if its name ends in .gz.

    What the layout does not say of the spelling of the file is found; an error names row, column and cell.
    """
    return _separated(path, layout, ",", required)


def read_tsv(path: Path, layout: Layout, *, required: bool = True) -> Table:
    """Read the same with tabs in place of commas."""
    return _separated(path, layout, "\t", required)


def read_arff(path: Path, layout: Layout) -> Table:
    """Read a dense ARFF file; an error names row, column and cell.

    If the target is ``label`` and there is none, the last nominal attribute called ``class`` (in any case) is taken.

    Notes
    -----
    The rows are read like those of a CSV file. SciPy's reader takes the quotes of the first row for those of all,
    drops surplus fields without a word and refuses attributes of the type ``string``.
    """
    content, encoding = text_bytes(path, ",", layout.encoding)
    lines = list(io.StringIO(content.decode(), newline=""))
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
    if layout.target == DEFAULT_TARGET and DEFAULT_TARGET not in names and nominal:
        layout = replace(layout, target=names[nominal[-1]])
    refuse_absent(layout.target, names, "target")
    spelling = Spelling(encoding, guess=not layout.encoding and encoding != "utf-8")
    return read_rows(Body("".join(body).encode(), start, names, layout, spelling, quote=quote, escape="\\"))


def _separated(path: Path, layout: Layout, own: str, required: bool) -> Table:
    content, encoding = text_bytes(path, SEPARATORS if layout.sep is None else layout.separator(own), layout.encoding)
    above = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")
    before = size = 0
    line = ""
    while not line.strip() and (line := above.readline()):  # blank lines above the header count for nothing
        before, size = before + 1, size + len(line.encode())
    delimiter = layout.separator(own)
    if layout.sep is None:
        delimiter = separator_of([line, *islice(above, SAMPLE)], own)
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
    if len(header) == 1 and layout.sep is not None and any(mark in line for mark in SEPARATORS):
        raise DataError(
            f"the header has one column, '{header[0][:60]}'", "name the separator with sep=, or leave it out"
        )
    if required:
        refuse_absent(layout.target, header, "target")
    found = Spelling(
        encoding, delimiter, guess=(layout.encoding or "utf-8", layout.separator(own)) != (encoding, delimiter)
    )
    rows = content[size:]
    return read_rows(Body(rows, before, header, layout, spelled(rows, found, layout, before)))


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
