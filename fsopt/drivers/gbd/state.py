"""The state of generalized Benders between two iterations: cuts, bounds, and the selections that were tried."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fsopt.certificates.points import relative_gap
from fsopt.typing import Vector


@dataclass(frozen=True)
class TriedSelection:
    """A selection that was tried, its hyperplane, and the objective value of both.

    Attributes
    ----------
    sigma : (p,) selection in {0, 1}.
    w, b : the hyperplane of the support vector machine on the selected features, w (p,) is 0 elsewhere.
    value : F(sigma) + lambda'sigma, a primal value.
    error : share of the validation samples on the wrong side, 0 without such samples.
    """

    sigma: Vector
    w: Vector
    b: float
    value: float
    error: float = 0.0


@dataclass
class State:
    """The state from which the loop is resumed.

    Attributes
    ----------
    sigma : (p,) where the next cut is made.
    feasible : whether it is known to be a feasible selection, as the master's are.
    lower : the largest lower bound that a master proved.
    alphas : multipliers (n,) of the cuts.
    tried : the selections whose value is known, as bytes.
    best : the incumbent; ``validated`` : the iterate of smallest validation error, then of smallest value.
    stale : iterations since ``validated`` changed.
    exhausted : whether a search of the master ended by its limit of nodes, and found nothing.
    """

    sigma: Vector
    feasible: bool = True
    lower: float = 0.0
    alphas: list[Vector] = field(default_factory=list)
    tried: set[bytes] = field(default_factory=set)
    best: TriedSelection | None = None
    validated: TriedSelection | None = None
    stale: int = 0
    exhausted: bool = False

    def keep(self, iterate: TriedSelection) -> None:
        """Take over an iterate that was tried."""
        self.tried.add(iterate.sigma.tobytes())
        self.stale += 1
        if self.best is None or iterate.value < self.best.value:
            self.best = iterate
        before = self.validated
        if before is None or (iterate.error, iterate.value) < (before.error, before.value):
            self.validated, self.stale = iterate, 0

    @property
    def upper(self) -> float:
        """The upper bound, that of the incumbent; infinite before the first."""
        return np.inf if self.best is None else self.best.value

    @property
    def gap(self) -> float:
        """The optimality gap relative to ``max(1, upper)``, infinite before the first iterate."""
        return np.inf if self.best is None else relative_gap(self.upper, self.lower)

    def closed(self, tolerance: float) -> bool:
        """Return whether the gap is at most the tolerance."""
        return self.upper - self.lower <= tolerance * max(1.0, abs(self.upper))
