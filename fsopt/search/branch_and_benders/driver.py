"""Driver ``branch_and_benders``: the SVM with few features by branch and bound over Boolean relaxations."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from fsopt.answers.certificate import reason_to_stop
from fsopt.answers.results import DriverResult
from fsopt.certificates.points import relative_gap
from fsopt.common import clock
from fsopt.common.clock import deferred_interruption
from fsopt.common.files import Keeper, check_writable
from fsopt.common.teams import processes
from fsopt.drivers.gbd.master import NONE_FEASIBLE
from fsopt.drivers.loop import Iterate, Loop, Within, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, ENDS, OutOfTimeError, Run, Steps, resumable
from fsopt.errors import InfeasibleError, ParameterError
from fsopt.search.branch_and_benders import evidence
from fsopt.search.branch_and_benders.compiled import counted
from fsopt.search.branch_and_benders.cuts import Grid
from fsopt.search.branch_and_benders.problem import DEFAULT_SETTINGS, BranchSettings, SelectionProblem
from fsopt.search.branch_and_benders.root import begin
from fsopt.search.branch_and_benders.search import SelectionSearch
from fsopt.search.branch_and_benders.tasks import SHARE, rounds

NAME = "branch-and-benders"
"""The solver in results: no other software is called."""
KEPT_BYTES = 2**27
"""Bytes of multipliers that are kept as evidence; a leaf without its cut is solved again when it is checked."""
FIRST_NODES, MORE_NODES = 16, 0.05
"""Nodes of the first slice between two records, and of the later ones as a share of the nodes so far. Counted in nodes
a run has the same records whenever it is repeated."""
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
        :mod:`fsopt.search.branch_and_benders.evidence`, and the ``seeds`` for another run. ``optimal`` where the gap is
        closed, else ``feasible``. ``stop`` is ``optimal``, ``time-limit``, ``iteration-limit``, ``interrupted``,
        ``memory`` or the gap of a search that ended, ``within 10``. ``history`` has, for each slice of the search,
        ``elapsed`` seconds, ``objective``, ``bound``, ``gap``, ``nodes``, ``open`` and ``solved``.

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
    with threadpool_limits(1), counted(), deferred_interruption() as interrupted:
        loop = _Loop(problem, settings, run, interrupted)
        _, stop = yield from run_loop(loop.iterates(seeds), loop.recorder, loop.save)
        return loop.end(stop)


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

    def go_on(self) -> bool:
        """Return whether neither the time limit has passed nor the user interrupts; write a checkpoint if it is due."""
        self.save()
        return not clock.expired() and not self.interrupted()

    def iterates(self, seeds: Sequence[Grid]) -> Loop:
        """Yield the incumbents and bounds of the slices of the search."""
        try:
            if self.run.resume is not None:
                self._resume(self.run.resume)
            self.search.seed(seeds)
            yield from self._begin()
            stop = yield from self._search_on()
        except ENDS:
            if self.search.incumbents.best is not None:
                yield self.iterate(told=not self.recorder.history)
            raise
        yield self.iterate(told=False, stop=stop)

    def _begin(self) -> Loop:
        """Solve the root where it is not solved."""
        if self.search.begun:
            return
        for _ in begin(self.search, self.go_on, self.settings.initial):
            if not self.recorder.history and self.search.incumbents.best is not None:
                yield self.iterate()
        yield self.iterate()

    def _resume(self, path: Path) -> None:
        """Go on where a checkpoint ends, from the given selection too where it is another one."""
        self.search, run = evidence.load_checkpoint(path, self.problem, self.settings)
        self.started -= run["elapsed"]
        self.recorder.resume(run["history"], [NAME])
        if self.search.begun and self.settings.initial is not None:
            self.search.incumbents.try_selection(self.settings.initial)

    def _search_on(self) -> Within[str]:
        """Search until a stopping criterion holds, and return it."""
        search, jobs = self.search, self.settings.jobs
        yield from self._slices(lambda: jobs == 1 or len(search.frontier) < RAMP * jobs)
        if jobs > 1 and not self._stop():
            with processes(jobs, self.run.executor) as executor:
                for _ in rounds(search, jobs, executor, lambda: not self._stop()):
                    yield self.iterate()
            yield from self._slices(lambda: True)  # what lost workers left
        return self._stop()

    def _stop(self) -> str:
        """Return the stopping criterion that holds; empty where none does."""
        most = self.settings.max_nodes
        reasons = {
            "optimal": not self.search.frontier,
            "interrupted": self.interrupted(),
            "time-limit": clock.expired(),
            "iteration-limit": most is not None and self.search.nodes >= most,
        }
        return next((reason for reason, holds in reasons.items() if holds), "")

    def _slices(self, wanted: Callable[[], bool]) -> Loop:
        """Search in slices while no stopping criterion holds."""
        search, most = self.search, self.settings.max_nodes
        while not self._stop() and wanted():
            slice_of = max(FIRST_NODES, int(MORE_NODES * search.nodes))
            nodes = slice_of if most is None else min(slice_of, most - search.nodes)
            search.run(nodes, lambda: self.go_on() and wanted())
            yield self.iterate()

    def iterate(self, *, told: bool = True, stop: str = "") -> Iterate:
        """Return the incumbent, with its record where ``told``; multipliers that nothing needs are dropped."""
        search, upper = self.search, self.search.incumbents.value
        search.forget(KEPT_BYTES)
        lower = min(search.bound, upper)
        now = time.perf_counter()
        self.recorder.count(NAME, now - self.counted)
        self.counted = now
        point = {} if search.incumbents.best is None else {"search": search}
        if not (told and point):
            return Iterate(upper, point, lower, stop=stop, within=True)
        record = {
            "elapsed": now - self.started,
            "objective": float(upper),
            "bound": float(lower),
            "gap": float(relative_gap(upper, lower)),
            "nodes": search.nodes,
            "open": len(search.frontier),
            "solved": search.solved,
        }
        return Iterate(upper, point, lower, record=record, stop=stop, within=True)

    def save(self, at: Iterate | None = None) -> None:
        """Write a checkpoint where it is time for one, and after a record where the loop ends."""
        if self.keeper.due() or (at is not None and self._stop()):
            elapsed = time.perf_counter() - self.started
            self.keeper.write(self.search, {"history": self.recorder.history, "elapsed": elapsed})

    def end(self, stop: str) -> DriverResult:
        """Return the result, with the support vector machine on the incumbent solved to all digits."""
        search = self.search
        best, cuts = search.incumbents.best, search.tree.cuts
        if best is None:
            late = OutOfTimeError("no selection was found in time", "give more seconds")
            ended = KeyboardInterrupt() if stop == "interrupted" else late
            raise ended if search.frontier else InfeasibleError(NONE_FEASIBLE, "drop one of the limits")
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
        stop = reason_to_stop(stop, certificate.residuals["gap"], self.settings.tolerance)
        return self.recorder.end_certified(certificate, stop, point)
