r"""Files .mps, in free and in fixed form.

What readers take in different ways is refused: several sets of right-hand sides, ranges or bounds, an entry or a bound
that is stated twice, and a negative upper bound of a variable without a lower one, which is 0 for HiGHS and
:math:`-\infty` for CPLEX, Gurobi and SCIP. An integer variable between markers without any bound is binary, as for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from fsopt.errors import FileError
from fsopt.formats.indicators import switched
from fsopt.formats.mps_lines import MARKER, MpsSection, repeated, sections
from fsopt.formats.mps_terms import (
    Names,
    constraint_terms,
    indicators_of,
    objective_terms,
    places_of,
    refuse_infinite,
    sets_of,
)
from fsopt.formats.read_arrays import INFINITE, ReadProgram, products
from fsopt.typing import Indices, Mask, Vector

ORDER = ("NAME", "OBJSENSE", "OBJNAME", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS")
"""Sections of a linear program in their order; those of other terms and sets follow in any order."""
FURTHER = ("QUADOBJ", "QSECTION", "QMATRIX", "QCMATRIX", "SOS", "INDICATORS", "ENDATA")
REPEATED = ("QCMATRIX",)
SENSES = {"MIN": False, "MINIMIZE": False, "MINIMISE": False, "MAX": True, "MAXIMIZE": True, "MAXIMISE": True}
ENDS = {"N": (0, 0), "L": (0, 1), "G": (1, 0), "E": (1, 1)}
"""Kind of a row -> whether its right-hand side is its lower, and its upper bound."""
BOUNDS: Mapping[str, tuple[int, int, int]] = {
    "LO": (1, 0, 0),
    "LI": (1, 0, 1),
    "UP": (0, 1, 0),
    "UI": (0, 1, 1),
    "SC": (0, 1, 0),
    "SI": (0, 1, 1),
    "FX": (1, 1, 0),
    "FR": (1, 1, 0),
    "MI": (1, 0, 0),
    "PL": (0, 1, 0),
    "BV": (1, 1, 1),
}
"""Kind of a bound -> whether it states the lower bound, the upper bound, and an integer variable."""
FIXED_VALUES = {"FR": (-np.inf, np.inf), "MI": (-np.inf, np.inf), "PL": (-np.inf, np.inf), "BV": (0.0, 1.0)}
"""Kind of a bound without a number -> lower and upper bound."""


def read_mps(text: str) -> ReadProgram:
    """Return the program of an .mps file; raises FileError for one that cannot be read as it is.

    An entry ``i j v`` of a section QCMATRIX is the term v x_i x_j, as CPLEX, Gurobi and Xpress take it; of QUADOBJ,
    QSECTION and QMATRIX half of it. Names have spaces where the lines are in the columns of the fixed form alone.
    """
    try:
        return _program(sections(text, fixed=False) or [])
    except FileError:
        found = sections(text, fixed=True)
        if found is not None and any(" " in word for section in found for row in section.rows for word in row):
            return _program(found)
        raise


def _program(found: Sequence[MpsSection]) -> ReadProgram:
    sections = _by_name(found)
    names, kinds, objective = _rows(sections)
    rows = {name: i for i, name in enumerate(names)} | {objective: -1}
    columns, marked, matrix = _columns(sections["COLUMNS"], rows)
    known = Names(rows, {name: j for j, name in enumerate(columns)})
    c, A = matrix
    lo, hi, c0 = _row_bounds(sections, kinds, known)
    lb, ub, integer, semi = _bounds(sections.get("BOUNDS"), known, marked)
    quadratic = [s for s in found if s.name in ("QUADOBJ", "QSECTION", "QMATRIX")]
    if len(quadratic) > 1:
        quadratic[1].wrong(-1, "the objective has two quadratic sections", "keep one")
    terms = {place: products(triples) for place, triples in constraint_terms(found, known).items() if triples}
    squares = [t for s in quadratic for t in objective_terms(s, known, objective)]
    name = " ".join(sections["NAME"].rest) if "NAME" in sections else ""
    program = ReadProgram(
        name=name,
        columns=columns,
        rows=names,
        maximise=_sense(sections.get("OBJSENSE")),
        c=c,
        c0=c0,
        A=A,
        lo=lo,
        hi=hi,
        lb=lb,
        ub=ub,
        integer=integer,
        semi=semi,
        sets=sets_of(sections.get("SOS"), known),
        objective=products(squares) if squares else None,
        terms=terms,
    )
    return switched(program, indicators_of(sections.get("INDICATORS"), known))


def _by_name(found: Sequence[MpsSection]) -> dict[str, MpsSection]:
    """Return the sections by name; raises FileError for an unknown, repeated, missing or misplaced one."""
    sections: dict[str, MpsSection] = {}
    last = -1
    for section in found:
        name = section.name
        if name in ("MAX", "MIN", "MAXIMIZE", "MINIMIZE"):
            name, section.rest = "OBJSENSE", [name]
        name = "SOS" if name == "SETS" else name
        if name not in (*ORDER, *FURTHER):
            section.wrong(-1, f"the section {name[:40]} is not read", "write the model without it")
        if name in sections and name not in REPEATED:
            section.wrong(-1, f"the section {name} comes twice", "keep one")
        if "ENDATA" in sections:
            section.wrong(-1, "it comes after ENDATA", "end the file there")
        place = ORDER.index(name) if name in ORDER else last
        if place < last:
            section.wrong(-1, f"the section {name} comes too late", f"the order is {', '.join(ORDER)}")
        if section.rest and name not in ("NAME", "OBJSENSE", "QSECTION", "QCMATRIX", "OBJNAME"):
            section.wrong(-1, f"the section {name} has further words in its first line", "begin its lines by a blank")
        if section.rows and name in ("NAME", "ENDATA"):
            section.wrong(0, f"the section {name} has no lines of its own")
        last, sections[name] = place, section
    for name in ("ROWS", "COLUMNS", "ENDATA"):
        if name not in sections:
            raise FileError(f"the file has no section {name}, so it may be cut", "get the whole file")
    return sections


def _single(section: MpsSection, what: str) -> str:
    """Return the one word that a section states, in its first line or the next one."""
    words = [*section.rest, *(word for row in section.rows for word in row)]
    if len(words) != 1:
        section.wrong(-1, f"the section has to state one {what}")
    return words[0]


def _sense(section: MpsSection | None) -> bool:
    if section is None:
        return False
    word = _single(section, "sense").upper()
    if word not in SENSES:
        section.wrong(-1, f"'{word[:40]}' is no sense", "write MIN or MAX")
    return SENSES[word]


def _rows(sections: Mapping[str, MpsSection]) -> tuple[list[str], list[str], str]:
    """Return names and kinds of the rows without the objective, which is the first of kind N, and its name."""
    section = sections["ROWS"]
    senses = [row[0].upper() for row in section.rows]
    unknown = np.array([sense not in ENDS for sense in senses], dtype=bool)
    section.first_wrong(unknown, "the line has no sense", "begin it with N, L, G or E")
    section.first_wrong(section.sizes() != 2, "a sense and a name are expected")
    names = [row[1] for row in section.rows]
    section.first_wrong(np.array([name[0] == "$" for name in names], dtype=bool), "a name begins with $, as remarks do")
    section.first_wrong(repeated(names), "the name is stated twice", "give each a name of its own")
    free = [name for name, sense in zip(names, senses, strict=True) if sense == "N"]
    objective = _single(sections["OBJNAME"], "name") if "OBJNAME" in sections else next(iter(free), "")
    if objective not in free:
        section.wrong(-1, "no row of kind N is the objective", "state it as N NAME")
    place = names.index(objective)
    del names[place], senses[place]
    return names, senses, objective


def _columns(section: MpsSection, rows: Mapping[str, int]) -> tuple[list[str], Mask, tuple[Vector, sp.csr_matrix]]:
    """Return the names of the variables, which of them are between markers, and their coefficients."""
    inside, integral = _without_markers(section)
    pairs = inside.pairs(needs_head=True)
    columns = list(dict.fromkeys(pairs.heads))
    number = {name: j for j, name in enumerate(columns)}
    j = np.fromiter(map(number.__getitem__, pairs.heads), int, len(pairs.heads))
    i = places_of(inside, pairs.names, rows, "entry", pairs.lines)
    apart = np.flatnonzero(np.diff(j, prepend=-1) < 0)
    if len(apart):
        inside.wrong(int(pairs.lines[apart[0]]), "the lines of the variable are not together", "put them together")
    refuse_infinite(inside, pairs)
    order = np.lexsort((i, j))
    same = np.flatnonzero((np.diff(i[order]) == 0) & (np.diff(j[order]) == 0))
    if len(same):
        inside.wrong(int(pairs.lines[order[same[0] + 1]]), "the entry is stated twice", "add the two")
    marked = np.zeros(len(columns), dtype=bool)
    marked[j] = integral[pairs.lines]
    costs = i < 0
    c = np.zeros(len(columns))
    c[j[costs]] = pairs.values[costs]
    entries = (pairs.values[~costs], (i[~costs], j[~costs]))
    A = sp.csr_matrix(entries, shape=(len(rows) - 1, len(columns)))
    A.eliminate_zeros()
    return columns, marked, (c, A)


def _without_markers(section: MpsSection) -> tuple[MpsSection, Mask]:
    """Return the section without markers, and which of its lines are between markers of integers."""
    integral = np.zeros(len(section.rows), dtype=bool)
    if not section.marked:
        return section, integral
    markers = [k for k, row in enumerate(section.rows) if len(row) > 1 and row[1] == MARKER]
    start: int | None = None
    for k in markers:
        word = section.rows[k][-1].strip("'")
        if word not in ("INTORG", "INTEND") or (word == "INTEND") != (start is not None):
            section.wrong(k, "the marker does not open or close integers", "use INTORG and INTEND in turn")
        if start is not None:
            integral[start:k] = True
        start = k if word == "INTORG" else None
    if start is not None:
        section.wrong(start, "the marker INTORG has no INTEND")
    kept = np.delete(np.arange(len(section.rows)), markers).tolist()
    rows, lines = [section.rows[k] for k in kept], [section.numbers[k] for k in kept]
    return replace(section, rows=rows, numbers=lines), integral[kept]


def _row_values(section: MpsSection | None, known: Names) -> tuple[Indices, Vector]:
    """Return the rows and values of a section RHS or RANGES, whose lines are of one set."""
    if section is None:
        return np.zeros(0, dtype=int), np.zeros(0)
    pairs = section.pairs(needs_head=False)
    _refuse_sets(section, pairs.heads, pairs.lines)
    rows = places_of(section, pairs.names, known.rows, "line", pairs.lines)
    if (twice := repeated(rows.tolist())).any():
        section.wrong(int(pairs.lines[int(np.argmax(twice))]), "the row has two values", "keep one")
    return rows, pairs.values


def _refuse_sets(section: MpsSection, sets: Sequence[str], lines: Indices) -> None:
    if len(set(sets)) > 1:
        bad = next(k for k, name in enumerate(sets) if name != sets[0])
        section.wrong(int(lines[bad]), f"the section {section.name} has a second set", "keep the lines of one set")


def _row_bounds(sections: Mapping[str, MpsSection], kinds: Sequence[str], known: Names) -> tuple[Vector, Vector, float]:
    """Return lower and upper bounds of the rows, and the constant of the objective, minus its right-hand side."""
    rows, values = _row_values(sections.get("RHS"), known)
    side = np.zeros(len(kinds) + 1)  # the last one is that of the objective, whose place is -1
    side[rows] = values
    has = np.array([ENDS[kind] for kind in kinds], dtype=bool).reshape(-1, 2).T
    lo, hi = np.where(has[0], side[:-1], -np.inf), np.where(has[1], side[:-1], np.inf)
    rows, values = _row_values(sections.get("RANGES"), known)
    for i, value in zip(rows.tolist(), values.tolist(), strict=True):
        kind = "N" if i < 0 else kinds[i]
        if kind == "N":
            sections["RANGES"].wrong(-1, "a row of kind N has a range", "leave it out")
        if kind == "G" or (kind == "E" and value >= 0):
            hi[i] = lo[i] + abs(value)
        else:
            lo[i] = hi[i] - abs(value)
    if abs(side[-1]) >= INFINITE:
        sections["RHS"].wrong(-1, "the constant of the objective is infinite")
    return lo, hi, 0.0 - float(side[-1])


def _bounds(section: MpsSection | None, known: Names, marked: Mask) -> tuple[Vector, Vector, Mask, Mask]:
    """Return lower and upper bounds, and the masks of the integer and the semicontinuous variables."""
    n = len(marked)
    ends = np.zeros(n), np.full(n, np.inf)
    integer, semi = marked.copy(), np.zeros(n, dtype=bool)
    stated = np.zeros((2, n), dtype=int)
    if section is not None:
        kinds, columns, values = _bound_lines(section, known)
        for kind in set(kinds.tolist()):
            here = np.flatnonzero(kinds == kind)
            places = columns[here]
            *sides, whole = BOUNDS[kind]
            for end, side in enumerate(sides):
                if side:
                    ends[end][places] = FIXED_VALUES[kind][end] if kind in FIXED_VALUES else values[here]
                    np.add.at(stated[end], places, 1)
            integer[places] |= bool(whole)
            semi[places] |= kind in ("SC", "SI")
        lower = stated[0] > 0
        section.first_wrong(np.max(stated, axis=0)[columns] > 1, "the variable has two bounds of one side", "keep one")
        negative = (~lower & (ends[1] < 0))[columns]
        hint = "state the lower bound: 0 for HiGHS, MI (none) for CPLEX, Gurobi and SCIP"
        section.first_wrong(negative, "the upper bound is negative and there is no lower one", hint)
        section.first_wrong((semi & (ends[0] > ends[1]))[columns], "the semicontinuous variable has crossed bounds")
    ends[1][marked & ~stated.any(axis=0)] = 1.0
    return *ends, integer, semi


def _bound_lines(section: MpsSection, known: Names) -> tuple[np.ndarray, Indices, Vector]:
    """Return kind, column and value of each line, 0 where it has none."""
    kinds = np.array([row[0].upper() for row in section.rows], dtype=object)
    unknown = np.array([kind not in BOUNDS for kind in kinds], dtype=bool)
    section.first_wrong(unknown, "the kind of bound is not known", f"use {', '.join(BOUNDS)}")
    valued = np.array([kind not in FIXED_VALUES for kind in kinds], dtype=bool)
    sizes = section.sizes()
    section.first_wrong((sizes > 4) | (sizes < np.where(valued, 3, 2)), "kind, set, name and number are expected")
    # Only a bound with a number can be without a set in three words, one without a number in two.
    named, lines = sizes > np.where(valued, 3, 2), np.arange(len(sizes))
    names = [row[2 if has else 1] for row, has in zip(section.rows, named.tolist(), strict=True)]
    _refuse_sets(section, [row[1] if has else "" for row, has in zip(section.rows, named.tolist(), strict=True)], lines)
    columns = places_of(section, names, known.columns, "bound", lines)
    given = np.flatnonzero(valued | (sizes == 4))
    values = np.zeros(len(kinds))
    values[given] = section.values([section.rows[k][-1] for k in given.tolist()], given)
    return kinds, columns, values
