"""The sections of a file of the Conic Benchmark Format as arrays, each index and count compared with the file's sizes.

The format has no mark of its end, and leaves out sections without entries: a file that is cut between two sections
reads like a whole one. Here each section comes once, sizes before numbers. BCOORD is needed where there are rows, and
DCOORD where there are semidefinite constraints, of 0 entries where all constants are 0; the second, or else the first,
or else OBJBCOORD, is the last section. So of a file that is read no beginning is read.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from fsopt.errors import FileError
from fsopt.formats.read_arrays import countable
from fsopt.typing import Indices, Vector

LINEAR = ("F", "L+", "L-", "L=")
SECOND_ORDER = {"Q": 1, "QR": 2}
"""Second-order cone -> smallest number of its rows."""
VERSIONS = ("1", "2", "3", "4")
COORDINATES = {
    "INT": "x",
    "OBJACOORD": "x",
    "OBJFCOORD": "Xij",
    "ACOORD": "rx",
    "BCOORD": "r",
    "FCOORD": "rXij",
    "HCOORD": "Pxij",
    "DCOORD": "Pij",
}
"""Section -> the indices of its lines: variable x, row r, matrix variable X, semidefinite constraint P, entry i j."""
SIZES = ("VER", "OBJSENSE", "PSDVAR", "VAR", "INT", "PSDCON", "CON")
"""Sections that come before those with numbers."""
LARGEST: Mapping[type, float] = {int: 2**60, float: sys.float_info.max}
Cones = list[tuple[str, int]]
Number = TypeVar("Number", int, float)


@dataclass
class SectionLines:
    """Lines of a section: indices (count, k), of matrices in the lower triangle, and values (count,)."""

    places: Indices
    values: Vector


@dataclass
class Content:
    """The sections of a file: cones, orders of matrices, and the entries of the sections with coordinates."""

    maximise: bool = False
    variables: Cones = field(default_factory=list)
    rows: Cones = field(default_factory=list)
    matrices: list[int] = field(default_factory=list)
    matrix_variables: list[int] = field(default_factory=list)
    constant: float = 0.0
    tables: dict[str, SectionLines] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Return the number of variables outside matrices."""
        return size_of(self.variables)

    @property
    def m(self) -> int:
        """Return the number of rows."""
        return size_of(self.rows)

    @property
    def needed(self) -> list[str]:
        """Return the sections that a file with these sizes has, the last one at its end."""
        constants = [name for name, sizes in (("BCOORD", self.rows), ("DCOORD", self.matrices)) if sizes]
        return ["VER", "OBJSENSE", *(constants or ["OBJBCOORD"])]

    def table(self, section: str) -> SectionLines:
        """Return the entries of a section, none where the file leaves it out."""
        none = SectionLines(np.zeros((0, len(COORDINATES[section])), dtype=int), np.zeros(0))
        return self.tables.get(section, none)


def size_of(cones: Cones) -> int:
    """Return the number of rows of cones."""
    return sum(size for _, size in cones)


class _Lines:
    """The lines of a file that are neither empty nor comments, and the place of the reader."""

    def __init__(self, text: str) -> None:
        numbered = ((number, line.strip()) for number, line in enumerate(text.split("\n"), start=1))
        self.lines = [(number, line) for number, line in numbered if line and not line.startswith("#")]
        self.place = 0

    def take(self, count: int = 1) -> list[str]:
        """Return the next lines."""
        if not 0 <= count <= len(self.lines) - self.place:
            raise FileError("the .cbf file ends within a section", "get the whole file")
        self.place += count
        return [line for _, line in self.lines[self.place - count : self.place]]

    def wrong(self, reason: str, back: int = 1) -> FileError:
        """Return the error of a line, counted backwards from the place of the reader."""
        number = self.lines[max(0, self.place - back)][0]
        return FileError(f"the .cbf file is damaged: line {number}: {reason[:120]}", "check it against the format")


