"""Driver ``dca``: a difference of convex functions, its concave part linearised (Yang & Ju, Algorithm 1)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import Kind, make
from fsopt.answers.results import DriverResult, SolveResult, Status
from fsopt.common import clock
from fsopt.compiler.values import all_values, store, values_of
from fsopt.drivers.penalties.penalty import Penalty
from fsopt.drivers.recorder import EARLY, Recorder, proved_bound, stop_word
from fsopt.drivers.run import DEFAULT_RUN, ENDS, Run, loop
from fsopt.errors import ParameterError
from fsopt.models.blocks import vector, whole
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


@dataclass
class Descent(ABC):
    """One run of DCA: its last iterate, and the evidence for it."""

    start: int
    recorder: Recorder
    penalty: Penalty
    tolerance: float
    w: Vector | None = field(default=None, kw_only=True)
    value: float = field(default=np.inf, kw_only=True)
    criticality: float = field(default=np.inf, kw_only=True)
    rise: float = field(default=0.0, kw_only=True)
    stop: str = field(default="", kw_only=True)
    point: dict[str, Any] = field(default_factory=dict, kw_only=True)

    @abstractmethod
    def run(self, v: Vector) -> None:
        """Iterate from the first linearisation v."""


def best_descent(
    descents: Iterable[Descent], first: Vector, rng: np.random.Generator, recorder: Recorder
) -> DriverResult:
    """Run DCA from each start and return the best answer with its certificate.

    Parameters
    ----------
    descents : one for each start, before its first step; all of one penalty and tolerance.
    first : (p,) linearisation of the first start; the others are drawn.
    rng : of the draws.
    recorder : of all runs.
    """
    runs: list[Descent] = []
    stop, v = "", first
    try:
        for descent in descents:
            if runs:
                clock.check()
                v = descent.penalty.slope * rng.uniform(-INSIDE, INSIDE, len(first))
            runs.append(descent)
            descent.run(v)
            if descent.stop in EARLY:
                stop = descent.stop
                break
    except ENDS as reason:
        if runs[0].w is None:
            raise
        stop = stop_word(reason)
    best = min(runs, key=lambda descent: descent.value)
    # Every step minimises a majorant of the objective: a rise in any run is an error of a solver.
    residuals = {"criticality": float(best.criticality), "ascent": max(descent.rise for descent in runs)}
    certificate = make(Kind.DCA, residuals, tolerance=min(10 * best.tolerance, CRITICAL))
    status = Status.STATIONARY if best.stop == "stationary" and certificate.ok else Status.FEASIBLE
    return recorder.end(status, stop or best.stop, objective=best.value, point=best.point, certificate=certificate)


@dataclass
class _Descent(Descent):
    """A run whose steps are solved as models."""

    session: Session
    max_iterations: int

    def run(self, v: Vector) -> None:
        """Iterate from the first linearisation v."""
        model, self.stop = self.session.model, "iteration-limit"
        for _ in range(self.max_iterations):
            store(model.v, v)
            self.session.update(model.objective)
            step = self.recorder.solve(self.session, f"a step of '{model.name}'")
            if self._advance(step, v):
                return
            clock.check()
            assert self.w is not None
            v = self.penalty.gradient(self.w)

    def _advance(self, step: SolveResult, v: Vector) -> bool:
        """Move to the solution of a step unless the stopping criterion holds; return whether it does.

        An iterate is critical where it solves its own step: v is in the subdifferential of g and of h there. The
        difference between its value in the step and the step's lower bound measures how far it is from that; the
        solution of the step itself is not needed, so that an inaccurate one cannot prove too much.
        """
        w, value = self.w, self.value
        criticality, ends = np.inf, False
        new = values_of(self.session.model.w)
        new_value = self.penalty.value(new)
        self._check_objective(step, self.penalty.slope * float(np.abs(new).sum()) - float(v @ new))
        if w is not None:
            here = self.penalty.slope * np.abs(w).sum() - v @ w
            criticality = float(max(here - proved_bound(step), 0.0) / max(1.0, abs(here)))
            self.rise = max(self.rise, (new_value - value) / max(1.0, abs(value)))
            # No criterion at k = 0, as in print: v^0 belongs to no iterate, so nothing has fallen yet.
            least = value - self.tolerance * max(1.0, abs(value))
            ends = bool(np.linalg.norm(new - w) < self.tolerance or new_value >= least)
        if ends:
            self.stop = "stationary" if step.status is Status.OPTIMAL else step.stop
            self.criticality = criticality
            self.point |= {"gradient": v, "proof": step.supported}
        else:
            self.w, self.value = new, new_value
            self.point = all_values(self.session.model) | {"gradient": v, "proof": None}
        # At a record the user may end the loop, with the last iterate and what is known of it.
        self.recorder.record(
            start=self.start,
            objective=new_value,
            criticality=criticality,
            n_nonzero=int(np.sum(np.abs(new) > NONZERO)),
        )
        return ends

    def _check_objective(self, step: SolveResult, linearised: float) -> None:
        """Raise ParameterError where a solved step minimised anything but the penalty, linearised.

        Only a step that was solved is judged: where an interior point stopped early both parts of w are positive, and
        the objective is above slope * ||w||_1.
        """
        assert step.objective is not None
        difference = abs(step.objective - linearised)
        if step.status is Status.OPTIMAL and difference > DIFFERENT * max(1.0, abs(linearised)):
            raise ParameterError(
                f"the objective of '{self.session.model.name}' is not slope * ||w||_1 - v'w with the slope "
                f"{self.penalty.slope:g} of the penalty",
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
) -> DriverResult:
    r"""Minimise ``penalty(w)`` over the feasible set of a step model.

    .. math:: x^{k+1} \in \arg\min_{x \in \Omega}\ g(x) - \langle v^k, x \rangle, \qquad v^k \in \partial h(x^k)

    Parameters
    ----------
    model : a step model with variables ``w``, mutable parameter ``v`` and objective ``slope * ||w||_1 - v'w``, such as
        ``fsopt.build("l0-mpm-step", data, delta=0.7, alpha=penalty.slope)``.
    penalty : the function that is minimised, one of :mod:`fsopt.drivers.penalties.registry` or your own.
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
    n_starts = whole("dca", "n_starts", n_starts)
    rng = np.random.default_rng(whole("dca", "seed", seed))
    size = len(model.w)
    first = np.zeros(size) if start is None else penalty.gradient(vector("dca", "start", start, size))
    session = run.open(model)
    recorder = Recorder([session], run)
    starts = (_Descent(k, recorder, penalty, tolerance, session, max_iterations) for k in range(n_starts))
    return best_descent(starts, first, rng, recorder)
