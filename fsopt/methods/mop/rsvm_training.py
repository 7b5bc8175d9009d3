r"""Training of the rigorous support vector machine of Bi: the smallest hinge loss at a capacity W, with its proof.

.. math:: (13) \quad \min\ e'\xi \quad\text{s.t.}\quad w'w \le W,\quad y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0

Its dual (14) has multipliers alpha of the margins. With :math:`v = X'Y\alpha` and :math:`\gamma = \|v\|/\sqrt W` the
solution is :math:`w = v/\gamma`, that of the C-SVM at :math:`C = 1/\gamma`. It is :math:`\gamma = 0` if and only if W
is at least the smallest w'w among the hyperplanes of smallest hinge loss: then the shortest of them is the answer, and
is found by a linear and a quadratic program.

Its multipliers are made exact up to rounding by the active samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from fsopt.answers.certificate import TOLERANCE, Certificate
from fsopt.answers.results import DriverResult, SolveResult, Status
from fsopt.common.arguments import word
from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.data.hyperplanes import best_intercepts, hinge, midpoint_intercept, project_multipliers
from fsopt.data.weights import loss_weights
from fsopt.drivers.run import Run, Steps, multipliers, usable
from fsopt.linear.certificate import certify
from fsopt.linear.interior_point import LARGE_C, minimise
from fsopt.linear.penalties import capped
from fsopt.methods.large_programs import first_certified, interior_order
from fsopt.methods.preprocessing import certified, support_vectors
from fsopt.models.blocks import number
from fsopt.models.mop.rsvm import build_rsvm, build_rsvm_dual, build_rsvm_least_norm
from fsopt.solvers.base import Session
from fsopt.typing import Vector

ACTIVE = 1e-5
"""Share of a bound within which a solver's multiplier is at that bound."""
MOST = 500
"""Largest number of samples on the margin: the system is dense."""
ROUNDED = 1e-9
"""Relative fall of the lower bound that is rounding."""
RANK = 1e-13
"""Singular values of the system below this share of the largest one are rounding errors of 0."""


def polished(data: Dataset, alpha: Vector, w_cap: float) -> Vector:
    r"""Return multipliers of (13) that satisfy the conditions of their active samples exactly, where these do.

    A cone solver ends at a gap of 1e-10, which is 1e-5 in w. Samples with multipliers strictly inside their bounds lie
    on the margin, the others keep theirs at a bound. With :math:`u = \gamma w = \sum_i \alpha_i y_i x_i`

    .. math:: y_i(u'x_i + \gamma b) = \gamma \ \text{on the margin}, \qquad y'\alpha = 0, \qquad u'u = \gamma^2 W.

    The first two are linear: :math:`u = u_0 + \gamma u_1`, and the last is then quadratic in gamma.

    Parameters
    ----------
    data : preprocessed samples.
    alpha : (n,) feasible multipliers.
    w_cap : W > 0.

    Returns
    -------
    (n,) multipliers, or ``alpha`` where the result is outside the bounds, its gap is not smaller or its bound is lower.
    """
    caps = np.broadcast_to(loss_weights(1.0, data.weights), (data.n,))
    upper = alpha >= caps * (1.0 - ACTIVE)
    free = np.flatnonzero((alpha > caps * ACTIVE) & ~upper)
    if not 0 < len(free) <= MOST:
        return alpha
    Z, y = data.X[free] * data.y[free, None], data.y[free]
    fixed = data.X[upper].T @ (caps[upper] * data.y[upper])
    system = np.block([[Z @ Z.T, y[:, None]], [y[None, :], np.zeros((1, 1))]])
    right = np.column_stack([np.append(-Z @ fixed, -caps[upper] @ data.y[upper]), np.append(np.ones(len(free)), 0.0)])
    try:  # equal samples make the system singular: they share their multiplier
        base, slope = np.linalg.lstsq(system, right, rcond=RANK)[0].T
    except np.linalg.LinAlgError:
        return alpha
    u0, u1 = Z.T @ base[:-1] + fixed, Z.T @ slope[:-1]
    roots = np.roots([float(u1 @ u1) - w_cap, 2.0 * float(u0 @ u1), float(u0 @ u0)])
    near = float(np.linalg.norm(data.X.T @ (alpha * data.y))) / np.sqrt(w_cap)
    real = [float(root.real) for root in roots if abs(root.imag) <= 1e-9 * abs(root) and root.real > 0]
    if not real:
        return alpha
    gamma = min(real, key=lambda root: abs(root - near))
    found = np.where(upper, caps, 0.0)
    found[free] = base[:-1] + gamma * slope[:-1]
    if np.any(found < 0.0) or np.any(found > caps):
        return alpha
    found = project_multipliers(found, data.y, caps)
    lower = _bound(data, alpha, w_cap)
    as_good = _bound(data, found, w_cap) >= lower - ROUNDED * max(1.0, abs(lower))
    return found if as_good and _gap(data, found, w_cap) <= _gap(data, alpha, w_cap) else alpha


