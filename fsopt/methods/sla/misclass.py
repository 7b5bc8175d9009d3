"""Method ``misclass`` (Mangasarian, (20)): few misclassified samples, by successive linearisation."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from fsopt.certificates.certificate import Certificate
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hyperplane_errors
from fsopt.drivers.run import Run
from fsopt.drivers.sla import ConcaveTerms, sla
from fsopt.methods.large_programs import generates_columns
from fsopt.methods.verification import evidence
from fsopt.methods.assembly import make_fit
from fsopt.methods.preprocessing import Hyperplane, preprocess
from fsopt.methods.selection import select, without_rounding
from fsopt.methods.sla.concave_minimisation import (
    THRESHOLD,
    check_step,
    class_errors,
    concave_hinge,
    fit_by_generation,
    start_values,
    trap_warnings,
)
from fsopt.methods.spec import MethodSpec, SavedFit, Value
from fsopt.models.blocks import number
from fsopt.models.sla.misclass_step import build_misclass_step
from fsopt.results import Fit
from fsopt.typing import Vector


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
        (:func:`fsopt.drivers.column_generation.sla_steps.sla_generation`): true, false, or ``auto`` (default), which does so
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
    if generates_columns(generate, work, run, columns=False):
        return fit_by_generation(
            data, work, map_, concave_hinge(work, alpha), run, n_starts, seed, started, "raise n_starts"
        )
    model = build_misclass_step(work, alpha=alpha)
    terms = ConcaveTerms((("y", "cost_y"), ("z", "cost_z")), alpha)
    result = sla(model, terms, n_starts=n_starts, seed=seed, run=run)  # fmt: skip
    at = result.point
    w, b = without_rounding(at["w"], work.X), -at["gamma"]
    params = {"alpha": alpha, "y": np.maximum(at["y"], 0.0), "z": np.maximum(at["z"], 0.0)}
    assert result.objective is not None
    return make_fit(
        data, map_, Hyperplane(w, b, select(w, THRESHOLD)), objective=result.objective, outcome=result,
        started=started, warnings=trap_warnings(w, result, n_starts, "raise n_starts"),
        details=evidence(
            "misclass-step", params, at["proof"], plane_errors=hyperplane_errors(work, w, b), starts=start_values(result)
        ),
    )  # fmt: skip


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return (20) at a hyperplane; its polyhedron holds the errors of every hyperplane."""
    return float(-np.expm1(-at["alpha"] * np.concatenate(class_errors(data, w, b))).sum()), 0.0


def check(saved: SavedFit) -> Certificate:
    """Certify the minimum principle of (20) again."""
    y, z = class_errors(saved.data, saved.w, saved.b)
    problem = concave_hinge(saved.data, saved.params["alpha"])
    return check_step(saved, problem, {"y": y, "z": z}, lambda at: 0.0)


SPEC = MethodSpec(
    "misclass", fit_misclass, objective, check, ("misclass-step",), paper="sla", equation="(20)", driver="sla"
)
