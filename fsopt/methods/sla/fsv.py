"""Method ``fsv`` (Mangasarian, (21)): few features, by successive linearisation."""

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
from fsopt.models.sla.fsv_step import build_fsv_step
from fsopt.results import Fit
from fsopt.typing import Vector


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
    if generates_columns(generate, work, run):
        return fit_by_generation(
            data, work, map_, concave_hinge(work, alpha, lam), run, n_starts, seed, started, "lower lam"
        )
    model = build_fsv_step(work, lam=lam, alpha=alpha)
    terms = ConcaveTerms((("v", "cost_v"),), alpha, weight=lam)
    result = sla(model, terms, n_starts=n_starts, seed=seed, run=run)  # fmt: skip
    at = result.point
    w, b = without_rounding(at["w"], work.X), -at["gamma"]
    params = {"lam": lam, "alpha": alpha, "v": np.maximum(at["v"], 0.0)}
    assert result.objective is not None
    return make_fit(
        data, map_, Hyperplane(w, b, select(w, THRESHOLD)), objective=result.objective, outcome=result,
        started=started, warnings=trap_warnings(w, result, n_starts, "lower lam"),
        details=evidence(
            "fsv-step", params, at["proof"], plane_errors=hyperplane_errors(work, w, b), starts=start_values(result)
        ),
    )  # fmt: skip


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return (21) at a hyperplane; its polyhedron holds the errors and sizes of every hyperplane."""
    y, z = class_errors(data, w, b)
    sparsity = float(-np.expm1(-at["alpha"] * np.abs(w)).sum())
    return (1 - at["lam"]) * float(y.mean() + z.mean()) + at["lam"] * sparsity, 0.0


def check(saved: SavedFit) -> Certificate:
    """Certify the minimum principle of (21) again."""
    y, z = class_errors(saved.data, saved.w, saved.b)
    problem = concave_hinge(saved.data, saved.params["alpha"], saved.params["lam"])
    loss = float(y.mean() + z.mean())
    return check_step(saved, problem, {"v": np.abs(saved.w)}, lambda at: (1 - at["lam"]) * loss)


SPEC = MethodSpec("fsv", fit_fsv, objective, check, ("fsv-step",), paper="sla", equation="(21)", driver="sla")
