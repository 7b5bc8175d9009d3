"""Driver ``dca``: a difference of convex functions, its concave part linearised (Yang & Ju, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import Kind, make
from fsopt.answers.results import DriverResult, Point, Status
from fsopt.compiler import compile_model
from fsopt.compiler.values import store, values_of
from fsopt.drivers.agreement import minimises
from fsopt.drivers.loop import Iterate, Loop, Reader, best, best_of, reader, run_loop
from fsopt.drivers.penalties import Penalty
from fsopt.drivers.recorder import EARLY, Recorder, proved_bound
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.drivers.working_set import Build, Price, Restricted, largest, spread, working_set
from fsopt.errors import ParameterError
from fsopt.models.blocks import vector, whole
from fsopt.solvers.auxiliary import nearest
from fsopt.solvers.base import Session
from fsopt.typing import Indices, Vector

INSIDE = 1 - 1e-8
"""Largest entry of a random start relative to the slope: no cost slope - |v_j| may vanish, or a step is unbounded."""
CRITICAL = 1e-5
"""Largest residual of a stationary answer, also of a run whose tolerance is larger."""
NONZERO = 1e-6
"""Absolute value above which a weight counts as not zero in the records."""


@dataclass(frozen=True)
class Step:
    """A solved step: its point (n,), the fields of its record, and why it ended early, if it did.

    ``prove`` takes an iterate that the step does not better to that iterate within all constraints, a lower bound of
    the step, the stopping criterion, and the multipliers; ``moved`` is the ``step`` of its :class:`Iterate`.
    """

    x: Vector
    prove: Callable[[Vector], tuple[Vector, float, str, Any]]
    fields: Mapping[str, Any] = field(default_factory=dict)
    early: str = ""
    moved: tuple[Session, Reader, Point] | None = None


@dataclass(frozen=True)
class Linearised:
    """The function that steps linearise, the concave part alone, at the place of an iterate.

    Attributes
    ----------
    residual, proof : names of the residual of an iterate, and of its multipliers in the point.
    solve : (place, iterate) -> a step; the iterate is empty before there is one.
    place : iterate (n,) -> where the next step is linearised.
    linear, value : (iterate, place) -> the objective of the step there, and the function.
    ends : (iterate, solution, place) -> whether the solution of the step does not better the iterate.
    read : (iterate, place) -> the point by the keys of the result.
    """

    residual: str
    solve: Callable[[Vector, Vector], Step]
    place: Callable[[Vector], Vector]
    linear: Callable[[Vector, Vector], float]
    value: Callable[[Vector, Vector], float]
    ends: Callable[[Vector, Vector, Vector], bool]
    read: Callable[[Vector, Vector], Mapping[str, Any]]
    proof: str = "proof"


def descend(problem: Linearised, at: Vector, *, max_iterations: int, start: int = 0) -> Loop:
    """Yield the iterates from the linearisation at a place, which need not be that of a feasible point.

    The evidence is the residual of the last iterate, infinite before the stopping criterion holds, and ``rise``, the
    largest relative rise of the function, which no exact step has: each minimises a majorant of it.
    """
    x, value = np.zeros(0), np.inf
    rise = 0.0
    for k in range(max_iterations):
        # Step 2.1: the next iterate minimises the linearisation at the last one.
        step = problem.solve(at, x)
        new_value, stop = problem.value(step.x, at), step.early
        residual, proof = np.inf, None
        # Step 2.2, not at k = 0, unlike in print: the first place belongs to no iterate, so nothing has fallen yet. x
        # is critical where it solves its own step. The difference between its value in the step and the step's lower
        # bound measures how far it is from that; the solution of the step itself is not needed, so that an inaccurate
        # one cannot prove too much.
        rise = max(rise, (new_value - value) / max(1.0, abs(value))) if k else 0.0
        if k and problem.ends(x, step.x, at):
            x, bound, stop, proof = step.prove(x)
            value, here = problem.value(x, at), problem.linear(x, at)
            residual = max(here - bound, 0.0) / max(1.0, abs(here))
        else:
            x, value = step.x, new_value
        record = {"start": start, "objective": new_value, problem.residual: residual, **step.fields}
        point, evidence = {**problem.read(x, at), problem.proof: proof}, {problem.residual: residual, "rise": rise}
        yield Iterate(value, point, evidence=evidence, record=record, stop=stop, step=step.moved)
        if stop:
            return
        # Step 2.3
        at = problem.place(x)


def solved(session: Session, recorder: Recorder, read: Reader, *, vertex: bool = False) -> Step:
    """Return the step of a model that is loaded, whose solution must be a vertex or need not."""
    what = f"a step of '{session.model.name}'"
    result = recorder.solve(session, what, load=False, vertex=vertex, certify=False)
    taken = result.point
    assert taken is not None

    def prove(x: Vector) -> tuple[Vector, float, str, Any]:
        x = nearest(session.program, x, taken)
        step = session.completed(result, x)
        return x, proved_bound(step), "stationary" if step.status is Status.OPTIMAL else step.stop, step.supported

    return Step(taken.x, prove, moved=(session, read, taken))


def _penalised(session: Session, penalty: Penalty, recorder: Recorder, tolerance: float) -> Linearised:
    """Return the steps of DCA: their places are v, elements of the subdifferential of h."""
    columns, slope = session.columns(session.model.w), penalty.slope
    read = reader(session)

    def solve(v: Vector, _: Vector) -> Step:
        store(session.model.v, v)
        session.update(session.model.objective)
        step = solved(session, recorder, read)
        return replace(step, fields={"n_nonzero": int(np.sum(np.abs(step.x[columns]) > NONZERO))})

    def linear(x: Vector, v: Vector) -> float:
        return slope * float(np.abs(x[columns]).sum()) - float(v @ x[columns])

    def value(x: Vector, v: Vector) -> float:
        return penalty.value(x[columns])

    def ends(x: Vector, new: Vector, v: Vector) -> bool:
        least = value(x, v) - tolerance * max(1.0, abs(value(x, v)))
        return bool(np.linalg.norm((new - x)[columns]) < tolerance) or value(new, v) >= least

    return Linearised(
        "criticality",
        solve,
        place=lambda x: penalty.gradient(x[columns]),
        linear=linear,
        value=value,
        ends=ends,
        read=lambda x, v: {**read(x), "gradient": v},
    )


@loop
def dca(
    model: pyo.ConcreteModel,
    penalty: Penalty,
    *,
    n_starts: int = 1,
    seed: int = 0,
    start: Vector | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Minimise ``penalty(w)`` over the feasible set of a step model.

    .. math:: x^{k+1} \in \arg\min_{x \in \Omega}\ g(x) - \langle v^k, x \rangle, \qquad v^k \in \partial h(x^k)

    Parameters
    ----------
    model : a step model with variables ``w``, their parts ``w_plus`` and ``w_minus``, mutable parameter ``v`` and
        objective ``slope * ||w||_1 - v'w`` in the parts, such as
        ``fsopt.build("l0-mpm-step", data, delta=0.7, alpha=penalty.slope)``.
    penalty : the function that is minimised, one of :mod:`fsopt.drivers.penalties` or your own.
    n_starts : >= 1, runs, of which the best is returned. The first starts from v = 0, and its first iterate is the
        hyperplane of smallest 1-norm; the others from v^0 drawn uniformly from (-slope, slope)^p.
    seed : >= 0, of the random starts.
    start : (p,) weights x^0 of the first run, which begins with v^0 in the subdifferential of h there; None for v = 0.
    tolerance : a run ends when the objective falls by less than this, relative, or w moves by less.
    max_iterations : further stopping criterion, for each run.
    run : solver, options, time limit of all runs, progress. After a limit the answer is feasible only.

    Returns
    -------
    DriverResult
        ``point`` has ``w`` and every other variable of the model by name, ``gradient`` and ``proof``, the v of the last
        step and its primal-dual point, by which criticality is verified again, and ``starts``, the objective value at
        the end of each run. ``stationary`` where the
        certificate holds: the step problem at the answer improves on it by less than the tolerance, judged by
        the step's own dual bound, and no step of any run raised the objective. A local answer; there is no bound.
        Each record of ``history`` has its run in ``start``.

    Raises
    ------
    SolverError : a step was not solved.
    ParameterError : n_starts < 1 or seed < 0, or one that is no whole number; a start of
        another length; a model with another objective.

    Notes
    -----
    Yang & Ju, Algorithm 1, without its stopping criterion at k = 0. Your own penalty is an object with three members,
    here the fraction 5t / (1 + 5t) of the absolute value t of each weight::

        class Fraction:
            slope = 5.0

            def value(self, w):
                return float((5 * abs(w) / (1 + 5 * abs(w))).sum())

            def gradient(self, w):
                return np.sign(w) * (5 - 5 / (1 + 5 * abs(w)) ** 2)

        result = dca(fsopt.build("l0-mpm-step", data, delta=0.7, alpha=Fraction.slope), Fraction())
    """
    session, slope = run.open(model), penalty.slope
    v = np.nan if model.component("v") is None else values_of(model.v)
    if not minimises(session, {"w_plus": slope - v, "w_minus": slope + v}):
        raise ParameterError(
            f"the objective of '{model.name}' is not slope * ||w||_1 - v'w with the slope {slope:g} of the penalty",
            "build it with alpha = penalty.slope and leave its objective",
        )
    recorder = Recorder([session], run)
    problem = _penalised(session, penalty, recorder, tolerance)
    n_starts, rng = whole("dca", "n_starts", n_starts), np.random.default_rng(whole("dca", "seed", seed))
    size = len(model.w)
    first = np.zeros(size) if start is None else penalty.gradient(vector("dca", "start", start, size))

    def starts(ended: Sequence[Iterate]) -> Loop | None:
        k = len(ended)
        if k == n_starts:
            return None
        v = slope * rng.uniform(-INSIDE, INSIDE, size) if k else first
        return descend(problem, v, max_iterations=max_iterations, start=k)

    ends, stop = yield from best_of(starts, recorder)
    at = best(ends)
    evidence = {"criticality": at.evidence["criticality"], "ascent": max(end.evidence["rise"] for end in ends)}
    point = {**at.point, "starts": [end.objective for end in ends]}
    return _ended(replace(at, evidence=evidence, point=point), stop, recorder, tolerance)


