"""Driver ``mop``: minimise the hinge loss of a hyperplane and RW over the scales in turn (Bi, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.answers.results import DriverResult, SolveResult, Status
from fsopt.certificates.kernel_scaling import Cut, ScalingProblem, certify_stationary
from fsopt.certificates.points import relative_gap
from fsopt.common.arguments import word
from fsopt.compiler.values import store, values_of
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, midpoint_intercept, project_multipliers
from fsopt.drivers.kernel_scaling import GAP, SCALINGS, LinearPrograms, Search, rescale
from fsopt.drivers.loop import Iterate, Loop, run_inner, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.models.blocks import number
from fsopt.models.mop.rsvm import build_rsvm_dual, build_rsvm_least_norm
from fsopt.solvers.base import Session
from fsopt.typing import Vector

SETTLED = 1e-4
"""Relative decrease below which E, or H, has not fallen."""
INACTIVE = 1e-7
"""gamma below this (relative to the number of samples) means that the capacity constraint is inactive."""
SLACK = 1e-9
"""Relative increase of a bound E on the loss, so that rounding does not make the problem infeasible."""
CONSTANT = 1e-9
"""Largest |w'x| of a hyperplane within the cap at which its scores count as constant, and w as 0."""


@loop
def mop(
    data: Dataset,
    *,
    w_cap: float,
    c: float = 0.0,
    scaling: str = "local",
    max_iterations: int = 20,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Alternate the rigorous SVM (14) at fixed scales and the kernel scaling problem (15) at a fixed hyperplane.

    From :math:`s = e, W = W^0`: solve (14) for the hyperplane and its loss :math:`E^t`, then (15) for scales
    :math:`s` with at most that loss and a smaller :math:`H^t = RW`. Problem (15) is not convex, see
    :func:`fsopt.drivers.kernel_scaling`.

    Parameters
    ----------
    data : preprocessed: centred, unit deviation, samples of norm 1.
    w_cap : :math:`W^0 > 0`.
    c : >= 0, cost of the scales relative to the present ones. Proposition 1 (E and H never rise) is
        guaranteed for c = 0 only; with c > 0 only E is.
    scaling : ``local`` (default): (15) by Frank-Wolfe steps; ``global``: c = 0 to the optimum, c > 0 by SCIP, unproved.
    max_iterations : largest number of steps; the loop also stops when neither E nor H falls, and no feature is dropped.
    run : solver and options of (14) alone, time limit, progress.

    Returns
    -------
    DriverResult
        ``point`` has ``w`` (the hyperplane for the data as given: :math:`s_j w_j`), ``b``, ``scales``; ``E`` and ``H``
        histories; ``inactive``, whether the cap is; ``alpha``, the multipliers, and ``cap``, the bound on W, by which
        ``risk_bound`` in ``fsopt/drivers/mop.py`` bounds the loss of every hyperplane with these scales and this cap
        from below; ``last_scaling``, the last (15): its data, the answer ``s``, a bound that was proved and its cuts,
        see :func:`fsopt.certificates.kernel_scaling.certify_scaling`; ``start``: the verified status of s = e in the
        first (15), ``optimal``, ``stationary`` or empty. Each record has E, ``E_bound`` and H; ``value``, ``bound``
        (None for none), ``status`` and ``worst`` residual are of (15). Status ``feasible``: no step of the alternation
        proves optimality for the bi-objective problem, and none is claimed. The objective is the loss E.

    Raises
    ------
    ParameterError : another word for scaling, w_cap <= 0 or c < 0.
    SolverError : a step was not solved.

    Notes
    -----
    Bi, Algorithm 1 with the penalty of section 6. Where (15) ends at W = 0, as on data that no feature separates better
    than a constant does, H = 0 is the minimum, and the next step (14) has a closed form.
    """
    word("parameter 'scaling' of 'mop'", scaling, SCALINGS)
    c = number("mop", "c", c)
    dual = run.open(build_rsvm_dual(data, w_cap=w_cap, scale=np.ones(data.p)))
    recorder = Recorder([dual], run)
    linear = LinearPrograms(data, recorder, Session)
    at, stop = yield from run_loop(_alternate(data, dual, linear, c, scaling, w_cap, max_iterations), recorder)
    certificate = certify_mop(data, at.point, costs=c > 0)
    return recorder.end(Status.FEASIBLE, stop, objective=at.objective, point=at.point, certificate=certificate)


def _alternate(
    data: Dataset,
    dual: Session,
    linear: LinearPrograms,
    c: float,
    scaling: str,
    cap: float,
    max_iterations: int,
) -> Loop:
    """Yield the hyperplanes of (14), for the data as given, with the histories of E and H."""
    # Step 1
    scales = np.ones(data.p)
    point: dict[str, Any] = {"E": [], "H": [], "last_scaling": None, "start": ""}
    for t in range(max_iterations):
        # Step 2.1: (14) for the present scales and cap.
        solution = minimise_risk(data, dual, linear.recorder, scales, cap)
        point = _moved(point, solution, scales, cap)
        yield Iterate(solution.risk, point, within=True)
        # Step 2.2: (15) for the hyperplane; costs are relative to the present scales, and those at 0 stay there.
        e_cap = solution.risk + SLACK * max(1.0, solution.risk)
        problem = ScalingProblem(data, solution.w, solution.b, e_cap, relative_costs(scales, c), scales > 0)
        search = Search(problem, linear, cuts=_cut_on_capacity(solution))
        status, bound, certificate = _rescale(search, scales, scaling)
        radius, capacity = problem.size(search.s)
        point = {**point, "last_scaling": _evidence(search, scales, bound), "H": [*point["H"], radius * capacity]}
        if t == 0:
            point["start"] = _verified_start(search, scales, bound)
        record = {
            "E": solution.risk,
            "E_bound": risk_bound(data, scales, cap, solution.alpha),
            "H": point["H"][-1],
            "value": search.value,
            "bound": bound,
            "status": str(status),
            "worst": certificate.worst,
            "n_features": int(np.sum(search.s > 0)),
            "linear_programs": search.programs,
        }
        # Step 2.3: neither E nor H fell, and no feature was dropped.
        fewer = bool(record["n_features"] < np.sum(scales > 0))
        goes_on = fewer or _fell(point["E"]) or _fell(point["H"])
        stop = "" if goes_on else "settled"
        yield Iterate(solution.risk, point, record=record, stop=stop)
        if stop:
            return
        # Step 2.4: the hyperplane with the new scales has capacity W and a loss of at most E: with W as cap, E cannot
        # rise.
        scales, cap = search.s, capacity
    solution = minimise_risk(data, dual, linear.recorder, scales, cap)
    yield Iterate(solution.risk, _moved(point, solution, scales, cap), stop="iteration-limit")


def _moved(point: Mapping[str, Any], solution: RiskMinimum, scales: Vector, cap: float) -> dict[str, Any]:
    """Return a point with the hyperplane of (14) for the data as given, and its loss in the history."""
    return {
        **point,
        "E": [*point["E"], solution.risk],
        "w": scales * solution.w,
        "b": solution.b,
        "scales": scales,
        "inactive": solution.inactive,
        "alpha": solution.alpha,
        "cap": cap,
    }


def relative_costs(scales: Vector, c: float) -> Vector:
    """Return the costs (p,) of scales relative to the present ones: c in all where none changes."""
    return np.divide(c, scales, out=np.zeros(len(scales)), where=scales > 0)


def _fell(values: list[float]) -> bool:
    """Return whether the last value is lower than the one before, or the first."""
    return len(values) == 1 or values[-1] < values[-2] - SETTLED * max(1e-12, abs(values[-2]))


def _cut_on_capacity(solution: RiskMinimum) -> list[Cut]:
    """Return the multipliers by which no scales have a smaller W than the present ones, from (14) itself."""
    # w_j (X'Y alpha)_j = gamma w_j^2: alpha, with the weight gamma of W, proves it without a program.
    if solution.inactive or not solution.w.any():
        return []
    return [Cut(solution.alpha, np.zeros(len(solution.alpha)), solution.gamma)]


def _rescale(search: Search, scales: Vector, scaling: str) -> tuple[Status, float | None, Certificate]:
    """Solve (15) from the present scales; return the status of its answer, a bound that was proved, the certificate."""
    search.load(scales)
    run_inner(rescale(search, scaling))
    # The word of a global solver is no evidence: with costs the first-order condition alone is certified.
    return search.certified("local" if search.problem.has_costs else scaling)


def _evidence(search: Search, scales: Vector, bound: float | None) -> dict[str, Any]:
    """Return (15) at the present scales, its answer, and a bound with the cuts behind it, by the keys of saved fits."""
    at = search.problem
    data = {"w": at.w, "b": at.b, "e_cap": at.e_cap, "from": scales}
    return {**data, "s": search.s, "bound": bound, "cuts": [] if bound is None else search.cuts}


def _verified_start(search: Search, before: Vector, bound: float | None) -> str:
    """Return the verified status of the scales that (15) started from: ``optimal``, ``stationary``, or empty."""
    at = search.problem
    if bound is not None and relative_gap(at.value(before), bound) <= GAP:
        return "optimal"
    # The first of the linear programs is the one at these scales; the cut on W alone, from (14), is none of them.
    first = next((cut for cut in search.cuts if cut.beta.any()), None)
    certificate = certify_stationary(at, before, first)
    return "stationary" if certificate.ok and certificate.kind is Kind.KKT else ""


PROPOSITION = "Proposition 1 is guaranteed for c = 0: with c > 0 only E is known not to rise, H = RW may"


def risk_bound(data: Dataset, scales: Vector, cap: float, alpha: Vector) -> float:
    r"""Return the bound :math:`e'\alpha - \sqrt W\,\|S^{1/2}X'Y\alpha\|` of Bi, (14), on every loss within a cap."""
    alpha = project_multipliers(alpha, data.y, 1.0)
    q = data.X.T @ (alpha * data.y)
    return max(float(alpha.sum() - np.sqrt(cap * (scales @ q**2))), 0.0)


def certify_mop(data: Dataset, at: Mapping[str, Any], *, costs: bool) -> Certificate:
    """Check the histories against Proposition 1, and the last hyperplane against its scales, its cap and its bound."""
    scores = data.X @ at["w"] + at["b"]
    scales, cap = at["scales"], at["cap"]
    active = scales > 0
    used = float((at["w"][active] ** 2 / scales[active]).sum())
    residuals = {
        "rise of E": _largest_rise(at["E"]),
        "loss": relative_gap(at["E"][-1], hinge(scores, data.y)),
        # With the cap 0 any weight is an excess, in any unit.
        "capacity": max(used - cap, 0.0) / (cap or 1.0) + float(np.abs(at["w"][~active]).max(initial=0.0)),
        "gap of E": relative_gap(at["E"][-1], risk_bound(data, scales, cap, at["alpha"])),
    }
    if not costs:
        residuals["rise of H"] = _largest_rise(at["H"])
    return make(Kind.MOP, residuals, notes=(PROPOSITION,) if costs else ())


def _largest_rise(values: list[float]) -> float:
    return float((np.diff(values) / np.maximum(1.0, np.abs(values[:-1]))).max(initial=0.0))


@dataclass(frozen=True)
class RiskMinimum:
    """The hyperplane ``sum_j s_j w_j x_j + b`` of (14) for scales s and a cap on sum_j s_j w_j^2, and its hinge loss.

    The multipliers ``alpha`` (n,) bound the loss from below; that of the cap is ``gamma``: w = X'Y alpha / gamma up to
    rounding, unless the cap is ``inactive``, where w is the shortest one of smallest loss, or w is 0.
    """

    w: Vector
    b: float
    risk: float
    alpha: Vector
    gamma: float
    inactive: bool


def minimise_risk(data: Dataset, dual: Session, recorder: Recorder, scales: Vector, cap: float) -> RiskMinimum:
    """Solve (14) for scales (p,) and a cap by the model ``rsvm-dual``, and recover the hyperplane."""
    # |w'x| <= sqrt(W R): where this is rounding the scores are constant, and gamma = ||v|| / sqrt(W) is 0 / 0. At w = 0
    # the dual maximises e'alpha with y'alpha = 0 in [0, 1]^n: all of the smaller class, and as much of the other.
    if np.sqrt(cap * float((data.X**2 @ scales).max())) <= CONSTANT:
        alpha, candidates = project_multipliers(np.ones(data.n), data.y, 1.0), [np.zeros(data.p)]
        gamma, inactive = 0.0, False
    else:
        model = dual.model
        store(model.root_scale, np.sqrt(scales))
        model.root_cap.set_value(float(np.sqrt(cap)))
        dual.update(model.objective, model.scaling)
        result = recorder.solve(dual, "(14)")
        assert result.objective is not None
        alpha = project_multipliers(values_of(model.alpha), data.y, 1.0)
        q = data.X.T @ (alpha * data.y)
        gamma = float(np.sqrt(scales @ q**2) / np.sqrt(cap))
        inactive = bool(gamma <= INACTIVE * data.n)
        found = _from_multipliers(dual, result, scales, cap)
        if inactive:
            # At a large W the rounding of sqrt(W) ||v|| makes the optimal value of (14) less than every loss: that of a
            # hyperplane is attained.
            losses = [_with_intercept(data, scales, w)[2] for w in found]
            candidates = [_shortest(data, scales, min(losses, default=max(-result.objective, 0.0)), recorder)]
        else:
            candidates = [q / gamma, *found]
    w, b, risk = min((_with_intercept(data, scales, w) for w in candidates), key=itemgetter(2))
    return RiskMinimum(w, b, risk, alpha, gamma, inactive)


def _with_intercept(data: Dataset, scales: Vector, w: Vector) -> tuple[Vector, float, float]:
    """Return w with the intercept in the middle of the best ones, and its hinge loss."""
    scores = data.X @ (scales * w)
    b = midpoint_intercept(scores, data.y)
    return w, b, hinge(scores + b, data.y)


def _from_multipliers(dual: Session, result: SolveResult, scales: Vector, cap: float) -> list[Vector]:
    """Return w (p,) by the multipliers s_j w_j of ``expansion``, pulled into the ball; none without multipliers."""
    # By (14) w is X'Y alpha / gamma too, but loses its digits where gamma is small, as X'Y alpha cancels: the better of
    # the two is taken.
    if result.point is None or result.point.y is None:
        return []
    multipliers = result.point.y[dual.rows(dual.model.expansion)]
    w = np.divide(multipliers, scales, out=np.zeros(len(scales)), where=scales > 0)
    return [w * min(1.0, float(np.sqrt(cap / (scales @ w**2))))] if w.any() else []


def _shortest(data: Dataset, scales: Vector, risk: float, recorder: Recorder) -> Vector:
    """Return w (p,) of smallest sum_j s_j w_j^2 among those of smallest loss; the answer for the data is s_j w_j."""
    # Where the cap is inactive, X'Y alpha = 0, and (14) gives the loss alone.
    model = build_rsvm_least_norm(data, e_cap=risk + SLACK * max(1.0, risk), scale=scales)
    # A named solver is one for (14), a SOCP, and its own options are not those of another solver.
    options = recorder.run.options if recorder.run.solver is None else None
    recorder.solve_once(Session(model, options=options), "the hyperplane of smallest norm of (12)")
    return np.divide(values_of(model.u), np.sqrt(scales), out=np.zeros(data.p), where=scales > 0)
