"""The direction into a set of points: one linear program in floats, whose answer nothing rests on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from fsopt.certificates.exact.cones import Cone
from fsopt.certificates.exact.forms import Form
from fsopt.certificates.exact.program import PointSet
from fsopt.typing import Vector as Floats

APEX = 1e3
"""Steps from the apex of a cone up to which the direction itself has to lie in the cone."""
COARSE = 1e-3
"""Share of the largest variable from which the median of the sizes is a unit, too."""
SMALL = 1e-4
"""Eigenvalues of a matrix, relative to the largest, that count as small."""


class _Rows:
    """Inequalities ``a'd + e'aux >= t s - slack`` of the linear program, row by row."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.entries: tuple[list[int], list[int], list[float]] = ([], [], [])
        self.right: list[float] = []

    def add(self, terms: dict[int, float], margin: float, slack: float) -> None:
        """Add one inequality; the column 0 is t, the columns after it are d and the auxiliary variables."""
        row = len(self.right)
        size = margin if margin > 0 else max(map(abs, terms.values()), default=1.0)
        for column, value in {**terms, 0: -margin}.items():
            self.entries[0].append(row)
            self.entries[1].append(column)
            self.entries[2].append(value / size)
        self.right.append(-slack / size)

    def absolute(self, terms: dict[int, float]) -> int:
        """Return a new column that is at least the absolute value of a linear form."""
        self.size += 1
        column = self.size - 1
        for sign in (1.0, -1.0):
            self.add({**{j: sign * v for j, v in terms.items()}, column: 1.0}, 0.0, 0.0)
        return column


def inward(points: PointSet, start: Floats, step: float, bounds: tuple[Floats, Floats], share: float) -> Floats | None:
    """Return the start (size,) after a step inward, None where there is no direction.

    Parameters
    ----------
    step : its length, relative to the units of the variables.
    bounds : of single variables.
    share : of the largest variable that is the unit of the smallest ones.
    """
    from scipy.optimize import linprog

    scale = _units(start, share)
    rows = _Rows(1 + points.size)
    for form in points.inequalities:
        if len(form.columns) > 1:
            terms, value = _linear(form, start)
            margin = sum(abs(v) * scale[j - 1] for j, v in terms.items()) / len(terms)
            rows.add(terms, margin, value / step)
    for cone in points.cones:
        _add_cone(rows, cone, start, scale, step)
    for matrix in points.matrices:
        _add_matrix(rows, matrix.order, matrix.entries, start, scale)
    equations = [_linear(form, start)[0] for form in points.equations]
    low = np.maximum(np.where(np.isfinite(bounds[0]), (bounds[0] - start) / step, -np.inf), -scale)
    high = np.minimum(np.where(np.isfinite(bounds[1]), (bounds[1] - start) / step, np.inf), scale)
    extra = rows.size - 1 - points.size
    cost = np.zeros(rows.size)
    cost[0] = -1.0
    limits = np.column_stack(
        [np.concatenate([[0.0], low, np.zeros(extra)]), np.concatenate([[1.0], high, np.full(extra, np.inf)])]
    )
    A = sp.csr_matrix((rows.entries[2], (rows.entries[0], rows.entries[1])), shape=(len(rows.right), rows.size))
    E = _stacked(equations, rows.size)
    found = linprog(
        cost,
        A_ub=-A if A.shape[0] else None,
        b_ub=-np.array(rows.right) if A.shape[0] else None,
        A_eq=E if E.shape[0] else None,
        b_eq=np.zeros(E.shape[0]) if E.shape[0] else None,
        bounds=limits,
        method="highs",
    )
    if found.x is None or found.x[0] <= 0.0:
        return None
    moved: Floats = np.clip(start + step * found.x[1 : 1 + points.size], *bounds)
    return moved


def tight(points: PointSet) -> list[int]:
    r"""Return the places of inequalities that are equations at every point of a set, its cones apart.

    In floats: :math:`a'x + \lambda a_0 \ge s` for each, with :math:`\lambda \ge 1`, :math:`0 \le s \le 1` and the
    largest sum of all s, which are 0 or 1.
    """
    from scipy.optimize import linprog

    count, width = len(points.inequalities), points.size + 1
    A, E = (
        _stacked([{**_linear(f, np.zeros(points.size))[0], 0: float(f.offset)} for f in forms], width)
        for forms in (points.inequalities, points.equations)
    )
    found = linprog(
        np.repeat([0.0, -1.0], [width, count]),
        A_ub=sp.hstack([-A, sp.eye(count)]).tocsr(),
        b_ub=np.zeros(count),
        A_eq=sp.csr_matrix(sp.hstack([E, sp.csr_matrix((E.shape[0], count))])),
        b_eq=np.zeros(E.shape[0]),
        bounds=[(1.0, None)] + [(None, None)] * points.size + [(0.0, 1.0)] * count,
        method="highs",
    )
    return [] if found.x is None else np.flatnonzero(found.x[width:] < 0.5).tolist()


