"""Method ``gmeb``: paper 1 by its dual, with the primal as a check and the hard margin for separable data."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from fsopt.data import Dataset
from fsopt.drivers.recorder import usable
from fsopt.errors import ParameterError
from fsopt.methods.common import Plane, Run, extend, flat, make_fit, preprocess, proof, select
from fsopt.models.gmeb import (
    build_gmeb_dual,
    build_gmeb_hard_margin,
    build_gmeb_primal,
    radius,
    second_moments,
)
from fsopt.planes import hinge, midpoint_intercept
from fsopt.results import Fit, SolveResult, Status
from fsopt.solvers.base import solve

Vector = NDArray[np.float64]
THRESHOLD = 1e-5
"""Relative size of a standardised weight that counts as selected: far above the noise of the solver."""
SEPARABLE = 1e-6
"""An optimum below this (relative to the number of rows) counts as 0."""


def fit_gmeb(data: Dataset, run: Run, *, r_plus: float = 3.0, r_minus: float = 3.0, scale: str = "center") -> Fit:
    r"""Fit the classifier of least generalization error bound (GMEB).

    Columns are centred by the training mean (the bound needs moments about 0 of centred columns). Their units
    are irrelevant: the problem is invariant to them, and is solved with columns of unit root mean square. The dual
    (16) is solved, (w, b) are its multipliers (Theorem 19), and the answer is checked: hinge(w, b) equals the
    dual optimum and N(w) <= 1, where

    .. math:: N(w) = \max_{\theta \in [0,1]} \sum_j |w_j| \sqrt{\theta v_j^+/R_+ + (1-\theta) v_j^-/R_-}

    is the norm whose unit ball (15) searches. Should the multipliers fail the check, (15) itself is solved.
    Data separable within N(w) <= 1 have optimum 0 and many optimal planes: the one of least N is returned
    and the Fit says so.

    Parameters
    ----------
    r_plus, r_minus : R+ and R- > 0; infinity drops the constraint, not both.
    scale : ``center`` (default), ``standard`` or ``none``.

    Returns
    -------
    Fit
        ``objective`` is that of (15), the hinge loss; ``details`` has ``sigma`` and ``norm`` = N(w).
    """
    started = time.perf_counter()
    r_plus, r_minus = radius("gmeb", "r_plus", r_plus), radius("gmeb", "r_minus", r_minus)
    if np.isinf(r_plus) and np.isinf(r_minus):
        raise ParameterError("both r_plus and r_minus are infinite, nothing limits w", "give a finite one")
    centred, map_ = preprocess(data, scale)
    alive = np.flatnonzero(~flat(data.X))
    warnings: list[str] = []
    if len(alive) < data.p:
        names = ", ".join(data.features[j] for j in np.setdiff1d(np.arange(data.p), alive)[:5])
        warnings.append(f"{data.p - len(alive)} constant columns were dropped ({names})")
    units = np.sqrt((centred.X[:, alive] ** 2).mean(axis=0))
    work = centred.columns(alive).with_X(centred.X[:, alive] / units)
    radii = {"r_plus": r_plus, "r_minus": r_minus}
    w, program, result = _solve(work, run, radii, warnings)
    norm, sigma = gmeb_norm(w, *second_moments(work), r_plus, r_minus)
    w = w / max(1.0, norm)
    b = midpoint_intercept(work.X @ w, work.y)
    objective = hinge(work.X @ w + b, work.y)
    lower = _lower_bound(program, result)
    checks = {"hinge": abs(objective - lower) / max(1.0, objective), "norm": max(0.0, norm - 1.0)}
    assert result.certificate is not None
    certificate = extend(result.certificate, checks)
    full = np.zeros(data.p)
    full[alive] = w / units
    return make_fit(
        data, map_, Plane(full, b, select(full * centred.X.std(axis=0), THRESHOLD)),
        objective=objective, outcome=result, started=started, bound=lower, certificate=certificate,
        status=Status.OPTIMAL if certificate.ok else Status.FEASIBLE, warnings=tuple(warnings),
        details=proof(
            program, radii, result.point, sigma=sigma / units**2, norm=min(norm, 1.0), columns=alive, units=units
        ),
    )  # fmt: skip


def _solve(data: Dataset, run: Run, radii: dict[str, float], warnings: list[str]) -> tuple[Vector, str, SolveResult]:
    """Return w, the program that proves it, and its result: the dual, or what stands in where it is silent."""
    model = build_gmeb_dual(data, **radii)
    dual = usable(solve(model, run.solver, time_limit=run.time_limit, options=run.options), "the dual (16)")
    assert dual.objective is not None
    if dual.objective <= SEPARABLE * data.n:
        hard = build_gmeb_hard_margin(data, **radii)
        margin = solve(hard, run.solver, time_limit=run.time_limit, options=run.options)
        if margin.status is Status.OPTIMAL:
            warnings.append("the data are separable within the norm: the plane of least norm is returned")
            return np.array([x.value for x in hard.w.values()]), "gmeb-hard-margin", margin
    w = np.array([model.dual[row] for row in model.moment.values()])
    b = model.dual[model.balance]
    loss = hinge(data.X @ w + b, data.y)
    if abs(loss - dual.objective) <= 1e-5 * max(1.0, dual.objective):
        return w, "gmeb-dual", dual
    warnings.append("the multipliers of (16) failed their check: the primal (15) was solved instead")
    primal_model = build_gmeb_primal(data, **radii)
    primal = usable(solve(primal_model, run.solver, time_limit=run.time_limit, options=run.options), "the primal (15)")
    return np.array([x.value for x in primal_model.w.values()]), "gmeb-primal", primal


def _lower_bound(program: str, result: SolveResult) -> float:
    """Return the lower bound on (15) that a program proves: its dual value, or 0 for a separating plane."""
    if program == "gmeb-hard-margin":
        return 0.0
    value = result.objective if program == "gmeb-dual" else result.bound
    return max(float(value), 0.0) if value is not None else 0.0


def gmeb_norm(w: Vector, v_plus: Vector, v_minus: Vector, r_plus: float, r_minus: float) -> tuple[float, Vector]:
    """Return N(w) and the scales sigma (p,) at which (15) attains it.

    One-dimensional concave maximisation over theta; an infinite radius fixes theta at the other end.
    """
    size = np.abs(w)

    def roots(theta: float) -> Vector:
        plus = theta * v_plus / r_plus if np.isfinite(r_plus) else 0.0
        minus = (1 - theta) * v_minus / r_minus if np.isfinite(r_minus) else 0.0
        return np.sqrt(plus + minus)

    if np.isinf(r_plus) or np.isinf(r_minus):
        theta = 0.0 if np.isinf(r_plus) else 1.0
    else:
        best = minimize_scalar(
            lambda t: -float(size @ roots(t)), bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-10}
        )
        theta = max((0.0, 1.0, float(best.x)), key=lambda t: float(size @ roots(t)))
    u = roots(theta)
    norm = float(size @ u)
    sigma = np.where(size > 0, size / np.where(u > 0, u, np.inf), 0.0)
    return norm, sigma / norm if norm > 0 else sigma
