"""GBD: generalized Benders decomposition of the support vector machine with few features (paper 4, Table 1)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.compiler import compile_model
from fsopt.data import Dataset
from fsopt.drivers.gbd.checkpoint import identity, load, save
from fsopt.drivers.gbd.problems import SEARCH, Master, SearchMaster, Subproblem, check_objective, searchable
from fsopt.drivers.gbd.root import root_cut
from fsopt.drivers.gbd.state import Iterate, State, certify_gbd
from fsopt.drivers.recorder import OutOfTime, Recorder, stop_word
from fsopt.drivers.run import Progress
from fsopt.errors import ParameterError, SolverError
from fsopt.files import check_writable
from fsopt.models.blocks import number, vector, whole
from fsopt.results import DriverResult, Status
from fsopt.typing import Vector

STARTS = ("all", "zero")


STABILISATIONS = ("in-out", "none")


INWARD = 0.1
"""How far the second cut of an iteration is made from the master's selection towards the even one."""


def gbd(
    data: Dataset,
    master: pyo.ConcreteModel,
    sub: pyo.ConcreteModel,
    *,
    c: float,
    master_solver: str | None = None,
    sub_solver: str | None = None,
    start: str | ArrayLike = "all",
    root_cuts: int = 0,
    stabilisation: str = "in-out",
    tolerance: float = 1e-6,
    max_cuts: int = 250,
    validation: Dataset | None = None,
    patience: int | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    checkpoint: Path | None = None,
    resume: Path | None = None,
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
    master_solver : for the master as an MILP, the paper's loop; or ``search``, the driver's own search for the next
        selection, :class:`fsopt.drivers.gbd.search.Tree`, which goes on where it stopped. None is the search, or where
        the master has variables beside sigma and theta, or cuts already, the preferred solver for an MILP.
    sub_solver, options : for the subproblem, a QP.
    start : where the first cut is made. ``all`` features, which starts the lower bound at F(e); ``zero``, the
        paper's feasible point, or where the limits forbid it the first master's; or sigma (p,) in [0, 1].
    root_cuts : >= 0, cuts spent on the relaxation before the loop, of which one is kept, :func:`root_cut`.
    stabilisation : ``in-out`` makes a second cut in each iteration, a tenth of the way to the selection that takes
        the same share of all features: there unselected features count, which F(sigma) itself leaves free. ``none``.
    tolerance : stop when ``upper - lower <= tolerance * max(1, upper)``.
    max_cuts : at least 2; the paper stops after 250.
    validation : rows in the space of ``data``; the answer is then the iterate with the fewest errors there.
    patience : >= 1, iterations without fewer errors after which the loop stops; None goes on.
    checkpoint : file that is replaced after each iteration.
    resume : checkpoint of the same data, limits and settings to go on from; tolerance and limits may differ.

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
    _check(root_cuts, stabilisation, tolerance, max_cuts, validation, patience, checkpoint)
    first = _first(data, start)
    main = _master(data, master, master_solver)
    machine = Subproblem(data, sub, c, sub_solver, options)
    relaxed = Master(data, master, None, relaxed=True) if root_cuts and resume is None else None
    recorder = Recorder([*main.sessions, machine.session, *(relaxed.sessions if relaxed else [])], time_limit, progress)
    problem = identity(
        data, main.program, validation, c=c, start=start if isinstance(start, str) else first.tolist(),
        root_cuts=root_cuts, stabilisation=stabilisation,
    )  # fmt: skip
    state = State(first, main.allows(first), _least(main.prices))
    try:
        if resume is not None:
            state = _go_on(resume, problem, main, machine, recorder, tolerance)
        else:
            _prepare(state, main, machine, relaxed, recorder, root_cuts, allowed=start == "zero")
        while not (stop := _stop(state, recorder, tolerance, max_cuts, patience)):
            main.add(_separate(state, main, machine, recorder, validation, stabilisation, max_cuts))
            main.step(state, tolerance, recorder)
            recorder.record(**_bounds(state, validation))
            if checkpoint is not None:
                save(checkpoint, state, recorder.history, problem)
    except (KeyboardInterrupt, OutOfTime) as reason:
        if state.best is None:
            raise
        stop = stop_word(reason)
    return _end(data, state, c, tolerance, recorder, stop, state.best if validation is None else state.chosen)


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


def _check(
    root_cuts: int, stabilisation: str, tolerance: float, max_cuts: int, validation: Dataset | None,
    patience: int | None, checkpoint: Path | None,
) -> None:  # fmt: skip
    """Raise ParameterError for a setting of the loop that is out of range, FileError for a file not to be written."""
    number("gbd", "tolerance", tolerance, low=0.0)
    whole("gbd", "max_cuts", max_cuts, low=2, high=100_000)
    whole("gbd", "root_cuts", root_cuts, low=0, high=100_000)
    if stabilisation not in STABILISATIONS:
        raise ParameterError(f"'stabilisation' of 'gbd' is {stabilisation!r}", f"one of {', '.join(STABILISATIONS)}")
    if patience is not None:
        whole("gbd", "patience", patience, low=1, high=100_000)
        if validation is None:
            raise ParameterError("'gbd' has 'patience' but no 'validation'", "give rows to validate on, or neither")
    if checkpoint is not None:
        check_writable(checkpoint)


def _first(data: Dataset, start: str | ArrayLike) -> Vector:
    """Return the sigma (p,) of the first cut."""
    if not isinstance(start, str):
        return vector("gbd", "start", start, data.p, low=0.0, high=1.0)
    if start not in STARTS:
        raise ParameterError(f"'start' of 'gbd' is {start!r}", f"one of {', '.join(STARTS)}, or sigma")
    return np.full(data.p, float(start == "all"))


def _prepare(
    state: State, main: Master | SearchMaster, sub: Subproblem, relaxed: Master | None, recorder: Recorder,
    root_cuts: int, *, allowed: bool,
) -> None:  # fmt: skip
    """Make the cut at the root, if there is to be one, and go to a selection that is allowed, if it has to be."""
    if relaxed is not None:
        state.alphas = root_cut(relaxed, sub, recorder, most=root_cuts)
        main.add(state.alphas)
    if allowed and not state.allowed:
        state.sigma, state.allowed = main.first(recorder), True


def _least(prices: Vector) -> float:
    """Return a bound without any cut: F is not negative."""
    return float(np.minimum(prices, 0.0).sum())


def _bounds(state: State, validation: Dataset | None) -> dict[str, Any]:
    """Return what the history says of an iteration; there is no validation error before the first machine."""
    errors = {} if validation is None else {"validation_error": state.chosen and state.chosen.error}
    return {"objective": state.upper, "bound": state.lower, "gap": state.gap, "cuts": len(state.alphas), **errors}


def _go_on(
    path: Path,
    problem: Mapping[str, str],
    master: Master | SearchMaster,
    sub: Subproblem,
    recorder: Recorder,
    tolerance: float,
) -> State:
    """Return the state of a checkpoint, its bound proved again by the master over its cuts."""
    state, history = load(path, problem, sub, master.prices)
    recorder.history.extend(history)
    master.add(state.alphas)
    gap, state.lower = state.gap, _least(master.prices)
    master.step(state, tolerance, recorder, gap)
    return state


def _separate(
    state: State, master: Master | SearchMaster, sub: Subproblem, recorder: Recorder, validation: Dataset | None,
    stabilisation: str, max_cuts: int,
) -> list[Vector]:  # fmt: skip
    """Try the selection at hand, keep its machine where it is allowed, and return the multipliers of the new cuts."""
    sigma = state.sigma
    alpha, w = sub.solve(sigma, recorder)
    new = [alpha]
    if state.allowed:
        state.keep(sub.iterate(sigma, w, master.prices, validation))
    inward = stabilisation == "in-out" and state.best is not None and np.ptp(sigma) > 0.0
    if inward and len(state.alphas) + 1 < max_cuts:
        new.append(sub.solve((1.0 - INWARD) * sigma + INWARD * sigma.mean(), recorder)[0])
    state.alphas += new
    return new


def _stop(
    state: State, recorder: Recorder, tolerance: float, max_cuts: int, patience: int | None
) -> str:  # fmt: skip
    """Return why the loop ends here, empty where it goes on: it does so until there is an answer."""
    if state.best is None:
        return ""
    reasons = {
        "optimal": state.closed(tolerance),
        "time-limit": recorder.expired,
        "repeated": state.sigma.tobytes() in state.tried,
        "validation": patience is not None and state.stale >= patience,
        "iteration-limit": len(state.alphas) >= max_cuts,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _end(
    data: Dataset, state: State, c: float, tolerance: float, recorder: Recorder, stop: str, answer: Iterate | None
) -> DriverResult:
    assert answer is not None
    certificate = certify_gbd(data, state.alphas, c, answer.value, state.lower, tolerance)
    status = Status.OPTIMAL if certificate.ok else Status.FEASIBLE
    point = {"sigma": answer.sigma, "w": answer.w, "b": answer.b, "alphas": state.alphas}
    return recorder.end(
        status, stop, objective=answer.value, bound=state.lower, point=point, certificate=certificate
    )  # fmt: skip
