"""Driver ``mop``: alternate the risk of a hyperplane and the capacity of its feature space (Bi, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import numpy as np

from fsopt.certificates.certificate import Certificate, Kind, make
from fsopt.certificates.residuals import relative_gap
from fsopt.compiler.values import store, values_of
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, midpoint_intercept, project_multipliers
from fsopt.drivers.kernel_scaling.bounds import Cut
from fsopt.drivers.kernel_scaling.certificate import certify_stationary
from fsopt.drivers.kernel_scaling.driver import check_scaling
from fsopt.drivers.kernel_scaling.outer_approximation import OuterApproximation
from fsopt.drivers.kernel_scaling.problem import ScalingProblem
from fsopt.drivers.recorder import Recorder, stop_word
from fsopt.drivers.run import DEFAULT_RUN, OutOfTime, Run
from fsopt.models.blocks import number
from fsopt.models.mop.kernel_scaling_step import build_kernel_scaling_step
from fsopt.models.mop.rsvm_dual import build_rsvm_dual
from fsopt.models.mop.rsvm_least_norm import build_rsvm_least_norm
from fsopt.results import DriverResult, SolveResult, Status
from fsopt.solvers.base import Session
from fsopt.typing import Vector

INACTIVE = 1e-7
"""gamma below this (relative to the number of samples) means that the capacity constraint is inactive."""
SLACK = 1e-9
"""Relative increase of E in (15), so that rounding does not make it infeasible."""
CONSTANT = 1e-9
"""Largest |w'x| of a hyperplane within the cap at which its scores count as constant, and w as 0."""
GAP = 1e-6
"""Optimality gap at which (15) counts as solved globally."""
MAX_PROGRAMS = 1000
PROPOSITION = "Proposition 1 is guaranteed for c = 0: with c > 0 only E is known not to rise, H = RW may"


def mop(
    data: Dataset,
    *,
    w_cap: float,
    c: float = 0.0,
    scaling: str = "local",
    lp_solver: str | None = None,
    tolerance: float = 1e-4,
    max_iterations: int = 20,
    run: Run = DEFAULT_RUN,
) -> DriverResult:
    r"""Alternate the rigorous SVM (14) at fixed scales and the kernel scaling problem (15) at a fixed hyperplane.

    From :math:`s = e, W = W^0`: solve (14) for the hyperplane and its loss :math:`E^t`, then (15) for scales
    :math:`s` with at most that loss and a smaller :math:`H^t = RW`. Problem (15) is not convex, see
    :func:`fsopt.drivers.kernel_scaling.driver.kernel_scaling`.

    Parameters
    ----------
    data : preprocessed: centred, unit deviation, samples of norm 1.
    w_cap : :math:`W^0 > 0`.
    c : >= 0, cost of the scales relative to the present ones. Proposition 1 (E and H never rise) is
        guaranteed for c = 0 only; with c > 0 only E is.
    scaling : ``local`` (default): (15) by Frank-Wolfe steps from the present scales; ``global``: to the optimum.
    lp_solver : registry name for the linear programs of (15); None for the preferred one.
    tolerance : stop when neither E nor H falls by more than this, relative, and no feature is dropped.
    max_iterations : further stopping criterion.
    run : solver of (14), options, time limit, progress.

    Returns
    -------
    DriverResult
        ``point`` has ``w`` (the hyperplane for the data as given: :math:`s_j w_j`), ``b``, ``scales``; ``E`` and ``H``
        histories; ``inactive``, whether the cap is; ``alpha`` and ``cap``, by which :func:`risk_bound` bounds the loss
        of every hyperplane with these scales and this cap from below; ``scaling``, the last (15) with its answer,
        bound and cuts (:func:`fsopt.drivers.kernel_scaling.certificate.certify_scaling`); ``start``: what was verified
        about s = e in the first (15), ``optimal``, ``stationary`` or nothing. Each record of the history has E and H
        with their bounds (None where there is none) and the largest residual of the certificate of (15). Status
        ``feasible``: no step of the alternation proves optimality for the bi-objective problem, and none is claimed.
        The objective is the loss E.

    Raises
    ------
    ParameterError : another word for scaling, w_cap <= 0 or c < 0.
    SolverError : a step was not solved.

    Notes
    -----
    Bi, Algorithm 1 with the penalty of section 6. The problem (15) of an iteration may have W = 0: its scales leave
    a hyperplane with constant scores, which no smaller H follows.
    """
    check_scaling("mop", scaling)
    c = number("mop", "c", c, low=0.0)
    dual = run.open(build_rsvm_dual(data, w_cap=w_cap, scale=np.ones(data.p)))
    step = Session(build_kernel_scaling_step(data, w=np.ones(data.p), b=0.0, e_cap=0.0), lp_solver)
    recorder = Recorder([dual, step], run)
    loop = _Alternation(data, dual, step, recorder, c, scaling, np.ones(data.p), w_cap)
    stop = "iteration-limit"
    try:
        for _ in range(max_iterations):
            if not loop.iterate(tolerance):
                stop = "settled"
                break
            if recorder.expired:
                stop = "time-limit"
                break
        else:
            loop.minimise_risk()
    except (KeyboardInterrupt, OutOfTime) as reason:
        if "w" not in loop.best:
            raise
        stop = stop_word(reason)
    certificate = certify_mop(data, loop.best, costs=c > 0)
    return recorder.end(Status.FEASIBLE, stop, objective=loop.best["E"][-1], point=loop.best, certificate=certificate)


