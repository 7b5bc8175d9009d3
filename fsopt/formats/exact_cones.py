r"""Cones of a file with the numbers of the model, for quadratic constraints that need no factorization.

Such a file is readable and the same on every machine. The forms are

* :math:`\sum a_i x_i^2 \le b^2 t^2` and :math:`\sum a_i x_i^2 \le d`: a second-order cone;
* :math:`\sum a_i x_i^2 \le s\,(c't)` and :math:`\sum a_i x_i^2 \le c't + d`: a rotated cone.
"""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler import Program
from fsopt.compiler.rows import read_row
from fsopt.formats.form import Affine, ConeRows


class ExactCone:
    """One quadratic constraint as ``squares + cross + linear + constant <= 0``."""

    def __init__(self, program: Program, constraint: pyo.Constraint, sense: float) -> None:
        row = read_row(constraint, program.column)
        self.program = program
        self.name = row.constraint.name
        entries: dict[tuple[int, int], float] = {}
        for i, j, v in row.terms.quadratic:
            place = (min(i, j), max(i, j))
            entries[place] = entries.get(place, 0.0) + sense * v
        self.squares = {i: v for (i, j), v in sorted(entries.items()) if i == j and v}
        self.cross = {place: v for place, v in sorted(entries.items()) if place[0] != place[1] and v}
        self.linear = {j: sense * v for j, v in sorted(row.terms.affine(program.column).items()) if v}
        self.constant = sense * row.terms.constant - (row.hi if sense > 0 else -row.lo)

    def cone(self) -> ConeRows | None:
        """Return the cone, or None if the constraint has none of the forms above."""
        negative = [j for j, v in self.squares.items() if v < 0]
        if self.cross:
            return None if negative or self.linear or self.constant else self._product()
        if negative:
            return None if self.linear or self.constant or len(negative) > 1 else self._norm(negative[0])
        if self.linear or self.constant > 0:  # an empty cone has a negative bound
            bound = Affine({j: -v for j, v in self.linear.items()}, 0.0 - self.constant, self.name)
            return ConeRows("QR", (bound, self._affine({}, 0.5), *self._tail()))
        return ConeRows("Q", (self._affine({}, float(np.sqrt(-self.constant))), *self._tail()))

    def _norm(self, head: int) -> ConeRows | None:
        sign = self._sign({head: 1.0})
        size = float(np.sqrt(-self.squares[head]))
        return ConeRows("Q", (self._affine({head: sign * size}), *self._tail())) if sign else None

    def _product(self) -> ConeRows | None:
        """Return the rotated cone of ``squares <= x_k (c't)``, if the bounds imply the sign of both factors."""
        for k in sorted(set.intersection(*(set(place) for place in self.cross))):
            other = {i + j - k: -v for (i, j), v in self.cross.items()}
            sign = self._sign({k: 1.0})
            apart = not ({k, *other} & set(self.squares))
            if apart and sign and sign == self._sign(other):
                half = {j: sign * v / 2 for j, v in other.items()}
                return ConeRows("QR", (self._affine({k: sign}), self._affine(half), *self._tail()))
        return None

    def _sign(self, form: dict[int, float]) -> float:
        """Return +1 or -1 if the bounds imply that the form or its negative is >= 0, else 0."""
        for sign in (1.0, -1.0):
            if all(self.program.lb[j] >= 0 if sign * v > 0 else self.program.ub[j] <= 0 for j, v in form.items()):
                return sign
        return 0.0

    def _tail(self) -> list[Affine]:
        return [self._affine({j: float(np.sqrt(v))}) for j, v in self.squares.items() if v > 0]

    def _affine(self, form: dict[int, float], constant: float = 0.0) -> Affine:
        return Affine(form, constant, self.name)
