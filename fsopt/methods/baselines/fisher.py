"""Method ``fisher``: a support vector machine on the features ranked first by the Fisher criterion."""

from __future__ import annotations

from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.drivers.run import Run
from fsopt.methods.baselines.feature_ranking import filter_spec, fit_filter
from fsopt.methods.baselines.feature_scores import fisher
from fsopt.methods.baselines.subset_svm import SvmSettings


def fit_fisher(
    data: Dataset,
    run: Run,
    *,
    m: int | None = None,
    machine: str = "rsvm",
    c: float = 1.0,
    w_cap: float | None = None,
    scale: str = "unit-rows",
) -> Fit:
    """Fit a support vector machine on the features of largest Fisher criterion.

    Parameters
    ----------
    m : int, optional
        Number of features to keep, of equal scores the first; None keeps 5, or all where there are fewer.
    machine : str, default 'rsvm'
        The support vector machine on the features that are kept: ``rsvm`` (default) or ``svm``, as in
        :class:`fsopt.methods.baselines.subset_svm.SvmSettings`.
    c : float, default 1.0
        > 0, penalty weight of the hinge loss in the machine ``svm``; without effect on ``rsvm``.
    w_cap : float, optional
        > 0, capacity W of the machine ``rsvm``, without effect on ``svm``; None takes (RW + 1) / n = 0.1 on the
        features that are kept.
    scale : str, default 'unit-rows'
        Preprocessing: ``unit-rows`` (default, the paper's), ``standard``, ``center`` or ``none``; scores are of the
        preprocessed features, and only ``unit-rows`` changes them.

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
    Bi, section 7; the score is :func:`fsopt.methods.baselines.feature_scores.fisher`.
    """
    return fit_filter(data, run, SvmSettings(machine, c, w_cap), name="fisher", scale=scale, m=m, score=fisher)


SPEC = filter_spec("fisher", fit_fisher, fisher, estimator="FisherFilter")
