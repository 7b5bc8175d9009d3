"""The spelling of text files: encoding, separator, decimal mark and separator of thousands, found where not given.

pandas reads every spelling and finds none; the guesses of charset-normalizer call German and French files cp1250.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fsopt.common.memory import check_size, unpacked
from fsopt.data.tables.columns import AMOUNT
from fsopt.data.tables.layout import Layout
from fsopt.data.tables.questions import Question
from fsopt.errors import DataError

NUMBER = 8
"""Bytes of a number in memory."""
SEPARATORS = ",;\t|"
"""What separates fields, where it is looked for; the comma, which may also be in numbers, first."""
BLANK = " "
"""A separator, as in tables of R, where there is no other."""
SAMPLE = 30
"""Lines by which separator and header are found."""
MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
"""Byte order mark -> encoding."""
GROUPED = (" ", "'", "\u00a0", "\u202f", "\u2019")
"""Separators of thousands beside point and comma: spaces, also those that do not break, and apostrophes."""
_OF_UTF8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}")
_MINUS = re.compile("\u2212(?=[0-9])".encode())
"""The sign of typographers before a number."""
_OTHER = {".": ",", ",": "."}
_DECIMAL = r"(?![1-9]\d{0,2}M\d{3}(?!\d))(?:\d*|[1-9]\d{0,2}(?:G\d{3})+)M\d+(?:[eE][+-]?\d+)?"
_THOUSANDS = r"[1-9]\d{0,2}(?:(?:M\d{3}){2,}|(?:M\d{3})+O\d+)"
_BEFORE = r"[ \t]*(?:[<>]=?[ \t]*)?(?:[$][ \t]*)?"
_AFTER = r"[ \t]*(?:[%a-zA-Z\x80-\xff][^0-9,;\t|\"\n]*)?"
_GROUPED = r"[1-9]\d{0,2}(?:M\d{3})+(?:[.,]\d+)?"
"""Numbers in which the mark M can only be that of decimals, can only be that of thousands, and may be that; O is the
other one of point and comma, and G that or one of GROUPED."""


@dataclass(frozen=True)
class Spelling:
    """The spelling of a text file.

    Attributes
    ----------
    encoding : of its characters, as Python calls it.
    separator : of its fields.
    decimal : the mark before decimals.
    thousands : the separator of groups of three digits; empty where numbers have none.
    """

    encoding: str = "utf-8"
    separator: str = ","
    decimal: str = "."
    thousands: str = ""

    def __str__(self) -> str:
        separator = "tab" if self.separator == "\t" else f"'{self.separator}'"
        thousands = f", thousands '{self.thousands}'" if self.thousands else ""
        return f"{self.encoding}, {separator}, decimal '{self.decimal}'{thousands}"

    def respelled(self, cells: Iterable[str], name: str, places: Callable[[], Sequence[str]]) -> list[str]:
        """Return the cells of a column with their numbers in Python's spelling, also those with a sign or a unit.

        Raises
        ------
        DataError : only Python's spelling makes a number of a cell, such as 1.5 in a file with decimal commas.
        """
        read = self._reader()
        found = []
        for k, cell in enumerate(map(str.strip, cells)):
            part = AMOUNT.fullmatch(cell)
            number = read(part["number"]) if part else cell
            if number is None:
                raise DataError(
                    f"{places()[k]}, column '{name}': '{cell}' has a point, the decimal mark of the file is "
                    f"'{self.decimal}'",
                    "correct the cell, or say what the point is: decimal='.' or thousands='.'",
                )
            found.append(f"{part['before']}{number}{part['after']}" if part else number)
        return found

    def _reader(self) -> Callable[[str], str | None]:
        """Return a function of a cell: a number in Python's spelling, any other text as it is, and None where only
        Python's spelling would make a number of it.
        """
        mark, group = re.escape(self.decimal), re.escape(self.thousands)
        groups = rf"\d{{1,3}}(?:{group}\d{{3}})+|" if self.thousands else ""
        number = re.compile(rf"[+-]?(?:{groups}\d*)(?:{mark}\d*)?(?:[eE][+-]?\d+)?")

        def read(cell: str) -> str | None:
            if number.fullmatch(cell):
                return cell.replace(self.thousands, "").replace(self.decimal, ".")
            try:
                float(cell)
            except ValueError:
                return cell
            return None if "." in cell else cell

        return read


def text_bytes(path: Path, delimiters: str, encoding: str | None = None) -> tuple[bytes, str]:
    """Return the content of a text file in UTF-8, its lines ending in LF, and the encoding of the file.

    Parameters
    ----------
    path : expanded if its name ends in .gz.
    delimiters : what may separate its fields.
    encoding : of the file; None to find it.

    Raises
    ------
    DataError
        If it is not valid gzip or of another encoding, has a NUL character, or would expand beyond the limit.
    """
    raw = path.read_bytes()
    if path.suffix.lower() == ".gz":
        try:
            raw = unpacked(raw, "the expanded file")
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            hint = "drop .gz from its name, or compress it anew"
            raise DataError(f"the file is not valid gzip ({error})", hint) from error
        cells = raw.count(b"\n") + max(raw.count(mark.encode()) for mark in delimiters)
        check_size(NUMBER * cells, "the expanded file", more=True)
    content, found = _decoded(raw, encoding)
    if b"\r" in content:  # pandas drops an empty first cell below a blank line that ends so
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    content = _MINUS.sub(b"-", content)
    place = content.find(b"\0")
    if place >= 0:
        line = content.count(b"\n", 0, place) + 1
        raise DataError(f"line {line} has a NUL character, so the file is no text", "save it as UTF-8 text")
    return content, found


def _decoded(content: bytes, encoding: str | None) -> tuple[bytes, str]:
    """Return a text in UTF-8 without byte order mark, and its encoding, cp1252 where it is no Unicode."""
    mark = next((mark for mark in MARKS if content.startswith(mark)), b"")
    found = encoding or MARKS.get(mark) or _without_mark(content)
    try:
        return content.decode(found).removeprefix("\ufeff").encode(), found
    except LookupError as error:
        raise DataError(f"'{found}' is no encoding", "encoding= takes utf-8, utf-16, cp1252 and the like") from error
    except UnicodeError as error:
        hint = "encoding= names it, or save the file as UTF-8"
        raise DataError(f"the file is not {found} text ({error})".replace("utf-8", "UTF-8"), hint) from error


def _without_mark(content: bytes) -> str:
    """Return UTF-16 where every other byte is 0, UTF-8 where all bytes are that, or a part of them, else cp1252."""
    start = content[:1000]
    low, high = start[0::2].count(0), start[1::2].count(0)
    if max(low, high) > len(start) / 4 and not min(low, high):
        return "utf-16-le" if high else "utf-16-be"
    try:
        content.decode()
    except UnicodeDecodeError:
        return "utf-8" if _OF_UTF8.search(content) else "cp1252"
    return "utf-8"


def structure_of(lines: Sequence[str], own: str, marks: str) -> tuple[str, int]:
    """Return the separator of a table by its first lines, and the number of lines above its header.

    The separator is that by which all rows have the same number of fields, more than one; of several, such as the
    semicolons and the commas of "size, cm;weight" above "1,5;2,5", the one without another one in the fields, but for
    commas. Where there is none, as in a table with a faulty row, it is the one that makes most fields of the header.

    Parameters
    ----------
    lines : the first ones, of titles, the header and rows.
    own : the separator that the suffix of the file stands for, which comes first among equals.
    marks : what may separate fields.
    """
    tables: dict[str, list[list[str]]] = {}
    starts: dict[str, int] = {}
    even: list[str] = []
    for mark in dict.fromkeys((own if own in marks else "") + marks + BLANK * (len(marks) > 1)):
        if mark == BLANK and max(len(rows[0]) for rows in tables.values()) > 1:
            continue
        tables[mark], starts[mark] = _below_titles(lines, mark)
        header, *rows = tables[mark]
        widths = {len(row) for row in rows}
        if len(header) > 1 and widths in ({len(header)}, {len(header) + 1}):  # R writes no name above those of rows
            even.append(mark)

    def clean(mark: str) -> tuple[int, int]:
        rows = tables[mark]
        return -sum(other in cell for row in rows for cell in row for other in SEPARATORS[1:]), len(rows[0])

    usual = own in tables and len(tables[own][0]) > 1
    best = max(even, key=clean) if even else own if usual else max(marks, key=lambda mark: len(tables[mark][0]))
    return best, starts[best]


def _below_titles(lines: Sequence[str], mark: str) -> tuple[list[list[str]], int]:
    """Return the header and rows by a separator, and the number of lines above them."""
    found: list[tuple[list[str], int]] = []
    with suppress(csv.Error):
        reader = csv.reader(lines, delimiter=mark, skipinitialspace=True)
        found += ((row, reader.line_num) for row in reader)
    rows = [row for row, _ in found] or [[""]]
    head = header_of(rows)
    table = [row for row in rows[head:] if any(row)] or [[""]]
    while len(table) > 1 and len(table[-1]) == 1:  # remarks below
        table.pop()
    return table, found[head - 1][1] if head else 0


def header_of(rows: Sequence[Sequence[str]]) -> int:
    """Return the place of the header of a table in its first rows, below titles: these have at most half of the fields.

    A row with a number in it is no header below titles; the first row that is not blank is it then.
    """
    filled = [sum(1 for cell in row if cell.strip()) for row in rows]
    first = next((k for k, count in enumerate(filled) if count), 0)
    widths = Counter(len(row) for row, count in zip(rows, filled, strict=True) if count) or {1: 1}
    width = max(widths, key=lambda width: (widths[width], width))
    found = next((k for k, count in enumerate(filled) if 2 * count > width), first)
    return first if any(map(_is_value, rows[found])) else found


def _is_value(cell: str) -> bool:
    """Return whether a cell is a number in any spelling, which is no name."""
    return any(sign.isdigit() for sign in cell) and not any(sign.isalpha() for sign in cell)


def marks_of(
    content: bytes, separator: str, layout: Layout, place: Callable[[int], str]
) -> tuple[str, str, tuple[Question, ...]]:
    """Return the decimal mark and the separator of thousands of the fields of a text, and the question that is left.

    Decimals are told by fields such as 1,5 and 1.234,5, thousands by 1.234.567, 1.234,5 and 1 234. A field such as
    1,234 tells neither; where nothing else does, it is asked, and taken for decimals.

    Parameters
    ----------
    content : rows, in UTF-8.
    layout : marks that are given are not looked for.
    place : of a line of the content, for the message.
    """
    first = partial(_first, content, separator)

    def told(mark: str) -> bool:
        return bool(first(_DECIMAL, mark) or first(_THOUSANDS, _OTHER[mark]))

    asked: tuple[Question, ...] = ()
    decimal = layout.decimal or _OTHER.get(layout.thousands or "")
    if decimal is None and layout.thousands is not None:
        decimal = "," if first(_DECIMAL, ",") else "."
    elif decimal is None:
        comma, point = told(","), told(".")
        decimal = "," if comma and not point else "."
        for mark in "" if comma or point else "," if separator == "," else ",.":
            doubt = first(_GROUPED, mark)  # a point in a file with commas between fields is none
            if doubt:
                text, line = doubt.group(1).decode(), content.count(b"\n", 0, doubt.start(1))
                fault = f"{place(line)}: '{text}' may be {text.replace(mark, '.')} or {text.replace(mark, '')}"
                remedy = f"say which: decimal='{mark}' or thousands='{mark}'"
                decimal, asked = mark, (Question(fault, remedy, {"decimal": mark}),)
                break
    if layout.thousands is not None:
        return decimal, layout.thousands, asked
    other = _OTHER[decimal]
    grouped = next((mark for mark in (other, *GROUPED) if first(_GROUPED, mark)), "")
    return decimal, "" if grouped and first(_DECIMAL, other) else grouped, asked


def _first(content: bytes, separator: str, form: str, mark: str) -> re.Match[bytes] | None:
    """Return the first field that is a number with a mark; one that separates fields is in quoted ones alone."""
    if mark.encode() not in content:
        return None
    edge, other = re.escape(separator) + r'"\n', _OTHER.get(mark, "")
    fields = [(rf"(?<![^{edge}])", "(?!)" if other == separator else re.escape(other), rf"(?![^{edge}])")]
    if mark == separator:
        fields = []
    if separator in _OTHER and b'"' in content:
        fields.append(('(?<=")', re.escape(other), '(?=")'))
    for start, o, end in fields:
        groups = "|".join([o, *map(re.escape, GROUPED)])
        number = form.replace("M", re.escape(mark)).replace("O", o).replace("G", f"(?:{groups})")
        if found := re.search(rf"{start}{_BEFORE}([+-]?(?:{number})){_AFTER}{end}".encode(), content):
            return found
    return None
