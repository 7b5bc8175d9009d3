"""The filters: a support vector machine on the features of best score, each judged by itself."""

from __future__ import annotations

from functools import partial
from typing import Any

from fsopt.answers.fits import Fit
from fsopt.common.docstrings import with_keywords_of
from fsopt.data import Dataset
from fsopt.drivers.run import Run, Steps
from fsopt.methods.baselines.feature_ranking import filter_spec, fit_filter
from fsopt.methods.baselines.feature_scores import fisher, infogain, ks, pearson
from fsopt.models.blocks import whole


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
    bins: int = 10,
    machine: str = "svm",
    scale: str = "standard",
    **keywords: Any,
) -> Steps[Fit]:
    """Fit a support vector machine on the features of largest information gain.

    Parameters
    ----------
    bins : int, default 10
        >= 2, bins of each feature, of about as many samples, see
        :func:`fsopt.methods.baselines.feature_scores.infogain`. The paper does not print its binning; this is our
        choice.
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
    score = partial(infogain, bins=whole("infogain", "bins", bins))
    return fit_filter("infogain", score, data, run, machine=machine, scale=scale, **keywords)


OF_BI = {"models": ("rsvm-dual", "rsvm-least-norm", "svm"), "equation": "Bi, 7", "weights": "samples", "sparse": True}
SPECS = (
    filter_spec(
        "infogain",
        fit_infogain,
        lambda saved: infogain(saved.data, saved.params["bins"]),
        estimator="InfoGainFilter",
        equation="Aytug, 4",
        weights="samples",
        models=("svm", "rsvm-dual", "rsvm-least-norm"),
    ),
    filter_spec("pearson", fit_pearson, lambda saved: pearson(saved.data), estimator="PearsonFilter", **OF_BI),
    filter_spec("fisher", fit_fisher, lambda saved: fisher(saved.data), estimator="FisherFilter", **OF_BI),
    filter_spec("ks", fit_ks, lambda saved: ks(saved.data), estimator="KSFilter", **OF_BI),
)