@dataclass(frozen=True)
class _Hyperplane:
    """The hyperplane ``sum_j s_j w_j x_j + b`` of (14) for scales s and a cap on sum_j s_j w_j^2, and its hinge loss.

    ``alpha`` (n,) are the multipliers behind the lower bound on the loss; w = X'Y alpha / gamma up to rounding, unless
    the cap is inactive or leaves no w but 0.
    """

    w: Vector
    b: float
    risk: float
    alpha: Vector
    gamma: float
    inactive: bool


@dataclass
class _Alternation:
    """The two problems of Algorithm 1, the scales and the cap of the present iteration, and the point of the result."""

    data: Dataset
    dual: Session
    step: Session
    recorder: Recorder
    c: float
    scaling: str
    scales: Vector
    cap: float
    best: dict[str, Any] = field(default_factory=lambda: {"E": [], "H": [], "scaling": None, "start": ""})

    def iterate(self, tolerance: float) -> bool:
        """Solve (14) and (15), move to the new scales and cap; return whether E, H or the number of features fell."""
        best, scales = self.best, self.scales
        plane = self.minimise_risk()
        problem = self._problem(plane)
        search = OuterApproximation(problem, self.step, self.recorder, cuts=_cut_on_capacity(plane))
        best["scaling"] = answer = _rescale(search, scales, self.scaling)
        best["H"].append(answer["radius"] * answer["capacity"])
        if len(best["H"]) == 1:
            best["start"] = _verified_start(search, answer)
        new = answer["s"]
        self.recorder.record(**_iteration(self.data, best, search.programs))
        fewer = bool(np.sum(new > 0) < np.sum(scales > 0))
        if not (fewer or _fell(best["E"], tolerance) or _fell(best["H"], tolerance)):
            return False
        # The hyperplane with the new scales has capacity W and a loss of at most E: with W as cap, E cannot rise.
        self.scales, self.cap = new, answer["capacity"]
        return True

    def minimise_risk(self) -> _Hyperplane:
        """Solve (14) for the present scales and cap, and store the hyperplane for the data as given."""
        radius = float((self.data.X**2 @ self.scales).max())
        # |w'x| <= sqrt(W R): scores are constant where this is rounding, and gamma = ||v|| / sqrt(W) loses its meaning.
        constant = np.sqrt(self.cap * radius) <= CONSTANT
        plane = _constant_scores(self.data) if constant else self._solve_dual()
        self.best["E"].append(plane.risk)
        self.best |= {
            "w": self.scales * plane.w,
            "b": plane.b,
            "scales": self.scales,
            "inactive": plane.inactive,
            "alpha": plane.alpha,
            "cap": self.cap,
        }
        return plane

    def _solve_dual(self) -> _Hyperplane:
        """Solve (14) and recover w, the intercept in the middle of the best ones, and the loss."""
        data, scales, cap, model = self.data, self.scales, self.cap, self.dual.model
        store(model.root_scale, np.sqrt(scales))
        model.root_cap.set_value(float(np.sqrt(cap)))
        self.dual.update(model.objective, model.scaling)
        result = self.recorder.solve(self.dual, "(14)")
        assert result.objective is not None
        alpha = project_multipliers(values_of(model.alpha), data.y, 1.0)
        q = data.X.T @ (alpha * data.y)
        gamma = float(np.sqrt(scales @ q**2) / np.sqrt(cap))
        inactive = bool(gamma <= INACTIVE * data.n)
        if inactive:
            candidates = [_least_norm(data, scales, max(-result.objective, 0.0), self.recorder)]
        else:
            candidates = [q / gamma, *_from_multipliers(self.dual, result, scales, cap)]
        w, b, risk = min((_with_intercept(data, scales, w) for w in candidates), key=itemgetter(2))
        return _Hyperplane(w, b, risk, alpha, gamma, inactive)

    def _problem(self, plane: _Hyperplane) -> ScalingProblem:
        """Return (15) for a hyperplane: costs are relative to the present scales, and those at 0 stay there."""
        active = self.scales > 0
        costs = np.where(active, self.c / np.where(active, self.scales, 1.0), 0.0)
        e_cap = plane.risk + SLACK * max(1.0, plane.risk)
        return ScalingProblem(self.data, plane.w, plane.b, e_cap, costs, active)


