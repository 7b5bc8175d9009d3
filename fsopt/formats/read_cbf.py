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
from collections.abc import Mapping

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp
from pyomo.core.base.var import VarData

from fsopt.compiler.cones import lmi
from fsopt.errors import FileError
from fsopt.formats.cbf_sections import SECOND_ORDER, Cones, Content, SectionLines, read_sections
from fsopt.formats.read_arrays import INFINITE, ReadProgram, model_of, products
from fsopt.typing import Indices, Vector

ENDS = {"F": (-np.inf, np.inf), "L+": (0.0, np.inf), "L-": (-np.inf, 0.0), "L=": (0.0, 0.0)}
"""Linear cone -> its lower and upper bound."""
NAMED = re.compile(r"#\s*column (\d+): (.+)")
"""A comment of fsopt's own files, which have the names of the variables there."""


def read_cbf(text: str) -> pyo.ConcreteModel:
    """Return the model of a .cbf file; raises FileError for one that is damaged, or has cones of other kinds."""
    named = {int(found[1]): found[2] for found in map(NAMED.fullmatch, text.split("\n")) if found}
    return conic(read_sections(text), named)


def conic(content: Content, named: Mapping[int, str]) -> pyo.ConcreteModel:
    """Return the model of the sections of a file; names of variables, which count if each has one of its own."""
    m = model_of(_program(content, _names(content, named)))
    taken: set[int] = set()
    for number, matrix in enumerate(_matrices(content, list(m.x.values()))):
        entries = [matrix[i][j] for i in range(len(matrix)) for j in range(i + 1)]
        own = len(taken.union(map(id, entries))) == len(taken) + len(entries) and all(map(_free, entries))
        taken.update(map(id, entries))
        m.add_component(f"matrix{number}", lmi(matrix, own=own))
    return m


def _free(entry: object) -> bool:
    """Return whether an entry of a matrix is a variable without bounds, continuous."""
    return isinstance(entry, VarData) and entry.bounds == (None, None) and not entry.is_integer()


def _names(content: Content, named: Mapping[int, str]) -> list[str]:
    """Return the names of the variables, where the comments have one for each, and of the entries of the matrices."""
    n, orders = content.n, content.matrix_variables
    complete = named.keys() == set(range(n)) and len(set(named.values())) == n
    names = [named[j] if complete else f"x{j}" for j in range(n)]
    return names + [f"X{k}[{i},{j}]" for k, order in enumerate(orders) for i in range(order) for j in range(i + 1)]


class _CbfRows:
    """The constraints and variables of the model while they are collected; each constraint is a row of the file."""

    def __init__(self, columns: list[str], A: sp.csr_matrix, b: Vector) -> None:
        self.A, self.b = A, b
        self.columns = columns
        self.low = [-np.inf] * len(columns)
        self.high = [np.inf] * len(columns)
        self.names: list[str] = []
        self.source: list[int] = []
        self.ends: list[tuple[float, float]] = []
        self.defined: dict[int, int] = {}
        self.squares: dict[int, list[tuple[int, int, float]]] = {}

    def add(self, name: str, i: int, low: float, high: float) -> None:
        """Add the constraint that row i is between two numbers."""
        self.names.append(name)
        self.source.append(i)
        self.ends.append((low - self.b[i], high - self.b[i]))

    def variable(self, i: int) -> int:
        """Return the column that is row i: a variable of the file, or one that is defined by the row."""
        first, last = self.A.indptr[i : i + 2]
        if self.b[i] == 0.0 and last == first + 1 and self.A.data[first] == 1.0:
            return int(self.A.indices[first])
        column = len(self.columns)
        self.columns.append(f"(row {i})")
        self.low.append(-np.inf)
        self.high.append(np.inf)
        self.defined[len(self.names)] = column
        self.add(f"(row {i})", i, 0.0, 0.0)
        return column

    def cone(self, name: str, kind: str, columns: list[int]) -> None:
        """Add a second-order cone: its head, or both factors of a rotated one, are not negative."""
        heads = columns[:1] if kind == "Q" else columns[:2]
        for j in heads:
            self.low[j] = max(self.low[j], 0.0)
        head = (heads[0], heads[0], -1.0) if kind == "Q" else (heads[0], heads[1], -2.0)
        self.squares[len(self.names)] = [head, *((j, j, 1.0) for j in columns[len(heads) :])]
        self.add(name, len(self.b) - 1, -np.inf, 0.0)


def _placed(cones: Cones) -> list[tuple[int, str, range]]:
    """Return number, kind and places of each cone."""
    ends = np.cumsum([size for _, size in cones], dtype=int).tolist()
    return [(k, kind, range(end - size, end)) for k, ((kind, size), end) in enumerate(zip(cones, ends, strict=True))]


