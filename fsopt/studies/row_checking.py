"""Rows as a store has them: each column is looked at, so that a damaged row is named instead of used."""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from fsopt.answers.records import plain
from fsopt.answers.results import Status
from fsopt.studies.units import DONE, FAILED, MEMORY, TIMEOUT

Test: TypeAlias = Callable[[Any], bool]

WAITING = "waiting"
"""The state of a unit that was planned and has no row yet."""


SURROGATE = re.compile("[\ud800-\udfff]")
"""What no UTF-8 has: bytes of a file that are none were read as these."""


def _text(value: Any) -> bool:
    """Return whether a value is a text that was valid UTF-8 in the file."""
    return isinstance(value, str) and (value.isascii() or SURROGATE.search(value) is None)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _between(low: float, high: float) -> Test:
    return lambda value: _number(value) and low <= value <= high


def _mapping(value: Any) -> bool:
    return isinstance(value, dict)


def _list_of(test: Test) -> Test:
    return lambda value: isinstance(value, list) and all(test(v) for v in value)


def _parameters(value: Any) -> bool:
    """Return whether a value is the parameters of a unit; those of a tuned one have the candidates."""
    if not _mapping(value):
        return False
    tuned = value.get("tuned", [{}])
    return bool(tuned) and _list_of(_mapping)(tuned)


def _record(value: Any) -> bool:
    """Return whether a value is a record of the trace: seconds, incumbent and bound, of which one may be unknown."""
    if not isinstance(value, list) or len(value) != 3:
        return False
    return _number(value[0]) and all(v is None or _number(v) for v in value[1:])


ROUNDING = 1e-9
"""By which a mean of shares may exceed 1."""
_KINDS: Mapping[str, Test] = {
    "INTEGER": lambda value: isinstance(value, int),
    "REAL": lambda value: isinstance(value, (int, float)),
    "TEXT": _text,
}
"""Type of a column -> whether a value is of it."""
_TESTS: Mapping[str, Test] = {
    "state": frozenset((WAITING, DONE, FAILED, TIMEOUT, MEMORY)).__contains__,
    "status": frozenset(Status).__contains__,
    "objective": _number,
    "n_features": lambda value: isinstance(value, int) and value >= 0,
    **dict.fromkeys(("seconds", "cpu_seconds"), _between(0.0, 1e12)),
    **dict.fromkeys(("accuracy", "balanced_accuracy", "recall", "auc"), _between(0.0 - ROUNDING, 1.0 + ROUNDING)),
    "mcc": _between(-1.0 - ROUNDING, 1.0 + ROUNDING),
    "params": _parameters,
    "features": _list_of(_text),
    "fitted": _mapping,
    "certificate": lambda value: value is None or _mapping(value),  # peers have none
    "warnings": _list_of(_text),
    "trace": _list_of(_record),
    "versions": _mapping,
}
"""Column -> whether a value can be its own, beyond the type."""
NEEDED = ("data", "method", "params", "state")
"""Columns that no row is without."""


class Damaged(ValueError):
    """A row that no run has written like this, with its reason."""


def checked_row(found: Mapping[str, Any], kinds: Mapping[str, str], coded: frozenset[str]) -> dict[str, Any]:
    """Return a row with the values of its columns.

    Parameters
    ----------
    found : column -> value in the file.
    kinds : column -> type in the file.
    coded : columns with JSON texts.

    Raises
    ------
    Damaged : a value is not of its column.
    """
    row: dict[str, Any] = {}
    for name, kind in kinds.items():
        value = found[name]
        row[name] = value
        if value is None:
            if name in NEEDED:
                raise Damaged(f"it has no {name}")
            continue
        if not _KINDS[kind](value):
            raise Damaged(f"its {name} is not of the type {kind}")
        try:
            row[name] = plain(json.loads(value)) if name in coded else value
        except (ValueError, RecursionError) as error:
            raise Damaged(f"its {name} is no JSON text") from error
        if name in _TESTS and not _TESTS[name](row[name]):
            raise Damaged(f"its {name} has a value that no run writes")
    return row


def planned(connection: sqlite3.Connection, damaged: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (study, key) of all planned units; those without one of them are added to the damaged ones."""
    count = 0
    try:
        for study, key in _scanned(connection, "SELECT rowid, study, key FROM plans NOT INDEXED ORDER BY rowid"):
            count += 1
            if _text(study) and _text(key):
                yield study, key
            else:
                damaged[f"{count} of the plan"] = "it has no study or no key"
    except sqlite3.DatabaseError as error:
        damaged[f"after {count} of the plan"] = f"the plan cannot be read ({error})"


def finder(connection: sqlite3.Connection) -> Callable[[str], Mapping[str, Any] | None]:
    """Return a function of the key of a unit that returns its row as the file has it, None where that cannot be read.

    The index finds it, and where the index is damaged the table itself, which is then searched once for all keys.
    """
    places: dict[str, int] = {}

    def find(key: str) -> Mapping[str, Any] | None:
        row = _row(connection, "(SELECT rowid FROM units WHERE key = ?)", key)
        if row is not None:
            return row
        if not places:
            with suppress(sqlite3.DatabaseError):
                for place, name in _scanned(connection, "SELECT rowid, rowid, key FROM units NOT INDEXED"):
                    places[name] = place
        return _row(connection, "?", key, places[key]) if key in places else None

    return find


def _row(connection: sqlite3.Connection, place: str, key: str, number: int | None = None) -> Mapping[str, Any] | None:
    """Return the row at a place if it is that of the key: a damaged index may lead to another one."""
    try:
        found = connection.execute(f"SELECT * FROM units WHERE rowid = {place}", (key if number is None else number,))
        row = found.fetchone()
    except sqlite3.DatabaseError:
        return None
    return row if row is not None and row["key"] == key else None


def _scanned(connection: sqlite3.Connection, statement: str) -> Iterator[tuple[Any, ...]]:
    """Yield what follows the row number in the rows of a table, where a damaged page may lead to an earlier one."""
    last = -math.inf
    for number, *values in connection.execute(statement):
        if number <= last:
            raise sqlite3.DatabaseError("rows come twice")
        last = number
        yield tuple(values)