def _iteration(data: Dataset, at: Mapping[str, Any], programs: int) -> dict[str, Any]:
    """Return the record of an iteration, after so many linear programs."""
    answer = at["scaling"]
    return {
        "E": at["E"][-1],
        "E_bound": risk_bound(data, at["scales"], at["cap"], at["alpha"]),
        "H": at["H"][-1],
        "value": answer["value"],
        "bound": answer["bound"],
        "status": answer["status"],
        "worst": answer["certificate"].worst,
        "n_features": int(np.sum(answer["s"] > 0)),
        "linear_programs": programs,
    }


def _fell(values: list[float], tolerance: float) -> bool:
    """Return whether the last value is lower than the one before, or the first."""
    return len(values) == 1 or values[-1] < values[-2] - tolerance * max(1e-12, abs(values[-2]))


def _constant_scores(data: Dataset) -> _Hyperplane:
    """Return w = 0 with its best intercept, and the multipliers of (14) that prove its loss, in closed form.

    With w = 0 the dual is to maximise e'alpha with y'alpha = 0 in [0, 1]: all of the smaller class, and as much of the
    other.
    """
    w, b, risk = _with_intercept(data, np.zeros(data.p), np.zeros(data.p))
    return _Hyperplane(w, b, risk, project_multipliers(np.ones(data.n), data.y, 1.0), 0.0, False)


def _with_intercept(data: Dataset, scales: Vector, w: Vector) -> tuple[Vector, float, float]:
    """Return w with the intercept in the middle of the best ones, and its hinge loss."""
    scores = data.X @ (scales * w)
    b = midpoint_intercept(scores, data.y)
    return w, b, hinge(scores + b, data.y)


def _from_multipliers(dual: Session, result: SolveResult, scales: Vector, cap: float) -> list[Vector]:
    """Return the w of the multipliers of q = X'Y alpha, pulled into the ball; X'Y alpha / gamma loses its digits.

    Where the loss is small, alpha is small and gamma cancels; the multipliers of the conic solver do not.
    """
    if result.point is None or result.point.y is None:
        return []
    active = scales > 0
    multipliers = result.point.y[dual.rows(dual.model.expansion)]
    w = np.where(active, multipliers / np.where(active, scales, 1.0), 0.0)
    size = float(scales @ w**2)
    return [w * min(1.0, float(np.sqrt(cap / size)))] if size > 0 else []


