"""Driver ``sla``: successive linearisation of a concave function over a polyhedron (Mangasarian, Algorithm 4.1).

Its loop is that of :mod:`fsopt.drivers.dca`. Of large data each linear program is solved by restricted ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import TOLERANCE, Kind, make
from fsopt.answers.results import DriverResult, Status
from fsopt.certificates.points import relative_gap
from fsopt.compiler.expressions import linear_part, read
from fsopt.compiler.values import store
from fsopt.data import Dataset
from fsopt.drivers.column_generation import column_generation
from fsopt.drivers.dca import Linearised, Step, descend, solved
from fsopt.drivers.loop import Iterate, Loop, best, best_of, reader
from fsopt.drivers.penalties import Penalty, approximation, step_costs
from fsopt.drivers.recorder import EARLY, Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.errors import ParameterError, SolverError
from fsopt.models.blocks import number, vector, whole
from fsopt.models.sla.hyperplane import exponential_costs
from fsopt.solvers.base import Session
from fsopt.solvers.registry import SOLVERS
from fsopt.solvers.spec import SolverSpec
from fsopt.typing import Indices, Vector

ROUNDING = 1e-10
"""Weights below this are zeros that a solver rounded."""
EPSILON, STEPS = 1e-9, 100
"""Of the stopping criterion, and largest number of steps of a run."""
RESTARTS = 4
"""Random starts that are added where the start from zero ends at w = 0."""
NONNEGATIVE = "every term of the objective is nonnegative"
"""Source of the lower bound that makes the value 0 a global minimum."""
EQUAL = 1e-9
"""Relative difference up to which a coefficient of the step model is that of the terms."""


@dataclass(frozen=True)
class ConcaveTerms:
    r"""The concave part :math:`\omega \sum_i \varphi(x_i)` of a problem whose step model is given.

    Attributes
    ----------
    pairs : (variable >= 0, mutable cost) names of components of the step model, whose objective is
        ``rest + weight * sum(cost * variable)`` with a linear rest.
    alpha, weight : steepness of phi, > 0; the omega above, >= 0 (lambda of (21)).
    approx : phi, of :mod:`fsopt.drivers.penalties` or your own; by default the paper's 1 - exp(-alpha x).
    """

    pairs: tuple[tuple[str, str], ...]
    alpha: float
    weight: float = 1.0
    approx: str | Penalty = "exp"

    def __post_init__(self) -> None:
        number("sla", "alpha", self.alpha)
        number("sla", "weight", self.weight, inside="[0, inf]")

    @property
    def penalty(self) -> Penalty:
        """The sum of phi."""
        return approximation(self.approx, self.alpha)

    def check_components(self, model: pyo.ConcreteModel) -> None:
        """Raise ParameterError for a name that is no component of the step model."""
        for name in (name for pair in self.pairs for name in pair):
            if model.component(name) is None:
                raise ParameterError(
                    f"the step model '{model.name}' has no component '{name}'", "name its variables and costs"
                )

    def columns(self, session: Session) -> Indices:
        """Return the places of the variables in the point of a step."""
        return np.concatenate([session.columns(session.model.component(name)) for name, _ in self.pairs])

    def value(self, x: Vector) -> float:
        """Return the concave part at x."""
        return self.weight * self.penalty.value(x)

    def slopes(self, x: Vector) -> Vector:
        """Return its gradient at x."""
        return self.weight * step_costs(self.penalty, x)

    def set_costs(self, model: pyo.ConcreteModel, costs: Vector) -> None:
        """Store the costs of the variables in the step model, before their weight."""
        parameters = [model.component(name) for _, name in self.pairs]
        ends = np.cumsum([len(parameter) for parameter in parameters])
        for parameter, part in zip(parameters, np.split(costs, ends[:-1]), strict=True):
            store(parameter, part)

    def linearise(self, model: pyo.ConcreteModel, x: Vector) -> None:
        """Set the costs of the step model to those of the gradient at x."""
        self.set_costs(model, step_costs(self.penalty, x))


def _vertex_steps(session: Session, concave: ConcaveTerms, recorder: Recorder, tolerance: float) -> Linearised:
    """Return the steps of SLA: their places are the values of the variables under phi."""
    columns, read = concave.columns(session), reader(session)

    def solve(at: Vector, _: Vector) -> Step:
        concave.linearise(session.model, at)
        session.update(session.model.objective)
        return solved(session, recorder, read, vertex=True)

    def place(x: Vector) -> Vector:
        # A variable below 0 by the solver's tolerance would have a negative concave term, and a cost above alpha.
        return np.maximum(x[columns], 0.0)

    def linear(x: Vector, at: Vector) -> float:
        return session.program.objective_at(x)

    def value(x: Vector, at: Vector) -> float:
        return linear(x, at) - float(concave.slopes(at) @ place(x)) + concave.value(place(x))

    ends = partial(_does_not_fall, linear, tolerance)
    return Linearised("principle", solve, place, linear, value, ends, read=lambda x, at: read(x))


def _does_not_fall(
    linear: Callable[[Vector, Vector], float], tolerance: float, x: Vector, new: Vector, at: Vector
) -> bool:
    """Return whether a linearisation does not fall: f is concave, falls by at least as much, and no vertex returns."""
    here = linear(x, at)
    return linear(new, at) >= here - tolerance * (1.0 + abs(here))


@loop
def sla(
    model: pyo.ConcreteModel,
    concave: ConcaveTerms,
    *,
    n_starts: int = 1,
    seed: int = 0,
    tolerance: float = EPSILON,
    max_iterations: int = STEPS,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Minimise a concave function over the polyhedron of a step model by vertex linear programs.

    .. math:: x^{i+1} \in \arg\,\mathrm{vertex}\min_{x \in X}\ \nabla f(x^i)'(x - x^i)

    from :math:`x^0 = 0`, until :math:`\nabla f(x^i)'(x^{i+1} - x^i) \ge -\epsilon(1 + |\nabla f(x^i)'x^i|)`
    for some i >= 1: a vertex that solves its own linearisation.

    Parameters
    ----------
    model : a step model with the weights ``w`` and mutable costs, such as ``fsopt.build("fsv-step", data)``.
    concave : the variables under phi, and the weight of their terms.
    n_starts : >= 1, runs, of which the one with the smallest f is returned. In the first the variables under phi
        start from 0, in the others from U(0, 1): errors of a random hyperplane are so large that all costs
        underflow. A first run that ends at w = 0, as at a large penalty weight of the features, adds ``RESTARTS`` runs
        where ``n_starts`` asks for fewer.
    seed : >= 0, of the random starts.
    tolerance : the epsilon of the stopping criterion.
    max_iterations : further stopping criterion, for each run.
    run : solver (any for LP that returns vertices), options, time limit of all runs, progress. After a limit the answer
        is feasible only.

    Returns
    -------
    DriverResult
        ``point`` has every variable of the model by name, and ``starts``, the same and the ``objective`` for each
        run; the variables of the model itself are left as they were. ``stationary`` where the minimum principle
        :math:`\nabla f(x)'(z - x) \ge 0` holds over the polyhedron, judged by the dual bound of the last linear
        program of the best run, kept in ``point["proof"]``: finite, local, without a bound. ``optimal`` where the
        value is the sum of the lower bounds of the terms, as a value 0 of nonnegative terms, with that bound. Each
        record of ``history`` has its run in ``start``.

    Raises
    ------
    SolverError : a solver that returns no vertices, or a step that was not solved.
    ParameterError : n_starts < 1 or seed < 0, or one that is no whole number; a model that is no linear program, whose
        objective does not have the terms with their weight, or whose variables under phi can be negative.

    Notes
    -----
    Mangasarian, Algorithm 4.1 and Theorem 4.2.
    """
    n_starts = whole("sla", "n_starts", n_starts)
    rng = np.random.default_rng(whole("sla", "seed", seed))
    concave.check_components(model)
    p = sum(len(model.component(name)) for name, _ in concave.pairs)
    concave.linearise(model, zero := np.zeros(p))
    session = run.open(model)
    lower = _lower_bound(session, concave)
    check_vertices(session.spec)
    recorder = Recorder([session], run)
    problem = _vertex_steps(session, concave, recorder, tolerance)

    def descents(k: int) -> Loop:
        return descend(problem, rng.uniform(size=p) if k else zero, max_iterations=max_iterations, start=k)

    return (yield from best_run(descents, lower, recorder, n_starts=n_starts, tolerance=tolerance))


