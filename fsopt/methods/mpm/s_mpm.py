r"""Method ``s-mpm``, a reconstruction: Yang & Ju compare with S-MPM, whose own paper is not available.

Yang & Ju say of it: the 1-norm is in the objective, it is a fractional program, and quadratic interpolation solves it.
All three hold for the biased minimax probability machine with a penalty on the 1-norm, optimized over the accuracy that
it is given.

The outer problem is the best worst-case accuracy beta of class -1, a search in one variable.

.. math:: \max_{0<\beta<1}\ J(\beta) = \theta\,\frac{g(\beta)^2}{1+g(\beta)^2} + (1-\theta)\beta, \qquad
    g(\beta) = \max_{\|F_1w\| \le 1} w'(\mu_1 - \mu_2) - \kappa(\beta)\|F_2w\| - \lambda\|w\|_1

with g(beta) from the inner cone program, of all features or of a working set of them. J is not unimodal: it has local
maxima where a class is given up, at beta = 0, and at alpha = 0 with beta towards 1. So a grid is searched for brackets
of an inner maximum, and inverse quadratic interpolation (Brent) finds the root of the slope of J in the best one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.answers.fits import Fit
from fsopt.answers.results import SolveResult, Status
from fsopt.common import clock
from fsopt.common.arguments import with_keywords_of
from fsopt.data import Dataset
from fsopt.drivers.loop import Iterate, Loop, Within, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import Run, Steps, usable
from fsopt.drivers.working_set import Restricted, largest
from fsopt.errors import InfeasibleError
from fsopt.methods.claims import of_inner
from fsopt.methods.large_programs import LONG
from fsopt.methods.mpm.space import NARROW, THRESHOLD, FeatureSpace, accuracies, moments_of, price
from fsopt.methods.spec import MethodSpec, SavedFit, Value
from fsopt.methods.verdict import check_first_order, extend, has_point
from fsopt.models.mpm.moments import Moments, kappa
from fsopt.models.mpm.mpm import build_s_mpm, penalised_ratio
from fsopt.solvers.base import Session
from fsopt.typing import Vector

GRID = np.sin(np.linspace(0.0, np.pi / 2, 21)[1:-1]) ** 2
"""Values of beta among which the search looks for a bracket: equal steps of arctan(kappa)."""

NEARLY = 1e4
"""kappa* above which alpha* is 1 up to rounding, 1 - 1e-8, and the inner program unbounded."""


class Outer(NamedTuple):
    r"""The outer objective :math:`J = \theta\alpha + (1-\theta)\beta`, its ``value``, at a hyperplane w (p,).

    ``beta`` is the worst-case accuracy of class -1, ``alpha`` that of class +1 that is left after the penalty on the
    1-norm. ``slope`` is the derivative of J in beta over that of its second term: 0 at a stationary beta.
    """

    beta: float
    alpha: float
    value: float
    slope: float
    w: Vector


def outer(moments: Moments, w: Vector, at: Mapping[str, Any]) -> Outer:
    r"""Return the outer objective at w (p,), nonzero, and parameters ``beta lam theta``.

    With :math:`\kappa^2 = \beta/(1-\beta)`, :math:`\kappa' = 1/(2\kappa(1-\beta)^2)` and
    :math:`\alpha = g^2/(1+g^2)` it is :math:`\alpha' = -2g/(1+g^2)^2\,\kappa'\,\|F_2w\|/\|F_1w\|`, with g of
    :func:`fsopt.models.mpm.mpm.penalised_ratio`, or 0 where that is negative.
    """
    beta, theta = at["beta"], at["theta"]
    g = max(penalised_ratio(moments, w, beta, at["lam"]), 0.0)
    spread = float(np.linalg.norm(moments.factor2 @ w) / np.linalg.norm(moments.factor1 @ w))
    alpha = g**2 / (1.0 + g**2)
    loss = 2.0 * g / (1.0 + g**2) ** 2 * spread * 0.5 / (kappa(beta) * (1.0 - beta) ** 2)
    return Outer(beta, alpha, theta * alpha + (1.0 - theta) * beta, 1.0 - theta * loss / (1.0 - theta), w)


def search(inner: Restricted, space: FeatureSpace, lam: float, theta: float) -> Loop:
    """Yield the hyperplanes of the grid of beta, then of the root of the slope, and the best with its evidence."""
    found: list[Outer] = []

    def optimum(beta: float, *, final: bool = False) -> dict[str, Any]:
        for solved, _ in inner.optima(lambda session: _inner(session, inner.recorder, beta, space, final=final)):
            at = inner.point(solved)
        return {"w": at["w"], "point": solved.supported, "columns": None if inner.kept.all() else at["columns"]}

    def step(beta: float) -> Within[Outer]:
        w = optimum(beta)["w"]
        # The optimum is at ||F_1 w|| = 1, or at w = 0 where the ratio is not positive.
        if np.linalg.norm(space.moments.factor1 @ w) < 0.5:
            return Outer(beta, 0.0, (1.0 - theta) * beta, 1.0, w)
        here = outer(space.moments, w, {"beta": beta, "lam": lam, "theta": theta})
        found.extend([here] * (here.alpha > 0.0))
        record = {"objective": here.value, "beta": beta, "alpha": here.alpha, "slope": here.slope}
        yield Iterate(np.nan, {"best": max(found, key=_evenness)} if found else {}, record=record)
        return here

    for beta in GRID.tolist():
        if not (yield from step(beta)).alpha:
            break
    if not found:
        limit = np.abs(inner.scores).max()
        raise InfeasibleError(
            f"'s-mpm' at lam = {lam:g} has no hyperplane: the penalty leaves no weight",
            f"choose a smaller lam; {limit:.4g}, the largest difference of the means, is certainly too much",
        )
    best, stop = max(found, key=_evenness), "no-maximum"
    if brackets := [(a, b) for a, b in pairwise(found) if a.slope > 0 > b.slope]:
        left, right = max(brackets, key=lambda ends: max(end.value for end in ends))
        yield from _root(step, left.beta, right.beta)
        best, stop = min(found, key=lambda at: abs(at.slope)), "stationary"
    last = optimum(best.beta, final=True)
    best = outer(space.moments, last["w"], {"beta": best.beta, "lam": lam, "theta": theta})
    yield Iterate(best.value, {**last, "best": best}, stop=stop)


def _evenness(at: Outer) -> float:
    """Return the smaller one of the accuracies."""
    return min(at.alpha, at.beta)


def _root(step: Callable[[float], Within[Outer]], left: float, right: float) -> Loop:
    """Find the root of the slope, each solve a step: brentq begins again with the slopes that are known so far."""
    known: dict[float, float] = {}
    while True:
        try:
            scipy.optimize.brentq(known.__getitem__, left, right, xtol=1e-12)
            return
        except KeyError as unknown:
            beta = unknown.args[0]
        known[beta] = (yield from step(beta)).slope


def _inner(session: Session, recorder: Recorder, beta: float, space: FeatureSpace, *, final: bool) -> SolveResult:
    """Solve the inner program at beta; evidence is looked for where it is the final one."""
    recorder.check_clock()
    session.model.kappa.set_value(kappa(beta))
    session.update(session.model.objective)
    solved = session.solve(load=False, certify=final)
    if not final and solved.certificate is not None and solved.certificate.kind is Kind.FEASIBLE:
        solved = replace(solved, status=Status.FEASIBLE)  # as it comes: all that the search takes of it is w
    # Next to an unbounded program rounding decides: solvers then end without a ray and without a point.
    nearly = not solved.status.solved and space.limit.kappa > NEARLY and not clock.expired()
    if solved.status is Status.UNBOUNDED or nearly:
        raise InfeasibleError(
            "'s-mpm' is unbounded up to rounding: the covariances are singular along a direction that separates "
            "the means, which has the worst-case accuracy 1, as n samples of p >= n features without a ridge do",
            "set a larger ridge, for example ridge=0.01 for standardised features, or a larger lam",
        )
    return usable(solved, "the inner problem of S-MPM")


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

    Each beta is one cone program, all in one session; :mod:`fsopt.methods.mpm.s_mpm` searches over beta. For
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
        accuracy is largest. ``params`` has ``theta``, ``details`` has ``beta``, ``worst_case`` and limits.

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
    theta = float(np.mean(data.y > 0)) if theta is None else theta
    space = FeatureSpace.of(data, ridge=ridge, **options)
    build, prices, scores = space.models(build_s_mpm, {"lam": lam, "ridge": space.ridge})
    kept = largest(scores, None if space.priced(run) else len(scores))
    recorder = Recorder([], run)
    loop = search(Restricted(build, prices, scores, kept, recorder), space, lam, theta)
    at, stop = yield from run_loop(loop, recorder)
    best, status = at.point["best"], Status.STATIONARY if stop == "stationary" else Status.FEASIBLE
    warnings = ["this S-MPM is a reconstruction: the original paper was not available"]
    if stop == "no-maximum":
        warnings.append("no inner maximum over beta: of the grid, the hyperplane with the most even accuracies")
    w, moments = best.w, space.moments
    # Class -1 has the worst-case accuracy beta exactly: -(w'mu_2 + b) = kappa(beta) ||F_2 w||.
    b = -(float(moments.mean2 @ w) + _distance(moments, w, best.beta))
    result = recorder.end(status, stop, objective=best.value, point={}, certificate=make(Kind.FEASIBLE, {}))
    details = {"point": at.point.get("point"), "columns": at.point.get("columns"), "beta": best.beta}
    result = replace(result, certificate=None)  # that of the check
    return space.fit(w, b, result, params={"theta": theta}, details=details, warnings=tuple(warnings))


def _distance(moments: Moments, w: Vector, beta: float) -> float:
    """Return the distance of mean 2 from the hyperplane with the worst-case accuracy beta of class -1."""
    narrow = NARROW * float((moments.mean1 - moments.mean2) @ w)
    return max(kappa(beta) * float(np.linalg.norm(moments.factor2 @ w)), narrow)


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return the outer objective at the accuracy beta of the fit, and the violation of that accuracy."""
    if not w.any():  # no hyperplane
        return 0.0, float("inf")
    moments = moments_of(data, at)
    needed, apart = _distance(moments, w, at["beta"]), float((moments.mean1 - moments.mean2) @ w)
    return outer(moments, w, at).value, abs(float(moments.mean2 @ w + b) + needed) / max(needed, apart)


def check(saved: SavedFit) -> Certificate:
    """Certify the inner cone program again, and that the outer slope is 0 where the fit is called stationary."""
    if not saved.w.any() or not has_point(saved):
        return make(Kind.FEASIBLE, {})
    stationary = saved.fit.status is Status.STATIONARY
    slope = outer(moments_of(saved.data, saved.params), saved.w, saved.params).slope
    return extend(check_first_order(saved, Kind.KKT), {"slope": abs(slope)} if stationary else {})


SPEC = MethodSpec(
    "s-mpm",
    fit_s_mpm,
    ("s-mpm",),
    objective=objective,
    check=check,
    price=price,
    equation="S-MPM, section 1",
    estimator="SMPM",
    numbers=accuracies,
    exact=of_inner,
    # A ridge, for features that are constant within a class.
    compare=lambda p: {"ridge": 0.01} if p < LONG else {"ridge": 0.1, "lam": 0.5},
    threshold=THRESHOLD,
)
