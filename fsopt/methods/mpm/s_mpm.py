r"""Method ``s-mpm``, a reconstruction: Yang & Ju compare with S-MPM, whose own paper is not available.

Yang & Ju say of it: the 1-norm is in the objective, it is a fractional program, and quadratic interpolation solves it.
All three hold for the biased minimax probability machine with a penalty on the 1-norm, optimized over the accuracy that
it is given.

The outer problem is the best worst-case accuracy beta of class -1, a search in one variable.

.. math:: \max_{0<\beta<1}\ J(\beta) = \theta\,\frac{g(\beta)^2}{1+g(\beta)^2} + (1-\theta)\beta, \qquad
    g(\beta) = \max_{\|F_1w\| \le 1} w'(\mu_1 - \mu_2) - \kappa(\beta)\|F_2w\| - \lambda\|w\|_1

with g(beta) from the inner cone program: :mod:`fsopt.drivers.accuracy_search`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.answers.fits import Fit
from fsopt.answers.results import Status
from fsopt.common.arguments import with_keywords_of
from fsopt.data import Dataset
from fsopt.drivers.accuracy_search import WeightedAccuracy, accuracy_search
from fsopt.drivers.run import Run, Steps
from fsopt.drivers.working_set import largest
from fsopt.errors import reading
from fsopt.methods.claims import of_inner
from fsopt.methods.large_programs import LONG
from fsopt.methods.mpm.space import NARROW, THRESHOLD, FeatureSpace, moments_of, price, stated_accuracies
from fsopt.methods.preprocessing import Hyperplane
from fsopt.methods.spec import MethodSpec, SavedFit, Value
from fsopt.methods.verdict import check_first_order, evidence, has_program
from fsopt.models.blocks import number
from fsopt.models.mpm.moments import Moments, kappa
from fsopt.models.mpm.mpm import build_s_mpm
from fsopt.typing import Vector


@with_keywords_of(FeatureSpace.of, without=("ridge", "kernel", "width"))
def fit_s_mpm(
    data: Dataset,
    run: Run,
    *,
    lam: float = 0.1,
    theta: float | None = None,
    ridge: float = 0.0,
    **options: Any,
) -> Steps[Fit]:
    r"""Fit a sparse biased minimax probability machine, both accuracies weighted (S-MPM, a reconstruction).

    .. math::

        \max_{0<\beta<1}\ \theta\,\frac{g(\beta)^2}{1+g(\beta)^2} + (1-\theta)\beta, \qquad
        g(\beta) = \max_{\|F_1w\| \le 1} w'(\mu_1 - \mu_2) - \kappa(\beta)\|F_2w\| - \lambda\|w\|_1

    Each beta is one cone program, all in one session; :mod:`fsopt.drivers.accuracy_search` searches over beta. For
    lam = 0 this is the minimum error minimax probability machine (MEMPM). From 3,000 features on the inner programs are
    solved by working sets of features.

    Parameters
    ----------
    lam : float, default 0.1
        >= 0, penalty weight of the 1-norm in preprocessed units; from max |mu_1j - mu_2j| on no weight is left.
    theta : float, optional
        In (0, 1), weight of class +1; None takes its share of the samples.
    ridge : float, default 0.0
        >= 0, added to the diagonals of both covariances of the preprocessed features.

    Returns
    -------
    Fit
        ``objective`` is the outer one, maximised. ``stationary`` where the hyperplane is optimal for its beta, by the
        certificate of the cone program, and the slope in beta is 0 to 1e-5: not proved to be global.
        ``feasible``, with a warning, where no inner maximum is found: the hyperplane of the grid whose smaller
        accuracy is largest. ``details`` has ``beta``, ``theta``, ``worst_case`` (class +1 and -1) and the limits.

    Raises
    ------
    InfeasibleError : a lam that leaves no weight, or a class +1 of covariance 0 along a separating direction w: where
        :math:`F_1w = F_2w = 0` and :math:`w'(\mu_1-\mu_2) > \lambda\|w\|_1`, multiples of w make g infinite for every
        beta. Without a ridge, p >= n samples in general position have such a w for every small lam: the deviations of
        the samples from their means span n - 2 dimensions, in which :math:`\mu_1-\mu_2` does not lie.
    ParameterError : lam < 0, theta outside (0, 1), ridge < 0.

    Notes
    -----
    Yang & Ju, sections 1 and 4.1.1, on their reference 2; MEMPM and the biased machine are of Huang et al. (2004).
    """
    started = time.perf_counter()
    share = float(np.mean(data.y > 0))
    theta = share if theta is None else number("s-mpm", "theta", theta)
    space = FeatureSpace.of(data, ridge=ridge, **options)
    lam = number("s-mpm", "lam", lam)
    build, prices, scores = space.models(build_s_mpm, {"lam": lam, **space.moment_options})
    kept = largest(scores, None if space.priced(run) else len(scores))
    moments, how = space.moments, {"lam": lam, "theta": theta, "limit": space.limit.kappa}
    result = yield from accuracy_search.steps(build, prices, scores, kept, moments, **how, run=run)
    warnings = ["this S-MPM is a reconstruction: the original paper was not available"]
    if result.stop == "no-maximum":
        warnings.append("no inner maximum over beta: of the grid, the hyperplane with the most even accuracies")
    at = result.point
    w, beta = at["w"], at["beta"]
    # Class -1 has the worst-case accuracy beta exactly: -(w'mu_2 + b) = kappa(beta) ||F_2 w||.
    b = -(float(moments.mean2 @ w) + _distance(moments, w, beta))
    trivial = max(theta, 1.0 - theta)
    assert result.objective is not None
    if result.objective < trivial:
        warnings.append(
            f"assigning all samples to one class has the weighted worst-case accuracy {trivial:.4f}, "
            f"this hyperplane {result.objective:.4f}: the classes overlap too much for this bound"
        )
    proof: dict[str, Any] = {}
    if at["proof"] is not None:
        params = {"beta": beta, "lam": lam, **space.moment_options}
        proof = evidence("s-mpm", params, at["proof"], None if len(at["columns"]) == len(w) else at["columns"])
    details = {**proof, "beta": beta, "theta": theta}
    hyperplane = Hyperplane(w, b, SPEC.select(w))
    return space.fit(hyperplane, result, started=started, details=details, warnings=tuple(warnings))


def _distance(moments: Moments, w: Vector, beta: float) -> float:
    """Return the distance of mean 2 from the hyperplane with the worst-case accuracy beta of class -1."""
    narrow = NARROW * float((moments.mean1 - moments.mean2) @ w)
    return max(kappa(beta) * float(np.linalg.norm(moments.factor2 @ w)), narrow)


def _outer(data: Dataset, w: Vector, at: Mapping[str, Any]) -> WeightedAccuracy:
    """Return the outer objective of preprocessed data at w (p,), nonzero, and the accuracy beta of a fit."""
    share = float(np.mean(data.y > 0)) if at.get("theta") is None else float(at["theta"])
    return WeightedAccuracy.at(moments_of(data, at), w, at["beta"], at["lam"], share)


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return the outer objective at the accuracy beta of the fit, and the violation of that accuracy."""
    if not w.any():  # no hyperplane
        return 0.0, float("inf")
    moments = moments_of(data, at)
    needed, apart = _distance(moments, w, at["beta"]), float((moments.mean1 - moments.mean2) @ w)
    return _outer(data, w, at).value, abs(float(moments.mean2 @ w + b) + needed) / max(needed, apart)


