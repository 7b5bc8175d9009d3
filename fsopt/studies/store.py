"""The store of studies and reproductions: one SQLite file, one row for each unit, written by the coordinator alone.

Every row is a transaction of its own, so that a killed program loses the units in progress and no other one. The
workers of a study never open the file. Readers have a copy in memory (:mod:`fsopt.studies.snapshots`).
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

from fsopt.answers.records import plain
from fsopt.common.files import brief, check_readable, check_writable, whole_file
from fsopt.common.locks import alone
from fsopt.errors import FileError, StoreLost, shown
from fsopt.studies.row_checking import WAITING, Damaged, checked_row, finder, planned
from fsopt.studies.snapshots import beside, local, snapshot
from fsopt.studies.units import DONE, Unit, versions

Row: TypeAlias = dict[str, Any]

APPLICATION = 0x66736F70
"""The number by which a file is known to be a store ("fsop")."""
FORMAT = 1
OFTEN = 1.0
"""Seconds within which rows go from the log into the file, so that a plain copy of the file has them."""
STEP = 10_000
"""Planned units after which a plan says how far it is."""
PATIENCE = 600.0
"""Seconds for which a run whose store cannot be written, because its disk is full, holds a row and tries again."""
PASSING = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY)
"""Reasons that may pass why a row cannot be written."""
PLAIN = {
    "data": "TEXT",
    "method": "TEXT",
    "params": "TEXT",
    "fold": "INTEGER",
    "seed": "INTEGER",
    "state": "TEXT",
    "status": "TEXT",
    "objective": "REAL",
    "bound": "REAL",
    "n_features": "INTEGER",
    "accuracy": "REAL",
    "balanced_accuracy": "REAL",
    "mcc": "REAL",
    "recall": "REAL",
    "auc": "REAL",
    "seconds": "REAL",
    "cpu_seconds": "REAL",
    "error": "TEXT",
    "stop": "TEXT",
    "solver": "TEXT",
    "solver_asked": "TEXT",
    "iterations": "INTEGER",
    "features": "TEXT",
    "fitted": "TEXT",
    "certificate": "TEXT",
    "exact": "TEXT",
    "warnings": "TEXT",
    "trace": "TEXT",
    "versions": "TEXT",
}
"""Column -> type in the file. The first ones are those of an export."""
JSON_COLUMNS = ("params", "features", "fitted", "certificate", "warnings", "trace", "versions")
SCHEMA = f"""
CREATE TABLE units (key TEXT PRIMARY KEY, {", ".join(f"{k} {v}" for k, v in PLAIN.items())});
CREATE TABLE plans (study TEXT, place INTEGER, key TEXT, PRIMARY KEY (study, place));
CREATE TABLE parts (key TEXT PRIMARY KEY, experiment TEXT, arguments TEXT, value TEXT, seconds REAL);
"""


class Store:
    """An open store; made by :func:`opened`.

    Attributes
    ----------
    damaged : key of a unit -> the reason why its row, when it was last read, was left out.
    """

    def __init__(self, connection: sqlite3.Connection, place: Path | None = None, numbered: bool = False) -> None:
        """Hold a connection; ``place`` is the file that others might change, ``numbered`` by its file system."""
        self.connection = connection
        self.place, self.numbered = place, numbered
        self.found = None if place is None else place.stat()
        self.version = self._version()
        self.damaged: dict[str, str] = {}
        self.settled, self.unsettled = time.monotonic(), False
        connection.row_factory = sqlite3.Row
        # A text that is no UTF-8 is a damaged value, not an error of the whole table.
        connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")

    def check(self) -> None:
        """Raise StoreLost where the file is not the one that was opened, was cut off, or has another schema."""
        if self.place is None or self.found is None:
            return
        try:
            now = self.place.stat()
        except OSError as error:
            raise _lost(self.place, f"is gone ({error.strerror})") from error
        if self.numbered and not os.path.samestat(now, self.found):
            raise _lost(self.place, "was replaced by another file")
        if now.st_size < self.found.st_size or self._version() != self.version:
            raise _lost(self.place, "was changed by another program")
        self.found = now

    def _version(self) -> int:
        return int(self.connection.execute("PRAGMA schema_version").fetchone()[0])

    def plan(self, study: str, units: Iterable[Unit]) -> Iterator[int]:
        """State the units of a study, in the order of its rows, and yield now and then how many; see :data:`STEP`.

        A plan of the same name is replaced. Rows are kept; a damaged one gives way, so that its unit is computed again.
        """
        deque(self.rows(study), maxlen=0)
        with self.connection as c:
            c.executemany("DELETE FROM units WHERE key = ?", [(key,) for key in self.damaged])
            c.execute("DELETE FROM plans WHERE study = ?", (study,))
            for place, unit in enumerate(units):
                key, told = unit.key, unit.description
                c.execute("INSERT INTO plans VALUES (?, ?, ?)", (study, place, key))
                c.execute(
                    "INSERT OR IGNORE INTO units (key, state, data, method, params, fold, seed, solver_asked) "
                    "VALUES (:key, :state, :data, :method, :params, :fold, :seed, :solver_asked)",
                    {**told, "params": json.dumps(told["params"]), "key": key, "state": WAITING},
                )
                if place % STEP == STEP - 1:
                    yield place + 1
        self.unsettled = True
        self.settle()

    def waiting(self, study: str, retry: bool) -> list[int]:
        """Return the places in the plan of the units without a row; with ``retry`` also of those without a result."""
        wanted = "state != :done" if retry else "state = :waiting"
        found = self.connection.execute(
            "SELECT MIN(place) FROM plans JOIN units USING (key) "
            f"WHERE study = :study AND {wanted} GROUP BY key ORDER BY MIN(place)",
            {"study": study, "done": DONE, "waiting": WAITING},
        )
        return [place for (place,) in found]

    def save(self, key: str, row: Mapping[str, Any]) -> None:
        """Write the row of a unit, durable when this returns: the program may be killed then.

        Where the disk is full, it waits for :data:`PATIENCE` seconds.
        """
        filled = {**row, "versions": dict(versions())}
        names = [name for name in PLAIN if name in filled]
        values = [json.dumps(filled[k]) if k in JSON_COLUMNS else _number(filled[k], PLAIN[k]) for k in names]
        cleared = [name for name in RESULTS if name not in filled]
        settings = ", ".join([f"{name} = ?" for name in names] + [f"{name} = NULL" for name in cleared])
        self.check()
        started = time.monotonic()
        while True:
            try:
                with self.connection as c:
                    c.execute(f"UPDATE units SET {settings} WHERE key = ?", (*values, key))
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF not in PASSING or time.monotonic() - started > PATIENCE:
                    raise
                warnings.warn(f"the store cannot be written ({error}): the run waits for it", stacklevel=2)
                time.sleep(OFTEN)
        self.unsettled = True
        if time.monotonic() - self.settled > OFTEN:
            self.settle()

    def settle(self) -> None:
        """Bring the rows from the log into the file; the run calls it, too, when it has no other row to write."""
        if not self.unsettled:
            return
        self.settled, self.unsettled = time.monotonic(), False
        with suppress(sqlite3.OperationalError):  # no space, or a reader: the rows are in the log
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def studies(self) -> list[str]:
        """Return the names of the studies, in the order of their first plans."""
        return list(dict.fromkeys(study for study, _ in planned(self.connection, self.damaged) if study is not None))

    def rows(self, study: str | None = None) -> Iterator[Row]:
        """Yield the rows of a study, or of all, in the order of the plan; waiting units among them.

        A damaged row is left out; the attribute ``damaged`` names it.
        """
        self.damaged, find = {}, finder(self.connection)
        for name, key in planned(self.connection, self.damaged):
            if study not in (None, name):
                continue
            found = find(key)
            if found is None:
                self.damaged[key] = "it cannot be read"
                continue
            try:
                row = checked_row(found, PLAIN, frozenset(JSON_COLUMNS))
            except Damaged as error:
                self.damaged[key] = str(error)
                continue
            yield {"study": name, "key": key, **row}

    def counts(self, study: str) -> dict[str, int]:
        """Return state -> number of units of a study that is planned."""
        found = self.connection.execute(
            "SELECT state, COUNT(*) FROM plans JOIN units USING (key) WHERE study = ? GROUP BY state", (study,)
        )
        return dict(found)

    def part(self, experiment: str, arguments: Mapping[str, Any], compute: Callable[[], Any]) -> tuple[Any, float]:
        """Return the value of a part of an experiment, as JSON has it, and the seconds that it took.

        It is computed where there is no row of it yet.
        """
        words = json.dumps(plain(arguments), sort_keys=True)
        key = hashlib.sha256(json.dumps([experiment, words, dict(versions())]).encode()).hexdigest()[:32]
        found = self.connection.execute("SELECT value, seconds FROM parts WHERE key = ?", (key,)).fetchone()
        if found is not None:
            with suppress(ValueError, TypeError, RecursionError):  # a damaged value is computed again
                return json.loads(found["value"]), float(found["seconds"])
        started = time.perf_counter()
        text = json.dumps(compute(), default=plain)
        seconds = time.perf_counter() - started
        self.check()
        with self.connection as c:
            c.execute("INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?, ?)", (key, experiment, words, text, seconds))
        return json.loads(text), seconds


DESCRIBED = ("data", "method", "params", "fold", "seed", "solver_asked")
RESULTS = tuple(name for name in PLAIN if name not in DESCRIBED)
"""Columns that a new row of a unit replaces, all of them."""


def _number(value: Any, kind: str) -> Any:
    """Return a value as the file takes it: the words of numbers that are not finite as numbers."""
    return float(value) if kind == "REAL" and value is not None else value


@contextmanager
def opened(path: str | Path | None, *, write: bool = False) -> Iterator[Store]:
    """Open a store for a block; None opens one in memory. Two programs never write one file.

    Raises
    ------
    FileError : the file cannot be read or written, is no store, has a trigger, a view or another entry that no run
        makes, or another program writes it.
    StoreLost : while it is open for writing, the file is removed, replaced, changed, or cannot be written any more.
    """
    if path is None:
        connection = sqlite3.connect(":memory:")
        connection.executescript(SCHEMA)
        yield Store(connection)
        connection.close()
        return
    if not write:
        place = check_readable(path, "the store")
        with _refusing(place), closing(snapshot(place)) as connection:
            _identify(connection, place, write)
            yield Store(connection)
        return
    place = check_writable(path)
    with alone(place), _refusing(place), closing(sqlite3.connect(place, timeout=30.0)) as connection:
        _identify(connection, place, write)
        # A log is quick; the other journal works on every file system. Each survives the end of the program.
        here = local(place.resolve().parent)
        connection.execute(f"PRAGMA journal_mode = {'WAL' if here else 'DELETE'}")
        # No call of fsync for each row; a power cut may cost the last ones.
        connection.execute("PRAGMA synchronous = NORMAL")
        try:
            with _refusing(place, StoreLost):
                memory = Store(connection, place, numbered=here)  # other file systems may number a file anew
                yield memory
                memory.check()
        finally:
            with suppress(sqlite3.Error):  # at rest it is one file; a reader just now leaves it a log
                connection.execute("PRAGMA journal_mode = DELETE")


def copy_store(source: str | Path, target: str | Path) -> None:
    """Copy a store, also one that a run is writing: the copy has all rows of one moment, and is whole or not there.

    Raises
    ------
    FileError : the store cannot be read, or the copy not be written.
    """
    place, new = check_readable(source, "the store"), check_writable(target)
    if new.exists() or beside(new):  # a log of another store there would be read into this one
        raise FileError(f"there is a store '{brief(new)}', or the log of one", "give another name")
    with alone(new), _refusing(place), closing(snapshot(place)) as memory:
        _identify(memory, place, write=False)
        with whole_file(target) as temporary, closing(sqlite3.connect(temporary)) as copy:
            memory.backup(copy)


@contextmanager
def _refusing(place: Path, kind: type[FileError] = FileError) -> Iterator[None]:
    """Turn errors of SQLite into a FileError."""
    try:
        yield
    except sqlite3.Error as error:
        passing = getattr(error, "sqlite_errorcode", 0) & 0xFF in PASSING
        hint = "free space, or wait for the disk: the same command goes on" if passing else "give another file"
        raise kind(f"the store '{brief(place)}' is damaged or cannot be used: {error}", hint) from error


def _lost(place: Path, event: str) -> StoreLost:
    """Return the error for a store that others have taken from a run."""
    reason = f"the store '{brief(place)}' {event} during the run"
    return StoreLost(reason, "put it back or give another file: the same command computes what it does not have")


def _identify(connection: sqlite3.Connection, place: Path, write: bool) -> None:
    """Make a store of an empty file; refuse a file of another kind, or one whose schema is not that of a store."""
    # A trigger or a view would be run by the statements of this module: nothing of the file is read or written before.
    connection.execute("PRAGMA trusted_schema = OFF")
    [application] = connection.execute("PRAGMA application_id").fetchone()
    [version] = connection.execute("PRAGMA user_version").fetchone()
    found = _entries(connection)
    if write and not found:
        connection.executescript(
            f"BEGIN; {SCHEMA} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT}; COMMIT;"
        )
        return
    if application != APPLICATION or version != FORMAT:
        raise FileError(f"'{brief(place)}' is no store of studies", "give the file of 'fsopt study --store'")
    with closing(sqlite3.connect(":memory:")) as empty:
        empty.executescript(SCHEMA)
        wanted = _entries(empty)
    for kind, name in [*found, *wanted]:
        if (kind, name) not in wanted:
            reason = f"the store '{brief(place)}' has a {kind} {shown(name)}, which no run makes"
            raise FileError(reason, "somebody else has put it there: give another file")
        if found.get((kind, name)) != wanted[kind, name]:
            reason = f"the store '{brief(place)}' is of another version: its {kind} '{name}' is missing or another one"
            raise FileError(reason, "give the name of a new file, which the run fills again")


def _entries(connection: sqlite3.Connection) -> dict[tuple[str, str], list[tuple[Any, ...]]]:
    """Return (kind, name) -> table and statement of each entry of a schema; lists, since a forged one may repeat."""
    found: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
    for kind, name, *rest in connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"):
        found.setdefault((kind, name), []).append(tuple(rest))
    return found


def exported(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows for a table: a column for each name, lists and mappings as JSON texts."""
    names = (*PLAIN, "study", "key")
    return [
        {k: json.dumps(row[k]) if k in JSON_COLUMNS and row[k] is not None else row[k] for k in names} for row in rows
    ]
