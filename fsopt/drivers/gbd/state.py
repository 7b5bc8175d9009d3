"""What a run of generalized Benders holds: its cuts, its bounds, and the selections that were tried."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fsopt.certificates.certificate import Certificate, Kind, make
from fsopt.certificates.residuals import relative_gap
from fsopt.data import Dataset
from fsopt.typing import Vector


@dataclass(frozen=True)
class Iterate:
    """A selection that was tried, its machine, and the price of both.

    Attributes
    ----------
    sigma : (p,) selection in {0, 1}.
    w, b : the machine on the selected features, w (p,) is 0 elsewhere.
    value : F(sigma), with the price of the features where there is one; a primal value.
    error : share of the validation rows on the wrong side, 0 without such rows.
    """

    sigma: Vector
    w: Vector
    b: float
    value: float
    error: float = 0.0


@dataclass
class State:
    """The loop between two iterations: all that is needed to go on.

    Attributes
    ----------
    sigma : (p,) where the next cut is made.
    allowed : whether that is known to be a selection that keeps the limits, as the master's are.
    lower : the largest bound that a master's branch and bound proved.
    alphas : multipliers (n,) of the cuts.
    tried : the selections whose value is known.
    best : the iterate of least value; ``chosen`` : the one of least validation error, then of least value.
    stale : iterations since ``chosen`` changed.
    """

    sigma: Vector
    allowed: bool = True
    lower: float = 0.0
    alphas: list[Vector] = field(default_factory=list)
    tried: set[bytes] = field(default_factory=set)
    best: Iterate | None = None
    chosen: Iterate | None = None
    stale: int = 0

    def keep(self, iterate: Iterate) -> None:
        """Take over an iterate that was tried."""
        self.tried.add(iterate.sigma.tobytes())
        self.stale += 1
        if self.best is None or iterate.value < self.best.value:
            self.best = iterate
        if self.chosen is None or (iterate.error, iterate.value) < (self.chosen.error, self.chosen.value):
            self.chosen, self.stale = iterate, 0

    @property
    def upper(self) -> float:
        """The least value that was found, infinite before the first."""
        return np.inf if self.best is None else self.best.value

    @property
    def gap(self) -> float:
        """The gap between the bounds relative to ``max(1, upper)``, infinite before the first iterate."""
        return np.inf if self.best is None else relative_gap(self.upper, self.lower)

    def closed(self, tolerance: float) -> bool:
        """Return whether the bounds meet."""
        return self.upper - self.lower <= tolerance * max(1.0, abs(self.upper))


def certify_gbd(
    data: Dataset, alphas: list[Vector], c: float, upper: float, lower: float, tolerance: float
) -> Certificate:
    """Certify the bounds: every cut is valid because its alpha is dual feasible, and the gap is closed.

    The lower bound is the master's over these cuts, proved by its solver or by the search.
    """
    A = np.array(alphas) if alphas else np.zeros((0, data.n))
    outside = max(float(np.maximum(-A, A - c).max(initial=0.0)), 0.0) / max(1.0, c)
    balance = float(np.abs(A @ data.y).max(initial=0.0)) / max(1.0, c)
    residuals = {"alpha bounds": outside, "alpha balance": balance, "gap": relative_gap(upper, lower)}
    return make(
        Kind.GBD,
        residuals,
        tolerance=max(tolerance, 1e-9),
        objective=upper,
        bound=lower,
        bound_source="master problem",
    )
