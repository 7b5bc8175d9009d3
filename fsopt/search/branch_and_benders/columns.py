r"""Features that are selected in groups, and weights with bounds: what a selection pays for the multipliers.

.. math:: F(\sigma) = \max_{0 \le \alpha \le \bar\alpha,\ y'\alpha = 0} \psi(\alpha)
          - \sum_g \sigma_g \sum_{j \in g} h_j(q_j(\alpha)), \qquad
          h_j(q) = \max_{l_j \le w \le u_j} \Big(w q - \tfrac12 w^2\Big)

with a share :math:`\sigma_g` in [0, 1] in place of a selection, too: the weights are then in
:math:`\sigma_g [l_j, u_j]`, and the largest :math:`w q - w^2 / (2 \sigma_g)` there is :math:`\sigma_g h_j(q)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fsopt.models.gbd.feature_lists import Groups, WeightBounds
from fsopt.typing import Indices, Matrix, Vector


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of the samples where they form groups, or their weights have bounds.

    Attributes
    ----------
    of : (d,) group of each column; -1 for one that is selected, in the program of a node.
    count : number of groups.
    bounds : on the weights (d,).
    """

    of: Indices
    count: int
    bounds: WeightBounds

    @classmethod
    def needed(cls, groups: Groups, bounds: WeightBounds) -> Columns | None:
        """Return the columns; None where each is a group of its own, without bounds."""
        return None if groups.single and not bounds else cls(groups.of, len(groups), bounds)

    @cached_property
    def members(self) -> list[Indices]:
        """The columns of each group."""
        return [np.flatnonzero(self.of == g) for g in range(self.count)]

    def places(self, groups: Indices) -> Indices:
        """Return the columns of some groups, one group after another."""
        return np.concatenate([self.members[g] for g in groups.tolist()] or [np.zeros(0, dtype=np.intp)])

    @cached_property
    def ends(self) -> tuple[Indices, Vector, Vector]:
        """The column of each bound, its sign, 1 for a lower and -1 for an upper one, and its value."""
        lower, upper = self.bounds.lower, self.bounds.upper
        low, high = np.flatnonzero(np.isfinite(lower)), np.flatnonzero(np.isfinite(upper))
        signs = np.append(np.ones(len(low)), -np.ones(len(high)))
        return np.append(low, high), signs, np.append(lower[low], upper[high])

    def by_column(self, values: Vector) -> Vector:
        """Return the sums (d,) of numbers of the bounds over those of each column."""
        return np.asarray(np.bincount(self.ends[0], values, minlength=len(self.of)), dtype=float)

    def charges(self, q: Vector, multipliers: Vector) -> Vector:
        """Return half the squares of q (d,), less what the multipliers of the bounds are charged."""
        _, sign, end = self.ends
        return 0.5 * q * q - self.by_column(sign * end * multipliers)

    def each(self, values: Matrix, selected: float) -> Matrix:
        """Return the number (..., count) of the group of each column, another one for those that are selected."""
        others = np.full((*values.shape[:-1], 1), selected)
        return np.concatenate([values, others], axis=-1)[..., self.of]

    def sums(self, values: Matrix) -> Matrix:
        """Return the sums (..., count) over the columns of each group, but for those that are selected."""
        if values.ndim == 1:
            return np.asarray(np.bincount(self.of + 1, values, minlength=self.count + 1)[1:], dtype=float)
        return np.array([self.sums(row) for row in values]).reshape(-1, self.count)

    def at(self, selected: int, groups: Indices) -> Columns:
        """Return the columns of a node: of that many groups that are selected, and of free ones after them."""
        columns = self.places(groups)
        place = np.full(self.count, -1)
        place[groups[selected:]] = np.arange(len(groups) - selected)
        bounds = WeightBounds(self.bounds.lower[columns], self.bounds.upper[columns])
        return Columns(place[self.of[columns]], len(groups) - selected, bounds)