def best_run(
    descents: Callable[[int], Loop], lower: float, recorder: Recorder, *, n_starts: int, tolerance: float
) -> Steps[DriverResult]:
    """Run SLA from each start, from RESTARTS more where the first ends at w = 0, and certify the best answer.

    A descent is a loop with the evidence ``principle`` from the k-th start; no objective value is below ``lower``.
    """

    def starts(ended: Sequence[Iterate]) -> Loop | None:
        trapped = bool(ended) and ended[0].stop == "stationary" and np.abs(ended[0].point["w"]).max() <= ROUNDING
        more = len(ended) < (max(n_starts, 1 + RESTARTS) if trapped else n_starts)
        return descents(len(ended)) if more else None

    ends, stop = yield from best_of(starts, recorder)
    at = best(ends)
    gap = relative_gap(at.objective, lower)
    if gap <= TOLERANCE:
        # A global minimum, where the value is its lower bound; else the minimum principle.
        certificate = make(Kind.GLOBAL, {"gap": gap}, objective=at.objective, bound=lower, bound_source=NONNEGATIVE)
        status = Status.OPTIMAL if certificate.ok else Status.FEASIBLE
    else:
        found = {"minimum principle": at.evidence["principle"]}
        certificate = make(Kind.SLA, found, tolerance=max(1e-7, 10 * tolerance))
        status = Status.STATIONARY if certificate.ok and at.stop == "stationary" else Status.FEASIBLE
    return recorder.end(
        status,
        "optimal" if status is Status.OPTIMAL and stop not in EARLY else stop,
        objective=at.objective,
        bound=certificate.bound,
        point={**at.point, "starts": [{"objective": end.objective, **end.point} for end in ends]},
        certificate=certificate,
    )


