"""Method ``r2w2``: features removed along the radius/margin bound (Weston et al.), a rival that the papers cite."""

from __future__ import annotations

import time
from dataclasses import replace

from fsopt.answers.fits import Fit
from fsopt.common.customising import changes_in_force
from fsopt.data import Dataset
from fsopt.drivers.run import Run, Steps, drained
from fsopt.methods.assembly import make_fit
from fsopt.methods.baselines.feature_ranking import number_kept
from fsopt.methods.baselines.rfe import check, objective, one_percent
from fsopt.methods.baselines.subset_svm import SvmSettings, train_on_subset
from fsopt.methods.exact.hinge import of_subset
from fsopt.methods.preprocessing import Hyperplane, preprocess
from fsopt.methods.spec import MethodSpec
from fsopt.models.blocks import number, whole
from fsopt.models.gbd.fsp_sub import build_fsp_sub
from fsopt.svm.interior_point import svm_interior_point
from fsopt.svm.r2w2 import FactorPenalty, r2w2


def fit_r2w2(
    data: Dataset,
    run: Run,
    *,
    m: int | None = None,
    c: float = 1.0,
    step: int = 1,
    scale: str = "standard",
    lam: float = 0.0,
    power: float = 0.5,
    total: float | None = None,
) -> Steps[Fit]:
    r"""Fit a support vector machine on the m features that a descent of the radius/margin bound leaves (R2W2).

    .. math:: \min_{\sigma \ge 0}\ R^2(\sigma)\, W^2(\sigma) + \lambda \sum_j \sigma_j^q
        \quad\text{s.t.}\quad e'\sigma = M, \qquad K_\sigma(x, x') = \sum_j \sigma_j^2 x_j x_j'

    with the radius R of the smallest ball around the scaled samples and the weight W of the support vector machine on
    them: of separable data, R^2 W^2 bounds the leave-one-out error. One gradient step, removal of the smallest factors,
    and so on, see :func:`fsopt.svm.r2w2.r2w2`.

    Parameters
    ----------
    m : int, optional
        Number of features to keep; None keeps 5, or all where there are fewer.
    c : float, default 1.0
        > 0, penalty weight of the hinge loss; the bound is of separable data, the method's W for a large C.
    step : int, default 1
        Features removed after each gradient step; take more where there are thousands of features.
    scale : str, default 'standard'
        Preprocessing of the features: ``standard`` (default), ``center`` or ``none``; the selection depends on it.
    lam : float, default 0.0
        >= 0, penalty weight lambda of the factors; the method's own descent has none.
    power : float, default 0.5
        In (0, 2], power q of the factors in the penalty; small ones count the factors that are not 0.
    total : float, optional
        > 0, the sum M of the factors; with ``total=m`` it is that of (2) throughout. None takes the number of features
        that are left, so that the mean factor is 1.

    Returns
    -------
    Fit
        ``objective`` is F(sigma) of Aytug, that of the SVM on the m features, in preprocessed units. The certificate
        proves it for these features; their selection is a heuristic: ``feasible``, without a bound.

    Raises
    ------
    ParameterError : m outside 1..p, c <= 0, step < 1, or a wrong penalty.

    Notes
    -----
    Weston, Mukherjee, Chapelle, Pontil, Poggio & Vapnik, *Feature selection for SVMs*, NIPS 13 (2000), the linear
    kernel; (2) and (3) of Aytug, with the hinge loss for data that are not separable.
    """
    started = time.perf_counter()
    c = number("r2w2", "c", c)
    m = number_kept("r2w2", m, data.p)
    step = whole("r2w2", "step", step)
    penalty = FactorPenalty(lam, power, total)
    penalty.check()
    work, map_ = preprocess(data, scale)
    own = run.solver is None and not changes_in_force()
    settings, unlimited = SvmSettings("svm", c, None, own or None), replace(run, time_limit=None)
    result = yield from r2w2.steps(
        work,
        svm_interior_point if own else build_fsp_sub(work, c=c),
        lambda left: drained(train_on_subset(work, left, unlimited, settings)),
        m=m,
        c=c,
        step=step,
        penalty=penalty,
        run=run,
    )
    found = result.point["svm"]
    return make_fit(
        data,
        map_,
        Hyperplane(found.w, found.b, SPEC.select(found.w)),
        result,
        started=started,
        warnings=found.warnings,
        details=found.details,
    )


SPEC = MethodSpec(
    "r2w2",
    fit_r2w2,
    objective,
    check,
    ("fsp-sub", "svm"),
    equation="Weston et al.",
    estimator="R2W2",
    driver="r2w2",
    compare=one_percent,
    exact=of_subset,
)
