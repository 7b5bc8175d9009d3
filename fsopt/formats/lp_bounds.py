"""The section of bounds of an .lp file: ``0 <= x <= 4``, ``x >= -1``, ``x = 2``, ``x free``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.formats.lp_forms import at, number_after, number_before, with_infinity
from fsopt.formats.lp_tokens import OTHER, RELATION, WORD, Tokens
from fsopt.typing import Indices, Mask, Vector


@dataclass
class Bounds:
    """Bounds, a line for each: name and place of the variable, the two ends, and which of them are stated."""

    names: list[str]
    places: Indices
    ends: tuple[Vector, Vector]
    stated: tuple[Mask, Mask]


def stated_bounds(t: Tokens | None) -> Bounds:
    """Return the bounds of a section; raises FileError for tokens that are no part of one."""
    if t is None or not len(t):
        none, mask = np.zeros(0), np.zeros(0, dtype=bool)
        return Bounds([], none.astype(int), (none, none), (mask, mask))
    with_infinity(t)
    for k in np.flatnonzero((t.kinds == WORD) & (at(t, np.arange(len(t)) - 1) == WORD)).tolist():
        if t.words[k].lower() == "free" and t.kinds[k - 1] == WORD:
            t.kinds[k] = OTHER
    v = np.flatnonzero(t.kinds == WORD)
    left, right = at(t, v - 1) == RELATION, at(t, v + 1) == RELATION
    free = at(t, v + 1) == OTHER
    bounds = Bounds(
        t.words[v].tolist(), v, (np.full(len(v), -np.inf), np.full(len(v), np.inf)), (free.copy(), free.copy())
    )
    begins, ends = v.copy(), v + 1 + free
    begins[left], values, there = number_before(t, v[left] - 1)
    if not there.all():
        t.wrong(int(v[left][int(np.argmin(there))]), "a number has to be before the relation", "write 0 <= x <= 4")
    _enter(t, bounds, left, v[left] - 1, values)
    ends[right], values = number_after(t, v[right] + 1)
    _enter(t, bounds, right, v[right] + 1, values)
    tiles = np.concatenate([[0], ends])
    apart = np.flatnonzero(tiles[:-1] != begins)
    if len(apart) or tiles[-1] != len(t):
        place = min(tiles[apart[0]], begins[apart[0]]) if len(apart) else tiles[-1]
        t.wrong(int(place), "what stands here is no bound", "write 0 <= x <= 4, x >= 1, x = 2 or x free")
    lone = ~(left | right | free)
    t.first_wrong(np.isin(np.arange(len(t)), v[lone]), "a variable without a bound", "write 0 <= x <= 4 or x free")
    return bounds


def _enter(t: Tokens, bounds: Bounds, which: Mask, relations: Indices, values: Vector) -> None:
    """Enter the numbers beside relations, which are before the variables or after them."""
    before = len(relations) > 0 and relations[0] < bounds.places[which][0]
    words = t.words[relations].tolist()
    for side, other in enumerate("><" if before else "<>"):
        has = np.array([other not in word for word in words], dtype=np.bool_)
        if (twice := has & bounds.stated[side][which]).any():
            t.wrong(int(relations[int(np.argmax(twice))]), "the variable has two bounds of one side", "keep one")
        places = np.flatnonzero(which)[has]
        bounds.ends[side][places] = values[has]
        bounds.stated[side][places] = True
