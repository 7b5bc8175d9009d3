r"""Bounds on the weights of a hyperplane, signs among them, and their conjugate in the duals.

.. math:: l_j \le w_j \le u_j, \quad l \le 0 \le u; \qquad
    h_j(q) = \max_{l_j \le w \le u_j} q w - \tfrac12 w^2

Without bounds h(q) is half of :math:`q^2`, for :math:`w \ge 0` half of :math:`\max(q, 0)^2`, and with an upper bound it
is linear above that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.models.gbd.feature_lists import BOUNDS, weight_bounds
from fsopt.typing import Matrix, Vector


@dataclass(frozen=True)
class WeightBounds:
    """Bounds on the weights (p,), which admit 0.

    Attributes
    ----------
    lower, upper : (p,) l <= 0 and u >= 0, infinite where there is no bound.
    """

    lower: Vector
    upper: Vector

    @classmethod
    def of(cls, name: str, data: Dataset, at: Mapping[str, Any]) -> WeightBounds:
        """Return those of a model or method with parameters, see :func:`fsopt.models.gbd.feature_lists.weight_bounds`.

        Raises
        ------
        ParameterError : of that function.
        """
        return cls(*weight_bounds(name, data, **{what: at[what] for what in BOUNDS if what in at}))

    def __bool__(self) -> bool:
        return bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    def words(self, data: Dataset) -> dict[str, dict[str, float]]:
        """Return the bounds as the parameters ``lower`` and ``upper``, those that there are."""
        ends = {"lower": self.lower, "upper": self.upper}
        return {
            what: {data.features[j]: float(values[j]) for j in np.flatnonzero(np.isfinite(values))}
            for what, values in ends.items()
            if np.isfinite(values).any()
        }

    def within(self, size: float) -> WeightBounds:
        """Return the bounds that weights of at most a size satisfy too."""
        return WeightBounds(np.maximum(self.lower, -size), np.minimum(self.upper, size))

    def scaled(self, scale: Vector) -> WeightBounds:
        """Return the bounds on the weights (p,) of features that were divided by a scale (p,) > 0."""
        return WeightBounds(self.lower * scale, self.upper * scale)

    def distance(self, other: WeightBounds) -> float:
        """Return the largest difference from other bounds, infinite where one of both has no bound."""
        pairs = ((self.lower, other.lower), (self.upper, other.upper))
        differences = [np.abs(np.subtract(a, b, where=a != b, out=np.zeros(len(a)))) for a, b in pairs]
        return float(np.max(differences, initial=0.0))

    def violation(self, w: Vector) -> float:
        """Return the largest violation by weights (p,), relative to the largest of 1 and the bound."""
        return float(np.maximum(_excess(w, self.upper), _excess(-w, -self.lower)).max(initial=0.0))

    def clipped(self, w: Vector) -> Vector:
        """Return weights (p,) that a solver's tolerance may have put outside, within the bounds."""
        return np.clip(w, self.lower, self.upper)

    def conjugate(self, q: Matrix) -> Matrix:
        """Return h_j(q_j) (..., p): the largest decrease of the dual by the weights of one feature each."""
        w = self.clipped(q)
        return np.asarray(w * (q - 0.5 * w))

    def add_to(self, w: pyo.Var) -> None:
        """Bound the weights w (J) of a model."""
        for variable, low, high in zip(w.values(), self.lower.tolist(), self.upper.tolist(), strict=True):
            variable.setlb(low)
            variable.setub(high)

    def add_rows(self, m: pyo.ConcreteModel, w: pyo.Var, sigma: Any, equation: str) -> None:
        """Add the constraints ``above`` and ``below``, of the features that have such a bound, times sigma (J)."""
        above, below = (np.flatnonzero(np.isfinite(ends)).tolist() for ends in (self.upper, self.lower))

        def at_most(_: pyo.ConcreteModel, j: int) -> Any:
            return w[j] - float(self.upper[j]) * sigma[j] <= 0

        def at_least(_: pyo.ConcreteModel, j: int) -> Any:
            return w[j] - float(self.lower[j]) * sigma[j] >= 0

        if above:
            m.above = pyo.Constraint(above, rule=at_most, doc=f"{equation} w_j <= u_j sigma_j")
        if below:
            m.below = pyo.Constraint(below, rule=at_least, doc=f"{equation} l_j sigma_j <= w_j")


def _excess(w: Vector, upper: Vector) -> Vector:
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(upper), (w - upper) / np.maximum(1.0, np.abs(upper)), 0.0)
