"""Method ``mpm`` (Yang & Ju): the hyperplane of largest worst-case accuracy."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make, merged
from fsopt.answers.fits import Fit
from fsopt.answers.results import DriverResult, SolveResult, Status
from fsopt.certificates.points import relative_gap
from fsopt.common.arguments import with_keywords_of
from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.drivers.run import Run
from fsopt.methods.mpm.space import (
    NARROW,
    RANK,
    THRESHOLD,
    FeatureSpace,
    accuracy_limit,
    moments_of,
    stated_accuracies,
    worst_case,
)
from fsopt.methods.preprocessing import Hyperplane
from fsopt.methods.spec import MethodSpec, SavedFit
from fsopt.methods.verdict import check_program, evidence, extend, has_program
from fsopt.models.mpm.moments import Moments
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

    kappa* is computed twice, by :func:`fsopt.methods.mpm.space.accuracy_limit` and by the cone program, and the
    certificate holds only where the two agree. The weights are not sparse. From 3,000 features on an infinite kappa*
    needs no program: w is the part of :math:`\mu_1 - \mu_2` outside the range of both covariances, scaled, unless a
    solver is named; the optimum 0 is proved by the norms being nonnegative.

    Returns
    -------
    Fit
        ``objective`` is 1/kappa*, 0 where kappa* is infinite: the hyperplane is then halfway between the means.
        ``details`` has ``kappa_limit``, ``alpha_limit`` and ``worst_case``, the accuracy on class +1 and -1.

    Raises
    ------
    ParameterError : ridge < 0, a kernel that is unknown, has a parameter outside
        its range or a ridge of 0, or kernel values that are too alike.

    Notes
    -----
    Yang & Ju, section 2.1, (3)-(5).
    """
    started = time.perf_counter()
    space = FeatureSpace.of(data, **options)
    moments = space.moments
    result: SolveResult | DriverResult
    if np.isinf(space.limit.kappa) and run.solver is None and space.priced(run):
        w, result = _separated(moments)
        program: dict[str, Any] = {}
    else:
        model = build_mpm(space.work, **space.moment_options)
        _, result = run.solve(model, "MPM")
        w, program = values_of(model.w), evidence("mpm", space.moment_options, result.supported)
    spreads = np.array([np.linalg.norm(factor @ w) for factor in (moments.factor1, moments.factor2)])
    total = float(spreads.sum())
    share = 0.5 if np.isinf(space.limit.kappa) else np.clip(spreads[0] / total, NARROW, 1.0 - NARROW)
    b = -float(moments.mean1 @ w - share * (moments.mean1 - moments.mean2) @ w)
    if program and result.certificate is not None:
        difference = abs(total - 1.0 / space.limit.kappa) / max(1.0, total)
        result = replace(result, certificate=extend(result.certificate, {"kappa limit": difference}))
    result = replace(result, objective=total)
    return space.fit(Hyperplane(w, b, SPEC.select(w)), result, started=started, details=program)


def _separated(moments: Moments) -> tuple[Vector, DriverResult]:
    """Return the weights (p,) of smallest norm with w'(mu_1 - mu_2) = 1 and no variance, and the optimum 0."""
    started = time.perf_counter()
    d, factors = moments.mean1 - moments.mean2, np.vstack([moments.factor1, moments.factor2])
    outside = d - factors.T @ np.linalg.lstsq(factors.T, d, rcond=RANK)[0]
    w = outside / float(outside @ d)
    value = float(np.linalg.norm(moments.factor1 @ w) + np.linalg.norm(moments.factor2 @ w))
    certificate = _of_norms(value, {"primal": abs(float(w @ d) - 1.0)})
    status = Status.OPTIMAL if certificate.ok else Status.FEASIBLE
    seconds = {"total": time.perf_counter() - started}
    return w, DriverResult(status, "optimal", value, 0.0, 0, {"w": w}, (), certificate, "fsopt", seconds)


def _of_norms(value: float, residuals: Mapping[str, float]) -> Certificate:
    """Return the certificate of a value of the program by the bound 0: norms are not negative."""
    found = merged(residuals, {"gap": relative_gap(value, 0.0)})
    return make(Kind.CONVEX, found, objective=value, bound=0.0, bound_source="norms")


def check(saved: SavedFit) -> Certificate:
    """Certify the cone program of a saved fit again, or the optimum 0, which needs no model of many features."""
    if has_program(saved):
        return check_program(saved)
    moments = moments_of(saved.data, saved.params)
    value = float(np.linalg.norm(moments.factor1 @ saved.w) + np.linalg.norm(moments.factor2 @ saved.w))
    primal = {"primal": abs(float((moments.mean1 - moments.mean2) @ saved.w) - 1.0)}
    return _of_norms(value, primal) if saved.fit.bound == 0.0 else make(Kind.FEASIBLE, primal, objective=value)


def stated(saved: SavedFit) -> dict[str, float]:
    """Return the distances of the accuracies that a saved fit states, of which the smaller one is the largest."""
    moments = moments_of(saved.data, saved.params)
    short = accuracy_limit(moments).alpha - min(worst_case(saved.w, saved.b, moments))
    return {**stated_accuracies(saved), "accuracy": max(short, 0.0)}


SPEC = MethodSpec(
    "mpm",
    fit_mpm,
    ("mpm",),
    check=check,
    stated=stated,
    paper="mpm",
    equation="(3)-(5)",
    estimator="MPM",
    threshold=THRESHOLD,  # nothing is sparse: that of the other minimax probability machines
)
