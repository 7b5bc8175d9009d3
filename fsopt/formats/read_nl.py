"""Files .nl in text form (the letter g), with the names of the files .col and .row beside it.

The format lists the variables in an order that says which are integer, and expressions in prefix notation, see D. M.
Gay, "Writing .nl files", Sandia report 2005-7907P. Functions, lists and choices with a counterpart in Pyomo and special
ordered sets are read; logical constraints, complementarities, imported functions and piecewise linear terms are not.

The format states most facts twice: the header counts what the segments list, a constraint's linear terms name each of
its variables, also the nonlinear ones, and the segment k counts the constraints of each variable. Where two of them
differ, a part of the file is lost or wrong, and the file is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from fsopt.errors import FileError
from fsopt.formats.nl_header import NlHeader, read_header
from fsopt.formats.nl_terms import MOST_TERMS, Expressions, Lines, Tokens, index, number, pairs, whole
from fsopt.formats.read_arrays import INFINITE, ReadProgram, model_of

OTHERS = {"F": "an imported function", "L": "a logical constraint"}
WORDS = {"C": 1, "O": 2, "V": 3, "J": 2, "G": 2, "r": 0, "b": 0, "S": 3, "k": 1, "x": 1, "d": 1}
"""Segment -> words after its letter."""
SETS = ("sosno", "ref")
"""Suffixes of variables: the number of a special ordered set, and the weight in it."""
INNER_SETS = ("sos", "sosref")
"""Suffixes by which AMPL states its own sets, those of piecewise linear terms."""
HARMLESS = frozenset(
    {"sstatus", "priority", "direction", "scaling_factor", "lazy", "dual", "rc", "slack", "up", "down", "current"}
    | {"unbdd", "dunbdd", "iis", "initial", "separate", "propagate", "dynamic", "removable"}
    | {"ipopt_zL_in", "ipopt_zU_in", "ipopt_zL_out", "ipopt_zU_out"}
)
"""Suffixes that guide a solver or report its answer, and leave the program as it is; those of any other name may change
the program, as ``relax`` does, which takes the integrality of a variable."""


@dataclass
class _Content:
    """The segments of a file."""

    header: NlHeader
    expressions: Expressions
    seen: set[tuple[object, ...]] = field(default_factory=set)
    rows: dict[int, Tokens] = field(default_factory=dict)
    objective: Tokens = field(default_factory=list)
    maximise: bool = False
    cost: dict[int, float] = field(default_factory=dict)
    linear: dict[int, dict[int, float]] = field(default_factory=dict)
    ranges: list[tuple[float, float]] = field(default_factory=list)
    kinds: str = ""
    bounds: list[tuple[float, float]] = field(default_factory=list)
    suffixes: dict[str, dict[int, float]] = field(default_factory=dict)
    columns: list[int] | None = None

    @property
    def n(self) -> int:
        return self.header.size[0]

    @property
    def m(self) -> int:
        return self.header.size[1]


def read_nl(text: str, names: Callable[[str], Sequence[str]]) -> pyo.ConcreteModel:
    """Return the model of an .nl file.

    Parameters
    ----------
    names : function of ``col`` or ``row`` to the names in that file, empty if there is none.

    Raises
    ------
    FileError : the file is damaged, in binary form, or has parts that are not read.
    """
    if not text.startswith("g"):
        raise FileError("the .nl file is not in text form: its first letter is not g", "write it in text form")
    lines = Lines(text)
    try:
        content = _read(lines)
        n, m, objectives = content.header.size[:3]
        columns = _names(names("col"), "col", n, n) or [f"x{j}" for j in range(n)]
        rows = _names(names("row"), "row", m, m + objectives) or [f"row{i}" for i in range(m)]
        return model_of(_program(content, columns, rows))
    except (ValueError, LookupError, TypeError, ArithmeticError, RecursionError) as error:
        reason = str(error).strip() or type(error).__name__
        at = f" in {lines.where}" if lines else ""
        raise FileError(
            f"the .nl file is damaged{at}: {reason[:120]}", "get the whole file, or write it again"
        ) from error


def _names(listed: Sequence[str], end: str, count: int, most: int) -> list[str]:
    """Return the first names of a companion; after those of the constraints come those of the objectives."""
    if listed and not count <= len(listed) <= most:
        raise FileError(
            f"the .{end} file beside the .nl file has {len(listed)} names, not {count}",
            "remove it, or write both again",
        )
    return list(listed[:count])


def _read(lines: Lines) -> _Content:
    header = read_header(lines)
    content = _Content(header, Expressions(header.size[0]))
    while lines:
        line = lines.next()
        lines.begin()
        _segment(line, lines, content)
    _compare(content)
    return content


def _segment(line: str, lines: Lines, content: _Content) -> None:
    """Read the segment that a line opens."""
    kind, words = line[0], line[1:].split()
    if kind in OTHERS:
        raise FileError(f"the .nl file has {OTHERS[kind]}", "state the model without it")
    if kind not in WORDS:
        raise ValueError(f"its segment '{line[:20]}' is unknown")
    if len(words) != WORDS[kind]:
        raise ValueError(f"its segment '{line[:20]}' has not {WORDS[kind]} words")
    place = _place(kind, words, content)
    if (kind, *place) in content.seen:
        raise ValueError(f"its segment '{line[:20]}' comes twice")
    content.seen.add((kind, *place))
    if kind in "COV":
        _expression(kind, words, lines, content)
    elif kind == "J":
        content.linear[whole(words[0])] = pairs(lines, words[1], content.n, "variable")
    elif kind == "G":
        content.cost = pairs(lines, words[1], content.n, "variable")
    elif kind == "r":
        content.kinds, content.ranges = _ends(lines, content.m)
    elif kind == "b":
        _, content.bounds = _ends(lines, content.n)
    elif kind == "S":
        _suffix(words, lines, content)
    elif kind == "k":
        content.columns = [whole(w) for w in lines.take(index(words[0], content.n, "length of the segment k"))]
    else:  # a start and dual values, which say nothing about the program
        pairs(lines, words[0], content.n if kind == "x" else content.m, "variable" if kind == "x" else "constraint")


def _place(kind: str, words: Sequence[str], content: _Content) -> tuple[object, ...]:
    """Return what a segment is of: the number of a constraint, an objective or an expression, or a suffix."""
    n, m, objectives = content.header.size[:3]
    if kind in "CJ":
        return (index(words[0], m, "constraint"),)
    if kind in "OG":
        return (index(words[0], objectives, "objective"),)
    if kind == "V":
        return (index(words[0], n + sum(content.header.shared), "shared expression", n),)
    if kind == "S":
        return index(words[0], 8, "kind of suffix") % 4, words[2]
    return ()


def _expression(kind: str, words: Sequence[str], lines: Lines, content: _Content) -> None:
    """Read a segment C, O or V."""
    if kind == "V":
        index(words[2], content.m + content.header.size[2] + 1, "use of a shared expression")
        linear = pairs(lines, words[1], content.n, "variable")
        content.expressions.define(whole(words[0]), content.expressions.read(lines), linear)
    elif kind == "C":
        content.rows[whole(words[0])] = content.expressions.read(lines)
    else:
        content.maximise = bool(index(words[1], 2, "sense"))
        content.objective = content.expressions.read(lines)


def _suffix(words: Sequence[str], lines: Lines, content: _Content) -> None:
    """Read a segment S: of variables (0), constraints (1), objectives (2) or the problem (3), plus 4 if not whole."""
    of, name = whole(words[0]) % 4, words[2]
    values = pairs(lines, words[1], (*content.header.size[:3], 1)[of], "place of a suffix")
    if of == 0 and name in SETS:
        content.suffixes[name] = values
    elif name in INNER_SETS:
        raise FileError(f"the .nl file has piecewise linear terms as the suffix {name}", "state them by binaries")
    elif changing(name):
        raise FileError(
            f"the .nl file has the suffix {name[:40]}, which may change the program", "write it without this suffix"
        )


def _ends(lines: Lines, count: int) -> tuple[str, list[tuple[float, float]]]:
    """Return the kinds, and the lower and upper bounds, of the lines of the segments r and b."""
    kinds, found = [], []
    for line in lines.take(count):
        kind, *words = line.split()
        if kind == "5":
            raise FileError("the .nl file has complementarities", "state them by integers")
        length = {"0": 2, "1": 1, "2": 1, "3": 0, "4": 1}.get(kind)
        if length != len(words):
            raise ValueError(f"a bound of the kind '{kind[:20]}' has {len(words)} numbers")
        values = [number(word) for word in words]
        low = values[0] if kind in "024" else -np.inf
        high = values[-1] if kind in "014" else np.inf
        if low >= INFINITE or high <= -INFINITE:
            raise ValueError(f"no number meets the bound '{line[:40]}', as numbers from {INFINITE:.0e} on are infinite")
        kinds.append(kind)
        found.append((low, high))
    return "".join(kinds), found


def _compare(content: _Content) -> None:
    """Raise ValueError where the header and the segments differ."""
    header, nonlinear = content.header, [i for i, tokens in content.rows.items() if _nonlinear(tokens)]
    objectives = sum(kind == "O" for kind, *_ in content.seen)
    given = ("ranges", content.kinds.count("0")), ("equations", content.kinds.count("4"))
    counts = [
        ("bounds of variables", len(content.bounds), content.n),
        ("bounds of constraints", len(content.ranges), content.m),
        ("constraints", len(content.rows), content.m),
        ("objectives", objectives, header.size[2]),
        ("shared expressions", len(content.expressions), sum(header.shared)),
        *((what, found, stated) for (what, found), stated in zip(given, header.size[3:5], strict=False)),
        ("nonlinear constraints", len(nonlinear), header.nonlinear[0]),
        ("nonlinear objectives", int(_nonlinear(content.objective)), header.nonlinear[1]),
        ("nonzeros of constraints", sum(map(len, content.linear.values())), header.nonzeros[0]),
        ("nonzeros of the objective", len(content.cost), header.nonzeros[1]),
    ]
    for what, found, stated in counts:
        if found != stated:
            raise ValueError(f"its header states {stated} {what}, and its segments have {found}")
    if max(nonlinear, default=-1) >= len(nonlinear):
        raise ValueError(f"the nonlinear constraint {max(nonlinear)} is not before the linear ones")
    _compare_columns(content)
    _compare_nonlinear(content)
    first = content.n - sum(header.discrete[:2])
    for j in range(first, first + header.discrete[0]):
        if content.bounds[j][0] < 0 or content.bounds[j][1] > 1:
            raise ValueError(f"variable {j} is binary and has the bounds {content.bounds[j]}")


def _compare_columns(content: _Content) -> None:
    """Raise ValueError where the segment k, sums over the first variables, differs from the linear terms."""
    if content.columns is None:
        return
    places = np.fromiter((j for form in content.linear.values() for j in form), dtype=int)
    sums = np.cumsum(np.bincount(places, minlength=content.n)).tolist()[:-1]
    if content.columns != sums:
        raise ValueError("the segment k has other counts of the constraints of a variable than the segments J")


def _compare_nonlinear(content: _Content) -> None:
    """Raise an error for variables of nonlinear terms that are missing elsewhere, and for too many terms."""
    own, expressions = [content.objective, *content.rows.values()], content.expressions
    if sum(map(expressions.length, own)) - sum(map(len, own)) > MOST_TERMS:
        raise FileError(
            f"the shared expressions of the .nl file have more than {MOST_TERMS:,} terms when they are written out",
            "make them variables, with a constraint each",
        )
    both, inner, outer, _ = ({*range(start, end)} for start, end, _ in content.header.groups())
    in_rows: set[int] = set()
    for i, tokens in content.rows.items():
        used = expressions.variables(tokens)
        in_rows |= used
        _contained(used, content.linear.get(i, {}), f"is in a nonlinear term, and not in the segment J{i}")
    in_cost = expressions.variables(content.objective)
    _contained(in_cost, content.cost, "is in a nonlinear term, and not in the segment G0")
    pairs_of = (
        ((in_rows | in_cost, both),) if content.header.old else ((in_rows, both | inner), (in_cost, both | outer))
    )
    for used, declared in pairs_of:
        _contained(used, declared, "is in a nonlinear term, and linear by the header")
        _contained(declared, used, "is in no nonlinear term, and nonlinear by the header")


def _contained(some: set[int], others: set[int] | Mapping[int, float], otherwise: str) -> None:
    missing = some.difference(others)
    if missing:
        raise ValueError(f"variable {min(missing)} {otherwise}")


def _nonlinear(tokens: Tokens) -> bool:
    return any(kind == "variable" for kind, _ in tokens)


def _program(content: _Content, columns: list[str], rows: list[str]) -> ReadProgram:
    n, m = content.n, content.m
    entries = [(i, j, v) for i, form in content.linear.items() for j, v in form.items()]
    places = np.array([(i, j) for i, j, _ in entries], dtype=int).reshape(-1, 2)
    c = np.zeros(n)
    c[list(content.cost)] = list(content.cost.values())
    lo, hi = np.array(content.ranges, dtype=float).reshape(-1, 2).T
    lb, ub = np.array(content.bounds, dtype=float).reshape(-1, 2).T
    integer = np.zeros(n, dtype=bool)
    for _, end, count in content.header.groups():
        integer[end - count : end] = True
    constant, shift = _constant(content.objective), np.zeros(m)
    terms = {}
    for i, tokens in content.rows.items():
        alone = _constant(tokens)
        if alone is None:
            terms[i] = partial(content.expressions.build, tokens)
        else:
            shift[i] = alone
    return ReadProgram(
        name="nl",
        columns=columns,
        rows=rows,
        maximise=content.maximise,
        c=c,
        c0=0.0 if constant is None else constant,
        A=sp.csr_matrix((np.array([v for *_, v in entries]), places.T), shape=(m, n)),
        lo=lo - shift,
        hi=hi - shift,
        lb=lb,
        ub=ub,
        integer=integer,
        sets=_sets(content.suffixes),
        objective=partial(content.expressions.build, content.objective) if constant is None else None,
        terms=terms,
    )


def _sets(suffixes: Mapping[str, Mapping[int, float]]) -> list[tuple[int, list[int], list[float]]]:
    """Return type, places and weights of the special ordered sets: a negative number in sosno means type 2."""
    # A value that is not listed is 0: no set, or the weight 0.
    numbers, weights = (suffixes.get(name, {}) for name in SETS)
    places: dict[int, list[int]] = {}
    for j, k in numbers.items():
        if k % 1:
            raise ValueError(f"the special ordered set of variable {j} has the number {k}, which is not whole")
        if k:
            places.setdefault(int(k), []).append(j)
    for j, weight in weights.items():
        if weight and not numbers.get(j):
            raise ValueError(f"variable {j} has a weight in a special ordered set (ref), and is in none (sosno)")
    found = [(1 if k > 0 else 2, listed, [weights.get(j, 0.0) for j in listed]) for k, listed in places.items()]
    if any(kind == 2 and len({*listed}) < len(listed) for kind, _, listed in found):
        raise ValueError("two variables of a special ordered set of type 2 have the same weight (ref)")
    return found


def _constant(tokens: Tokens) -> float | None:
    """Return the value of an expression that is a number; 0 for none, None for any other."""
    if not tokens:
        return 0.0
    return tokens[0][1] if tokens[0][0] == "number" else None


def changing(name: str) -> bool:
    """Return whether a suffix may change the program for a reader; neither written nor read, one rule for both."""
    return name not in HARMLESS
