"""The state of generalized Benders between two iterations: cuts, bounds, and the selections that were tried."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fsopt.certificates.points import relative_gap
from fsopt.drivers.loop import Iterate
from fsopt.typing import Vector


@dataclass(frozen=True)
class TriedSelection:
    """A selection that was tried, its hyperplane, and the objective value of both.

    Attributes
    ----------
    sigma : (p,) selection in {0, 1}.
    w, b : the hyperplane of the support vector machine on the selected features, w (p,) is 0 elsewhere.
    value : F(sigma) + lambda'sigma, a primal value.
    """

    sigma: Vector
    w: Vector
    b: float
    value: float


@dataclass
class State:
    """The state of the loop.

    Attributes
    ----------
    sigma : (p,) where the next cut is made.
    lower : the largest lower bound that a master proved.
    alphas : multipliers (n,) of the cuts.
    tried : the selections whose value is known, as bytes.
    best : the incumbent.
    """

    sigma: Vector
    lower: float = 0.0
    alphas: list[Vector] = field(default_factory=list)
    tried: set[bytes] = field(default_factory=set)
    best: TriedSelection | None = None

    def keep(self, found: TriedSelection) -> None:
        """Take over a selection that was tried."""
        self.tried.add(found.sigma.tobytes())
        if self.best is None or found.value < self.best.value:
            self.best = found

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

    def stopping_criterion(self, tolerance: float, max_cuts: int) -> str:
        """Return the stopping criterion that holds; empty where none does, or there is no incumbent yet."""
        if self.best is None:
            return ""
        if self.closed(tolerance):
            return "optimal"
        if self.sigma.tobytes() in self.tried:
            return "repeated"
        return "iteration-limit" if len(self.alphas) >= max_cuts else ""

    def iterate(self, stop: str = "", *, within: bool = False) -> Iterate:
        """Return the answer so far, with its record at the end of an iteration, and no point without an incumbent."""
        record = None
        if not within:
            record = {"objective": self.upper, "bound": self.lower, "gap": self.gap, "cuts": len(self.alphas)}
        if self.best is None:
            return Iterate(np.inf, {}, self.lower, record=record, within=True)
        point = {"sigma": self.best.sigma, "w": self.best.w, "b": self.best.b, "alphas": self.alphas}
        return Iterate(self.best.value, point, self.lower, record=record, stop=stop, within=within)
