"""Driver ``branch_and_benders``: the SVM with few features by branch and bound over Boolean relaxations."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from fsopt.answers.certificate import closed
from fsopt.answers.results import DriverResult
from fsopt.certificates.points import relative_gap
from fsopt.common import clock
from fsopt.common.clock import deferred_interruption
from fsopt.common.files import Keeper, check_writable
from fsopt.common.teams import processes
from fsopt.data import Dataset
from fsopt.drivers.gbd.master import NONE_FEASIBLE
from fsopt.drivers.loop import Iterate, Loop, Within, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, ENDS, OutOfTimeError, Run, Steps, resumable
from fsopt.errors import InfeasibleError, ParameterError
from fsopt.search.branch_and_benders import evidence
from fsopt.search.branch_and_benders.compiled import before_the_clock, counted
from fsopt.search.branch_and_benders.cuts import Grid
from fsopt.search.branch_and_benders.problem import DEFAULT_SETTINGS, BranchSettings, SelectionProblem
from fsopt.search.branch_and_benders.root import STAGES, any_selection, begin
from fsopt.search.branch_and_benders.search import SelectionSearch
from fsopt.search.branch_and_benders.tasks import SHARE, Team

NAME = "branch-and-benders"
"""The solver in results: no other software is called."""
KEPT_BYTES = 2**27
"""Bytes of multipliers that are kept as evidence; a leaf without its cut is solved again when it is checked."""
FIRST_NODES, MORE_NODES = 16, 0.05
"""Nodes of the first slice between two records, and of the later ones as a share of the nodes so far. Counted in nodes
a run has the same records whenever it is repeated, or resumed."""
POLISH = 1e-10
"""Relative gap of the support vector machine on the answer."""
RAMP = 32
"""Open nodes for each task before subtrees are given out."""


@resumable
def branch_and_benders(
    problem: SelectionProblem,
    *,
    settings: BranchSettings = DEFAULT_SETTINGS,
    run: Run = DEFAULT_RUN,
    seeds: Sequence[Grid] = (),
) -> Steps[DriverResult]:
    r"""Minimise :math:`F(\sigma) + \lambda'\sigma` over the selections with :math:`R\sigma \le r`.

    A node is a partial selection. Its bound is the Boolean relaxation, a convex quadratic program in the multipliers
    alpha; every alpha is made exactly dual feasible and is a Benders cut for all nodes. A node is pruned by the best
    cut of the pool, or by its own; one cut also decides single features. Incumbents are rounded relaxations and
    exchanges of two features.

    Parameters
    ----------
    problem : see :func:`fsopt.methods.gbd.problems.selection_problem`.
    settings : stopping criteria, an initial selection, number of tasks.
    run : time limit, progress, checkpoint, resume, and the executor of ``settings.jobs`` tasks; no solver is called.
    seeds : multipliers on the grid of another run on the same samples, with other constraints or another C: their
        cuts hold here too.

    Returns
    -------
    DriverResult
        ``point`` has ``sigma``, ``w``, ``b``, the ``evidence`` behind the bound, see
        :mod:`fsopt.search.branch_and_benders.evidence`, and the ``seeds`` for another run. ``optimal`` where the
        gap is closed, else ``feasible``. ``stop`` is ``optimal``, ``time-limit``, ``iteration-limit`` or
        ``interrupted``. ``history`` has, for each slice of the search, ``elapsed`` seconds, ``objective``, ``bound``,
        ``gap``, ``nodes``, ``open`` and ``solved``.

    Raises
    ------
    InfeasibleError : no selection satisfies the constraints.
    ParameterError : a setting out of range, or an initial selection that the constraints forbid.
    FileError : a checkpoint that cannot be written, or is damaged or of another run.

    Notes
    -----
    Aytug's problem (5)-(11) and cuts (9); the node bound is half the squared k-support norm in place of the
    cardinality (Argyriou, Foygel and Srebro, 2012), single features are decided as by Atamturk and Gomez (2020).
    """
    settings.check()
    if settings.initial is not None and not problem.allowed(settings.initial):
        raise ParameterError("the initial selection of 'best-subset' breaks a constraint", "give an allowed one")
    if run.checkpoint is not None:
        check_writable(run.checkpoint)
    with threadpool_limits(1), counted(), before_the_clock(_small), deferred_interruption() as interrupted:
        loop = _Loop(problem, settings, run, interrupted)
        _, stop = yield from run_loop(loop.iterates(seeds), loop.recorder, loop.save)
        return loop.end(stop)


def _small() -> None:
    """Search among few selections of few features."""
    y, X = np.tile([1.0, -1.0], 16), np.random.default_rng(0).standard_normal((32, 6))
    data = Dataset(X + 0.3 * y[:, None], y)
    problem = SelectionProblem.of(data, 1.0, np.ones((1, 6)), np.array([3.0]), np.zeros(6))
    search = SelectionSearch(problem, DEFAULT_SETTINGS)
    deque(begin(search, lambda: True), 0)
    search.run(100, lambda: True)


class _Loop:
    """A search, the clock, and the record."""

    def __init__(
        self, problem: SelectionProblem, settings: BranchSettings, run: Run, interrupted: Callable[[], bool]
    ) -> None:
        self.problem, self.settings = problem, settings
        self.run, self.interrupted = run, interrupted
        self.search = SelectionSearch(problem, settings)
        self.recorder = Recorder([], run)
        self.keeper = Keeper(run.checkpoint, evidence.save_checkpoint)
        self.started = self.counted = time.perf_counter()
        self.slice_end = 0

    @property
    def elapsed(self) -> float:
        """Seconds so far, with those of the run that was resumed."""
        return time.perf_counter() - self.started

    def go_on(self) -> bool:
        """Return whether neither the time limit has passed nor the user interrupts."""
        return not clock.expired() and not self.interrupted()

    def iterates(self, seeds: Sequence[Grid]) -> Loop:
        """Yield the incumbents and bounds of the slices of the search."""
        try:
            if self.run.resume is None:
                self.search.seed(seeds)
            else:
                self._resume(self.run.resume)
            yield from self._begin()
            stop = yield from self._search_on()
        except ENDS:
            if self.search.incumbents.best is not None:
                yield self.iterate(complete=False, write=False, told=not self.recorder.history)
            raise
        yield self.iterate(complete=False, write=False, told=False, stop=stop)

    def _begin(self) -> Loop:
        """Solve the root as far as it is not solved, with a checkpoint after each stage; raises InfeasibleError."""
        search, infeasible = self.search, InfeasibleError(NONE_FEASIBLE, "drop one of the limits")
        if search.problem.root() is None:
            raise infeasible
        for stage in begin(search, self.go_on, self.settings.initial):
            found = search.incumbents.best is not None
            if stage == STAGES and not found and not any_selection(search, self.go_on):
                raise infeasible
            if stage == STAGES or (stage == 1 and found):
                yield self.iterate()
            else:
                self._write(self.recorder.history)
        if search.stage < STAGES:
            yield self.iterate(complete=False, write=False)

    def _resume(self, path: Path) -> None:
        """Go on where a checkpoint ends, from the given selection too where it is another one."""
        self.search, run = evidence.load_checkpoint(path, self.problem, self.settings)
        self.slice_end = run["slice_end"]
        self.started -= run["elapsed"]
        self.recorder.resume(run["history"], [NAME])
        if self.search.stage and self.settings.initial is not None:
            self.search.incumbents.try_selection(self.settings.initial)

    def _search_on(self) -> Within[str]:
        """Search until a stopping criterion holds, and return it."""
        search, jobs = self.search, self.settings.jobs
        yield from self._slices(lambda: jobs == 1 or len(search.frontier) < RAMP * jobs)
        if jobs > 1 and not self._stop():
            with processes(jobs, self.run.executor) as executor:
                for _ in Team(search, jobs, lambda: not self._stop()).rounds(executor, self.started):
                    yield self.iterate(write=self.keeper.due())
                yield self.iterate()
            yield from self._slices(lambda: True)  # what a team that lost its processes left
        return self._stop()

    def _stop(self) -> str:
        """Return the stopping criterion that holds; empty where none does."""
        most = self.settings.max_nodes
        reasons = {
            "optimal": not self.search.open,
            "interrupted": self.interrupted(),
            "time-limit": clock.expired(),
            "iteration-limit": most is not None and self.search.nodes >= most,
        }
        return next((reason for reason, holds in reasons.items() if holds), "")

    def _slices(self, wanted: Callable[[], bool]) -> Loop:
        """Search in slices while no stopping criterion holds."""
        search, most = self.search, self.settings.max_nodes
        while not self._stop() and wanted():
            if search.nodes >= self.slice_end:
                self.slice_end = search.nodes + max(FIRST_NODES, int(MORE_NODES * search.nodes))
            end = self.slice_end if most is None else min(self.slice_end, most)
            search.run(end - search.nodes, lambda: self._between_nodes() and wanted())
            complete = search.nodes >= self.slice_end or not search.frontier
            yield self.iterate(complete=complete, write=bool(self._stop()) or self.keeper.due())

    def _between_nodes(self) -> bool:
        """Write a checkpoint where it is time for one, and return whether the search goes on."""
        if self.keeper.due():
            self._write(self.recorder.history)
        return self.go_on()

    def iterate(self, *, complete: bool = True, write: bool = True, told: bool = True, stop: str = "") -> Iterate:
        """Return the incumbent, with its record where ``told``; multipliers that nothing needs are dropped."""
        # The checkpoint has no record of an incomplete slice: a run that resumes completes it.
        search, upper = self.search, self.search.incumbents.value
        search.forget(KEPT_BYTES)
        lower = min(search.bound, upper)
        now = time.perf_counter()
        self.recorder.count(NAME, now - self.counted)
        self.counted = now
        record = {
            "elapsed": self.elapsed,
            "objective": float(upper),
            "bound": float(lower),
            "gap": float(relative_gap(upper, lower)),
            "nodes": search.nodes,
            "open": len(search.frontier),
            "solved": search.solved,
        }
        point = {} if search.incumbents.best is None else {"search": search}
        how = {"complete": complete, "write": write}
        return Iterate(upper, point, lower, how, record if told else None, stop, within=True)

    def save(self, at: Iterate) -> None:
        """Replace the checkpoint where an iterate asks for it."""
        if at.evidence["write"]:
            self._write(self.recorder.history if at.evidence["complete"] else self.recorder.history[:-1])

    def _write(self, history: list[Mapping[str, Any]]) -> None:
        self.keeper.write(self.search, {"history": history, "slice_end": self.slice_end, "elapsed": self.elapsed})

    def end(self, stop: str) -> DriverResult:
        """Return the result, with the support vector machine on the incumbent solved to all digits."""
        search = self.search
        best, cuts = search.incumbents.best, search.tree.cuts
        assert best is not None
        search.incumbents.best, search.incumbents.gap = None, POLISH
        left = clock.left()  # at least a tenth of a second
        grace = None if left is None else max(left, SHARE * (self.run.time_limit or 0.0))
        with suppress(OutOfTimeError), clock.limited(grace, extend=True):
            search.incumbents.solve(best.selection)
        point: dict[str, Any] = {"seeds": [cuts[name][0] for name in search.pool.names if name in cuts]}
        # A value that is as good may be that of another hyperplane, as far as the last digits of a value tell.
        polished = search.incumbents.best
        answer = best if polished is None or polished.value > best.value * (1.0 + POLISH) else polished
        search.incumbents.best = answer
        lower = float(min(search.bound, answer.value))
        certificate = evidence.certify(search, answer, lower)
        point |= {
            "sigma": answer.selection.astype(float),
            "w": answer.w,
            "b": answer.b,
            "evidence": evidence.pack(search),
        }
        self.recorder.count(NAME, time.perf_counter() - self.counted)
        stop = closed(stop, certificate.residuals["gap"], self.settings.tolerance)
        return self.recorder.end_certified(certificate, stop, point)