def check(saved: SavedFit) -> Certificate:
    """Certify the inner cone program again, and that the outer slope is 0 where the fit is called stationary."""
    if not saved.w.any() or not has_program(saved):
        return make(Kind.FEASIBLE, {}, objective=saved.value)
    with reading("step"):
        outer = _outer(saved.data, saved.w, saved.params)
        wrong = {"theta": abs(float(saved.fit.details["theta"]) - outer.theta)}
        if saved.fit.status is Status.STATIONARY:
            wrong["slope"] = abs(outer.slope)
    return check_first_order(saved, Kind.KKT, residuals=wrong)


def small_ridge(p: int) -> Mapping[str, Any]:
    """Return the parameters in comparisons: a ridge, without which features that are constant within a class, as they
    are in real tables, leave no answer. Of many features both are larger: means differ by chance more than the weight.
    """
    return {"ridge": 0.01} if p < LONG else {"ridge": 0.1, "lam": 0.5}


SPEC = MethodSpec(
    "s-mpm",
    fit_s_mpm,
    ("s-mpm",),
    objective=objective,
    check=check,
    price=price,
    paper="mpm",
    equation="S-MPM, section 1",
    estimator="SMPM",
    stated=stated_accuracies,
    exact=of_inner,
    compare=small_ridge,
    threshold=THRESHOLD,
)
