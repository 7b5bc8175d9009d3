"""Running a study: the coordinator, which hands units to an executor and writes their rows into the store."""

from __future__ import annotations

import os
import queue
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsopt.arguments import FLAG, FUNCTION, PATH, WHOLE, Kind, checked, optional
from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.plugins import load
from fsopt.studies.executors import InProcess, Processes, Task, own_entries, run_limited, run_task
from fsopt.studies.methods import study_spec
from fsopt.studies.store import Row, Store, exported, opened
from fsopt.studies.study import Study, load_all, read_study, study_from
from fsopt.studies.units import DONE, Unit, failure, units_of
from fsopt.studies.workers import portable

if TYPE_CHECKING:
    import pandas as pd

WINDOW = 64
"""Units that an executor holds at a time: enough for its workers, few enough to start and stop at once."""
PAUSE = 0.2
"""Seconds after which the wait for a row is renewed: on some systems Ctrl-C is heard between two waits only."""
MOST_JOBS = 1024
STUDY = Kind(
    "a study, a mapping or a path", lambda v: isinstance(v, Study | Mapping | str | os.PathLike), "give 'study.toml'"
)
EXECUTOR = Kind("an executor", lambda v: isinstance(v, Executor), "give a concurrent.futures.Executor")


@dataclass(frozen=True)
class Progress:
    """How far a study is: an argument of the function ``progress`` of :func:`run_study`.

    Attributes
    ----------
    finished, total : units with a row, and all units of the study.
    failed : rows without a result, time-outs among them.
    seconds_left : estimate from the units of this run; None before the first.
    last : the last row.
    """

    finished: int
    total: int
    failed: int
    seconds_left: float | None
    last: Row


