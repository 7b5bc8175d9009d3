"""Method ``l0-mpm`` (Yang & Ju): few features with a worst-case accuracy, by DCA."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.drivers.dca import dca
from fsopt.drivers.penalties.penalty import Penalty
from fsopt.drivers.penalties.registry import approximation, words_of
from fsopt.drivers.run import Run
from fsopt.errors import reading
from fsopt.methods.assembly import make_fit
from fsopt.methods.exact.concave import of_l0_mpm
from fsopt.methods.mpm.feature_space import FeatureSpace, asked_delta, with_worst_case
from fsopt.methods.mpm.worst_case import accuracy_violation, worst_case
from fsopt.methods.preprocessing import Hyperplane
from fsopt.methods.spec import MethodSpec, SavedFit, Value
from fsopt.methods.verification import check_first_order, evidence, finite_vector, has_program, starts_residual
from fsopt.models.blocks import number, vector
from fsopt.models.mpm.l0_mpm_step import build_l0_mpm_step
from fsopt.typing import Vector


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
    scale: str = "standard",
    unbiased: bool = False,
    ridge: float | None = None,
    kernel: str | None = None,
    width: float | None = None,
    degree: int = 2,
) -> Fit:
    r"""Fit the sparse hyperplane with worst-case accuracy delta by DCA (L0-MPM).

    .. math:: \min\ \sum_j \varphi(|w_j|) \quad\text{s.t. the worst-case accuracy is at least } \delta
        \text{ on both classes, and } w'\mu_1 - b \ge 1,\ b - w'\mu_2 \ge 1

    Parameters
    ----------
    delta : float, optional
        In (0, alpha*]; None asks for 0.9 alpha* of the data.
    approx : str | Penalty, default 'exp'
        The approximation phi of the number of features: ``exp`` (default, the paper's), ``log``, ``capped-l1``,
        ``scad`` or ``lp``, whose formulas are in :mod:`fsopt.drivers.penalties.registry`; or an object with ``slope``,
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
        In [1e-9, 1e-3], epsilon of the stopping criterion; None is 1e-6. The answer is ``stationary`` only where the
        residual of the certificate is at most 1e-5.
    scale : str, default 'standard'
        Preprocessing of the features: ``standard`` (default), ``center`` or ``none``; the selection depends on it,
        alpha* does not.
    unbiased : bool, default False
        Whether the covariance of a class of m samples is divided by m - 1 instead of m.
    ridge : float, optional
        >= 0, added to the diagonals of both covariances of the preprocessed features, or of the kernel values; None is
        0 for features and 1e-2 of the mean variance within a class for kernel values, which need one.
    kernel : str, optional
        ``gaussian``, ``polynomial`` or ``linear``: a classifier on the kernel values of the preprocessed samples, which
        selects training samples (Yang & Ju, (54)-(58)); None for a hyperplane in the space of the features.
    width : float, optional
        > 0, of the Gaussian kernel, in the units of the preprocessed features; None takes sqrt(p v / 2), with v the
        variance of all entries of the preprocessed samples.
    degree : int, default 2
        >= 1, whole, of the polynomial kernel.

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
    space = FeatureSpace.of(data, scale, unbiased=unbiased, ridge=ridge, kernel=kernel, width=width, degree=degree)
    warnings = [*space.warnings]
    asked = asked_delta("l0-mpm", delta, space.limit, warnings)
    params: dict[str, Any] = {"delta": asked, "alpha": penalty.slope, **space.moment_options}
    first = None if start is None else vector("l0-mpm", "start", start, space.work.p)
    accuracy = number("l0-mpm", "tolerance", 1e-6 if tolerance is None else tolerance)
    model = build_l0_mpm_step(space.work, **params)
    result = dca(model, penalty, n_starts=n_starts, seed=seed, start=first, tolerance=accuracy, run=run)
    at = result.point
    w, b = at["w"], -at["b"]
    fitted = make_fit(
        space.work,
        space.map_,
        Hyperplane(w, b, SPEC.select(w)),
        result,
        started=started,
        warnings=tuple(warnings),
        details=evidence(
            "l0-mpm-step",
            {**params, "v": at["gradient"]},
            at["proof"],
            **space.details(asked),
            starts=_best_values(result.history),
            worst_case=worst_case(w, b, space.moments),
        ),
        kernel=space.kernel,
    )
    return fitted if isinstance(approx, str) else replace(fitted, params=words_of(penalty))


def _best_values(history: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return the smallest objective value of each run."""
    values: dict[int, float] = {}
    for record in history:
        values[record["start"]] = min(record["objective"], values.get(record["start"], record["objective"]))
    return list(values.values())


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return the approximated number of nonzeros, and the violation of the constraints on the accuracies."""
    return approximation(at["approx"], at["alpha"]).value(w), accuracy_violation(data, w, b, at)


def check(saved: SavedFit) -> Certificate:
    """Certify the first-order condition of DCA again: the last step, linearised at the answer, does not improve it.

    Raises
    ------
    FileError : the saved step is damaged.
    """
    saved = with_worst_case(saved)
    saved = replace(saved, residuals={**saved.residuals, **starts_residual(saved.fit)})
    if not has_program(saved):
        return make(Kind.FEASIBLE, saved.residuals, objective=saved.value)
    with reading("step"):
        at = saved.fit.details["program_params"]
        v = finite_vector(at["v"], len(saved.w))
        here = float(at["alpha"] * np.abs(saved.w).sum() - v @ saved.w)
        wrong = {"linearisation": _wrong_step(saved, v)}
    return check_first_order(saved, Kind.DCA, here, wrong)


def _wrong_step(saved: SavedFit, v: Vector) -> float:
    """Return the distance of the saved step of DCA from that of the fit's own parameters and penalty at w."""
    own, at = saved.params, saved.fit.details["program_params"]
    w, penalty = saved.w, approximation(own["approx"], own["alpha"])
    rounding = 1e-9 * (1 + np.abs(w))
    # h is convex: its subgradients at w lie between the gradients on either side.
    excess = np.maximum(v - penalty.gradient(w + rounding), penalty.gradient(w - rounding) - v)
    wrong = max(float(excess.max()), abs(at["alpha"] - penalty.slope)) / penalty.slope
    return float(max(wrong, *(abs(at[k] - own[k]) for k in ("delta", "ridge", "unbiased"))))


SPEC = MethodSpec(
    "l0-mpm",
    fit_l0_mpm,
    objective,
    check,
    ("l0-mpm-step",),
    paper="mpm",
    equation="(32)-(46)",
    estimator="L0MPM",
    driver="dca",
    exact=of_l0_mpm,
    objects=("approx",),
    # The 1-norm in a cone program leaves about 1e-7 of the largest weight in place of zeros, more near alpha*.
    threshold=1e-4,
    grid=(("alpha", (1.0, 5.0)),),
)
