"""The filters ``pearson``, ``fisher``, ``ks``, ``infogain``: rank, keep the best m, train.

Each feature is judged by itself, and a support vector machine takes those of best score. Every score is 0 for a
constant feature, and at least 0. None changes when a feature is shifted or multiplied by a positive number; those of
Pearson, Fisher, and Kolmogorov and Smirnov do not change with a negative one either.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from fsopt.answers.certificate import Certificate
from fsopt.answers.fits import Fit
from fsopt.common.arguments import with_keywords_of
from fsopt.common.texts import counted
from fsopt.data import Dataset
from fsopt.data.labels import places_by_name
from fsopt.data.matrices import column_means, column_variances, constant_columns
from fsopt.drivers.run import Run, Steps
from fsopt.errors import reading
from fsopt.methods.baselines.subset_svm import (
    check_subset_svm,
    rsvm_objective,
    svm_objective,
    train_on_subset,
)
from fsopt.methods.claims import of_subset
from fsopt.methods.preprocessing import Hyperplane, make_fit, preprocess, selection
from fsopt.methods.spec import MethodSpec, SavedFit
from fsopt.methods.verdict import extend
from fsopt.models.blocks import number, whole
from fsopt.typing import Indices, Mask, Vector

Counts: TypeAlias = NDArray[np.number[Any]]
"""Numbers of samples, or sums of their weights."""
ROUNDED = 1e-12
"""Difference of sums of weights, relative to them, that is a rounding error of 0."""
BITS = 40
"""Leading bits of a score that count in a ranking: scores that agree in them are a tie, and those below 2^-40 are 0."""


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


def infogain(data: Dataset, bins: int = 10) -> Vector:
    r"""Return the information gain of each feature about the label, in bits.

    .. math:: H(y) - H(y \mid x_j) = H(y) - \sum_B \frac{|B|}{n} H(y \mid x_j \in B)

    Parameters
    ----------
    bins : >= 2, bins of about as many samples. A sample is in bin ``floor(bins * (rank - 1/2) / n)``, and equal values
        have their mean rank; with weights of samples ranks and n are sums of them.

    Returns
    -------
    (p,) array in [0, H(y)].
    """
    positive = data.y > 0
    weights = np.ones(data.n) if data.weights is None else data.weights
    counts = [_binned(*column, bins) for column in _columns(data)]
    left = np.array([k.sum(axis=0) @ entropy(k) / k.sum() for k in counts])
    whole = float(entropy(np.array([weights[positive].sum(), weights[~positive].sum()])))
    return np.where(constant_columns(data.X), 0.0, np.maximum(whole - left, 0.0))


def entropy(counts: Counts) -> Vector:
    """Return the entropy in bits (...) of two classes with these counts (2, ...); 0 where there are none."""
    sums = counts.sum(axis=0)
    total = np.where(sums > 0, sums, 1)
    bits: Vector = -(scipy.special.xlogy(counts, counts / total)).sum(axis=0) / total / np.log(2)
    return np.abs(bits)


def _binned(column: Vector, positive: Mask, weights: Counts, bins: int) -> Counts:
    """Return the weights (2, bins) of both classes in bins of about as much weight; equal values have a mean rank."""
    _, place = np.unique(column, return_inverse=True)
    sizes = np.bincount(place, weights=weights)
    middle = (np.cumsum(sizes) - 0.5 * sizes)[place]
    places = np.minimum(np.floor(bins * middle / weights.sum()).astype(np.int64), bins - 1)
    sides = (positive, ~positive)
    return np.array([np.bincount(places[k], weights=weights[k], minlength=bins) for k in sides])


def ranking(scores: Vector, *next_scores: Vector) -> Indices:
    """Return the features from the best score to the worst.

    Those that agree in 40 bits are in the order of the next scores, and of the columns where all scores agree.
    """
    return np.lexsort([-_rounded(each) for each in reversed((scores, *next_scores))])


def _rounded(scores: Vector) -> Vector:
    mantissa, exponent = np.frexp(scores)
    rounded = np.ldexp(np.round(np.ldexp(mantissa, BITS)), exponent - BITS)
    return np.where(np.abs(scores) < 2.0**-BITS, 0.0, rounded)


FILTERS: Mapping[str, Callable[[Dataset], Vector]] = MappingProxyType(
    {"infogain": infogain, "pearson": pearson, "fisher": fisher, "ks": ks}
)
"""Method -> its score: function of preprocessed data that returns (p,) numbers, the best feature's the largest."""