def balanced(data: Dataset, alpha: Vector, w_cap: float) -> Vector:
    r"""Return multipliers of (13) with :math:`X'Y\alpha = 0` up to rounding, for a capacity that is not active.

    The lower bound is :math:`e'\alpha - \sqrt W\|X'Y\alpha\|`: at a large W the rest of :math:`X'Y\alpha` that a solver
    leaves takes all of it. The shortest change of the multipliers inside their bounds removes that rest.

    Returns
    -------
    (n,) multipliers, or ``alpha`` where the result is outside the bounds or its bound is not larger.
    """
    caps = np.broadcast_to(loss_weights(1.0, data.weights), (data.n,))
    free = np.flatnonzero((alpha > caps * ACTIVE) & (alpha < caps * (1.0 - ACTIVE)))
    if not 0 < len(free) <= MOST:
        return alpha
    centred = data.X - data.X.mean(axis=0)
    found = np.where(alpha < caps * ACTIVE, 0.0, np.where(alpha > caps * (1.0 - ACTIVE), caps, alpha))
    units = np.maximum(np.abs(centred).max(axis=0), 1e-300)
    system = np.vstack([(centred[free] / units * data.y[free, None]).T, data.y[free]])
    for _ in range(2):  # the second time for the rounding errors of the first
        rest = np.append((centred / units).T @ (found * data.y), found @ data.y)
        found[free] -= np.linalg.lstsq(system, rest, rcond=RANK)[0]
    if np.any(found < 0.0) or np.any(found > caps):
        return alpha
    found = project_multipliers(found, data.y, caps)
    return found if _bound(data, found, w_cap) > _bound(data, alpha, w_cap) else alpha


def _bound(data: Dataset, alpha: Vector, w_cap: float) -> float:
    """Return the lower bound of feasible multipliers."""
    return float(alpha.sum()) - float(np.sqrt(w_cap) * np.linalg.norm(data.X.T @ (alpha * data.y)))


def _gap(data: Dataset, alpha: Vector, w_cap: float) -> float:
    """Return the duality gap of the hyperplane of multipliers, infinite where they give none."""
    direction = data.X.T @ (alpha * data.y)
    length = float(np.linalg.norm(direction))
    if length == 0.0:
        return np.inf
    scores = data.X @ (direction * (np.sqrt(w_cap) / length))
    loss = hinge(scores + sum(best_intercepts(scores, data.y, data.weights)) / 2.0, data.y, data.weights)
    return max(loss - float(alpha.sum()) + float(np.sqrt(w_cap)) * length, 0.0)


ROUTES = ("dual", "primal")
"""The words of the parameter ``route``."""

SHARE = 0.1
"""Default (RW + 1) / n, the paper's estimate of the VC dimension over the number of samples in its best runs."""

INACTIVE = 1e-7
"""gamma, relative to the number of samples, up to which the capacity constraint may be inactive: solvers leave that."""

SLACK = 1e-9
"""Relative increase of the smallest loss, with which rounding does not make the shortest hyperplane infeasible."""

EXACT = {"tolerance": 1e-10}
"""Options where the user names no solver and no options: the quotient v / gamma multiplies errors of v."""


Outcome: TypeAlias = SolveResult | DriverResult


