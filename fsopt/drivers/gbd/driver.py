"""Driver ``gbd``: generalized Benders decomposition of the SVM with few features (Aytug, Table 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import closed
from fsopt.answers.results import DriverResult, Status
from fsopt.common import clock
from fsopt.common.files import check_writable
from fsopt.data import Dataset
from fsopt.drivers.gbd.certificate import certify_gbd
from fsopt.drivers.gbd.checkpoint import Saved, identity, load, save, undamaged
from fsopt.drivers.gbd.closed_form import ClosedForm
from fsopt.drivers.gbd.master import Master
from fsopt.drivers.gbd.root_cut import root_cut
from fsopt.drivers.gbd.settings import DEFAULT_SETTINGS, GbdSettings
from fsopt.drivers.gbd.state import State
from fsopt.drivers.gbd.subproblem import Subproblem, Training
from fsopt.drivers.recorder import Recorder, stop_word
from fsopt.drivers.run import DEFAULT_RUN, ENDS, Run, timed
from fsopt.typing import Vector

INWARD = 0.1
"""Step of the second cut of an iteration from the master's selection towards the even one."""


@timed
def gbd(
    data: Dataset,
    master: pyo.ConcreteModel,
    sub: pyo.ConcreteModel | Training,
    *,
    c: float,
    settings: GbdSettings = DEFAULT_SETTINGS,
    validation: Dataset | None = None,
    run: Run = DEFAULT_RUN,
) -> DriverResult:
    r"""Minimise :math:`F(\sigma) + \lambda'\sigma` over the selections that are feasible for a master problem.

    In each iteration: solve the subproblem at sigma, make its multipliers alpha exactly dual feasible, add the cut
    :math:`\theta \ge e'\alpha - \frac12\sum_j q_j(\alpha)^2\sigma_j` to the master, and take the master's solution as
    the next sigma. The upper bound is the smallest primal value, the lower bound the largest that a master proved.
    The cut of every alpha holds for every selection, so that no solver's tolerance endangers the bounds.

    Parameters
    ----------
    data : the data set behind both models.
    master, sub : models ``fsp-master`` and ``fsp-sub``. Further constraints on ``sigma`` of the master are the user's,
        fixed features too, and the coefficients of sigma in its objective are lambda. For large data ``sub`` may be a
        function that trains a support vector machine, such as
        :func:`fsopt.algorithms.interior_point.driver.svm_interior_point`.
    c : penalty weight of the hinge loss in ``sub``.
    settings : cuts and stopping criteria.
    validation : samples in the space of ``data``; the answer is then the iterate with the fewest errors there.
    run : its solver is for the subproblem, a QP; its checkpoint is replaced after each iteration, and its resume is a
        checkpoint of the same data, constraints and settings, but for tolerance, max_cuts and patience; with the same
        ones, too, its iterates are those of a run without an interruption.

    Returns
    -------
    DriverResult
        ``point`` has ``sigma``, ``w``, ``b`` and the list ``alphas`` of the multipliers behind the cuts.
        ``optimal`` where the gap is closed and every cut was recomputed from a dual feasible alpha; else
        ``feasible`` with upper and lower bound. ``stop`` is ``optimal``, ``repeated`` (the master returned a
        selection that was tried), ``validation``, ``time-limit``, ``iteration-limit`` or ``interrupted``.

    Raises
    ------
    InfeasibleError : no selection satisfies the constraints.
    ParameterError : a parameter out of range, a master with another objective, or models of other data or another c.
    FileError : a checkpoint that cannot be written, or is damaged or of another run.
    SolverError : the master or a subproblem was not solved.

    Notes
    -----
    Aytug, Table 1; with lambda GBD-lambda, (12)-(15), whose closed form for sigma holds for one cut only: it is the
    setting ``master="closed-form"``, whose loop ends where a selection comes back.
    """
    settings.check(validated=validation is not None)
    if run.checkpoint is not None:
        check_writable(run.checkpoint)
    loop = _Loop.of(data, master, sub, c, settings, validation, run)
    try:
        loop.begin()
        # Each iteration adds at least one cut, of which there are at most max_cuts. The stopping criterion looks at
        # the clock. It waits for an incumbent, which the first or the second selection is.
        while not (stop := loop.stopping_criterion()):
            loop.iterate()
    except ENDS as reason:
        if loop.state.best is None:
            raise
        stop = stop_word(reason)
    return loop.end(stop)


