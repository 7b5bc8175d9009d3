"""One engine of changes for every saved JSON: a part of it moved, lost, doubled, exchanged, taken from another file.

A changed file may be confirmed only where it states what the file before states, or what is true: the tests of each
kind of file say how that is judged.
"""

import copy
import os
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from fsopt.verifier.rationals import number, written

CASES = int(os.environ.get("FSOPT_FORGED") or 2000)
"""Changed answers of all tests together; proofs are a quarter of it."""
SLICES = 16
Path = tuple[Any, ...]
OTHERS = (
    *(None, True, False, 0, 1, -1, 2.5, 10**400, 1e308, [], {}, [[]], [1.0, 2.0], {"a": 1}),
    *("", "x", "nan", "inf", "1/0", "0x1", "a\nb", "\ud800", "0" * 64, "\x1b[2K"),
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


def one(held: Any, rng: np.random.Generator) -> Any:
    """Return one of some things."""
    return held[rng.integers(len(held))]


def place(record: Any, rng: np.random.Generator, kind: Callable[[Any], bool] = lambda value: True) -> Path:
    """Return the place of a part of a kind; those of long lists come no oftener than others."""
    groups: dict[Path, list[Path]] = {}
    for path in paths(record):
        if kind(at(record, path)):
            groups.setdefault(tuple(k for k in path if isinstance(k, str)), []).append(path)
    return one(one(list(groups.values()), rng), rng)


def moved(value: Any, rng: np.random.Generator) -> Any:
    """Return another number: its negative, one part in a thousand or in 2^40 away, rounded, far, or none."""
    if isinstance(value, float):
        near = (-value, 1.001 * value, 0.999 * value, round(value, 2), 0.0 if value else 1e-3)
        return one((*near, 2.0 * value, value + 1.0, 1e300, float("nan")), rng)
    exact = Fraction(value) if isinstance(value, str) and "/" not in value else number(value)
    tiny, near = Fraction(1, 2 * exact.denominator), 1 + Fraction(1, 2**40)
    others = (-exact, exact * near, exact / near, exact + tiny, exact - tiny)
    return written(one((*others, exact * 2, exact + 1, exact - 1, Fraction(0)), rng))


def _number(record: Any, rng: np.random.Generator, other: Any) -> None:
    path = place(record, rng, is_number)
    put(record, path, moved(at(record, path), rng))


def _scaled(record: Any, rng: np.random.Generator, other: Any) -> None:
    """Multiply all numbers of a part by one factor; an interval turns with its sign."""
    held = at(
        record, place(record, rng, lambda v: isinstance(v, (list, dict)) and any(is_number(at(v, k)) for k in paths(v)))
    )
    factor = one((Fraction(2), Fraction(-1), Fraction(-1), Fraction(1001, 1000), 1 + Fraction(1, 2**40)), rng)
    for path in (p for p in paths(held) if is_number(at(held, p))):
        value = at(held, path)
        exact = isinstance(value, str) or (isinstance(value, int) and factor.denominator > 2)
        put(held, path, written(number(value) * factor) if exact else value * type(value)(factor))
    if factor < 0 and isinstance(held, list) and rng.random() < 0.5:
        held[-2:] = held[-2:][::-1]


def _lost(record: Any, rng: np.random.Generator, other: Any) -> None:
    path = place(record, rng)
    del at(record, path[:-1])[path[-1]]


def _twice(record: Any, rng: np.random.Generator, other: Any) -> None:
    held = at(record, place(record, rng, lambda value: isinstance(value, list) and len(value) > 0))
    held.insert(int(rng.integers(len(held) + 1)), copy.deepcopy(one(held, rng)))


def _exchanged(record: Any, rng: np.random.Generator, other: Any) -> None:
    held = at(record, place(record, rng, lambda value: isinstance(value, list) and len(value) > 1))
    i, j = rng.choice(len(held), 2, replace=False)
    held[i], held[j] = held[j], held[i]


def _word(record: Any, rng: np.random.Generator, other: Any) -> None:
    path = place(record, rng, lambda value: isinstance(value, (str, bool)) and not is_number(value))
    value = at(record, path)
    put(record, path, not value if isinstance(value, bool) else one(WORDS, rng))


def _kind(record: Any, rng: np.random.Generator, other: Any) -> None:
    put(record, place(record, rng), copy.deepcopy(one(OTHERS, rng)))


def _taken(record: Any, rng: np.random.Generator, other: Any) -> None:
    """Take parts of another file: some of those in one place."""
    path = place(other, rng)
    names = (
        [k for k in at(other, path[:-1]) if k == path[-1] or rng.random() < 0.3] if isinstance(path[-1], str) else []
    )
    for key in names or path[-1:]:
        put(record, (*path[:-1], key), copy.deepcopy(at(other, (*path[:-1], key))))


CHANGES = {f.__name__[1:]: f for f in (_number, _scaled, _lost, _twice, _exchanged, _word, _kind, _taken)}


def changed(
    record: Any, rng: np.random.Generator, other: Any, more: dict[str, Any] | None = None
) -> tuple[list[str], Any]:
    """Return a copy of a record with one change, or two, and their names.

    Parameters
    ----------
    other : a file of the same kind, of which parts are taken.
    more : name -> change of this kind of file, beside those of every JSON.
    """
    changes = {**CHANGES, **(more or {})}
    result, names = copy.deepcopy(record), []
    for name in (one([*changes, "number"], rng) for _ in range(one((1, 1, 2), rng))):
        try:
            changes[name](result, rng, other)
        except Exception:  # there is no place for it
            continue
        names.append(name)
    return names, result
