"""Driver ``gbd``: generalized Benders decomposition of the SVM with few features (Aytug, Table 1)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import closed
from fsopt.answers.results import DriverResult
from fsopt.common import clock
from fsopt.data import Dataset
from fsopt.drivers.gbd.master import ClosedForm, Master
from fsopt.drivers.gbd.searched import SearchedMaster
from fsopt.drivers.gbd.settings import DEFAULT_SETTINGS, GbdSettings
from fsopt.drivers.gbd.state import State
from fsopt.drivers.gbd.subproblem import Subproblem, Training, certify_gbd
from fsopt.drivers.loop import Iterate, Loop, run_loop
from fsopt.drivers.recorder import EARLY, Recorder
from fsopt.drivers.run import DEFAULT_RUN, ENDS, Run, Steps, loop
from fsopt.typing import Vector

KINDS = {"milp": Master, "search": SearchedMaster, "closed-form": ClosedForm}
"""Setting ``master`` -> how the master problem is solved."""
INWARD = 0.1
"""Step of the second cut of an iteration from the master's selection towards the even one."""
CUT_GAP = 1e-4
"""Relative gap of the relaxation at which no more cuts are made at the root."""
STEP = 0.5
"""Where a cut is made at the root: this share of the way from the best point so far to the master's."""


