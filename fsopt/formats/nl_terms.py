"""Lines, numbers and expressions of .nl files.

An expression is in prefix notation, one operator, number or variable a line. A shared expression, a segment V, is the
variable of its number in all expressions after it.
"""

from __future__ import annotations

import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyomo.environ as pyo
from pyomo.core.expr.numeric_expr import MaxExpression, MinExpression
from pyomo.core.expr.relational_expr import RelationalExpression

from fsopt.errors import FileError

UNARY: Mapping[int, Callable[[Any], Any]] = {
    13: pyo.floor,
    14: pyo.ceil,
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
COMPARISONS: Mapping[int, Callable[[Any, Any], Any]] = {
    22: operator.lt,
    23: operator.le,
    24: operator.eq,
    28: operator.ge,
    29: operator.gt,
}
"""Operators whose value is a truth, the first argument of ``if``."""
LISTS: Mapping[int, Callable[[list[Any]], Any]] = {
    11: lambda listed: _extreme(min, MinExpression, listed),
    12: lambda listed: _extreme(max, MaxExpression, listed),
    54: pyo.quicksum,
}
"""Operators of a number of arguments that the next line states."""
OPERATORS: Mapping[int, Callable[..., Any]] = {**UNARY, **BINARY, **COMPARISONS}
SQUARE, IF = 77, 35
OTHERS = {4: "mod", 6: "less", 20: "or", 21: "and", 30: "!=", 34: "not", 48: "atan2", 55: "div", 56: "precision"}
OTHERS |= {57: "round", 58: "trunc", 59: "count", 60: "numberof", 64: "piecewise linear term", 70: "and", 71: "or"}
OTHERS |= {72: "implies", 73: "if and only if", 74: "all different"}
"""Operators that are not read, by the words of AMPL."""
MOST_TERMS = 100_000
"""Terms by which shared expressions may lengthen the program, as most readers of a model write them out at each use."""
WHOLE = re.compile(r"[+-]?[0-9]+")
Tokens = list[tuple[str, Any]]


class Lines:
    """The lines of a file without comments, empty lines left out, read one after another."""

    def __init__(self, text: str) -> None:
        listed = [line.partition("#")[0].strip() for line in text.split("\n")]
        self._numbers = [k for k, line in enumerate(listed, 1) if line]
        self._lines = [line for line in listed if line]
        self._place = self._start = 0

    def begin(self) -> None:
        """Mark the line that was read last as the first one of a segment."""
        self._start = self._place

    @property
    def where(self) -> str:
        """The lines of the file from the start of the segment to the line that was read last."""
        first, last = (self._numbers[place - 1] if place else 1 for place in (self._start, self._place))
        return f"line {last}" if first == last else f"lines {first} to {last}"

    def __bool__(self) -> bool:
        """Whether there is a further line."""
        return self._place < len(self._lines)

    def next(self) -> str:
        """Return the next line; raises FileError at the end of the file."""
        return self.take(1)[0]

    def take(self, count: int) -> list[str]:
        """Return the next lines; raises FileError where the file ends before."""
        found = self._lines[self._place : self._place + count]
        self._place += len(found)
        if len(found) < count:
            raise FileError("the .nl file ends within a segment", "get the whole file")
        return found


def whole(word: str) -> int:
    """Return a whole number; raises ValueError for any other word."""
    if not WHOLE.fullmatch(word):
        raise ValueError(f"'{word[:20]}' is not a whole number")
    return int(word)


def index(word: str, end: int, what: str, start: int = 0) -> int:
    """Return a number from ``start`` to ``end - 1``: every index and every length of a segment is read here."""
    value = whole(word)
    if not start <= value < end:
        raise ValueError(f"{what} {value} is none of the {end - start} that its header states")
    return value


def number(word: str) -> float:
    """Return a number, which may be infinite; raises ValueError for any other word."""
    if "_" in word or not word.isascii():
        raise ValueError(f"'{word[:20]}' is not a number")
    return float(word)


def finite(word: str) -> float:
    """Return a finite number; raises ValueError for any other word."""
    value = number(word)
    if not math.isfinite(value):
        raise ValueError(f"the number '{word[:20]}' is not finite")
    return value


def pairs(lines: Lines, count: str, end: int, what: str) -> dict[int, float]:
    """Return the lines ``index value`` of a segment; each index, of a ``what`` below ``end``, comes once."""
    words = [line.split() for line in lines.take(index(count, end + 1, f"number of a {what} or length of a segment"))]
    found = {index(place, end, what): finite(value) for place, value in words}
    if len(found) < len(words):
        twice, _ = Counter(whole(place) for place, _ in words).most_common(1)[0]
        raise ValueError(f"{what} {twice} comes twice in a segment")
    return found


class Expressions:
    """The shared expressions of a file, and the tokens and Pyomo expressions that use them.

    Each shared expression is built once, and each use is that same object.

    Parameters
    ----------
    n : number of variables.
    """

    def __init__(self, n: int) -> None:
        self._n = n
        self._shared: dict[int, tuple[Tokens, Mapping[int, float]]] = {}
        self._lengths: dict[int, int] = {}
        self._built: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self._shared)

    def define(self, place: int, tokens: Tokens, linear: Mapping[int, float]) -> None:
        """Add a shared expression, the variable ``place``: the expression of tokens, plus linear terms."""
        self._shared[place] = tokens, linear
        # Lengths double from one shared expression to the next: beyond the limit they need no exact number.
        self._lengths[place] = min(self.length(tokens) + len(linear), 2 * MOST_TERMS)

    def read(self, lines: Lines) -> Tokens:
        """Return the tokens of one expression, which ends when every operator has its arguments."""
        tokens: Tokens = []
        wanted = 1
        while wanted:
            line = lines.next()
            kind, text = line[0], line[1:].strip()
            if kind == "n":
                tokens.append(("number", finite(text)))
            elif kind in "sl":
                tokens.append(("number", float(whole(text))))
            elif kind == "v":
                tokens.append(("variable", self._variable(text)))
            elif kind == "o":
                code = whole(text)
                count = _arguments(code, lines)
                if count < 1:
                    raise ValueError(f"a sum has {count} terms" if code == 54 else f"a list has {count} terms")
                tokens.append(("operator", (code, count)))
                wanted += count
            else:
                raise FileError(f"the term '{line[:20]}' of the .nl file is not read", "state the model without it")
            wanted -= 1
        return tokens

    def _variable(self, text: str) -> int:
        place = whole(text)
        return place if place in self._shared else index(text, self._n, "variable or earlier shared expression")

    def length(self, tokens: Tokens) -> int:
        """Return the number of tokens with each shared expression written out."""
        return sum(self._lengths.get(value, 1) if kind == "variable" else 1 for kind, value in tokens)

    def variables(self, tokens: Tokens) -> set[int]:
        """Return the variables of an expression, with those of its shared expressions."""
        found: set[int] = set()
        known: set[int] = set()
        waiting = [tokens]
        while waiting:
            for place in {value for kind, value in waiting.pop() if kind == "variable"} - known:
                known.add(place)
                if place < self._n:
                    found.add(place)
                else:
                    inner, linear = self._shared[place]
                    found.update(linear)
                    waiting.append(inner)
        return found

    def build(self, tokens: Tokens, x: Sequence[Any]) -> Any:
        """Return the Pyomo expression, or the number, of tokens in the variables x."""
        for place, (inner, linear) in self._shared.items():
            if place not in self._built:
                form = pyo.quicksum(v * x[j] for j, v in linear.items())
                self._built[place] = self._expression(inner, x) + form
        return self._expression(tokens, x)

    def _expression(self, tokens: Tokens, x: Sequence[Any]) -> Any:
        """Return the expression of tokens, which are read from their end."""
        stack: list[Any] = []
        for kind, value in reversed(tokens):
            if kind == "number":
                stack.append(value)
            elif kind == "variable":
                stack.append(x[value] if value < self._n else self._built[value])
            else:
                code, count = value
                stack.append(_applied(code, [stack.pop() for _ in range(count)]))
        (found,) = stack
        if isinstance(found, (bool, RelationalExpression)):
            raise ValueError("an expression is a comparison, not a number")
        if isinstance(found, (complex, float)) and not (isinstance(found, float) and math.isfinite(found)):
            raise ValueError(f"an expression without variables has the value {found}")
        return found


