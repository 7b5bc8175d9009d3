r"""Hyperplanes w'x + b = 0 and losses of their margins: errors, optimal intercepts, dual feasibility, measures.

With the margins :math:`u_i = y_i s_i` of scores s, the slacks :math:`\xi_i = \max(0, 1 - u_i)` and
:math:`C_i = C g_i` the losses are :math:`\sum_i C_i \xi_i`, :math:`\sum_i C_i \xi_i^2` and
:math:`\sum_i C_i \ln(1 + e^{-u_i})`. A regularised classifier with any of them has the dual

.. math:: \max_{0 \le \alpha \le \bar\alpha,\ y'\alpha = 0} \psi(\alpha) - \tfrac12 \|X'Y\alpha\|^2

of the negative conjugate :math:`\psi` of the loss at :math:`-\alpha`:

* :math:`e'\alpha`, with :math:`\bar\alpha_i = C_i`, of the hinge loss;
* :math:`e'\alpha - \tfrac12 \sum_i \gamma_i \alpha_i^2`, :math:`\gamma_i = 1 / (2 C_i)`, without any upper bound, of
  the squared one. There :math:`\bar\alpha` is above every optimum: :math:`\alpha_i = 2 C_i \xi_i` and
  :math:`C_i \xi_i^2 \le F_0`, the value of w = 0;
* the entropy :math:`-\sum_i C_i (t_i \ln t_i + (1 - t_i) \ln(1 - t_i))`, :math:`t_i = \alpha_i / C_i`, with
  :math:`\bar\alpha_i = C_i`, of the logistic loss, where :math:`t_i = 1 / (1 + e^{u_i})` at the optimum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import scipy

from fsopt.common.arguments import word
from fsopt.data import Dataset
from fsopt.data.matrices import column_means
from fsopt.data.weights import loss_weights
from fsopt.typing import Indices, Matrix, Vector

ON_HYPERPLANE = 1e-9
"""Value of w'x + b, relative to the size of its terms, below which a sample lies on the hyperplane."""
EVEN = 1e-13
"""Difference of the weights on both sides of an intercept, relative to their sum, that is a rounding error of 0."""
MEASURES = ("accuracy", "mcc", "balanced_accuracy", "recall", "auc")
"""Each 1 at its best: mcc is Matthews' correlation coefficient, balanced_accuracy the mean of the accuracies of both
classes, recall that of the class +1, auc the area under the receiver operating characteristic."""


def hinge(scores: Vector, y: Vector, weights: Vector | None = None) -> float:
    """Return sum_i g_i max(0, 1 - y_i s_i) of scores s (n,), labels y (n,) in {-1, +1} and weights g (n,), or ones."""
    losses = np.maximum(1.0 - y * scores, 0.0)
    return float(losses.sum() if weights is None else losses @ weights)


def error_rate(scores: Vector, y: Vector) -> float:
    """Return the share of samples that sign(s_i) misclassifies, a score s_i of 0 counted as -1."""
    return float(np.mean((scores > 0) != (y > 0)))


def hyperplane_errors(data: Dataset, w: Vector, b: float) -> int:
    """Return the number of samples on the wrong side of the hyperplane w'x + b = 0 or on it."""
    size = abs(data.X) @ np.abs(w) + abs(b)
    return int(np.sum(data.y * (data.X @ w + b) <= ON_HYPERPLANE * size))


def best_intercepts(scores: Vector, y: Vector, weights: Vector | None = None) -> tuple[float, float]:
    """Return the interval of all b that minimise the hinge loss of ``scores + b``, of samples of both classes."""
    # The slope in b is minus the weight of the positive samples left of all breakpoints y_i - s_i; each adds its own.
    g = np.ones(len(y)) if weights is None else weights
    order = np.argsort(y - scores, kind="stable")
    points, slopes = (y - scores)[order], np.cumsum(g[order]) - g[y > 0].sum()
    slopes[np.abs(slopes) <= EVEN * g.sum()] = 0.0
    first = int(np.searchsorted(slopes, 0.0))
    last = min(first + 1, len(y) - 1) if slopes[first] == 0.0 else first  # the rest may weigh nothing beside it
    return float(points[first]), float(points[last])


def midpoint_intercept(scores: Vector, y: Vector, weights: Vector | None = None) -> float:
    """Return the middle of the interval of best intercepts."""
    low, high = best_intercepts(scores, y, weights)
    return 0.5 * (low + high)


def project_multipliers(alpha: Vector, y: Vector, cap: float | Vector) -> Vector:
    """Return multipliers (n,) in [0, cap] with y'alpha = 0: those of the class with the larger sum are scaled down."""
    a = np.clip(alpha, 0.0, cap)
    plus, minus = a[y > 0].sum(), a[y < 0].sum()
    if plus > minus:
        a[y > 0] *= minus / plus
    elif minus > plus:
        a[y < 0] *= plus / minus
    return a


