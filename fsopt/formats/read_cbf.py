r"""Files of the Conic Benchmark Format: linear, second-order, rotated and semidefinite cones, and integers.

.. math::

    \min_x\ a_0'x + b_0 \quad\text{s.t.}\quad A_k x + b_k \in K_k,\quad
    \textstyle\sum_j x_j H_{kj} + D_k \succeq 0,\quad x_j \in \mathbb{Z}\ (j \in \mathcal{I}).

A row of a second-order cone that is not a variable becomes one, ``(row i)``, which the constraint of the same name
defines: so the numbers of the file are those of the model, without products of them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from fsopt.compiler.lmi import lmi
from fsopt.errors import FileError
from fsopt.formats.read_arrays import ReadProgram, countable, model_of, products

LINEAR = {"F": (-np.inf, np.inf), "L+": (0.0, np.inf), "L-": (-np.inf, 0.0), "L=": (0.0, 0.0)}
"""Linear cone -> its lower and upper bound."""
SECOND_ORDER = ("Q", "QR")
NAMED = re.compile(r"#\s*column (\d+): (.+)")
"""A comment of fsopt's own files, which have the names of the variables there."""
VERSIONS = ("1", "2", "3", "4")
Cones = list[tuple[str, int]]


@dataclass
class _Content:
    """The sections of a file: cones, orders of matrices, and coordinates; a form is column -> coefficient."""

    maximise: bool = False
    variables: Cones = field(default_factory=list)
    rows: Cones = field(default_factory=list)
    matrices: list[int] = field(default_factory=list)
    matrix_variables: list[int] = field(default_factory=list)
    integer: list[int] = field(default_factory=list)
    cost: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    constant: float = 0.0
    forms: dict[int, dict[int, float]] = field(default_factory=lambda: defaultdict(dict))
    constants: dict[int, float] = field(default_factory=dict)
    entries: dict[tuple[int, int, int], dict[int, float]] = field(default_factory=lambda: defaultdict(dict))
    entry_constants: dict[tuple[int, int, int], float] = field(default_factory=dict)

    def matrix_column(self, k: int, i: int, j: int) -> int:
        """Return the column of an entry of matrix variable k: their triangles come after the variables."""
        i, j = max(i, j), min(i, j)
        if not 0 <= j <= i < self.matrix_variables[k]:
            raise ValueError(f"matrix variable {k} has no entry {i} {j}")
        before = sum(order * (order + 1) // 2 for order in self.matrix_variables[:k])
        return _size(self.variables) + before + i * (i + 1) // 2 + j


def _size(cones: Cones) -> int:
    return sum(size for _, size in cones)


def read_cbf(text: str) -> pyo.ConcreteModel:
    """Return the model of a .cbf file; raises FileError for one that is damaged, or has cones of other kinds."""
    named = {int(found[1]): found[2] for found in map(NAMED.fullmatch, text.splitlines()) if found}
    lines = iter([line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")])
    content = _Content()
    try:
        _read_sections(lines, content)
        return _model(content, named)
    except StopIteration as error:
        raise FileError("the .cbf file ends within a section", "get the whole file") from error
    except (ValueError, IndexError, KeyError) as error:
        reason = str(error).strip() or type(error).__name__
        raise FileError(f"the .cbf file is damaged: {reason[:100]}", "check it against the format") from error


def _read_sections(lines: Iterator[str], c: _Content) -> None:
    """Read all sections."""

    def cones() -> Cones:
        size, count = (countable(int(word)) for word in next(lines).split())
        found = [(name, int(k)) for name, k in [next(lines).split() for _ in range(count)]]
        if _size(found) != size or any(k < 0 for _, k in found):
            raise ValueError(f"its cones have {_size(found)} rows, not {size}")
        return found

    def put(form: dict[int, float], column: int, value: float) -> None:
        form[column] = form.get(column, 0.0) + value

    def put_entry(form: dict[int, float], k: int, i: int, j: int, value: float) -> None:
        put(form, c.matrix_column(k, i, j), value if i == j else 2.0 * value)

    single: Mapping[str, Callable[[], None]] = {
        "VER": lambda: _version(next(lines)),
        "OBJSENSE": lambda: setattr(c, "maximise", {"MIN": False, "MAX": True}[next(lines)]),
        "OBJBCOORD": lambda: setattr(c, "constant", float(next(lines))),
        "VAR": lambda: c.variables.extend(cones()),
        "CON": lambda: c.rows.extend(cones()),
    }
    # Words of a line of a table: whole numbers (i) and numbers (v).
    tables: Mapping[str, tuple[str, Callable[..., None]]] = {
        "PSDVAR": ("i", lambda order: c.matrix_variables.append(countable(order**2) and order)),
        "PSDCON": ("i", lambda order: c.matrices.append(countable(order**2) and order)),
        "INT": ("i", c.integer.append),
        "OBJACOORD": ("iv", lambda j, v: put(c.cost, j, v)),
        "OBJFCOORD": ("iiiv", lambda k, i, j, v: put_entry(c.cost, k, i, j, v)),
        "ACOORD": ("iiv", lambda row, j, v: put(c.forms[row], j, v)),
        "BCOORD": ("iv", lambda row, v: put(c.constants, row, v)),
        "FCOORD": ("iiiiv", lambda row, k, i, j, v: put_entry(c.forms[row], k, i, j, v)),
        "HCOORD": ("iiiiv", lambda k, x, i, j, v: put(c.entries[k, max(i, j), min(i, j)], x, v)),
        "DCOORD": ("iiiv", lambda k, i, j, v: c.entry_constants.update({(k, max(i, j), min(i, j)): v})),
    }
    for line in lines:
        if line in single:
            single[line]()
        elif line in tables:
            kinds, enter = tables[line]
            for _ in range(int(next(lines))):
                words = next(lines).split()
                enter(*(int(w) if kind == "i" else float(w) for w, kind in zip(words, kinds, strict=True)))
        else:
            raise FileError(f"the section '{line[:40]}' of the .cbf file is not read", "use other sections")


def _version(word: str) -> None:
    if word not in VERSIONS:
        raise FileError(f"the version {word[:20]} of the .cbf file is not known", f"use {', '.join(VERSIONS)}")


class _Rows:
    """The constraints and variables of the model while they are collected."""

    def __init__(self, columns: list[str]) -> None:
        self.columns = columns
        self.low = [-np.inf] * len(columns)
        self.high = [np.inf] * len(columns)
        self.names: list[str] = []
        self.forms: list[dict[int, float]] = []
        self.ends: list[tuple[float, float]] = []
        self.squares: dict[int, list[tuple[int, int, float]]] = {}

    def add(self, name: str, form: dict[int, float], low: float, high: float) -> None:
        """Add a constraint."""
        self.names.append(name)
        self.forms.append(form)
        self.ends.append((low, high))

    def variable(self, i: int, form: dict[int, float], constant: float) -> int:
        """Return the column that is row i: a variable of the file, or one that is defined by the row."""
        if constant == 0.0 and list(form.values()) == [1.0]:
            return next(iter(form))
        column = len(self.columns)
        self.columns.append(f"(row {i})")
        self.low.append(-np.inf)
        self.high.append(np.inf)
        self.add(f"(row {i})", {**form, column: -1.0}, -constant, -constant)
        return column

    def cone(self, name: str, kind: str, columns: list[int]) -> None:
        """Add a second-order cone: its head, or both factors of a rotated one, are not negative."""
        heads = columns[:1] if kind == "Q" else columns[:2]
        if len(columns) < len(heads) or len(columns) == 0:
            raise ValueError(f"the cone {kind} of {name} is too short")
        for j in heads:
            self.low[j] = max(self.low[j], 0.0)
        head = (heads[0], heads[0], -1.0) if kind == "Q" else (heads[0], heads[1], -2.0)
        self.squares[len(self.names)] = [head, *((j, j, 1.0) for j in columns[len(heads) :])]
        self.add(name, {}, -np.inf, 0.0)


def _model(content: _Content, named: Mapping[int, str]) -> pyo.ConcreteModel:
    n, m = _size(content.variables), _size(content.rows)
    orders = content.matrices
    inside = all(0 <= i < m for i in (*content.forms, *content.constants))
    for k, i, j in (*content.entries, *content.entry_constants):
        inside = inside and 0 <= k < len(orders) and 0 <= j <= i < orders[k]
    if not inside:
        raise ValueError("a coordinate is outside its rows or matrix")
    names = [named.get(j, f"x{j}") for j in range(n)] if len(set(named.values())) == n else [f"x{j}" for j in range(n)]
    orders = content.matrix_variables
    names += [f"X{k}[{i},{j}]" for k, order in enumerate(orders) for i in range(order) for j in range(i + 1)]
    rows = _Rows(names)
    place = 0
    for number, (kind, size) in enumerate(content.variables):
        columns = list(range(place, place + size))
        place += size
        if kind in SECOND_ORDER:
            rows.cone(f"variables {number}", kind, columns)
            continue
        for j in columns:
            rows.low[j], rows.high[j] = _ends(kind)
    place = 0
    for number, (kind, size) in enumerate(content.rows):
        listed = range(place, place + size)
        place += size
        if kind in SECOND_ORDER:
            held = [rows.variable(i, content.forms[i], content.constants.get(i, 0.0)) for i in listed]
            rows.cone(f"cone {number}", kind, held)
            continue
        low, high = _ends(kind)
        for i in listed:
            shift = content.constants.get(i, 0.0)
            rows.add(f"row {i}", content.forms[i], low - shift, high - shift)
    return _with_matrices(_program(content, rows, n), content)


def _ends(kind: str) -> tuple[float, float]:
    if kind not in LINEAR:
        raise FileError(f"the cone {kind[:20]} of the .cbf file is not read", "only linear, Q, QR and PSD cones are")
    return LINEAR[kind]


def _program(content: _Content, rows: _Rows, n: int) -> ReadProgram:
    m, width = len(rows.names), len(rows.columns)
    entries = [(i, j, v) for i, form in enumerate(rows.forms) for j, v in form.items()]
    places = np.array([(i, j) for i, j, _ in entries], dtype=int).reshape(-1, 2)
    if len(places) and (places.min() < 0 or places[:, 1].max() >= width):
        raise ValueError("a column is not one of its variables")
    c = np.zeros(width)
    c[list(content.cost)] = list(content.cost.values())
    integer = np.zeros(width, dtype=bool)
    if not all(0 <= j < n for j in content.integer) or not all(0 <= j < width for j in content.cost):
        raise ValueError("a column is not one of its variables")
    integer[content.integer] = True
    return ReadProgram(
        name="cbf",
        columns=rows.columns,
        rows=rows.names,
        maximise=content.maximise,
        c=c,
        c0=content.constant,
        A=sp.csr_matrix((np.array([v for *_, v in entries]), places.T), shape=(m, width)),
        lo=np.array([low for low, _ in rows.ends], dtype=float),
        hi=np.array([high for _, high in rows.ends], dtype=float),
        lb=np.array(rows.low),
        ub=np.array(rows.high),
        integer=integer,
        terms={i: products(triples) for i, triples in rows.squares.items()},
    )


def _with_matrices(program: ReadProgram, content: _Content) -> pyo.ConcreteModel:
    """Return the model with its linear matrix inequalities, those of matrix variables first."""
    m = model_of(program)
    x = list(m.x.values())

    def entry(k: int, i: int, j: int) -> object:
        form = content.entries.get((k, i, j), {})
        return pyo.quicksum(v * x[c] for c, v in form.items()) + content.entry_constants.get((k, i, j), 0.0)

    matrices = [
        [[x[content.matrix_column(k, i, j)] for j in range(order)] for i in range(order)]
        for k, order in enumerate(content.matrix_variables)
    ]
    matrices += [
        [[entry(k, max(i, j), min(i, j)) for j in range(order)] for i in range(order)]
        for k, order in enumerate(content.matrices)
    ]
    for number, matrix in enumerate(matrices):
        m.add_component(f"matrix{number}", lmi(matrix))
    return m
