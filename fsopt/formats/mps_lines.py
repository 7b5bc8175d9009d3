"""The lines of an .mps file as words, by sections, in free or in fixed form."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NoReturn

import numpy as np

from fsopt.errors import FileError
from fsopt.typing import Indices, Mask, Vector

FIELDS = ((1, 3), (4, 12), (14, 22), (24, 36), (39, 47), (49, 61))
"""Columns of the fields of the fixed form, from 0; between them are blanks."""
GAPS = ((0, 1), (3, 4), (12, 14), (22, 24), (36, 39), (47, 49))

MARKER = "'MARKER'"


def numbers(words: Sequence[str]) -> Vector | None:
    """Return the values of words, infinite ones included; None where one is no number."""
    try:
        values = np.fromiter(map(float, words), float, len(words))
    except ValueError:
        return None
    return None if "_" in "".join(words) or np.isnan(values).any() else values


def repeated(values: Sequence[Hashable]) -> Mask:
    """Return which values came before."""
    first: dict[Hashable, int] = {}
    return np.array([first.setdefault(value, k) != k for k, value in enumerate(values)], dtype=np.bool_)


def wrong(number: int, line: str, reason: str, hint: str = "check the file") -> NoReturn:
    """Raise the FileError of a line, by its number from 1."""
    raise FileError(f"line {number} of the file, '{' '.join(line.split())[:50]}': {reason}", hint)


@dataclass
class Pairs:
    """Names and values of the lines of a section, ``[head] name value [name value]``, one entry for each value.

    Attributes
    ----------
    heads, names : words (k,). ``values`` : (k,). ``lines`` : (k,) places in the section.
    """

    heads: list[str]
    names: list[str]
    values: Vector
    lines: Indices


@dataclass
class MpsSection:
    """A section: its name, the further words of its first line, and the words and numbers of its lines.

    ``text`` and ``head`` are the lines of the file and the number of the first one, ``marked`` whether it may have
    markers of integers.
    """

    name: str
    rest: list[str]
    rows: list[list[str]]
    numbers: Sequence[int]
    text: Sequence[str]
    head: int
    marked: bool

    def wrong(self, place: int, reason: str, hint: str = "check the file") -> NoReturn:
        """Raise the FileError of a line of the section; the place -1 is its first line."""
        number = self.head if place < 0 else self.numbers[place]
        wrong(number + 1, self.text[number], reason, hint)

    def first_wrong(self, bad: Mask, reason: str, hint: str = "check the file") -> None:
        """Raise the FileError of the first line that is marked, if there is one."""
        if bad.any():
            self.wrong(int(np.argmax(bad)), reason, hint)

    def sizes(self) -> Indices:
        """Return the number of words of each line."""
        return np.fromiter(map(len, self.rows), int, len(self.rows))

    def pairs(self, *, needs_head: bool) -> Pairs:
        """Return the pairs of all lines; an absent head is empty, where it may be absent."""
        sizes = self.sizes()
        headed = sizes % 2 == 1
        bad = (sizes < 2) | (sizes > 5) | (needs_head & ~headed)
        self.first_wrong(bad, "a name and one or two pairs of a name and a number are expected")
        words = np.array([*chain.from_iterable(self.rows)], dtype=object)
        start = np.cumsum(sizes) - sizes
        place = start + headed
        line = np.arange(len(sizes))
        if (second := sizes > 3).any():
            place, line = np.concatenate([place, place[second] + 2]), np.concatenate([line, line[second]])
            order = np.argsort(line, kind="stable")
            place, line = place[order], line[order]
        values = self.values(words[place + 1].tolist(), line)
        heads = np.where(headed, words[start], "")[line] if len(sizes) else np.array([], dtype=object)
        return Pairs(heads.tolist(), words[place].tolist(), values, line)

    def values(self, words: list[str], lines: Indices) -> Vector:
        """Return the numbers of words that are in some lines; raises FileError for the first that is none."""
        values = numbers(words)
        if values is None:
            bad = next(k for k, word in enumerate(words) if numbers([word]) is None)
            self.wrong(int(lines[bad]), f"'{words[bad][:40]}' is not a number")
        return values


def sections(text: str, *, fixed: bool) -> list[MpsSection] | None:
    """Return the sections of a file; None for one that is not in fixed form, where it is to be."""
    lines = text.split("\n")
    words = _fixed(lines) if fixed else list(map(str.split, lines))
    if words is None:
        return None
    heads = [k for k, line in enumerate(lines) if line and line[0] > " "]
    remarks = {k for k in heads if lines[k][0] == "*"}
    heads = [k for k in heads if k not in remarks]
    before = next((k for k in range(heads[0] if heads else len(lines)) if words[k] and k not in remarks), None)
    if before is not None or not heads:
        wrong((before or 0) + 1, lines[before or 0], "the file does not begin with a section")
    found = []
    for first, end in zip(heads, [*heads[1:], len(lines)], strict=True):
        inside: Sequence[int] = range(first + 1, end)
        rows = words[first + 1 : end]
        if remarks or not all(rows):
            inside = [k for k in inside if words[k] and k not in remarks]
            rows = [words[k] for k in inside]
        name, *rest = words[first]
        if "$" in text:
            rows = [_before_remark(row, 2 if name in ("ROWS", "BOUNDS") else 1) for row in rows]
        found.append(MpsSection(name.upper(), rest, rows, inside, lines, first, MARKER in text))
    return found


def _before_remark(row: list[str], place: int) -> list[str]:
    """Return the words before one that begins with $, from a place on, and with it a remark."""
    return next((row[:k] for k in range(place, len(row)) if row[k].startswith("$")), row)


def _fixed(lines: Sequence[str]) -> list[list[str]] | None:
    """Return the words of lines in fixed form, in which names have spaces; None where they are in another form."""
    found = []
    for line in map(str.rstrip, lines):
        if line[:1] > " ":
            found.append(line.split())
        elif len(line) > FIELDS[-1][1] or "\t" in line or any(line[a:b].strip() for a, b in GAPS):
            return None
        else:
            found.append([word for a, b in FIELDS if (word := line[a:b].strip())])
    return found