def _ended(at: Iterate, stop: str, recorder: Recorder, tolerance: float) -> DriverResult:
    """Return the result of DCA, stationary where the stopping criterion and the certificate of its evidence hold."""
    certificate = make(Kind.DCA, at.evidence, tolerance=min(10 * tolerance, CRITICAL))
    status = Status.STATIONARY if at.stop == "stationary" and certificate.ok else Status.FEASIBLE
    return recorder.end(status, stop, objective=at.objective, point=at.point, certificate=certificate)


@loop
def priced_dca(
    build: Build,
    price: Price,
    scores: Vector,
    penalty: Penalty,
    *,
    start: Vector | None = None,
    tolerance: float = 1e-6,
    run: Run = DEFAULT_RUN,
    **starts: int,
) -> Steps[DriverResult]:
    """Minimise ``penalty(w)`` by :func:`dca` on step models of some of many features, the answer critical for all.

    The first step from v = 0 is solved for all features. DCA goes on with those of its last restricted program. Where
    it ends, the multipliers of its last step price the others, and those of negative reduced cost are added. The point
    is that of the last step model, with w of all features and the ``columns`` of the model. ``starts`` has ``n_starts``
    and ``seed`` of the first runs of DCA.
    """
    recorder = Recorder([], run)
    problem = Restricted(build, price, scores, largest(scores), recorder)
    at, stop = yield from run_loop(_priced_descents(problem, penalty, start, tolerance, starts), recorder)
    return _ended(at, stop, recorder, tolerance)