def read_sections(text: str) -> Content:
    """Return the sections of a file; raises FileError for one that is damaged, cut, or has other sections or cones."""
    reader = _LineReader(text)
    while reader.lines.place < len(reader.lines.lines):
        reader.section(*reader.lines.take())
    needed = reader.content.needed
    lost = [name for name in needed if name not in reader.read]
    if lost or reader.read[-1] != needed[-1] or not text.endswith("\n"):
        missing = f"has no section {lost[0]}" if lost else f"does not end with the section {needed[-1]} and a new line"
        raise FileError(
            f"the .cbf file {missing}, so it may be cut",
            f"get the whole file; where it is, add what lacks, of 0 entries, and put {needed[-1]} last",
        )
    _check_whole(reader.content, "OBJBCOORD" in reader.read)
    return reader.content


def _check_whole(c: Content, constant: bool) -> None:
    """Refuse an objective, a row of the constraints or a row of a matrix without entries: they may have been lost."""

    def used(kinds: str) -> Iterator[list[int]]:
        """Yield the indices of these kinds in all sections that have the first of them."""
        for section, letters in COORDINATES.items():
            if kinds[0] in letters and section != "INT":
                yield from c.table(section).places[:, [letters.index(kind) for kind in kinds]].tolist()

    if not (constant or len(c.table("OBJACOORD").places) or len(c.table("OBJFCOORD").places)):
        raise FileError("the objective of the .cbf file has no entries", "write the section OBJBCOORD, where it is 0")
    if empty := set(range(c.m)) - {i for [i] in used("r")}:
        raise FileError(f"row {min(empty)} of the .cbf file has no entry", "write a 0 in BCOORD, if that is meant")
    # Nothing else in a file says whether the order of a matrix is right.
    for kind, orders in (("X", c.matrix_variables), ("P", c.matrices)):
        listed = {(k, i) for k, *places in used(f"{kind}ij") for i in places}
        for k, i in ((k, i) for k, order in enumerate(orders) for i in range(order)):
            if (k, i) not in listed:
                raise FileError(f"row {i} of matrix {k} of the .cbf file has no entry", "correct its order, or omit it")


