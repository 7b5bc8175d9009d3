r"""Files .lp, in the common part of the dialects of CPLEX, Gurobi, HiGHS, SCIP and Xpress.

A section is an array of tokens; what may follow what is a table, and coefficients, signs, constants and rows are found
by comparisons of neighbours. Refused is what readers take in different ways, and what a slip of the pen makes: two
terms of one variable, two bounds of one side, and names that are in no objective, constraint or set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import scipy.sparse as sp

from fsopt.formats.indicators import Indicator, switched
from fsopt.formats.lp_bounds import Bounds, stated_bounds
from fsopt.formats.lp_forms import Forms, forms_of, is_number, rows_of
from fsopt.formats.lp_quadratic import Named, without_brackets
from fsopt.formats.lp_tokens import ARROW, COLON, SETS, WORD, Tokens, sections_of
from fsopt.formats.read_arrays import ReadProgram, Sets, Terms, products
from fsopt.typing import Indices, Mask, Vector

Arrows = list[tuple[int, str, int]]
"""Place of a token of a constraint, name of a binary, and the value with which the constraint holds."""


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
