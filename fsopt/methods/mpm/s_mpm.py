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

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import scipy

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.answers.fits import Fit
from fsopt.answers.results import DriverResult, SolveResult, Status
from fsopt.common import clock
from fsopt.common.arguments import with_keywords_of
from fsopt.data import Dataset
from fsopt.drivers.loop import Iterate, Loop, Within, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import OutOfTimeError, Run, Steps, usable
from fsopt.drivers.working_set import Restricted, largest
from fsopt.errors import InfeasibleError, reading
from fsopt.methods.claims import of_inner
from fsopt.methods.large_programs import LONG
from fsopt.methods.mpm.space import NARROW, THRESHOLD, FeatureSpace, moments_of, price, stated_accuracies
from fsopt.methods.preprocessing import Hyperplane
from fsopt.methods.spec import MethodSpec, SavedFit, Value
from fsopt.methods.verdict import check_first_order, evidence, has_program
from fsopt.models.blocks import number
from fsopt.models.mpm.moments import Moments, kappa
from fsopt.models.mpm.mpm import build_s_mpm, penalised_ratio
from fsopt.solvers.base import Session
from fsopt.typing import Vector

GRID = np.sin(np.linspace(0.0, np.pi / 2, 21)[1:-1]) ** 2
"""Values of beta among which the search looks for a bracket: equal steps of arctan(kappa)."""

TOLERANCE = 1e-5
"""Largest relative slope of a stationary answer."""

NEARLY = 1e4
"""kappa* above which alpha* is 1 up to rounding, 1 - 1e-8, and the inner program unbounded."""


@dataclass(frozen=True)
class WeightedAccuracy:
    r"""The outer objective :math:`J = \theta\alpha + (1-\theta)\beta`, :math:`\alpha = g^2/(1+g^2)`, at a hyperplane.

    ``beta`` is the worst-case accuracy of class -1, ``ratio`` g of :func:`fsopt.models.mpm.mpm.penalised_ratio`, or 0
    where that is negative, and ``spread`` is ``||F_2 w|| / ||F_1 w||``: minus the derivative of g in kappa(beta).
    """

    beta: float
    ratio: float
    theta: float
    spread: float
    w: Vector
    solved: SolveResult | None = None

    @classmethod
    def at(
        cls, moments: Moments, w: Vector, beta: float, lam: float, theta: float, solved: SolveResult | None = None
    ) -> WeightedAccuracy:
        """Return the objective at w (p,), nonzero."""
        spread = np.linalg.norm(moments.factor2 @ w) / np.linalg.norm(moments.factor1 @ w)
        return cls(beta, max(penalised_ratio(moments, w, beta, lam), 0.0), theta, float(spread), w, solved)

    @property
    def alpha(self) -> float:
        """The accuracy alpha of class +1 that is left after the penalty on the 1-norm."""
        return self.ratio**2 / (1.0 + self.ratio**2)

    @property
    def value(self) -> float:
        """The objective J."""
        return self.theta * self.alpha + (1.0 - self.theta) * self.beta

    @property
    def slope(self) -> float:
        r"""The derivative of J in beta over that of its second term: 0 at a stationary beta, 1 where alpha is 0.

        With :math:`\kappa^2 = \beta/(1-\beta)`, :math:`\kappa' = 1/(2\kappa(1-\beta)^2)` and
        :math:`\alpha' = 2g/(1+g^2)^2 \cdot (-\text{spread}\,\kappa')`.
        """
        growth = 0.5 / (kappa(self.beta) * (1.0 - self.beta) ** 2)
        loss = 2.0 * self.ratio / (1.0 + self.ratio**2) ** 2 * self.spread * growth
        return 1.0 - self.theta * loss / (1.0 - self.theta)


