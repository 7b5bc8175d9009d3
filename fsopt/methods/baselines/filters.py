"""The filters ``pearson``, ``fisher``, ``ks``, ``infogain``: rank, keep the best m, train.

Each feature is judged by itself, and a support vector machine takes those of best score. Every score is 0 for a
constant feature, and at least 0. None changes when a feature is shifted or multiplied by a positive number; those of
Pearson, Fisher, and Kolmogorov and Smirnov do not change with a negative one either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import scipy

from fsopt.answers.certificate import Certificate
from fsopt.answers.fits import Fit
from fsopt.common.arguments import with_keywords_of
from fsopt.common.texts import counted
from fsopt.data import Dataset
from fsopt.data.matrices import BLOCK, column_means, column_variances, constant_columns
from fsopt.data.validation import places_by_name
from fsopt.drivers.run import Run, Steps
from fsopt.methods.baselines.machines import check_subset, subset_fit, train_on_subset
from fsopt.methods.claims import of_subset
from fsopt.methods.preprocessing import preprocess
from fsopt.methods.spec import MethodSpec, SavedFit
from fsopt.models.blocks import whole
from fsopt.typing import Indices, Mask, Matrix, Vector

BINS = 10
"""Number of bins of ``infogain``: the paper does not print its binning, this is our choice."""
BITS = 40
"""Leading bits of a score that count in a ranking: scores that agree in them are a tie, and those below 2^-40 are 0."""

Score: TypeAlias = Callable[[Matrix, Mask, Vector], Vector]
"""Function of dense columns (n, k), which samples are positive (n,), and their weights (n,) -> (k,) scores."""


def by_columns(score: Score) -> Callable[[Dataset], Vector]:
    """Return a score of data sets: 0 of constant features; sparse features are made dense block by block."""

    @wraps(score, assigned=("__module__", "__name__", "__qualname__", "__doc__"))
    def scores(data: Dataset) -> Vector:
        X: Any = data.X.tocsc() if data.sparse else data.X  # type: ignore[attr-defined]
        size, weights = max(1, BLOCK // data.n), np.ones(data.n) if data.weights is None else data.weights
        blocks = (X[:, start : start + size] for start in range(0, data.p, size))
        dense = (block.toarray() if data.sparse else block for block in blocks)
        with np.errstate(divide="ignore", invalid="ignore"):  # of constant features
            found = np.concatenate([score(block, data.y > 0, weights) for block in dense])
        return np.where(constant_columns(data.X, data.deviations), 0.0, found)

    vars(scores).pop("__wrapped__")
    return scores


@by_columns
def pearson(X: Matrix, positive: Mask, weights: Vector) -> Vector:
    r"""Return the absolute correlation of each feature with the label.

    .. math:: |r_j| = \frac{|\sum_i (x_{ij} - \bar x_j)(y_i - \bar y)|}{n\, s_j\, s_y}

    Returns
    -------
    (p,) array in [0, 1].
    """
    centred, label = (Z - np.average(Z, axis=0, weights=weights) for Z in (X, np.where(positive, 1.0, -1.0)))
    size = np.sqrt((weights @ centred**2) * (weights @ label**2))
    score: Vector = np.minimum(np.abs((weights * label) @ centred) / size, 1.0)
    return score


@by_columns
def fisher(X: Matrix, positive: Mask, weights: Vector) -> Vector:
    r"""Return Fisher's criterion of each feature.

    .. math:: \frac{(\mu^+_j - \mu^-_j)^2}{v^+_j + v^-_j}

    with means and variances (divided by the number of samples) of the feature in each class.

    Returns
    -------
    (p,) array; infinite where both classes are constant, each at its own value.
    """
    parts = [(X[side], weights[side]) for side in (positive, ~positive)]
    means = [column_means(part, own) for part, own in parts]
    pairs = [(part, column_variances(part, own)) for part, own in parts]
    total = sum(np.where(constant_columns(part, np.sqrt(v)), 0.0, v) for part, v in pairs)
    score: Vector = (means[0] - means[1]) ** 2 / total
    return score


@by_columns
def ks(X: Matrix, positive: Mask, weights: Vector) -> Vector:
    r"""Return the two-sample statistic of Kolmogorov and Smirnov of each feature.

    .. math:: \sup_t |F^+_j(t) - F^-_j(t)|

    with the distribution functions of the feature in the two classes.

    Returns
    -------
    (p,) array in [0, 1].
    """
    plus, minus = weights[positive].sum(), weights[~positive].sum()
    order = np.argsort(X, axis=0, kind="stable")
    steps = np.cumsum((np.where(positive, minus, -plus) * weights)[order], axis=0)
    ends = np.diff(np.take_along_axis(X, order, axis=0), axis=0) > 0
    distances: Vector = np.abs(np.where(ends, steps[:-1], 0.0)).max(axis=0, initial=0.0) / (plus * minus)
    return distances


@by_columns
def infogain(X: Matrix, positive: Mask, weights: Vector) -> Vector:
    r"""Return the information gain of each feature about the label, in bits.

    .. math:: H(y) - H(y \mid x_j) = H(y) - \sum_B \frac{|B|}{n} H(y \mid x_j \in B)

    Of ten bins of about as many samples: a sample is in bin ``floor(10 (rank - 1/2) / n)``, and equal values have their
    mean rank; with weights of samples ranks and n are sums of them.

    Returns
    -------
    (p,) array in [0, H(y)].
    """
    sides, total = (positive, ~positive), weights.sum()

    def left(column: Vector) -> float:
        _, place = np.unique(column, return_inverse=True)
        sizes = np.bincount(place, weights=weights)
        rank = (np.cumsum(sizes) - 0.5 * sizes)[place]
        bins = np.minimum((BINS * rank / total).astype(np.intp), BINS - 1)
        return entropy(np.array([np.bincount(bins[side], weights[side], BINS) for side in sides]))

    whole = entropy(np.array([[weights[side].sum()] for side in sides]))
    return np.maximum(whole - np.array([left(column) for column in X.T]), 0.0)


def entropy(counts: Matrix) -> float:
    """Return the mean entropy in bits of two classes with these counts (2, k) in k bins."""
    sums = counts.sum(axis=0)
    bits = -scipy.special.xlogy(counts, counts / np.where(sums > 0, sums, 1.0)).sum() / np.log(2) / sums.sum()
    return abs(float(bits))


def ranking(scores: Vector, *next_scores: Vector) -> Indices:
    """Return the features from the best score to the worst, ties of 40 bits by the next scores, then by the columns."""
    mantissa, exponent = np.frexp([scores, *next_scores])
    rounded = np.ldexp(np.round(np.ldexp(mantissa, BITS)), exponent - BITS)
    return np.lexsort(-np.where(np.abs(rounded) < 2.0**-BITS, 0.0, rounded)[::-1])


FILTERS: Mapping[str, Callable[[Dataset], Vector]] = MappingProxyType(
    {"infogain": infogain, "pearson": pearson, "fisher": fisher, "ks": ks}
)
"""Method -> its score: function of preprocessed data that returns (p,) numbers, the best feature's the largest."""


