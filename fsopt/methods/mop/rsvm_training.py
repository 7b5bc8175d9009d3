"""The rigorous support vector machine (paper 5): least hinge loss at a capacity that is given, with its proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.certificates.certificate import TOLERANCE, Certificate, Kind, make
from fsopt.certificates.residuals import relative_gap
from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.data.hyperplanes import best_intercepts, hinge, midpoint_intercept, project_multipliers
from fsopt.drivers.run import Run, usable
from fsopt.errors import ParameterError
from fsopt.models.blocks import number
from fsopt.models.mop.rsvm import build_rsvm
from fsopt.models.mop.rsvm_dual import build_rsvm_dual
from fsopt.models.mop.rsvm_least_norm import build_rsvm_least_norm
from fsopt.results import SolveResult, Status
from fsopt.solvers.base import Session
from fsopt.solvers.registry import no_multipliers
from fsopt.typing import Vector

ROUTES = ("dual", "primal")


SHARE = 0.1
"""Default h / l, that of the paper's best runs: RW + 1 is a tenth of the number of rows."""


INACTIVE = 1e-7
"""At a gamma below this, relative to the number of rows, it is asked whether the capacity constraint is active."""


SLACK = 1e-9
"""What the loss is raised by, relative, so that rounding does not make the plane of least norm infeasible."""


EXACT = {"tolerance": 1e-10}
"""Options where the user names no solver and no options: w = v / gamma multiplies what is left in v."""


SUPPORT = 1e-6
"""Multipliers above this, relative to the largest, make a support vector."""


@dataclass(frozen=True)
class RsvmSolution:
    """A rigorous support vector machine on the rows it was given.

    Attributes
    ----------
    w, b : (p,) and scalar, the plane; b is the middle of the interval of intercepts that are best for w.
    risk : E, the hinge loss at (w, b).
    status : ``optimal`` where the certificate holds, else ``feasible``.
    certificate : kind ``convex``, with objective and bound, see :func:`certify_rsvm`.
    outcome : of the last solve, with the seconds of all; its status and objective are those of its own program.
    beta : (n,) with w = X'beta, the expansion of the plane in its support vectors; None where it is not known.
    supporting : rows with a multiplier above 1e-6 of the largest, the support vectors.
    details : what a Fit keeps: ``w_cap``; ``alpha`` (n,), multipliers in [0, 1] of the margins, the proof; ``gamma``,
        1/C of the C-SVM with the same plane, 0 where the capacity constraint is not active; ``b_interval``;
        ``capacity`` w'w; ``n_support_vectors``.
    warnings : remarks that the user should read.
    """

    w: Vector
    b: float
    risk: float
    status: Status
    certificate: Certificate
    outcome: SolveResult
    beta: Vector | None
    supporting: tuple[int, ...]
    details: Mapping[str, Any]
    warnings: tuple[str, ...]


def solve_rsvm(work: Dataset, run: Run, *, w_cap: float, route: str = "dual") -> RsvmSolution:
    r"""Train the rigorous support vector machine (13) on preprocessed rows.

    With alpha of the dual (14), :math:`v = X'Y\alpha` and :math:`\gamma = \|v\|/\sqrt W`, the plane has
    :math:`w = v/\gamma`, that of the C-SVM at :math:`C = 1/\gamma`. Where gamma is so small that the quotient does not
    certify, the solver's own w, pulled into the ball, is taken. gamma = 0 iff W is at least the squared norm of the
    shortest plane of least hinge loss: then that plane is the answer, by a linear and a quadratic program.

    Parameters
    ----------
    work : preprocessed rows, all columns used.
    run : solver, time limit of each solve and options; without them a tolerance of 1e-10 is asked for.
    w_cap : W > 0.
    route : ``dual`` (default) solves (14), ``primal`` (13). The solver has to give multipliers.

    Returns
    -------
    RsvmSolution

    Raises
    ------
    ParameterError : w_cap <= 0 or an unknown route.
    SolverError : a program was not solved, or the solver gives no multipliers.

    Notes
    -----
    Paper 5, (13) and (14).
    """
    if route not in ROUTES:
        raise ParameterError(f"route is {route!r}", f"one of {', '.join(ROUTES)}")
    w_cap = number("rsvm", "w_cap", w_cap, low=0.0, strict=True)
    run = exact(run)
    build = build_rsvm_dual if route == "dual" else build_rsvm
    session = Session(build(work, w_cap=w_cap), run.solver, options=run.options)
    return recover(work, run, session, w_cap)


def exact(run: Run) -> Run:
    """Return the run with a tolerance of 1e-10 where it names neither solver nor options."""
    return replace(run, options=EXACT) if run.solver is None and run.options is None else run


