"""Running a study in processes, and the store of its rows, which reproductions have too.

The store is one SQLite table of keys and sealed JSON texts, a transaction for each: a killed program loses the units in
progress alone. Several programs may write it at a time; the workers never open it.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from fsopt.answers.records import digest, plain, sealed
from fsopt.common.arguments import FLAG, FUNCTION, PATH, WHOLE, Argument, checked, optional
from fsopt.common.clock import seconds_of
from fsopt.common.files import brief, check_readable, check_writable
from fsopt.common.registry import REGISTRIES
from fsopt.common.teams import check_jobs, unordered
from fsopt.data import Dataset
from fsopt.errors import FileError, StoreLost, WorkersLost
from fsopt.studies.study import Study, Unit, load_all, read_study, study_from, units_of, versions
from fsopt.studies.units import DONE, FAILED, TIMEOUT, failure, row_of, run_task

if TYPE_CHECKING:
    import pandas as pd

Row: TypeAlias = dict[str, Any]
TABLE = "rows"
"""Of a store; another version of the rows is another table."""
WAITING = 60.0
"""Seconds for which a program waits for another one that writes its row."""
HARD, MORE = 2.0, 30.0
"""The process of a unit ends after this multiple of its limit and these seconds."""


class Store:
    """An open store, made by :func:`opened`; ``damaged``: the keys of rows that are not as a run had written them."""

    def __init__(self, connection: sqlite3.Connection, place: Path | None) -> None:
        self.connection, self.place = connection, place
        self.found = None if place is None else place.stat()
        self.damaged: list[str] = []

    def put(self, key: str, row: Mapping[str, Any]) -> None:
        """Write a row in place of that of its key, durable when this returns: the program may be killed then."""
        now = self.place.stat() if self.place is not None and self.place.exists() else None
        if self.found is not None and (now is None or not os.path.samestat(now, self.found)):  # its rows would be lost
            reason = f"the store '{brief(str(self.place))}' was removed or replaced during the run"
            raise StoreLost(reason, "put it back or give another file: the same command computes what it lacks")
        with self.connection as transaction:
            text = json.dumps(plain(sealed(row)))
            transaction.execute(f"INSERT OR REPLACE INTO {TABLE} VALUES (?, ?)", (key, text))

    def get(self, key: str) -> Row | None:
        """Return the row of a key; None where there is none, or it is not as it was written."""
        found = self.connection.execute(f"SELECT row FROM {TABLE} WHERE key = ?", (key,)).fetchone()
        return None if found is None else _unsealed(found[0])

    def rows(self) -> dict[str, Row]:
        """Return key -> row of all that are as they were written; ``damaged`` has the others."""
        listed = self.connection.execute(f"SELECT key, row FROM {TABLE} ORDER BY rowid")
        found = {str(key): _unsealed(text) for key, text in listed}
        self.damaged = [key for key, row in found.items() if row is None]
        return {key: row for key, row in found.items() if row is not None}

    def part(self, experiment: str, arguments: Mapping[str, Any], compute: Callable[[], Any]) -> tuple[Any, float]:
        """Return the value of a part of an experiment, as JSON has it, and its seconds; compute one without a row."""
        asked = json.dumps([experiment, plain(arguments), dict(versions())], sort_keys=True)
        key = hashlib.sha256(asked.encode()).hexdigest()[:32]
        found = self.get(key)
        if found is None:
            started = time.perf_counter()
            value = json.loads(json.dumps(compute(), default=plain))
            found = {"experiment": experiment, "value": value, "seconds": time.perf_counter() - started}
            self.put(key, found)
        return found["value"], found["seconds"]


def _unsealed(text: Any) -> Row | None:
    """Return the row of a text, None where it is not as it was written."""
    with suppress(ValueError, TypeError, RecursionError):
        row: Row = json.loads(text)
        if row["digest"] == digest(row):
            return {name: value for name, value in row.items() if name not in ("format", "digest")}
    return None


@contextmanager
def opened(path: str | Path | None, *, write: bool = False) -> Iterator[Store]:
    """Open a store for a block, None in memory; FileError for another file or version, StoreLost while it is open."""
    write, place = write or path is None, None
    address, kind = ":memory:", FileError
    if path is not None:
        place = (check_writable(path) if write else check_readable(path, "the store")).resolve()
        address = f"{place.as_uri()}?mode={'rwc' if write else 'ro'}"
    try:
        with closing(sqlite3.connect(address, WAITING, uri=True)) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if tables - {TABLE} or not (tables or write):
                hint = "give the file of 'fsopt study --store', or the name of a new one, which the run fills again"
                raise FileError(f"'{brief(str(place))}' is no store of studies of this version", hint)
            if write:  # no wait for the disk at each row, a power cut may cost the last ones
                made = f"CREATE TABLE IF NOT EXISTS {TABLE} (key TEXT PRIMARY KEY, row TEXT)"
                connection.executescript(f"{made}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")
                kind = StoreLost
            try:
                yield Store(connection, place if write else None)
            finally:
                if write:
                    with suppress(sqlite3.Error):  # at rest it is one file; others that are at it leave it a log
                        connection.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        hint = "free space, or give another file: rows that are written stay, and the same command goes on"
        raise kind(f"the store '{brief(str(place))}' cannot be used: {error}", hint) from error


STUDY = Argument(
    "a study, a mapping or a path", lambda v: isinstance(v, Study | Mapping | str | os.PathLike), "give 'study.toml'"
)


@dataclass(frozen=True)
class Progress:
    """How far a study is: units with a row, all units, rows without a result, an estimate of the rest, the last row."""

    finished: int
    total: int
    failed: int
    seconds_left: float
    last: Row


@dataclass(frozen=True)
class StudyResult:
    """The rows of a study, one for each unit, in the order of the study."""

    name: str
    rows: tuple[Row, ...]

    @property
    def counts(self) -> dict[str, int]:
        """State -> number of units."""
        return dict(Counter(row["state"] for row in self.rows))

    @property
    def complete(self) -> bool:
        """Whether every unit has a result."""
        return all(row["state"] == DONE for row in self.rows)

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a pandas DataFrame; lists are JSON texts."""
        return frame_of(self.rows)


