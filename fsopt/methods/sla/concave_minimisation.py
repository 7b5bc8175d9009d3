"""Shared by ``misclass`` and ``fsv``: the Fit of a hyperplane found by SLA, and the verification of its last step.

Both methods minimise a concave function of the errors of a hyperplane and the sizes of its weights over a polyhedron,
by successive linearisation (SLA). The last linear program proves the minimum principle at the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.answers.fits import Fit
from fsopt.answers.results import DriverResult, Status
from fsopt.certificates.points import relative_gap
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hyperplane_errors
from fsopt.data.matrices import Preprocessing, largest_values
from fsopt.data.weights import weights_of_classes
from fsopt.drivers.l1_hinge_program import certify_l1_hinge
from fsopt.drivers.penalties import Penalty
from fsopt.drivers.sla import NONNEGATIVE, ConcaveHinge
from fsopt.errors import reading
from fsopt.methods.assembly import make_fit
from fsopt.methods.preprocessing import Hyperplane
from fsopt.methods.selection import selection, without_rounding
from fsopt.methods.spec import SavedFit, Value
from fsopt.methods.verdict import Completed, check_first_order, columns_of, saved_alpha, starts_residual
from fsopt.typing import Vector


@dataclass(frozen=True)
class SlaAnswer:
    """The hyperplane w'z + b = 0 at which SLA ended.

    Attributes
    ----------
    w, b : (p,) weights and the intercept, for preprocessed features.
    result : of the driver.
    evidence : details of the Fit by which the last step can be verified.
    """

    w: Vector
    b: float
    result: DriverResult
    evidence: Mapping[str, Any]

    @classmethod
    def generated(cls, result: DriverResult) -> SlaAnswer:
        """Return the answer of SLA with steps by column generation; its evidence are multipliers, if there are any."""
        at = result.point
        return cls(at["w"], at["b"], result, {} if at["alpha"] is None else {"alpha": at["alpha"]})


def concave_hinge(data: Dataset, alpha: float, lam: float | None = None, approx: str | Penalty = "exp") -> ConcaveHinge:
    """Return (21) as a function of errors and weights, or (20), which has no lambda."""
    if lam is None:
        return ConcaveHinge(np.ones(data.n), alpha, 0.0, counted=True)
    shares = np.where(data.y > 0, 1.0 / np.sum(data.y > 0), 1.0 / np.sum(data.y < 0))
    positive, negative = weights_of_classes(data.y, data.weights)
    shares = shares * np.where(data.y > 0, positive, negative)
    return ConcaveHinge((1 - lam) * shares, alpha, lam, counted=False, approx=approx)


def fit_of_answer(
    data: Dataset, map_: Preprocessing, answer: SlaAnswer, *, n_starts: int, started: float, hint: str
) -> Fit:
    """Return the Fit of an answer of SLA, its rounded weights set to 0.

    Parameters
    ----------
    data, map_ : the preprocessed data and the map that was applied.
    n_starts : number of runs that the user asked for.
    started : value of ``time.perf_counter`` when the method began.
    hint : advice of the warning about w = 0.
    """
    w, b = without_rounding(answer.w, largest_values(data.X)), answer.b
    errors = hyperplane_errors(data, w, b)
    return make_fit(
        data,
        map_,
        Hyperplane(w, b, selection(w)),
        answer.result,
        started=started,
        warnings=zero_warnings(w, answer.result, n_starts, hint),
        details={**answer.evidence, "plane_errors": errors, "starts": start_values(answer.result)},
    )


def start_values(result: DriverResult) -> list[float]:
    """Return the objective value at which each run of SLA ended."""
    return [run["objective"] for run in result.point["starts"]]


def zero_warnings(w: Vector, result: DriverResult, n_starts: int, hint: str) -> tuple[str, ...]:
    """Return the warnings about w = 0: that more runs were made because of it, and that it is the answer."""
    more = len(start_values(result)) - n_starts
    warnings = [f"the start from zero ended at w = 0: {more} random starts were added"] if more > 0 else []
    if not np.any(w):
        warnings.append(f"w = 0: no feature was selected, {hint}")
    return tuple(warnings)


def stated(saved: SavedFit) -> dict[str, float]:
    """Return the distance of the number of errors that a saved fit states, and the number of missing starts."""
    with reading("number of errors"):
        errors = float(saved.fit.details["plane_errors"]) - hyperplane_errors(saved.data, saved.w, saved.b)
    return {"errors": abs(errors), **starts_residual(saved.fit)}


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return (20) or (21) at a hyperplane; their polyhedron holds the errors and sizes of every hyperplane."""
    return problem_of(data, at).value(np.maximum(1.0 - data.y * (data.X @ w + b), 0.0), np.abs(w)), 0.0


def problem_of(data: Dataset, at: Mapping[str, Any]) -> ConcaveHinge:
    """Return (20) or (21) of the parameters of a fit."""
    return concave_hinge(data, at["alpha"], at.get("lam"), at.get("approx", "exp"))


def check(saved: SavedFit) -> Certificate:
    """Certify the minimum principle again, by the saved linear program or by the multipliers of column generation.

    Raises
    ------
    FileError : the saved step is damaged.
    """
    data, problem = saved.data, problem_of(saved.data, saved.params)
    if saved.fit.status is Status.OPTIMAL:
        return _check_zero(saved, problem)
    errors, sizes = problem.slopes(np.maximum(1.0 - data.y * (data.X @ saved.w + saved.b), 0.0), np.abs(saved.w))
    if "alpha" in saved.fit.details:
        found = certify_l1_hinge(data, errors, sizes, saved.w, saved.b, saved_alpha(saved))
        principle = {"minimum principle": found.residuals["gap"], "cost": found.residuals["cost"]}
        return make(Kind.SLA, principle, objective=saved.value, tolerance=found.tolerance)

    def costs(at: Completed) -> float:
        slopes = {"y": errors[data.y > 0], "z": errors[data.y < 0], "v": sizes}
        names = [name for name in slopes if at.model.component(name) is not None]
        stated = [at.program.c[columns_of(at.program, at.model, name)] for name in names]
        return (
            max(float(np.abs(c - slopes[k]).max()) for k, c in zip(names, stated, strict=True)) / problem.penalty.slope
        )

    return check_first_order(saved, Kind.SLA, costs)


def _check_zero(saved: SavedFit, problem: ConcaveHinge) -> Certificate:
    """Certify a global minimum: the value is 0, and every term of (20) and (21) is nonnegative."""
    bound = float("nan") if saved.fit.bound is None else float(saved.fit.bound)
    zero = {
        "bound": abs(bound),
        "weights": max(-float(problem.rows.min()), -problem.omega, 0.0),
        "gap": relative_gap(saved.value, 0.0),
    }
    return make(Kind.GLOBAL, zero, objective=saved.value, bound=0.0, bound_source=NONNEGATIVE)
