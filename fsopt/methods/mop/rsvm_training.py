r"""Training of the rigorous support vector machine of Bi: the smallest hinge loss at a capacity W, with its proof.

.. math:: (13) \quad \min\ e'\xi \quad\text{s.t.}\quad w'w \le W,\quad y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0

Its dual (14) has multipliers alpha of the margins. With :math:`v = X'Y\alpha` and :math:`\gamma = \|v\|/\sqrt W` the
solution is :math:`w = v/\gamma`, that of the C-SVM at :math:`C = 1/\gamma`. It is :math:`\gamma = 0` if and only if W
is at least the smallest w'w among the hyperplanes of smallest hinge loss: then the shortest of them is the answer, that
of a C-SVM whose C is large enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from fsopt.answers.certificate import TOLERANCE, Certificate
from fsopt.answers.results import DriverResult, SolveResult
from fsopt.common.arguments import word
from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.data.hyperplanes import best_intercepts, midpoint_intercept, project_multipliers
from fsopt.data.weights import loss_weights
from fsopt.drivers.run import Run, Steps, multipliers, usable
from fsopt.linear.certificate import certify
from fsopt.linear.interior_point import minimise
from fsopt.linear.penalties import capped
from fsopt.methods.large_programs import first_certified, interior_order
from fsopt.methods.preprocessing import certified, support_vectors
from fsopt.models.blocks import number
from fsopt.models.mop.rsvm import build_rsvm, build_rsvm_dual
from fsopt.solvers.base import Session
from fsopt.typing import Vector

ACTIVE = 1e-5
"""Share of a bound within which a solver's multiplier is at that bound."""
MOST = 500
"""Largest number of samples on the margin: the system is dense."""
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
    (n,) multipliers, or ``alpha`` where the result is outside the bounds.
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
    return project_multipliers(found, data.y, caps)


ROUTES = ("dual", "primal")
"""The words of the parameter ``route``."""

SHARE = 0.1
"""Default (RW + 1) / n, the paper's estimate of the VC dimension over the number of samples in its best runs."""

LARGE = (1e3, 1e6, 1e9)
"""C of which one is large enough for the hyperplane of smallest norm among those of smallest loss."""

ROUNDED = 1e-9
"""Gap of a loss that is the smallest one up to rounding."""

INACTIVE = 1e-7
"""gamma, relative to the number of samples, up to which the capacity constraint may be inactive: solvers leave that."""

EXACT = {"tolerance": 1e-10}
"""Options where the user names no solver and no options: the quotient v / gamma multiplies errors of v."""


Outcome: TypeAlias = SolveResult | DriverResult


@dataclass(frozen=True)
class RsvmSolution:
    """A rigorous support vector machine on the samples it was given.

    Attributes
    ----------
    w, b : (p,) weights and the intercept, the middle of the interval of intercepts that are best for w.
    certificate : kind ``convex``, with objective and bound, see :func:`fsopt.linear.certificate.certify`.
    outcome : of the last solve or loop, with the seconds of all; its status and objective are those of its own program.
    beta : (n,) with w = X'beta, the expansion of the hyperplane in its support vectors; None where it is not known.
    details : for a Fit: ``w_cap``; ``alpha`` (n,), multipliers in [0, 1] of the margins, the evidence; ``gamma``,
        1/C of the C-SVM with the same hyperplane, 0 where the capacity constraint is not active; ``b_interval``;
        ``capacity`` w'w; ``n_support_vectors``; and with gamma = 0 ``shortest_alpha`` (n,), the multipliers of the
        margins in (12), the program of the shortest hyperplane.
    warnings : remarks that the user should read.
    """

    w: Vector
    b: float
    certificate: Certificate
    outcome: Outcome
    beta: Vector | None
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
        found = yield from minimise.steps(work, capped(w_cap), run=run)
        return _settled(work, run, w_cap, found.point["alpha"], found.point["w"], found)

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
    return _settled(work, run, w_cap, alpha, own, outcome)


