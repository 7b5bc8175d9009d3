"""The filters of Bi, section 7: a support vector machine on the features of best score, each judged by itself."""

from __future__ import annotations

from typing import Any

from fsopt.answers.fits import Fit
from fsopt.common.docstrings import with_keywords_of
from fsopt.data import Dataset
from fsopt.drivers.run import Run, Steps
from fsopt.methods.baselines.feature_ranking import filter_spec, fit_filter
from fsopt.methods.baselines.feature_scores import fisher, ks, pearson


@with_keywords_of(fit_filter)
def fit_pearson(data: Dataset, run: Run, **keywords: Any) -> Steps[Fit]:
    """Fit a support vector machine on the features of largest absolute correlation with the label.

    Returns
    -------
    Fit
        ``objective`` is that of the support vector machine, in preprocessed units, and the certificate proves it on the
        features that were kept; their selection is a heuristic: ``feasible``, without a bound. ``details`` has
        ``scores`` (p,) and ``ranking``, all features from the best to the worst.

    Raises
    ------
    ParameterError : m outside 1..p, c or w_cap <= 0, another word for ``machine``.

    Notes
    -----
    Bi, section 7; the score is :func:`fsopt.methods.baselines.feature_scores.pearson`.
    """
    return fit_filter("pearson", pearson, data, run, **keywords)


@with_keywords_of(fit_filter)
def fit_fisher(data: Dataset, run: Run, **keywords: Any) -> Steps[Fit]:
    """Fit a support vector machine on the features of largest Fisher criterion.

    Its answer and errors are those of :func:`fsopt.methods.baselines.filters.fit_pearson`; the score is
    :func:`fsopt.methods.baselines.feature_scores.fisher`.
    """
    return fit_filter("fisher", fisher, data, run, **keywords)


@with_keywords_of(fit_filter)
def fit_ks(data: Dataset, run: Run, **keywords: Any) -> Steps[Fit]:
    """Fit a support vector machine on the features of largest Kolmogorov-Smirnov distance of the classes.

    Its answer and errors are those of :func:`fsopt.methods.baselines.filters.fit_pearson`; the score is
    :func:`fsopt.methods.baselines.feature_scores.ks`.
    """
    return fit_filter("ks", ks, data, run, **keywords)


SPECS = (
    filter_spec("pearson", fit_pearson, pearson, estimator="PearsonFilter"),
    filter_spec("fisher", fit_fisher, fisher, estimator="FisherFilter"),
    filter_spec("ks", fit_ks, ks, estimator="KSFilter"),
)
