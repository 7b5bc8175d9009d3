r"""The search of S-MPM over the worst-case accuracy of one class, each solve a cone program of many features or all.

.. math:: \max_{0<\beta<1}\ J(\beta) = \theta\,\frac{g(\beta)^2}{1+g(\beta)^2} + (1-\theta)\beta, \qquad
    g(\beta) = \max_{\|F_1w\| \le 1} w'(\mu_1 - \mu_2) - \kappa(\beta)\|F_2w\| - \lambda\|w\|_1

J is not unimodal: it has local maxima where a class is given up, at beta = 0, and at alpha = 0 with beta towards 1. So
a grid is searched for brackets of an inner maximum, and inverse quadratic interpolation (Brent) finds the root of the
slope of J in the best one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import scipy

from fsopt.answers.certificate import Kind, make
from fsopt.answers.results import DriverResult, Point, SolveResult, Status
from fsopt.common import clock
from fsopt.drivers.loop import Iterate, Loop, Within, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, OutOfTimeError, Run, Steps, loop, usable
from fsopt.drivers.working_set import Build, Price, Restricted
from fsopt.errors import InfeasibleError
from fsopt.models.mpm.moments import Moments, kappa
from fsopt.models.mpm.mpm import penalised_ratio
from fsopt.solvers.base import Session
from fsopt.typing import Mask, Vector

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
class _Search:
    """The search: one inner program of some features or all, solved again for each beta.

    ``found`` are the hyperplanes with an accuracy of class +1 above 0, ``proof`` the evidence for the last optimum.
    """

    inner: Restricted
    moments: Moments
    lam: float
    theta: float
    limit: float
    found: list[WeightedAccuracy] = field(default_factory=list)
    proof: Point | None = None

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
            last = solved, self.inner.point(solved)["w"]
            if final and ended:
                self.proof = solved.supported
            if clock.expired():
                break
        assert last is not None
        return last

    def maximise(self) -> Loop:
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
            beta = self.best(stop).beta
            solved, w = self.optimum(beta, final=True)
            if w is not None:
                self.found = [WeightedAccuracy.at(self.moments, w, beta, self.lam, self.theta, solved)]
        yield self._iterate(stop=stop)

    def best(self, stop: str) -> WeightedAccuracy:
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
        nearly = not solved.status.solved and self.limit > NEARLY
        if solved.status is Status.UNBOUNDED or nearly:
            raise InfeasibleError(
                "'s-mpm' is unbounded up to rounding: the covariances are singular along a direction that separates "
                "the means, which has the worst-case accuracy 1, as n samples of p >= n features without a ridge do",
                "set a larger ridge, for example ridge=0.01 for standardised features, or a larger lam",
            )
        usable(solved, "the inner problem of S-MPM")
        assert w is not None
        # The optimum is at ||F_1 w|| = 1, or at w = 0 where the ratio is not positive.
        if np.linalg.norm(self.moments.factor1 @ w) < 0.5:
            return WeightedAccuracy(beta, 0.0, self.theta, 0.0, w)
        at = WeightedAccuracy.at(self.moments, w, beta, self.lam, self.theta, solved)
        if at.ratio:
            self.found.append(at)
        yield self._iterate({"objective": at.value, "beta": beta, "alpha": at.alpha, "slope": at.slope})
        return at


@loop
def accuracy_search(
    build: Build,
    price: Price,
    scores: Vector,
    kept: Mask,
    moments: Moments,
    *,
    lam: float,
    theta: float,
    limit: float,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    """Maximise J over beta.

    The result is stationary where the inner program is certified and the slope is 0, else feasible. Without an inner
    maximum, ``no-maximum``, the hyperplane of the grid with the most even accuracies is taken.

    Parameters
    ----------
    build, price, scores, kept : the inner model of some features, as in :class:`fsopt.drivers.working_set.Restricted`.
    moments : of both classes.
    lam, theta : penalty weight of the 1-norm, and weight of class +1.
    limit : kappa* of the moments.

    Returns
    -------
    DriverResult
        ``point`` has ``w`` (p,), ``beta``, the ``columns`` of the last model, and ``proof``, its primal-dual point,
        None where it was not solved to its end.

    Raises
    ------
    InfeasibleError : no beta has a hyperplane, or the inner program is unbounded.
    """
    search = _Search(Restricted(build, price, scores, kept, Recorder([], run)), moments, lam, theta, limit)
    _, stop = yield from run_loop(search.maximise(), search.inner.recorder)
    if not search.found:
        raise InfeasibleError(
            f"'s-mpm' at lam = {lam:g} has no hyperplane: the penalty leaves no weight",
            f"choose a smaller lam; {np.abs(scores).max():.4g}, the largest difference of the means, is certainly too "
            "much",
        )
    best, status = search.best(stop), Status.FEASIBLE
    assert best.solved is not None
    certificate = best.solved.certificate
    assert certificate is not None
    if stop == "stationary":
        certificate = make(Kind.KKT, {**certificate.residuals, "slope": abs(best.slope)}, tolerance=TOLERANCE)
        if certificate.ok and best.solved.status is Status.OPTIMAL:
            status = Status.STATIONARY
    point = {"w": best.w, "beta": best.beta, "columns": search.inner.places, "proof": search.proof}
    return search.inner.recorder.end(status, stop, objective=best.value, point=point, certificate=certificate)
