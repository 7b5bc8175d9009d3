"""MOP: alternate between the risk of a plane and the capacity of its feature space (paper 5, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from fsopt.certificates.certificate import Certificate, Kind, make
from fsopt.certificates.residuals import relative_gap
from fsopt.compiler.values import store, values_of
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, midpoint_intercept, project_multipliers
from fsopt.drivers.kernel_scaling.loop import check_scaling
from fsopt.drivers.kernel_scaling.proof import Cut, ScalingProblem, certify_stationary
from fsopt.drivers.kernel_scaling.search import Search
from fsopt.drivers.recorder import Recorder, stop_word
from fsopt.drivers.run import DEFAULT_RUN, OutOfTime, Run
from fsopt.models.mop.kernel_scaling_step import build_kernel_scaling_step
from fsopt.models.mop.rsvm_dual import build_rsvm_dual
from fsopt.models.mop.rsvm_least_norm import build_rsvm_least_norm
from fsopt.results import DriverResult, SolveResult, Status
from fsopt.solvers.base import Session
from fsopt.typing import Vector

INACTIVE = 1e-7
"""gamma below this (relative to the number of rows) means that the capacity constraint is inactive."""
SLACK = 1e-9
"""What E is raised by in (15), relative, so that rounding does not make it infeasible."""
GAP = 1e-6
"""Gap at which (15) counts as solved globally."""
MAX_PROGRAMS = 1000
PROPOSITION = "Proposition 1 is guaranteed for c = 0: with c > 0 only E is known not to rise, H = RW may"


@dataclass(frozen=True)
class _Plane:
    """The plane ``sum_j s_j w_j x_j + b`` of (14) for scales s and a cap on sum_j s_j w_j^2, and its hinge loss.

    ``alpha`` (n,) are multipliers that prove the bound on the loss; w = X'Y alpha / gamma up to rounding, unless the
    cap is inactive.
    """

    w: Vector
    b: float
    risk: float
    alpha: Vector
    gamma: float
    inactive: bool


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
    r"""Alternate the rigorous SVM (14) for fixed scales with the kernel scaling problem (15) for a fixed plane.

    From :math:`s = e, W = W^0`: solve (14) for the plane and its loss :math:`E^t`, then (15) for scales
    :math:`s` that keep the loss and lower :math:`H^t = RW`; it is not convex, see
    :func:`fsopt.drivers.kernel_scaling.loop.kernel_scaling`.

    Parameters
    ----------
    data : preprocessed: centred, unit deviation, rows of norm 1.
    w_cap : :math:`W^0 > 0`.
    c : >= 0, price of the scales relative to the present ones. Proposition 1 (E and H never rise) is
        guaranteed for c = 0 only; with c > 0 only E is.
    scaling : ``local`` (default): (15) by Frank-Wolfe steps from the present scales; ``global``: to a proved optimum.
    tolerance : stop when neither E nor H falls by more than this, relative, and no feature is dropped.

    Returns
    -------
    DriverResult
        ``point`` has ``w`` (the plane for the data as given: :math:`s_j w_j`), ``b``, ``scales``; ``E`` and ``H``
        histories; ``inactive``, whether the cap is; ``alpha`` and ``cap``, which prove that no plane with these scales
        and this cap has a lower loss (:func:`risk_bound`); ``scaling``, the last (15) with its answer, bound and cuts
        (:func:`fsopt.drivers.kernel_scaling.proof.certify_scaling`); ``start``: what was shown of s = e in
        the first (15), ``optimal``, ``stationary`` or nothing. Each record of the history has E and H with their
        bounds (None where there is none) and the largest residual of the certificate of (15). Status ``feasible``:
        no step of the alternation proves optimality for the bi-objective problem, and none is claimed. The
        objective is the loss E.

    Raises
    ------
    ParameterError : another word for scaling.
    SolverError : a step was not solved.

    Notes
    -----
    Paper 5, Algorithm 1 with the penalty of section 6.
    """
    check_scaling("mop", scaling)
    scales, cap, stop = np.ones(data.p), w_cap, "iteration-limit"
    dual = run.open(build_rsvm_dual(data, w_cap=w_cap, scale=scales))
    step = Session(build_kernel_scaling_step(data, w=np.ones(data.p), b=0.0, e_cap=0.0), lp_solver)
    recorder = Recorder([dual, step], run)
    best: dict[str, Any] = {"E": [], "H": [], "scaling": None, "start": ""}
    try:
        for _ in range(max_iterations):
            plane = _plane(data, dual, scales, cap, recorder)
            _take(best, plane, scales, cap)
            search = Search(_problem(data, plane, scales, c), step, recorder, cuts=_least_capacity(plane))
            best["scaling"] = answer = _rescale(search, scales, scaling)
            best["H"].append(answer["radius"] * answer["capacity"])
            if len(best["H"]) == 1:
                best["start"] = _start(search, answer)
            new = answer["s"]
            recorder.record(**_iteration(data, best, search.programs))
            fewer = np.sum(new > 0) < np.sum(scales > 0)
            if not (fewer or _fell(best["E"], tolerance) or _fell(best["H"], tolerance)):
                stop = "settled"
                break
            # A scaled plane of capacity W and loss <= E exists, so the next cap keeps E from rising.
            scales, cap = new, answer["capacity"]
            if recorder.expired:
                stop = "time-limit"
                break
        else:
            _take(best, _plane(data, dual, scales, cap, recorder), scales, cap)
    except (KeyboardInterrupt, OutOfTime) as reason:
        if "w" not in best:
            raise
        stop = stop_word(reason)
    certificate = certify_mop(data, best, priced=c > 0)
    return recorder.end(Status.FEASIBLE, stop, objective=best["E"][-1], point=best, certificate=certificate)


def _take(best: dict[str, Any], plane: _Plane, scales: Vector, cap: float) -> None:
    """Take over a plane for the data as given, its scales, and the proof of its loss."""
    best["E"].append(plane.risk)
    best |= {
        "w": scales * plane.w, "b": plane.b, "scales": scales, "inactive": plane.inactive, "alpha": plane.alpha,
        "cap": cap,
    }  # fmt: skip


def _iteration(data: Dataset, at: Mapping[str, Any], programs: int) -> dict[str, Any]:
    """Return what the history says of an iteration, after so many linear programs."""
    answer = at["scaling"]
    return {
        "E": at["E"][-1], "E_bound": risk_bound(data, at["scales"], at["cap"], at["alpha"]), "H": at["H"][-1],
        "value": answer["value"], "bound": answer["bound"], "status": answer["status"],
        "worst": answer["certificate"].worst, "n_features": int(np.sum(answer["s"] > 0)), "linear_programs": programs,
    }  # fmt: skip


def _fell(values: list[float], tolerance: float) -> bool:
    """Return whether the last value is lower than the one before, or the first."""
    return len(values) == 1 or values[-1] < values[-2] - tolerance * max(1e-12, abs(values[-2]))


def _plane(data: Dataset, dual: Session, scales: Vector, cap: float, recorder: Recorder) -> _Plane:
    """Solve (14) for fixed scales and capacity and recover w, the middle b, and the loss."""
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
    if inactive:
        planes = [_least_norm(data, scales, max(-result.objective, 0.0), recorder)]
    else:
        planes = [q / gamma, *_multiplied(dual, result, scales, cap)]
    w, b, risk = min((_placed(data, scales, w) for w in planes), key=itemgetter(2))
    return _Plane(w, b, risk, alpha, gamma, inactive)


def _placed(data: Dataset, scales: Vector, w: Vector) -> tuple[Vector, float, float]:
    """Return w with its middle intercept and its hinge loss."""
    scores = data.X @ (scales * w)
    b = midpoint_intercept(scores, data.y)
    return w, b, hinge(scores + b, data.y)


def _multiplied(dual: Session, result: SolveResult, scales: Vector, cap: float) -> list[Vector]:
    """Return the w that is the multiplier of the rows q = X'Y alpha, pulled into the ball: v / gamma loses digits."""
    if result.point is None or result.point.y is None:
        return []
    alive = scales > 0
    w = np.where(alive, result.point.y[dual.rows(dual.model.expansion)] / np.where(alive, scales, 1.0), 0.0)
    size = float(scales @ w**2)
    return [w * min(1.0, float(np.sqrt(cap / size)))] if size > 0 else []


