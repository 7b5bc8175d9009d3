"""Methods ``mpm``, ``l1-mpm`` and ``l0-mpm`` (Yang & Ju): the largest worst-case accuracy, few features at one.

The first two are a convex program, the third is a loop over that of ``l1-mpm`` with other costs. Of many features these
are solved by a working set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.answers.fits import Fit
from fsopt.answers.results import DriverResult, SolveResult
from fsopt.common.arguments import with_keywords_of
from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.drivers.dca import dca, priced_dca
from fsopt.drivers.penalties import approximation
from fsopt.drivers.run import Run, Steps
from fsopt.drivers.working_set import priced
from fsopt.methods.claims import of_step
from fsopt.methods.mpm.space import (
    NARROW,
    THRESHOLD,
    FeatureSpace,
    accuracies,
    accuracy_limit,
    asked_delta,
    moments_of,
    price,
    sides,
    worst_case,
)
from fsopt.methods.spec import MethodSpec, SavedFit, Value
from fsopt.methods.verdict import check_first_order, check_program, extend, finite_vector, has_point, saved_columns
from fsopt.models.blocks import vector
from fsopt.models.mpm.l0_mpm import build_l0_mpm_step
from fsopt.models.mpm.l1_mpm import build_l1_mpm
from fsopt.models.mpm.moments import kappa
from fsopt.models.mpm.mpm import build_mpm
from fsopt.typing import Vector


@with_keywords_of(FeatureSpace.of)
def fit_mpm(
    data: Dataset,
    run: Run,
    **options: Any,
) -> Fit:
    r"""Fit the hyperplane with the largest worst-case accuracy alpha* on both classes (MPM).

    .. math:: \kappa^* = 1/\min\{\|F_1w\| + \|F_2w\| : w'(\mu_1 - \mu_2) = 1\}, \qquad
        b = w'\mu_1 - \kappa^*\|F_1w\|, \qquad \alpha^* = \kappa^{*2}/(1 + \kappa^{*2})

    kappa* is computed twice, by :func:`fsopt.methods.mpm.space.accuracy_limit` and by the cone program, and a fit is
    verified only where the two agree. The weights are not sparse.

    Returns
    -------
    Fit
        ``objective`` is 1/kappa*, 0 where kappa* is infinite: the hyperplane is then halfway between the means.
        ``details`` has ``kappa_limit``, ``alpha_limit`` and ``worst_case``, the accuracy on class +1 and -1.

    Raises
    ------
    ParameterError : ridge < 0, a kernel that is unknown or has a parameter outside its range, or kernel values that
        are too alike.

    Notes
    -----
    Yang & Ju, section 2.1, (3)-(5).
    """
    space = FeatureSpace.of(data, **options)
    moments = space.moments
    model = build_mpm(space.work, ridge=space.ridge)
    _, result = run.solve(model, "MPM")
    w = values_of(model.w)
    spread = float(np.linalg.norm(moments.factor1 @ w))
    total = spread + float(np.linalg.norm(moments.factor2 @ w))
    share = 0.5 if np.isinf(space.limit.kappa) else np.clip(spread / total, NARROW, 1.0 - NARROW)
    b = -float(moments.mean1 @ w - share * (moments.mean1 - moments.mean2) @ w)
    return space.fit(w, b, replace(result, objective=total), details={"point": result.supported})


def check(saved: SavedFit) -> Certificate:
    """Certify the cone program of a saved fit again; the smaller one of its worst-case accuracies is the largest."""
    moments = moments_of(saved.data, saved.params)
    short = accuracy_limit(moments).alpha - min(worst_case(saved.w, saved.b, moments))
    return extend(check_program(saved), {"accuracy": max(short, 0.0)})


@with_keywords_of(FeatureSpace.of)
def fit_l1_mpm(
    data: Dataset,
    run: Run,
    *,
    delta: float | None = None,
    **options: Any,
) -> Steps[Fit]:
    r"""Fit the hyperplane of smallest 1-norm with worst-case accuracy delta on both classes (L1-MPM).

    .. math:: \min\ \|w\|_1 \quad\text{s.t.}\quad w'\mu_1 + b \ge \max(1, \kappa(\delta)\|F_1w\|), \quad
        -(w'\mu_2 + b) \ge \max(1, \kappa(\delta)\|F_2w\|), \qquad \kappa(\delta)^2 = \delta/(1 - \delta)

    From 3,000 features on, a working set of features solves it (:mod:`fsopt.drivers.working_set`), with the same
    objective value and a bound for all features: no model of all of them is built.

    Parameters
    ----------
    delta : float, optional
        In (0, alpha*]; None asks for 0.9 alpha* of the data.

    Returns
    -------
    Fit
        ``objective`` is the 1-norm of w in preprocessed units; ``params`` has ``delta``, and
        ``details`` ``kappa_limit``, ``alpha_limit`` and ``worst_case``, the accuracy on class +1 and -1.

    Raises
    ------
    InfeasibleError : delta > alpha*, known before any solver is called.
    ParameterError : a number outside its range.

    Notes
    -----
    Yang & Ju, (12)-(15).
    """
    space = FeatureSpace.of(data, **options)
    asked = asked_delta("l1-mpm", delta, space.limit)
    params = {"delta": asked, "ridge": space.ridge}
    result: SolveResult | DriverResult
    if space.priced(run):
        result = yield from priced.steps(*space.models(build_l1_mpm, params), run=run)
        at = result.point
        w, b = at["w"], -at["b"]
        details = {"point": at["proof"], "columns": at["columns"]}
    else:
        model = build_l1_mpm(space.work, **params)
        _, result = run.solve(model, "L1-MPM")
        w, b = values_of(model.w), -model.b.value
        details = {"point": result.supported}
    result = replace(result, objective=float(np.abs(w).sum()))
    return space.fit(w, b, result, params={"delta": asked}, details=details)


@with_keywords_of(FeatureSpace.of)
def fit_l0_mpm(
    data: Dataset,
    run: Run,
    *,
    delta: float | None = None,
    approx: str = "exp",
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
    approx : str, default 'exp'
        The approximation phi of the number of features: ``exp`` (default, the paper's), ``log``, ``capped-l1``,
        ``scad``, ``lp`` or ``inverse-power``, whose formulas are in :mod:`fsopt.drivers.penalties`, or one of your own
        by its name, see :func:`fsopt.extend.register_penalty`.
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
        statement on global optimality. ``params`` has ``delta``, and ``details`` ``kappa_limit``, ``alpha_limit``,
        ``worst_case`` (the accuracy on class +1 and -1), and ``starts``, the best objective value of each run.

    Raises
    ------
    InfeasibleError : delta > alpha*, known before any solver is called.
    ParameterError : another word for ``approx``, or a number outside its range.

    Notes
    -----
    Yang & Ju, (32)-(46) and Algorithm 1.
    """
    penalty = approximation(approx, alpha)
    space = FeatureSpace.of(data, **options)
    asked = asked_delta("l0-mpm", delta, space.limit)
    params: dict[str, Any] = {"delta": asked, "alpha": penalty.slope, "ridge": space.ridge}
    first = None if start is None else vector("l0-mpm", "start", start, space.work.p)
    accuracy = 1e-6 if tolerance is None else tolerance
    settings: dict[str, Any] = {"n_starts": n_starts, "seed": seed, "start": first, "tolerance": accuracy, "run": run}

    if space.priced(run):
        result = yield from priced_dca.steps(*space.models(build_l0_mpm_step, params), penalty, **settings)
    else:
        result = yield from dca.steps(build_l0_mpm_step(space.work, **params), penalty, **settings)
    at = result.point
    details = {"point": at["proof"], "columns": at.get("columns"), "v": at["gradient"], "starts": at["starts"]}
    return space.fit(at["w"], -at["b"], result, params={"delta": asked}, details=details)


def l0_objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return the approximated number of nonzeros, and the violation of the constraints on the accuracies."""
    violation, number_of_deviations = 0.0, kappa(at["delta"])
    for distance, deviation in sides(w, b, moments_of(data, at)):
        needed = max(1.0, number_of_deviations * deviation)
        violation = max(violation, (needed - distance) / needed)
    return approximation(at["approx"], at["alpha"]).value(w), violation


def check_l0(saved: SavedFit) -> Certificate:
    """Certify the first-order condition of DCA again: the last step, linearised at the answer, does not improve it."""
    if not has_point(saved):
        return make(Kind.FEASIBLE, {})
    penalty = approximation(saved.params["approx"], saved.params["alpha"])
    w = saved.w[saved_columns(saved)]
    v, rounding = finite_vector(saved.fit.details["v"], len(w)), 1e-9 * (1 + np.abs(w))
    # h is convex: its subgradients at w lie between the gradients on either side.
    off = np.maximum(v - penalty.gradient(w + rounding), penalty.gradient(w - rounding) - v).max()
    found = check_first_order(saved, Kind.DCA, {"alpha": penalty.slope})
    return extend(found, {"linearisation": float(off) / penalty.slope})


SPECS = (
    MethodSpec(
        "mpm",
        fit_mpm,
        ("mpm",),
        check=check,
        numbers=accuracies,
        equation="(3)-(5)",
        estimator="MPM",
        threshold=THRESHOLD,  # nothing is sparse: that of the other minimax probability machines
    ),
    MethodSpec(
        "l1-mpm",
        fit_l1_mpm,
        ("l1-mpm",),
        price=price,
        numbers=accuracies,
        equation="(12)-(15)",
        estimator="L1MPM",
        threshold=THRESHOLD,
    ),
    MethodSpec(
        "l0-mpm",
        fit_l0_mpm,
        ("l0-mpm-step",),
        objective=l0_objective,
        check=check_l0,
        price=price,
        equation="(32)-(46)",
        estimator="L0MPM",
        driver="dca",
        numbers=accuracies,
        exact=of_step,
        threshold=THRESHOLD,
        grid=(("alpha", (1.0, 5.0)),),
    ),
)
