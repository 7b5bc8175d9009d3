r"""Hyperplanes w'x + b = 0 and losses of their margins: errors, optimal intercepts, duals, measures; and kernels.

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
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import scipy

from fsopt.common.arguments import NUMBER, word
from fsopt.common.clock import NUMBER as SIZE
from fsopt.common.clock import require
from fsopt.data import Dataset
from fsopt.data.matrices import column_means
from fsopt.data.validation import as_matrix
from fsopt.errors import DataError, ParameterError, shown
from fsopt.typing import Matrix, Vector

ON_HYPERPLANE = 1e-9
"""Value of w'x + b, relative to the size of its terms, below which a sample lies on the hyperplane."""
EVEN = 1e-13
"""Difference of the weights on both sides of an intercept, relative to their sum, that is a rounding error of 0."""
MEASURES = ("accuracy", "mcc", "balanced_accuracy", "recall", "auc")
"""Each 1 at its best: mcc is Matthews' correlation coefficient, balanced_accuracy the mean of the accuracies of both
classes, recall that of the class +1, auc the area under the receiver operating characteristic."""


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


def project_multipliers(alpha: Vector, y: Vector, cap: float | Vector) -> Vector:
    """Return multipliers (n,) in [0, cap] with y'alpha = 0: those of the class with the larger sum are scaled down."""
    a = np.clip(alpha, 0.0, cap)
    plus, minus = a[y > 0].sum(), a[y < 0].sum()
    least = min(plus, minus)
    a *= np.where(y > 0, least / max(plus, TINY), least / max(minus, TINY))
    return a


def combination(data: Dataset, alpha: Vector) -> Vector:
    """Return X'Y alpha (p,) of multipliers (n,) with y'alpha = 0, from centred samples."""
    # The mean has no part in it, but where it is large its rounding errors would be the whole result.
    turned = alpha * data.y
    if data.sparse:
        return np.asarray(data.X.T @ turned - column_means(data.X) * turned.sum())
    return np.asarray((data.X - data.X.mean(axis=0)).T @ turned)


def smallest_multiple(scores: Vector, b: float, y: Vector, e_cap: float) -> float | None:
    """Return the smallest t >= 0 at which the hinge loss of ``t scores + b`` is at most E; None if there is none."""
    moving = scores != 0.0
    places = (y - b)[moving] / scores[moving]
    breaks = np.unique(np.append(places[np.isfinite(places) & (places > 0)], 0.0))
    losses = np.array([hinge(t * scores + b, y) for t in breaks])
    if losses.min() > e_cap:
        return None
    until = slice(int(np.argmax(losses <= e_cap)) + 1)
    return float(np.interp(-e_cap, -losses[until], breaks[until]))