def _least_norm(data: Dataset, scales: Vector, risk: float, recorder: Recorder) -> Vector:
    """Return the least-norm w (for the unscaled kernel) whose loss is the least one, see :func:`mop`."""
    root = np.sqrt(scales)
    model = build_rsvm_least_norm(data, e_cap=risk + SLACK * max(1.0, risk), scale=scales)
    recorder.solve(Session(model, options=recorder.options), "the least-norm plane of (12)")
    u = values_of(model.u)
    return np.where(root > 0, u / np.where(root > 0, root, 1.0), 0.0)


def _problem(data: Dataset, plane: _Plane, scales: Vector, c: float) -> ScalingProblem:
    """Return (15) for a plane: prices are relative to the present scales, those at 0 stay there."""
    alive = scales > 0
    price = np.where(alive, c / np.where(alive, scales, 1.0), 0.0)
    return ScalingProblem(data, plane.w, plane.b, plane.risk + SLACK * max(1.0, plane.risk), price, alive)


def _least_capacity(plane: _Plane) -> list[Cut]:
    r"""Return the multipliers by which no scales have a lower W than the present ones, by (14) itself.

    :math:`w_j (X'Y\alpha)_j = \gamma w_j^2`: alpha, with the weight gamma of W, proves it without a program.
    """
    return [] if plane.inactive else [Cut(plane.alpha, np.zeros(len(plane.alpha)), plane.gamma, False)]


