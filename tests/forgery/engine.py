"""One engine of changes for every saved JSON: a part of it moved, lost, doubled, exchanged, or of another kind.

A changed file may be verified only where it states what the file before states, or what is true: the tests of each
kind of file say how that is judged.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from fsopt.verifier.grammar import number, written

Path = tuple[Any, ...]
OTHERS = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2.5,
        10**400,
        1e308,
        "",
        "x",
        "nan",
        "inf",
        "optimal",
        "1/0",
        "0x1",
        "a\nb",
        "\ud800",
    ),
    *([], {}, [[]], [1.0, 2.0], {"a": 1}, "0" * 64, "\x1b[2K"),
)
"""Values of every kind."""
WORDS = ("optimal", "stationary", "feasible", "infeasible", "unbounded", "bounded", "min", "max", "hinge")
WORDS += ("squared-hinge", "logistic", "leaf", "empty", "split", "branch", "peg", "known", "none", "center", "standard")


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the place of every part of plain data but the whole."""
    if path:
        yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from paths(value[key], (*path, key))


def at(record: Any, path: Path) -> Any:
    """Return the part in a place."""
    for key in path:
        record = record[key]
    return record


def put(record: Any, path: Path, value: Any) -> None:
    """Put another part in a place."""
    at(record, path[:-1])[path[-1]] = value


def is_number(value: Any) -> bool:
    """Return whether a part is a number: of JSON, or a fraction of a proof."""
    if isinstance(value, str) and 0 < len(value) < 64 and any(c.isdigit() for c in value):
        return value.strip("-0123456789abcdef/") == ""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def moved(value: Any, rng: np.random.Generator) -> Any:
    """Return another number: its negative, one part in a thousand or in 2^40 away, or far."""
    if isinstance(value, float):
        return value * float(rng.choice([-1.0, 1.001, 0.999, 2.0])) if value else float(rng.choice([1e-3, -1.0]))
    exact = Fraction(value) if isinstance(value, str) and "/" not in value else number(value)
    tiny, near = Fraction(1, 2 * exact.denominator), 1 + Fraction(1, 2**40)
    found = (
        -exact,
        exact * near,
        exact / near,
        exact + tiny,
        exact - tiny,
        exact * 2,
        exact + 1,
        exact - 1,
        Fraction(0),
    )
    return written(found[rng.integers(len(found))])


def _number(record: Any, rng: np.random.Generator) -> None:
    """Move a number; those of long lists no oftener than others."""
    groups: dict[Path, list[Path]] = {}
    for path in paths(record):
        if is_number(at(record, path)):
            groups.setdefault(tuple(k for k in path if isinstance(k, str)), []).append(path)
    found = list(groups.values())[rng.integers(len(groups))]
    path = found[rng.integers(len(found))]
    put(record, path, moved(at(record, path), rng))


def _scaled(record: Any, rng: np.random.Generator) -> None:
    """Multiply all numbers of a part by one factor."""
    path = _some(record, rng, lambda value: isinstance(value, (list, dict)) and any(map(is_number, _parts(value))))
    factor = (Fraction(2), Fraction(-1), Fraction(1001, 1000), 1 + Fraction(1, 2**40))[rng.integers(4)]
    held = at(record, path)
    for place in (p for p in paths(held) if is_number(at(held, p))):
        value = at(held, place)
        exact = isinstance(value, str) or (isinstance(value, int) and factor.denominator > 2)
        put(held, place, written(number(value) * factor) if exact else value * type(value)(factor))


def _parts(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value


def _some(record: Any, rng: np.random.Generator, kind: Callable[[Any], bool]) -> Path:
    found = [path for path in paths(record) if kind(at(record, path))]
    return found[rng.integers(len(found))]


def _list(record: Any, rng: np.random.Generator, least: int) -> list[Any]:
    return at(record, _some(record, rng, lambda value: isinstance(value, list) and len(value) >= least))


def _lost(record: Any, rng: np.random.Generator) -> None:
    path = _some(record, rng, lambda value: True)
    del at(record, path[:-1])[path[-1]]


def _twice(record: Any, rng: np.random.Generator) -> None:
    held = _list(record, rng, 1)
    held.insert(int(rng.integers(len(held) + 1)), copy.deepcopy(held[rng.integers(len(held))]))


def _exchanged(record: Any, rng: np.random.Generator) -> None:
    held = _list(record, rng, 2)
    i, j = rng.choice(len(held), 2, replace=False)
    held[i], held[j] = held[j], held[i]


def _word(record: Any, rng: np.random.Generator) -> None:
    path = _some(record, rng, lambda value: isinstance(value, (str, bool)) and not is_number(value))
    value = at(record, path)
    put(record, path, not value if isinstance(value, bool) else WORDS[rng.integers(len(WORDS))])


def _other(record: Any, rng: np.random.Generator) -> None:
    put(record, _some(record, rng, lambda value: True), copy.deepcopy(OTHERS[rng.integers(len(OTHERS))]))


CHANGES = {f.__name__[1:]: f for f in (_number, _number, _scaled, _lost, _twice, _exchanged, _word, _other)}


def changed(record: Any, rng: np.random.Generator, more: dict[str, Any] | None = None) -> tuple[list[str], Any]:
    """Return a copy of a record with one change, or two, and their names.

    Parameters
    ----------
    more : name -> change of this kind of file, beside those of every JSON.
    """
    changes = {**CHANGES, **(more or {})}
    result, names = copy.deepcopy(record), []
    for _ in range(int(rng.choice([1, 1, 2]))):
        name = list(changes)[rng.integers(len(changes))]
        try:
            changes[name](result, rng)
        except Exception:  # whatever a change before this one did: there is no place for it
            continue
        names.append(name)
    return names, result
