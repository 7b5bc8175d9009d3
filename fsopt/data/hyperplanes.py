"""Hyperplanes w'x + b = 0: hinge loss, errors and other measures of scores, optimal intercepts, dual feasibility."""

from __future__ import annotations

import numpy as np

from fsopt.data import Dataset
from fsopt.data.matrices import column_means
from fsopt.typing import Vector

ON_HYPERPLANE = 1e-9
"""Value of w'x + b, relative to the size of its terms, below which a sample lies on the hyperplane."""
EVEN = 1e-13
"""Difference of the weights on both sides of an intercept, relative to their sum, that is a rounding error of 0."""
MEASURES = ("accuracy", "mcc", "balanced_accuracy", "recall", "auc")
"""The measures of :func:`measures`, each 1 at its best."""


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
    """Return the interval of all b that minimise the hinge loss of ``scores + b``.

    The loss is convex and piecewise linear in b with breakpoints ``y_i - scores_i``. Its slope to the left of all
    breakpoints is minus the number of positive samples, and each breakpoint adds 1; with weights (n,) minus the sum of
    theirs, and the weight of its sample. The slope is 0 between the two breakpoints returned, which may coincide. Both
    classes must be present.
    """
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
    """Return multipliers (n,) in [0, cap] with y'alpha = 0, close to the given ones.

    The multipliers of the class with the larger sum are multiplied by a factor < 1, so that the bounds still hold.
    ``cap`` is one number, or one for each sample (n,).
    """
    a = np.clip(alpha, 0.0, cap)
    plus, minus = a[y > 0].sum(), a[y < 0].sum()
    if plus > minus:
        a[y > 0] *= minus / plus
    elif minus > plus:
        a[y < 0] *= plus / minus
    return a


def combination(data: Dataset, alpha: Vector) -> Vector:
    """Return X'Y alpha (p,) of multipliers (n,) with y'alpha = 0, from centred samples.

    The mean of the samples has no part in it, but where it is large its rounding errors would be the whole result.
    Sparse samples stay as they are, and the share of the mean in the sum is subtracted.
    """
    turned = alpha * data.y
    if data.sparse:
        return np.asarray(data.X.T @ turned - column_means(data.X) * turned.sum())
    return np.asarray((data.X - data.X.mean(axis=0)).T @ turned)


def svm_value(data: Dataset, w: Vector, b: float, c: float) -> float:
    r"""Return the objective value :math:`\tfrac12 w'w + C e'\xi` of the support vector machine, the slacks weighted."""
    return 0.5 * float(w @ w) + c * hinge(data.X @ w + b, data.y, data.weights)


def smallest_multiple(scores: Vector, b: float, y: Vector, e_cap: float) -> float | None:
    """Return the smallest t >= 0 at which the hinge loss of ``t scores + b`` is at most E; None if there is none.

    The loss is convex and piecewise linear in t, so t lies on the segment that ends at the first breakpoint below E.
    """
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
    r"""Return measures of the scores (n,) of samples with labels (n,) in {-1, +1}.

    ``accuracy``; ``mcc``, Matthews' correlation coefficient; ``balanced_accuracy``, the mean of the accuracies of both
    classes; ``recall``, the accuracy of the class +1; ``auc``, the area under the receiver operating characteristic:
    the share of the pairs of a positive and a negative sample of which the positive one has the larger score, where
    equal scores count as one half. A score of 0 is the label -1.
    """
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
