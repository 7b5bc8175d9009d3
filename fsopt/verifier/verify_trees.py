"""The boxes of a tree of branch and bound, with the standard library alone and no import of fsopt.

The leaves of a tree cover the box of its root: a branching on a variable at v has the children ``x <= v`` and, for an
integer variable, ``x >= v + 1`` with a whole v, for another one ``x >= v``. docs/exact.md has the lemma.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from typing import Any

Box = list[tuple["Fraction | None", "Fraction | None"]]  # lower and upper bound of each variable


class Damaged(Exception):
    """The nodes are no tree."""


def need(holds: bool, reason: str) -> None:
    """Raise Damaged with a reason where a condition does not hold."""
    if not holds:
        raise Damaged(reason)


def boxes(nodes: Sequence[Sequence[Any]], root: Box, integer: Collection[int]) -> Iterator[tuple[str, int, Box]]:
    """Yield the mark of each leaf in preorder, the place of its multipliers, and its box."""
    pending, whole = [root], frozenset(integer)
    for mark, place, *rest in nodes:
        need(bool(pending), "a part of the tree belongs to no node")
        box = pending.pop()
        if mark != "split":
            yield mark, place, box
            continue
        need(place < len(root), "a branching variable is out of range")
        (lo, hi), value = box[place], rest[0]
        need(place not in whole or value.denominator == 1, "an integer branches at a number that is not whole")
        above = value + 1 if place in whole else value
        left, right = box.copy(), box.copy()
        left[place], right[place] = (lo, value), (above, hi)
        pending += [right, left]
    need(not pending, "the tree ends early")


def full(held: dict[str, Any], rows: int) -> dict[str, Any]:
    """Return multipliers with a number for each row, from pairs of a row and its number."""
    y = [Fraction(0)] * rows
    for i, value in held["rows"]:
        need(i < rows and not y[i], "a row of the multipliers is out of range, or stands twice")
        y[i] = value
    return {**held, "rows": y}
