"""Driver ``dca``: a difference of convex functions, its concave part linearised (Yang & Ju, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import Kind, make
from fsopt.answers.results import DriverResult, SolveResult, Status
from fsopt.compiler.values import store
from fsopt.drivers.loop import Iterate, Loop, best, best_of, reader
from fsopt.drivers.penalties import Penalty
from fsopt.drivers.recorder import Recorder, proved_bound
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.errors import ParameterError
from fsopt.models.blocks import vector, whole
from fsopt.solvers.auxiliary import nearest
from fsopt.solvers.base import Session
from fsopt.typing import Vector

DIFFERENT = 1e-3
"""Relative difference of a step's objective from the penalty's linearisation at which it is another function: far above
the tolerances of solvers."""
INSIDE = 1 - 1e-8
"""Largest entry of a random start relative to the slope: no cost slope - |v_j| may vanish, or a step is unbounded."""
CRITICAL = 1e-5
"""Largest residual of a stationary answer, also of a run whose tolerance is larger."""
NONZERO = 1e-6
"""Absolute value above which a weight counts as not zero in the records."""


def descend(
    session: Session,
    recorder: Recorder,
    penalty: Penalty,
    v: Vector,
    *,
    tolerance: float,
    max_iterations: int,
    start: int = 0,
) -> Loop:
    """Yield the iterates of DCA on a step model, from the linearisation v (p,).

    The evidence is ``criticality``, the residual of the last iterate, infinite before the stopping criterion holds, and
    ``rise``, the largest relative rise of the objective, which no exact step has: each minimises a majorant of it.
    """
    model, slope = session.model, penalty.slope
    columns, read = session.columns(model.w), reader(session)
    w = x = v
    value, rise = np.inf, 0.0
    for k in range(max_iterations):
        # Step 2.1: the next iterate minimises slope ||w||_1 - <v, w>.
        store(model.v, v)
        session.update(model.objective)
        step = recorder.solve(session, f"a step of '{model.name}'", load=False, evidence=False)
        taken = step.point
        assert taken is not None
        new = taken.x[columns]
        new_value, criticality = penalty.value(new), np.inf
        stop = ""
        _check_objective(session, penalty, step, slope * float(np.abs(new).sum()) - float(v @ new))
        # Step 2.2, not at k = 0, unlike in print: v^0 belongs to no iterate, so nothing has fallen yet. w is critical
        # where it solves its own step: v is in the subdifferential of g and of h there. The difference between its
        # value in the step and the step's lower bound measures how far it is from that; the solution of the step
        # itself is not needed, so that an inaccurate one cannot prove too much.
        if k:
            rise = max(rise, (new_value - value) / max(1.0, abs(value)))
            if np.linalg.norm(new - w) < tolerance or new_value >= value - tolerance * max(1.0, abs(value)):
                x = nearest(session.program, x, step.point)
                step, w = session.completed(step, x), x[columns]
                value, here = penalty.value(w), float(slope * np.abs(w).sum() - v @ w)
                criticality = max(here - proved_bound(step), 0.0) / max(1.0, abs(here))
                stop = "stationary" if step.status is Status.OPTIMAL else step.stop
        evidence, n_nonzero = {"criticality": criticality, "rise": rise}, int(np.sum(np.abs(new) > NONZERO))
        record = {"start": start, "objective": new_value, "criticality": criticality, "n_nonzero": n_nonzero}
        if not stop:
            w, x = new, taken.x
            value = new_value
        point = {**read(x), "gradient": v, "proof": step.supported if stop else None}
        yield Iterate(value, point, evidence=evidence, record=record, stop=stop, step=(session, read, taken))
        if stop:
            return
        # Step 2.3: an element of the subdifferential of h.
        v = penalty.gradient(w)


def best_descent(
    descents: Callable[[int, Vector], Loop],
    start: Vector | None,
    penalty: Penalty,
    recorder: Recorder,
    *,
    size: int,
    n_starts: int,
    seed: int,
    tolerance: float,
) -> Steps[DriverResult]:
    """Run DCA from each start and return the best answer with its certificate.

    A descent is a loop with the evidence of :func:`descend`, from the linearisation (p,) of the k-th start; size is p.
    """
    n_starts, rng = whole("dca", "n_starts", n_starts), np.random.default_rng(whole("dca", "seed", seed))
    first = np.zeros(size) if start is None else penalty.gradient(vector("dca", "start", start, size))

    def starts(ended: Sequence[Iterate]) -> Loop | None:
        k = len(ended)
        if k == n_starts:
            return None
        return descents(k, penalty.slope * rng.uniform(-INSIDE, INSIDE, len(first)) if k else first)

    ends, stop = yield from best_of(starts, recorder)
    at = best(ends)
    residuals = {"criticality": at.evidence["criticality"], "ascent": max(end.evidence["rise"] for end in ends)}
    certificate = make(Kind.DCA, residuals, tolerance=min(10 * tolerance, CRITICAL))
    status = Status.STATIONARY if at.stop == "stationary" and certificate.ok else Status.FEASIBLE
    return recorder.end(status, stop, objective=at.objective, point=at.point, certificate=certificate)


def _check_objective(session: Session, penalty: Penalty, step: SolveResult, linearised: float) -> None:
    """Raise ParameterError where a solved step minimised anything but the penalty, linearised."""
    assert step.objective is not None
    assert step.point is not None
    if abs(step.objective - linearised) <= DIFFERENT * max(1.0, abs(linearised)):
        return
    # Where an interior point stopped early both parts of w are positive, and the objective is above slope * ||w||_1.
    if session.completed(step, step.point.x).status is Status.OPTIMAL:
        raise ParameterError(
            f"the objective of '{session.model.name}' is not slope * ||w||_1 - v'w with the slope {penalty.slope:g} "
            "of the penalty",
            "build it with alpha = penalty.slope and leave its objective",
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
    model : a step model with variables ``w``, mutable parameter ``v`` and objective ``slope * ||w||_1 - v'w``, such as
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
        ``point`` has ``w`` and every other variable of the model by name, and ``gradient`` and ``proof``: the v
        of the last step and its primal-dual point, by which criticality is verified again. ``stationary`` where the
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
    session = run.open(model)
    recorder = Recorder([session], run)

    def descents(k: int, v: Vector) -> Loop:
        return descend(session, recorder, penalty, v, tolerance=tolerance, max_iterations=max_iterations, start=k)

    how = {"n_starts": n_starts, "seed": seed}
    return (yield from best_descent(descents, start, penalty, recorder, size=len(model.w), tolerance=tolerance, **how))
