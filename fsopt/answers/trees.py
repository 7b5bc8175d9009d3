"""A tree of branch and bound as arrays: its branchings in preorder, and the multipliers of its leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fsopt.errors import reading
from fsopt.typing import Indices, Mask, Vector

LEAF = -1
"""In the place of a branching variable."""
NOTHING = -1
"""In the place of multipliers: nothing bounds the leaf."""


@dataclass(frozen=True)
class Tree:
    r"""A proof that no point of a program is better than a bound.

    A branching on :math:`x_j` at v splits a box into :math:`x_j \le v` and, for an integer variable,
    :math:`x_j \ge v + 1` with a whole number v; for a continuous one :math:`x_j \ge v`. The leaves cover the box of the
    root. Each names multipliers of the convex relaxation of its box: a dual point, whose value bounds the objective
    there, or a Farkas vector, which shows that the box is empty of points.

    Attributes
    ----------
    column : (N,) the branching variable of each node in preorder, the lower child first; :data:`LEAF` for a leaf.
    value : (N,) v of a branching; of a leaf the place of its multipliers, :data:`NOTHING` where it has none. Leaves
        may share them.
    ray : (K,) whether multipliers are a Farkas vector.
    multipliers : (K, w) y of the rows and z of the cones of the relaxation, and the values u of the variables in its
        quadratic objective.
    """

    column: Indices
    value: Vector
    ray: Mask
    multipliers: sp.csr_matrix

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return int((self.column == LEAF).sum())

    def boxes(self, low: Vector, high: Vector, integer: Mask) -> Iterator[tuple[int, Vector, Vector]]:
        """Yield the place of the multipliers and the bounds (n,), (n,) of each leaf.

        Parameters
        ----------
        low, high, integer : bounds of the root, and mask of the integer variables.

        Raises
        ------
        FileError : the arrays are no tree of a program with so many variables.
        """
        pending = [(low, high)]
        with reading("tree"):
            if self.column.shape != self.value.shape or self.ray.shape != self.multipliers.shape[:1]:
                raise ValueError("its arrays have other lengths")
            for j, v in zip(self.column.tolist(), self.value.tolist(), strict=True):
                if not pending:
                    raise ValueError("a node belongs to no branching")
                below, above = pending.pop()
                if j == LEAF:
                    if v != int(v) or not NOTHING <= v < len(self.ray):
                        raise ValueError("the multipliers of a leaf are missing")
                    yield int(v), below, above
                    continue
                if not 0 <= j < len(low) or not np.isfinite(v) or (integer[j] and v != np.floor(v)):
                    raise ValueError("a branching is damaged")
                pending += reversed(halves(below, above, j, v, whole=bool(integer[j])))
            if pending:
                raise ValueError("it ends early")

    def plain(self) -> dict[str, Any]:
        """Return the tree as plain data."""
        matrix = self.multipliers
        return {
            "column": self.column.tolist(),
            "value": self.value.tolist(),
            "ray": np.flatnonzero(self.ray).tolist(),
            "size": list(matrix.shape),
            "starts": matrix.indptr.tolist(),
            "places": matrix.indices.tolist(),
            "numbers": matrix.data.tolist(),
        }

    @classmethod
    def of(cls, saved: Mapping[str, Any]) -> Tree:
        """Return the tree of plain data; raises FileError where they are damaged."""
        with reading("tree"):
            count, width = (int(v) for v in saved["size"])
            numbers = np.array(saved["numbers"], dtype=float)
            if not np.isfinite(numbers).all():
                raise ValueError("a multiplier is not finite")
            parts = (numbers, np.array(saved["places"], dtype=int), np.array(saved["starts"], dtype=int))
            multipliers = sp.csr_matrix(parts, shape=(count, width))
            multipliers.check_format(full_check=True)
            ray = np.zeros(count, dtype=bool)
            ray[np.array(saved["ray"], dtype=int)] = True
            return cls(np.array(saved["column"], dtype=int), np.array(saved["value"], dtype=float), ray, multipliers)


def halves(low: Vector, high: Vector, j: int, value: float, *, whole: bool) -> list[tuple[Vector, Vector]]:
    """Return the bounds of the two boxes of a branching on variable j, ``whole`` or not, the lower one first."""
    left, right = high.copy(), low.copy()
    left[j], right[j] = value, value + whole
    return [(low, left), (right, high)]
