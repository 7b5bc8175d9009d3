"""Shared by ``misclass`` and ``fsv``: large data by column generation, the check of the last step, warnings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fsopt.certificates.certificate import Certificate, Kind, make
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hyperplane_errors
from fsopt.drivers.column_generation.sla_steps import ConcaveHinge, sla_generation
from fsopt.drivers.run import Run
from fsopt.errors import reading
from fsopt.methods.large_programs import certify_generated
from fsopt.methods.verification import check_first_order, has_program
from fsopt.methods.assembly import make_fit
from fsopt.methods.preprocessing import Hyperplane
from fsopt.methods.selection import select, without_rounding
from fsopt.methods.spec import SavedFit
from fsopt.models.sla.hyperplane import step_costs
from fsopt.results import DriverResult, Fit, Preprocessing
from fsopt.typing import Vector

THRESHOLD = 1e-6
"""Vertices have exact zeros; this only separates them from rounding."""


def concave_hinge(data: Dataset, alpha: float, lam: float | None = None) -> ConcaveHinge:
    """Return (21) as a function of errors and weights, or (20), which has no lambda."""
    if lam is None:
        return ConcaveHinge(np.ones(data.n), alpha, 0.0, counted=True)
    shares = np.where(data.y > 0, 1.0 / np.sum(data.y > 0), 1.0 / np.sum(data.y < 0))
    return ConcaveHinge((1 - lam) * shares, alpha, lam, counted=False)


def fit_by_generation(
    data: Dataset, work: Dataset, map_: Preprocessing, problem: ConcaveHinge, run: Run, n_starts: int, seed: int,
    started: float, hint: str,
) -> Fit:  # fmt: skip
    """Return the fit of a problem whose steps are solved by rows and columns."""
    result = sla_generation(work, problem, n_starts=n_starts, seed=seed, run=run)  # fmt: skip
    w, b, alpha = without_rounding(result.point["w"], work.X), result.point["b"], result.point["alpha"]
    details: dict[str, Any] = {"plane_errors": hyperplane_errors(work, w, b), "starts": start_values(result)}
    assert result.objective is not None
    return make_fit(
        data, map_, Hyperplane(w, b, select(w, THRESHOLD)), objective=result.objective, outcome=result, started=started,
        warnings=trap_warnings(w, result, n_starts, hint), details=details | ({} if alpha is None else {"alpha": alpha}),
    )  # fmt: skip


def class_errors(data: Dataset, w: Vector, b: float) -> tuple[Vector, Vector]:
    """Return the errors y and z of the hyperplane on the samples of class +1 and of class -1."""
    errors = np.maximum(1.0 - data.y * (data.X @ w + b), 0.0)
    return errors[data.y > 0], errors[data.y < 0]


def check_step(
    saved: SavedFit, problem: ConcaveHinge, iterate: Mapping[str, Vector], rest: Callable[[Mapping[str, Any]], float]
) -> Certificate:
    """Certify the minimum principle again, by the saved linear program or by the multipliers of column generation.

    Parameters
    ----------
    problem : (20) or (21) of the fit's own parameters.
    iterate : component -> its value at the hyperplane, of the components under the exponential.
    rest : the linear rest of the last program's objective at the hyperplane, from the parameters of the program.
    """
    if "alpha" in saved.fit.details:
        errors = np.maximum(1.0 - saved.data.y * (saved.data.X @ saved.w + saved.b), 0.0)
        found = certify_generated(saved, *problem.slopes(errors, np.abs(saved.w)))
        principle = {"minimum principle": found.residuals["gap"], "cost": found.residuals["cost"]}
        residuals = {**saved.residuals, **principle}
        return make(Kind.SLA, residuals, objective=saved.value, tolerance=found.tolerance)
    if not has_program(saved):
        return make(Kind.FEASIBLE, saved.residuals, objective=saved.value)
    with reading("step"):
        at, own = saved.fit.details["program_params"], saved.params
        weight = own.get("lam", 1.0)
        here = rest(at)
        # Iterates are compared by the costs that they give: errors of 100 and of 101 both cost nothing.
        wrong = [abs(at[k] - own[k]) for k in ("alpha", "lam") if k in own]
        for name, x in iterate.items():
            saved_x = np.asarray(at[name], dtype=float)
            here += weight * float(step_costs(at["alpha"], saved_x) @ x)
            costs = (step_costs(1.0, own["alpha"] * v) for v in (x, saved_x))
            wrong.append(float(np.abs(np.subtract(*costs)).max()))
    return check_first_order(saved, Kind.SLA, here, {"linearisation": float(max(wrong))})


def start_values(result: DriverResult) -> list[float]:
    """Return the value that each run reached."""
    return [run["objective"] for run in result.point["starts"]]


def trap_warnings(w: Vector, result: DriverResult, n_starts: int, hint: str) -> tuple[str, ...]:
    """Return the warnings about w = 0: that more runs were made because of it, and that it is the answer."""
    more = len(start_values(result)) - n_starts
    warnings = [f"the start from zero ended at w = 0: {more} random starts were added"] if more > 0 else []
    if not np.any(w):
        warnings.append(f"w = 0: no feature was selected, {hint}")
    return tuple(warnings)