def _lower_bound(session: Session, concave: ConcaveTerms) -> float:
    """Return the sum of the lower bounds of the objective's terms, and refuse a model that does not have the terms."""
    # The objective is read a second time, with costs of 0: the difference are the concave terms, the rest is linear.
    model, program = session.model, session.program
    hint = "give the terms the weight that the model's objective has, and leave its objective"
    if session.problem_class != "LP" or program.objective is None or program.sign != 1.0:
        raise ParameterError(f"the step model '{model.name}' is not a linear program that is minimised", hint)
    columns = concave.columns(session)
    zero = np.zeros(len(columns))
    concave.set_costs(model, zero)
    terms = read(program.objective.expr, program.column)
    rest = linear_part(terms, program.column)
    concave.linearise(model, zero)
    expected = np.zeros(program.n)
    expected[columns] = concave.slopes(zero)
    if np.any(np.abs(program.c - rest - expected) > EQUAL * (1.0 + np.abs(program.c))):
        raise ParameterError(
            f"the objective of '{model.name}' does not have the concave terms with the weight {concave.weight:g}", hint
        )
    if np.any(program.lb[columns] < 0.0):
        raise ParameterError(f"a variable under phi can be negative in '{model.name}'", "give it the lower bound 0")
    # A term c_j x_j is at least its smaller value at the bounds of x_j; a concave term is at least 0.
    used = rest != 0.0
    at_bounds = np.minimum(rest[used] * program.lb[used], rest[used] * program.ub[used])
    return float(at_bounds.sum()) + terms.constant


def check_vertices(spec: SolverSpec) -> None:
    """Raise SolverError for a solver that returns no vertices."""
    if not spec.vertex:
        raise SolverError(
            f"SLA needs vertices and solver '{spec.name}' returns none",
            f"take one that does: {', '.join(s.name for s in SOLVERS.values() if s.vertex)}",
        )