def _least_norm(data: Dataset, scales: Vector, risk: float, recorder: Recorder) -> Vector:
    """Return the w of smallest norm (for the unscaled kernel) among those with the smallest loss.

    Where the cap is inactive, X'Y alpha = 0, and (14) gives the loss alone.
    """
    root = np.sqrt(scales)
    model = build_rsvm_least_norm(data, e_cap=risk + SLACK * max(1.0, risk), scale=scales)
    options = recorder.run.options if recorder.run.solver is None else None
    recorder.solve_once(Session(model, options=options), "the hyperplane of smallest norm of (12)")
    u = values_of(model.u)
    return np.where(root > 0, u / np.where(root > 0, root, 1.0), 0.0)


def _cut_on_capacity(plane: _Hyperplane) -> list[Cut]:
    r"""Return the multipliers by which no scales have a smaller W than the present ones, from (14) itself.

    :math:`w_j (X'Y\alpha)_j = \gamma w_j^2`: alpha, with the weight gamma of W, proves it without a program.
    """
    if plane.inactive or not plane.w.any():
        return []
    return [Cut(plane.alpha, np.zeros(len(plane.alpha)), plane.gamma, False)]


def _rescale(search: OuterApproximation, scales: Vector, scaling: str) -> dict[str, Any]:
    """Solve (15) from the present scales and return its answer with the evidence, by the keys of saved fits."""
    search.start(scales)
    if scaling == "global":
        search.close_gap(GAP, MAX_PROGRAMS)
    at = search.problem
    status, bound, certificate = search.certified(scaling, GAP)
    radius, capacity = at.size(search.s)
    return {
        "w": at.w,
        "b": at.b,
        "e_cap": at.e_cap,
        "price": at.costs,
        "from": scales,
        "s": search.s,
        "radius": radius,
        "capacity": capacity,
        "value": search.value,
        "status": str(status),
        "bound": bound,
        "cuts": search.cuts if scaling == "global" else [],
        "certificate": certificate,
    }


def _verified_start(search: OuterApproximation, answer: Mapping[str, Any]) -> str:
    """Return what is verified about the scales that (15) started from: ``optimal``, ``stationary``, or nothing."""
    at, before = search.problem, answer["from"]
    if answer["status"] == Status.OPTIMAL and relative_gap(at.value(before), answer["bound"]) <= GAP:
        return "optimal"
    first = next((cut for cut in search.cuts if cut.beta.any()), None)
    certificate = certify_stationary(at, before, first)
    return "stationary" if certificate.ok and certificate.kind is Kind.KKT else ""


def risk_bound(data: Dataset, scales: Vector, cap: float, alpha: Vector) -> float:
    r"""Return the lower bound that multipliers prove on the loss of every hyperplane with these scales and this cap.

    Every :math:`\alpha \in [0, 1]^n` with :math:`y'\alpha = 0` gives :math:`e'\alpha - \sqrt W\,\|S^{1/2}X'Y\alpha\|`
    (Bi, (14)).
    """
    alpha = project_multipliers(alpha, data.y, 1.0)
    q = data.X.T @ (alpha * data.y)
    return max(float(alpha.sum() - np.sqrt(cap * (scales @ q**2))), 0.0)


def certify_mop(data: Dataset, at: Mapping[str, Any], *, costs: bool) -> Certificate:
    """Check the histories against Proposition 1, and the last hyperplane against its scales, its cap and its bound."""
    scores, scales, cap = data.X @ at["w"] + at["b"], at["scales"], at["cap"]
    active = scales > 0
    used = float((at["w"][active] ** 2 / scales[active]).sum())
    residuals = {
        "rise of E": _largest_rise(at["E"]),
        "loss": relative_gap(at["E"][-1], hinge(scores, data.y)),
        # With the cap 0 any weight at all is too much, whatever its unit.
        "capacity": max(used - cap, 0.0) / (cap or 1.0) + float(np.abs(at["w"][~active]).max(initial=0.0)),
        "gap of E": relative_gap(at["E"][-1], risk_bound(data, scales, cap, at["alpha"])),
    }
    if not costs:
        residuals["rise of H"] = _largest_rise(at["H"])
    return make(Kind.MOP, residuals, notes=(PROPOSITION,) if costs else ())


def _largest_rise(values: list[float]) -> float:
    rises = np.diff(values) / np.maximum(1.0, np.abs(values[:-1]))
    return float(max(rises.max(initial=0.0), 0.0))