def measures(y: Vector, score: Vector) -> dict[str, float]:
    """Return :data:`MEASURES` of the scores (n,) of samples with labels (n,) in {-1, +1}; a score of 0 is -1."""
    up, found = y > 0, score > 0
    n, (true, positive, both) = len(y), (float(np.sum(side)) for side in (up, found, up & found))
    right, product = n - true - positive + 2.0 * both, true * positive * (n - true) * (n - positive)
    by_class = [part / size for part, size in ((both, true), (right - both, n - true)) if size]
    return {
        "accuracy": right / n,
        "mcc": (n * both - true * positive) / product**0.5 if product else 0.0,
        "balanced_accuracy": sum(by_class) / len(by_class),
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


EPS = float(np.finfo(float).eps)
TINY = 1e-300
"""Smallest argument of a logarithm, 0 ln 0 is 0, and smallest divisor of a sum of multipliers."""
ENTROPY_ERROR = 256.0 * EPS
"""Error of a term of an entropy over C: few roundings of t, whose term changes by less than 37 times as much."""


@dataclass(frozen=True)
class DualTerm:
    r"""The concave term :math:`\psi` of the multipliers in a dual: upper bounds ``caps`` and curvatures ``gamma``, each
    one number or one for each sample (n,), and whether it is the ``entropy``, whose curvature depends on alpha.
    """

    caps: float | Vector
    gamma: float | Vector = 0.0
    entropy: bool = False

    def each(self, n: int) -> tuple[Vector, Vector, bool]:
        """Return the upper bounds (n,) and curvatures (n,) of n multipliers, and whether the term is the entropy."""
        return np.full(n, self.caps), np.full(n, self.gamma), self.entropy


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


def loss_weights(c: float, weights: Vector | None) -> float | Vector:
    """Return the penalty weights C_i of the samples: c itself for equal weights, else c times the weights (n,)."""
    return c if weights is None else np.asarray(c * weights)


def weights_of_classes(y: Vector, weights: Vector | None) -> tuple[float, float]:
    """Return the weight of the class +1 and that of -1; raises ParameterError where they differ within a class."""
    plus, minus = (np.ones(1) if weights is None else weights[y == sign] for sign in (1.0, -1.0))
    if any(np.ptp(part) > 1e-12 * part.max() for part in (plus, minus)):
        raise ParameterError(
            "one weight for each class is needed, and they differ within a class",
            "give class weights, such as 'balanced'",
        )
    return float(plus[0]), float(minus[0])


@dataclass(frozen=True)
class Loss:
    """A loss of the margins by its word in parameters, and the power of the slacks; 0 for the logistic loss without."""

    name: str
    power: int

    def total(self, scores: Vector, y: Vector, weights: Vector | None = None) -> float:
        """Return the sum of the losses of scores s (n,), labels y (n,) in {-1, +1}, and weights g (n,) or ones."""
        margins = y * scores
        losses = np.maximum(1.0 - margins, 0.0) ** self.power if self.power else np.logaddexp(0.0, -margins)
        return float(losses.sum() if weights is None else losses @ weights)

    def intercept(self, scores: Vector, y: Vector, weights: Vector | None = None) -> float:
        """Return the b that minimises the loss of ``scores + b``, the middle of an interval of them."""
        if self.power == 1:
            return 0.5 * sum(best_intercepts(scores, y, weights))
        return _smooth_intercept(self.power, scores, y, np.ones(len(y)) if weights is None else weights)

    def caps(self, c: float, y: Vector, weights: Vector | None = None) -> float | Vector:
        """Return upper bounds of multipliers; of the squared loss C times a power of two, for exact units of grids."""
        if self.power != 2:
            return loss_weights(c, weights)
        g = np.ones(len(y)) if weights is None else weights
        plus, minus = g[y > 0].sum(), g[y < 0].sum()  # 4 times their product over their sum is the value of w = 0
        return c * 2.0 ** int(np.ceil(np.log2(4.0 * np.sqrt(g.max() * plus * minus / (plus + minus)))))

    def term(self, c: float, y: Vector, weights: Vector | None = None) -> DualTerm:
        """Return the term of the multipliers in the dual."""
        gamma = 0.5 / loss_weights(c, weights) if self.power == 2 else 0.0
        return DualTerm(self.caps(c, y, weights), gamma, entropy=not self.power)


HINGE = Loss("hinge", 1)
SQUARED_HINGE = Loss("squared-hinge", 2)
LOGISTIC = Loss("logistic", 0)
LOSSES: Mapping[str, Loss] = MappingProxyType({loss.name: loss for loss in (HINGE, SQUARED_HINGE, LOGISTIC)})
"""Name of a loss -> it."""
hinge, midpoint_intercept = HINGE.total, HINGE.intercept
"""The hinge loss of scores, and the middle of its best intercepts."""


def loss_of(name: str) -> Loss:
    """Return the loss of a name; raises ParameterError for another word."""
    word("loss", name, tuple(LOSSES))
    return LOSSES[name]


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


KERNELS = ("gaussian", "linear")


@dataclass(frozen=True, eq=False)
class Kernel:
    r"""A kernel function and patterns :math:`z_1, \dots, z_m`, to which samples x are compared.

    .. math::
        \text{gaussian: } k(x, z) = e^{-\|x - z\|^2 / (2\sigma^2)}, \qquad
        \text{linear: } k(x, z) = x'z

    The ``patterns`` (m, p), one per row, are a read-only copy, ``width`` is sigma in the units of the features. Raises
    ParameterError for another ``name`` and a width that is no number > 0, DataError for patterns that are not finite.
    """

    name: str
    patterns: Matrix = field(repr=False)
    width: float = 1.0

    def __post_init__(self) -> None:
        word("the kernel", self.name, KERNELS)
        if not NUMBER.holds(self.width) or self.width <= 0:
            raise ParameterError(f"width of the kernel is {shown(self.width)}", "give a number > 0")
        object.__setattr__(self, "patterns", as_matrix(self.patterns))
        if not np.isfinite(self.patterns).all():
            raise DataError("the patterns of the kernel are not finite numbers", "fill or remove missing values")
        self.patterns.setflags(write=False)

    def matrix(self, X: Matrix) -> Matrix:
        """Return the kernel values (n, m) of samples X (n, p) with the patterns."""
        if self.name == "gaussian":
            squares: Matrix = scipy.spatial.distance.cdist(X, self.patterns, "sqeuclidean")
            return np.exp(-squares / (2.0 * self.width**2))
        return np.asarray(X, dtype=float) @ self.patterns.T

    def dataset(self, data: Dataset) -> Dataset:
        """Return the data set of kernel values of samples, with a feature for each pattern; raises MemoryLimitError."""
        n, m = data.n, len(self.patterns)
        hint = "leave the kernel out, or take fewer samples"
        require(2 * SIZE * n * m, f"kernel values of {n} and {m} samples", hint)
        names = [f"row {i}" for i in range(1, m + 1)]
        return Dataset(self.matrix(data.X), data.y, names, name=data.name, labels=data.labels, weights=data.weights)
