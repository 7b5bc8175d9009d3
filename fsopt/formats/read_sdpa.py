r"""Files of SDPA's sparse format, ``.dat-s``, as the sections of a file of the Conic Benchmark Format.

.. math:: \min\ c'x \quad\text{s.t.}\quad \sum_j x_j F_j - F_0 \succeq 0

A row of a diagonal block is a linear constraint, one that says only the sign of a variable is a bound, and a row that
is followed by its negative is an equation. A block that is an arrow matrix, with entries in its first row and one
affine form in the rest of its diagonal, is a second-order cone (Schur complement), see :mod:`fsopt.formats.sdpa`. Any
other block is a linear matrix inequality. A program that was written comes back as the cones that it was written from.

The format has no mark of its end. A file of fsopt states in a comment how many entries it has; a file of other
software is refused if a variable or a row of a block has no entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np
import pyomo.environ as pyo

from fsopt.errors import FileError
from fsopt.formats.cbf_sections import Content, SectionLines
from fsopt.formats.mps_lines import wrong
from fsopt.formats.nl_terms import finite, index, whole
from fsopt.formats.read_arrays import INFINITE, countable, worded
from fsopt.formats.read_cbf import conic

NAMED = re.compile(r'"variable (\d+): (.+)')
COUNTED = re.compile(r'"(\d+) entries')
INTEGERS = re.compile(r"\*\s*integer\b.*", re.IGNORECASE)
"""An extension of SCIP-SDP: the comments after this one are numbers of integer variables."""
BLANKS = str.maketrans("{}(),\t", "      ")
Row = tuple[dict[int, float], float]
"""Coefficients by variable, from 0, and the constant of an affine form."""
Block = dict[tuple[int, int], Row]
"""Entries of a block by row and column, row <= column, from 0."""


def read_sdpa(text: str) -> pyo.ConcreteModel:
    """Return the model of a .dat-s file; raises FileError for one that is damaged, or cut where that can be seen."""
    comments = [line.strip() for line in text.split("\n") if line.startswith(('"', "*"))]
    if any(map(INTEGERS.fullmatch, comments)):
        raise FileError("the .dat-s file has integer variables", "state the model as .cbf")
    costs, sizes, entries = _numbers(text)
    counts = [int(found[1]) for found in map(COUNTED.fullmatch, comments) if found]
    if not text.endswith("\n") or any(count != len(entries) for count in counts):
        stated = f", not {counts[0]} as it states" if counts else " and does not end with a new line"
        raise FileError(f"the .dat-s file has {len(entries)} entries{stated}, so it may be cut", "get the whole file")
    used = {j for j, *_ in entries}
    if lost := set(range(1, len(costs) + 1)) - used:
        raise FileError(f"variable {min(lost)} of the .dat-s file has no entry", "get the whole file, or leave it out")
    named = {int(found[1]) - 1: found[2] for found in map(NAMED.fullmatch, comments) if found}
    return conic(_content(costs, sizes, _blocks(sizes, entries)), named)


def _numbers(text: str) -> tuple[list[float], list[int], dict[tuple[int, ...], float]]:
    """Return costs, sizes of the blocks (negative of diagonal ones), and (matrix, block, row, column) -> value."""
    costs: list[float] = []
    sizes: list[int] = []
    heads: list[int] = []
    entries: dict[tuple[int, ...], float] = {}
    for number, line in enumerate(worded(text).split("\n"), start=1):
        if line.startswith(('"', "*")) or not line.strip():
            continue
        words = (line.partition("=")[0] if len(heads) < 2 or not sizes else line).translate(BLANKS).split()
        try:
            if len(heads) < 2:
                [word] = words
                heads.append(countable(index(word, 10**15, "number of variables or blocks", 1)))
            elif not sizes:
                sizes = _sizes(words, *heads)
            elif len(costs) < heads[0]:
                costs += map(finite, words)
                if len(costs) > heads[0]:
                    raise ValueError(f"there are more than {heads[0]} costs")
            else:
                _add_entry(words, heads[0], sizes, entries)
        except ValueError as error:
            wrong(number, line, str(error))
    if not sizes or len(costs) < heads[0]:
        raise FileError("the .dat-s file ends before its entries", "get the whole file")
    return costs, sizes, entries


def _sizes(words: list[str], variables: int, blocks: int) -> list[int]:
    """Return the sizes of the blocks; raises FileError before memory is taken for too large ones."""
    sizes = [whole(word) for word in words]
    if len(sizes) != blocks or 0 in sizes:
        raise ValueError(f"sizes of {blocks} blocks are expected, none of them 0")
    countable(variables + sum(-size if size < 0 else size * (size + 1) for size in sizes))
    return sizes


def _add_entry(words: list[str], variables: int, sizes: list[int], entries: dict[tuple[int, ...], float]) -> None:
    """Add an entry; one of the lower triangle is that of the upper one."""
    matrix, of, i, j, value = words
    block = index(of, len(sizes) + 1, "block", 1)
    order = abs(sizes[block - 1]) + 1
    row, column = sorted((index(i, order, "row", 1), index(j, order, "column", 1)))
    if sizes[block - 1] < 0 and row < column:
        raise ValueError(f"the block {block} is diagonal")
    place = (index(matrix, variables + 1, "matrix"), block, row, column)
    if place in entries:
        raise ValueError("an entry is stated twice")
    entries[place] = finite(value)
    if not place[0] and abs(entries[place]) >= INFINITE:
        raise ValueError(f"a constant of {INFINITE:g} or more is no number here")


def _blocks(sizes: list[int], entries: Mapping[tuple[int, ...], float]) -> list[Block]:
    """Return the affine forms of the blocks; raises FileError for a row without entries."""
    blocks: list[Block] = [{} for _ in sizes]
    for (matrix, block, i, j), value in entries.items():
        form, constant = blocks[block - 1].get((i - 1, j - 1), ({}, 0.0))
        if matrix:
            form[matrix - 1] = value
        blocks[block - 1][i - 1, j - 1] = form, constant if matrix else -value
    for number, (size, own) in enumerate(zip(sizes, blocks, strict=True), start=1):
        if lost := set(range(abs(size))) - {k for place in own for k in place}:
            raise FileError(f"row {min(lost) + 1} of block {number} of the .dat-s file has no entry", "check its size")
    return blocks


def _content(costs: list[float], sizes: list[int], blocks: list[Block]) -> Content:
    """Return the sections: linear rows, second-order cones, and the matrices that are neither."""
    kinds = ["F"] * len(costs)
    cones: list[tuple[str, list[Row]]] = []
    matrices: list[Block] = []
    for size, block in zip(sizes, blocks, strict=True):
        if all(i == j for i, j in block):
            cones += _linear([block[i, i] for i in range(abs(size))], kinds)
        elif (arrow := _arrow(block, size)) is not None:
            cones.append(arrow)
        else:
            matrices.append(block)
    rows = [row for _, listed in cones for row in listed]
    forms = [((k, j, i), row) for k, block in enumerate(matrices) for (i, j), row in sorted(block.items())]
    return Content(
        variables=[(kind, 1) for kind in kinds],
        rows=[(kind, len(listed)) for kind, listed in cones],
        matrices=[1 + max(j for _, j in block) for block in matrices],
        tables={
            "OBJACOORD": _table(((j,), cost) for j, cost in enumerate(costs)),
            "ACOORD": _table(((i, j), v) for i, (form, _) in enumerate(rows) for j, v in form.items()),
            "BCOORD": _table(((i,), constant) for i, (_, constant) in enumerate(rows)),
            "HCOORD": _table(((k, c, i, j), v) for (k, i, j), (form, _) in forms for c, v in form.items()),
            "DCOORD": _table((place, constant) for place, (_, constant) in forms),
        },
    )


def _table(entries: Iterable[tuple[tuple[int, ...], float]]) -> SectionLines:
    """Return the lines of a section, without zeros; the places are those that `Content` has."""
    listed = [(place, value) for place, value in entries if value]
    width = {0: 4}.get(len(listed), len(listed[0][0]) if listed else 4)
    places = np.array([place for place, _ in listed], dtype=int).reshape(-1, width)
    return SectionLines(places, np.array([value for _, value in listed], dtype=float))


def _linear(rows: list[Row], kinds: list[str]) -> list[tuple[str, list[Row]]]:
    """Return the cones of nonnegative rows, and enter the signs of variables that they say into their kinds."""
    cones: list[tuple[str, list[Row]]] = []
    for form, constant in rows:
        [(j, v), *more] = form.items() or [(0, 0.0)]
        kind = {1.0: "L+", -1.0: "L-"}.get(v)
        if kind is not None and not more and not constant and kinds[j] not in (kind, "L="):
            kinds[j] = kind if kinds[j] == "F" else "L="
            continue
        negative = {j: -v for j, v in form.items()}, -constant
        if cones and cones[-1] == ("L+", [negative]):
            cones[-1] = ("L=", [negative])
        else:
            cones.append(("L+", [(form, constant)]))
    return cones


def _arrow(block: Block, order: int) -> tuple[str, list[Row]] | None:
    """Return the second-order cone of an arrow matrix, None for another matrix."""
    diagonal: list[Row] = [block.get((k, k), ({}, 0.0)) for k in range(order)]
    head, first = diagonal[:2]
    if any(0 < i < j for i, j in block) or any(one != first for one in diagonal[1:]):
        return None
    tail = [block[0, j] for j in range(1, order) if (0, j) in block]
    if head == first:
        return "Q", [head, *tail]
    half = {j: v / 2.0 for j, v in head[0].items()}, head[1] / 2.0
    return "QR", [half, first, *tail]