@dataclass
class _Loop:
    """The two problems of GBD, the settings of the loop, and its state."""

    data: Dataset
    c: float
    settings: GbdSettings
    validation: Dataset | None
    run: Run
    master: Master
    sub: Subproblem
    relaxed: Master | None
    recorder: Recorder
    state: State
    problem: Mapping[str, str]

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
    ) -> _Loop:
        """Return the loop before its first cut."""
        first = settings.first(data)
        kind, warm = ClosedForm if settings.master == "closed-form" else Master, settings.master_start == "incumbent"
        master = kind(data, model, settings.master_solver, warm=warm)
        sub = Subproblem(data, sub_model, c, run)
        relaxed = Master(data, model, None, relaxed=True) if settings.root_cuts and run.resume is None else None
        sessions = [master.session, *sub.sessions, *([relaxed.session] if relaxed else [])]
        problem = identity(
            data,
            master.program,
            validation,
            c=c,
            start=settings.start if isinstance(settings.start, str) else first.tolist(),
            root_cuts=settings.root_cuts,
            stabilisation=settings.stabilisation,
            **({} if settings.master == "milp" else {"master": settings.master}),
            **({} if settings.master_start == "none" else {"master_start": settings.master_start}),
        )
        state = State(first, master.feasible(first), _bound_without_cuts(master.penalties))
        recorder = Recorder(sessions, run)
        return cls(data, c, settings, validation, run, master, sub, relaxed, recorder, state, problem)

    def begin(self) -> None:
        """Resume from a checkpoint, or make the cut at the root and go to a feasible selection."""
        if self.run.resume is not None:
            self._resume(self.run.resume)
            return
        if self.relaxed is not None:
            self.state.alphas = root_cut(self.relaxed, self.sub, self.recorder, most=self.settings.root_cuts)
            self.master.add(self.state.alphas)
        if self.settings.start == "zero" and not self.state.feasible:
            self.state.sigma, self.state.feasible = self.master.first(self.recorder), True

    def _resume(self, path: Path) -> None:
        """Go on where a checkpoint ends: its lower bound is proved again by the master over its cuts."""
        saved = load(path, self.problem, self.sub, self.master.penalties)
        self.state = saved.state
        self.recorder.resume(saved.history, saved.solvers)
        with undamaged(path):
            self.master.resume(self.state, saved.master, self.recorder)
        # A run whose gap was small enough has no next selection: with a smaller tolerance its master looks for one.
        ended = self.state.sigma.tobytes() in self.state.tried
        if saved.stepping or (ended and self.settings.tolerance < saved.tolerance):
            self._step()

    def iterate(self) -> None:
        """Add the cuts at the present selection, and go to the next one."""
        self.master.add(self._new_cuts())
        self._step()

    def _step(self) -> None:
        """Go to the next selection, and keep a record and a checkpoint of the iteration.

        The checkpoint of a step that the time limit ended is the state before it, from which it is completed. Cuts of
        subproblems that it ended are in none: a run without an interruption has others. The progress function, which
        may end the loop, comes after it.
        """
        before = replace(self.state)
        complete = self.master.step(self.state, self.settings.tolerance, self.recorder)
        self.recorder.append(**self._record())
        if self.run.checkpoint is not None and not self.sub.late:
            history = self.recorder.history if complete else self.recorder.history[:-1]
            state = self.state if complete else before
            master, tolerance = self.master.snapshot(), self.settings.tolerance
            saved = Saved(state, master, history, self.recorder.solvers, not complete, tolerance)
            save(self.run.checkpoint, saved, self.problem)
        self.recorder.tell()

    def _new_cuts(self) -> list[Vector]:
        """Return the multipliers of the new cuts; a feasible selection becomes an iterate."""
        state, sigma = self.state, self.state.sigma
        alpha, w = self.sub.solve(sigma, self.recorder)
        new = [alpha]
        if state.feasible:
            state.keep(self.sub.iterate(sigma, w, self.master.penalties, self.validation))
        inward = self.settings.stabilisation == "in-out" and state.best is not None and np.ptp(sigma) > 0.0
        if inward and len(state.alphas) + 1 < self.settings.max_cuts:
            # At sigma itself the dual leaves q_j of unselected features free, and the cut is weak in their slopes.
            new.append(self.sub.solve((1.0 - INWARD) * sigma + INWARD * sigma.mean(), self.recorder)[0])
        state.alphas += new
        return new

    def _record(self) -> dict[str, Any]:
        """Return the record of an iteration; there is no validation error before the first feasible selection."""
        state = self.state
        record: dict[str, Any] = {
            "objective": state.upper,
            "bound": state.lower,
            "gap": state.gap,
            "cuts": len(state.alphas),
        }
        if self.validation is not None:
            record["validation_error"] = state.validated and state.validated.error
        return record

    def stopping_criterion(self) -> str:
        """Return the stopping criterion that holds; empty where none does, or there is no incumbent yet."""
        state, patience = self.state, self.settings.patience
        if state.best is None:
            return ""
        reasons = {
            "optimal": state.closed(self.settings.tolerance),
            "time-limit": clock.expired(),
            "repeated": state.sigma.tobytes() in state.tried,
            "validation": patience is not None and state.stale >= patience,
            "iteration-limit": len(state.alphas) >= self.settings.max_cuts,
        }
        return next((reason for reason, holds in reasons.items() if holds), "")

    def end(self, stop: str) -> DriverResult:
        """Return the result, certified from the multipliers behind the cuts."""
        state = self.state
        answer = state.best if self.validation is None else state.validated
        assert answer is not None
        certificate = certify_gbd(self.data, state.alphas, self.c, answer.value, state.lower, self.settings.tolerance)
        status = Status.OPTIMAL if certificate.ok else Status.FEASIBLE
        point = {"sigma": answer.sigma, "w": answer.w, "b": answer.b, "alphas": state.alphas}
        stop = closed(stop, certificate.residuals["gap"], self.settings.tolerance)
        return self.recorder.end(
            status, stop, objective=answer.value, bound=state.lower, point=point, certificate=certificate
        )


def _bound_without_cuts(penalties: Vector) -> float:
    """Return a lower bound without any cut: F is not negative."""
    return float(np.minimum(penalties, 0.0).sum())