def _priced_descents(
    problem: Restricted, penalty: Penalty, start: Vector | None, tolerance: float, starts: Mapping[str, int]
) -> Loop:
    """Yield the iterates of the first step for all features, then those of DCA on more and more of them."""
    recorder, kept = problem.recorder, np.zeros(0, dtype=bool)
    for step, _ in problem.optima(lambda session: recorder.solve(session, "a restricted program", load=False)):
        point = problem.point(step) | {"gradient": np.zeros(len(problem.places)), "proof": None, "starts": []}
        value = penalty.value(point["w"])
        record = {"start": 0, "objective": value, "criticality": np.inf, "columns": len(problem.places)}
        yield Iterate(value, point, evidence={"criticality": np.inf, "ascent": 0.0}, record=record)
    w, runs = start, list[float]()
    before, ascent = np.inf, 0.0
    first_kept = problem.kept if start is None else problem.kept | (start != 0.0)

    def descend(places: Indices) -> tuple[DriverResult, Vector]:
        """Return DCA on some features from the last iterate, and the excess (p,) of all by its last step."""
        nonlocal w, before, ascent, runs
        model, how = problem.build(places), {} if runs else starts
        first = None if w is None else w[places]
        found = dca(model, penalty, start=first, tolerance=tolerance, run=recorder.inner_run(), **how)
        recorder.include(found)
        w = spread(found.point["w"], places, len(problem.scores))
        value, proof = penalty.value(w), found.point["proof"]
        assert found.certificate is not None
        ascent = max(ascent, found.certificate.residuals["ascent"], (value - before) / max(1.0, abs(value)))
        before, runs = value, runs or found.point["starts"]
        runs[int(np.argmin(runs))] = value  # of the run that goes on
        if found.stop in EARLY or proof is None:
            return found, np.zeros(len(w))
        return found, problem.price(model, compile_model(model), proof.multipliers[0], places)

    for kept, (found, _), last in working_set(problem.scores, descend, lambda answer: answer[1], kept=first_kept):
        assert found.certificate is not None
        point, columns = {**found.point, "w": w, "columns": np.flatnonzero(kept), "starts": runs}, int(kept.sum())
        evidence = {"criticality": found.certificate.residuals["criticality"], "ascent": ascent}
        for row in found.history:
            record = {name: row[name] for name in ("start", "objective", "criticality")} | {"columns": columns}
            stop = found.stop if last and row is found.history[-1] else ""
            yield Iterate(before, point, evidence=evidence, record=record, stop=stop)