def recover(work: Dataset, run: Run, session: Session, w_cap: float) -> RsvmSolution:
    """Solve what is loaded, (14) or (13) at the capacity W, and return its machine, see :func:`rigorous`."""
    outcome, alpha, own = (_dual if hasattr(session.model, "alpha") else _primal)(session, run)
    alpha = project_multipliers(alpha, work.y, 1.0)
    direction = work.X.T @ (alpha * work.y)
    gamma = float(np.linalg.norm(direction) / np.sqrt(w_cap))
    supporting, planes = alpha, list[tuple[Vector, Vector | None]]([(own, None)])
    if gamma > 0:
        planes = [(direction / gamma, alpha * work.y / gamma), (own, None)]
    if gamma <= INACTIVE * work.n:
        shortest, mu, outcome = _least_norm(work, run, outcome)
        if float(shortest @ shortest) <= (1 + TOLERANCE) * w_cap:
            gamma, supporting, planes = 0.0, mu, [(shortest, None), (own, None)]
    found = [(_pulled(w, w_cap), beta) for w, beta in planes]
    proofs = [certify_rsvm(work, w_cap, w, midpoint_intercept(work.X @ w, work.y), alpha) for w, _ in found]
    best = 0 if proofs[0].ok else int(np.argmin([proof.worst for proof in proofs]))
    (w, beta), certificate = found[best], proofs[best]
    interval, capacity = best_intercepts(work.X @ w, work.y), float(w @ w)
    rows = support_vectors(supporting)
    details = {
        "w_cap": w_cap, "alpha": alpha, "gamma": gamma, "b_interval": interval, "capacity": capacity,
        "n_support_vectors": len(rows),
    }  # fmt: skip
    return RsvmSolution(
        w, sum(interval) / 2, certificate.objective or 0.0, Status.OPTIMAL if certificate.ok else Status.FEASIBLE,
        certificate, outcome, beta, rows, details, () if gamma else (_remark(w_cap, capacity),),
    )  # fmt: skip


def support_vectors(multipliers: Vector) -> tuple[int, ...]:
    """Return the rows whose multiplier is above 1e-6 of the largest."""
    return tuple(np.flatnonzero(multipliers > SUPPORT * multipliers.max()).tolist())


def _pulled(w: Vector, w_cap: float) -> Vector:
    """Return w, or the nearest point of the ball w'w <= W."""
    inside: Vector = w * min(1.0, float(np.sqrt(w_cap / max(float(w @ w), 1e-300))))
    return inside


def _remark(w_cap: float, capacity: float) -> str:
    return (
        f"the capacity constraint is inactive at W = {w_cap:g}: the plane of least norm among those of least loss, "
        f"with w'w = {capacity:.6g}, is the answer"
    )


def certify_rsvm(data: Dataset, w_cap: float, w: Vector, b: float, alpha: Vector, *, gram: bool = False) -> Certificate:
    r"""Certify a plane as the optimum of (13), in numpy alone.

    Every :math:`\alpha \in [0, 1]^n` with :math:`y'\alpha = 0` gives the lower bound
    :math:`e'\alpha - \sqrt W\,\|X'Y\alpha\|` on the hinge loss.

    Parameters
    ----------
    data : the rows; their Gram matrix where ``gram``, and w (n,) is then the expansion of the plane in the rows.

    Returns
    -------
    Certificate
        Kind ``convex``, residuals ``capacity`` (w'w beyond W, relative to W) and ``gap``.
    """
    scores = data.X @ w
    turned = project_multipliers(alpha, data.y, 1.0) * data.y
    square = float(w @ scores) if gram else float(w @ w)
    length = float(turned @ data.X @ turned) if gram else float(((data.X.T @ turned) ** 2).sum())
    bound = max(float(turned @ data.y) - float(np.sqrt(w_cap * max(length, 0.0))), 0.0)
    loss = hinge(scores + b, data.y)
    residuals = {"capacity": max(square / w_cap - 1.0, 0.0), "gap": relative_gap(loss, bound)}
    return make(Kind.CONVEX, residuals, objective=loss, bound=bound, bound_source="dual point")


def default_capacity(n: int, radius: float) -> float:
    """Return the W with (RW + 1) / n = 0.1, for the squared radius R of the rows; RW is at least 1."""
    return max(1.0, SHARE * n - 1.0) / radius


def squared_radius(data: Dataset) -> float:
    """Return R, the largest squared norm of a row."""
    return float((data.X**2).sum(axis=1).max())


def _dual(session: Session, run: Run) -> tuple[SolveResult, Vector, Vector]:
    """Return the outcome of (14), its alpha, and w as the multipliers of its rows."""
    model = session.model
    result = usable(session.solve(time_limit=run.time_limit), "(14)")
    return result, values_of(model.alpha), multipliers(session, result, model.expansion)


def _primal(session: Session, run: Run) -> tuple[SolveResult, Vector, Vector]:
    """Return the outcome of (13), the multipliers of its margins, and its w."""
    model = session.model
    result = usable(session.solve(time_limit=run.time_limit), "(13)")
    return result, multipliers(session, result, model.margin), values_of(model.w)


def _least_norm(work: Dataset, run: Run, before: SolveResult) -> tuple[Vector, Vector, SolveResult]:
    """Return the w of least norm with the least hinge loss, the multipliers of its margins, and the last outcome."""
    model = build_rsvm(work)
    model.capacity.deactivate()
    _, free = _solve(model, run, "the least hinge loss of any plane")
    risk = hinge(work.X @ values_of(model.w) + model.b.value, work.y)
    model = build_rsvm_least_norm(work, e_cap=risk + SLACK * max(1.0, risk))
    session, result = _solve(model, run, "the plane of least norm")
    seconds = {k: sum(r.seconds.get(k, 0.0) for r in (before, free, result)) for k in result.seconds}
    w = values_of(model.w)
    return w, multipliers(session, result, model.margin), replace(result, seconds=seconds)


def _solve(model: pyo.ConcreteModel, run: Run, what: str) -> tuple[Session, SolveResult]:
    session = Session(model, run.solver, options=run.options)
    return session, usable(session.solve(time_limit=run.time_limit), what)


def multipliers(session: Session, result: SolveResult, rows: Any) -> Vector:
    """Return the multipliers (k,) of linear rows; raise SolverError where the solver has none."""
    if result.point is None or result.point.y is None:
        raise no_multipliers(result.solver, session.problem_class)
    y: Vector = result.point.y[session.rows(rows)]
    return y
