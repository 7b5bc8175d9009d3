"""Rational numbers of a proof file, as integers over common denominators, and the grammar of a file.

In a file every object has fixed keys, every list a fixed length or entries of one kind. A number is a JSON integer
below 2^53, or else a text ``p/q`` of two integers in hexadecimal digits, in lowest terms: each has one spelling, and
none is a floating point number.

``decimal`` rounds exponentials and logarithms correctly, here to 60 digits. Bounds are 10^-40 further out, which is far
more than what is lost before, and rounded outward to multiples of 2^-100. docs/exact.md has the lemmas that need them.
"""

from __future__ import annotations

import decimal as decimals
import math
import re
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from operator import mul
from typing import Any, NoReturn

ZERO, ONE = Fraction(0), Fraction(1)
NUMBER = re.compile(r"-?[0-9a-f]+/[0-9a-f]+")
MOST_BITS = 2**18  # of a numerator or a denominator
SHORT = 96  # bits after the leading one that a rounded end of an interval keeps
EXACT = decimals.Context(prec=60, Emax=decimals.MAX_EMAX, Emin=decimals.MIN_EMIN)
MARGIN, GRID = Fraction(1, 10**40), 2**100


class Refuted(Exception):
    """A number of the proof does not support its statement."""


class Unreadable(ValueError):
    """The file is no proof, or has longer numbers than are allowed."""


def need(holds: bool, reason: str) -> None:
    """Raise Refuted with a reason where a condition does not hold."""
    if not holds:
        raise Refuted(reason)


def refuse(reason: str) -> NoReturn:
    """Raise Unreadable."""
    raise Unreadable(reason)


def common(values: Iterable[Fraction]) -> tuple[list[int], int]:
    """Return rational numbers as integers over one denominator."""
    held, bottom = list(values), 1
    for below in {v.denominator for v in held}:
        bottom = math.lcm(bottom, below)
        if bottom.bit_length() > MOST_BITS:
            refuse("its numbers have no common denominator of a reasonable length")
    return [v.numerator * (bottom // v.denominator) for v in held], bottom


def total(values: Iterable[Fraction]) -> Fraction:
    """Return the sum of rational numbers."""
    tops, bottom = common(values)
    return Fraction(sum(tops), bottom)


class AffineForm:
    """An affine form: columns, integers, an integer constant, and one denominator."""

    def __init__(self, columns: list[int], values: list[Fraction], constant: Fraction = ZERO) -> None:
        need(len(columns) == len(values), "a form is damaged")
        self.columns = columns
        (*self.values, self.constant), self.bottom = common([*values, constant])

    def at(self, x: tuple[list[int], int]) -> Fraction:
        """Return the value at a point."""
        tops, bottom = x
        top: int = sum(map(mul, self.values, [tops[j] for j in self.columns])) + self.constant * bottom
        return Fraction(top, self.bottom * bottom)


def rounded(value: Fraction, *, up: bool) -> Fraction:
    """Return a number with a short denominator on one side of a value, at most 2^-96 of its size away."""
    if value.denominator.bit_length() <= SHORT:
        return value
    unit = 1 << max(SHORT - value.numerator.bit_length() + value.denominator.bit_length(), 0)
    return Fraction(math.ceil(value * unit) if up else math.floor(value * unit), unit)


def decimal(value: Fraction, *, up: bool, digits: int = 12) -> str:
    """Return a decimal number of so many digits on one side of a value."""
    rounding = decimals.ROUND_CEILING if up else decimals.ROUND_FLOOR
    context = decimals.Context(digits, rounding, decimals.MIN_EMIN, decimals.MAX_EMAX)
    return f"{context.divide(decimals.Decimal(value.numerator), decimals.Decimal(value.denominator)):g}"


def enclosed(function: Callable[[decimals.Decimal], decimals.Decimal], x: Fraction) -> tuple[Fraction, Fraction]:
    """Return rational numbers below and above the value of a function of :data:`EXACT`, of ln from 2^-100 to 2^100."""
    found = Fraction(function(EXACT.divide(decimals.Decimal(x.numerator), decimals.Decimal(x.denominator))))
    return Fraction(math.floor((found - MARGIN) * GRID), GRID), Fraction(math.ceil((found + MARGIN) * GRID), GRID)


def exponential(x: Fraction) -> tuple[Fraction, Fraction]:
    """Return rational numbers below and above e^-x for x >= 0."""
    low, high = enclosed(EXACT.exp, -min(x, Fraction(100)))
    return max(low, ZERO) if x <= 100 else ZERO, high


def entropy(grid: Sequence[int], steps: int) -> Fraction:
    """Return a number below the sum of -t ln t - (1 - t) ln(1 - t) over t = grid / steps."""
    parts = [part for a in grid for part in (a, steps - a) if part]
    return -sum((part * enclosed(EXACT.ln, Fraction(part, steps))[1] for part in parts), ZERO) / steps


def logistic(margin: Fraction) -> Fraction:
    """Return a number above ln(1 + e^-u) = ln(1 + e^u) - u at a margin u."""
    return enclosed(EXACT.ln, 1 + exponential(abs(margin))[1])[1] + max(-margin, ZERO)


# -- the grammar ---------------------------------------------------------------------------------------


def number(value: Any) -> Fraction:
    """Return a number of the file."""
    found = Fraction(value) if type(value) is int and abs(value) < 2**53 else None
    if type(value) is str and len(value) <= MOST_BITS // 4 and NUMBER.fullmatch(value):
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


def column(value: Any) -> list[Any]:
    """Return the places and numbers of a feature that are in the file; no places where that is all of them."""
    sparse = isinstance(value, list) and len(value) == 2 and isinstance(value[0], list)
    return list(read(value if sparse else [None, value], (or_none(places), [number]), "a feature"))


def cut(value: Any) -> list[Any]:
    """Return the steps and multipliers of a cut, or the intercepts and rules of one by coverage."""
    rule = ([number], [(count, number)]) if isinstance(value, list) and len(value) == 2 else (count, counts, vector)
    return list(read(value, rule, "a cut"))


def node(value: Any) -> list[Any]:
    """Return a node of a tree: one of some words, each with rules of what follows it."""
    if not isinstance(value, list) or not value or not isinstance(value[0], str) or value[0] not in NODES:
        refuse("a node of a tree is none")
    return [value[0], *read(value[1:], NODES[value[0]], "a node")]


NODES = {"leaf": (count,), "known": (), "branch": (count,), "peg": (counts, places, places), "empty": ()}
FORM = (places, [number], number)
PROGRAM = {
    "sense": one_of("min", "max"),
    "c": [number],
    "c0": number,
    "quadratic": [(count, count, number)],
    "concave": [(number, number, counts)],
    "rows": [(places, [number], limit, limit)],
    "lb": [limit],
    "ub": [limit],
    "cones": [{"weights": [number], "forms": [FORM]}],
    "matrices": [{"order": count, "entries": [FORM]}],
    "integer": places,
}
DUAL = {
    "point": or_none(vector),
    "shift": or_none(vector),
    "dual": or_none({"multipliers": [(count, [number])], "curve": vector}),
}
SELECTION = {
    "y": [number],
    "c": number,
    "loss": one_of("hinge", "squared-hinge", "logistic"),
    "columns": [column],
    "groups": counts,
    "lower": [limit],
    "upper": [limit],
    "R": [[number]],
    "r": [number],
    "lam": [number],
    "inside": places,
    "outside": places,
}
TREE = {
    "cuts": [cut],
    "main": or_none(count),
    "tree": [node],
    "point": or_none({"w": vector, "b": number, "selected": places}),
}