@dataclass(frozen=True)
class StudyResult:
    """The rows of a study.

    Attributes
    ----------
    name : of the study.
    rows : one for each unit, in the order of the study: the columns of :data:`fsopt.studies.store.PLAIN`.
    """

    name: str
    rows: tuple[Row, ...]

    @property
    def counts(self) -> dict[str, int]:
        """State -> number of units."""
        states = [row["state"] for row in self.rows]
        return {state: states.count(state) for state in dict.fromkeys(states)}

    @property
    def complete(self) -> bool:
        """Whether every unit has a result."""
        return all(row["state"] == DONE for row in self.rows)

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a pandas DataFrame; lists are JSON texts."""
        import pandas as pd

        return pd.DataFrame(exported(self.rows))


@checked(
    study=STUDY,
    store=optional(PATH),
    executor=optional(EXECUTOR),
    jobs=WHOLE,
    retry=FLAG,
    progress=optional(FUNCTION),
)
def run_study(
    study: Study | Mapping[str, Any] | str | Path,
    *,
    store: str | Path | None = None,
    executor: Executor | None = None,
    jobs: int = -1,
    retry: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> StudyResult:
    """Run the units of a study that have no row yet, and return all rows.

    Parameters
    ----------
    study : Study | Mapping[str, Any] | str | Path
        A :class:`fsopt.studies.study.Study`, the path of a TOML file, or a mapping with its entries.
    store : str | Path, optional
        SQLite file of the rows; None keeps them in memory. A run that was killed goes on with the same file: no
        finished unit is lost or computed again.
    executor : Executor, optional
        Any ``concurrent.futures.Executor``, for example ``distributed.Client(...).get_executor()``, whose workers have
        fsopt and, where data are given by names, the files. None takes ``jobs`` processes here.
    jobs : int, default -1
        Processes on this machine; -1 takes all processors.
    retry : bool, default False
        Also compute units again that failed or were ended by a limit.
    progress : Callable[[Progress], None], optional
        Called with a :class:`Progress` after each unit.

    Returns
    -------
    StudyResult
        The rows are the same for every executor, but for the seconds.

    Raises
    ------
    ParameterError, UnknownNameError, DataError, FileError : before any fit. The error of a unit is a row.
    KeyboardInterrupt : by Ctrl-C; the rows before it are in the store.

    Notes
    -----
    A unit is killed after twice its time limit and 30 seconds. Solvers run on one thread.
    """
    asked = study if isinstance(study, Study) else _read(study)
    workers = check_jobs(jobs)
    with opened(store, write=True) as held:
        # A generator, so that what the caller gave is closed in the order of its opening.
        for state in advance(
            asked, held, executor or local_executor(asked, workers), own=executor is None, retry=retry
        ):
            if progress is not None:
                progress(state)
        return StudyResult(asked.name, tuple(held.rows(asked.name)))


def local_executor(study: Study, jobs: int) -> Executor:
    """Return processes on this machine, or this process where a function of the user cannot be sent to another one."""
    changes = [method.customise for method in study.methods]
    return Processes(jobs) if portable((own_entries(), changes)) else InProcess()


def check_jobs(jobs: int) -> int:
    """Return the number of processes; raises ParameterError."""
    if jobs == 0 or jobs < -1 or jobs > MOST_JOBS:
        raise ParameterError(f"--jobs is {jobs}", f"give 1 to {MOST_JOBS} processes, or -1 for all processors")
    return (os.cpu_count() or 1) if jobs < 0 else jobs


def _read(study: Mapping[str, Any] | str | Path) -> Study:
    return study_from({"name": "study", **study}) if isinstance(study, Mapping) else read_study(study)


def advance(study: Study, store: Store, executor: Executor, *, own: bool, retry: bool = False) -> Iterator[Progress]:
    """Plan a study, run its units that wait, and yield after each one; ``own`` executors are ended at the end."""
    load()
    try:
        loaded = load_all(study)
        units = list(units_of(study, loaded))
        store.plan(study.name, units)
        waiting = store.waiting(study.name, retry)
        sent: dict[str, Dataset] = {one.digest: one.data for one in loaded if one.file is None}
        # Methods with a loop take longest: they go first, so that no process waits for one of them at the end.
        todo = list({unit.key: unit for unit in units if unit.key in waiting}.values())
        todo.sort(key=lambda unit: not study_spec(unit.method).driver)
        yield from _recorded(study, store, _tasks(todo, sent, study.memory_limit), executor)
    except BaseException:
        if own:
            executor.shutdown(cancel_futures=True)
        raise
    if own:
        executor.shutdown()


def _tasks(units: Sequence[Unit], sent: Mapping[str, Dataset], gigabytes: float | None) -> list[Task]:
    own = own_entries()
    return [(unit, sent.get(unit.digest) if unit.file is None else None, gigabytes, own) for unit in units]


def _recorded(study: Study, store: Store, tasks: Sequence[Task], executor: Executor) -> Iterator[Progress]:
    """Write the rows of tasks as they end."""
    counts = store.counts(study.name)
    total = sum(counts.values())
    failed = sum(n for state, n in counts.items() if state not in (DONE, "waiting"))
    kept = total - len(tasks)
    failed = min(failed, kept)
    started = time.perf_counter()
    for ended, (unit, row) in enumerate(_results(tasks, executor), start=1):
        store.save(unit.key, row)
        failed += row["state"] != DONE
        left = (time.perf_counter() - started) / ended * (len(tasks) - ended)
        yield Progress(kept + ended, total, failed, left, {**unit.description, **row})


def _results(tasks: Sequence[Task], executor: Executor) -> Iterator[tuple[Unit, Row]]:
    """Yield (unit, row) as they end; an executor that loses a unit gives it a row that says so."""
    function = run_task if isinstance(executor, InProcess) else run_limited
    done: queue.SimpleQueue[tuple[Task, Future[Row]]] = queue.SimpleQueue()
    pending: set[Future[Row]] = set()
    todo = iter(tasks)
    try:
        for _ in tasks:
            while len(pending) < WINDOW and (task := next(todo, None)) is not None:
                future = executor.submit(function, task)
                pending.add(future)
                future.add_done_callback(partial(_put, done, task))
                if isinstance(executor, InProcess):
                    break
            task, future = _next(done)
            pending.discard(future)
            error = future.exception()
            yield task[0], future.result() if error is None else failure(_lost(error))
    finally:
        for future in pending:
            future.cancel()


def _put(done: queue.SimpleQueue[tuple[Task, Future[Row]]], task: Task, ended: Future[Row]) -> None:
    done.put((task, ended))


def _lost(error: BaseException) -> str:
    return f"its worker was lost ({type(error).__name__}: {str(error).partition(chr(10))[0][:200]})"


def _next(done: queue.SimpleQueue[tuple[Task, Future[Row]]]) -> tuple[Task, Future[Row]]:
    while True:  # until a worker answers: an executor ends every future
        try:
            return done.get(timeout=PAUSE)
        except queue.Empty:
            continue