@dataclass(frozen=True)
class ConcaveHinge:
    r"""A problem of Mangasarian, (20) or (21), in the errors :math:`e_i` of a hyperplane and :math:`|w_j|`.

    .. math::

        f(w, b) = \sum_i r_i\,\ell(e_i) + \omega \sum_j \varphi(|w_j|), \qquad
        e_i = \max(0, 1 - y_i(w'x_i + b)), \quad \ell(e) = e \ \text{or}\ 1 - e^{-\alpha e}

    The weights r >= 0 of the errors are ``rows`` (n,); these are ``counted``, or else summed. ``alpha`` > 0 and
    ``approx`` are as in :class:`ConcaveTerms`.
    """

    rows: Vector
    alpha: float
    omega: float
    counted: bool
    approx: str | Penalty = "exp"

    @property
    def penalty(self) -> Penalty:
        """The sum of phi."""
        return approximation(self.approx, self.alpha)

    def value(self, errors: Vector, sizes: Vector) -> float:
        """Return f at errors (n,) and sizes (p,) of the weights."""
        counts = -np.expm1(-self.alpha * errors) if self.counted else errors
        return float(self.rows @ counts) + self.omega * self.penalty.value(sizes)

    def slopes(self, errors: Vector, sizes: Vector) -> tuple[Vector, Vector]:
        """Return the gradient: costs of the errors (n,) and of the sizes (p,)."""
        rows = self.rows * (exponential_costs(self.alpha, errors) if self.counted else 1.0)
        return rows, self.omega * step_costs(self.penalty, sizes)


def _generated_steps(data: Dataset, problem: ConcaveHinge, recorder: Recorder, seed: int) -> Linearised:
    """Return the steps of SLA by column generation: their places are errors and sizes (n + p,), their points (w, b)."""

    def solve(at: Vector, x: Vector) -> Step:
        (d, c), start = problem.slopes(*split(at)), (x[:-1], float(x[-1])) if len(x) else None
        found = column_generation(data, d, c, start=start, seed=seed, run=recorder.inner_run())
        recorder.include(found)
        bound = -np.inf if found.bound is None else found.bound
        stop = "stationary" if found.status is Status.OPTIMAL else found.stop

        def prove(x: Vector) -> tuple[Vector, float, str, Any]:
            return x, bound, stop, found.point["alpha"]

        early = found.stop if found.stop in EARLY else ""
        return Step(np.append(found.point["w"], found.point["b"]), prove, {"rounds": found.iterations}, early)

    def split(at: Vector) -> tuple[Vector, Vector]:
        return at[: data.n], at[data.n :]

    def place(x: Vector) -> Vector:
        return np.append(np.maximum(1.0 - data.y * (data.X @ x[:-1] + x[-1]), 0.0), np.abs(x[:-1]))

    def linear(x: Vector, at: Vector) -> float:
        return float(np.append(*problem.slopes(*split(at))) @ place(x))

    def value(x: Vector, at: Vector) -> float:
        return problem.value(*split(place(x)))

    ends = partial(_does_not_fall, linear, EPSILON)
    return Linearised(
        "principle", solve, place, linear, value, ends, lambda x, at: {"w": x[:-1], "b": float(x[-1])}, proof="alpha"
    )


@loop
def sla_by_column_generation(
    data: Dataset,
    problem: ConcaveHinge,
    *,
    n_starts: int = 1,
    seed: int = 0,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    """Minimise (20) or (21) by successive linearisation, each linear program by column generation.

    A step starts from the last hyperplane, and comes with a bound that holds for all samples and features: where that
    is not below the linearisation at the hyperplane by more than the tolerance, the minimum principle holds. Its
    solution is optimal but need not be a vertex of the whole program; every step still descends. The first run starts
    from no errors and no weights, the others from U(0, 1). The answer is as of :func:`fsopt.drivers.sla`, with the
    hyperplane ``w``, ``b`` and the multipliers ``alpha`` (n,) of the last step, by which
    :func:`fsopt.drivers.l1_hinge_program.certify_l1_hinge` recomputes the minimum principle.
    """
    n_starts = whole("sla", "n_starts", n_starts)
    rng = np.random.default_rng(whole("sla", "seed", seed))
    vector("sla", "rows", problem.rows, data.n, low=0.0)
    recorder = Recorder([], run)
    steps, size = _generated_steps(data, problem, recorder, seed), data.n + data.p

    def descents(k: int) -> Loop:
        return descend(steps, rng.uniform(size=size) if k else np.zeros(size), max_iterations=STEPS, start=k)

    return (yield from best_run(descents, 0.0, recorder, n_starts=n_starts, tolerance=EPSILON))
