"""Method ``l0-mpm`` (Yang & Ju): few features with a worst-case accuracy, by DCA."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.answers.fits import Fit
from fsopt.common.arguments import with_keywords_of
from fsopt.data import Dataset
from fsopt.drivers.dca import dca
from fsopt.drivers.penalties import Penalty, approximation, words_of
from fsopt.drivers.run import Run, Steps
from fsopt.drivers.worst_case import WorstCase, certify_worst_case, worst_case_dca
from fsopt.errors import reading
from fsopt.methods.claims import of_step
from fsopt.methods.mpm.space import (
    THRESHOLD,
    FeatureSpace,
    asked_delta,
    has_multipliers,
    moments_of,
    multiplier_details,
    saved_multipliers,
    stated_accuracies,
)
from fsopt.methods.preprocessing import Hyperplane
from fsopt.methods.spec import MethodSpec, SavedFit, Value
from fsopt.methods.verdict import (
    LOCAL_TOLERANCE,
    Completed,
    check_first_order,
    columns_of,
    evidence,
    finite_vector,
    starts_residual,
)
from fsopt.models.blocks import number, vector
from fsopt.models.mpm.l0_mpm import build_l0_mpm_step
from fsopt.typing import Vector


@with_keywords_of(FeatureSpace.of)
def fit_l0_mpm(
    data: Dataset,
    run: Run,
    *,
    delta: float | None = None,
    approx: str | Penalty = "exp",
    alpha: float = 5.0,
    n_starts: int = 1,
    seed: int = 0,
    start: Sequence[float] | None = None,
    tolerance: float | None = None,
    **options: Any,
) -> Steps[Fit]:
    r"""Fit the sparse hyperplane with worst-case accuracy delta by DCA (L0-MPM).

    .. math:: \min\ \sum_j \varphi(|w_j|) \quad\text{s.t. the worst-case accuracy is at least } \delta
        \text{ on both classes, and } w'\mu_1 - b \ge 1,\ b - w'\mu_2 \ge 1

    From 3,000 features on the steps are solved by working sets of features (:mod:`fsopt.drivers.working_set`): no model
    of all features is built, and the answer is critical for all of them.

    Parameters
    ----------
    delta : float, optional
        In (0, alpha*]; None asks for 0.9 alpha* of the data.
    approx : str | Penalty, default 'exp'
        The approximation phi of the number of features: ``exp`` (default, the paper's), ``log``, ``capped-l1``,
        ``scad`` or ``lp``, whose formulas are in :mod:`fsopt.drivers.penalties`; or an object with ``slope``,
        ``value(w)`` and ``gradient(w)``, which ``alpha`` does not change. A fit to an object that equals no registered
        penalty cannot be saved.
    alpha : float, default 5.0
        > 0, steepness of the approximation.
    n_starts : int, default 1
        >= 1, runs of DCA, of which the best is returned: the first from v = 0, whose first iterate is the L1-MPM
        hyperplane, the others from random v.
    seed : int, default 0
        >= 0, of the random starts.
    start : Sequence[float], optional
        (p,) weights x^0 of preprocessed features, where the first run starts; None starts it at v = 0.
    tolerance : float, optional
        In [1e-9, 1), epsilon of the stopping criterion; None is 1e-6. The answer is ``stationary`` only where the
        residual of the certificate is at most 1e-5.

    Returns
    -------
    Fit
        ``objective`` is (32), in preprocessed units; ``stationary`` where DCA's certificate holds, without any
        statement on global optimality. ``details`` has ``delta``, ``kappa_limit``, ``alpha_limit``, ``worst_case``
        (the accuracy on class +1 and -1), and ``starts``, the best objective value of each run.

    Raises
    ------
    InfeasibleError : delta > alpha*, known before any solver is called.
    ParameterError : another word for ``approx``, or a number outside its range.

    Notes
    -----
    Yang & Ju, (32)-(46) and Algorithm 1.
    """
    started = time.perf_counter()
    penalty = approximation(approx, number("l0-mpm", "alpha", alpha))
    space = FeatureSpace.of(data, **options)
    asked = asked_delta("l0-mpm", delta, space.limit)
    params: dict[str, Any] = {"delta": asked, "alpha": penalty.slope, **space.moment_options}
    first = None if start is None else vector("l0-mpm", "start", start, space.work.p)
    accuracy = number("l0-mpm", "tolerance", 1e-6 if tolerance is None else tolerance)
    settings: dict[str, Any] = {"n_starts": n_starts, "seed": seed, "start": first, "tolerance": accuracy, "run": run}

    if space.priced(run):
        problem = WorstCase.of(space.work, space.moments, **params)
        result = yield from worst_case_dca.steps(problem, penalty, **settings)
        at = result.point
        w, b = at["w"], at["b"]
        proof = {"v": at["gradient"], **multiplier_details(at["multipliers"])} if "multipliers" in at else {}
    else:
        result = yield from dca.steps(build_l0_mpm_step(space.work, **params), penalty, **settings)
        at = result.point
        w, b = at["w"], -at["b"]
        proof = evidence("l0-mpm-step", {**params, "v": at["gradient"]}, at["proof"])
    details = {**proof, "delta": asked, "starts": _best_values(result.history)}
    fitted = space.fit(Hyperplane(w, b, SPEC.select(w)), result, started=started, details=details)
    return fitted if isinstance(approx, str) else replace(fitted, params=words_of(penalty))


def _best_values(history: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return the smallest objective value of each run."""
    values: dict[int, float] = {}
    for record in history:
        values[record["start"]] = min(record["objective"], values.get(record["start"], record["objective"]))
    return list(values.values())


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return the approximated number of nonzeros, and the violation of the constraints on the accuracies."""
    problem = WorstCase.of(data, moments_of(data, at), at["delta"])
    return approximation(at["approx"], at["alpha"]).value(w), problem.violation(w, b)


def check(saved: SavedFit) -> Certificate:
    """Certify the first-order condition of DCA again: the last step, linearised at the answer, does not improve it.

    Raises
    ------
    FileError : the saved step is damaged.
    """
    if has_multipliers(saved):
        return _check_multipliers(saved)
    slope = approximation(saved.params["approx"], saved.params["alpha"]).slope

    def costs(at: Completed) -> float:
        plus, minus = (at.program.c[columns_of(at.program, at.model, name)] for name in ("w_plus", "w_minus"))
        wrong = float(np.abs(0.5 * (plus + minus) - slope).max()) / slope
        return max(wrong, _gradient_residual(saved, 0.5 * (minus - plus)))

    return check_first_order(saved, Kind.DCA, costs)


def stated(saved: SavedFit) -> dict[str, float]:
    """Return the distances of the accuracies that a saved fit states, and the number of starts that are missing."""
    return {**stated_accuracies(saved), **starts_residual(saved.fit)}


def _check_multipliers(saved: SavedFit) -> Certificate:
    """Certify the first-order condition by the multipliers of a working set, which price all features."""
    own, w = saved.params, saved.w
    slope = approximation(own["approx"], own["alpha"]).slope
    with reading("step"):
        v = finite_vector(saved.fit.details["v"], len(w))
    problem = WorstCase(saved.data, moments_of(saved.data, own), own["delta"], 0.0, slope, v)
    found = certify_worst_case(problem, w, saved.b, saved_multipliers(saved))
    residuals = {**found.residuals, "linearisation": _gradient_residual(saved, v)}
    return make(Kind.DCA, residuals, objective=saved.value, tolerance=LOCAL_TOLERANCE)


def _gradient_residual(saved: SavedFit, v: Vector) -> float:
    """Return the distance of v from the subdifferential of the concave part of the fit's penalty at w."""
    own, w = saved.params, saved.w
    penalty = approximation(own["approx"], own["alpha"])
    rounding = 1e-9 * (1 + np.abs(w))
    # h is convex: its subgradients at w lie between the gradients on either side.
    excess = np.maximum(v - penalty.gradient(w + rounding), penalty.gradient(w - rounding) - v)
    return max(float(excess.max()), 0.0) / penalty.slope


SPEC = MethodSpec(
    "l0-mpm",
    fit_l0_mpm,
    ("l0-mpm-step",),
    objective=objective,
    check=check,
    paper="mpm",
    equation="(32)-(46)",
    estimator="L0MPM",
    driver="dca",
    stated=stated,
    exact=of_step,
    objects=("approx",),
    threshold=THRESHOLD,
    grid=(("alpha", (1.0, 5.0)),),
)