class _LineReader:
    def __init__(self, text: str) -> None:
        self.lines = _Lines(text)
        self.content = Content()
        self.read: list[str] = []
        self.limits: dict[str, int] = {}
        c = self.content
        self.single: Mapping[str, Callable[[], None]] = {
            "VER": self._version,
            "OBJSENSE": self._sense,
            "OBJBCOORD": lambda: setattr(c, "constant", self._numbers(self.lines.take(), float)[0]),
            "VAR": lambda: self._cones(c.variables),
            "CON": lambda: self._cones(c.rows),
            "PSDVAR": lambda: self._orders(c.matrix_variables),
            "PSDCON": lambda: self._orders(c.matrices),
        }

    def section(self, name: str) -> None:
        """Read a section, whose name was taken."""
        if name not in self.single and name not in COORDINATES:
            raise FileError(f"the section '{name[:40]}' of the .cbf file is not read", "use other sections")
        if name in self.read:
            raise self.lines.wrong(f"the section {name} comes twice")
        if (name == "VER") != (not self.read):
            raise self.lines.wrong("the section VER has to be the first")
        if name in SIZES and self.read and self.read[-1] not in SIZES:
            raise self.lines.wrong(f"the section {name} comes after numbers")
        self.read.append(name)
        if name in self.single:
            self.single[name]()
        else:
            self.content.tables[name] = self._table(name, COORDINATES[name], valued=name != "INT")

    def _version(self) -> None:
        [word] = self.lines.take()
        if word not in VERSIONS:
            raise FileError(f"the version {word[:20]} of the .cbf file is not known", f"use {', '.join(VERSIONS)}")

    def _sense(self) -> None:
        [word] = self.lines.take()
        if word not in ("MIN", "MAX"):
            raise self.lines.wrong(f"'{word}' is neither MIN nor MAX")
        self.content.maximise = word == "MAX"

    def _count(self) -> int:
        return self._numbers(self.lines.take(), int)[0]

    def _cones(self, cones: Cones) -> None:
        words = self.lines.take()[0].split()
        if len(words) != 2:
            raise self.lines.wrong("two numbers are expected, of rows and of cones")
        size, count = self._numbers(words, int)
        for place, line in enumerate(self.lines.take(count)):
            (kind, *sizes), back = line.split(), count - place
            if kind not in (*LINEAR, *SECOND_ORDER):
                raise FileError(
                    f"the cone {kind[:20]} of the .cbf file is not read", "only linear, Q, QR and PSD cones are"
                )
            if len(sizes) != 1:
                raise self.lines.wrong(f"the cone {kind} has to have one size", back)
            [rows] = self._numbers(sizes, int, back)
            if rows < SECOND_ORDER.get(kind, 0):
                raise self.lines.wrong(f"the cone {kind} of {rows} rows is too short", back)
            cones.append((kind, rows))
        if size_of(cones) != size:
            raise self.lines.wrong(f"its cones have {size_of(cones)} rows, not {size}", count + 1)
        self._check_sizes()

    def _orders(self, orders: list[int]) -> None:
        count = self._count()
        for place, line in enumerate(self.lines.take(count)):
            orders += self._numbers([line], int, count - place)
            if orders[-1] < 1:
                raise self.lines.wrong("a matrix has no rows", count - place)
        self._check_sizes()

    def _check_sizes(self) -> None:
        """Refuse sizes of more memory than the limit, and keep the limit of each index."""
        c = self.content
        # An entry of a semidefinite matrix is a variable and a constraint; one of a matrix variable another variable.
        entries = 2 * sum(k * (k + 1) // 2 for k in c.matrices) + 3 * sum(k * (k + 1) // 2 for k in c.matrix_variables)
        countable(c.n + c.m + entries)
        self.limits = {"x": c.n, "r": c.m, "X": len(c.matrix_variables), "P": len(c.matrices)}

    def _table(self, section: str, kinds: str, *, valued: bool) -> SectionLines:
        count, width = self._count(), len(kinds) + valued
        places: list[list[int]] = []
        values: list[float] = []
        for place, line in enumerate(self.lines.take(count)):
            words, back = line.split(), count - place
            if len(words) != width:
                raise self.lines.wrong(f"{section} has {width} words, not {len(words)}", back)
            places.append(self._numbers(words[: len(kinds)], int, back))
            values += self._numbers(words[len(kinds) :], float, back)
        indices = np.array(places, dtype=int).reshape(-1, len(kinds))
        return SectionLines(self._checked(section, kinds, indices), np.array(values))

    def _checked(self, section: str, kinds: str, places: Indices) -> Indices:
        """Return indices that the sizes of the file allow, each once; those of an entry in the lower triangle."""
        count, orders = len(places), self.content.matrix_variables if "X" in kinds else self.content.matrices
        for place, kind in enumerate(kinds):
            inside = places[:, place] >= 0
            if kind in "ij":  # the matrix has been checked, as its index comes first
                of = places[:, kinds.index("X" if "X" in kinds else "P")]
                inside &= places[:, place] < np.array(orders, dtype=int)[of]
            else:
                inside &= places[:, place] < self.limits.get(kind, 0)
            if not inside.all():
                wrong = int(np.argmin(inside))
                raise self.lines.wrong(f"the index {places[wrong, place]} of {section} is out of range", count - wrong)
        if kinds.endswith("ij"):
            places[:, -2:] = np.sort(places[:, -2:], axis=1)[:, ::-1]
        _, first = np.unique(places, axis=0, return_index=True)
        if len(first) < count:
            wrong = min(set(range(count)) - set(first.tolist()))
            raise self.lines.wrong(f"an entry of {section} is stated twice", count - wrong)
        return places

    def _numbers(self, words: list[str], kind: type[Number], back: int = 1) -> list[Number]:
        try:
            values = [kind(word) for word in words]
        except ValueError:
            values = []
        if len(values) < len(words) or not all(abs(v) <= LARGEST[kind] for v in values) or "_" in "".join(words):
            raise self.lines.wrong(f"'{' '.join(words)}' are not finite numbers, or not whole", back)
        return values
