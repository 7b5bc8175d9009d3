"""The branching rule: the feature whose exclusion is expected to raise the bound most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.algorithms.branch_and_benders.node_programs import NodeHyperplane
from fsopt.algorithms.branch_and_benders.problem import Partial
from fsopt.typing import Indices, Vector

PRIOR = 1.0
"""The mean of all features counts as much as that many observations of a feature."""
SMALLEST = 0.1
"""A weight counts as at least this share of the largest one: what a tiny weight seems to gain says nothing."""
SHARES = 1e-4, 0.999
"""A share sigma between these is fractional."""


@dataclass
class Gains:
    """What excluding each feature raised the bound by, for each unit of its weight |w_j| (pseudo-costs).

    The first branchings take the largest |w_j|. Gains that reach the cutoff count up to there.

    Attributes
    ----------
    total, count : (p,) sum of the gains per unit, and their number.
    """

    total: Vector
    count: Vector

    @classmethod
    def none(cls, p: int) -> Gains:
        """Return the gains before the first branching."""
        return cls(np.zeros(p), np.zeros(p))

    def learn(self, feature: int, hyperplane: NodeHyperplane, gain: float) -> None:
        """Count the gain of a branching, but one without an incumbent to compare with."""
        if not np.isfinite(gain):
            return
        smallest = max(SMALLEST * float(np.abs(hyperplane.w).max()), 1e-9)
        self.total[feature] += max(gain, 0.0) / max(abs(hyperplane.w[feature]), smallest)
        self.count[feature] += 1.0

    def copy(self) -> Gains:
        """Return a copy, for another search."""
        return Gains(self.total.copy(), self.count.copy())

    def since(self, earlier: Gains) -> Gains:
        """Return what was learned since an earlier state."""
        return Gains(self.total - earlier.total, self.count - earlier.count)

    def add(self, other: Gains) -> None:
        """Add what another search learned."""
        self.total += other.total
        self.count += other.count

    def candidates(self, at: Partial, hyperplane: NodeHyperplane) -> Indices:
        """Return the free features in the order of their expected gain, only fractional ones where there are any."""
        free = at.free.nonzero()[0]
        share = hyperplane.sigma[free]
        fractional = free[(share > SHARES[0]) & (share < SHARES[1])]
        chosen = fractional if len(fractional) else free
        seen = float(self.count.sum())
        mean = float(self.total.sum()) / seen if seen else 1.0
        unit = (self.total[chosen] + PRIOR * mean) / (self.count[chosen] + PRIOR)
        return chosen[np.argsort(-unit * np.abs(hyperplane.w[chosen]), kind="stable")]
