"""SLA: successive linearisation of a concave function over a polyhedron (paper 3, Algorithm 4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from fsopt.certify import make
from fsopt.drivers.dca import values
from fsopt.drivers.recorder import OutOfTime, Progress, Recorder, proved_least, stop_word
from fsopt.errors import SolverError
from fsopt.models.polyhedral import step_costs
from fsopt.results import DriverResult, Status
from fsopt.solvers.base import Session
from fsopt.solvers.registry import SOLVERS

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class ConcaveTerms:
    r"""The concave part :math:`\omega \sum_i (1 - e^{-\alpha x_i})` of a problem whose step model is given.

    Attributes
    ----------
    pairs : (variable, mutable cost) component names of the step model; its objective is
        ``rest + weight * sum(cost * variable)``.
    alpha, weight : steepness, and the weight omega.
    """

    pairs: tuple[tuple[str, str], ...]
    alpha: float
    weight: float = 1.0

    def point(self, model: pyo.ConcreteModel) -> Vector:
        """Return the present values of the variables, clipped at 0."""
        x: Vector = np.array([v.value for name, _ in self.pairs for v in model.component(name).values()])
        return np.where(x > 0, x, 0.0)

    def move(self, model: pyo.ConcreteModel, x: Vector) -> None:
        """Set the costs of the step model to the gradient at x."""
        costs = iter(step_costs(self.alpha, x).tolist())
        for _, name in self.pairs:
            cost = model.component(name)
            cost.store_values({i: next(costs) for i in cost})


def sla(
    model: pyo.ConcreteModel,
    concave: ConcaveTerms,
    *,
    solver: str | None = None,
    options: Mapping[str, Any] | None = None,
    tolerance: float = 1e-9,
    max_iterations: int = 100,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> DriverResult:
    r"""Minimise a concave function over the polyhedron of a step model by vertex linear programs.

    .. math:: x^{i+1} \in \arg\,\mathrm{vertex}\min_{x \in X}\ \nabla f(x^i)'(x - x^i)

    from :math:`x^0 = 0`, until :math:`\nabla f(x^i)'(x^{i+1} - x^i) \ge -\epsilon(1 + |\nabla f(x^i)'x^i|)`.

    Parameters
    ----------
    model, concave : the step model and which of its variables are under the exponential.
    tolerance : the epsilon of the stop test.
    max_iterations, time_limit : further reasons to stop; the answer is then feasible only.

    Returns
    -------
    DriverResult
        ``stationary`` where the minimum principle :math:`\nabla f(x)'(z - x) \ge 0` holds over the polyhedron,
        judged by the dual bound of the last linear program, kept in ``point["proof"]``. Finite, local, without a bound.

    Raises
    ------
    SolverError : a solver that returns no vertices, or a step that was not solved.
    """
    session = _vertex_session(model, solver, options)
    recorder = Recorder([session], time_limit, progress)
    x: Vector | None = None
    rest = value = np.inf
    principle, stop = np.inf, "iteration-limit"
    point: dict[str, Any] = {}
    try:
        for _ in range(max_iterations):
            step = recorder.solve(session, f"a step of '{model.name}'")
            assert step.objective is not None
            new = concave.point(model)
            slopes = concave.weight * step_costs(concave.alpha, np.zeros_like(new) if x is None else x)
            new_rest = step.objective - float(slopes @ new)
            new_value = new_rest - concave.weight * float(np.expm1(-concave.alpha * new).sum())
            if x is not None:
                here = rest + float(slopes @ x)
                principle = max(here - proved_least(step), 0.0) / (1.0 + abs(here))
                point["proof"] = step.point
            recorder.record(objective=new_value, principle=float(principle))
            if x is not None and step.objective >= here - tolerance * (1.0 + abs(here)):
                stop = "stationary" if step.status is Status.OPTIMAL else step.stop
                break
            x, rest, value = new, new_rest, new_value
            point = values(model) | {"proof": None}
            if recorder.expired:
                stop = "time-limit"
                break
            concave.move(model, x)
            session.update(model.objective)
    except (KeyboardInterrupt, OutOfTime) as reason:
        if x is None:
            raise
        stop = stop_word(reason)
    certificate = make("sla", {"minimum principle": float(principle)}, tolerance=max(1e-7, 10 * tolerance))
    status = Status.STATIONARY if stop == "stationary" and certificate.ok else Status.FEASIBLE
    return recorder.end(status, stop, objective=value, point=point, certificate=certificate)


def _vertex_session(model: pyo.ConcreteModel, solver: str | None, options: Mapping[str, Any] | None) -> Session:
    """Open a session with a solver that returns vertices, or refuse."""
    session = Session(model, solver, options=options)
    if not session.spec.vertex:
        raise SolverError(
            f"SLA needs vertices and solver '{session.spec.name}' returns none",
            f"take one that does: {', '.join(s.name for s in SOLVERS.values() if s.vertex)}",
        )
    return session