def combination(data: Dataset, alpha: Vector) -> Vector:
    """Return X'Y alpha (p,) of multipliers (n,) with y'alpha = 0, from centred samples."""
    # The mean has no part in it, but where it is large its rounding errors would be the whole result.
    turned = alpha * data.y
    if data.sparse:
        return np.asarray(data.X.T @ turned - column_means(data.X) * turned.sum())
    return np.asarray((data.X - data.X.mean(axis=0)).T @ turned)


def svm_value(data: Dataset, w: Vector, b: float, c: float) -> float:
    r"""Return the objective value :math:`\tfrac12 w'w + C e'\xi` of the support vector machine, the slacks weighted."""
    return 0.5 * float(w @ w) + c * hinge(data.X @ w + b, data.y, data.weights)


def smallest_multiple(scores: Vector, b: float, y: Vector, e_cap: float) -> float | None:
    """Return the smallest t >= 0 at which the hinge loss of ``t scores + b`` is at most E; None if there is none."""
    margins, offsets = y * scores, 1.0 - y * b
    with np.errstate(divide="ignore", invalid="ignore"):
        places = offsets / margins
    breaks = np.unique(np.append(places[np.isfinite(places) & (places > 0)], 0.0))
    losses = np.array([np.maximum(offsets - t * margins, 0.0).sum() for t in breaks])
    below = np.flatnonzero(losses <= e_cap)
    if not len(below):
        return None
    until = slice(int(below[0]) + 1)
    return float(np.interp(-e_cap, -losses[until], breaks[until]))


def measures(y: Vector, score: Vector) -> dict[str, float]:
    """Return :data:`MEASURES` of the scores (n,) of samples with labels (n,) in {-1, +1}; a score of 0 is -1."""
    labels = np.where(score > 0, 1.0, -1.0)
    right = labels == y
    by_class = [float(right[y == sign].mean()) for sign in (1.0, -1.0) if np.any(y == sign)]
    return {
        "accuracy": float(np.mean(right)),
        "mcc": matthews(y, labels),
        "balanced_accuracy": float(np.mean(by_class)),
        "recall": by_class[0],
        "auc": area(y, score),
    }


def area(y: Vector, score: Vector) -> float:
    """Return the area under the receiver operating characteristic, by the ranks of the scores; 0.5 for one class."""
    _, place, count = np.unique(score, return_inverse=True, return_counts=True)
    mean_rank = (np.cumsum(count) - (count - 1) / 2.0)[place]
    up = y > 0
    pairs = float(up.sum()) * float((~up).sum())
    above = float(mean_rank[up].sum()) - up.sum() * (up.sum() + 1) / 2.0
    return float(above / pairs) if pairs else 0.5


def matthews(y: Vector, labels: Vector) -> float:
    """Return Matthews' correlation coefficient of two label vectors (n,) in {-1, +1}; 0 where one is constant."""
    n, sides = float(len(y)), (y > 0, labels > 0, (y > 0) & (labels > 0))
    true, found, both = (float(side.sum()) for side in sides)
    product = found * true * (n - true) * (n - found)
    return (n * both - true * found) / product**0.5 if product > 0 else 0.0


EPS = float(np.finfo(float).eps)
TINY = 1e-300
"""Smallest argument of a logarithm: 0 ln 0 is 0."""
ENTROPY_ERROR = 256.0 * EPS
"""Error of a term of an entropy over C: few roundings of t, whose term changes by less than 37 times as much."""


@dataclass(frozen=True)
class DualTerm:
    r"""The concave term :math:`\psi` of the multipliers in a dual, with their upper bounds.

    Attributes
    ----------
    caps : upper bounds: one number, or one for each sample (n,).
    gamma : curvature, one number or (n,); 0 for the entropy, whose curvature depends on alpha.
    entropy : whether the term is the entropy.
    """

    caps: float | Vector
    gamma: float | Vector = 0.0
    entropy: bool = False

    def of(self, samples: Indices | None) -> DualTerm:
        """Return the term of some samples, of all for None."""
        if samples is None:
            return self
        caps, gamma = (part[samples] if isinstance(part, np.ndarray) else part for part in (self.caps, self.gamma))
        return DualTerm(caps, gamma, self.entropy)

    def each(self, n: int) -> tuple[Vector, Vector, bool]:
        """Return the upper bounds (n,) and curvatures (n,) of n multipliers, and whether the term is the entropy."""
        return np.full(n, self.caps), np.full(n, self.gamma), self.entropy

    def values(self, alpha: Matrix) -> Matrix:
        """Return the terms of multipliers alpha (n,) or (k, n), whose sum is psi."""
        return dual_values(alpha, self.caps, self.gamma, self.entropy)


def dual_values(alpha: Matrix, caps: float | Vector, gamma: float | Vector, entropy: bool) -> Matrix:
    """Return the terms of alpha (n,) or (k, n) whose sum is psi, for the attributes of a :class:`DualTerm`."""
    if not entropy:
        return alpha - 0.5 * gamma * alpha * alpha
    t = np.minimum(np.maximum(alpha / caps, 0.0), 1.0)
    terms: Matrix = t * np.log(np.maximum(t, TINY)) + (1.0 - t) * np.log(np.maximum(1.0 - t, TINY))
    return -caps * terms


