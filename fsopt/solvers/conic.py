r"""The conic form of a program, for solvers that take cones as arrays.

.. math:: \min \tfrac12 x'Px + q'x \quad\text{s.t.}\quad Mx + s = b,\ s \in \{0\}^e \times \mathbb{R}_+^l \times
          \mathcal{Q}_1 \times \dots

in the units of :class:`fsopt.compiler.scaling.Scaling`, so that features in any units give rows of comparable
size. A row of the program keeps its place here while its values change.
"""

from __future__ import annotations

import time
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from fsopt.answers.results import Point, Status
from fsopt.compiler import Program
from fsopt.solvers.shared import objective_factor
from fsopt.solvers.spec import Change, Outcome
from fsopt.typing import Indices, Vector

LOOSE = 2.0**20
"""Right-hand side, in the units of its row, from which the row is divided by it."""


class Blocks(NamedTuple):
    """Places in the program of the rows of M, in the order of M, of linear constraints and of bounds of variables."""

    equal: Indices  # equations, and variables with equal bounds
    fixed: Indices
    upper: Indices  # finite upper bounds of the other constraints, and of the other variables
    above: Indices
    lower: Indices  # finite lower bounds of the same
    below: Indices


def blocks(program: Program) -> Blocks:
    """Return which finite bounds a program has now."""
    p = program
    rows, columns = p.lo != p.hi, p.lb != p.ub
    return Blocks(
        equal=np.flatnonzero(~rows),
        fixed=np.flatnonzero(~columns),
        upper=np.flatnonzero((p.hi < np.inf) & rows),
        above=np.flatnonzero((p.ub < np.inf) & columns),
        lower=np.flatnonzero((p.lo > -np.inf) & rows),
        below=np.flatnonzero((p.lb > -np.inf) & columns),
    )


class ConicForm:
    """The arrays of a program in conic form, at its present values; the places of the rows of M are found once.

    M has ``equalities`` rows in the zero cone, ``inequalities`` rows in the nonnegative cone, and then the cones;
    ``starts`` are the first rows of its blocks, ``factors`` those of its rows, and x = d x' with d in ``scale``.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.scale = program.scaling.columns
        self.blocks = blocks(program)
        self.starts = [0, *accumulate(map(len, self.blocks))]
        self.equalities, self.inequalities = self.starts[2], self.starts[6] - self.starts[2]
        self.turned = sp.csr_matrix(program.scaling.cone @ program.cones.G)
        self.shape = (self.starts[6] + len(program.cones.h), program.n)
        # Lower bounds l <= a'x are the rows -a'x + s = -l, and cones are -TGx + s = Th.
        self.row_sign = np.where(np.arange(self.shape[0]) < self.starts[4], 1.0, -1.0)
        self.factors = self._row_factors()
        self.factor = objective_factor(program)

    def _row_factors(self) -> Vector:
        """Return the factors (r,) of the rows of M; those of cones are in their matrix already."""
        b, factors = self.blocks, np.ones(self.shape[0])
        rows, bounds = self.program.scaling.rows, 1.0 / self.scale
        parts = [rows[b.equal], bounds[b.fixed], rows[b.upper], bounds[b.above], rows[b.lower], bounds[b.below]]
        linear = np.concatenate(parts)
        if not self.program.cones.orders.any():
            # A loose bound as it stands would be the size that all residuals are compared with.
            right = linear * np.abs(self._bounds())
            linear = np.where(right > LOOSE, linear * 2.0 ** -np.round(np.log2(np.maximum(right, 1.0))), linear)
        factors[: self.starts[6]] = linear
        return factors

    def _bounds(self) -> Vector:
        """Return the right-hand sides of the rows before the cones, without factors."""
        p, at = self.program, self.blocks
        parts = [p.lo[at.equal], p.lb[at.fixed], p.hi[at.upper], p.ub[at.above], -p.lo[at.lower], -p.lb[at.below]]
        return np.concatenate(parts)

    def matrix(self) -> sp.csc_matrix:
        """Return M with the present values of the program, in the same places: those that are 0 are kept."""
        A, b = self.program.A, self.blocks
        unit = sp.identity(self.program.n, format="csr")
        rows = [A[b.equal], unit[b.fixed], A[b.upper], unit[b.above], A[b.lower], unit[b.below], self.turned]
        M = sp.vstack(rows, format="csc")
        M.data *= (self.row_sign * self.factors)[M.indices] * np.repeat(self.scale, np.diff(M.indptr))
        return M

    def right_hand_side(self) -> Vector:
        """Return b with the present values of the program."""
        p = self.program
        right: Vector = self.factors * np.concatenate([self._bounds(), p.scaling.cone @ p.cones.h])
        return right

    def linear(self) -> Vector:
        """Return q with the present values of the program."""
        q: Vector = self.factor * self.scale * self.program.c
        return q

    def hessian(self) -> sp.csc_matrix:
        """Return the upper triangle of P with the present values of the program."""
        P = self.program.P
        scaled = self.factor * P.data * self.scale[P.indices] * np.repeat(self.scale, np.diff(P.indptr))
        return sp.triu(sp.csc_matrix((scaled, P.indices, P.indptr), shape=P.shape), format="csc")

    def moved(self, change: Change) -> str | None:
        """Return why a change moves rows, None if it does not: a bound appeared, vanished or met its other one."""
        if change.added:
            return "constraints were added"
        same = all(map(np.array_equal, self.blocks, blocks(self.program)))
        return None if same else "a bound appeared or vanished"

    def point(self, x: Vector, z: Vector) -> Point:
        """Return the primal-dual point of the program from x' and the multipliers z of Mx + s = b.

        The Lagrangian has z'(Mx - b): a row that stands for an upper bound or an equation has the shadow price -z, one
        that stands for a lower bound +z. The multipliers of the cones Gx + h are T'z.
        """
        p, starts = self.program, self.starts
        z = self.factors * z / self.factor
        parts = [z[first:last] for first, last in pairwise(starts)]
        y = np.zeros(p.A.shape[0])
        y[self.blocks.equal] -= parts[0]
        y[self.blocks.upper] -= parts[2]
        y[self.blocks.lower] += parts[4]
        return Point(self.scale * x, y, p.scaling.cone.T @ z[starts[6] :])

    def outcome(
        self, ended: tuple[Status, str], x: Vector, z: Vector, iterations: int, started: float, message: str
    ) -> Outcome:
        """Return the outcome of a solve with its status and stop, by x' and z: a point, or a proof of infeasibility."""
        status, stop = ended
        proved, finite = status is Status.INFEASIBLE, bool(np.isfinite(z).all())
        point = self.point(x, z) if status.solved and finite and np.isfinite(x).all() else None
        ray = self.point(np.zeros(len(x)), z) if proved and finite else None
        return Outcome(status, stop, point, None, iterations, time.perf_counter() - started, message, ray)
