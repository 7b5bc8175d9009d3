"""GBD: generalized Benders decomposition of the support vector machine with few features (paper 4, Table 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler import compile_model
from fsopt.data import Dataset
from fsopt.drivers.gbd.checkpoint import identity, load, save
from fsopt.drivers.gbd.master import SEARCH, Master, SearchMaster, Subproblem, check_objective, searchable
from fsopt.drivers.gbd.root_cut import root_cut
from fsopt.drivers.gbd.settings import DEFAULT_SETTINGS, GbdSettings
from fsopt.drivers.gbd.state import State, certify_gbd
from fsopt.drivers.recorder import Recorder, stop_word
from fsopt.drivers.run import DEFAULT_RUN, OutOfTime, Run
from fsopt.errors import SolverError
from fsopt.files import check_writable
from fsopt.results import DriverResult, Status
from fsopt.typing import Vector

INWARD = 0.1
"""How far the second cut of an iteration is made from the master's selection towards the even one."""


def gbd(
    data: Dataset,
    master: pyo.ConcreteModel,
    sub: pyo.ConcreteModel,
    *,
    c: float,
    settings: GbdSettings = DEFAULT_SETTINGS,
    validation: Dataset | None = None,
    run: Run = DEFAULT_RUN,
) -> DriverResult:
    r"""Minimise :math:`F(\sigma) + \lambda'\sigma` over the selections that a master problem allows.

    Solve the subproblem at sigma, take its multipliers alpha, made exactly dual feasible, add the cut
    :math:`\theta \ge e'\alpha - \frac12\sum_j q_j(\alpha)^2\sigma_j` to the master, and go on at the master's
    solution. The upper bound is the best primal value, the lower bound is what was proved about the
    master. Every alpha of a cut is valid for every selection, so no solver's tolerance endangers the bounds.

    Parameters
    ----------
    data : the data set behind both models.
    master, sub : models ``fsp-master`` and ``fsp-sub``; further constraints on ``sigma`` of the master are the
        user's, also features that are fixed, and what its objective charges for sigma is lambda.
    c : the price of the hinge loss in ``sub``.
    settings : cuts and stopping criteria.
    validation : rows in the space of ``data``; the answer is then the iterate with the fewest errors there.
    run : its solver is for the subproblem, a QP; its checkpoint is replaced after each iteration, and its resume is a
        checkpoint of the same data, limits and settings, but for tolerance, max_cuts and patience.

    Returns
    -------
    DriverResult
        ``point`` has ``sigma``, ``w``, ``b`` and the list ``alphas`` of the multipliers behind the cuts.
        ``optimal`` where the gap is closed and every cut was recomputed from a dual feasible alpha; else
        ``feasible`` with upper and lower bound. ``stop`` is ``optimal``, ``repeated`` (the master brought back a
        selection that was tried), ``validation``, ``time-limit``, ``iteration-limit`` or ``interrupted``.

    Raises
    ------
    InfeasibleError : no selection keeps the limits.
    ParameterError : a parameter out of range, or a master whose objective is another one.
    FileError : a checkpoint that cannot be written, or is damaged or of another run.
    SolverError : the master or a subproblem was not solved; ``search`` for a master that it does not take.

    Notes
    -----
    Paper 4, Table 1; with lambda GBD-lambda, (12)-(15), whose closed form for sigma holds for one cut only.
    """
    settings.check(validated=validation is not None)
    if run.checkpoint is not None:
        check_writable(run.checkpoint)
    loop = _Loop.of(data, master, sub, c, settings, validation, run)
    try:
        loop.begin()
        while not (stop := loop.stop()):
            loop.iterate()
    except (KeyboardInterrupt, OutOfTime) as reason:
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
    master: Master | SearchMaster
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
        sub_model: pyo.ConcreteModel,
        c: float,
        settings: GbdSettings,
        validation: Dataset | None,
        run: Run,
    ) -> _Loop:
        """Return the loop before its first cut."""
        first = settings.first(data)
        master = _master(data, model, settings.master_solver)
        sub = Subproblem(data, sub_model, c, run)
        relaxed = Master(data, model, None, relaxed=True) if settings.root_cuts and run.resume is None else None
        sessions = [*master.sessions, sub.session, *(relaxed.sessions if relaxed else [])]
        problem = identity(
            data,
            master.program,
            validation,
            c=c,
            start=settings.start if isinstance(settings.start, str) else first.tolist(),
            root_cuts=settings.root_cuts,
            stabilisation=settings.stabilisation,
        )
        state = State(first, master.allows(first), _bound_without_cuts(master.prices))
        recorder = Recorder(sessions, run)
        return cls(data, c, settings, validation, run, master, sub, relaxed, recorder, state, problem)

    def begin(self) -> None:
        """Resume from a checkpoint, or make the cut at the root and go to a selection that the limits allow."""
        if self.run.resume is not None:
            self._resume(self.run.resume)
            return
        if self.relaxed is not None:
            self.state.alphas = root_cut(self.relaxed, self.sub, self.recorder, most=self.settings.root_cuts)
            self.master.add(self.state.alphas)
        if self.settings.start == "zero" and not self.state.allowed:
            self.state.sigma, self.state.allowed = self.master.first(self.recorder), True

    def _resume(self, path: Path) -> None:
        """Take the state of a checkpoint; its lower bound is computed again by the master over its cuts."""
        self.state, history = load(path, self.problem, self.sub, self.master.prices)
        self.recorder.history.extend(history)
        self.master.add(self.state.alphas)
        gap, self.state.lower = self.state.gap, _bound_without_cuts(self.master.prices)
        self.master.step(self.state, self.settings.tolerance, self.recorder, gap)

    def iterate(self) -> None:
        """Add the cuts at the selection at hand, go to the next one, and keep a record and a checkpoint of it."""
        self.master.add(self._separate())
        self.master.step(self.state, self.settings.tolerance, self.recorder)
        self.recorder.record(**self._bounds())
        if self.run.checkpoint is not None:
            save(self.run.checkpoint, self.state, self.recorder.history, self.problem)

    def _separate(self) -> list[Vector]:
        """Return the multipliers of the new cuts; an allowed selection becomes an iterate."""
        state, sigma = self.state, self.state.sigma
        alpha, w = self.sub.solve(sigma, self.recorder)
        new = [alpha]
        if state.allowed:
            state.keep(self.sub.iterate(sigma, w, self.master.prices, self.validation))
        inward = self.settings.stabilisation == "in-out" and state.best is not None and np.ptp(sigma) > 0.0
        if inward and len(state.alphas) + 1 < self.settings.max_cuts:
            new.append(self.sub.solve((1.0 - INWARD) * sigma + INWARD * sigma.mean(), self.recorder)[0])
        state.alphas += new
        return new

    def _bounds(self) -> dict[str, Any]:
        """Return the record of an iteration; there is no validation error before the first allowed selection."""
        state = self.state
        record: dict[str, Any] = {
            "objective": state.upper,
            "bound": state.lower,
            "gap": state.gap,
            "cuts": len(state.alphas),
        }
        if self.validation is not None:
            record["validation_error"] = state.chosen and state.chosen.error
        return record

    def stop(self) -> str:
        """Return the stopping criterion that holds; empty where none does, or there is no incumbent yet."""
        state, patience = self.state, self.settings.patience
        if state.best is None:
            return ""
        reasons = {
            "optimal": state.closed(self.settings.tolerance),
            "time-limit": self.recorder.expired,
            "repeated": state.sigma.tobytes() in state.tried,
            "validation": patience is not None and state.stale >= patience,
            "iteration-limit": len(state.alphas) >= self.settings.max_cuts,
        }
        return next((reason for reason, holds in reasons.items() if holds), "")

    def end(self, stop: str) -> DriverResult:
        """Return the result, certified from the multipliers behind the cuts."""
        state = self.state
        answer = state.best if self.validation is None else state.chosen
        assert answer is not None
        certificate = certify_gbd(self.data, state.alphas, self.c, answer.value, state.lower, self.settings.tolerance)
        status = Status.OPTIMAL if certificate.ok else Status.FEASIBLE
        point = {"sigma": answer.sigma, "w": answer.w, "b": answer.b, "alphas": state.alphas}
        return self.recorder.end(
            status, stop, objective=answer.value, bound=state.lower, point=point, certificate=certificate
        )


def _master(data: Dataset, model: pyo.ConcreteModel, solver: str | None) -> Master | SearchMaster:
    """Return the master in a solver, or as a search, also where none is named and its rows are on sigma alone."""
    program = compile_model(model)
    columns = np.array([program.column[id(v)] for v in model.sigma.values()])
    check_objective(program, columns, program.column.get(id(model.theta)))
    if solver not in (None, SEARCH):
        return Master(data, model, solver)
    if searchable(data, program, columns):
        return SearchMaster(data, program, columns)
    if solver == SEARCH:
        raise SolverError("the search for selections takes rows on 'sigma' alone", "take a solver for 'master_solver'")
    return Master(data, model, None)


def _bound_without_cuts(prices: Vector) -> float:
    """Return a lower bound without any cut: F is not negative."""
    return float(np.minimum(prices, 0.0).sum())
