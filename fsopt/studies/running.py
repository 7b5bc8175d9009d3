"""Running a study: the coordinator, which hands units to an executor and writes their rows into the store."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from fsopt.common.arguments import FLAG, FUNCTION, PATH, WHOLE, Argument, checked, optional
from fsopt.common.customising import FromFile
from fsopt.common.teams import WINDOW, check_jobs, results
from fsopt.data import Dataset
from fsopt.errors import StoreLost
from fsopt.studies.executors import InProcess, Task, local_processes, own_entries, run_limited, run_task
from fsopt.studies.methods import study_spec
from fsopt.studies.row_checking import WAITING
from fsopt.studies.store import Row, Store, exported, opened
from fsopt.studies.study import Study, load_all, read_study, study_from
from fsopt.studies.units import ABSENT, DONE, Unit, failure, units_of
from fsopt.studies.workers import portable

if TYPE_CHECKING:
    import pandas as pd


STUDY = Argument(
    "a study, a mapping or a path", lambda v: isinstance(v, Study | Mapping | str | os.PathLike), "give 'study.toml'"
)
EXECUTOR = Argument("an executor", lambda v: isinstance(v, Executor), "give a concurrent.futures.Executor")
SHORTEST = 0.01
"""Seconds that a unit takes at least: those beside its fit."""


@dataclass(frozen=True)
class Progress:
    """How far a study is: an argument of the function ``progress`` of :func:`run_study`.

    Attributes
    ----------
    finished, total : units with a row (while the study is planned, those that are), and all units of the study.
    failed : rows without a result, time-outs among them.
    seconds_left : estimate; None before a unit of each method has ended on each data set.
    last : the last row; empty while the study is planned, of which one with many units tells now and then.
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
    allow_code=FLAG,
    progress=optional(FUNCTION),
)
def run_study(
    study: Study | Mapping[str, Any] | str | Path,
    *,
    store: str | Path | None = None,
    executor: Executor | None = None,
    jobs: int = -1,
    retry: bool = False,
    allow_code: bool = False,
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
    allow_code : bool, default False
        Let a TOML file name Python functions beside it (``customise``), whose files are then run. A mapping may always.
    progress : Callable[[Progress], None], optional
        Called with a :class:`Progress` after each unit.

    Returns
    -------
    StudyResult
        The rows are the same for every executor, but for the seconds.

    Raises
    ------
    ParameterError, UnknownNameError, DataError, FileError : before any fit. The error of a unit is a row.
    StoreLost : the store was removed, replaced or changed, or cannot be written any more.
    WorkersLost : the executor can run nothing any more; the rows before that are in the store.
    KeyboardInterrupt : by Ctrl-C; the rows before it are in the store.

    Notes
    -----
    A unit is killed when it has used twice its time limit and 30 seconds of a processor, or after ten times as long if
    it sleeps. Solvers run on one thread.
    """
    asked = study if isinstance(study, Study) else _read(study, allow_code)
    workers, plan = check_jobs(jobs), planned(asked)
    with opened(store, write=True) as database:
        # A generator, so that what the caller gave is closed in the order of its opening.
        for state in advance(plan, database, executor, workers, retry=retry):
            if progress is not None:
                progress(state)
        if store is None:
            return _result(plan, database)
    with opened(store) as database:  # the rows that the file has, whatever others did to it meanwhile
        return _result(plan, database)


def _result(plan: Plan, database: Store) -> StudyResult:
    """Return the rows of all units; raises StoreLost where the store does not have them."""
    rows = tuple(database.rows(plan.study.name))
    ended = sum(row["state"] != WAITING for row in rows)
    if ended != len(plan.units):
        reason = f"the store has {ended} of {len(plan.units)} rows of the run: others changed it"
        raise StoreLost(reason, "the same command computes the others")
    return StudyResult(plan.study.name, rows)


def _workers(study: Study, given: Executor | None, jobs: int) -> AbstractContextManager[Executor]:
    """Return a given executor, else processes here; this one for a function of the user that others cannot be sent."""
    if given is not None:
        return nullcontext(given)
    # A function of a file goes with the text of the file, which may hold any word.
    changes = [f for method in study.methods for f in method.customise.values() if not isinstance(f, FromFile)]
    return local_processes(jobs) if portable((own_entries(), changes)) else nullcontext(InProcess())


def _read(study: Mapping[str, Any] | str | Path, allow_code: bool) -> Study:
    if isinstance(study, Mapping):
        return study_from({"name": "study", **study})
    return read_study(study, allow_code=allow_code)


@dataclass(frozen=True)
class Plan:
    """A study whose data are read: the data of each fingerprint, and all units."""

    study: Study
    data: Mapping[str, Dataset]
    units: Sequence[Unit]


def planned(study: Study) -> Plan:
    """Return the plan of a study; raises DataError, FileError, ParameterError for data that cannot be had or split."""
    loaded = load_all(study)
    return Plan(study, {one.digest: one.data for one in loaded}, units_of(study, loaded))


def advance(
    plan: Plan, store: Store, executor: Executor | None, jobs: int, *, retry: bool = False
) -> Iterator[Progress]:
    """Run the units of a study that wait, on an executor or so many processes here, and yield after each one."""
    study = plan.study
    with _workers(study, executor, jobs) as workers:
        for count in store.plan(study.name, plan.units):
            yield Progress(count, len(plan.units), 0, None, {})
        todo = in_order(plan.units, store.waiting(study.name, retry))
        yield from _recorded(plan, store, todo, workers)


def _recorded(plan: Plan, store: Store, todo: Sequence[int], executor: Executor) -> Iterator[Progress]:
    """Write the rows of the units at these places as they end."""
    counts = store.counts(plan.study.name)
    total = sum(counts.values())
    failed = sum(n for state, n in counts.items() if state not in (DONE, WAITING))
    kept = total - len(todo)
    failed = min(failed, kept)
    started, rest = time.perf_counter(), Rest(plan.units[place] for place in todo)
    for ended, (unit, row) in enumerate(_results(plan, todo, executor, store.settle), start=1):
        store.save(unit.key, row)
        failed += row["state"] != DONE
        left = rest.seconds(unit, row, time.perf_counter() - started)
        yield Progress(kept + ended, total, failed, left, {**unit.description, **row})


def _results(
    plan: Plan, places: Sequence[int], executor: Executor, idle: Callable[[], None]
) -> Iterator[tuple[Unit, Row]]:
    """Yield (unit, row) as they end, and call ``idle`` where none is there; a lost unit has a row that says so."""
    own, sent = own_entries(), set[str]()
    absent: list[Unit] = []
    here = isinstance(executor, InProcess)

    def calls(units: Iterable[Unit]) -> Iterator[tuple[Unit, tuple[Any, ...]]]:
        # Workers read the files of the study themselves. Data that one of them does not have are sent from then on.
        for unit in units:
            needed = unit.file is None or unit.digest in sent
            task: Task = (unit, plan.data[unit.digest] if needed else None, plan.study.memory_limit, own)
            yield unit, (run_task if here else run_limited, task)

    for units in (map(plan.units.__getitem__, places), absent):
        for unit, future in results(executor, calls(units), 1 if here else WINDOW, idle):
            error = future.exception()
            row = future.result() if error is None else failure(_lost(error))
            if row["state"] == ABSENT:
                sent.add(unit.digest)
                absent.append(unit)
            else:
                yield unit, row


def _lost(error: BaseException) -> str:
    return f"its worker was lost ({type(error).__name__}: {str(error).partition(chr(10))[0][:200]})"


def in_order(units: Sequence[Unit], places: Iterable[int]) -> list[int]:
    """Return places of units in the order in which these are run.

    One of each method on each data set goes first, by which the rest is estimated. Methods with a loop take longest and
    go before the others, so that no process waits for one of them at the end.
    """
    found = sorted(places, key=lambda place: not study_spec(units[place].method).driver)
    first: dict[tuple[str, str, str | None], int] = {}
    for place in found:
        first.setdefault(kind_of(units[place]), place)
    ahead = frozenset(first.values())
    return [*first.values(), *(place for place in found if place not in ahead)]


def kind_of(unit: Unit) -> tuple[str, str, str | None]:
    """Return what units of about the same time have in common: data, method and solver."""
    return unit.digest, unit.method, unit.solver


class Rest:
    """The estimate of the seconds that units which are left take."""

    def __init__(self, units: Iterable[Unit]) -> None:
        self.left = Counter(map(kind_of, units))
        self.taken: dict[tuple[str, str, str | None], list[float]] = {}

    def seconds(self, unit: Unit, row: Row, elapsed: float) -> float | None:
        """Return the estimate after a unit has ended; None where no unit of a kind that is left has.

        A unit is taken to need the mean of its kind. All of them passed in ``elapsed`` seconds, side by side.
        """
        kind = kind_of(unit)
        self.left[kind] -= 1
        self.taken.setdefault(kind, []).append(max(row.get("seconds") or 0.0, SHORTEST))
        if any(number and one not in self.taken for one, number in self.left.items()):
            return None
        work = sum(number * fmean(self.taken[one]) for one, number in self.left.items() if number)
        return elapsed / sum(map(sum, self.taken.values())) * work
