"""Method ``fsv`` (Mangasarian, (21)): few features, by successive linearisation (SLA).

``fsv`` and ``misclass`` minimise a concave function of the errors of a hyperplane and the sizes of its weights over a
polyhedron. The last linear program proves the minimum principle at the answer.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
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
from fsopt.drivers.penalties import Penalty, approximation, step_costs, words_of
from fsopt.drivers.run import Run, Steps
from fsopt.drivers.sla import NONNEGATIVE, ConcaveHinge, ConcaveTerms, sla, sla_by_column_generation
from fsopt.errors import reading
from fsopt.methods.claims import of_step
from fsopt.methods.large_programs import uses_generation
from fsopt.methods.preprocessing import Hyperplane, make_fit, preprocess, selection, without_rounding
from fsopt.methods.spec import MethodSpec, SavedFit, Value
from fsopt.methods.verdict import Completed, check_first_order, columns_of, evidence, saved_alpha, starts_residual
from fsopt.models.blocks import number
from fsopt.models.sla.fsv import build_fsv_step
from fsopt.models.sla.hyperplane import iterate_of_costs
from fsopt.typing import Vector


def concave_hinge(data: Dataset, alpha: float, lam: float | None = None, approx: str | Penalty = "exp") -> ConcaveHinge:
    """Return (21) as a function of errors and weights, or (20), which has no lambda."""
    if lam is None:
        return ConcaveHinge(np.ones(data.n), alpha, 0.0, counted=True)
    shares = np.where(data.y > 0, 1.0 / np.sum(data.y > 0), 1.0 / np.sum(data.y < 0))
    positive, negative = weights_of_classes(data.y, data.weights)
    shares = shares * np.where(data.y > 0, positive, negative)
    return ConcaveHinge((1 - lam) * shares, alpha, lam, counted=False, approx=approx)


def fit_of_answer(
    data: Dataset,
    map_: Preprocessing,
    result: DriverResult,
    step: Mapping[str, Any] | None,
    *,
    n_starts: int,
    started: float,
    hint: str,
) -> Fit:
    """Return the Fit of the hyperplane at which SLA ended, its rounded weights set to 0.

    Parameters
    ----------
    data, map_ : the preprocessed data and the map that was applied.
    result : of the driver.
    step : evidence of the last step; None after column generation, whose evidence are multipliers, if there are any.
    n_starts : number of runs that the user asked for.
    started : value of ``time.perf_counter`` when the method began.
    hint : advice of the warning about w = 0.
    """
    at = result.point
    w, b = without_rounding(at["w"], largest_values(data.X)), -at["gamma"] if step else at["b"]
    if step is None:
        step = {} if at["alpha"] is None else {"alpha": at["alpha"]}
    errors = hyperplane_errors(data, w, b)
    return make_fit(
        data,
        map_,
        Hyperplane(w, b, selection(w)),
        result,
        started=started,
        warnings=zero_warnings(w, result, n_starts, hint),
        details={**step, "plane_errors": errors, "starts": start_values(result)},
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


def fit_fsv(
    data: Dataset,
    run: Run,
    *,
    lam: float = 0.05,
    alpha: float = 5.0,
    approx: str | Penalty = "exp",
    n_starts: int = 1,
    seed: int = 0,
    scale: str = "standard",
) -> Steps[Fit]:
    r"""Fit a hyperplane in few features by concave minimisation (FSV).

    .. math:: \min\ (1-\lambda)\Bigl(\tfrac1m \sum_{y_i = 1} e_i + \tfrac1k \sum_{y_i = -1} e_i\Bigr)
        + \lambda \sum_j \varphi(|w_j|), \qquad e_i = \max(0, 1 - y_i(w'x_i + b))

    Of many samples or features each step is solved by restricted programs of some of them,
    :func:`fsopt.drivers.sla.sla_by_column_generation`.

    Parameters
    ----------
    lam : float, default 0.05
        In [0, 1], weight of feature suppression.
    alpha : float, default 5.0
        > 0, steepness of the approximation of the step function; the paper's 5.
    approx : str | Penalty, default 'exp'
        The approximation phi of the step function: ``exp`` (default, the paper's 1 - exp(-alpha t)); ``log``, ``lp``
        and ``inverse-power``, with which Rinaldi & Sciandrone minimise (21), too; ``capped-l1`` or ``scad``; or an
        object with ``slope``, ``value(w)`` and ``gradient(w)``, which ``alpha`` does not change. A fit to an object
        that equals no registered penalty cannot be saved.
    n_starts : int, default 1
        >= 1, runs of SLA, of which the best is returned: the first from zero, the others from v drawn from U(0, 1).
        Runs are added where the first one ends at w = 0, with a warning.
    seed : int, default 0
        >= 0, of the random starts.
    scale : str, default 'standard'
        Preprocessing of the features: ``standard`` (default), ``center`` or ``none``; the selection depends on it. The
        paper's is ``none``.

    Returns
    -------
    Fit
        ``objective`` is (21), in preprocessed units; ``optimal`` where it is 0, else ``stationary`` where the minimum
        principle was certified, without any statement on global optimality. ``details`` as for ``misclass``.

    Raises
    ------
    ParameterError : a number outside its range, or another word for ``approx``.

    Notes
    -----
    Mangasarian, (21), section 4 and Algorithm 4.1. Rinaldi & Sciandrone, *Feature selection combining linear support
    vector machines and concave optimization*, Optimization Methods and Software 25 (2010), with 1 / alpha for epsilon.
    """
    started = time.perf_counter()
    lam = number("fsv", "lam", lam)
    alpha = number("fsv", "alpha", alpha)
    penalty = approximation(approx, alpha)
    slope = penalty.slope
    work, map_ = preprocess(data, scale)
    if uses_generation(work, run):
        problem = concave_hinge(work, alpha, lam, approx)
        result = yield from sla_by_column_generation.steps(work, problem, n_starts=n_starts, seed=seed, run=run)
        step = None
    else:
        terms = ConcaveTerms((("v", "cost_v"),), alpha, weight=lam, approx=approx)
        model = build_fsv_step(work, lam=lam, alpha=slope)
        result = yield from sla.steps(model, terms, n_starts=n_starts, seed=seed, run=run)
        at = result.point
        # The step at v has the costs phi'(v): those of the exponential of the same slope at another iterate.
        costs = step_costs(penalty, np.maximum(at["v"], 0.0))
        params = {"lam": lam, "alpha": slope, "v": iterate_of_costs(slope, costs)}
        step = evidence("fsv-step", params, at["proof"])
    fitted = fit_of_answer(work, map_, result, step, n_starts=n_starts, started=started, hint="lower lam")
    return fitted if isinstance(approx, str) else replace(fitted, params=words_of(penalty))


SPEC = MethodSpec(
    "fsv",
    fit_fsv,
    ("fsv-step",),
    objective=objective,
    check=check,
    paper="sla",
    equation="(21)",
    estimator="FSV",
    driver="sla",
    sparse=True,
    weights="classes",
    stated=stated,
    exact=of_step,
    objects=("approx",),
    grid=(("lam", (0.01, 0.05, 0.2)),),
)