def _rescale(search: Search, scales: Vector, scaling: str) -> dict[str, Any]:
    """Solve (15) from the present scales and return its answer with what proves it."""
    search.start(scales)
    if scaling == "global":
        search.close(GAP, MAX_PROGRAMS)
    at = search.problem
    status, bound, certificate = search.claim(scaling, GAP)
    radius, capacity = at.size(search.s)
    return {
        "w": at.w, "b": at.b, "e_cap": at.e_cap, "price": at.price, "from": scales, "s": search.s, "radius": radius,
        "capacity": capacity, "value": search.value, "status": str(status), "bound": bound,
        "cuts": search.cuts if scaling == "global" else [], "certificate": certificate,
    }  # fmt: skip


def _start(search: Search, answer: Mapping[str, Any]) -> str:
    """Return what is shown of the scales that (15) started from: ``optimal``, ``stationary``, or nothing."""
    at, before = search.problem, answer["from"]
    if answer["status"] == Status.OPTIMAL and relative_gap(at.value(before), answer["bound"]) <= GAP:
        return "optimal"
    first = next((cut for cut in search.cuts if cut.beta.any()), None)
    certificate = certify_stationary(at, before, first)
    return "stationary" if certificate.ok and certificate.kind is Kind.KKT else ""


def risk_bound(data: Dataset, scales: Vector, cap: float, alpha: Vector) -> float:
    r"""Return the lower bound that multipliers prove on the loss of every plane with these scales and this cap.

    Every :math:`\alpha \in [0, 1]^n` with :math:`y'\alpha = 0` gives :math:`e'\alpha - \sqrt W\,\|S^{1/2}X'Y\alpha\|`
    (paper 5, (14)).
    """
    alpha = project_multipliers(alpha, data.y, 1.0)
    q = data.X.T @ (alpha * data.y)
    return max(float(alpha.sum() - np.sqrt(cap * (scales @ q**2))), 0.0)


def certify_mop(data: Dataset, at: Mapping[str, Any], *, priced: bool) -> Certificate:
    """Check the histories against Proposition 1, and the final plane against its scales, its cap and its bound."""
    scores, scales, cap = data.X @ at["w"] + at["b"], at["scales"], at["cap"]
    alive = scales > 0
    used = float((at["w"][alive] ** 2 / scales[alive]).sum())
    residuals = {
        "rise of E": _largest_rise(at["E"]),
        "loss": relative_gap(at["E"][-1], hinge(scores, data.y)),
        "capacity": max(used / cap - 1.0, 0.0) + float(np.abs(at["w"][~alive]).max(initial=0.0)),
        "gap of E": relative_gap(at["E"][-1], risk_bound(data, scales, cap, at["alpha"])),
    }
    if not priced:
        residuals["rise of H"] = _largest_rise(at["H"])
    return make(Kind.MOP, residuals, notes=(PROPOSITION,) if priced else ())


def _largest_rise(values: list[float]) -> float:
    rises = np.diff(values) / np.maximum(1.0, np.abs(values[:-1]))
    return float(max(rises.max(initial=0.0), 0.0))
