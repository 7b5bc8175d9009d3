"""The store of studies and reproductions: one SQLite file, one row for each unit, written by the coordinator alone.

Every row is a transaction of its own in a write-ahead log, so that a killed program loses the units in progress and no
other one. The workers of a study never open the file.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from fsopt.errors import FileError
from fsopt.files import brief, check_readable, check_writable
from fsopt.locks import alone
from fsopt.saved import plain
from fsopt.studies.units import DONE, Unit, versions

Row: TypeAlias = dict[str, Any]

APPLICATION = 0x66736F70
"""The number by which a file is known to be a store ("fsop")."""
FORMAT = 1
WAITING = "waiting"
"""The state of a unit that was planned and has no row yet."""
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
CREATE TABLE IF NOT EXISTS units (key TEXT PRIMARY KEY, {", ".join(f"{k} {v}" for k, v in PLAIN.items())});
CREATE TABLE IF NOT EXISTS plans (study TEXT, place INTEGER, key TEXT, PRIMARY KEY (study, place));
CREATE TABLE IF NOT EXISTS parts (key TEXT PRIMARY KEY, experiment TEXT, arguments TEXT, value TEXT);
"""


class Store:
    """An open store; made by :func:`opened`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        connection.row_factory = sqlite3.Row

    def plan(self, study: str, units: Sequence[Unit]) -> None:
        """State the units of a study, in the order of its rows; a plan of the same name is replaced, rows are kept."""
        with self.connection as c:
            c.execute("DELETE FROM plans WHERE study = ?", (study,))
            c.executemany("INSERT INTO plans VALUES (?, ?, ?)", [(study, k, u.key) for k, u in enumerate(units)])
            described = ({"key": unit.key, "state": WAITING, **unit.description} for unit in units)
            c.executemany(
                "INSERT OR IGNORE INTO units (key, state, data, method, params, fold, seed, solver_asked) "
                "VALUES (:key, :state, :data, :method, :params, :fold, :seed, :solver_asked)",
                ({**row, "params": json.dumps(row["params"])} for row in described),
            )

    def waiting(self, study: str, retry: bool) -> set[str]:
        """Return the keys of the units without a row; with ``retry`` also of those that failed or were ended early."""
        states = self.connection.execute(
            "SELECT DISTINCT key, state FROM plans JOIN units USING (key) WHERE study = ?", (study,)
        )
        return {key for key, state in states if state == WAITING or (retry and state != DONE)}

    def save(self, key: str, row: Mapping[str, Any]) -> None:
        """Write the row of a unit, durable when this returns: the program may be killed then."""
        filled = {**row, "versions": dict(versions())}
        names = [name for name in PLAIN if name in filled]
        values = [json.dumps(filled[k]) if k in JSON_COLUMNS else _number(filled[k], PLAIN[k]) for k in names]
        cleared = [name for name in RESULTS if name not in filled]
        settings = ", ".join([f"{name} = ?" for name in names] + [f"{name} = NULL" for name in cleared])
        with self.connection as c:
            c.execute(f"UPDATE units SET {settings} WHERE key = ?", (*values, key))

    def studies(self) -> list[str]:
        """Return the names of the studies, in the order of their first plans."""
        return [
            name for (name,) in self.connection.execute("SELECT study FROM plans GROUP BY study ORDER BY MIN(rowid)")
        ]

    def rows(self, study: str | None = None) -> Iterator[Row]:
        """Yield the rows of a study, or of all, in the order of the plan; waiting units among them."""
        chosen = "" if study is None else "WHERE study = :study"
        query = f"SELECT study, units.* FROM plans JOIN units USING (key) {chosen} ORDER BY plans.rowid"
        for found in self.connection.execute(query, {"study": study}):
            row = {**dict.fromkeys(PLAIN), **found}
            yield {k: json.loads(v) if k in JSON_COLUMNS and v is not None else v for k, v in row.items()}

    def counts(self, study: str) -> dict[str, int]:
        """Return state -> number of units of a study."""
        return dict(
            self.connection.execute(
                "SELECT state, COUNT(*) FROM plans JOIN units USING (key) WHERE study = ? GROUP BY state", (study,)
            ).fetchall()
        )

    def part(self, experiment: str, arguments: Mapping[str, Any], compute: Callable[[], Any]) -> Any:
        """Return the value of a part of an experiment, as JSON has it; computed where there is no row of it yet."""
        words = json.dumps(plain(arguments), sort_keys=True)
        key = hashlib.sha256(json.dumps([experiment, words, dict(versions())]).encode()).hexdigest()[:32]
        found = self.connection.execute("SELECT value FROM parts WHERE key = ?", (key,)).fetchone()
        text: str = json.dumps(compute(), default=plain) if found is None else found["value"]
        if found is None:
            with self.connection as c:
                c.execute("INSERT INTO parts VALUES (?, ?, ?, ?)", (key, experiment, words, text))
        return json.loads(text)


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
    FileError : the file cannot be read or written, is no store, or another program writes it.
    """
    if path is None:
        connection = sqlite3.connect(":memory:")
        connection.executescript(SCHEMA)
        yield Store(connection)
        connection.close()
        return
    place = check_writable(path) if write else check_readable(path, "the store")
    with alone(place if write else None), _refusing(place):
        where = place if write else f"{place.resolve().as_uri()}?mode=ro"
        connection = sqlite3.connect(where, uri=not write, timeout=30.0)
        try:
            _identify(connection, place, write)
            yield Store(connection)
        finally:
            connection.close()


@contextmanager
def _refusing(place: Path) -> Iterator[None]:
    """Turn errors of SQLite into a FileError."""
    try:
        yield
    except sqlite3.Error as error:
        raise FileError(
            f"the store '{brief(place)}' is damaged or cannot be used: {error}", "give another file"
        ) from error


def _identify(connection: sqlite3.Connection, place: Path, write: bool) -> None:
    """Make a store of an empty file; refuse a file of another kind or of a later version."""
    [application] = connection.execute("PRAGMA application_id").fetchone()
    [version] = connection.execute("PRAGMA user_version").fetchone()
    [tables] = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    if write and tables == 0:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(
            f"BEGIN; {SCHEMA} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT}; COMMIT;"
        )
    elif application != APPLICATION or version != FORMAT:
        raise FileError(f"'{brief(place)}' is no store of studies", "give the file of 'fsopt study run --store'")
    elif write:  # an earlier version had fewer tables and columns
        connection.executescript(SCHEMA)
        known = {column[1] for column in connection.execute("PRAGMA table_info(units)")}
        for name in PLAIN.keys() - known:
            connection.execute(f"ALTER TABLE units ADD COLUMN {name} {PLAIN[name]}")
    # The log survives the end of the program without a call of fsync for each row; a power cut may cost the last ones.
    connection.execute("PRAGMA synchronous = NORMAL")


def exported(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows for a table: a column for each name, lists and mappings as JSON texts."""
    names = (*PLAIN, "study", "key")
    return [
        {k: json.dumps(row[k]) if k in JSON_COLUMNS and row[k] is not None else row[k] for k in names} for row in rows
    ]