@dataclass
class AccuracySearch:
    """The search over beta: one inner program of some features or all, solved again for each beta.

    ``found`` are the hyperplanes with an accuracy of class +1 above 0, ``details`` the evidence for the last optimum.
    """

    inner: Restricted
    space: FeatureSpace
    lam: float
    theta: float
    found: list[WeightedAccuracy] = field(default_factory=list)
    details: Mapping[str, Any] = field(default_factory=dict)

    def optimum(self, beta: float, *, final: bool) -> tuple[SolveResult, Vector | None]:
        """Return the result of the inner program and its weights (p,), None where the solver has no point.

        Evidence is looked for where they are ``final``: the search over beta needs none. At the time limit they are
        those of the features so far: a hyperplane, without evidence for its optimality.
        """

        def solve(session: Session) -> SolveResult:
            self.inner.recorder.check_clock()
            session.model.kappa.set_value(kappa(beta))
            session.update(session.model.objective)
            solved = session.solve(load=False, evidence=final)
            if not final and solved.point is not None and not solved.status.solved:
                solved = session.completed(solved, solved.point.x)
            return solved

        last: tuple[SolveResult, Vector | None] | None = None
        for solved, ended in self.inner.optima(solve):
            if not solved.status.solved or solved.point is None:
                return last if last is not None and clock.expired() else (solved, None)
            at = self.inner.point(solved)
            last = solved, at["w"]
            if final and ended:
                params = {"beta": beta, "lam": self.lam, **self.space.moment_options}
                columns = None if self.inner.kept.all() else at["columns"]
                self.details = evidence("s-mpm", params, solved.supported, columns)
            if clock.expired():
                break
        assert last is not None
        return last

    def run(self, warnings: list[str]) -> Steps[tuple[DriverResult, WeightedAccuracy]]:
        """Return the result and the hyperplane of the best inner maximum.

        It is stationary where the inner program is certified and the slope is 0, else feasible. Without an inner
        maximum the hyperplane of the grid with the most even accuracies is taken, and a warning added.
        """
        _, stop = yield from run_loop(self._maximise(), self.inner.recorder)
        if not self.found:
            limit = np.abs(self.inner.scores).max()
            raise InfeasibleError(
                f"'s-mpm' at lam = {self.lam:g} has no hyperplane: the penalty leaves no weight",
                f"choose a smaller lam; {limit:.4g}, the largest difference of the means, is certainly too much",
            )
        if stop == "no-maximum":
            warnings.append("no inner maximum over beta: of the grid, the hyperplane with the most even accuracies")
        best, status = self._best(stop), Status.FEASIBLE
        assert best.solved is not None
        certificate = best.solved.certificate
        assert certificate is not None
        if stop == "stationary":
            residuals = {**certificate.residuals, "slope": abs(best.slope)}
            certificate = make(Kind.KKT, residuals, tolerance=TOLERANCE)
            if certificate.ok and best.solved.status is Status.OPTIMAL:
                status = Status.STATIONARY
        point = {"w": best.w}
        result = self.inner.recorder.end(status, stop, objective=best.value, point=point, certificate=certificate)
        return result, best

    def _maximise(self) -> Loop:
        """Yield the hyperplanes of the grid, then those of the search for a root of the slope."""
        for beta in GRID:
            at = yield from self._solve(float(beta))
            if not at.ratio:
                break
        brackets = [(a, b) for a, b in pairwise(self.found) if a.slope > 0 > b.slope]
        if brackets:
            left, right = max(brackets, key=lambda ends: max(end.value for end in ends))
            yield from self._root(left.beta, right.beta)
        stop = "stationary" if brackets else "no-maximum"
        if self.found:
            beta = self._best(stop).beta
            solved, w = self.optimum(beta, final=True)
            if w is not None:
                self.found = [WeightedAccuracy.at(self.space.moments, w, beta, self.lam, self.theta, solved)]
        yield self._iterate(stop=stop)

    def _best(self, stop: str) -> WeightedAccuracy:
        """Return the hyperplane of the smallest slope, where there is a maximum, else of the most even accuracies."""
        if stop == "stationary":
            return min(self.found, key=lambda at: abs(at.slope))
        return max(self.found, key=lambda at: min(at.alpha, at.beta))

    def _root(self, left: float, right: float) -> Loop:
        """Find the root of the slope, each solve a step: brentq begins again with the slopes that are known so far."""
        known: dict[float, float] = {}
        while True:
            try:
                scipy.optimize.brentq(known.__getitem__, left, right, xtol=1e-12)
                return
            except KeyError as unknown:
                beta = unknown.args[0]
            known[beta] = (yield from self._solve(beta)).slope

    def _iterate(self, record: Mapping[str, float] | None = None, stop: str = "") -> Iterate:
        """Return the hyperplanes so far as an iterate."""
        return Iterate(np.nan, {"found": self.found} if self.found else {}, record=record, stop=stop)

    def _solve(self, beta: float) -> Within[WeightedAccuracy]:
        """Solve the inner program at beta; a hyperplane of positive ratio becomes a candidate."""
        solved, w = self.optimum(beta, final=False)
        if not solved.status.solved and clock.expired():
            raise OutOfTimeError("the time limit passed before S-MPM had a hyperplane", "give more seconds")
        # Next to an unbounded program rounding decides: solvers then end without a ray and without a point.
        nearly = not solved.status.solved and self.space.limit.kappa > NEARLY
        if solved.status is Status.UNBOUNDED or nearly:
            raise InfeasibleError(
                "'s-mpm' is unbounded up to rounding: the covariances are singular along a direction that separates "
                "the means, which has the worst-case accuracy 1, as n samples of p >= n features without a ridge do",
                "set a larger ridge, for example ridge=0.01 for standardised features, or a larger lam",
            )
        usable(solved, "the inner problem of S-MPM")
        assert w is not None
        # The optimum is at ||F_1 w|| = 1, or at w = 0 where the ratio is not positive.
        if np.linalg.norm(self.space.moments.factor1 @ w) < 0.5:
            return WeightedAccuracy(beta, 0.0, self.theta, 0.0, w)
        at = WeightedAccuracy.at(self.space.moments, w, beta, self.lam, self.theta, solved)
        if at.ratio:
            self.found.append(at)
        yield self._iterate({"objective": at.value, "beta": beta, "alpha": at.alpha, "slope": at.slope})
        return at


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
    search = AccuracySearch(Restricted(build, prices, scores, kept, Recorder([], run)), space, lam, theta)
    warnings = ["this S-MPM is a reconstruction: the original paper was not available"]
    result, best = yield from search.run(warnings)
    w, moments = best.w, space.moments
    # Class -1 has the worst-case accuracy beta exactly: -(w'mu_2 + b) = kappa(beta) ||F_2 w||.
    b = -(float(moments.mean2 @ w) + _distance(moments, w, best.beta))
    trivial = max(theta, 1.0 - theta)
    if best.value < trivial:
        warnings.append(
            f"assigning all samples to one class has the weighted worst-case accuracy {trivial:.4f}, "
            f"this hyperplane {best.value:.4f}: the classes overlap too much for this bound"
        )
    details = {**search.details, "beta": best.beta, "theta": theta}
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
