"""SLA: successive linearisation of a concave function over a polyhedron (paper 3, Algorithm 4.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.certificates.certificate import Kind, make
from fsopt.drivers.recorder import Recorder, proved_bound, stop_word
from fsopt.drivers.run import DEFAULT_RUN, OutOfTime, Run
from fsopt.errors import SolverError
from fsopt.models.blocks import whole
from fsopt.models.sla.step_function import step_costs
from fsopt.results import DriverResult, Point, SolveResult, Status
from fsopt.solvers.base import Session
from fsopt.solvers.registry import SOLVERS
from fsopt.typing import Indices, Vector

ROUNDING = 1e-10
"""Weights below this are zeros that a solver rounded."""
RESTARTS = 4
"""Random starts that are added where the start from zero ends at w = 0."""


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

    def columns(self, session: Session) -> Indices:
        """Return the places of the variables in the point of a step."""
        return np.concatenate([session.columns(session.model.component(name)) for name, _ in self.pairs])

    def value(self, x: Vector) -> float:
        """Return the concave part at x."""
        return -self.weight * float(np.expm1(-self.alpha * x).sum())

    def slopes(self, x: Vector) -> Vector:
        """Return its gradient at x."""
        return self.weight * step_costs(self.alpha, x)

    def move(self, model: pyo.ConcreteModel, x: Vector) -> None:
        """Set the costs of the step model to the gradient at x."""
        costs = iter(step_costs(self.alpha, x).tolist())
        for _, name in self.pairs:
            cost = model.component(name)
            cost.store_values({i: next(costs) for i in cost})


@dataclass
class _Descent:
    """One run of SLA: its last vertex x, the linear ``rest`` of the objective there, and what is known about it."""

    start: int
    session: Session
    recorder: Recorder
    concave: ConcaveTerms
    columns: Indices
    tolerance: float
    x: Vector | None = None
    rest: float = 0.0
    value: float = np.inf
    principle: float = np.inf
    stop: str = "iteration-limit"
    vertex: Vector = field(default_factory=lambda: np.zeros(0))
    proof: Point | None = None

    @property
    def trapped(self) -> bool:
        """Whether the run ended at w = 0."""
        weights = self.vertex[self.session.columns(self.session.model.w)]
        return self.stop == "stationary" and bool(np.abs(weights).max() <= ROUNDING)

    @property
    def point(self) -> dict[str, Any]:
        """Name -> value, or array of values, of every variable component at the last vertex, and the proof."""
        model = self.session.model
        parts = {v.name: (v, self.vertex[self.session.columns(v)]) for v in model.component_objects(pyo.Var)}
        values = {name: at if v.is_indexed() else float(at[0]) for name, (v, at) in parts.items()}
        return values | {"proof": self.proof}

    def run(self, at: Vector, max_iterations: int) -> None:
        """Iterate from the linearisation at a point, which need not be feasible."""
        model = self.session.model
        for i in range(max_iterations):
            if i or self.start:  # The session was opened with the costs of the first step of the first run.
                self.concave.move(model, at)
                self.session.update(model.objective)
            step = self.recorder.solve(self.session, f"a step of '{model.name}'", load=False)
            if self._ends(step, self.concave.slopes(at)):
                return
            if self.recorder.expired:
                self.stop = "time-limit"
                return
            assert self.x is not None
            at = self.x

    def _ends(self, step: SolveResult, slopes: Vector) -> bool:
        """Take over the answer of a step, unless it ends the run."""
        assert step.point is not None
        assert step.objective is not None
        new, here = np.maximum(step.point.x[self.columns], 0.0), np.inf
        rest = step.objective - float(slopes @ new)
        value = rest + self.concave.value(new)
        if self.x is not None:
            here = self.rest + float(slopes @ self.x)
            self.principle = max(here - proved_bound(step), 0.0) / (1.0 + abs(here))
            self.proof = step.point
        self.recorder.record(start=self.start, objective=value, principle=float(self.principle))
        if self.x is not None and step.objective >= here - self.tolerance * (1.0 + abs(here)):
            self.stop = "stationary" if step.status is Status.OPTIMAL else step.stop
            return True
        self.x, self.rest, self.value, self.principle = new, rest, value, np.inf
        self.vertex, self.proof = step.point.x, None
        return False


def sla(
    model: pyo.ConcreteModel,
    concave: ConcaveTerms,
    *,
    n_starts: int = 1,
    seed: int = 0,
    tolerance: float = 1e-9,
    max_iterations: int = 100,
    run: Run = DEFAULT_RUN,
) -> DriverResult:
    r"""Minimise a concave function over the polyhedron of a step model by vertex linear programs.

    .. math:: x^{i+1} \in \arg\,\mathrm{vertex}\min_{x \in X}\ \nabla f(x^i)'(x - x^i)

    from :math:`x^0 = 0`, until :math:`\nabla f(x^i)'(x^{i+1} - x^i) \ge -\epsilon(1 + |\nabla f(x^i)'x^i|)`
    for some i >= 1: a vertex that linearises to itself.

    Parameters
    ----------
    model : a step model with the weights ``w`` and mutable costs, such as ``fsopt.build("fsv-step", data)``.
    concave : which of its variables are under the exponential.
    n_starts : >= 1, runs, of which the one of least f is returned. In the first the variables under the exponential
        start from 0, in the others from U(0, 1): errors of a random plane are so large that all costs underflow.
        A first run that ends at w = 0, as at a large weight of sparsity, adds ``RESTARTS`` runs where
        ``n_starts`` asks for fewer.
    seed : >= 0, of the random starts.
    tolerance : the epsilon of the stop test.
    max_iterations, run.time_limit : further reasons to stop, for each run and for all; the answer is then feasible only.

    Returns
    -------
    DriverResult
        ``point`` has every variable of the model by name, and ``starts``, the same and the ``objective`` for each
        run; the variables of the model itself are left as they were. ``stationary`` where the minimum principle
        :math:`\nabla f(x)'(z - x) \ge 0` holds over the polyhedron, judged by the dual bound of the last linear
        program of the best run, kept in ``point["proof"]``. Finite, local, without a bound. Each record of
        ``history`` tells the run that it belongs to in ``start``.

    Raises
    ------
    SolverError : a solver that returns no vertices, or a step that was not solved.
    ParameterError : n_starts < 1 or seed < 0, or one that is no whole number.

    Notes
    -----
    Paper 3, Algorithm 4.1 and Theorem 4.2.
    """
    n_starts = whole("sla", "n_starts", n_starts, low=1, high=10**6)
    rng = np.random.default_rng(whole("sla", "seed", seed, low=0, high=2**32 - 1))
    zero = np.zeros(sum(len(model.component(name)) for name, _ in concave.pairs))
    concave.move(model, zero)
    session = _vertex_session(model, run)
    recorder = Recorder([session], run)
    runs: list[_Descent] = []
    columns, stop = concave.columns(session), ""
    try:
        while len(runs) < n_starts:
            runs.append(_Descent(len(runs), session, recorder, concave, columns, tolerance))
            runs[-1].run(rng.uniform(size=len(zero)) if len(runs) > 1 else zero, max_iterations)
            if runs[0].trapped:
                n_starts = max(n_starts, 1 + RESTARTS)
            if runs[-1].stop == "time-limit" or (recorder.expired and len(runs) < n_starts):
                stop = "time-limit"
                break
    except (KeyboardInterrupt, OutOfTime) as reason:
        if runs[0].x is None:
            raise
        stop = stop_word(reason)
    best = min(runs, key=lambda descent: descent.value)
    principle = {"minimum principle": float(best.principle)}
    certificate = make(Kind.SLA, principle, tolerance=max(1e-7, 10 * tolerance))
    status = Status.STATIONARY if best.stop == "stationary" and certificate.ok else Status.FEASIBLE
    starts = [{"objective": d.value, **d.point} for d in runs if d.x is not None]
    point = {**best.point, "starts": starts}
    return recorder.end(status, stop or best.stop, objective=best.value, point=point, certificate=certificate)


def _vertex_session(model: pyo.ConcreteModel, run: Run) -> Session:
    """Open a session with a solver that returns vertices, or refuse."""
    session = run.open(model)
    if not session.spec.vertex:
        raise SolverError(
            f"SLA needs vertices and solver '{session.spec.name}' returns none",
            f"take one that does: {', '.join(s.name for s in SOLVERS.values() if s.vertex)}",
        )
    blunt = [f"{name} = {value}" for name, value in session.spec.interior if (run.options or {}).get(name) == value]
    if blunt:
        raise SolverError(
            f"SLA needs vertices and '{session.spec.name}' returns none with {', '.join(blunt)}",
            "leave the option out: simplex, or interior point with crossover",
        )
    return session