def _program(c: Content, names: list[str]) -> ReadProgram:
    A, b = _coefficients(c, len(names))
    rows = _CbfRows(names, A, b)
    for number, kind, places in _placed(c.variables):
        if kind in SECOND_ORDER:
            rows.cone(f"variables {number}", kind, list(places))
            continue
        for j in places:
            rows.low[j], rows.high[j] = ENDS[kind]
    for number, kind, places in _placed(c.rows):
        if kind in SECOND_ORDER:
            rows.cone(f"cone {number}", kind, [rows.variable(i) for i in places])
            continue
        for i in places:
            rows.add(f"row {i}", i, *ENDS[kind])
    m, n = len(rows.names), len(rows.columns)
    cost = np.zeros(n)
    cost[c.table("OBJACOORD").places[:, 0]] = c.table("OBJACOORD").values
    columns, values = _entries(c, c.table("OBJFCOORD"))
    cost[columns] = values
    integer = np.zeros(n, dtype=bool)
    integer[c.table("INT").places[:, 0]] = True
    defined = np.array(list(rows.defined.items()), dtype=int).reshape(-1, 2).T
    own = sp.csr_matrix((np.full(defined.shape[1], -1.0), defined), shape=(m, n))
    read = A[rows.source]
    read.resize((m, n))
    return ReadProgram(
        name="cbf",
        columns=rows.columns,
        rows=rows.names,
        maximise=c.maximise,
        c=cost,
        c0=c.constant,
        A=sp.csr_matrix(read + own),
        lo=np.array([low for low, _ in rows.ends], dtype=float),
        hi=np.array([high for _, high in rows.ends], dtype=float),
        lb=np.array(rows.low),
        ub=np.array(rows.high),
        integer=integer,
        terms={i: products(triples) for i, triples in rows.squares.items()},
    )


def _coefficients(c: Content, n: int) -> tuple[sp.csr_matrix, Vector]:
    """Return coefficients and constants of the rows of the file, followed by a row without entries."""
    scalar, matrix = c.table("ACOORD"), c.table("FCOORD")
    constants = c.table("BCOORD")
    if np.any(np.abs(constants.values) >= INFINITE):
        raise FileError(f"the .cbf file has a constant of {INFINITE:g} or more", "scale it: that is no number here")
    columns, values = _entries(c, matrix)
    places = (
        np.concatenate([scalar.places[:, 0], matrix.places[:, 0]]),
        np.concatenate([scalar.places[:, 1], columns]),
    )
    b = np.zeros(c.m + 1)
    b[constants.places[:, 0]] = constants.values
    return sp.csr_matrix((np.concatenate([scalar.values, values]), places), shape=(c.m + 1, n)), b


def _entries(c: Content, table: SectionLines) -> tuple[Indices, Vector]:
    """Return columns and coefficients of entries of matrix variables, whose triangles come after the variables."""
    k, i, j = table.places[:, -3:].T
    orders = np.array(c.matrix_variables, dtype=int)
    starts = c.n + np.cumsum(orders * (orders + 1) // 2) - orders * (orders + 1) // 2
    return starts[k] + i * (i + 1) // 2 + j, np.where(i == j, 1.0, 2.0) * table.values


def _matrices(c: Content, x: list[pyo.Var]) -> list[list[list[object]]]:
    """Return the matrices that are positive semidefinite, matrix variables first."""
    found: list[list[list[object]]] = []
    column = c.n
    for order in c.matrix_variables:
        lower = [[x[column + i * (i + 1) // 2 + j] for j in range(i + 1)] for i in range(order)]
        found.append(_symmetric(lower))
        column += order * (order + 1) // 2
    terms: dict[tuple[int, ...], list[tuple[int, float]]] = defaultdict(list)
    coefficients, constants = c.table("HCOORD"), c.table("DCOORD")
    for (k, j, *place), v in zip(coefficients.places.tolist(), coefficients.values.tolist(), strict=True):
        terms[k, *place].append((j, v))
    shift = dict(zip(map(tuple, constants.places.tolist()), constants.values.tolist(), strict=True))
    for k, order in enumerate(c.matrices):
        form = [
            [_entry(x, terms.get((k, i, j), []), shift.get((k, i, j), 0.0)) for j in range(i + 1)] for i in range(order)
        ]
        found.append(_symmetric(form))
    return found


def _entry(x: list[pyo.Var], terms: list[tuple[int, float]], shift: float) -> object:
    """Return an entry of a matrix, a variable itself where it is one."""
    if len(terms) == 1 and terms[0][1] == 1.0 and not shift:
        return x[terms[0][0]]
    return pyo.quicksum(v * x[j] for j, v in terms) + shift


def _symmetric(lower: list[list[object]]) -> list[list[object]]:
    return [[lower[max(i, j)][min(i, j)] for j in range(len(lower))] for i in range(len(lower))]
