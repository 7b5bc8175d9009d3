"""Exported programs, .mps and .cbf, compared with the program of a proof, by the standard library alone.

The variables of the file are those of the program in their order. Rows and bounds are compared as a set of
inequalities, exactly: a number of the file stands for the double it is read as. Second-order cones are compared as the
quadratic forms that they say are not negative, up to ``ROUNDING``: the file has square roots of their coefficients.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

ZERO = Fraction(0)
ROUNDING = Fraction(1, 2**40)
Terms = dict[int, Fraction]


class Unlike(ValueError):
    """The file cannot be read, or is another program."""


class Exported:
    """A program as a set of inequalities a'x >= r, quadratic forms that are not negative, and an objective."""

    def __init__(self) -> None:
        self.n = 0
        self.sign = 1
        self.cost: Terms = {}
        self.constant = ZERO
        self.quadratic: Terms = {}
        self.integer: set[int] = set()
        self.linear: set[tuple[tuple[tuple[int, Fraction], ...], Fraction]] = set()
        self.forms: list[dict[tuple[int, int], Fraction]] = []

    def between(self, terms: Terms, lo: Fraction | None, hi: Fraction | None) -> None:
        """Add lo <= a'x <= hi."""
        for sign, end in ((1, lo), (-1, hi)):
            if end is not None:
                held = tuple(sorted((j, sign * v) for j, v in terms.items() if v))
                if held or sign * end > 0:
                    self.linear.add((held, sign * end))


def square(form: Terms, into: dict[tuple[int, int], Fraction], weight: Fraction, other: Terms | None = None) -> None:
    """Add the product of two affine forms, whose constants have the place -1."""
    for i, v in form.items():
        for j, w in (form if other is None else other).items():
            key = (min(i, j), max(i, j))
            into[key] = into.get(key, ZERO) + weight * v * w


def of_program(program: Any) -> Exported:
    """Return the program of a proof in the same form."""
    if not hasattr(program, "cones") or program.matrices:
        raise Unlike("the proof has no program of rows and cones that a file could have")
    found = Exported()
    found.n, found.constant = program.n, program.c0
    found.cost = {j: v for j, v in enumerate(program.c) if v}
    found.quadratic, found.integer = dict(program.P), set(program.integer)

    def terms(form: Any) -> Terms:
        held = {j: Fraction(v, form.bottom) for j, v in zip(form.columns, form.values, strict=True)}
        return {**held, -1: Fraction(form.constant, form.bottom)} if form.constant else held

    for row, (lo, hi) in zip(program.rows, program.limits, strict=True):
        found.between(terms(row), lo, hi)
    for j, (lo, hi) in enumerate(program.bounds):
        found.between({j: Fraction(1)}, lo, hi)
    for weights, (left, right, *tails) in program.cones:
        form: dict[tuple[int, int], Fraction] = {}
        square(terms(left), form, Fraction(1), terms(right))
        for weight, tail in zip(weights, tails, strict=True):
            square(terms(tail), form, -weight)
        found.forms.append(form)
    return found


def number(text: str) -> Fraction:
    """Return the double of a text."""
    return Fraction(float(text))


def read_mps(lines: list[str]) -> Exported:
    """Return the program of a free MPS file."""
    found, section = Exported(), ""
    senses: dict[str, str] = {}
    rows: dict[str, Terms] = {}
    ends: dict[str, list[Fraction | None]] = {}
    columns: dict[str, int] = {}
    bounds: dict[int, list[Fraction | None]] = {}
    whole = False
    for line in lines:
        words = line.split()
        if not line[:1].isspace():
            section = words[0]
        elif section == "OBJSENSE":
            found.sign = -1 if words[0].upper().startswith("MAX") else 1
        elif section == "ROWS":
            senses[words[1]] = words[0]
            rows[words[1]] = {}
        elif section == "COLUMNS" and "'MARKER'" in words:
            whole = "'INTORG'" in words
        elif section == "COLUMNS":
            j = columns.setdefault(words[0], len(columns))
            bounds.setdefault(j, [ZERO, None])
            found.integer |= {j} if whole else set()
            for name, text in zip(words[1::2], words[2::2], strict=True):
                rows[name][j] = number(text)
        elif section in ("RHS", "RANGES"):
            for name, text in zip(words[1::2], words[2::2], strict=True):
                ends.setdefault(name, [ZERO, None])[section == "RANGES"] = number(text)
        elif section == "BOUNDS":
            bound(bounds[columns[words[2]]], words[0], number(words[3]) if len(words) > 3 else ZERO)
            found.integer |= {columns[words[2]]} if words[0] in ("BV", "LI", "UI") else set()
        elif section in ("QUADOBJ", "QMATRIX"):
            if words[0] != words[1]:
                raise Unlike("its objective is no sum of squares")
            found.quadratic[columns[words[0]]] = number(words[2])
    for name, terms in rows.items():
        right, width = ends.get(name, [ZERO, None])
        right = right or ZERO
        if senses[name] == "N":
            found.cost, found.constant = {j: v for j, v in terms.items() if v}, -right
            continue
        lo = right if senses[name] in "GE" else None if width is None else right - width
        hi = right if senses[name] in "LE" else None if width is None else right + width
        found.between(terms, lo, hi)
    for j, (lo, hi) in bounds.items():
        found.between({j: Fraction(1)}, lo, hi)
    found.n = len(columns)
    return found


