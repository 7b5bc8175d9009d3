"""The spelling of text files: encoding, separator, decimal mark and separator of thousands, found where not given."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from fsopt.data.tables.layout import Layout
from fsopt.errors import DataError

SEPARATORS = ",;\t|"
"""What separates fields, where it is looked for; the comma, which may also be in numbers, first."""
SAMPLE = 20
"""Lines by which the separator is found."""
MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
"""Byte order mark -> encoding."""
GROUPED = (" ", "'", "\u00a0", "\u202f", "\u2019")
"""Separators of thousands beside point and comma: spaces, also those that do not break, and apostrophes."""
_OF_UTF8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}")
_OTHER = {".": ",", ",": "."}


@dataclass(frozen=True)
class Spelling:
    """The spelling of a text file.

    Attributes
    ----------
    encoding : of its characters, as Python calls it.
    separator : of its fields.
    decimal : the mark before decimals.
    thousands : the separator of groups of three digits; empty where numbers have none.
    guess : whether a part of it was found, and differs from what the suffix of the file stands for.
    """

    encoding: str = "utf-8"
    separator: str = ","
    decimal: str = "."
    thousands: str = ""
    guess: bool = False

    def __str__(self) -> str:
        separator = "tab" if self.separator == "\t" else f"'{self.separator}'"
        thousands = f", thousands '{self.thousands}'" if self.thousands else ""
        return f"{self.encoding}, {separator}, decimal '{self.decimal}'{thousands}"

    @property
    def plain(self) -> bool:
        """Whether its numbers are those of Python."""
        return self.decimal == "." and not self.thousands

    def reader(self) -> Callable[[str], str | None]:
        """Return a function of a cell: a number in Python's spelling, any other text as it is, and None where only
        Python's spelling would make a number of it, such as 1.5 in a file with decimal commas.
        """
        mark, group = re.escape(self.decimal), re.escape(self.thousands)
        groups = rf"\d{{1,3}}(?:{group}\d{{3}})+|" if self.thousands else ""
        number = re.compile(rf"[+-]?(?:{groups}\d*)(?:{mark}\d*)?(?:[eE][+-]?\d+)?")

        def read(cell: str) -> str | None:
            if number.fullmatch(cell):
                whole = cell.replace(self.thousands, "") if self.thousands else cell
                return whole.replace(self.decimal, ".")
            try:
                float(cell)
            except ValueError:
                return cell
            return None if "." in cell else cell

        return read


AS_NAMED = Spelling()
"""That of a file with the suffix .csv, as programs write it."""


def decoded(content: bytes, encoding: str | None) -> tuple[bytes, str]:
    """Return a text in UTF-8 without byte order mark, and its encoding.

    Where none is given, it is that of the mark, UTF-16 without a mark where every other byte is 0, UTF-8 where the
    bytes are that, or cp1252, the encoding of Western Windows.

    Raises
    ------
    DataError : the text is not of the given encoding, or of none of these; a part of it is UTF-8 and a part is not.
    """
    mark = next((mark for mark in MARKS if content.startswith(mark)), b"")
    found = encoding or MARKS.get(mark) or _without_mark(content)
    try:
        if codecs.lookup(found).name == "utf-8":
            content = content.removeprefix(codecs.BOM_UTF8)
            _check(content)
            return content, found
        return content.decode(found).removeprefix("\ufeff").encode(), found
    except LookupError as error:
        raise DataError(f"'{found}' is no encoding", "encoding= takes utf-8, utf-16, cp1252 and the like") from error
    except UnicodeError as error:
        hint = "encoding= names it, or save the file as UTF-8"
        raise DataError(f"the file is not {found} text ({error})".replace("utf-8", "UTF-8"), hint) from error


def _without_mark(content: bytes) -> str:
    start = content[:1000]
    low, high = start[0::2].count(0), start[1::2].count(0)
    if max(low, high) > len(start) / 4 and not min(low, high):
        return "utf-16-le" if high else "utf-16-be"
    try:
        _check(content)
    except UnicodeDecodeError:
        return "utf-8" if _OF_UTF8.search(content) else "cp1252"
    return "utf-8"


def _check(content: bytes, block: int = 1 << 20) -> None:
    """Raise UnicodeDecodeError where bytes are not UTF-8, without a copy of them."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(content), block):
        decoder.decode(content[start : start + block])
    decoder.decode(b"", final=True)