def frame_of(rows: Iterable[Row]) -> pd.DataFrame:
    """Return rows as a pandas DataFrame; lists and mappings are JSON texts."""
    import pandas as pd

    texts = [{k: json.dumps(v) if isinstance(v, list | dict) else v for k, v in row.items()} for row in rows]
    return pd.DataFrame(texts)


@checked(study=STUDY, store=optional(PATH), jobs=WHOLE, retry=FLAG, progress=optional(FUNCTION))
def run_study(
    study: Study | Mapping[str, Any] | str | Path,
    *,
    store: str | Path | None = None,
    jobs: int = -1,
    retry: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> StudyResult:
    """Run the units of a study that have no row yet, and return all rows.

    Parameters
    ----------
    study : Study | Mapping[str, Any] | str | Path
        The path of a TOML file, or a mapping with its entries; its ``data`` may be data sets, and its ``methods``
        names, mappings, and pairs of a name and a classifier of scikit-learn.
    store : str | Path, optional
        SQLite file of the rows; None keeps them in memory. A run that was killed goes on with the same file: no
        finished unit is lost or computed again. Several programs may share it.
    jobs : int, default -1
        Processes on this machine; -1 takes all processors. ``joblib.parallel_config("dask")`` around the call takes
        those of a cluster.
    retry : bool, default False
        Also compute units again that failed or were ended by a limit.
    progress : Callable[[Progress], None], optional
        Called with a :class:`Progress` after each unit.

    Returns
    -------
    StudyResult
        The rows are the same for every number of processes, but for the seconds.

    Raises
    ------
    ParameterError, UnknownNameError, DataError : before any fit. The error of a unit is a row.
    FileError : the store cannot be used; StoreLost where it was removed or replaced, or cannot be written any more.
    WorkersLost : the scheduler of a cluster was lost; the rows before that are in the store.
    KeyboardInterrupt : by Ctrl-C; the rows before it are in the store.

    Notes
    -----
    A unit whose process dies is computed once more, alone; if it dies again, its row says so. The process of a unit
    ends after twice its time limit and 30 seconds. Solvers run on one thread.
    """
    if isinstance(study, Study):
        asked = study
    else:
        asked = study_from(study) if isinstance(study, Mapping) else read_study(study)
    count, loaded = check_jobs(jobs), load_all(asked)
    units = {unit.key: unit for unit in units_of(asked, loaded)}
    with opened(store, write=True) as held:
        found = {key: row for key, row in held.rows().items() if key in units}
        done = {key for key, row in found.items() if row["state"] == DONE or not retry}
        todo = [key for key in units if key not in done]
        failed = sum(found[key]["state"] != DONE for key in done)
        if store is not None:  # programs that share a store seldom take the same unit, and the rest is foreseen
            random.shuffle(todo)

        def waiting() -> Iterator[Unit]:
            # Asked when a process has place for it: another program may have computed a unit meanwhile.
            for key in todo:
                other = None if key in found else held.get(key)
                if other is None:
                    yield units[key]
                else:
                    found[key] = other

        begun = time.perf_counter()
        for ended, (key, row) in enumerate(_computed(waiting(), loaded, asked, count), start=1):
            held.put(key, row)
            found[key] = row
            failed += row["state"] != DONE
            left = (time.perf_counter() - begun) / ended * (len(todo) - ended)
            if progress is not None:
                progress(Progress(len(done) + ended, len(units), failed, left, row))
    return StudyResult(asked.name, tuple(found[key] for key in units))


def _computed(
    waiting: Iterator[Unit], loaded: Mapping[str, tuple[str, Dataset]], study: Study, jobs: int
) -> Iterator[tuple[str, Row]]:
    """Yield the keys and rows of units as they end."""
    own = {what: dict(registry.own) for what, registry in REGISTRIES.items() if registry.own}
    out, seconds = dict[str, Unit](), seconds_of(study.time_limit)
    limit = None if seconds is None else HARD * seconds + MORE  # whatever a solver does

    def calls(units: Iterable[Unit]) -> Iterator[tuple[Any, ...]]:
        for unit in units:
            out[unit.key] = unit
            yield limit, run_task, unit, loaded[unit.digest][1], own

    while True:
        try:
            for key, row in unordered(calls(waiting), jobs):
                del out[key]
                yield key, row
            return
        except WorkersLost as error:
            _died(limit, error, 0.0)  # which raises the others
        # A process took those of all processes with it: one that dies alone, too, is the cause.
        for unit in list(out.values()):
            started = time.perf_counter()
            try:
                yield from unordered(calls([unit]), 1)
            except WorkersLost as error:
                yield unit.key, row_of(unit, _died(limit, error, time.perf_counter() - started))
        out.clear()


def _died(limit: float | None, error: WorkersLost, seconds: float) -> Row:
    """Return the result of a unit whose process died; raise an error of no process: the scheduler of a cluster is lost.

    A process ends itself with the exit code 1 at the hard limit.
    """
    if not isinstance(error.__cause__, BrokenExecutor) and type(error.__cause__).__name__ != "KilledWorker":
        raise error
    if limit is not None and "EXIT(1)" in error.message:
        return failure(f"its process was ended after {limit:.0f} seconds: a solver did not return", TIMEOUT, seconds)
    reason = "its process died, a solver failed inside or the memory was used up"
    return failure(f"{reason}: {error.message}", FAILED, seconds)