def _settled(work: Dataset, run: Run, w_cap: float, alpha: Vector, own: Vector, outcome: Outcome) -> RsvmSolution:
    """Return the support vector machine of multipliers and of the solver's own w."""
    # Where gamma is small, v / gamma loses its digits: of several hyperplanes the one of smallest gap is taken.
    alpha = project_multipliers(alpha, work.y, loss_weights(1.0, work.weights))
    ball, shortest = capped(w_cap), None
    gamma = 0.0
    found: list[tuple[Vector, Vector, Vector | None]] = [(ball.nearest(own), alpha, None)]
    for each in (alpha, polished(work, alpha, w_cap)):
        gamma = _gamma(work, each, w_cap)
        if gamma > 0:
            found.append((ball.nearest(work.X.T @ (each * work.y) / gamma), each, each * work.y / gamma))
    if gamma <= INACTIVE * work.n:
        shortest, evidence, outcome = _shortest(work, w_cap, run, outcome)
        found = found if shortest is None else [(shortest["w"], evidence, None)]
    proofs = [_proof(work, w_cap, w, alpha) for w, alpha, _ in found]
    best = int(np.argmin([proof.residuals["gap"] for proof in proofs]))
    w, alpha, beta = found[best]
    interval, capacity = best_intercepts(work.X @ w, work.y, work.weights), float(w @ w)
    details = {"w_cap": w_cap, "alpha": alpha, "gamma": _gamma(work, alpha, w_cap), "capacity": capacity}
    if shortest is not None:
        details |= {"gamma": 0.0, "shortest_alpha": shortest["alpha"]}
    return RsvmSolution(
        w=w,
        b=sum(interval) / 2,
        certificate=proofs[best],
        outcome=outcome,
        beta=beta,
        details=details | {"b_interval": interval, "n_support_vectors": len(vectors_of(details))},
        warnings=() if shortest is None else (_inactive_warning(w_cap, capacity),),
    )


def _shortest(
    work: Dataset, w_cap: float, run: Run, outcome: Outcome
) -> tuple[Mapping[str, Any] | None, Vector, Outcome]:
    """Return the C-SVM of smallest hinge loss, multipliers of (13) that prove it, and the outcome with its seconds.

    Without a C-SVM where none is inside the capacity and proved.
    """
    machines: list[Mapping[str, Any]] = []
    for c in LARGE:
        found = minimise(work, c=c, run=run)
        outcome = replace(outcome, seconds={k: v + found.seconds.get(k, 0.0) for k, v in outcome.seconds.items()})
        machines.append(found.point)
        length = float(np.linalg.norm(found.point["w"]) / np.sqrt(w_cap))
        proof = _proof(work, w_cap, found.point["w"], found.point["alpha"] / c)
        if proof.ok and length <= min(1 + TOLERANCE, INACTIVE * work.n * c):
            alpha = found.point["alpha"] / c if proof.bound else np.zeros(work.n)
            gaps = [_proof(work, w_cap, point["w"], alpha).residuals["gap"] for point in machines]
            # Of a smaller C the multipliers have more digits.
            return machines[int(np.argmax(np.array(gaps) <= max(ROUNDED, gaps[-1])))], alpha, outcome
    return None, np.zeros(work.n), outcome


def _proof(work: Dataset, w_cap: float, w: Vector, alpha: Vector) -> Certificate:
    """Return the certificate of (13) of a hyperplane with these weights, by multipliers."""
    return certify(work, capped(w_cap), 1.0, w, midpoint_intercept(work.X @ w, work.y, work.weights), alpha)


def _gamma(work: Dataset, alpha: Vector, w_cap: float) -> float:
    """Return gamma of multipliers."""
    return float(np.linalg.norm(work.X.T @ (alpha * work.y)) / np.sqrt(w_cap))


def vectors_of(details: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the support vectors: of (13) at an active capacity, else of (12), the shortest hyperplane."""
    name = "alpha" if float(details["gamma"]) > 0.0 else "shortest_alpha"
    return support_vectors(np.array(details[name], dtype=float))


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
