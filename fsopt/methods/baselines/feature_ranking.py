"""The filters ``pearson``, ``fisher``, ``ks``, ``infogain``: rank, keep the best m, train.

Each feature is judged by itself, and a support vector machine takes those of best score.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate
from fsopt.answers.fits import Fit
from fsopt.common.arguments import with_keywords_of
from fsopt.common.texts import counted
from fsopt.data import Dataset
from fsopt.data.labels import places_by_name
from fsopt.drivers.run import Run, Steps
from fsopt.errors import reading
from fsopt.methods.baselines.feature_scores import fisher, infogain, ks, pearson, ranking
from fsopt.methods.baselines.subset_svm import (
    SvmSettings,
    check_subset_svm,
    rsvm_objective,
    svm_objective,
    train_on_subset,
)
from fsopt.methods.claims import of_subset
from fsopt.methods.preprocessing import Hyperplane, make_fit, preprocess, selection
from fsopt.methods.spec import MethodSpec, SavedFit
from fsopt.methods.verdict import extend
from fsopt.models.blocks import whole
from fsopt.typing import Indices, Vector

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
    return fit_ranked(name, data, run, SvmSettings("rsvm", 1.0, w_cap), m=m, scale=scale)


def fit_ranked(
    name: str,
    data: Dataset,
    run: Run,
    settings: SvmSettings,
    *,
    m: int | None,
    scale: str,
) -> Steps[Fit]:
    """Rank the features by a score and train a support vector machine on the first m."""
    started = time.perf_counter()
    settings.check(name)
    work, map_ = preprocess(data, scale)
    scores = FILTERS[name](work)
    order, count = order_of(scores, work), number_kept(name, m, data.p)
    found = yield from train_on_subset(work, np.sort(order[:count]), run, settings)
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
    Bi, section 7; the score is :func:`fsopt.methods.baselines.feature_scores.pearson`.
    """
    return fit_filter("pearson", data, run, **keywords)


@with_keywords_of(fit_filter)
def fit_fisher(data: Dataset, run: Run, **keywords: Any) -> Steps[Fit]:
    """Fit a support vector machine on the features of largest Fisher criterion.

    Notes
    -----
    Bi, section 7; the score is :func:`fsopt.methods.baselines.feature_scores.fisher`.
    """
    return fit_filter("fisher", data, run, **keywords)


@with_keywords_of(fit_filter)
def fit_ks(data: Dataset, run: Run, **keywords: Any) -> Steps[Fit]:
    """Fit a support vector machine on the features of largest Kolmogorov-Smirnov distance of the classes.

    Notes
    -----
    Bi, section 7; the score is :func:`fsopt.methods.baselines.feature_scores.ks`.
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
    Aytug, section 4; the score is :func:`fsopt.methods.baselines.feature_scores.infogain`, of ten bins. The paper does
    not print its binning; this is our choice.
    """
    return fit_ranked("infogain", data, run, SvmSettings("svm", c, None), m=m, scale=scale)


OF_ALL: dict[str, Any] = {"check": check, "exact": of_subset, "weights": "samples"}
OF_BI: dict[str, Any] = {
    **OF_ALL,
    "objective": rsvm_objective,
    "models": ("rsvm-dual", "rsvm-least-norm"),
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
