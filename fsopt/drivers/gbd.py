"""GBD: generalized Benders decomposition of the support vector machine with few features (paper 4, Table 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from fsopt.certify import Certificate, make, relative_gap
from fsopt.data import Dataset
from fsopt.drivers.recorder import OutOfTime, Progress, Recorder, stop_word
from fsopt.errors import SolverError
from fsopt.models.fsp import add_cut
from fsopt.planes import hinge, midpoint_intercept, project_multipliers
from fsopt.results import DriverResult, Status
from fsopt.solvers.base import Session

Vector = NDArray[np.float64]


@dataclass
class _State:
    """The incumbent, the cuts behind the bound, and the selections that were tried."""

    upper: float = np.inf
    lower: float = 0.0
    sigma: Vector = field(default_factory=lambda: np.zeros(0))
    w: Vector = field(default_factory=lambda: np.zeros(0))
    b: float = 0.0
    alphas: list[Vector] = field(default_factory=list)
    tried: set[bytes] = field(default_factory=set)

    def keep(self, sigma: Vector, value: float, w: Vector, b: float) -> None:
        """Take a selection over as incumbent if it is the best one so far."""
        if value < self.upper:
            self.upper, self.sigma, self.w, self.b = value, sigma, w, b

    @property
    def gap(self) -> float:
        return relative_gap(self.upper, self.lower)


def gbd(
    data: Dataset,
    master: pyo.ConcreteModel,
    sub: pyo.ConcreteModel,
    *,
    c: float,
    master_solver: str | None = None,
    sub_solver: str | None = None,
    tolerance: float = 1e-6,
    max_cuts: int = 250,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> DriverResult:
    r"""Minimise :math:`F(\sigma)` over the selections that a master problem allows.

    Solve the subproblem at sigma, take its multipliers alpha, made exactly dual feasible, add the cut
    :math:`\theta \ge e'\alpha - \frac12\sum_j q_j(\alpha)^2\sigma_j` to the master, and go on at the master's
    solution. The upper bound is the best primal value, the lower bound is what branch and bound proved about
    the master. The first cut is that of the machine on all features: it is valid for every selection, starts
    the lower bound at F(e) instead of 0, and asks nothing of the constraints on sigma.

    Parameters
    ----------
    data : the data set behind both models.
    master, sub : models ``fsp-master`` (without lambda) and ``fsp-sub``; further constraints on ``sigma`` of
        the master are the user's.
    c : the price of the hinge loss in ``sub``.
    tolerance : stop when ``upper - lower <= tolerance * max(1, upper)``.
    max_cuts : at least 2; the paper stops after 250.

    Returns
    -------
    DriverResult
        ``point`` has ``sigma``, ``w``, ``b`` and the list ``alphas`` of the multipliers behind the cuts.
        ``optimal`` where the gap is closed and every cut was recomputed from a dual feasible alpha; else
        ``feasible`` with upper and lower bound.

    Raises
    ------
    SolverError : the master or a subproblem was not solved.
    """
    master_session = Session(master, master_solver)
    sub_session = Session(sub, sub_solver, options=options)
    recorder = Recorder([master_session, sub_session], time_limit, progress)
    state = _State()
    stop = "iteration-limit"
    sigma = np.ones(data.p)
    try:
        for k in range(max_cuts):
            plane = _solve_sub(data, sub, sub_session, sigma, c, state, recorder)
            if k > 0:
                state.tried.add(sigma.tobytes())
                state.keep(sigma, *plane)
            master_session.add(add_cut(master, data, state.alphas[-1]))
            sigma = _solve_master(master, master_session, state, tolerance, recorder)
            recorder.record(objective=state.upper, bound=state.lower, gap=state.gap)
            if k == 0:
                continue
            if state.upper - state.lower <= tolerance * max(1.0, abs(state.upper)):
                stop = "optimal"
            elif recorder.expired:
                stop = "time-limit"
            elif sigma.tobytes() in state.tried:
                stop = "repeated"
            else:
                continue
            break
    except (KeyboardInterrupt, OutOfTime) as reason:
        if not np.isfinite(state.upper):
            raise
        stop = stop_word(reason)
    certificate = certify_gbd(data, state.alphas, c, state.upper, state.lower, tolerance)
    status = Status.OPTIMAL if certificate.ok else Status.FEASIBLE
    point = {"sigma": state.sigma, "w": state.w, "b": state.b, "alphas": state.alphas}
    return recorder.end(status, stop, objective=state.upper, bound=state.lower, point=point, certificate=certificate)


def _solve_master(
    master: pyo.ConcreteModel, session: Session, state: _State, tolerance: float, recorder: Recorder
) -> Vector:
    """Return the master's selection and raise the lower bound to what its branch and bound proved.

    The master is solved to a tenth of the gap that is still open: any bound it proves is valid, and early ones
    need no digits. Should that bring back a selection that was tried, it is solved to the tolerance instead.
    """
    exact = 0.1 * tolerance
    for mip_gap in (max(0.1 * state.gap, exact) if state.tried else 0.1, exact):
        result = recorder.solve(session, "the master problem", mip_gap=mip_gap)
        state.lower = max(state.lower, result.bound if result.bound is not None else 0.0)
        sigma = np.round([v.value for v in master.sigma.values()])
        if sigma.tobytes() not in state.tried or state.upper - state.lower <= tolerance * max(1.0, state.upper):
            break
    return sigma


def _solve_sub(
    data: Dataset,
    sub: pyo.ConcreteModel,
    session: Session,
    sigma: Vector,
    c: float,
    state: _State,
    recorder: Recorder,
) -> tuple[float, Vector, float]:
    """Solve the subproblem at sigma, keep its multipliers, and return its primal value and plane."""
    sub.sigma.store_values(dict(enumerate(sigma.tolist())))
    session.update(sub.selection)
    # Read from the point, without loading values and prices of all rows into the model on each of the cuts.
    point = recorder.solve(session, "the subproblem", load=False).point
    if point is None or point.y is None:
        raise SolverError(f"solver '{session.spec.name}' gives no multipliers for the cuts", "take another for SUB")
    state.alphas.append(project_multipliers(point.y[session.rows(sub.margin)], data.y, c))
    w = np.where(sigma > 0.5, point.x[session.columns(sub.w)], 0.0)
    scores = data.X @ w
    b = midpoint_intercept(scores, data.y)
    return 0.5 * float(w @ w) + c * hinge(scores + b, data.y), w, b


def certify_gbd(
    data: Dataset, alphas: list[Vector], c: float, upper: float, lower: float, tolerance: float
) -> Certificate:
    """Certify the bounds: every cut is valid because its alpha is dual feasible, and the gap is closed.

    The lower bound is the master's over these cuts, proved by the branch and bound of its solver.
    """
    A = np.array(alphas) if alphas else np.zeros((0, data.n))
    outside = max(float(np.maximum(-A, A - c).max(initial=0.0)), 0.0) / max(1.0, c)
    balance = float(np.abs(A @ data.y).max(initial=0.0)) / max(1.0, c)
    residuals = {"alpha bounds": outside, "alpha balance": balance, "gap": relative_gap(upper, lower)}
    return make(
        "gbd",
        residuals,
        tolerance=max(tolerance, 1e-9),
        objective=upper,
        bound=lower,
        bound_source="master problem",
    )