def dual_slopes(alpha: Matrix, caps: float | Vector, gamma: float | Vector, entropy: bool) -> Matrix:
    """Return the derivatives of psi, with the entropy at 0 < alpha < C."""
    # The distance from the upper bound is not 0 where the rounding of alpha is.
    slopes: Matrix = np.log(np.maximum(caps - alpha, EPS * EPS * caps) / alpha) if entropy else 1.0 - gamma * alpha
    return slopes


def dual_curvature(alpha: Matrix, caps: float | Vector, gamma: float | Vector, entropy: bool) -> float | Matrix:
    """Return the negative second derivatives of psi, with the entropy at 0 < alpha < C."""
    return caps / (alpha * np.maximum(caps - alpha, EPS * EPS * caps)) if entropy else gamma


def dual_sizes(alpha: Matrix, caps: float | Vector, gamma: float | Vector, entropy: bool) -> Matrix:
    """Return the terms (n,) or (k, n) which, times (n + 2) EPS, bound the rounding error of the sum psi."""
    if not entropy:
        return alpha + 0.5 * gamma * alpha * alpha
    error: Matrix = ENTROPY_ERROR / ((alpha.shape[-1] + 2) * EPS) * caps + 0.0 * alpha
    return dual_values(alpha, caps, gamma, entropy) + error


def dual_gaps(alpha: Matrix, margins: Matrix, caps: float | Vector, gamma: float | Vector, entropy: bool) -> Matrix:
    """Return losses at margins plus alpha times these, less psi: their part of a duality gap, 0 without an entropy."""
    if not entropy:
        return 0.0 * alpha
    losses = np.maximum(-margins, 0.0) + np.log1p(np.exp(-np.abs(margins)))
    return np.maximum(caps * losses + alpha * margins - dual_values(alpha, caps, gamma, entropy), 0.0)


@dataclass(frozen=True)
class Loss:
    """A loss of the margins.

    Attributes
    ----------
    name : the word for it in parameters.
    power : of the slacks, 1 for the hinge loss and 2 for the squared one; 0 for the logistic loss, which has none.
    """

    name: str
    power: int

    def total(self, scores: Vector, y: Vector, weights: Vector | None = None) -> float:
        """Return the sum of the losses of scores (n,), by weights (n,) where there are any."""
        margins = y * scores
        losses = np.maximum(1.0 - margins, 0.0) ** self.power if self.power else np.logaddexp(0.0, -margins)
        return float(losses.sum() if weights is None else losses @ weights)

    def intercept(self, scores: Vector, y: Vector, weights: Vector | None = None) -> float:
        """Return the b that minimises the loss of ``scores + b``, the middle of an interval of them."""
        if self.power == 1:
            return midpoint_intercept(scores, y, weights)
        return _smooth_intercept(self.power, scores, y, np.ones(len(y)) if weights is None else weights)

    def caps(self, c: float, y: Vector, weights: Vector | None = None) -> float | Vector:
        """Return upper bounds of multipliers; of the squared loss C times a power of two, for exact units of grids."""
        if self.power != 2:
            return loss_weights(c, weights)
        largest = 1.0 if weights is None else float(weights.max())
        power = np.ceil(np.log2(2.0 * np.sqrt(largest * value_of_zero(y, weights))))
        return c * 2.0 ** int(power)

    def term(self, c: float, y: Vector, weights: Vector | None = None) -> DualTerm:
        """Return the term of the multipliers in the dual."""
        gamma = 0.5 / loss_weights(c, weights) if self.power == 2 else 0.0
        return DualTerm(self.caps(c, y, weights), gamma, entropy=not self.power)


HINGE = Loss("hinge", 1)
SQUARED_HINGE = Loss("squared-hinge", 2)
LOGISTIC = Loss("logistic", 0)
LOSSES: Mapping[str, Loss] = MappingProxyType({loss.name: loss for loss in (HINGE, SQUARED_HINGE, LOGISTIC)})
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


def _smooth_intercept(power: int, scores: Vector, y: Vector, weights: Vector) -> float:
    """Return the b of the smallest squared hinge or logistic loss, a root of its slope; the middle of several."""
    up, points = y > 0, y - scores
    if power:  # between the ends the classes are apart, without a loss, or both have slacks
        low, high = sorted((float(points[up].max()), float(points[~up].min())))
    else:  # every probability of +1 is at most, or at least, the share of the class +1 at these ends
        centre = float(np.log(weights[up].sum() / weights[~up].sum()))
        low, high = centre - float(scores.max()), centre - float(scores.min())

    def slope(b: float) -> float:
        if power:  # half of it, over the samples with a slack
            return float((np.where(up == (points > b), weights, 0.0) * (b - points)).sum())
        return -float((weights * y * scipy.special.expit(-y * (scores + b))).sum())

    if slope(low) >= 0.0 or slope(high) <= 0.0:
        return 0.5 * (low + high)
    return float(scipy.optimize.brentq(slope, low, high, xtol=1e-14 * max(1.0, abs(low), abs(high))))
