"""Problem (15) of Bi for one hyperplane: its data, its values, and bounds on radius and capacity in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge
from fsopt.typing import Mask, Matrix, Vector


@dataclass(frozen=True)
class ScalingProblem:
    r"""Problem (15): the product of squared radius and squared norm over the scales of the features.

    .. math::

        \min_{s \ge 0}\ R(s)\,W(s) + q's \quad\text{s.t.}\quad
        \sum_i \Big(1 - y_i\Big(\sum_j s_j w_j x_{ij} + b\Big)\Big)_+ \le E, \qquad
        R(s) = \max_i \sum_j s_j x_{ij}^2,\quad W(s) = \sum_j s_j w_j^2

    Attributes
    ----------
    data : the samples, unscaled.
    w, b : (p,) and scalar, the hyperplane: the scores of scales s are ``X (s * w) + b``.
    e_cap : E, the hinge loss that the scales must not exceed.
    costs : (p,) q >= 0, the cost of each scale; all positive or all zero where ``active``.
    active : (p,) features whose scale may be positive.
    """

    data: Dataset
    w: Vector
    b: float
    e_cap: float
    costs: Vector
    active: Mask

    def size(self, s: Vector) -> tuple[float, float]:
        """Return the squared radius R and the capacity W of scales s (p,)."""
        return float((self.squares @ s).max()), float(s @ self.w**2)

    def value(self, s: Vector) -> float:
        """Return RW + q's."""
        radius, capacity = self.size(s)
        return radius * capacity + float(self.costs @ s)

    def excess(self, s: Vector) -> float:
        """Return the excess of the hinge loss of scales over E, relative to max(1, E)."""
        loss = hinge(self.data.X @ (s * self.w) + self.b, self.data.y)
        return max(loss - self.e_cap, 0.0) / max(1.0, self.e_cap)

    @property
    def has_costs(self) -> bool:
        """Whether the scales have a cost."""
        return bool(self.costs[self.active].any())

    @cached_property
    def squares(self) -> Matrix:
        """The squared entries of X (n, p)."""
        squared: Matrix = self.data.X**2
        return squared

    @cached_property
    def units(self) -> tuple[float, float]:
        """R and W of the scales e, in whose units their multipliers are rounded; 1 where they vanish."""
        radius, capacity = self.size(self.active.astype(float))
        return radius or 1.0, capacity or 1.0

    @cached_property
    def lower_bounds(self) -> tuple[float, float]:
        r"""Positive lower bounds on R and W, or zeros where s = 0 is feasible.

        Let D be the hinge loss of s = 0 minus E. A scale s_j lowers the loss by at most s_j |w_j| sum_i |x_ij|, so that
        :math:`D \le \sum_j s_j |w_j| \sum_i |x_{ij}|`. With :math:`R \ge \sum_j s_j \sum_i x_{ij}^2 / n` and
        :math:`W = \sum_j s_j w_j^2` each is at least D times its smallest ratio to that sum over the features.
        """
        deficit = hinge(np.full(self.data.n, self.b), self.data.y) - self.e_cap
        reach = np.abs(self.data.X).sum(axis=0)
        used = np.flatnonzero(self.active & (self.w != 0) & (reach > 0))
        if deficit <= 0 or not len(used):
            return 0.0, 0.0
        weight, reach = np.abs(self.w[used]), reach[used]
        mean_squares = self.squares[:, used].mean(axis=0)
        return deficit * float((mean_squares / (weight * reach)).min()), deficit * float((weight / reach).min())
