"""The branching rule: the feature whose exclusion is expected to raise the bound most.

Of each feature the search keeps what its exclusions raised the bound by, for each unit of its weight :math:`|w_j|`, the
norm of those of a group
(pseudo-costs): their sum and their number, (2, p). The first branchings take the largest :math:`|w_j|`. Gains that
reach the cutoff count up to there.
"""

from __future__ import annotations

import numpy as np

from fsopt.search.branch_and_benders.problem import Partial
from fsopt.typing import Indices, Matrix, Vector

PRIOR = 1.0
"""The mean of all features counts as much as that many observations of a feature."""
SMALLEST = 0.1
"""A weight counts as at least this share of the largest one: what a tiny weight seems to gain says nothing."""
SHARES = 1e-4, 0.999
"""A share sigma between these is fractional."""


def learn(gains: Matrix, feature: int, sizes: Vector, gain: float) -> None:
    """Count the gain of a branching, but one without an incumbent to compare with."""
    if np.isfinite(gain):
        smallest = max(SMALLEST * float(sizes.max()), 1e-9)
        gains[:, feature] += max(gain, 0.0) / max(float(sizes[feature]), smallest), 1.0


def candidates(gains: Matrix, at: Partial, sigma: Vector, sizes: Vector) -> Indices:
    """Return the free features in the order of their expected gain, only fractional ones where there are any."""
    free = at.free.nonzero()[0]
    share = sigma[free]
    fractional = free[(share > SHARES[0]) & (share < SHARES[1])]
    chosen = fractional if len(fractional) else free
    total, count = gains
    seen = float(count.sum())
    mean = float(total.sum()) / seen if seen else 1.0
    unit = (total[chosen] + PRIOR * mean) / (count[chosen] + PRIOR)
    return chosen[np.argsort(-unit * sizes[chosen], kind="stable")]
