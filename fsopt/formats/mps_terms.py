"""The sections of an .mps file beside the linear program: quadratic terms, special ordered sets and indicators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fsopt.formats.indicators import Indicator
from fsopt.formats.mps_lines import MpsSection, Pairs, repeated
from fsopt.formats.read_arrays import INFINITE, Sets
from fsopt.typing import Indices


@dataclass
class Names:
    """Places of the names of a file: rows by name, the objective -1; columns by name."""

    rows: Mapping[str, int]
    columns: Mapping[str, int]


def places_of(
    section: MpsSection, names: Sequence[str], known: Mapping[str, int], what: str, lines: Indices
) -> Indices:
    """Return the places of names; raises FileError for the first that is unknown."""
    try:
        return np.fromiter(map(known.__getitem__, names), int, len(names))
    except KeyError:
        bad = next(k for k, name in enumerate(names) if name not in known)
        section.wrong(int(lines[bad]), f"the {what} has the unknown name '{names[bad][:40]}'")


def refuse_infinite(section: MpsSection, pairs: Pairs) -> None:
    """Raise the FileError of the first number that is infinite."""
    bad = np.abs(pairs.values) >= INFINITE
    if bad.any():
        section.wrong(int(pairs.lines[int(np.argmax(bad))]), f"the number is {INFINITE:g} or more in size")


def _entries(section: MpsSection, known: Names) -> list[tuple[int, int, float, int]]:
    """Return the entries (i, j, v, line) of a quadratic section, each once."""
    pairs = section.pairs(needs_head=True)
    rows = places_of(section, pairs.heads, known.columns, "entry", pairs.lines).tolist()
    columns = places_of(section, pairs.names, known.columns, "entry", pairs.lines).tolist()
    refuse_infinite(section, pairs)
    found = list(zip(rows, columns, pairs.values.tolist(), pairs.lines.tolist(), strict=True))
    twice = repeated([(i, j) for i, j, *_ in found])
    if twice.any():
        section.wrong(found[int(np.argmax(twice))][3], "the entry is stated twice", "add the two")
    return found


def _symmetric(section: MpsSection, known: Names, factor: float) -> list[tuple[int, int, float]]:
    """Return the terms of a section that has each product of two variables in both orders."""
    entries = _entries(section, known)
    values = {(i, j): v for i, j, v, _ in entries}
    for i, j, v, line in entries:
        if values.get((j, i)) != v:
            section.wrong(line, "the matrix is not symmetric", "state both entries (i, j) and (j, i), of one value")
    return [(i, j, factor * v * (1 if i == j else 2)) for i, j, v, _ in entries if i <= j and v]


def objective_terms(section: MpsSection, known: Names, objective: str) -> list[tuple[int, int, float]]:
    """Return the terms of x'Qx/2; QUADOBJ and QSECTION have one triangle of Q, QMATRIX both."""
    if section.rest not in ([], [objective]):
        section.wrong(-1, "QSECTION of a constraint is not read, as readers halve it or not", "use QCMATRIX")
    if section.name == "QMATRIX":
        return _symmetric(section, known, 0.5)
    entries = _entries(section, known)
    pairs = {(i, j) for i, j, *_ in entries}
    for i, j, _, line in entries:
        if i != j and (j, i) in pairs:
            section.wrong(line, "a product is in both triangles", "use QMATRIX, or one triangle")
    return [(i, j, v / 2 if i == j else v) for i, j, v, _ in entries if v]


def constraint_terms(found: Sequence[MpsSection], known: Names) -> dict[int, list[tuple[int, int, float]]]:
    """Return the terms of the sections QCMATRIX by row."""
    terms: dict[int, list[tuple[int, int, float]]] = {}
    for section in (s for s in found if s.name == "QCMATRIX"):
        place = known.rows.get(section.rest[0], -1) if len(section.rest) == 1 else -1
        if place < 0 or place in terms:
            section.wrong(-1, "QCMATRIX has to name a constraint, each once")
        terms[place] = _symmetric(section, known, 1.0)
    return terms


def sets_of(section: MpsSection | None, known: Names) -> Sets:
    """Return types, variables and weights of sets: ``S1 name``, then ``name weight``; or SOS or the set before it."""
    if section is None:
        return []
    found: list[tuple[int, list[int], list[float]]] = []
    names: list[str] = []
    for k, row in enumerate(section.rows):
        words = (
            row[:1] + row[2:]
            if len(row) == 3 and row[1] == "SOS"
            else row[1:]
            if row[0] in ("SOS", *names[-1:])
            else row
        )
        if len(words) != 2:
            section.wrong(k, "a set, 'S1 name', or a variable and its weight are expected")
        if words[0] in ("S1", "S2") and words[0] not in known.columns:
            found.append((int(words[0][1]), [], []))
            names.append(words[1])
            continue
        if not found:
            section.wrong(k, "the variable is in no set", "begin each set by S1 or S2 and its name")
        line = np.array([k])
        [place], [weight] = places_of(section, words[:1], known.columns, "set", line), section.values(words[1:], line)
        _, places, weights = found[-1]
        if place in places[-1:] or int(place) in set(places) or float(weight) in set(weights):
            section.wrong(k, "a variable or a weight comes twice in its set", "give each a weight of its own")
        places.append(int(place))
        weights.append(float(weight))
    if len(set(names)) < len(names):
        section.wrong(-1, "two sets have one name", "give each a name of its own")
    return found


def indicators_of(section: MpsSection | None, known: Names) -> list[Indicator]:
    """Return the rows that hold where a binary has a value: ``IF row name value``."""
    found = []
    for k, row in enumerate(section.rows if section is not None else ()):
        assert section is not None
        if len(row) != 4 or row[0] != "IF" or known.rows.get(row[1], -1) < 0 or row[3] not in ("0", "1"):
            section.wrong(k, "'IF', a constraint, a variable and 0 or 1 are expected")
        [column] = places_of(section, row[2:3], known.columns, "indicator", np.array([k]))
        found.append(Indicator(known.rows[row[1]], int(column), int(row[3])))
    return found