def bound(ends: list[Fraction | None], kind: str, value: Fraction) -> None:
    """Set the bounds of a variable."""
    changes: dict[str, list[tuple[int, Fraction | None]]] = {
        "FR": [(0, None), (1, None)],
        "MI": [(0, None)],
        "PL": [(1, None)],
        "LO": [(0, value)],
        "LI": [(0, value)],
        "UP": [(1, value)],
        "UI": [(1, value)],
        "FX": [(0, value), (1, value)],
        "BV": [(0, ZERO), (1, Fraction(1))],
    }
    for side, end in changes[kind]:
        ends[side] = end


def read_cbf(lines: list[str]) -> Exported:
    """Return the program of a CBF file of linear and second-order cones."""
    found, rest = Exported(), iter([line for line in lines if not line.startswith("#")])
    domains: list[tuple[str, int]] = []
    rows: list[Terms] = []

    def cones(words: list[str]) -> list[tuple[str, int]]:
        held = [next(rest).split() for _ in range(int(words[1]))]
        return [(name, int(size)) for name, size in held]

    def entries() -> Iterator[list[str]]:
        for _ in range(int(next(rest))):
            yield next(rest).split()

    for line in rest:
        if line == "VER":
            next(rest)
        elif line == "OBJSENSE":
            found.sign = -1 if next(rest) == "MAX" else 1
        elif line == "VAR":
            words = next(rest).split()
            found.n, place = int(words[0]), 0
            for cone_, size in cones(words):
                for j in range(place, place + size):
                    near(found, cone_, {j: Fraction(1)})
                place += size
        elif line == "INT":
            found.integer = {int(words[0]) for words in entries()}
        elif line == "CON":
            words = next(rest).split()
            rows = [{} for _ in range(int(words[0]))]
            domains = cones(words)
        elif line == "OBJACOORD":
            found.cost = {int(j): number(v) for j, v in entries()}
        elif line == "OBJBCOORD":
            found.constant = number(next(rest))
        elif line == "ACOORD":
            for i, k, v in entries():
                rows[int(i)][int(k)] = number(v)
        elif line == "BCOORD":
            for i, v in entries():
                rows[int(i)][-1] = number(v)
        else:
            raise Unlike(f"its section {line[:20]} is not read")
    place = 0
    for name, size in domains:
        cone(found, name, rows[place : place + size])
        place += size
    return found


def near(found: Exported, name: str, terms: Terms) -> None:
    """Add the constraint that an affine form is free, not negative, not positive, or 0."""
    inner = {j: v for j, v in terms.items() if j >= 0}
    right = -terms.get(-1, ZERO)
    if name not in ("F", "L+", "L-", "L="):
        raise Unlike(f"its cone {name} is not read")
    if name != "F":
        found.between(inner, right if name in ("L+", "L=") else None, right if name in ("L-", "L=") else None)


def cone(found: Exported, name: str, rows: list[Terms]) -> None:
    """Add a constraint on some rows."""
    if name not in ("Q", "QR"):
        for terms in rows:
            near(found, name, terms)
        return
    form: dict[tuple[int, int], Fraction] = {}
    square(rows[0], form, Fraction(1) if name == "Q" else Fraction(2), rows[0] if name == "Q" else rows[1])
    for tail in rows[1 if name == "Q" else 2 :]:
        square(tail, form, Fraction(-1))
    found.forms.append(form)


def alike(first: list[dict[tuple[int, int], Fraction]], second: list[dict[tuple[int, int], Fraction]]) -> bool:
    """Return whether quadratic forms are the same up to rounding and a positive factor, one by one."""
    if len(first) != len(second):
        return False
    for f, g in zip(first, second, strict=True):
        f, g = ({k: v for k, v in form.items() if v} for form in (f, g))
        most = max(map(abs, f.values()), default=ZERO), max(map(abs, g.values()), default=ZERO)
        if not all(most):
            return False
        if any(abs(f.get(k, ZERO) / most[0] - g.get(k, ZERO) / most[1]) > ROUNDING for k in f.keys() | g.keys()):
            return False
    return True


def compare(path: str, program: Any) -> None:
    """Raise Unlike where an exported file is not the program of a proof."""
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip() for line in file if line.strip() and not line.startswith("*")]
    wanted = of_program(program)
    try:
        found = read_cbf(lines) if path.endswith(".cbf") else read_mps(lines)
    except (LookupError, ValueError, StopIteration, RuntimeError, OverflowError) as error:
        raise Unlike(f"the exported file cannot be read: {error}") from None
    if found.sign < 0:
        found.cost = {j: -v for j, v in found.cost.items()}
        found.quadratic = {j: -v for j, v in found.quadratic.items()}
        found.constant = -found.constant
    for name in ("n", "cost", "constant", "quadratic", "integer", "linear"):
        if getattr(found, name) != getattr(wanted, name):
            raise Unlike(f"the exported program is another one: its {name} differs")
    if not alike(found.forms, wanted.forms):
        raise Unlike("the exported program is another one: its cones differ")