@dataclass(frozen=True)
class RsvmSolution:
    """A rigorous support vector machine on the samples it was given.

    Attributes
    ----------
    w, b : (p,) weights and the intercept, the middle of the interval of intercepts that are best for w.
    risk : E, the hinge loss at (w, b).
    status : ``optimal`` where the certificate holds, else ``feasible``.
    certificate : kind ``convex``, with objective and bound, see :func:`fsopt.linear.certificate.certify`.
    outcome : of the last solve or loop, with the seconds of all; its status and objective are those of its own program.
    beta : (n,) with w = X'beta, the expansion of the hyperplane in its support vectors; None where it is not known.
    supporting : samples with a multiplier above 1e-6 of the largest, the support vectors.
    details : for a Fit: ``w_cap``; ``alpha`` (n,), multipliers in [0, 1] of the margins, the evidence; ``gamma``,
        1/C of the C-SVM with the same hyperplane, 0 where the capacity constraint is not active; ``b_interval``;
        ``capacity`` w'w; ``n_support_vectors``; and with gamma = 0 ``shortest_alpha`` (n,), the multipliers of the
        margins in (12), the program of the shortest hyperplane.
    warnings : remarks that the user should read.
    """

    w: Vector
    b: float
    risk: float
    status: Status
    certificate: Certificate
    outcome: Outcome
    beta: Vector | None
    supporting: tuple[int, ...]
    details: Mapping[str, Any]
    warnings: tuple[str, ...]


def solve_rsvm(work: Dataset, run: Run, *, w_cap: float, route: str = "dual") -> Steps[RsvmSolution]:
    """Train the rigorous support vector machine (13).

    Parameters
    ----------
    work : preprocessed data, all features used.
    run : solver, time limit of each solve, and options; without them a tolerance of 1e-10 is asked for.
    w_cap : W > 0.
    route : ``dual`` (default) solves (14), ``primal`` (13). The solver has to give multipliers. Where no solver is
        named, :func:`fsopt.linear.interior_point.minimise` is the first way for large data, and
        the second where (14) ends without a certified optimum.

    Returns
    -------
    RsvmSolution

    Raises
    ------
    ParameterError : w_cap <= 0 or an unknown route.
    SolverError : a program was not solved, or the solver gives no multipliers.

    Notes
    -----
    Bi, (13) and (14).
    """
    word("route", route, ROUTES)
    w_cap = number("rsvm", "w_cap", w_cap)
    build = build_rsvm_dual if route == "dual" else build_rsvm

    def by_model() -> RsvmSolution:
        tight = to_all_digits(run)
        return solve_at_capacity(work, tight, tight.open(build(work, w_cap=w_cap)), w_cap, route=route)

    def by_driver() -> Steps[RsvmSolution]:
        return _solve_without_model(work, run, w_cap)

    order = interior_order(work, run) if route == "dual" else (False,)
    routes = [by_driver if own else by_model for own in order]
    found, warnings = yield from first_certified(routes, lambda found: certified(found.outcome, found.certificate))
    return replace(found, warnings=found.warnings + warnings)


def to_all_digits(run: Run) -> Run:
    """Return the run with a tolerance of 1e-10 where it names neither solver nor options."""
    return replace(run, options=EXACT) if run.solver is None and run.options is None else run


def solve_at_capacity(work: Dataset, run: Run, session: Session, w_cap: float, *, route: str = "dual") -> RsvmSolution:
    """Solve (14), or (13) by the ``primal`` route, loaded in a session at W, and return the support vector machine."""
    outcome, alpha, own = (_solve_dual if route == "dual" else _solve_primal)(session)
    return _settled(work, w_cap, alpha, own, outcome, partial(_smallest_norm, work, run, outcome))


def _solve_without_model(work: Dataset, run: Run, w_cap: float) -> Steps[RsvmSolution]:
    """Solve (13) of large data by the interior point, and return the support vector machine."""
    found = yield from minimise.steps(work, capped(w_cap), run=run)

    def shortest() -> tuple[Vector, Vector, Outcome]:
        # The hyperplane of smallest norm among those of smallest loss is that of a C-SVM whose C is large enough.
        found = minimise(work, c=LARGE_C, run=run)
        return found.point["w"], found.point["alpha"] / LARGE_C, found

    return _settled(work, w_cap, found.point["alpha"], found.point["w"], found, shortest)


def _feasible(work: Dataset, w_cap: float, alpha: Vector) -> Vector:
    """Return multipliers of the dual, polished, and balanced where the capacity constraint is not active."""
    alpha = polished(work, project_multipliers(alpha, work.y, loss_weights(1.0, work.weights)), w_cap)
    if float(np.linalg.norm(work.X.T @ (alpha * work.y))) <= INACTIVE * work.n * np.sqrt(w_cap):
        return balanced(work, alpha, w_cap)
    return alpha


