"""Method ``infogain``: a support vector machine on the features ranked first by information gain."""

from __future__ import annotations

from typing import Any

from fsopt.answers.certificate import Certificate
from fsopt.answers.fits import Fit
from fsopt.common.docstrings import with_keywords_of
from fsopt.data import Dataset
from fsopt.drivers.run import Run, Steps
from fsopt.methods.baselines.feature_ranking import check_filter, fit_filter
from fsopt.methods.baselines.feature_scores import infogain
from fsopt.methods.baselines.subset_svm import objective
from fsopt.methods.exact.hinge import of_subset
from fsopt.methods.spec import MethodSpec, SavedFit
from fsopt.models.blocks import whole
from fsopt.typing import Vector


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

    Returns
    -------
    Fit
        ``objective`` is that of the support vector machine, in preprocessed units, and the certificate proves it on the
        features that were kept; their selection is a heuristic: ``feasible``, without a bound, and with a warning where
        fewer than m features have a positive gain. ``details`` has ``scores`` (p,) and ``ranking``, all features from
        the best to the worst.

    Raises
    ------
    ParameterError : m outside 1..p, c or w_cap <= 0, another word for ``machine``, bins < 2.

    Notes
    -----
    Aytug, section 4.
    """
    if bins is not None:
        bins = whole("infogain", "bins", bins)

    def score(work: Dataset) -> Vector:
        return infogain(work, bins)

    return fit_filter("infogain", score, data, run, machine=machine, scale=scale, **keywords)


def check(saved: SavedFit) -> Certificate:
    """Certify a saved fit again: scores, ranking, and the last support vector machine."""
    return check_filter(saved, infogain(saved.data, saved.params.get("bins")))


SPEC = MethodSpec(
    "infogain",
    fit_infogain,
    objective,
    check,
    ("svm", "rsvm-dual", "rsvm-least-norm"),
    equation="Aytug, 4",
    estimator="InfoGainFilter",
    weights="samples",
    exact=of_subset,
)
