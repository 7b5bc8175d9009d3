"""Readers of the text formats with named columns: CSV and TSV (plain or gzip) and dense ARFF."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fsopt.data.tables.columns import NO_VALUE, is_number
from fsopt.data.tables.frames import table_of_frame
from fsopt.data.tables.layout import DEFAULT_TARGET, Layout
from fsopt.data.tables.spelling import SAMPLE, SEPARATORS, Spelling, marks_of, structure_of, text_bytes
from fsopt.data.tables.table import Table
from fsopt.errors import DataError

EXACT_BY_DEFAULT = (3, 1)
"""The version of pandas from which decimals are read exactly without a request, and the request is deprecated."""
_OPEN = "a quote that opens there does not close, or has others in it"
_ATTRIBUTE = re.compile(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\s{]+)\s*(.+)", re.IGNORECASE)


def read_csv(path: Path, layout: Layout, *, required: bool = True) -> Table:
    """Read a comma-separated file with a header, compressed with gzip if its name ends in .gz.

    What the layout does not say of the spelling of the file is found; an error names row, column and cell.
    """
    return _separated(path, layout, ",", required)


def read_tsv(path: Path, layout: Layout, *, required: bool = True) -> Table:
    """Read the same with tabs in place of commas."""
    return _separated(path, layout, "\t", required)


def _separated(path: Path, layout: Layout, own: str, required: bool) -> Table:
    """Return the content of a file whose suffix stands for the separator ``own``."""
    marks = SEPARATORS if layout.sep is None else layout.separator(own)
    content, encoding = text_bytes(path, marks, layout.encoding)
    lines = [line.decode() + "\n" for line in content.split(b"\n", SAMPLE)[:SAMPLE]]
    separator, above = structure_of(lines, own, marks)
    names, before = _header(lines[above:], above, separator)
    if len(names) == 1 and layout.sep is not None and any(mark in lines[above] for mark in SEPARATORS):
        hint = "name the separator with sep=, or leave it out"
        raise DataError(f"the header has one column, '{names[0][:60]}'", hint)
    said = [f"left out, above the header: {above} lines"] if "".join(lines[:above]).strip() else []
    rows = content[sum(len(line.encode()) for line in lines[:before]) :]
    while len(names) > 1 and (last := _footer(rows, separator)):
        said.append(f"the last line is left out: '{last[:60]}'")
        rows = rows[: rows.rindex(last.encode())]
    decimal, thousands, asked = marks_of(rows, separator, layout, lambda line: f"line {before + 1 + line}")
    spelling = Spelling(encoding, separator, decimal, thousands)
    usual = Spelling(layout.encoding or "utf-8", layout.separator(own), layout.decimal or ".", layout.thousands or "")
    said = [*([] if spelling == usual else [f"read as {spelling}"]), *said]
    table = _table(_Body(rows, before, names, spelling), layout, required, said)
    return replace(table, asked=(*asked, *table.asked))


def read_arff(path: Path, layout: Layout, *, required: bool = True) -> Table:
    """Read a dense ARFF file; an error names row, column and cell.

    If the target is ``label`` and there is none, the last nominal attribute called ``class`` (in any case) is taken.

    Notes
    -----
    The rows are read like those of a CSV file. SciPy's reader takes the quotes of the first row for those of all,
    drops surplus fields without a word and refuses attributes of the type ``string``.
    """
    content, encoding = text_bytes(path, ",", layout.encoding)
    lines = list(io.StringIO(content.decode(), newline=""))
    kinds: list[tuple[str, str]] = []
    start = 0
    for number, line in enumerate(lines, start=1):
        keyword = line.strip().lower()
        if keyword.startswith("@data"):
            start = number
            break
        if keyword.startswith("@attribute"):
            kinds.append(_attribute(line, number))
    if not kinds or not start:
        raise DataError("there are no @attribute lines followed by @data", "give an ARFF file")
    body = ["\n" if line.lstrip().startswith("%") else line for line in lines[start:]]
    if any(line.lstrip().startswith("{") for line in body):
        raise DataError("sparse ARFF rows ({index value, ...}) are not read", "save it as dense ARFF or .libsvm")
    names = [name for name, _ in kinds]
    nominal = [name for name, kind in kinds if name.lower() == "class" and kind.startswith("{")]
    if layout.target == DEFAULT_TARGET and DEFAULT_TARGET not in names and nominal:
        layout = replace(layout, target=nominal[-1])
    spelling, quote = Spelling(encoding), '"' if any('"' in line for line in body) else "'"
    said = [] if encoding in ("utf-8", layout.encoding) else [f"read as {spelling}"]
    return _table(_Body("".join(body).encode(), start, names, spelling, quote, "\\"), layout, required, said)


@dataclass(frozen=True)
class _Body:
    """The rows of a text file in UTF-8, below ``before`` lines and a header with the names of all columns."""

    content: bytes
    before: int
    names: list[str]
    spelling: Spelling
    quote: str = '"'
    escape: str | None = None

    @property
    def dialect(self) -> dict[str, Any]:
        """The characters of the format, in the keywords that ``csv`` and pandas share."""
        return {
            "delimiter": self.spelling.separator,
            "quotechar": self.quote,
            "escapechar": self.escape,
            "skipinitialspace": True,
        }

    def records(self) -> Iterator[tuple[str, list[str]]]:
        """Yield place and fields of each row that is not blank; the first faulty row is an error."""
        text = io.TextIOWrapper(io.BytesIO(self.content), encoding="utf-8", newline="")
        reader = csv.reader(text, strict=True, **self.dialect)
        count = end = 0
        while True:
            start = end + 1
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                joined = reader.line_num > start or "end of data" in str(error)
                raise _bad_line(self.before + start, _OPEN if joined else str(error)) from error
            end = reader.line_num
            if fields in ([], [""]):
                continue
            count += 1
            place = f"row {count} (line {self.before + end})"
            if len(fields) != len(self.names):
                raise DataError(
                    f"{place} has {len(fields)} fields, there are {len(self.names)} columns", "repair the row"
                )
            yield place, fields

    def places(self) -> list[str]:
        """Return the place of each row, for messages."""
        return [place for place, _ in self.records()]


def _table(body: _Body, layout: Layout, required: bool, said: Sequence[str]) -> Table:
    """Return the content of rows that are all of the same fields."""
    import pandas as pd

    special = {k for k, name in enumerate(body.names) if name in (layout.target, layout.id, layout.weights)}
    frame = _by_pandas(body, special)
    if frame is None:
        frame = pd.DataFrame([fields for _, fields in body.records()], columns=range(len(body.names)), dtype=object)
    for k in special:
        if frame[k].isna().any():  # a name of a sample is a text as it is, also NA
            frame[k] = [fields[k] for _, fields in body.records()]
    table = table_of_frame(
        frame.set_axis(body.names, axis=1), layout, required=required, spelling=body.spelling, places=body.places
    )
    return replace(table, said=(*said, *table.said))


def _by_pandas(body: _Body, special: set[int]) -> Any:
    """Return the frame that pandas reads, None where a row is not as it should be, or may not be."""
    # pandas fills short rows up and joins lines between stray quotes without a word. So its numbers of rows and fields
    # are compared with those in the text, counted where there are no quotes and read where there are some.
    import pandas as pd

    quoted = body.quote.encode() in body.content or (body.escape or body.quote).encode() in body.content
    rows = sum(1 for _ in body.records()) if quoted else None
    version = tuple(int(part) for part in pd.__version__.split(".")[:2])
    exact = {} if version >= EXACT_BY_DEFAULT else {"float_precision": "round_trip"}
    try:
        frame = pd.read_csv(
            io.BytesIO(body.content),
            header=None,
            names=range(len(body.names)),
            dtype=dict.fromkeys(special, str),
            keep_default_na=False,
            na_values=[*NO_VALUE, "NaN", "NAN", "NA", "N/A", "NULL"],
            encoding="utf-8",
            decimal=body.spelling.decimal,
            low_memory=False,
            **body.dialect,
            **exact,
        )
    except (ValueError, OverflowError):  # pandas's errors of parsing are ValueErrors
        return None
    n, width = frame.shape
    fields = body.content.count(body.spelling.separator.encode()) + n if rows is None else rows * width
    surplus = not isinstance(frame.index, pd.RangeIndex)  # fields of a longer first row, which pandas takes for names
    return None if surplus or width != len(body.names) or fields != n * width else frame


def _header(lines: list[str], above: int, separator: str) -> tuple[list[str], int]:
    """Return the names of the columns, and the number of lines to the end of the header."""
    try:
        reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
        names = [" ".join(cell.split()) for cell in next(reader, [])]
    except csv.Error as error:
        if "end of data" in str(error) or '"' in lines[0]:
            fault = f"a quote in the header, line {above + 1}, does not close"
            raise DataError(fault, "close the quote") from error
        raise DataError(f"the header, line {above + 1}, cannot be read ({error})", "give a text file") from error
    if not any(names):
        raise DataError("the file is empty", "give a header row and one row per sample")
    if all(is_number(name) for name in names):
        raise DataError("the first row is numbers only, there is no header", "put the names in the first row")
    before, rest = above + reader.line_num, []
    with suppress(csv.Error):
        rest = [row for row in reader if row]
    if rest and all(len(row) == len(names) + 1 for row in rest):
        if not any(row[-1].strip() for row in rest):
            names = [*names, ""]
        elif len({row[0] for row in rest}) == len(rest):  # R writes no name above the names of rows
            names = ["", *names]
    return names, before


def _footer(rows: bytes, separator: str) -> str:
    """Return the last line where it is a remark, without separators, such as "Total: 420 rows"; else an empty text."""
    last = rows.rstrip().rpartition(b"\n")[2].decode()
    words = any(sign.isalpha() for sign in last) and any(sign in last for sign in " :")
    return last if words and separator not in last and '"' not in last else ""


def _attribute(line: str, number: int) -> tuple[str, str]:
    """Return name and kind of an attribute."""
    match = _ATTRIBUTE.match(line.strip())
    if match is None:
        raise DataError(f"line {number} is not an attribute: {line.strip()[:80]!r}", "write @attribute NAME TYPE")
    name, kind = match.groups()
    if name[0] in "'\"":
        name = re.sub(r"\\(.)", r"\1", name[1:-1])
    return name, kind


def _bad_line(line: int, reason: str) -> DataError:
    return DataError(
        f"line {line} is not a row of separated fields ({reason})",
        "close the quote, and write a quote inside a quoted field twice",
    )
