"""Scores of single features for filters, and the ranking that they give.

Every score is 0 for a constant feature, and at least 0 but for RELIEF. None changes when a feature is shifted or
multiplied by a positive number; those of Pearson, Fisher, and Kolmogorov and Smirnov do not change with a negative one
either.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from fsopt.common import clock
from fsopt.data import Dataset
from fsopt.data.matrices import column_means, column_variances, constant_columns
from fsopt.typing import Indices, Mask, Matrix, Vector

Counts: TypeAlias = NDArray[np.number[Any]]
"""Numbers of samples, or sums of their weights."""
ROUNDED = 1e-12
"""Difference of sums of weights, relative to them, that is a rounding error of 0."""
BITS = 40
"""Leading bits of a score that count in a ranking: scores that agree in them are a tie, and those below 2^-40 are 0."""
BLOCK = 2**21
"""Most distances, or differences to neighbours, that are held at once."""
DIGITS = 10
"""Decimals of a distance that count: of samples at equal distances the first are neighbours, on every processor."""


def pearson(data: Dataset) -> Vector:
    r"""Return the absolute correlation of each feature with the label.

    .. math:: |r_j| = \frac{|\sum_i (x_{ij} - \bar x_j)(y_i - \bar y)|}{n\, s_j\, s_y}

    Returns
    -------
    (p,) array in [0, 1].
    """
    constant = constant_columns(data.X)
    if data.sparse:
        weights = np.ones(data.n) if data.weights is None else data.weights
        turned = (data.y - np.average(data.y, weights=weights)) * weights
        covariance = data.X.T @ turned - column_means(data.X, weights) * turned.sum()
        size = np.sqrt(column_variances(data.X, weights) * weights.sum() * (turned @ data.y))
        return np.where(constant, 0.0, np.minimum(np.abs(covariance) / np.where(constant, 1.0, size), 1.0))
    root = 1.0 if data.weights is None else np.sqrt(data.weights)
    centred = ((data.X - np.average(data.X, axis=0, weights=data.weights)).T * root).T
    label = (data.y - np.average(data.y, weights=data.weights)) * root
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
    (plus, plus_spread), (minus, minus_spread) = (_moments(data, members) for members in (data.positive, data.negative))
    between, within = (plus - minus) ** 2, plus_spread + minus_spread
    score = np.full(data.p, np.inf)
    np.divide(between, within, out=score, where=within > 0)
    return np.where(constant_columns(data.X), 0.0, score)


def _moments(data: Dataset, members: Indices) -> tuple[Vector, Vector]:
    """Return means and variances (p,) of some samples, by their weights; 0 for the variance of a constant feature."""
    X, weights = data.X[members], None if data.weights is None else data.weights[members]
    return column_means(X, weights), np.where(constant_columns(X), 0.0, column_variances(X, weights))


def ks(data: Dataset) -> Vector:
    r"""Return the two-sample statistic of Kolmogorov and Smirnov of each feature.

    .. math:: \sup_t |F^+_j(t) - F^-_j(t)|

    with the distribution functions of the feature in the two classes.

    Returns
    -------
    (p,) array in [0, 1].
    """
    distances = np.array([_distance(*column) for column in _columns(data)])
    return np.where(constant_columns(data.X), 0.0, distances)


def _distance(column: Vector, positive: Mask, weights: Counts) -> float:
    """Return the largest distance of the distribution functions of a feature in the two classes."""
    order = np.argsort(column, kind="stable")
    ordered = column[order]
    plus, minus = weights[positive].sum(), weights[~positive].sum()
    steps = np.cumsum((np.where(positive, minus, -plus) * weights)[order])
    return float(np.abs(steps[:-1][ordered[:-1] < ordered[1:]]).max(initial=0) / (plus * minus))


def _columns(data: Dataset) -> Iterator[tuple[Vector, Mask, Counts]]:
    """Yield values, classes and weights of the samples of each feature."""
    # The zeros of a sparse feature are one sample of each class with the sum of their weights.
    positive = data.y > 0
    weights = np.ones(data.n, dtype=np.int64) if data.weights is None else data.weights
    if not data.sparse:
        yield from ((column, positive, weights) for column in data.X.T)
        return
    X = data.X.tocsc()  # type: ignore[attr-defined]
    totals, classes = (np.array([weights[side].sum() for side in (positive, ~positive)]), np.array([True, False]))
    for start, end in pairwise(X.indptr.tolist()):
        rows, values = X.indices[start:end], X.data[start:end]
        side, own = positive[rows], weights[rows]
        rest = totals - np.array([own[side].sum(), own[~side].sum()], dtype=totals.dtype)
        left = rest > np.abs(totals) * ROUNDED
        yield (
            np.append(values, np.zeros(int(left.sum()))),
            np.append(side, classes[left]),
            np.append(own, rest[left]),
        )


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
    weights = np.ones(data.n, dtype=np.int64) if data.weights is None else data.weights
    if bins is None:
        left = np.array([_conditional(mdl_bins(*column)) for column in _columns(data)])
    elif data.weights is not None or data.sparse:
        left = np.array([_conditional(_weighted_bins(*column, bins)) for column in _columns(data)])
    else:
        from scipy.stats import rankdata  # half a second: not at the start of every verb

        places = np.floor(bins * (rankdata(data.X, axis=0) - 0.5) / data.n).astype(np.int64)
        places += bins * np.arange(data.p)
        counts = [np.bincount(places[positive == side].ravel(), minlength=bins * data.p) for side in (True, False)]
        left = _conditional(np.array(counts).reshape(2, data.p, bins))
    whole = float(entropy(np.array([weights[positive].sum(), weights[~positive].sum()])))
    return np.where(constant_columns(data.X), 0.0, np.maximum(whole - left, 0.0))


def entropy(counts: Counts) -> Vector:
    """Return the entropy in bits (...) of two classes with these counts (2, ...); 0 where there are none."""
    sums = counts.sum(axis=0)
    total = np.where(sums > 0, sums, 1)
    bits: Vector = -(scipy.special.xlogy(counts, counts / total)).sum(axis=0) / total / np.log(2)
    return np.abs(bits)


def _conditional(counts: Counts) -> Vector:
    """Return H(y | bin) (...) of counts (2, ..., bins)."""
    sizes = counts.sum(axis=0)
    mean: Vector = (sizes * entropy(counts)).sum(axis=-1) / sizes.sum(axis=-1)
    return mean


def _weighted_bins(column: Vector, positive: Mask, weights: Counts, bins: int) -> Counts:
    """Return the weights (2, bins) of both classes in bins of about as much weight; equal values have a mean rank."""
    _, place = np.unique(column, return_inverse=True)
    sizes = np.bincount(place, weights=weights)
    middle = (np.cumsum(sizes) - 0.5 * sizes)[place]
    places = np.minimum(np.floor(bins * middle / weights.sum()).astype(np.int64), bins - 1)
    sides = (positive, ~positive)
    return np.array([np.bincount(places[k], weights=weights[k], minlength=bins) for k in sides])


def mdl_bins(column: Vector, positive: Mask, weights: Counts) -> Counts:
    r"""Return the counts (2, bins) of both classes in the bins of a feature that the description length accepts.

    A set S of N samples is cut where the remaining entropy is smallest, between two values, if the gain exceeds

    .. math:: \frac{\log_2(N - 1) + \log_2(3^k - 2) - k H(S) + k_1 H(S_1) + k_2 H(S_2)}{N}

    with k, k_1, k_2 the numbers of classes in S and its two parts; the parts are cut in the same way.

    Parameters
    ----------
    column : (n,) values of the feature.
    positive : (n,), the samples of class +1.
    weights : (n,) of the samples, whose sums are the numbers of samples.
    """
    order = np.argsort(column, kind="stable")
    ordered = column[order]
    seen = np.zeros((2, len(column) + 1), dtype=weights.dtype)
    np.cumsum([np.where(side[order], weights[order], 0) for side in (positive, ~positive)], axis=1, out=seen[:, 1:])
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


def _cut(seen: Counts, cuts: Indices, low: int, high: int) -> int | None:
    """Return where the samples low..high are cut, None where no cut pays for its description."""
    if not len(cuts):
        return None
    left, right = seen[:, cuts] - seen[:, [low]], seen[:, [high]] - seen[:, cuts]
    size = float((seen[:, high] - seen[:, low]).sum())
    remaining = (left.sum(axis=0) * entropy(left) + right.sum(axis=0) * entropy(right)) / size
    best = int(np.argmin(remaining))
    parts = [seen[:, high] - seen[:, low], left[:, best], right[:, best]]
    whole, first, second = (int(np.sum(part > 0)) * float(entropy(part)) for part in parts)
    delta = np.log2(3.0 ** int(np.sum(parts[0] > 0)) - 2.0) - whole + first + second
    gain = float(entropy(parts[0])) - float(remaining[best])
    return int(cuts[best]) if gain > (np.log2(max(size - 1.0, 1e-300)) + delta) / size else None


def relief(data: Dataset, neighbours: int = 10, turns: int = 1000) -> Vector:
    r"""Return the RELIEF weight of each feature: how much farther along it the other class is than the own one.

    .. math:: W_j = \frac1{|T|} \sum_{i \in T} \Bigl(\frac1k \sum_{l \in M_i} |z_{ij} - z_{lj}|
        - \frac1k \sum_{l \in H_i} |z_{ij} - z_{lj}|\Bigr), \qquad z_{ij} = \frac{x_{ij}}{\max_i x_{ij} - \min_i x_{ij}}

    where :math:`M_i` and :math:`H_i` are the k samples of the other class and of the own one, itself apart, that are
    nearest to sample i in the 1-norm of z; all that there are, where a class has fewer. T are all samples, or so many
    of them.

    Parameters
    ----------
    neighbours : k >= 1.
    turns : number of samples in T at most, drawn with a fixed seed.

    Returns
    -------
    (p,) array in [-1, 1]; 0 for a constant feature.
    """
    flat = constant_columns(data.X)
    span = np.ptp(data.X, axis=0)
    z = np.where(flat, 0.0, data.X / np.where(flat | (span == 0), 1.0, span))
    sides = [np.flatnonzero(data.y > 0), np.flatnonzero(data.y < 0)]
    drawn = np.random.default_rng(0).permutation(data.n)[:turns]
    total = np.zeros(data.p)
    step = max(BLOCK // max(data.n, neighbours * data.p), 1)
    for own, other in (sides, sides[::-1]):
        taking = np.intersect1d(own, drawn)
        for start in range(0, len(taking), step):
            clock.check()
            rows = taking[start : start + step]
            total += _differences(z, rows, other, neighbours, itself=False)
            if len(own) > 1:
                total -= _differences(z, rows, own, neighbours, itself=True)
    return total / len(drawn)


def _differences(z: Matrix, rows: Indices, others: Indices, neighbours: int, *, itself: bool) -> Vector:
    """Return the sums (p,) over samples of the mean |difference| to their nearest among others, not itself."""
    from scipy.spatial.distance import cdist

    distances = cdist(z[rows], z[others], "cityblock").round(DIGITS)
    if itself:
        distances[rows[:, None] == others] = np.inf
    count = min(neighbours, len(others) - itself)
    farthest = np.partition(distances, count - 1, axis=1)[:, [count - 1]]
    # Nearer samples come first, then those at the distance of the last neighbour, each in their order.
    after = (distances >= farthest).astype(np.int8) + (distances > farthest)
    nearest = np.argsort(after, axis=1, kind="stable")[:, :count]
    sums: Vector = np.abs(z[rows][:, None, :] - z[others[nearest]]).mean(axis=1).sum(axis=0)
    return sums


def ranking(scores: Vector, *next_scores: Vector) -> Indices:
    """Return the features from the best score to the worst.

    Those that agree in 40 bits are in the order of the next scores, and of the columns where all scores agree.
    """
    return np.lexsort([-_rounded(each) for each in reversed((scores, *next_scores))])


def _rounded(scores: Vector) -> Vector:
    mantissa, exponent = np.frexp(scores)
    rounded = np.ldexp(np.round(np.ldexp(mantissa, BITS)), exponent - BITS)
    return np.where(np.abs(scores) < 2.0**-BITS, 0.0, rounded)
