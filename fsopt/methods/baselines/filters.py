"""The filters: a support vector machine on the features of best score, each judged by itself."""

from __future__ import annotations

from typing import Any

from fsopt.answers.fits import Fit
from fsopt.common.docstrings import with_keywords_of
from fsopt.data import Dataset
from fsopt.drivers.run import Run, Steps
from fsopt.methods.baselines.feature_ranking import filter_spec, fit_filter
from fsopt.methods.baselines.feature_scores import fisher, infogain, ks, pearson, relief
from fsopt.models.blocks import whole
from fsopt.typing import Vector


@with_keywords_of(fit_filter)
def fit_pearson(data: Dataset, run: Run, **keywords: Any) -> Steps[Fit]:
    """Fit a support vector machine on the features of largest absolute correlation with the label.

    Notes
    -----
    Bi, section 7; the score is :func:`fsopt.methods.baselines.feature_scores.pearson`.
    """
    return fit_filter("pearson", pearson, data, run, **keywords)


@with_keywords_of(fit_filter)
def fit_fisher(data: Dataset, run: Run, **keywords: Any) -> Steps[Fit]:
    """Fit a support vector machine on the features of largest Fisher criterion.

    Notes
    -----
    Bi, section 7; the score is :func:`fsopt.methods.baselines.feature_scores.fisher`.
    """
    return fit_filter("fisher", fisher, data, run, **keywords)


@with_keywords_of(fit_filter)
def fit_ks(data: Dataset, run: Run, **keywords: Any) -> Steps[Fit]:
    """Fit a support vector machine on the features of largest Kolmogorov-Smirnov distance of the classes.

    Notes
    -----
    Bi, section 7; the score is :func:`fsopt.methods.baselines.feature_scores.ks`.
    """
    return fit_filter("ks", ks, data, run, **keywords)


@with_keywords_of(fit_filter, without=("machine", "scale"))
def fit_infogain(
    data: Dataset,
    run: Run,
    *,
    bins: int | None = None,
    machine: str = "svm",
    scale: str = "standard",
    **keywords: Any,
) -> Steps[Fit]:
    """Fit a support vector machine on the features of largest information gain.

    Parameters
    ----------
    bins : int, optional
        None bins each feature by minimum description length, and a number >= 2 takes so many bins of about as many
        samples, see :func:`fsopt.methods.baselines.feature_scores.infogain`. The paper does not print its binning; this
        is our choice.
    machine : str, default 'svm'
        The support vector machine on the features that are kept: ``svm`` (default) or ``rsvm``, as in
        :class:`fsopt.methods.baselines.subset_svm.SvmSettings`.
    scale : str, default 'standard'
        Preprocessing: ``standard`` (default), ``unit-rows``, ``center`` or ``none``; scores are of the preprocessed
        features, and only ``unit-rows`` changes them.

    Notes
    -----
    Aytug, section 4.
    """
    if bins is not None:
        bins = whole("infogain", "bins", bins)

    def score(work: Dataset) -> Vector:
        return infogain(work, bins)

    return fit_filter("infogain", score, data, run, machine=machine, scale=scale, **keywords)


@with_keywords_of(fit_infogain, without=("bins",))
def fit_relief(
    data: Dataset,
    run: Run,
    *,
    neighbours: int = 10,
    turns: int = 1000,
    **keywords: Any,
) -> Steps[Fit]:
    """Fit a support vector machine on the features of largest RELIEF weight.

    Parameters
    ----------
    neighbours : int, default 10
        >= 1, nearest samples of each class with which a sample is compared, see
        :func:`fsopt.methods.baselines.feature_scores.relief`: 10 (default, Kononenko's ReliefF), or 1, the print.
    turns : int, default 1000
        >= 1, samples that are compared with their neighbours, drawn with a fixed seed where there are more: the sample
        size m of Kira & Rendell. The time for all grows with the square of their number.

    Notes
    -----
    Kira & Rendell, *The feature selection problem: traditional methods and a new algorithm*, AAAI (1992); Kononenko,
    *Estimating attributes*, ECML (1994). Aytug cites RELIEF in section 1.
    """
    neighbours = whole("relief", "neighbours", neighbours)
    turns = whole("relief", "turns", turns)

    def score(work: Dataset) -> Vector:
        return relief(work, neighbours, turns)

    return fit_filter("relief", score, data, run, **{"machine": "svm", "scale": "standard", **keywords})


OF_BI = {"models": ("rsvm-dual", "rsvm-least-norm", "svm"), "equation": "Bi, 7", "weights": "samples", "sparse": True}
OF_AYTUG = {"models": ("svm", "rsvm-dual", "rsvm-least-norm")}
SPECS = (
    filter_spec(
        "infogain",
        fit_infogain,
        lambda saved: infogain(saved.data, saved.params.get("bins")),
        estimator="InfoGainFilter",
        equation="Aytug, 4",
        weights="samples",
        **OF_AYTUG,
    ),
    filter_spec("pearson", fit_pearson, lambda saved: pearson(saved.data), estimator="PearsonFilter", **OF_BI),
    filter_spec("fisher", fit_fisher, lambda saved: fisher(saved.data), estimator="FisherFilter", **OF_BI),
    filter_spec("ks", fit_ks, lambda saved: ks(saved.data), estimator="KSFilter", **OF_BI),
    filter_spec(
        "relief",
        fit_relief,
        lambda saved: relief(saved.data, saved.params["neighbours"], saved.params["turns"]),
        estimator="ReliefFilter",
        equation="Kira & Rendell",
        **OF_AYTUG,
    ),
)
