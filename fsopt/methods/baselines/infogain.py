"""Method ``infogain``: a support vector machine on the features ranked first by information gain."""

from __future__ import annotations

from fsopt.certificates.certificate import Certificate
from fsopt.data import Dataset
from fsopt.drivers.run import Run
from fsopt.methods.baselines.feature_ranking import check_filter, fit_filter
from fsopt.methods.baselines.subset_svm import LastSvm, objective
from fsopt.methods.baselines.feature_scores import infogain
from fsopt.methods.spec import MethodSpec, SavedFit
from fsopt.models.blocks import whole
from fsopt.results import Fit


def fit_infogain(
    data: Dataset,
    run: Run,
    *,
    m: int | None = None,
    bins: int | None = None,
    machine: str = "svm",
    c: float = 1.0,
    w_cap: float | None = None,
    scale: str = "standard",
) -> Fit:
    """Fit a machine on the features of largest information gain.

    Parameters
    ----------
    m, machine, c, w_cap, scale : as in :func:`fit_pearson`, with other defaults: ``svm`` and ``standard``.
    bins : None (default) bins each column by minimum description length, and a number >= 2 takes so many bins of
        about as many rows, see :func:`fsopt.methods.baselines.feature_scores.infogain`. The paper does not print its binning; this is
        our choice.

    Returns
    -------
    Fit
        As in :func:`fit_pearson`; ``warnings`` tells where fewer than m features have a gain at all.

    Raises
    ------
    ParameterError : as in :func:`fit_pearson`, and bins < 2.

    Notes
    -----
    Paper 4, section 4.
    """
    if bins is not None:
        bins = whole("infogain", "bins", bins, low=2, high=100_000)
    return fit_filter(
        data,
        run,
        LastSvm(machine, c, w_cap),
        name="infogain",
        scale=scale,
        m=m,
        score=lambda work: infogain(work, bins),
    )


def check(saved: SavedFit) -> Certificate:
    """Recompute the scores of a saved fit, the ranking that they give, and the evidence of the last SVM."""
    return check_filter(saved, infogain(saved.data, saved.params.get("bins")))


SPEC = MethodSpec(
    "infogain", fit_infogain, objective, check, ("svm", "rsvm-dual", "rsvm-least-norm"), equation="Aytug, 4"
)
