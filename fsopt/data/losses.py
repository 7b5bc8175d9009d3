r"""Losses of the margins of a hyperplane: hinge and squared hinge, as a search over selections takes them.

With the slacks :math:`\xi_i = \max(0, 1 - y_i s_i)` of scores s and :math:`C_i = C g_i` the losses are
:math:`\sum_i C_i \xi_i` and :math:`\sum_i C_i \xi_i^2`. In the dual of a support vector machine with either,

.. math:: \max_{0 \le \alpha \le \bar\alpha,\ y'\alpha = 0} e'\alpha - \tfrac12 \|X'Y\alpha\|^2
          - \tfrac12 \sum_i \gamma_i \alpha_i^2,

the hinge loss has :math:`\bar\alpha_i = C_i` and :math:`\gamma = 0`; the squared one has :math:`\gamma_i = 1 / (2 C_i)`
and no upper bound. There :math:`\bar\alpha` is above every optimum: :math:`\alpha_i = 2 C_i \xi_i` and
:math:`C_i \xi_i^2 \le F_0`, the value of w = 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from fsopt.common.arguments import word
from fsopt.data.hyperplanes import midpoint_intercept
from fsopt.data.weights import loss_weights
from fsopt.typing import Vector


@dataclass(frozen=True)
class Loss:
    """A loss of the margins, the sum of a power of the slacks.

    Attributes
    ----------
    name : the word for it in parameters.
    power : 1 for the hinge loss, 2 for the squared one.
    """

    name: str
    power: int

    @property
    def bounded(self) -> bool:
        """Whether the multipliers have upper bounds, which some of an optimum reach."""
        return self.power == 1

    def total(self, scores: Vector, y: Vector, weights: Vector | None = None) -> float:
        """Return the sum of the powers of the slacks of scores (n,), by weights (n,) where there are any."""
        losses = np.maximum(1.0 - y * scores, 0.0) ** self.power
        return float(losses.sum() if weights is None else losses @ weights)

    def intercept(self, scores: Vector, y: Vector, weights: Vector | None = None) -> float:
        """Return the b that minimises the loss of ``scores + b``, the middle of an interval of them."""
        if self.power == 1:
            return midpoint_intercept(scores, y, weights)
        return _squared_intercept(scores, y, np.ones(len(y)) if weights is None else weights)

    def caps(self, c: float, y: Vector, weights: Vector | None = None) -> float | Vector:
        """Return upper bounds of the multipliers: one number, or one for each sample (n,).

        Those of the squared loss are C times a power of two, so that the unit of a grid below them is exact.
        """
        if self.power == 1:
            return loss_weights(c, weights)
        largest = 1.0 if weights is None else float(weights.max())
        power = np.ceil(np.log2(2.0 * np.sqrt(largest * value_of_zero(y, weights))))
        return c * 2.0 ** int(power)

    def curvature(self, c: float, weights: Vector | None = None) -> float | Vector:
        """Return gamma: one number, or one for each sample (n,)."""
        return 0.0 if self.power == 1 else 0.5 / loss_weights(c, weights)


HINGE, SQUARED_HINGE = Loss("hinge", 1), Loss("squared-hinge", 2)
LOSSES: Mapping[str, Loss] = MappingProxyType({loss.name: loss for loss in (HINGE, SQUARED_HINGE)})
"""Name of a loss -> it."""


def loss_of(name: str) -> Loss:
    """Return the loss of a name; raises ParameterError for another word."""
    word("loss", name, tuple(LOSSES))
    return LOSSES[name]


def value_of_zero(y: Vector, weights: Vector | None = None) -> float:
    """Return the smallest squared hinge loss of w = 0, over b: 4 times the product of the class sums over their sum."""
    g = np.ones(len(y)) if weights is None else weights
    plus, minus = float(g[y > 0].sum()), float(g[y < 0].sum())
    return 4.0 * plus * minus / (plus + minus)


def _squared_intercept(scores: Vector, y: Vector, weights: Vector) -> float:
    """Return the b of the smallest squared hinge loss, a root of its slope, which is piecewise linear and increases.

    Half the slope at b is the sum of g_i (b - t_i) over the samples with a slack, t_i = y_i - s_i: those of the class
    +1 with t_i > b and those of the class -1 with t_i < b. Between two of the sorted t_i it is a line.
    """
    points = y - scores
    order = np.argsort(points, kind="stable")
    points, up = points[order], y[order] > 0
    centre = points[len(points) // 2]  # so that a large common offset costs no digits
    t = points - centre
    plus, minus = np.where(up, weights[order], 0.0), np.where(up, 0.0, weights[order])

    def sums(above: Vector, below: Vector) -> Vector:
        """Return the sums over the positive samples at or after each place, and the negative ones before it."""
        return np.asarray(np.append(np.cumsum(above[::-1])[::-1], 0.0) + np.append(0.0, np.cumsum(below)))

    total, first = sums(plus, minus), sums(plus * t, minus * t)
    idle = np.flatnonzero(total == 0.0)
    if len(idle):  # the classes are apart: no loss between them
        k = int(idle[0])
        return float(centre + 0.5 * (t[k - 1] + t[k]))
    slopes = t * total[:-1] - first[:-1]  # at the right end of each line
    k = int(np.argmax(slopes >= 0.0)) if np.any(slopes >= 0.0) else len(t)
    low, high = (t[k - 1] if k else -np.inf), (t[k] if k < len(t) else np.inf)
    return float(centre + np.clip(first[k] / total[k], low, high))