def order_of(scores: Vector, data: Dataset) -> Indices:
    """Return the features from the best score to the worst, whatever the order of the columns.

    Features of equal scores are in the order of their absolute correlation with the label, equal ones in that of their
    names.
    """
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
    return fit_ranked(name, data, run, m, scale, w_cap=None if w_cap is None else number(name, "w_cap", w_cap))


def fit_ranked(
    name: str, data: Dataset, run: Run, m: int | None, scale: str, *, c: float | None = None, w_cap: float | None = None
) -> Steps[Fit]:
    """Rank the features by a score and train a support vector machine on the first m."""
    started = time.perf_counter()
    work, map_ = preprocess(data, scale)
    scores = FILTERS[name](work)
    order, count = order_of(scores, work), number_kept(name, m, data.p)
    found = yield from train_on_subset(work, np.sort(order[:count]), run, c=c, w_cap=w_cap)
    positive = int(np.sum(scores > 0))
    few = f"of {counted(count, 'feature')} that are kept only {positive} have a score above 0"
    return make_fit(
        data,
        map_,
        Hyperplane(found.w, found.b, selection(found.w)),
        found.outcome,
        started=started,
        warnings=((few,) if positive < count else ()) + found.warnings,
        details={**found.details, "scores": scores, "ranking": order},
    )


def check(saved: SavedFit) -> Certificate:
    """Certify a saved fit of a filter again: scores, which are computed anew, ranking, and the last machine.

    Raises
    ------
    FileError : the saved scores, ranking or multipliers are damaged.
    """
    fit, data = saved.fit, saved.data
    scores = FILTERS[fit.method](data)
    with reading("ranking"):
        stated, given = (np.array(fit.details[k], dtype=float) for k in ("scores", "ranking"))
        if stated.shape != (data.p,) or given.shape != (data.p,) or np.isnan(stated).any():
            raise ValueError(f"{data.p} scores and as many ranks are needed")
    # Scores may be infinite: those that are equal differ by 0.
    with np.errstate(invalid="ignore"):
        off = np.where(stated == scores, 0.0, np.abs(stated - scores) / np.maximum(1.0, np.abs(scores)))
    order = order_of(stated, data)
    kept = np.sort(order[: number_kept(fit.method, fit.params.get("m"), data.p)])
    wrong = {"scores": float(off.max()), "ranking": float(np.sum(given != order))}
    return extend(check_subset_svm(saved, kept), wrong)


@with_keywords_of(fit_filter)
def fit_pearson(data: Dataset, run: Run, **keywords: Any) -> Steps[Fit]:
    """Fit a support vector machine on the features of largest absolute correlation with the label.

    Notes
    -----
    Bi, section 7; the score is :func:`fsopt.methods.baselines.filters.pearson`.
    """
    return fit_filter("pearson", data, run, **keywords)


@with_keywords_of(fit_filter)
def fit_fisher(data: Dataset, run: Run, **keywords: Any) -> Steps[Fit]:
    """Fit a support vector machine on the features of largest Fisher criterion.

    Notes
    -----
    Bi, section 7; the score is :func:`fsopt.methods.baselines.filters.fisher`.
    """
    return fit_filter("fisher", data, run, **keywords)


@with_keywords_of(fit_filter)
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
    return fit_ranked("infogain", data, run, m, scale, c=number("infogain", "c", c))


OF_ALL: dict[str, Any] = {"check": check, "exact": of_subset, "weights": "samples"}
OF_BI: dict[str, Any] = {
    **OF_ALL,
    "objective": rsvm_objective,
    "models": ("rsvm-dual",),
    "equation": "Bi, 7",
    "sparse": True,
}
SPECS = (
    MethodSpec(
        "infogain",
        fit_infogain,
        ("svm",),
        objective=svm_objective,
        equation="Aytug, 4",
        estimator="InfoGainFilter",
        **OF_ALL,
    ),
    MethodSpec("pearson", fit_pearson, estimator="PearsonFilter", **OF_BI),
    MethodSpec("fisher", fit_fisher, estimator="FisherFilter", **OF_BI),
    MethodSpec("ks", fit_ks, estimator="KSFilter", **OF_BI),
)
