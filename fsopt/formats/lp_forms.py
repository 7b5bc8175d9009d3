"""Linear forms of .lp files: rows, signs, coefficients and constants as comparisons of neighbouring tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.formats.lp_tokens import COLON, QUADRATIC, RELATION, SIGN, SIGNED, UNSIGNED, WORD, Tokens
from fsopt.typing import Indices, Mask, Vector

START = 15
"""What is before the first token of a form."""
FOLLOWS = np.zeros((16, 16), dtype=bool)
"""Whether a kind of token may follow another one within a form."""
for before, after in {
    START: (SIGN, UNSIGNED, SIGNED, WORD, QUADRATIC),
    SIGN: (UNSIGNED, WORD, QUADRATIC),
    UNSIGNED: (WORD, SIGN, SIGNED),
    SIGNED: (WORD, SIGN, SIGNED),
    WORD: (SIGN, SIGNED),
    QUADRATIC: (SIGN, SIGNED),
}.items():
    FOLLOWS[before, list(after)] = True
INFINITY = ("inf", "infinity")


@dataclass
class Forms:
    """Linear forms.

    Attributes
    ----------
    rows, places, names, coefs : (k,) row, token, variable and coefficient of each term.
    constants : (m,) by row. ``parts`` : row and sign of each part in brackets.
    """

    rows: Indices
    places: Indices
    names: list[str]
    coefs: Vector
    constants: Vector
    parts: list[tuple[int, float]]


@dataclass
class LpRows:
    """Constraints: names (empty for none), bounds (m,), and places: behind the name, of the terms, of the relation."""

    names: list[str]
    heads: Indices
    starts: Indices
    ends: Indices
    lo: Vector
    hi: Vector


def is_number(kinds: Indices) -> Mask:
    """Return which tokens are numbers."""
    return np.isin(kinds, (UNSIGNED, SIGNED))


def at(t: Tokens, places: Indices) -> Indices:
    """Return the kinds of tokens at some places, START outside."""
    return np.where((places >= 0) & (places < len(t)), t.kinds[np.clip(places, 0, max(len(t) - 1, 0))], START)


def with_infinity(t: Tokens) -> None:
    """Make numbers of the words for infinity that are beside a relation."""
    relations = np.flatnonzero(t.kinds == RELATION)
    places = np.concatenate([relations - 1, relations + 1 + (at(t, relations + 1) == SIGN)])
    places = places[at(t, places) == WORD]
    words = t.words[places].tolist()
    infinite = [place for place, word in zip(places.tolist(), words, strict=True) if word[0] in "iI"]
    infinite = [place for place in infinite if t.words[place].lower() in INFINITY]
    t.kinds[infinite], t.values[infinite] = UNSIGNED, np.inf


def number_after(t: Tokens, places: Indices) -> tuple[Indices, Vector]:
    """Return the place after the number that follows some places, with a sign or none, and its value."""
    signed = at(t, places + 1) == SIGN
    where = places + 1 + signed
    kinds = at(t, where)
    bad = ~((kinds == UNSIGNED) | ((kinds == SIGNED) & ~signed))
    if bad.any():
        t.wrong(int(places[int(np.argmax(bad))]), "a number has to follow the relation", "put variables on its left")
    values = t.values[where]
    negative = signed & (t.words[np.minimum(places + 1, len(t) - 1)] == "-")
    return where + 1, np.where(negative, -values, values)


def number_before(t: Tokens, places: Indices) -> tuple[Indices, Vector, Mask]:
    """Return the place of the number before some places, its value, and whether there is one."""
    kinds = at(t, places - 1)
    there = is_number(kinds)
    signed = (kinds == UNSIGNED) & (at(t, places - 2) == SIGN)
    values = np.where(there, t.values[np.where(there, places - 1, 0)], 0.0) if len(t) else np.zeros(0)
    negative = signed & (t.words[np.maximum(places - 2, 0)] == "-")
    return places - 1 - signed, np.where(negative, -values, values), there


def bounds_of(t: Tokens, relations: Indices, values: Vector, *, mirrored: bool) -> tuple[Vector, Vector]:
    """Return the bounds of relations to numbers, infinite for none; mirrored where the number is on the left."""
    words = t.words[relations].tolist()
    less = np.array([("<" in word) for word in words], dtype=bool)
    more = np.array([(">" in word) for word in words], dtype=bool)
    less, more = (more, less) if mirrored else (less, more)
    return np.where(less, -np.inf, values), np.where(more, np.inf, values)


def rows_of(t: Tokens) -> LpRows:
    """Return the constraints of a section; raises FileError for tokens that are no part of one."""
    with_infinity(t)
    colons, relations = np.flatnonzero(t.kinds == COLON), np.flatnonzero(t.kinds == RELATION)
    first, values, there = number_before(t, relations)
    before = at(t, first - 1)
    left = there & ((before == COLON) | (before == START) | is_number(before))
    right = relations[~left]
    after, sides = number_after(t, right)
    begins = np.concatenate([[0], after])
    if begins[-1] < len(t):
        t.wrong(int(begins[-1]), "the constraint has no relation to a number", "write <=, >= or = and a number")
    begins = begins[:-1]
    labelled = (at(t, begins) == WORD) & (at(t, begins + 1) == COLON)
    starts = begins + 2 * labelled
    if len(colons) > labelled.sum():
        lost = np.setdiff1d(colons, begins[labelled] + 1)
        t.wrong(
            int(lost[0]),
            "a name in the middle of a constraint, or none before its colon",
            "end each constraint by a relation to a number",
        )
    lo, hi = bounds_of(t, right, sides, mirrored=False)
    owner = np.searchsorted(right, relations[left])
    if len(owner) and (owner[-1] >= len(right) or (first[left] != starts[owner]).any() or (np.diff(owner) == 0).any()):
        t.wrong(int(relations[left][0]), "a relation that belongs to no constraint", "write lower <= terms <= upper")
    low, high = bounds_of(t, relations[left], values[left], mirrored=True)
    closed = np.isfinite(lo[owner]) & np.isfinite(low) | np.isfinite(hi[owner]) & np.isfinite(high)
    if closed.any():
        t.wrong(int(relations[left][int(np.argmax(closed))]), "two bounds of one side", "write lower <= terms <= upper")
    lo[owner], hi[owner] = np.maximum(lo[owner], low), np.minimum(hi[owner], high)
    heads = starts.copy()
    starts[owner] = relations[left] + 1
    names = [t.words[b] if has else "" for b, has in zip(begins.tolist(), labelled.tolist(), strict=True)]
    return LpRows(names, heads, starts, right, lo, hi)


def forms_of(t: Tokens, starts: Indices, ends: Indices) -> Forms:
    """Return the forms between some places; raises FileError for tokens that are no term of one."""
    empty = starts >= ends
    if empty.any():
        t.wrong(
            int(starts[int(np.argmax(empty))]), "a constraint without terms", "write 0 and a variable, if that is meant"
        )
    steps = np.zeros(len(t) + 1, dtype=int)
    steps[starts] += 1
    steps[ends] -= 1
    inside = np.cumsum(steps)[:-1] > 0
    before = np.concatenate([[START], t.kinds[:-1]])
    before[starts] = START
    t.first_wrong(inside & ~FOLLOWS[before, t.kinds], "what stands here is no term", "write sign, number and variable")
    t.first_wrong(np.isin(np.arange(len(t)), ends - 1) & (t.kinds == SIGN), "a sign without a term")
    words = np.flatnonzero(inside & (t.kinds == WORD))
    counted = is_number(before[words])
    numbers = words - counted
    coefs = np.ones(len(words))
    coefs[counted] = t.numbers(numbers[counted])
    plain = inside & is_number(t.kinds)
    plain[numbers[counted]] = False
    constants = np.zeros(len(starts))
    lone = np.flatnonzero(plain)
    np.add.at(constants, np.searchsorted(ends, lone, side="right"), _signs(t, before, lone) * t.numbers(lone))
    parts = np.flatnonzero(inside & (t.kinds == QUADRATIC))
    owners = np.searchsorted(ends, parts, side="right").tolist()
    return Forms(
        np.searchsorted(ends, words, side="right"),
        words,
        t.words[words].tolist(),
        coefs * _signs(t, before, numbers),
        constants,
        list(zip(owners, _signs(t, before, parts).tolist(), strict=True)),
    )


def _signs(t: Tokens, before: Indices, places: Indices) -> Vector:
    """Return -1 where a minus is before the token at a place, else 1."""
    return np.where((before[places] == SIGN) & (t.words[np.maximum(places - 1, 0)] == "-"), -1.0, 1.0)