def separator_of(lines: Iterable[str], own: str) -> str:
    """Return the separator of a table by its first lines.

    It is that by which all lines have the same number of fields, more than one; of several, such as the semicolons and
    the commas of "size, cm;weight" above "1,5;2,5", the one without another one in the fields, but for commas. Where
    there is none, as in a table with a faulty row, it is the one that makes most fields of the header.

    Parameters
    ----------
    lines : the header and rows.
    own : the separator that the suffix of the file stands for, which comes first among equals.
    """
    sample = [line for line in lines if line.strip()][:SAMPLE] or [""]
    tables = {}
    for mark in dict.fromkeys(own + SEPARATORS):
        try:
            tables[mark] = list(csv.reader(sample, delimiter=mark, skipinitialspace=True))
        except csv.Error:
            tables[mark] = [[]]
    even = [mark for mark, rows in tables.items() if len(rows[0]) > 1 and len({len(row) for row in rows}) == 1]
    if not even:
        return own if len(tables[own][0]) > 1 else max(tables, key=lambda mark: len(tables[mark][0]))

    def clean(mark: str) -> tuple[int, int]:
        rows = tables[mark]
        return -sum(other in cell for row in rows for cell in row for other in SEPARATORS[1:]), len(rows[0])

    return max(even, key=clean)


def spelled(content: bytes, spelling: Spelling, layout: Layout, before: int) -> Spelling:
    """Return a spelling with the decimal mark and the separator of thousands of the fields of a text.

    Decimals are told by fields such as 1,5 and 1.234,5, thousands by 1.234.567, 1.234,5 and 1 234. A field such as
    1,234 tells neither; where nothing else does, it is an error.

    Parameters
    ----------
    content : rows, in UTF-8.
    spelling : with separator.
    layout : marks that are given are not looked for.
    before : number of lines above the rows, for the message.
    """
    marks = _Marks(content, spelling.separator)
    if layout.decimal is None and layout.thousands is None:
        decimal = _decimal(marks, before)
    else:
        decimal = layout.decimal or _OTHER.get(layout.thousands or "", "," if marks.decimal(",") else ".")
    other = _OTHER[decimal]
    thousands = layout.thousands or ""
    if layout.thousands is None:
        grouped = [mark for mark in (other, *GROUPED) if marks.grouped(mark)]
        thousands = grouped[0] if grouped and not marks.decimal(other) else ""
    guess = (layout.decimal is None and decimal == ",") or (layout.thousands is None and thousands != "")
    return replace(spelling, decimal=decimal, thousands=thousands, guess=spelling.guess or guess)


def _decimal(marks: _Marks, before: int) -> str:
    """Return the decimal mark that the fields tell, the point where they tell none or both."""
    tell = {mark: marks.decimal(mark) or marks.strictly_grouped(_OTHER[mark]) for mark in _OTHER}
    if any(tell.values()):
        return "," if tell[","] and not tell["."] else "."
    for mark in "," if marks.separator == "," else ",.":  # a point in a file with commas between fields is no doubt
        doubt = marks.grouped(mark)
        if doubt:
            text = doubt.group(1).decode()
            line = before + 1 + marks.content.count(b"\n", 0, doubt.start(1))
            raise DataError(
                f"line {line}: '{text}' may be {text.replace(mark, '.')} or {text.replace(mark, '')}",
                f"say which: decimal='{mark}' or thousands='{mark}'",
            )
    return "."


@dataclass(frozen=True)
class _Marks:
    """Fields of a text that are numbers with a mark; a mark that separates fields is in quoted ones alone."""

    content: bytes
    separator: str

    def decimal(self, mark: str) -> re.Match[bytes] | None:
        """Return the first field in which the mark can only be that of decimals."""
        other = rf"[1-9]\d{{0,2}}(?:\{_OTHER[mark]}\d{{3}})+" if mark in _OTHER else r"\d"
        return self._search(mark, rf"(?![1-9]\d{{0,2}}\{mark}\d{{3}}(?!\d))(?:\d*|{other})\{mark}\d+(?:[eE][+-]?\d+)?")

    def strictly_grouped(self, mark: str) -> re.Match[bytes] | None:
        """Return the first field in which the mark can only be that of thousands."""
        return self._search(mark, rf"[1-9]\d{{0,2}}(?:(?:\{mark}\d{{3}}){{2,}}|(?:\{mark}\d{{3}})+\{_OTHER[mark]}\d+)")

    def grouped(self, mark: str) -> re.Match[bytes] | None:
        """Return the first field in which the mark may be that of thousands."""
        return self._search(mark, rf"[1-9]\d{{0,2}}(?:\{mark}\d{{3}})+(?:(?:\.|\,)\d+)?")

    def _search(self, mark: str, number: str) -> re.Match[bytes] | None:
        if mark.encode() not in self.content:
            return None
        separator = re.escape(self.separator)
        numbers = [(number.replace(f"\\{self.separator}", "(?!)"), rf'{separator}"\r\n', r"\A|", r"|\Z")]
        if self.separator in _OTHER and b'"' in self.content:
            numbers.append((number, '"', "", ""))
        for form, edge, start, end in numbers:
            pattern = rf"(?:{start}[{edge}])[ \t]*([+-]?(?:{form}))[ \t]*(?=[{edge}]{end})"
            if found := re.search(pattern.encode(), self.content):
                return found
        return None
