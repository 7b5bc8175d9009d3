"""Method ``s-mpm``, a reconstruction: paper 2 compares with S-MPM, whose own paper is not available.

What paper 2 says of it: the 1-norm is in the objective, it is a fractional program, and quadratic interpolation solves
it. The biased minimax machine with a price on the 1-norm, searched over the accuracy that it is given, is all three.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import brentq

from fsopt.certificates.certificate import Certificate, Kind, make
from fsopt.data import Dataset
from fsopt.drivers.recorder import Recorder, stop_word
from fsopt.drivers.run import OutOfTime, Run, usable
from fsopt.errors import InfeasibleError, reading
from fsopt.methods.verification import check_first_order, evidence, has_program
from fsopt.methods.assembly import make_fit
from fsopt.methods.mpm.mpm import THRESHOLD
from fsopt.methods.mpm.feature_space import Space, moments_of, with_worst_case, worst_case
from fsopt.methods.preprocessing import Hyperplane
from fsopt.methods.selection import select
from fsopt.methods.spec import MethodSpec, SavedFit, Value
from fsopt.models.blocks import number
from fsopt.models.mpm.biased import penalised_ratio
from fsopt.models.mpm.moments import Moments, kappa
from fsopt.models.mpm.s_mpm import build_s_mpm
from fsopt.results import DriverResult, Fit, SolveResult, Status
from fsopt.solvers.base import Session
from fsopt.typing import Vector

GRID = np.sin(np.linspace(0.0, np.pi / 2, 21)[1:-1]) ** 2
"""Values of beta among which the search looks for a bracket: equal steps of arctan(kappa)."""


TOLERANCE = 1e-5
"""Largest relative slope of a stationary answer."""


RECONSTRUCTION = "this S-MPM is a reconstruction: the original paper was not available"


@dataclass(frozen=True)
class Weighted:
    r"""The outer objective :math:`J = \theta\alpha + (1-\theta)\beta`, :math:`\alpha = g^2/(1+g^2)`, at a plane.

    Attributes
    ----------
    beta : worst-case accuracy of class -1.
    ratio : g, the penalised ratio of :func:`fsopt.models.mpm.biased.penalised_ratio`, 0 where it is negative.
    theta : weight of class +1.
    spread : ``||F_2 w|| / ||F_1 w||``, minus the derivative of g in kappa(beta) (envelope theorem).
    """

    beta: float
    ratio: float
    theta: float
    spread: float

    @classmethod
    def at(cls, moments: Moments, w: Vector, beta: float, lam: float, theta: float) -> Weighted:
        """Return the objective at w (p,), nonzero."""
        spread = np.linalg.norm(moments.factor2 @ w) / np.linalg.norm(moments.factor1 @ w)
        return cls(beta, max(penalised_ratio(moments, w, beta, lam), 0.0), theta, float(spread))

    @property
    def alpha(self) -> float:
        """The accuracy alpha of class +1 that is left after the price on the 1-norm."""
        return self.ratio**2 / (1.0 + self.ratio**2)

    @property
    def value(self) -> float:
        """The objective J."""
        return self.theta * self.alpha + (1.0 - self.theta) * self.beta

    @property
    def slope(self) -> float:
        """The derivative of J in beta over that of its second term: 0 at a stationary beta, 1 where alpha is 0."""
        growth = 0.5 / (kappa(self.beta) * (1.0 - self.beta) ** 2)
        loss = 2.0 * self.ratio / (1.0 + self.ratio**2) ** 2 * self.spread * growth
        return 1.0 - self.theta * loss / (1.0 - self.theta)


@dataclass(frozen=True)
class _Candidate:
    """An accuracy beta, its optimal plane, and the solve that proves it."""

    at: Weighted
    w: Vector
    solved: SolveResult


def fit_s_mpm(
    data: Dataset,
    run: Run,
    *,
    lam: float = 0.1,
    theta: float | None = None,
    scale: str = "standard",
    unbiased: bool = False,
    ridge: float = 0.0,
) -> Fit:
    r"""Fit a sparse biased minimax machine, the accuracies of both classes weighted (S-MPM, a reconstruction).

    .. math::

        \max_{0<\beta<1}\ \theta\,\frac{g(\beta)^2}{1+g(\beta)^2} + (1-\theta)\beta, \qquad
        g(\beta) = \max_{\|F_1w\| \le 1} w'(\mu_1 - \mu_2) - \kappa(\beta)\|F_2w\| - \lambda\|w\|_1

    One cone program for each beta, in one session. The outer function is not unimodal: it is highest, locally, where
    a class is given up (beta = 0, or alpha = 0 and beta to 1). So a grid is searched for brackets of an inner maximum,
    and in the best one the root of the slope is found by inverse quadratic interpolation (Brent). For lam = 0
    this is the minimum error minimax machine (MEMPM).

    Parameters
    ----------
    lam : >= 0, price of the 1-norm in preprocessed units; from max |mu_1j - mu_2j| on no weight is left.
    theta : in (0, 1), weight of class +1; None takes its share of the rows.
    scale : ``standard`` (default), ``center`` or ``none``; the selection depends on it.
    unbiased, ridge : as in :func:`fsopt.methods.mpm.mpm.fit_mpm`.

    Returns
    -------
    Fit
        ``objective`` is the outer one, maximised. ``stationary`` where the plane is optimal for its beta, by the
        certificate of the cone program, and the slope in beta is 0 to 1e-5: not proved to be global.
        ``feasible``, with a warning, where no inner maximum is found: the plane of the grid whose lesser
        accuracy is largest. ``details`` has ``beta``, ``theta``, ``worst_case`` (class +1 and -1) and the limits.

    Raises
    ------
    InfeasibleError : a lam that leaves no weight, or a class +1 of covariance 0 along a separating direction.
    ParameterError : lam < 0, theta outside (0, 1), ridge < 0.

    Notes
    -----
    Paper 2, sections 1 and 4.1.1, on its reference 2; MEMPM and the biased machine are of Huang et al. (2004).
    """
    started = time.perf_counter()
    share = float(np.mean(data.y > 0))
    theta = share if theta is None else number("s-mpm", "theta", theta, low=0.0, high=1.0, strict=True)
    space = Space.of(data, scale, unbiased=unbiased, ridge=ridge)
    model = build_s_mpm(space.work, beta=float(GRID[0]), lam=lam, **space.moment_options)
    session = run.open(model)
    search = _Search(session, Recorder([session], run), space.moments, float(lam), theta)
    warnings = [RECONSTRUCTION]
    result, best = search.run(warnings)
    w, moments = best.w, space.moments
    b = -float(moments.mean2 @ w + kappa(best.at.beta) * np.linalg.norm(moments.factor2 @ w))
    if best.at.value < max(theta, 1.0 - theta):
        warnings.append(
            f"giving all rows to one class has the weighted worst-case accuracy {max(theta, 1.0 - theta):.4f}, "
            f"this plane {best.at.value:.4f}: the classes overlap too much for this bound"
        )
    params = {"beta": best.at.beta, "lam": lam, **space.moment_options}
    return make_fit(
        data, space.map_, Hyperplane(w, b, select(w, THRESHOLD)), objective=best.at.value, outcome=result,
        started=started, warnings=tuple(warnings),
        details=evidence(
            "s-mpm", params, best.solved.point, beta=best.at.beta, theta=theta, **space.limits,
            worst_case=worst_case(w, b, moments),
        ),
    )  # fmt: skip


@dataclass
class _Search:
    """The outer search over beta on one session, and the planes that it has found."""

    session: Session
    recorder: Recorder
    moments: Moments
    lam: float
    theta: float
    found: list[_Candidate] = field(default_factory=list)

    def run(self, warnings: list[str]) -> tuple[DriverResult, _Candidate]:
        """Return the plane of the best inner maximum, else the most even one, and what is known of it."""
        stop = "no-maximum"
        try:
            for beta in GRID:
                if not self.solve(float(beta)).ratio:
                    break
            brackets = [(a.at, b.at) for a, b in pairwise(self.found) if a.at.slope > 0 > b.at.slope]
            if brackets:
                left, right = max(brackets, key=lambda ends: max(end.value for end in ends))
                brentq(lambda beta: self.solve(beta).slope, left.beta, right.beta, xtol=1e-12)
                stop = "stationary"
            elif self.found:
                warnings.append("no inner maximum over beta: of the grid, the plane with the most even accuracies")
        except (KeyboardInterrupt, OutOfTime) as reason:
            if not self.found:
                raise
            stop = stop_word(reason)
        if not self.found:
            limit = np.abs(self.moments.mean1 - self.moments.mean2).max()
            raise InfeasibleError(
                f"'s-mpm' at lam = {self.lam:g} has no plane: the price leaves no weight",
                f"choose a smaller lam; {limit:.4g}, the largest difference of the means, is certainly too much",
            )
        even = max(self.found, key=lambda c: min(c.at.alpha, c.at.beta))
        best = min(self.found, key=lambda c: abs(c.at.slope)) if stop == "stationary" else even
        return self._end(best, stop), best

    def solve(self, beta: float) -> Weighted:
        """Solve the inner problem at beta; a plane of positive ratio is a candidate."""
        session, model = self.session, self.session.model
        if self.found:
            self.recorder.check_clock()
        model.kappa.set_value(kappa(beta))
        session.update(model.objective)
        solved = session.solve(time_limit=self.recorder.remaining, load=False)
        if solved.status is Status.UNBOUNDED:
            raise InfeasibleError(
                "'s-mpm' is unbounded: the covariance of class +1 is singular along a direction that separates the "
                "means, which would have the worst-case accuracy 1",
                "set a ridge > 0, for example ridge=0.01",
            )
        if not solved.status.solved and self.recorder.expired:
            raise OutOfTime("the time limit passed before S-MPM had a plane", "give more seconds")
        point = usable(solved, "the inner problem of S-MPM").point
        assert point is not None
        w = point.x[session.columns(model.w)]
        if np.linalg.norm(self.moments.factor1 @ w) < 0.5:
            return Weighted(beta, 0.0, self.theta, 0.0)
        at = Weighted.at(self.moments, w, beta, self.lam, self.theta)
        if at.ratio:
            self.found.append(_Candidate(at, w, solved))
        self.recorder.record(objective=at.value, beta=beta, alpha=at.alpha, slope=at.slope)
        return at

    def _end(self, best: _Candidate, stop: str) -> DriverResult:
        inner = best.solved.certificate
        assert inner is not None
        certificate = make(Kind.KKT, {**inner.residuals, "slope": abs(best.at.slope)}, tolerance=TOLERANCE)
        proved = stop == "stationary" and certificate.ok and best.solved.status is Status.OPTIMAL
        status = Status.STATIONARY if proved else Status.FEASIBLE
        if stop != "stationary":
            certificate = inner
        return self.recorder.end(status, stop, objective=best.at.value, point={"w": best.w}, certificate=certificate)


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return the outer objective at the accuracy beta of the fit, and the violation of that accuracy."""
    moments, beta = moments_of(data, at), at["beta"]
    needed = kappa(beta) * float(np.linalg.norm(moments.factor2 @ w))
    share = float(np.mean(data.y > 0)) if at.get("theta") is None else at["theta"]
    return Weighted.at(moments, w, beta, at["lam"], share).value, abs(float(moments.mean2 @ w + b) + needed) / needed


def check(saved: SavedFit) -> Certificate:
    """Certify the inner cone program again, and that the outer slope vanishes where the fit claims a maximum."""
    saved = with_worst_case(saved)
    if not has_program(saved):
        return make(Kind.FEASIBLE, saved.residuals, objective=saved.value)
    with reading("step"):
        at, own = saved.fit.details["program_params"], saved.params
        moments = moments_of(saved.data, own)
        wrong = {"parameters": max(abs(float(at[k]) - float(own[k])) for k in ("beta", "lam", "unbiased", "ridge"))}
        if saved.fit.status is Status.STATIONARY:
            outer = Weighted.at(moments, saved.w, own["beta"], own["lam"], saved.fit.details["theta"])
            wrong["slope"] = abs(outer.slope)
        here = -penalised_ratio(moments_of(saved.data, at), saved.w, at["beta"], at["lam"])
    return check_first_order(saved, Kind.KKT, here, wrong)


SPEC = MethodSpec("s-mpm", fit_s_mpm, objective, check, ("s-mpm",), paper="mpm", equation="S-MPM, section 1")
