"""The filters: a support vector machine on the features of best score, each judged by itself."""

from __future__ import annotations

from typing import Any

from fsopt.answers.fits import Fit
from fsopt.common.arguments import with_keywords_of
from fsopt.data import Dataset
from fsopt.drivers.run import Run, Steps
from fsopt.methods.baselines.feature_ranking import filter_spec, fit_filter, fit_scored
from fsopt.methods.baselines.feature_scores import fisher, infogain, ks, pearson
from fsopt.methods.baselines.subset_svm import SvmSettings, svm_objective


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
    return fit_scored("infogain", infogain, data, run, SvmSettings("svm", c, None), m=m, scale=scale)


OF_BI: dict[str, Any] = {
    "models": ("rsvm-dual", "rsvm-least-norm"),
    "equation": "Bi, 7",
    "weights": "samples",
    "sparse": True,
}
SPECS = (
    filter_spec(
        "infogain",
        fit_infogain,
        lambda saved: infogain(saved.data),
        svm_objective,
        estimator="InfoGainFilter",
        equation="Aytug, 4",
        weights="samples",
        models=("svm",),
    ),
    filter_spec("pearson", fit_pearson, lambda saved: pearson(saved.data), estimator="PearsonFilter", **OF_BI),
    filter_spec("fisher", fit_fisher, lambda saved: fisher(saved.data), estimator="FisherFilter", **OF_BI),
    filter_spec("ks", fit_ks, lambda saved: ks(saved.data), estimator="KSFilter", **OF_BI),
)
