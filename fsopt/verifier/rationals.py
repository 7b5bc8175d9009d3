"""Rational numbers of a proof file, the grammar that reads it, and the work that is left.

A number is a JSON integer below 2^53, or a text ``p/q`` of two integers in hexadecimal digits; no number of a file is a
floating point number. Arithmetic is that of integers over common denominators.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import pairwise
from operator import mul
from typing import Any, NoReturn

ZERO, ONE = Fraction(0), Fraction(1)
MOST_BITS = 2**18  # of a numerator or a denominator
MOST_WORK = 2 * 10**9  # of Work, in products of numbers of one word
NUMBER = re.compile(r"-?[0-9a-f]+(/[0-9a-f]+)?")


class Refuted(Exception):
    """A number of the proof does not support its statement."""


class Unreadable(Exception):
    """The file is no proof, or takes more than is allowed."""


class Work:
    """The work that is left, an upper bound in products of one word: a small file does not take for ever."""

    left = MOST_WORK


def spend(count: int, bits: int = 64) -> None:
    """Count operations on integers of so many bits; raise Unreadable where the work is used up."""
    Work.left -= count * (1 + bits // 64)
    if Work.left < 0:
        raise Unreadable("it takes more work than is allowed: --work 10 allows ten times as much")


def need(holds: bool, reason: str) -> None:
    """Raise Refuted with a reason where a condition does not hold."""
    if not holds:
        raise Refuted(reason)


def refuse(reason: str) -> NoReturn:
    """Raise Unreadable."""
    raise Unreadable(reason)


# -- the grammar: every object has a fixed set of keys, every list a fixed length or entries of one kind -----------


def number(value: Any) -> Fraction:
    """Return a number of the file."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53:
        return Fraction(value)
    if not isinstance(value, str) or len(value) > MOST_BITS // 4 or not NUMBER.fullmatch(value):
        refuse(f"{str(value)[:20]!r} is not a number")
    top, _, bottom = value.partition("/")
    below = int(bottom or "1", 16)
    return Fraction(int(top, 16), below) if below else refuse(f"{value[:20]!r} is not a number")


def written(value: Fraction | None) -> int | str | None:
    """Return the one form of a number in a file; None for an infinite bound."""
    if value is None or (value.denominator == 1 and abs(value) < 2**53):
        return value if value is None else int(value)
    return f"{value.numerator:x}/{value.denominator:x}"


def limit(value: Any) -> Fraction | None:
    """Return a bound of the file, None for an infinite one."""
    return None if value is None else number(value)


def count(value: Any) -> int:
    """Return an integer that is at least 0."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
        refuse(f"{str(value)[:20]!r} is not a place or a count")
    return int(value)


def counts(value: Any) -> list[int]:
    """Return a list of integers that are at least 0."""
    plain = isinstance(value, list) and set(map(type, value)) <= {int}
    if not plain or not 0 <= min(value, default=0) <= max(value, default=0) < 2**53:
        refuse("a list of places or counts is none")
    return list(value)


def one_of(*words: str) -> Callable[[Any], str]:
    """Return the rule of one of some words."""
    return lambda value: str(value) if value in words else refuse(f"{str(value)[:20]!r} is none of {', '.join(words)}")


def or_none(rule: Any) -> Callable[[Any], Any]:
    """Return the rule of what may be null."""
    return lambda value: None if value is None else read(value, rule, "an optional part")


def vector(value: Any) -> dict[int, Fraction]:
    """Return place -> number, from pairs in the order of their places; what is left out is 0."""
    pairs = read(value, [(count, number)], "a vector")
    if any(i >= j for (i, _), (j, _) in pairwise(pairs)):
        refuse("the places of a vector do not increase")
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
    if isinstance(rule, list):
        if not isinstance(value, list):
            refuse(f"{name} is no list")
        return [read(entry, rule[0], name) for entry in value]
    if isinstance(rule, tuple):
        if not isinstance(value, list) or len(value) != len(rule):
            refuse(f"{name} has other than {len(rule)} entries")
        return [read(entry, inner, name) for entry, inner in zip(value, rule, strict=True)]
    return rule(value)


# -- integers over common denominators -----------------------------------------------------------------------------


def common(values: Iterable[Fraction]) -> tuple[list[int], int]:
    """Return rational numbers as integers over one denominator."""
    held, bottom = list(values), 1
    for below in {v.denominator for v in held}:
        bottom = math.lcm(bottom, below)
        if bottom.bit_length() > MOST_BITS:
            refuse("its numbers have no common denominator of a reasonable length")
    spend(len(held), bottom.bit_length())
    return [v.numerator * (bottom // v.denominator) for v in held], bottom


def total(values: Iterable[Fraction]) -> Fraction:
    """Return the sum of rational numbers."""
    tops, bottom = common(values)
    return Fraction(sum(tops), bottom)


class Form:
    """An affine form: columns, integers, an integer constant, and one denominator."""

    def __init__(self, columns: list[int], values: list[Fraction], constant: Fraction = ZERO) -> None:
        need(len(columns) == len(values) and len(set(columns)) == len(columns), "a form is damaged")
        self.columns = columns
        (*self.values, self.constant), self.bottom = common([*values, constant])

    def at(self, x: tuple[list[int], int]) -> Fraction:
        """Return the value at a point."""
        spend(len(self.columns) + 1, self.bottom.bit_length() + x[1].bit_length())
        top: int = sum(map(mul, self.values, [x[0][j] for j in self.columns])) + self.constant * x[1]
        return Fraction(top, self.bottom * x[1])


def decimal(value: Fraction, *, up: bool, digits: int = 12) -> str:
    """Return a decimal number of so many digits on one side of a value."""
    if not value:
        return "0"
    size = abs(value)
    exponent = (size.numerator.bit_length() - size.denominator.bit_length() - 1) * 30103 // 100000 - 1
    while size >= Fraction(10) ** (exponent + 1):
        exponent += 1
    quotient = value / Fraction(10) ** (exponent - digits + 1)
    whole = math.ceil(quotient) if up else math.floor(quotient)
    sign, text = "-" if whole < 0 else "", str(abs(whole))
    if not -5 <= exponent <= digits:
        return f"{sign}{text[0]}.{text[1:]}e{exponent - digits + len(text):+03d}"
    places = max(digits - 1 - exponent, 0)
    text = (text + "0" * max(exponent - digits + 1, 0)).rjust(places + 1, "0")
    return f"{sign}{text[:-places]}.{text[-places:]}" if places else sign + text
