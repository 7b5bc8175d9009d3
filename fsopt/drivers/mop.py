"""MOP: alternate between the risk of a plane and the capacity of its feature space (paper 5, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsopt.certify import make
from fsopt.data import Dataset
from fsopt.drivers.recorder import OutOfTime, Progress, Recorder, stop_word
from fsopt.models.mop import build_kernel_scaling_step, build_rsvm_dual, build_rsvm_least_norm
from fsopt.planes import hinge, midpoint_intercept
from fsopt.results import DriverResult, Status
from fsopt.solvers.base import Session

Vector = NDArray[np.float64]
INACTIVE = 1e-7
"""gamma below this (relative to the number of rows) means that the capacity constraint is inactive."""
SLACK = 1e-9
"""What E is raised by in (15), relative, so that rounding does not make it infeasible."""
FRANK_WOLFE_STEPS = 20


@dataclass(frozen=True)
class _Plane:
    """A plane ``sum_j s_j w_j x_j + b`` for scales s, its hinge loss, and its capacity sum_j s_j w_j^2."""

    w: Vector
    b: float
    risk: float
    capacity: float
    inactive: bool


def mop(
    data: Dataset,
    *,
    w_cap: float,
    c: float = 0.0,
    solver: str | None = None,
    lp_solver: str | None = None,
    options: Mapping[str, Any] | None = None,
    tolerance: float = 1e-4,
    max_iterations: int = 20,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> DriverResult:
    r"""Alternate the rigorous SVM (14) for fixed scales with the kernel scaling problem (15) for a fixed plane.

    From :math:`s = e, W = W^0`: solve (14) for the plane and its loss :math:`E^t`, then (15) for scales
    :math:`s` that keep the loss and lower :math:`H^t = RW`; (15) is not convex and is solved locally, by
    Frank-Wolfe steps (linear programs) on (R, W) from the present scales.

    Parameters
    ----------
    data : preprocessed: centred, unit deviation, rows of norm 1.
    w_cap : :math:`W^0 > 0`.
    c : >= 0, price of the scales relative to the present ones. Proposition 1 (E and H never rise) is
        guaranteed for c = 0 only; with c > 0 only E is.
    tolerance : stop when neither E nor H falls by more than this, relative.

    Returns
    -------
    DriverResult
        ``point`` has ``w`` (the plane for the data as given: :math:`s_j w_j`), ``b``, ``scales``, ``E`` and
        ``H`` histories, ``radius``, ``capacity``. Status ``feasible``: neither step of the alternation is a
        proof of optimality for the bi-objective problem, and none is claimed. The objective is the loss E.

    Raises
    ------
    SolverError : a step was not solved.
    """
    scales = np.ones(data.p)
    dual = Session(build_rsvm_dual(data, w_cap=w_cap, scale=scales), solver, options=options)
    step_model = build_kernel_scaling_step(data, w=np.ones(data.p), b=0.0, e_cap=0.0)
    step = Session(step_model, lp_solver)
    recorder = Recorder([dual, step], time_limit, progress)
    risks: list[float] = []
    capacities: list[float] = []
    best: dict[str, Any] = {}
    cap, stop = w_cap, "iteration-limit"
    try:
        for _ in range(max_iterations):
            plane = _plane(data, dual, scales, cap, recorder, options)
            risks.append(plane.risk)
            best = _held(plane, scales) | {"E": risks, "H": capacities}
            new, radius, capacity, steps = _rescale(data, step, plane, scales, c, recorder)
            capacities.append(radius * capacity)
            recorder.record(E=risks[-1], H=capacities[-1], n_features=int(np.sum(new > 0)), linear_programs=steps)
            fewer = np.sum(new > 0) < np.sum(scales > 0)
            if len(risks) > 1 and not (_fell(risks, tolerance) or _fell(capacities, tolerance) or fewer):
                stop = "settled"
                break
            # A scaled plane of capacity W and loss <= E exists, so the next cap keeps E from rising.
            scales, cap = new, capacity
            if recorder.expired:
                stop = "time-limit"
                break
        else:
            plane = _plane(data, dual, scales, cap, recorder, options)
            best |= _held(plane, scales)
            risks.append(plane.risk)
    except (KeyboardInterrupt, OutOfTime) as reason:
        if not best:
            raise
        stop = stop_word(reason)
    certificate = _certificate(data, best, c)
    return recorder.end(Status.FEASIBLE, stop, objective=risks[-1], point=best, certificate=certificate)


def _held(plane: _Plane, scales: Vector) -> dict[str, Any]:
    """Return what an iteration holds: the plane for the data as given, and the scales."""
    return {"w": scales * plane.w, "b": plane.b, "scales": scales, "inactive": plane.inactive}


def _fell(values: list[float], tolerance: float) -> bool:
    return values[-1] < values[-2] - tolerance * max(1e-12, abs(values[-2]))


def _plane(
    data: Dataset,
    dual: Session,
    scales: Vector,
    cap: float,
    recorder: Recorder,
    options: Mapping[str, Any] | None,
) -> _Plane:
    """Solve (14) for fixed scales and capacity and recover w, the middle b, and the loss."""
    model = dual.model
    model.root_scale.store_values(dict(enumerate(np.sqrt(scales).tolist())))
    model.root_cap.set_value(float(np.sqrt(cap)))
    dual.update(model.objective, model.scaling)
    result = recorder.solve(dual, "(14)")
    assert result.objective is not None
    q = np.array([v.value for v in model.q.values()])
    norm = float(np.sqrt(scales @ q**2))
    gamma = norm / np.sqrt(cap)
    inactive = bool(gamma <= INACTIVE * data.n)
    w = _least_norm(data, scales, max(-result.objective, 0.0), options, recorder) if inactive else q / gamma
    scores = data.X @ (scales * w)
    b = midpoint_intercept(scores, data.y)
    return _Plane(w, b, hinge(scores + b, data.y), float(scales @ w**2), inactive)


def _least_norm(
    data: Dataset, scales: Vector, risk: float, options: Mapping[str, Any] | None, recorder: Recorder
) -> Vector:
    """Return the least-norm w (for the unscaled kernel) whose loss is the least one, see :func:`mop`."""
    root = np.sqrt(scales)
    model = build_rsvm_least_norm(data, e_cap=risk + SLACK * max(1.0, risk), scale=scales)
    recorder.solve(Session(model, options=options), "the least-norm plane of (12)")
    u = np.array([v.value for v in model.u.values()])
    return np.where(root > 0, u / np.where(root > 0, root, 1.0), 0.0)


def _rescale(
    data: Dataset, session: Session, plane: _Plane, scales: Vector, c: float, recorder: Recorder
) -> tuple[Vector, float, float, int]:
    """Return new scales, R and W from Frank-Wolfe on (15) at the present scales, and the number of LPs."""
    m = session.model
    radius, capacity = float(((data.X**2) @ scales).max()), plane.capacity
    best = scales, radius, capacity
    value = radius * capacity + c * int(np.sum(scales > 0))
    price = np.where(scales > 0, c / np.where(scales > 0, scales, 1.0), 0.0)
    m.weight.store_values(dict(enumerate(plane.w.tolist())))
    m.w_square.store_values(dict(enumerate((plane.w**2).tolist())))
    m.price_s.store_values(dict(enumerate(price.tolist())))
    m.e_cap.set_value(plane.risk + SLACK * max(1.0, plane.risk))
    m.b.fix(plane.b)
    for j, s in enumerate(scales):
        m.s[j].setub(None if s > 0 else 0.0)
    session.update(m.image, m.capacity, m.risk, m.b)
    steps = 0
    for _ in range(FRANK_WOLFE_STEPS):
        m.price_W.set_value(radius)
        m.price_R.set_value(capacity)
        session.update(m.objective)
        recorder.solve(session, "a linear program of (15)")
        steps += 1
        s = np.maximum([v.value for v in m.s.values()], 0.0)
        radius, capacity = float(((data.X**2) @ s).max()), float(s @ plane.w**2)
        new_value = radius * capacity + float(price @ s)
        if new_value >= value - 1e-9 * max(1.0, abs(value)):
            break
        best, value = (s, radius, capacity), new_value
    return *best, steps


def _certificate(data: Dataset, best: Mapping[str, Any], c: float) -> Any:
    """Check the histories against Proposition 1 and the loss against the plane itself."""
    rise = _largest_rise(best["E"])
    scores = data.X @ best["w"] + best["b"]
    loss = abs(hinge(scores, data.y) - best["E"][-1]) / max(1.0, best["E"][-1])
    residuals = {"rise of E": rise, "loss": loss}
    if c == 0:
        residuals["rise of H"] = _largest_rise(best["H"])
    notes = ("with c > 0 only E is guaranteed not to rise",) if c > 0 else ()
    return make("mop", residuals, notes=notes)


def _largest_rise(values: list[float]) -> float:
    rises = np.diff(values) / np.maximum(1.0, np.abs(values[:-1]))
    return float(max(rises.max(initial=0.0), 0.0))