@loop
def gbd(
    data: Dataset,
    master: pyo.ConcreteModel,
    sub: pyo.ConcreteModel | Training,
    *,
    c: float,
    settings: GbdSettings = DEFAULT_SETTINGS,
    validation: Dataset | None = None,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Minimise :math:`F(\sigma) + \lambda'\sigma` over the selections that are feasible for a master problem.

    In each iteration: solve the subproblem at sigma, make its multipliers alpha exactly dual feasible, add the cut
    :math:`\theta \ge e'\alpha - \frac12\sum_j q_j(\alpha)^2\sigma_j` to the master, and take the master's solution as
    the next sigma. The upper bound is the smallest primal value, the lower bound the largest that a master proved. The
    cut of every alpha holds for every selection, so that no solver's tolerance endangers the bounds. With groups of
    features and bounds on their weights sigma and the cuts are those of ``fsp-master``.

    Parameters
    ----------
    data : the data set behind both models.
    master, sub : models ``fsp-master`` and ``fsp-sub``, with the same bounds on the weights. Further constraints on
        ``sigma`` of the master are the user's, fixed features too, and the coefficients of sigma in its objective are
        lambda. For large data without bounds ``sub`` may be a function that trains a support vector machine, such as
        :func:`fsopt.svm.interior_point.svm_interior_point`.
    c : penalty weight of the hinge loss in ``sub``.
    settings : cuts and stopping criteria.
    validation : samples in the space of ``data``; the answer is then the iterate with the fewest errors there.
    run : its solver is for the subproblem, a QP. With the settings of a checkpoint, a run that resumes from it has the
        iterates of one without an interruption.

    Returns
    -------
    DriverResult
        ``point`` has ``sigma``, of features or groups, ``w``, ``b`` and the list ``alphas`` of the multipliers behind
        the cuts. ``optimal`` where the gap is closed and every cut was recomputed from a dual feasible alpha; else
        ``feasible`` with upper and lower bound. ``stop`` is ``optimal``, ``repeated`` (the master returned a
        selection that was tried), ``validation``, ``time-limit``, ``iteration-limit`` or ``interrupted``.

    Raises
    ------
    InfeasibleError : no selection satisfies the constraints.
    ParameterError : a parameter out of range, a master with another objective, or models of other data, another c or
        other bounds.
    FileError : a checkpoint that cannot be written, or is damaged or of another run.
    SolverError : the master or a subproblem was not solved.

    Notes
    -----
    Aytug, Table 1; with lambda GBD-lambda, (12)-(15), whose closed form for sigma holds for one cut only: it is the
    setting ``master="closed-form"``, whose loop ends where a selection comes back.
    """
    settings.check(validated=validation is not None)
    problem = _Problem.of(data, master, sub, c, settings, validation, run)
    at, stop = yield from run_loop(_add_cuts(problem), problem.recorder)
    alphas, tolerance = at.point["alphas"], settings.tolerance
    certificate = certify_gbd(data, alphas, c, at.objective, problem.lower_bound(at, stop), tolerance)
    stop = closed(stop, certificate.residuals["gap"], tolerance)
    return problem.recorder.end_certified(certificate, stop, at.point)


def _add_cuts(problem: _Problem) -> Loop:
    """Yield the incumbents, and the lower bounds of the masters with more and more cuts."""
    master, sub = problem.master, problem.sub
    recorder = problem.recorder
    # Step 1: a first selection.
    state = problem.begin()
    at = problem.iterate(state)
    yield at
    # Each pass adds at least one cut, of which there are at most max_cuts. There is an incumbent after one or two.
    while not at.stop:
        # Step 2.1: the subproblem at sigma; a feasible selection has a value.
        alpha, w = sub.solve(state.sigma, recorder)
        new = [alpha]
        if state.feasible:
            state.keep(sub.iterate(state.sigma, w, master.penalties, problem.validation))
            yield problem.iterate(state, within=True)
        # A second cut, a little inward: at sigma itself the dual leaves q_j of unselected features free, and the cut is
        # weak in their slopes.
        if problem.inward(state):
            new.append(sub.solve((1.0 - INWARD) * state.sigma + INWARD * state.sigma.mean(), recorder)[0])
        # Step 2.2: the cuts.
        state.alphas = [*state.alphas, *new]
        master.add(new)
        yield problem.iterate(state, within=True)
        # Steps 2.3 and 2.4: the master, its bound and its selection, and the stopping criteria.
        at = problem.step(state)
        yield at


@dataclass(frozen=True)
class _Problem:
    """The two problems of GBD, and the settings of the loop."""

    settings: GbdSettings
    validation: Dataset | None
    master: Master
    sub: Subproblem
    relaxed: Master | None
    recorder: Recorder

    @classmethod
    def of(
        cls,
        data: Dataset,
        model: pyo.ConcreteModel,
        sub_model: pyo.ConcreteModel | Training,
        c: float,
        settings: GbdSettings,
        validation: Dataset | None,
        run: Run,
    ) -> _Problem:
        """Return the problems before the first cut."""
        warm = settings.master_start == "incumbent"
        master = KINDS[settings.master](data, model, settings.master_solver, warm=warm)
        sub = Subproblem(data, sub_model, c, run, master.rules)
        relaxed = Master(data, model, None, relaxed=True) if settings.root_cuts else None
        sessions = [master.session, *sub.sessions, *([relaxed.session] if relaxed else [])]
        return cls(settings, validation, master, sub, relaxed, Recorder(sessions, run))

    def begin(self) -> State:
        """Make the cut at the root, and go to a feasible selection."""
        sigma = self.settings.first(self.master.data, self.master.rules.groups)
        state = State(sigma, self.master.feasible(sigma), _bound_without_cuts(self.master.penalties))
        if self.relaxed is not None:
            state.alphas = root_cut(self.relaxed, self.sub, self.recorder, most=self.settings.root_cuts)
            self.master.add(state.alphas)
        if self.settings.start == "zero" and not state.feasible:
            state.sigma, state.feasible = self.master.first(self.recorder), True
        return state

    def inward(self, state: State) -> bool:
        """Return whether an iteration has a second cut, and there is place for it."""
        asked = self.settings.stabilisation == "in-out" and state.best is not None and np.ptp(state.sigma) > 0.0
        return bool(asked and len(state.alphas) + 1 < self.settings.max_cuts)

    def step(self, state: State) -> Iterate:
        """Solve the master, and go to its selection."""
        self.master.step(state, self.settings.tolerance, self.recorder)
        cuts = len(state.alphas)
        record: dict[str, Any] = {"objective": state.upper, "bound": state.lower, "gap": state.gap, "cuts": cuts}
        if self.validation is not None:  # without an error before the first feasible selection
            record["validation_error"] = state.validated and state.validated.error
        return replace(self.iterate(state, self.stopping_criterion(state)), record=record)

    def iterate(self, state: State, stop: str = "", *, within: bool = False) -> Iterate:
        """Return the answer so far, without a point before the first feasible selection."""
        answer = state.best if self.validation is None else state.validated
        if answer is None:
            return Iterate(np.inf, {}, state.lower, within=True)
        point = {"sigma": answer.sigma, "w": answer.w, "b": answer.b, "alphas": state.alphas}
        return Iterate(answer.value, point, state.lower, stop=stop, within=within)

    def stopping_criterion(self, state: State) -> str:
        """Return the stopping criterion that holds; empty where none does, or there is no incumbent yet."""
        if state.best is None:
            return ""
        patience = self.settings.patience
        reasons = {
            "optimal": state.closed(self.settings.tolerance),
            "repeated": state.sigma.tobytes() in state.tried and not state.exhausted,
            "validation": patience is not None and state.stale >= patience,
            "iteration-limit": len(state.alphas) >= self.settings.max_cuts or state.exhausted,
        }
        return next((reason for reason, holds in reasons.items() if holds), "")

    def lower_bound(self, at: Iterate, stop: str) -> float:
        """Return the largest lower bound that was proved here: one that a checkpoint states is proved at the end."""
        if stop not in EARLY:
            with suppress(*ENDS):
                self.master.prove(at.bound, self.settings.tolerance, self.recorder)
        return min(at.bound, max(self.master.proved, _bound_without_cuts(self.master.penalties)))


def _bound_without_cuts(penalties: Vector) -> float:
    """Return a lower bound without any cut: F is not negative."""
    return float(np.minimum(penalties, 0.0).sum())


def root_cut(master: Master, sub: Subproblem, recorder: Recorder, *, most: int) -> list[Vector]:
    r"""Return the multipliers (n,) of one cut whose bound is that of the relaxation.

    .. math:: \min_{\sigma \in [0,1]^p,\ \text{constraints}}\ F(\sigma) + \lambda'\sigma
              = \max_{0 \le \alpha \le C,\ y'\alpha = 0}\ e'\alpha - \tfrac12 \max_\sigma \sum_j
              (q_j(\alpha)^2 - 2\lambda_j)\,\sigma_j

    with F extended convexly, which is the perspective relaxation; for m features and no lambda the inner maximum is
    the sum of the m largest :math:`q_j^2`. Each cut is made halfway between the best point so far and the relaxed
    master's, which needs half as many cuts as the master's own point. The dual variables of the cuts in the last
    relaxed master add to at most 1; the cut of the alpha that they combine is nowhere below the combined cuts,
    because :math:`q_j(\alpha)^2` is convex in alpha.

    Parameters
    ----------
    master : the relaxed master; left with all cuts.
    most : >= 1, cuts that are made.

    Returns
    -------
    list
        Of these multipliers alone; empty where the relaxation needs no cut, as at the bound 0.
    """
    alphas: list[Vector] = []
    sigma = best = np.ones(master.rules.p)
    upper = np.inf
    for _ in range(most):
        alpha, w = sub.solve(sigma, recorder)
        value = sub.fractional_value(sigma, w) + float(master.penalties @ sigma)
        # The first point, all features, need not satisfy the constraints: its value is no upper bound.
        if alphas and value < upper:
            best, upper = sigma, value
        alphas.append(alpha)
        master.add([alpha])
        result = recorder.solve(master.session, "the relaxed master problem")
        at = np.clip(result.point.x[master.columns], 0.0, 1.0) if result.point is not None else best
        lower = 0.0 if result.bound is None else result.bound
        closed = np.isfinite(upper) and upper - lower <= CUT_GAP * max(1.0, abs(upper))
        if clock.expired() or closed:
            break
        best = at if len(alphas) == 1 else best
        sigma = (1.0 - STEP) * best + STEP * at
    duals = list(result.duals(master.model.cuts).values())[-len(alphas) :]
    weights = np.maximum(duals, 0.0)
    if weights.sum() <= 0.0:
        return []
    return [np.average(np.array(alphas), axis=0, weights=weights)]
