"""Quadratic constraints with the same terms in different variables, as arrays, and their cones stacked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fsopt.compiler.cones import ConeStack
from fsopt.typing import Indices, Vector

Stack: TypeAlias = NDArray[np.float64]
"""Matrices of equal shape, one for each constraint: (N, k, k) or (N, r, k)."""


@dataclass
class Quadratic:
    """A quadratic constraint ``lo <= x'Qx + a'x + d <= hi`` as it was read, Q as triples (i, j, value)."""

    constraint: Any
    terms: list[tuple[int, int, float]]
    linear: dict[int, float]
    constant: float
    lo: float
    hi: float


@dataclass
class Family:
    """N quadratic constraints ``x'Qx + a'x + d <= 0`` with the same terms in different variables.

    Attributes
    ----------
    members : (N,) positions in the list of quadratics.
    columns : (N, k) columns of their variables.
    Q, a, d : (N, k, k), (N, k) and (N,) coefficients; a lower bound is multiplied by -1.
    """

    members: Indices
    columns: Indices
    Q: Stack
    a: Stack
    d: Vector

    def take(self, which: Indices) -> Family:
        """Return the family of some members."""
        return Family(self.members[which], self.columns[which], self.Q[which], self.a[which], self.d[which])


@dataclass
class Cones:
    """N cones of one size: the nonzeros of G (N, r, k) over columns (N, k), h (N, r), and the rest of a ConeStack."""

    members: Indices
    columns: Indices
    places: tuple[Indices, Indices, Indices]
    values: Vector
    h: Stack
    scale: float = 1.0
    pair: int = 0

    @classmethod
    def of(cls, part: Family, G: Stack, h: Stack, scale: float = 1.0) -> Cones:
        """Return the cones Gx + h over the columns of a family."""
        member, row, column = np.nonzero(G)
        return cls(part.members, part.columns, (member, row, column), G[member, row, column], h, scale)


def families(quadratics: Sequence[Quadratic], senses: Vector, refused: dict[int, str]) -> list[Family]:
    """Group quadratics by the positions of their terms, numbered in the order of their first occurrence."""
    groups: dict[Any, list[tuple[int, list[int]]]] = {}
    for i, q in enumerate(quadratics):
        if i in refused:
            continue
        place: dict[int, int] = {}
        number = place.setdefault
        pairs = tuple([(number(j, len(place)), number(k, len(place))) for j, k, _ in q.terms])
        linear = tuple([number(j, len(place)) for j in q.linear])
        groups.setdefault((pairs, linear), []).append((i, list(place)))
    return [_family(quadratics, senses, pairs, linear, listed) for (pairs, linear), listed in groups.items()]


def _family(
    quadratics: Sequence[Quadratic],
    senses: Vector,
    pairs: tuple[tuple[int, int], ...],
    linear: tuple[int, ...],
    listed: list[tuple[int, list[int]]],
) -> Family:
    """Return the arrays of quadratics (position, columns) with terms in the same pairs and linear positions."""
    members = np.array([i for i, _ in listed])
    columns = np.array([c for _, c in listed], dtype=int)
    alike = [quadratics[i] for i in members]
    sense = senses[members]
    Q = np.zeros((*columns.shape, columns.shape[1]))
    values = sense[:, None] * np.array([[v for _, _, v in q.terms] for q in alike]) / 2
    for t, (j, k) in enumerate(pairs):
        Q[:, j, k] += values[:, t]
        Q[:, k, j] += values[:, t]
    a = np.zeros(columns.shape)
    a[:, list(linear)] = sense[:, None] * np.array([list(q.linear.values()) for q in alike])
    bound = np.where(sense > 0, [q.hi for q in alike], [q.lo for q in alike])
    constant = np.array([q.constant for q in alike])
    return Family(members, columns, Q, a, sense * (constant - bound))


def stacked(found: Sequence[Cones], quadratics: Sequence[Quadratic], senses: Vector, n: int) -> ConeStack:
    """Stack cones in the order of their constraints."""
    members = np.concatenate([np.zeros(0, int), *(c.members for c in found)])
    order = np.argsort(members)
    sizes = np.concatenate([np.zeros(0, int), *(np.full(len(c.members), c.h.shape[1]) for c in found)])[order]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    start_of = dict(zip(members[order].tolist(), starts[:-1].tolist(), strict=True))
    h = np.zeros(int(starts[-1]))
    rows: list[Indices] = [np.zeros(0, int)]
    columns: list[Indices] = [np.zeros(0, int)]
    values: list[Vector] = [np.zeros(0)]
    for c in found:
        first = np.array([start_of[i] for i in c.members.tolist()])
        row = first[:, None] + np.arange(c.h.shape[1])
        h[row] = c.h
        rows.append(row[c.places[:2]])
        columns.append(c.columns[c.places[0], c.places[2]])
        values.append(c.values)
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    scale = np.concatenate([np.zeros(0), *(np.full(len(c.members), c.scale) for c in found)])[order]
    pairs = np.concatenate([np.zeros(0, int), *(np.full(len(c.members), c.pair) for c in found)])[order]
    return ConeStack(
        G=sp.csr_matrix(entries, shape=(len(h), n)),
        h=h,
        starts=starts,
        constraints=[quadratics[i].constraint for i in members[order].tolist()],
        pairs=pairs.astype(int),
        scale=scale,
        sense=senses[members[order]] if len(members) else np.zeros(0),
    )
