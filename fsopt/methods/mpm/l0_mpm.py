"""Method ``l0-mpm`` (Yang & Ju): few features with a worst-case accuracy, by DCA."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, Kind
from fsopt.answers.fits import Fit
from fsopt.common.arguments import with_keywords_of
from fsopt.data import Dataset
from fsopt.drivers.dca import dca, priced_dca
from fsopt.drivers.penalties import Penalty, approximation, words_of
from fsopt.drivers.run import Run, Steps
from fsopt.methods.claims import of_step
from fsopt.methods.mpm.space import THRESHOLD, FeatureSpace, asked_delta, moments_of, price, stated_accuracies
from fsopt.methods.preprocessing import Hyperplane
from fsopt.methods.spec import MethodSpec, SavedFit, Value
from fsopt.methods.verdict import Completed, check_first_order, columns_of, evidence, starts_residual
from fsopt.models.blocks import number, vector
from fsopt.models.mpm.l0_mpm import build_l0_mpm_step
from fsopt.models.mpm.moments import kappa
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
        result = yield from priced_dca.steps(*space.models(build_l0_mpm_step, params), penalty, **settings)
    else:
        result = yield from dca.steps(build_l0_mpm_step(space.work, **params), penalty, **settings)
    at = result.point
    w, b = at["w"], -at["b"]
    proof = evidence("l0-mpm-step", {**params, "v": at["gradient"]}, at["proof"], at.get("columns"))
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
    moments, violation = moments_of(data, at), 0.0
    for mean, factor, sign in ((moments.mean1, moments.factor1, 1.0), (moments.mean2, moments.factor2, -1.0)):
        needed = max(1.0, kappa(at["delta"]) * float(np.linalg.norm(factor @ w)))
        violation = max(violation, (needed - sign * float(mean @ w + b)) / needed)
    return approximation(at["approx"], at["alpha"]).value(w), violation


def check(saved: SavedFit) -> Certificate:
    """Certify the first-order condition of DCA again: the last step, linearised at the answer, does not improve it.

    Raises
    ------
    FileError : the saved step is damaged.
    """
    penalty = approximation(saved.params["approx"], saved.params["alpha"])

    def costs(at: Completed) -> float:
        plus, minus = (at.program.c[columns_of(at.program, at.model, name)] for name in ("w_plus", "w_minus"))
        w, v = at.x[columns_of(at.program, at.model, "w")], 0.5 * (minus - plus)
        # h is convex: its subgradients at w lie between the gradients on either side.
        rounding = 1e-9 * (1 + np.abs(w))
        off = np.maximum(v - penalty.gradient(w + rounding), penalty.gradient(w - rounding) - v)
        return float(np.maximum(np.abs(0.5 * (plus + minus) - penalty.slope), off).max()) / penalty.slope

    return check_first_order(saved, Kind.DCA, costs)


def stated(saved: SavedFit) -> dict[str, float]:
    """Return the distances of the accuracies that a saved fit states, and the number of starts that are missing."""
    return {**stated_accuracies(saved), **starts_residual(saved.fit)}


SPEC = MethodSpec(
    "l0-mpm",
    fit_l0_mpm,
    ("l0-mpm-step",),
    objective=objective,
    check=check,
    price=price,
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
