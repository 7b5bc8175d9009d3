r"""Files .lp, in the common part of the dialects of CPLEX, Gurobi, HiGHS, SCIP and Xpress.

A section is an array of tokens; what may follow what is a table, and coefficients, signs, constants and rows are found
by comparisons of neighbours. Refused is what readers take in different ways, and what a slip of the pen makes: two
terms of one variable, two bounds of one side, and names that are in no objective, constraint or set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from fsopt.formats.indicators import Indicator, switched
from fsopt.formats.lp_forms import Forms, at, forms_of, is_number, number_after, number_before, rows_of, with_infinity
from fsopt.formats.lp_tokens import (
    ARROW,
    CLOSE,
    COLON,
    OPEN,
    OTHER,
    QUADRATIC,
    RELATION,
    SETS,
    SLASH,
    WORD,
    Tokens,
    sections_of,
)
from fsopt.formats.read_arrays import ReadProgram, Sets, Terms, products
from fsopt.typing import Indices, Mask, Vector

Arrows = list[tuple[int, str, int]]
"""Place of a token of a constraint, name of a binary, and the value with which the constraint holds."""
Named = list[tuple[str, str, float]]
"""Terms ``v * x * y`` as names and values."""
LETTERS = bytes.maketrans(bytes(range(15)), b"sngvrca:pt[]/qo")
"""Kind of a token -> letter."""
PRODUCT = re.compile(r"(?:(s?)(n?)|(g))v(?:p(n)|t(v))")
"""A quadratic term in letters: sign and number, or signed number, name, and ^ 2 or * name."""


def read_lp(text: str) -> ReadProgram:
    """Return the program of an .lp file; raises FileError for one that cannot be read as it is."""
    sections = sections_of(text)
    goal, goal_parts = without_brackets(sections["max" if "max" in sections else "min"])
    body, parts = without_brackets(sections["constraints"])
    body, arrows = _without_arrows(body)
    begin = 2 if len(goal) > 1 and goal.kinds[1] == COLON else 0
    cost = forms_of(goal, *(np.array([place] * (begin < len(goal)), dtype=int) for place in (begin, len(goal))))
    rows = rows_of(body)
    forms = forms_of(body, rows.starts, rows.ends)
    sets = [*_sets(sections.get("sos"))]
    bounds = stated_bounds(sections.get("bounds"))
    squared = (name for part in (*goal_parts, *parts) for one, other, _ in part for name in (one, other))
    in_sets = {name for _, names, _ in sets for name in names} & {*bounds.names}
    columns = list(dict.fromkeys([*cost.names, *forms.names, *squared, *sorted(in_sets)]))
    place = {name: j for j, name in enumerate(columns)}
    c = _matrix(goal, cost, place).toarray()[0] if len(goal) > begin else np.zeros(len(columns))
    A = _matrix(body, forms, place)
    lb, ub, integer, semi = _domains(sections, bounds, place)
    taken = set(rows.names)
    names = [name or f"R{i}" + "_" * (f"R{i}" in taken) for i, name in enumerate(rows.names, start=1)]
    squares = _products(cost, goal_parts, place)
    program = ReadProgram(
        name="",
        columns=columns,
        rows=names,
        maximise="max" in sections,
        c=c,
        c0=float(cost.constants.sum()),
        A=A,
        lo=rows.lo - forms.constants,
        hi=rows.hi - forms.constants,
        lb=lb,
        ub=ub,
        integer=integer,
        semi=semi,
        sets=_placed(sections.get("sos"), sets, place),
        objective=squares.get(0),
        terms=_products(forms, parts, place),
    )
    return switched(program, _indicators(body, arrows, rows.heads, place))


def _without_arrows(t: Tokens) -> tuple[Tokens, Arrows]:
    """Return the constraints without ``b = 1 ->`` before them, and these."""
    arrows = np.flatnonzero(t.kinds == ARROW)
    kept = np.ones(len(t), dtype=bool)
    found = []
    for number, k in enumerate(arrows.tolist()):
        words = t.words[max(k - 3, 0) : k].tolist()
        if len(words) < 3 or t.kinds[k - 3] != WORD or words[1] != "=" or words[2] not in ("0", "1"):
            t.wrong(k, "an indicator is not of the form 'binary = 1 ->'", "write NAME: binary = 1 -> constraint")
        kept[k - 3 : k + 1] = False
        found.append((k - 3 - 4 * number, words[0], int(words[2])))
    return (t.kept(kept), found) if found else (t, found)


def _indicators(t: Tokens, arrows: Arrows, heads: Indices, place: Mapping[str, int]) -> list[Indicator]:
    """Return the indicators, each of which has to stand at the start of its constraint."""
    row = {head: i for i, head in enumerate(heads.tolist())}
    found = []
    for where, name, value in arrows:
        if where not in row:
            t.wrong(where, "an indicator in the middle of a constraint", "write NAME: binary = 1 -> constraint")
        found.append(Indicator(row[where], _known(t, where, name, place), value))
    return found


def _known(t: Tokens, where: int, name: str, place: Mapping[str, int]) -> int:
    """Return the place of a variable; raises FileError for a name that is in no objective, constraint or set."""
    if name not in place:
        hint = "correct it, or give it the coefficient 0 in the objective"
        t.wrong(where, f"the name '{name[:40]}' is in no objective and no constraint", hint)
    return place[name]


def _matrix(t: Tokens, forms: Forms, place: Mapping[str, int]) -> sp.csr_matrix:
    """Return the coefficients of forms, sums where a variable has several; raises FileError for a term stated twice."""
    j = np.fromiter(map(place.__getitem__, forms.names), int, len(forms.names))
    key = forms.rows * len(place) + j
    order = np.lexsort((forms.coefs, key))
    if (same := (np.diff(key[order]) == 0) & (np.diff(forms.coefs[order]) == 0)).any():
        twice = order[int(np.argmax(same)) + 1]
        t.wrong(int(forms.places[twice]), f"a term of '{forms.names[twice][:40]}' is stated twice", "add the two")
    A = sp.csr_matrix((forms.coefs, (forms.rows, j)), shape=(len(forms.constants), len(place)))
    A.eliminate_zeros()
    return A


def _products(forms: Forms, parts: Sequence[Named], place: Mapping[str, int]) -> dict[int, Terms]:
    """Return the quadratic terms by form."""
    triples: dict[int, list[tuple[int, int, float]]] = {}
    for (row, sign), terms in zip(forms.parts, parts, strict=True):
        triples.setdefault(row, []).extend((place[a], place[b], sign * v) for a, b, v in terms if v)
    return {row: products(listed) for row, listed in triples.items() if listed}


def _domains(
    sections: Mapping[str, Tokens], bounds: Bounds, place: Mapping[str, int]
) -> tuple[Vector, Vector, Mask, Mask]:
    """Return lower and upper bounds, and the masks of the integer and the semicontinuous variables."""
    n = len(place)
    ends = np.zeros(n), np.full(n, np.inf)
    stated = np.zeros((2, n), dtype=int)
    if "bounds" in sections:
        t = sections["bounds"]
        j = np.array(
            [_known(t, *named, place) for named in zip(bounds.places.tolist(), bounds.names, strict=True)], dtype=int
        )
        for side in (0, 1):
            here = np.flatnonzero(bounds.stated[side])
            ends[side][j[here]] = bounds.ends[side][here]
            np.add.at(stated[side], j[here], 1)
        if len(j) and (twice := np.max(stated, axis=0)[j] > 1).any():
            t.wrong(int(bounds.places[int(np.argmax(twice))]), "the variable has two bounds of one side", "keep one")
    integer, semi = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    for kind, mask in (("general", integer), ("binary", integer), ("semi", semi)):
        if (listed := sections.get(kind)) is None:
            continue
        listed.first_wrong(listed.kinds != WORD, "a name of a variable is expected")
        j = np.array([_known(listed, k, name, place) for k, name in enumerate(listed.words.tolist())], dtype=int)
        mask[j] = True
        if kind == "binary":
            outside = (stated[0][j] > 0) & (ends[0][j] < 0) | (stated[1][j] > 0) & (ends[1][j] > 1)
            listed.first_wrong(outside, "a binary variable has a bound outside 0 and 1", "make it general, or omit it")
            ends[1][j] = np.minimum(ends[1][j], 1.0)
    if (semi & (ends[0] > ends[1])).any():
        sections["semi"].wrong(0, "a semicontinuous variable has crossed bounds")
    return *ends, integer, semi


def _sets(t: Tokens | None) -> Iterator[tuple[int, list[str], list[tuple[int, str]]]]:
    """Yield type, names of the variables, and places and words of the weights of ``name: S1:: x:1 y:2``."""
    words, kinds = ([], []) if t is None else (t.words.tolist(), t.kinds.tolist())
    heads = [k for k, kind in enumerate(kinds) if kind == SETS]
    for number, head in enumerate(heads):
        assert t is not None
        kind = words[head - 1].upper() if head else ""
        named = head >= 3 and kinds[head - 3 : head - 1] == [WORD, COLON]
        if kind not in ("S1", "S2") or (number == 0 and head - 1 - 2 * named):
            t.wrong(head, "a set does not begin with its type", "write NAME: S1:: x:1 y:2")
        end = len(words)
        if number + 1 < len(heads):
            following = heads[number + 1]
            end = following - (3 if following >= 3 and kinds[following - 3 : following - 1] == [WORD, COLON] else 1)
        items = range(head + 1, end, 3)
        if any(
            [*kinds[k : k + 2], is_number(np.array(kinds[k + 2 : k + 3])).all()] != [WORD, COLON, True] or k + 3 > end
            for k in items
        ):
            t.wrong(head, "a set has an entry that is no variable with its weight", "write NAME: S1:: x:1 y:2")
        names = [words[k] for k in items]
        weights = [(k + 2, words[k + 2]) for k in items]
        if len({*names}) < len(names) or len({float(word) for _, word in weights}) < len(names):
            t.wrong(head, "a variable or a weight comes twice in its set", "give each a weight of its own")
        yield int(kind[1]), names, weights
    if words and not heads:
        assert t is not None
        t.wrong(0, "the section of sets has no set", "write NAME: S1:: x:1 y:2")


def _placed(
    t: Tokens | None, sets: Sequence[tuple[int, list[str], list[tuple[int, str]]]], place: Mapping[str, int]
) -> Sets:
    """Return the sets with places of the variables and values of the weights."""
    found = []
    for kind, names, weights in sets:
        assert t is not None
        t.numbers(np.array([where for where, _ in weights], dtype=int))
        places = [_known(t, where - 2, name, place) for name, (where, _) in zip(names, weights, strict=True)]
        found.append((kind, places, [float(word) for _, word in weights]))
    return found


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


def without_brackets(tokens: Tokens) -> tuple[Tokens, list[Named]]:
    """Return the tokens with one in the place of each part in brackets, and the terms of these parts.

    Raises
    ------
    FileError : a bracket without a partner, a term that is no product of two variables, or one that is stated twice.
    """
    opens, closes = np.flatnonzero(tokens.kinds == OPEN), np.flatnonzero(tokens.kinds == CLOSE)
    if not len(opens) and not len(closes):
        return tokens, []
    _check_pairs(tokens, opens, closes)
    letters = tokens.kinds.astype(np.uint8).tobytes().translate(LETTERS).decode("ascii")
    words = tokens.words.tolist()
    slashed = tokens.kinds[np.minimum(closes + 1, len(tokens) - 1)] == SLASH
    for close in closes[slashed].tolist():
        if words[close + 2 : close + 3] != ["2"]:
            tokens.wrong(close, "a quadratic part is divided by another number than 2", "write [ ... ] / 2")
    parts = [
        _terms(tokens, letters, words, (first + 1, last), 0.5 if half else 1.0)
        for first, last, half in zip(opens.tolist(), closes.tolist(), slashed.tolist(), strict=True)
    ]
    inside = np.zeros(len(tokens) + 1, dtype=int)
    np.add.at(inside, opens + 1, 1)
    np.add.at(inside, closes + 1 + 2 * slashed, -1)
    tokens.kinds[opens] = QUADRATIC
    return tokens.kept(np.cumsum(inside)[:-1] == 0), parts


def _check_pairs(tokens: Tokens, opens: Indices, closes: Indices) -> None:
    """Refuse brackets that are not [ and ] in turn."""
    places = np.concatenate([opens, closes])
    order = np.argsort(places)
    turns = (order >= len(opens)) != (np.arange(len(order)) % 2 == 1)
    if turns.any() or len(order) % 2:
        bad = order[int(np.argmax(turns))] if turns.any() else order[-1]
        tokens.wrong(int(places[bad]), "a bracket has no partner of its own", "write each quadratic part as [ ... ]")


def _terms(
    tokens: Tokens, letters: str, words: list[str], part: tuple[int, int], factor: float
) -> list[tuple[str, str, float]]:
    """Return the terms of a part, in time linear in its length."""
    place, end = part
    terms: Named = []
    seen: set[tuple[str, str, float]] = set()
    while place < end:
        found = PRODUCT.match(letters, place, end)
        if found is None or (terms and not (found[1] or found[3])) or (found[4] and words[found.start(4)] != "2"):
            said = " ".join(words[place : min(end, place + 12)])[:40]
            tokens.wrong(place, f"the quadratic term '{said}' cannot be read", "write c x ^ 2 or c x * y")
        first = place + len(found[1] or found[3] or "") + len(found[2] or "")
        one, other = words[first], words[first if found[4] else found.start(5)]
        number = words[first - 1] if found[2] or found[3] else "1"
        value = factor * float(number) * (-1.0 if found[1] and words[place] == "-" else 1.0)
        term = (min(one, other), max(one, other), value)
        if term in seen:
            tokens.wrong(first, f"the product of '{one[:20]}' and '{other[:20]}' is stated twice", "add the two")
        seen.add(term)
        terms.append(term)
        place = found.end()
    return terms
