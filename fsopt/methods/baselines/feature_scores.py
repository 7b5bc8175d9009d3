"""Scores of single features for filters, and the ranking that they give.

Every score is at least 0, and 0 for a constant feature. None changes when a feature is shifted or multiplied by a
positive number; the scores of Pearson, Fisher, and Kolmogorov and Smirnov do not change with a negative one either.
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from fsopt.data import Dataset
from fsopt.methods.preprocessing import constant_features
from fsopt.typing import Indices, Mask, Vector

BITS = 40
"""Leading bits of a score that count in a ranking: scores that agree in them are a tie."""


def pearson(data: Dataset) -> Vector:
    r"""Return the absolute correlation of each feature with the label.

    .. math:: |r_j| = \frac{|\sum_i (x_{ij} - \bar x_j)(y_i - \bar y)|}{n\, s_j\, s_y}

    Returns
    -------
    (p,) array in [0, 1].
    """
    constant = constant_features(data.X)
    centred = data.X - data.X.mean(axis=0)
    label = data.y - data.y.mean()
    size = np.where(constant, 1.0, np.sqrt((centred**2).sum(axis=0)))
    score: Vector = np.abs(label @ (centred / size)) / np.linalg.norm(label)
    return np.where(constant, 0.0, np.minimum(score, 1.0))


def fisher(data: Dataset) -> Vector:
    r"""Return Fisher's criterion of each feature.

    .. math:: \frac{(\mu^+_j - \mu^-_j)^2}{v^+_j + v^-_j}

    with means and variances (divided by the number of samples) of the feature in each class.

    Returns
    -------
    (p,) array; infinite where both classes are constant, each at its own value.
    """
    positive, negative = data.X[data.y > 0], data.X[data.y < 0]
    between = (positive.mean(axis=0) - negative.mean(axis=0)) ** 2
    within = np.where(constant_features(positive), 0.0, positive.var(axis=0)) + np.where(
        constant_features(negative), 0.0, negative.var(axis=0)
    )
    score = np.full(data.p, np.inf)
    np.divide(between, within, out=score, where=within > 0)
    return np.where(constant_features(data.X), 0.0, score)


def ks(data: Dataset) -> Vector:
    r"""Return the two-sample statistic of Kolmogorov and Smirnov of each feature.

    .. math:: \sup_t |F^+_j(t) - F^-_j(t)|

    with the distribution functions of the feature in the two classes.

    Returns
    -------
    (p,) array in [0, 1].
    """
    order = np.argsort(data.X, axis=0, kind="stable")
    ordered = np.take_along_axis(data.X, order, axis=0)
    plus, minus = len(data.positive), len(data.negative)
    steps = np.where(data.y > 0, minus, -plus)[order]
    last = np.vstack([ordered[:-1] < ordered[1:], np.zeros((1, data.p), dtype=bool)])
    distance = np.where(last, np.abs(np.cumsum(steps, axis=0)), 0).max(axis=0) / (plus * minus)
    return np.where(constant_features(data.X), 0.0, distance)


def infogain(data: Dataset, bins: int | None = None) -> Vector:
    r"""Return the information gain of each feature about the label, in bits.

    .. math:: H(y) - H(y \mid x_j) = H(y) - \sum_B \frac{|B|}{n} H(y \mid x_j \in B)

    Parameters
    ----------
    bins : None cuts each feature where the principle of minimum description length accepts a cut (Fayyad and Irani,
        1993), and the gain is 0 where it accepts none; a number >= 2 takes so many bins of about as many samples. Then
        a sample is in bin ``floor(bins * (rank - 1/2) / n)``, and equal values have their mean rank.

    Returns
    -------
    (p,) array in [0, H(y)].
    """
    positive = data.y > 0
    if bins is None:
        left = np.array([_conditional(mdl_bins(column, positive)) for column in data.X.T])
    else:
        from scipy.stats import rankdata  # half a second: not at the start of every verb

        places = np.floor(bins * (rankdata(data.X, axis=0) - 0.5) / data.n).astype(np.int64)
        places += bins * np.arange(data.p)
        counts = [np.bincount(places[positive == side].ravel(), minlength=bins * data.p) for side in (True, False)]
        left = _conditional(np.array(counts).reshape(2, data.p, bins))
    whole = float(entropy(np.array([positive.sum(), (~positive).sum()])))
    return np.where(constant_features(data.X), 0.0, np.maximum(whole - left, 0.0))


def entropy(counts: Indices) -> Vector:
    """Return the entropy in bits (...) of two classes with these counts (2, ...); 0 where there are none."""
    total = np.maximum(counts.sum(axis=0), 1)
    bits: Vector = -(xlogy(counts, counts / total)).sum(axis=0) / total / np.log(2)
    return np.abs(bits)


def _conditional(counts: Indices) -> Vector:
    """Return H(y | bin) (...) of counts (2, ..., bins)."""
    sizes = counts.sum(axis=0)
    mean: Vector = (sizes * entropy(counts)).sum(axis=-1) / sizes.sum(axis=-1)
    return mean


def mdl_bins(column: Vector, positive: Mask) -> Indices:
    r"""Return the counts (2, bins) of both classes in the bins of a feature that the description length accepts.

    A set S of N samples is cut where the remaining entropy is smallest, between two values, if the gain exceeds

    .. math:: \frac{\log_2(N - 1) + \log_2(3^k - 2) - k H(S) + k_1 H(S_1) + k_2 H(S_2)}{N}

    with k, k_1, k_2 the numbers of classes in S and its two parts; the parts are cut in the same way.

    Parameters
    ----------
    column : (n,) values of the feature.
    positive : (n,), the samples of class +1.
    """
    order = np.argsort(column, kind="stable")
    ordered = column[order]
    seen = np.zeros((2, len(column) + 1), dtype=np.int64)
    np.cumsum([positive[order], ~positive[order]], axis=1, out=seen[:, 1:])
    between = np.flatnonzero(ordered[:-1] < ordered[1:]) + 1
    waiting, edges = [(0, len(column))], [0, len(column)]
    # Each pass takes an interval away, and adds two only with a cut, of which there are fewer than samples.
    while waiting:
        low, high = waiting.pop()
        cut = _cut(seen, between[(between > low) & (between < high)], low, high)
        if cut is not None:
            edges.append(cut)
            waiting += [(low, cut), (cut, high)]
    return np.diff(seen[:, np.sort(edges)], axis=1)


def _cut(seen: Indices, cuts: Indices, low: int, high: int) -> int | None:
    """Return where the samples low..high are cut, None where no cut pays for its description."""
    if not len(cuts):
        return None
    left, right = seen[:, cuts] - seen[:, [low]], seen[:, [high]] - seen[:, cuts]
    size = high - low
    remaining = ((cuts - low) * entropy(left) + (high - cuts) * entropy(right)) / size
    best = int(np.argmin(remaining))
    parts = [seen[:, high] - seen[:, low], left[:, best], right[:, best]]
    whole, first, second = (int(np.sum(part > 0)) * float(entropy(part)) for part in parts)
    delta = np.log2(3.0 ** int(np.sum(parts[0] > 0)) - 2.0) - whole + first + second
    gain = float(entropy(parts[0])) - float(remaining[best])
    return int(cuts[best]) if gain > (np.log2(size - 1.0) + delta) / size else None


def ranking(scores: Vector) -> Indices:
    """Return the features from the best score to the worst; those that agree in 40 bits by their index."""
    mantissa, exponent = np.frexp(scores)
    rounded = np.ldexp(np.round(np.ldexp(mantissa, BITS)), exponent - BITS)
    return np.argsort(-rounded, kind="stable")