def _arguments(code: int, lines: Lines) -> int:
    """Return the number of arguments of an operator; raises FileError for one that is not read."""
    if code in LISTS:
        return whole(lines.next())
    if code in BINARY or code in COMPARISONS:
        return 2
    if code in UNARY or code == SQUARE:
        return 1
    if code == IF:
        return 3
    name = f"o{code} ({OTHERS[code]})" if code in OTHERS else f"o{code}"
    raise FileError(f"the operator {name} of the .nl file is not read", "state the model without it")


def _applied(code: int, arguments: list[Any]) -> Any:
    """Return an operator applied to its arguments; raises ValueError for a truth in the place of a number."""
    truths = [isinstance(argument, (bool, RelationalExpression)) for argument in arguments]
    if truths != [code == IF, *[False] * (len(arguments) - 1)]:
        raise ValueError(f"the operator o{code} has a comparison in the place of a number, or a number in that of one")
    if code == IF:
        condition, *values = arguments
        return values[not condition] if isinstance(condition, bool) else pyo.Expr_if(condition, *values)
    if code == SQUARE:
        return arguments[0] ** 2
    if code in LISTS:
        return LISTS[code](arguments)
    return OPERATORS[code](*arguments)


def _extreme(of: Callable[[list[Any]], Any], node: Any, listed: list[Any]) -> Any:
    """Return the extreme value of numbers, or the node of an expression that is it."""
    return of(listed) if all(isinstance(one, (int, float)) for one in listed) else node(tuple(listed))
