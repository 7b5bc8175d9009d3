"""The grammar of a proof file: every object has fixed keys, every list a fixed length or entries of one kind.

A number is a JSON integer below 2^53, or else a text ``p/q`` of two integers in hexadecimal digits, in lowest terms:
each has one spelling, and none is a floating point number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

from .rationals import MOST_BITS, refuse, spend

NUMBER = re.compile(r"-?[0-9a-f]+/[0-9a-f]+")


def number(value: Any) -> Fraction:
    """Return a number of the file."""
    found = Fraction(value) if type(value) is int and abs(value) < 2**53 else None
    if type(value) is str and len(value) <= MOST_BITS // 4 and NUMBER.fullmatch(value):
        spend(1, 4 * len(value), 4 * len(value))
        top, bottom = (int(part, 16) for part in value.split("/"))
        found = Fraction(top, bottom or 1)
    if found is None or written(found) != value:
        refuse(f"{str(value)[:20]!a} is not a number in lowest terms")
    return found


def written(value: Fraction | None) -> int | str | None:
    """Return the one form of a number in a file; None for an infinite bound."""
    if value is None or (value.denominator == 1 and abs(value) < 2**53):
        return value if value is None else int(value)
    return f"{value.numerator:x}/{value.denominator:x}"


def count(value: Any) -> int:
    """Return an integer that is at least 0."""
    return counts([value])[0]


def counts(value: Any) -> list[int]:
    """Return a list of integers that are at least 0."""
    plain = isinstance(value, list) and set(map(type, value)) <= {int}
    if not plain or not 0 <= min(value, default=0) <= max(value, default=0) < 2**53:
        refuse("a place, a count or a list of these is none")
    return list(value)


def places(value: Any) -> list[int]:
    """Return a list of integers that increase from at least 0."""
    found = counts(value)
    return found if all(i < j for i, j in pairwise(found)) else refuse("places do not increase")


def one_of(*words: str) -> Callable[[Any], str]:
    """Return the rule of one of some words."""
    return lambda value: str(value) if value in words else refuse(f"{str(value)[:20]!a} is none of {', '.join(words)}")


def or_none(rule: Any) -> Callable[[Any], Any]:
    """Return the rule of what may be null."""
    return lambda value: None if value is None else read(value, rule, "an optional part")


limit = or_none(number)  # a bound of the file, None for an infinite one


def vector(value: Any) -> dict[int, Fraction]:
    """Return place -> number, from pairs in the order of their places; what is left out is 0."""
    pairs = read(value, [(count, number)], "a vector")
    places([i for i, _ in pairs])
    return dict(pairs)


def marked(kinds: dict[str, tuple[Any, ...]]) -> Callable[[Any], list[Any]]:
    """Return the rule of a list whose first entry is one of some words, each with rules of the others."""

    def node(value: Any) -> list[Any]:
        if not isinstance(value, list) or not value or not isinstance(value[0], str) or value[0] not in kinds:
            refuse("a node of a tree is none")
        return [value[0], *read(value[1:], kinds[value[0]], "a node")]

    return node


def read(value: Any, rule: Any, name: str) -> Any:
    """Return a part of the file by a rule: an object, a list of one kind, a tuple of fixed length, or a function."""
    if isinstance(rule, dict):
        if not isinstance(value, dict) or value.keys() != rule.keys():
            refuse(f"the keys of {name} are not {', '.join(rule)}")
        return {key: read(value[key], inner, key) for key, inner in rule.items()}
    if not isinstance(rule, list | tuple):
        return rule(value)
    if not isinstance(value, list) or (isinstance(rule, tuple) and len(value) != len(rule)):
        refuse(f"{name} is no list" + f" of {len(rule)} entries" * isinstance(rule, tuple))
    rules = rule if isinstance(rule, tuple) else rule * len(value)
    return [read(entry, inner, name) for entry, inner in zip(value, rules, strict=True)]