def order_of(scores: Vector, data: Dataset) -> Indices:
    """Return the features from the best score to the worst, ties by correlation with the label, then by name."""
    return ranking(scores, pearson(data), -places_by_name(data.features).astype(float))


def number_kept(name: str, m: int | None, p: int) -> int:
    """Return the number of features to keep, 5 by default; raises ParameterError where it is outside 1..p."""
    return min(5, p) if m is None else whole(name, "m", m, high=p, why=f" (of {counted(p, 'feature')})")


def fit_filter(
    name: str,
    data: Dataset,
    run: Run,
    *,
    m: int | None = None,
    w_cap: float | None = None,
    scale: str = "unit-rows",
    c: float | None = None,
) -> Steps[Fit]:
    """Rank the features of the preprocessed data by a score and train a rigorous SVM on the first m.

    Parameters
    ----------
    name : str
        Of the method, one of :data:`FILTERS`.
    data : Dataset
        The training data.
    run : Run
        Solver, options and time limit.
    m : int, optional
        Number of features to keep; None keeps 5, or all where there are fewer. Of equal scores those of the larger
        absolute correlation with the label are kept, of equal correlations the first by name.
    w_cap : float, optional
        > 0, capacity W of the rigorous support vector machine on the features that are kept; None takes
        (RW + 1) / n = 0.1 on them.
    scale : str, default 'unit-rows'
        Preprocessing: ``unit-rows`` (default, the paper's), ``standard``, ``center`` or ``none``; scores are of the
        preprocessed features, and only ``unit-rows`` changes them.
    c : float, optional
        > 0, penalty weight of a support vector machine in the place of the rigorous one; None for that.

    Returns
    -------
    Fit
        ``objective`` is that of the support vector machine, in preprocessed units, and the certificate proves it on the
        features that were kept; their selection is a heuristic: ``feasible``, without a bound, and with a warning where
        fewer than m features have a positive score. ``details`` has ``scores`` (p,) and ``ranking``, all features from
        the best to the worst.

    Raises
    ------
    ParameterError : a number outside its range.
    """
    work, map_ = preprocess(data, scale)
    scores = FILTERS[name](work)
    order, count = order_of(scores, work), number_kept(name, m, data.p)
    chosen = np.sort(order[:count])
    slug = "rsvm" if c is None else "svm"
    found = yield from train_on_subset(slug, work, chosen, run, w_cap if c is None else c)
    positive = int(np.sum(scores > 0))
    few = f"of {counted(count, 'feature')} that are kept only {positive} have a score above 0"
    return subset_fit(map_, found, found.outcome, warnings=(few,) * (positive < count))