def _settled(
    work: Dataset,
    w_cap: float,
    alpha: Vector,
    own: Vector,
    outcome: Outcome,
    smallest_norm: Callable[[], tuple[Vector, Vector, Outcome]],
) -> RsvmSolution:
    """Return the support vector machine of multipliers and of the solver's own w."""
    # The hyperplane of the multipliers, w = v / gamma, is taken where it is certified. Where gamma is too small for
    # that, the candidate with the smaller loss is taken, of it and the solver's own w, shortened to w'w = W.
    alpha = _feasible(work, w_cap, alpha)
    direction = work.X.T @ (alpha * work.y)
    gamma = float(np.linalg.norm(direction) / np.sqrt(w_cap))
    supporting = alpha
    candidates: list[tuple[Vector, Vector | None]] = [(own, None)]
    if gamma > 0:
        candidates.insert(0, (direction / gamma, alpha * work.y / gamma))
    if gamma <= INACTIVE * work.n:
        shortest, multipliers_of_shortest, outcome = smallest_norm()
        if float(shortest @ shortest) <= (1 + TOLERANCE) * w_cap:
            gamma, supporting = 0.0, multipliers_of_shortest
            candidates = [(shortest, None), (own, None)]
    ball = capped(w_cap)
    inside = [(ball.proximal(w, 1.0), beta) for w, beta in candidates]
    proofs = [
        certify(work, ball, 1.0, w, midpoint_intercept(work.X @ w, work.y, work.weights), alpha) for w, _ in inside
    ]
    best = 0 if proofs[0].ok else int(np.argmin([proof.objective or 0.0 for proof in proofs]))
    (w, beta), certificate = inside[best], proofs[best]
    interval, capacity = best_intercepts(work.X @ w, work.y, work.weights), float(w @ w)
    vectors = support_vectors(supporting)
    evidence = {} if gamma else {"shortest_alpha": supporting}
    return RsvmSolution(
        w=w,
        b=sum(interval) / 2,
        risk=certificate.objective or 0.0,
        status=Status.OPTIMAL if certificate.ok else Status.FEASIBLE,
        certificate=certificate,
        outcome=outcome,
        beta=beta,
        supporting=vectors,
        details={
            "w_cap": w_cap,
            "alpha": alpha,
            "gamma": gamma,
            "b_interval": interval,
            "capacity": capacity,
            "n_support_vectors": len(vectors),
            **evidence,
        },
        warnings=(_inactive_warning(w_cap, capacity),) if certificate.ok and not gamma else (),
    )


def _inactive_warning(w_cap: float, capacity: float) -> str:
    return (
        f"the capacity constraint is inactive at W = {w_cap:g}: the hyperplane of smallest norm among those of "
        f"smallest loss, with w'w = {capacity:.6g}, is the answer"
    )


def default_capacity(n: float, radius: float) -> float:
    """Return the W with (RW + 1) / n = 0.1, for the squared radius R of samples of total weight n; RW >= 1."""
    return max(1.0, SHARE * n - 1.0) / radius


def squared_radius(data: Dataset) -> float:
    """Return R, the largest squared norm of a sample."""
    return float((data.X**2).sum(axis=1).max())


def _solve_dual(session: Session) -> tuple[SolveResult, Vector, Vector]:
    """Return the outcome of (14), its alpha, and w as the multipliers of the constraints v = X'Y alpha."""
    model = session.model
    result = usable(session.solve(), "(14)")
    return result, values_of(model.alpha), multipliers(session, result, model.expansion)


def _solve_primal(session: Session) -> tuple[SolveResult, Vector, Vector]:
    """Return the outcome of (13), the multipliers of its margins, and its w."""
    model = session.model
    result = usable(session.solve(), "(13)")
    return result, multipliers(session, result, model.margin), values_of(model.w)


def _smallest_norm(work: Dataset, run: Run, before: SolveResult) -> tuple[Vector, Vector, SolveResult]:
    """Return the w of smallest norm with the smallest loss, the multipliers of its margins, and the last outcome."""
    model = build_rsvm(work)
    model.capacity.deactivate()
    _, free = run.solve(model, "the smallest hinge loss of any hyperplane")
    risk = hinge(work.X @ values_of(model.w) + model.b.value, work.y, work.weights)
    model = build_rsvm_least_norm(work, e_cap=risk + SLACK * max(1.0, risk))
    session, result = run.solve(model, "the hyperplane of smallest norm")
    seconds = {k: sum(r.seconds.get(k, 0.0) for r in (before, free, result)) for k in result.seconds}
    w = values_of(model.w)
    return w, multipliers(session, result, model.margin), replace(result, seconds=seconds)