def _units(start: Floats, share: float) -> Floats:
    """Return by how much each variable may change: its size, and at least a share of the sizes of the others."""
    sizes = np.abs(start[start != 0])
    if not len(sizes):
        return np.ones_like(start)
    median = float(np.median(sizes)) if share >= COARSE else 0.0
    units: Floats = np.abs(start) + max(median, share * float(sizes.max()))
    return units


def _linear(form: Form, start: Floats) -> tuple[dict[int, float], float]:
    """Return the coefficients of a form by the columns of the linear program, and its value at the start."""
    values = [float(form.coefficient(k)) for k in range(len(form.columns))]
    value = float(form.offset) + float(np.dot(values, start[list(form.columns)]))
    return {j + 1: v for j, v in zip(form.columns, values, strict=True)}, value


def _stacked(equations: Sequence[dict[int, float]], size: int) -> sp.csr_matrix:
    places = [i for i, terms in enumerate(equations) for _ in terms]
    columns = [j for terms in equations for j in terms]
    values = [v for terms in equations for v in terms.values()]
    return sp.csr_matrix((values, (places, columns)), shape=(len(equations), size))


def _add_cone(rows: _Rows, cone: Cone, start: Floats, scale: Floats, step: float) -> None:
    """Add the cone, linearised at the start; near its apex the direction itself has to lie in the cone."""
    left, right = (_linear(form, start) for form in (cone.left, cone.right))
    tails = [_linear(form, start) for form in cone.tails]
    roots = np.sqrt([float(w) for w in cone.weights])
    sizes = roots * np.array([value for _, value in tails])
    norm = float(np.linalg.norm(sizes))
    unit = max((scale[j - 1] for form in (left, right) for j in form[0]), default=1.0)
    if min(left[1], right[1], norm) > APEX * step * unit:
        product = np.sqrt(left[1] * right[1])
        terms: dict[int, float] = {}
        for form, factor in ((left, 0.5 * product / left[1]), (right, 0.5 * product / right[1])):
            _accumulate(terms, form[0], factor)
        for form, root, share in zip(tails, roots, sizes / norm, strict=True):
            _accumulate(terms, form[0], -root * share)
        rows.add(terms, unit, (product - norm) / step)
        return
    absolute = [
        rows.absolute({j: root * v for j, v in form[0].items()}) for form, root in zip(tails, roots, strict=True)
    ]
    for form in (left, right):
        if form[0]:
            rows.add({**form[0], **dict.fromkeys(absolute, -1.0)}, unit, 0.0)
        elif absolute:  # a constant factor: the tails may take a share of it
            rows.add(dict.fromkeys(absolute, -1.0), 0.0, form[1] / step)


def _add_matrix(rows: _Rows, order: int, entries: Sequence[Form], start: Floats, scale: Floats) -> None:
    """Add a matrix inequality: on the eigenvectors of small eigenvalues the direction is diagonally dominant."""
    # The products of these with the others change the smallest eigenvalue by the square of the step alone.
    forms = [_linear(form, start) for form in entries]
    unit = max((scale[j - 1] for terms, _ in forms for j in terms), default=1.0)
    places = [(i, j) for j in range(order) for i in range(j + 1)]
    S = np.zeros((order, order))
    for (i, j), (_, value) in zip(places, forms, strict=True):
        S[i, j] = S[j, i] = value
    eigenvalues, vectors = np.linalg.eigh(S)
    small = vectors[:, eigenvalues < SMALL * max(1.0, float(eigenvalues[-1]))]
    turned: dict[tuple[int, int], dict[int, float]] = {}
    for a in range(small.shape[1]):
        for b in range(a + 1):
            turned[b, a] = {}
            for (i, j), (terms, _) in zip(places, forms, strict=True):
                share = small[i, a] * small[j, b] + (small[j, a] * small[i, b] if i != j else 0.0)
                _accumulate(turned[b, a], terms, float(share))
    off = {key: rows.absolute(terms) for key, terms in turned.items() if key[0] != key[1]}
    for a in range(small.shape[1]):
        others = [column for key, column in off.items() if a in key]
        rows.add({**turned[a, a], **dict.fromkeys(others, -1.0)}, unit, 0.0)


def _accumulate(terms: dict[int, float], form: dict[int, float], factor: float) -> None:
    for j, v in form.items():
        terms[j] = terms.get(j, 0.0) + factor * v