def numbers(saved: SavedFit) -> Mapping[str, Any]:
    """Return the scores (p,) of the features, and all features from the best to the worst."""
    scores = FILTERS[saved.fit.method](saved.data)
    # Ties of stated scores: those of recomputed ones depend on their last digits.
    stated = np.array(saved.fit.details.get("scores", scores), dtype=float)
    return {"scores": scores, "ranking": order_of(stated, saved.data)}


def check(saved: SavedFit) -> Certificate:
    """Certify a saved fit of a filter again: the features of the best scores, and the last machine."""
    fit, data = saved.fit, saved.data
    order = order_of(np.reshape(np.array(fit.details["scores"], dtype=float), data.p), data)
    return check_subset(saved, np.sort(order[: number_kept(fit.method, fit.params.get("m"), data.p)]))


@with_keywords_of(fit_filter, without=("c",))
def fit_pearson(data: Dataset, run: Run, **keywords: Any) -> Steps[Fit]:
    """Fit a support vector machine on the features of largest absolute correlation with the label.

    Notes
    -----
    Bi, section 7; the score is :func:`fsopt.methods.baselines.filters.pearson`.
    """
    return fit_filter("pearson", data, run, **keywords)


@with_keywords_of(fit_filter, without=("c",))
def fit_fisher(data: Dataset, run: Run, **keywords: Any) -> Steps[Fit]:
    """Fit a support vector machine on the features of largest Fisher criterion.

    Notes
    -----
    Bi, section 7; the score is :func:`fsopt.methods.baselines.filters.fisher`.
    """
    return fit_filter("fisher", data, run, **keywords)


@with_keywords_of(fit_filter, without=("c",))
def fit_ks(data: Dataset, run: Run, **keywords: Any) -> Steps[Fit]:
    """Fit a support vector machine on the features of largest Kolmogorov-Smirnov distance of the classes.

    Notes
    -----
    Bi, section 7; the score is :func:`fsopt.methods.baselines.filters.ks`.
    """
    return fit_filter("ks", data, run, **keywords)


def fit_infogain(
    data: Dataset, run: Run, *, m: int | None = None, c: float = 1.0, scale: str = "standard"
) -> Steps[Fit]:
    """Fit a support vector machine on the features of largest information gain.

    Parameters
    ----------
    m : int, optional
        Number of features to keep; None keeps 5, or all where there are fewer. Of equal scores those of the larger
        absolute correlation with the label are kept, of equal correlations the first by name.
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    scale : str, default 'standard'
        Preprocessing: ``standard`` (default), ``unit-rows``, ``center`` or ``none``; scores are of the preprocessed
        features, and only ``unit-rows`` changes them.

    Returns
    -------
    Fit
        As of ``pearson``.

    Raises
    ------
    ParameterError : a number outside its range.

    Notes
    -----
    Aytug, section 4; the score is :func:`fsopt.methods.baselines.filters.infogain`, of ten bins. The paper does
    not print its binning; this is our choice.
    """
    return fit_filter("infogain", data, run, m=m, c=c, scale=scale)


OF_ALL: dict[str, Any] = {"check": check, "numbers": numbers, "exact": of_subset, "weights": "samples"}
OF_BI: dict[str, Any] = {**OF_ALL, "models": ("rsvm",), "equation": "Bi, 7", "sparse": True}
SPECS = (
    MethodSpec("infogain", fit_infogain, ("svm",), equation="Aytug, 4", estimator="InfoGainFilter", **OF_ALL),
    MethodSpec("pearson", fit_pearson, estimator="PearsonFilter", **OF_BI),
    MethodSpec("fisher", fit_fisher, estimator="FisherFilter", **OF_BI),
    MethodSpec("ks", fit_ks, estimator="KSFilter", **OF_BI),
)
