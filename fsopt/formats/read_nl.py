"""Files .nl in text form (the letter g), with the names of the files .col and .row beside it.

The format lists the variables in an order that says which are integer, and expressions in prefix notation, see D. M.
Gay, "Writing .nl files", Sandia report 2005-7907P. Operators with a counterpart in ``UNARY`` and ``BINARY``, sums and
special ordered sets are read; logical constraints, complementarities, imported functions and piecewise terms are not.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from fsopt.errors import FileError
from fsopt.formats.read_arrays import ReadProgram, countable, model_of
from fsopt.typing import Mask

UNARY: Mapping[int, Callable[[Any], Any]] = {
    15: abs,
    16: operator.neg,
    37: pyo.tanh,
    38: pyo.tan,
    39: pyo.sqrt,
    40: pyo.sinh,
    41: pyo.sin,
    42: pyo.log10,
    43: pyo.log,
    44: pyo.exp,
    45: pyo.cosh,
    46: pyo.cos,
    47: pyo.atanh,
    49: pyo.atan,
    50: pyo.asinh,
    51: pyo.asin,
    52: pyo.acosh,
    53: pyo.acos,
}
BINARY: Mapping[int, Callable[[Any, Any], Any]] = {
    0: operator.add,
    1: operator.sub,
    2: operator.mul,
    3: operator.truediv,
    5: operator.pow,
    75: operator.pow,
    76: operator.pow,
}
SQUARE, SUM = 77, 54
HEADER = 10
"""Lines before the first segment."""
SETS = ("sosno", "ref")
"""Suffixes of variables: the number of a special ordered set, and the weight in it."""
INNER_SETS = ("sos", "sosref")
"""Suffixes by which AMPL states its own sets, those of piecewise linear terms."""
OTHERS = {"F": "an imported function", "L": "a logical constraint"}
Tokens = list[tuple[str, Any]]


@dataclass
class _Content:
    """The segments of a file."""

    n: int
    m: int
    integer: Mask
    rows: dict[int, Tokens] = field(default_factory=dict)
    shared: dict[int, tuple[Tokens, dict[int, float]]] = field(default_factory=dict)
    objective: Tokens = field(default_factory=list)
    maximise: bool = False
    cost: dict[int, float] = field(default_factory=dict)
    linear: dict[int, dict[int, float]] = field(default_factory=dict)
    ranges: list[tuple[float, float]] = field(default_factory=list)
    bounds: list[tuple[float, float]] = field(default_factory=list)
    suffixes: dict[str, dict[int, float]] = field(default_factory=dict)


def read_nl(text: str, names: Callable[[str], Sequence[str]]) -> pyo.ConcreteModel:
    """Return the model of an .nl file.

    Parameters
    ----------
    names : function of ``col`` or ``row`` to the names in that file, empty if there is none.

    Raises
    ------
    FileError : the file is damaged, in binary form, or has parts that are not read.
    """
    lines = [line.partition("#")[0].rstrip() for line in text.splitlines()]
    if not lines or not lines[0].startswith("g"):
        raise FileError("the .nl file is not in text form: its first letter is not g", "write it in text form")
    try:
        content = _read(lines)
        columns = list(names("col"))[: content.n] or [f"x{j}" for j in range(content.n)]
        rows = list(names("row"))[: content.m] or [f"row{i}" for i in range(content.m)]
        return model_of(_program(content, columns, rows))
    except StopIteration as error:
        raise FileError("the .nl file ends within a segment", "get the whole file") from error
    except (ValueError, LookupError, TypeError, ArithmeticError, RecursionError) as error:
        reason = str(error).strip() or type(error).__name__
        raise FileError(f"the .nl file is damaged: {reason[:100]}", "check it against the format") from error


def _read(lines: Sequence[str]) -> _Content:
    head = [[int(word) for word in line.split()] for line in lines[1:HEADER]]
    n, m, objectives = (countable(number) for number in head[0][:3])
    if len(head[0]) > 5 and head[0][5]:
        raise FileError("the .nl file has logical constraints", "state them by integers")
    if objectives > 1:
        raise FileError(f"the .nl file has {objectives} objectives", "leave one")
    content = _Content(n, m, _integers(n, head[3][:3], head[5][:5]))
    rest = iter([line for line in lines[HEADER:] if line])
    for line in rest:
        _segment(line, rest, content)
    if len(content.bounds) != n or len(content.ranges) != m:
        raise ValueError("it ends before all bounds are given")
    return content


def _integers(n: int, nonlinear: Sequence[int], discrete: Sequence[int]) -> Mask:
    """Return which variables (n,) are integer: the last of each group of the order of the format.

    Parameters
    ----------
    nonlinear : numbers of variables that are nonlinear in constraints, in the objective (counted from the first
        variable on), and in both.
    discrete : numbers of binary and other integer linear variables, and of integers nonlinear in both, in constraints
        only and in the objective only.
    """
    constraints, objective, both = nonlinear
    binary, whole, in_both, in_constraints, in_objective = discrete
    integer = np.zeros(n, dtype=bool)
    for end, count in ((both, in_both), (constraints, in_constraints), (objective, in_objective), (n, binary + whole)):
        integer[end - count : end] = True
    return integer


def _segment(line: str, rest: Iterator[str], content: _Content) -> None:
    """Read the segment that a line opens."""
    kind, words = line[0], line[1:].split()
    if kind in OTHERS:
        raise FileError(f"the .nl file has {OTHERS[kind]}", "state the model without it")
    if kind == "C":
        content.rows[int(words[0])] = _tokens(rest)
    elif kind == "O":
        content.maximise = words[1] == "1"
        content.objective = _tokens(rest)
    elif kind == "V":
        linear = _pairs(rest, int(words[1]))
        content.shared[int(words[0])] = (_tokens(rest), linear)
    elif kind == "J":
        content.linear[int(words[0])] = _pairs(rest, int(words[1]))
    elif kind == "G":
        content.cost = _pairs(rest, int(words[1]))
    elif kind == "r":
        content.ranges = [_ends(next(rest)) for _ in range(content.m)]
    elif kind == "b":
        content.bounds = [_ends(next(rest)) for _ in range(content.n)]
    elif kind == "S":
        pairs, name = _pairs(rest, int(words[1])), words[2]
        if int(words[0]) % 4 == 0 and name in SETS:  # of variables; 1 to 3 are of constraints, objectives, the problem
            content.suffixes[name] = pairs
        elif name in INNER_SETS:
            raise FileError(f"the .nl file has piecewise linear terms as the suffix {name}", "state them by binaries")
    elif kind in "kxd":
        # Column counts, a start and dual values say nothing about the program.
        for _ in range(int(words[0])):
            next(rest)
    else:
        raise ValueError(f"its segment '{line[:20]}' is unknown")


def _pairs(rest: Iterator[str], count: int) -> dict[int, float]:
    pairs = [next(rest).split() for _ in range(count)]
    return {int(j): float(v) for j, v in pairs}


def _ends(line: str) -> tuple[float, float]:
    """Return the lower and upper bound of a line of the segments r and b."""
    kind, *values = line.split()
    numbers = [float(value) for value in values]
    if kind == "5":
        raise FileError("the .nl file has complementarities", "state them by integers")
    if kind == "0":
        low, high = numbers
        return low, high
    ends: Mapping[str, Callable[[float], tuple[float, float]]] = {
        "1": lambda v: (-np.inf, v),
        "2": lambda v: (v, np.inf),
        "4": lambda v: (v, v),
    }
    return (-np.inf, np.inf) if kind == "3" else ends[kind](numbers[0])


def _tokens(rest: Iterator[str]) -> Tokens:
    """Return the tokens of one expression, which ends when every operator has its arguments."""
    tokens: Tokens = []
    wanted = 1
    while wanted:
        line = next(rest)
        kind, text = line[0], line[1:].strip()
        if kind in "nsl":
            tokens.append(("number", float(text)))
        elif kind == "v":
            tokens.append(("variable", int(text)))
        elif kind == "o":
            code = int(text)
            count = int(next(rest)) if code == SUM else 2 if code in BINARY else 1
            if code not in (*BINARY, *UNARY, SUM, SQUARE):
                raise FileError(f"the operator o{code} of the .nl file is not read", "state the model without it")
            tokens.append(("operator", (code, count)))
            wanted += count
        else:
            raise FileError(f"the term '{line[:20]}' of the .nl file is not read", "state the model without it")
        wanted -= 1
    return tokens


def _expression(tokens: Tokens, content: _Content, x: Sequence[Any]) -> Any:
    """Return the expression of tokens in prefix notation, which are read from their end."""
    stack: list[Any] = []
    for kind, value in reversed(tokens):
        if kind == "number":
            stack.append(value)
        elif kind == "variable" and value < len(x):
            stack.append(x[value])
        elif kind == "variable":
            inner, linear = content.shared[value]
            stack.append(_expression(inner, content, x) + pyo.quicksum(v * x[j] for j, v in linear.items()))
        else:
            code, count = value
            arguments = [stack.pop() for _ in range(count)]
            stack.append(_applied(code, arguments))
    (found,) = stack
    return found


def _applied(code: int, arguments: list[Any]) -> Any:
    if code == SUM:
        return pyo.quicksum(arguments)
    if code == SQUARE:
        return arguments[0] ** 2
    return UNARY[code](*arguments) if code in UNARY else BINARY[code](*arguments)


def _program(content: _Content, columns: list[str], rows: list[str]) -> ReadProgram:
    entries = [(i, j, v) for i, form in content.linear.items() for j, v in form.items()]
    places = np.array([(i, j) for i, j, _ in entries], dtype=int).reshape(-1, 2)
    c = np.zeros(content.n)
    c[list(content.cost)] = list(content.cost.values())
    lo, hi = np.array(content.ranges, dtype=float).reshape(-1, 2).T
    lb, ub = np.array(content.bounds, dtype=float).reshape(-1, 2).T
    constant, shift = _constant(content.objective), np.zeros(content.m)
    terms = {}
    for i, tokens in content.rows.items():
        alone = _constant(tokens)
        if alone is None:
            terms[i] = partial(_expression, tokens, content)
        else:
            shift[i] = alone
    return ReadProgram(
        name="nl",
        columns=columns,
        rows=rows,
        maximise=content.maximise,
        c=c,
        c0=0.0 if constant is None else constant,
        A=sp.csr_matrix((np.array([v for *_, v in entries]), places.T), shape=(content.m, content.n)),
        lo=lo - shift,
        hi=hi - shift,
        lb=lb,
        ub=ub,
        integer=content.integer,
        sets=_sets(content.suffixes),
        objective=partial(_expression, content.objective, content) if constant is None else None,
        terms=terms,
    )


def _sets(suffixes: Mapping[str, Mapping[int, float]]) -> list[tuple[int, list[int], list[float]]]:
    """Return type, places and weights of the special ordered sets: a negative number in sosno means type 2."""
    numbers, weights = (suffixes.get(name, {}) for name in SETS)
    places: dict[float, list[int]] = {}
    for j, number in numbers.items():
        if number:
            places.setdefault(number, []).append(j)
    return [(1 if k > 0 else 2, listed, [weights.get(j, 0.0) for j in listed]) for k, listed in places.items()]


def _constant(tokens: Tokens) -> float | None:
    """Return the value of an expression that is a number; 0 for none, None for any other."""
    if not tokens:
        return 0.0
    return tokens[0][1] if tokens[0][0] == "number" else None
