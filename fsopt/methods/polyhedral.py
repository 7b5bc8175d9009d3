"""Methods ``misclass`` and ``fsv`` (paper 3): successive linearisation on a polyhedron."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsopt.certify import Certificate, make
from fsopt.data import Dataset
from fsopt.drivers.sla import ConcaveTerms, sla
from fsopt.drivers.sla_generation import ConcaveHinge, sla_generation
from fsopt.methods.claim import Claim
from fsopt.methods.common import Plane, Run, felt, make_fit, preprocess, proof, select
from fsopt.methods.generated import certify_generated, generates
from fsopt.models.blocks import number
from fsopt.models.polyhedral import build_fsv_step, build_misclass_step, step_costs
from fsopt.planes import plane_errors
from fsopt.results import DriverResult, Fit, Preprocessing

Vector = NDArray[np.float64]
THRESHOLD = 1e-6
"""Vertices have exact zeros; this only separates them from rounding."""


def fit_misclass(
    data: Dataset,
    run: Run,
    *,
    alpha: float = 5.0,
    n_starts: int = 1,
    seed: int = 0,
    scale: str = "standard",
    generate: bool | str = "auto",
) -> Fit:
    """Fit the plane with few misclassified rows by successive linearisation.

    Parameters
    ----------
    alpha : > 0, steepness of the approximation of the step function; the paper's 5.
    n_starts : >= 1, runs of SLA, of which the best is returned: the first from zero, the others from errors drawn
        from U(0, 1).
    seed : >= 0, of the random starts.
    scale : ``standard`` (default), ``center`` or ``none``; the problem is invariant to it, its arithmetic is not.
    generate : solve each step by small programs of some of the rows
        (:func:`fsopt.drivers.sla_generation.sla_generation`): true, false, or ``auto`` (default), which does so
        where there are many rows.

    Returns
    -------
    Fit
        ``objective`` is (20); ``stationary`` where the minimum principle was certified, never a global claim.
        ``details`` has ``plane_errors``, the rows on the wrong side of or on the plane, and ``starts``, the value
        that each run reached. Paper 3, section 4.
    """
    started = time.perf_counter()
    alpha = number("misclass", "alpha", alpha, low=0.0, strict=True)
    work, map_ = preprocess(data, scale)
    if generates(generate, work, run, columns=False):
        return _generated(data, work, map_, _problem(work, alpha), run, n_starts, seed, started, "raise n_starts")
    model = build_misclass_step(work, alpha=alpha)
    terms = ConcaveTerms((("y", "cost_y"), ("z", "cost_z")), alpha)
    result = sla(
        model, terms, n_starts=n_starts, seed=seed, solver=run.solver, options=run.options,
        time_limit=run.time_limit, progress=run.progress,
    )  # fmt: skip
    at = result.point
    w, b = felt(at["w"], work.X), -at["gamma"]
    params = {"alpha": alpha, "y": np.maximum(at["y"], 0.0), "z": np.maximum(at["z"], 0.0)}
    assert result.objective is not None
    return make_fit(
        data, map_, Plane(w, b, select(w, THRESHOLD)), objective=result.objective, outcome=result,
        started=started, warnings=_flat(w, result, n_starts, "raise n_starts"),
        details=proof(
            "misclass-step", params, at["proof"], plane_errors=plane_errors(work, w, b), starts=_values(result)
        ),
    )  # fmt: skip


def fit_fsv(
    data: Dataset,
    run: Run,
    *,
    lam: float = 0.05,
    alpha: float = 5.0,
    n_starts: int = 1,
    seed: int = 0,
    scale: str = "standard",
    generate: bool | str = "auto",
) -> Fit:
    """Fit a plane in few features by concave minimisation (FSV).

    Parameters
    ----------
    lam : in [0, 1], weight of feature suppression.
    alpha : > 0, steepness of the approximation of the step function; the paper's 5.
    n_starts : >= 1, runs of SLA, of which the best is returned: the first from zero, the others from v drawn from
        U(0, 1). More are made where the first one ends at w = 0, and ``warnings`` tells it.
    seed : >= 0, of the random starts.
    scale : ``standard`` (default), ``center`` or ``none``; the selection depends on it. The paper's is ``none``.
    generate : as for ``misclass``, and also where there are many columns.

    Returns
    -------
    Fit
        ``objective`` is (21), in preprocessed units; ``stationary`` where the minimum principle was
        certified, never a global claim. ``details`` as for ``misclass``. Paper 3, section 4.
    """
    started = time.perf_counter()
    lam = number("fsv", "lam", lam, low=0.0, high=1.0)
    alpha = number("fsv", "alpha", alpha, low=0.0, strict=True)
    work, map_ = preprocess(data, scale)
    if generates(generate, work, run):
        return _generated(data, work, map_, _problem(work, alpha, lam), run, n_starts, seed, started, "lower lam")
    model = build_fsv_step(work, lam=lam, alpha=alpha)
    terms = ConcaveTerms((("v", "cost_v"),), alpha, weight=lam)
    result = sla(
        model, terms, n_starts=n_starts, seed=seed, solver=run.solver, options=run.options,
        time_limit=run.time_limit, progress=run.progress,
    )  # fmt: skip
    at = result.point
    w, b = felt(at["w"], work.X), -at["gamma"]
    params = {"lam": lam, "alpha": alpha, "v": np.maximum(at["v"], 0.0)}
    assert result.objective is not None
    return make_fit(
        data, map_, Plane(w, b, select(w, THRESHOLD)), objective=result.objective, outcome=result,
        started=started, warnings=_flat(w, result, n_starts, "lower lam"),
        details=proof(
            "fsv-step", params, at["proof"], plane_errors=plane_errors(work, w, b), starts=_values(result)
        ),
    )  # fmt: skip


def _problem(data: Dataset, alpha: float, lam: float | None = None) -> ConcaveHinge:
    """Return (21) as a function of errors and weights, or (20), which has no lambda."""
    if lam is None:
        return ConcaveHinge(np.ones(data.n), alpha, 0.0, counted=True)
    shares = np.where(data.y > 0, 1.0 / np.sum(data.y > 0), 1.0 / np.sum(data.y < 0))
    return ConcaveHinge((1 - lam) * shares, alpha, lam, counted=False)


def _generated(
    data: Dataset, work: Dataset, map_: Preprocessing, problem: ConcaveHinge, run: Run, n_starts: int, seed: int,
    started: float, hint: str,
) -> Fit:  # fmt: skip
    """Return the fit of a problem whose steps are solved by rows and columns."""
    result = sla_generation(
        work, problem, n_starts=n_starts, seed=seed, solver=run.solver, options=run.options,
        time_limit=run.time_limit, progress=run.progress,
    )  # fmt: skip
    w, b, alpha = felt(result.point["w"], work.X), result.point["b"], result.point["alpha"]
    details: dict[str, Any] = {"plane_errors": plane_errors(work, w, b), "starts": _values(result)}
    assert result.objective is not None
    return make_fit(
        data, map_, Plane(w, b, select(w, THRESHOLD)), objective=result.objective, outcome=result, started=started,
        warnings=_flat(w, result, n_starts, hint), details=details | ({} if alpha is None else {"alpha": alpha}),
    )  # fmt: skip


def check_generated_step(claim: Claim) -> Certificate:
    """Recompute the minimum principle of an answer that was found by rows and columns, from its multipliers."""
    at = claim.fit.params
    problem = _problem(claim.data, at["alpha"], at["lam"] if claim.fit.method == "fsv" else None)
    errors = np.maximum(1.0 - claim.data.y * (claim.data.X @ claim.w + claim.b), 0.0)
    found = certify_generated(claim, *problem.slopes(errors, np.abs(claim.w)))
    principle = {"minimum principle": found.residuals["gap"], "cost": found.residuals["cost"]}
    return make("sla", {**claim.residuals, **principle}, objective=claim.value, tolerance=found.tolerance)


def wrong_step(fit: Fit, data: Dataset, w: Vector, b: float) -> float:
    """Return by how much the saved last step is not the one of the fit's own parameters at its own plane.

    Iterates are compared by the costs that they give: errors of 100 and of 101 both cost nothing.
    """
    own, at = fit.params, fit.details["program_params"]
    errors = np.maximum(1.0 - data.y * (data.X @ w + b), 0.0)
    here = {"y": errors[data.y > 0], "z": errors[data.y < 0]} if fit.method == "misclass" else {"v": np.abs(w)}
    wrong = [abs(at[k] - own[k]) for k in ("alpha", "lam") if k in own]
    for name, x in here.items():
        costs = (step_costs(1.0, own["alpha"] * np.asarray(v, dtype=float)) for v in (x, at[name]))
        wrong.append(float(np.abs(np.subtract(*costs)).max()))
    return float(max(wrong))


def _values(result: DriverResult) -> list[float]:
    """Return the value that each run reached."""
    return [run["objective"] for run in result.point["starts"]]


def _flat(w: Vector, result: DriverResult, n_starts: int, hint: str) -> tuple[str, ...]:
    """Return the warnings about w = 0: that more runs were made because of it, and that it is the answer."""
    more = len(_values(result)) - n_starts
    warnings = [f"the start from zero ended at w = 0: {more} random starts were added"] if more > 0 else []
    if not np.any(w):
        warnings.append(f"w = 0: no feature was selected, {hint}")
    return tuple(warnings)
