"""Words, numbers and expressions of GAMS files.

GAMS does not distinguish small and capital letters. ``x ** 2`` is an error there where x is negative, and
``a ** b ** c`` and ``a * -b`` are read differently elsewhere: these are refused; sqr, power and brackets say the same.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyomo.environ as pyo

from fsopt.errors import FileError
from fsopt.formats.nl_terms import LISTS, finite
from fsopt.formats.read_arrays import worded

WORD = re.compile(
    r"""(?P<name>[a-z]\w*+) | (?P<number>(?:\d++(?:\.(?!\.)\d*+)?|\.\d++)(?:e[-+]?\d++)?)
    | (?P<text>'[^'\n]*+'|"[^"\n]*+") | (?P<macro>%\w++%) | (?P<sign>\*\*|\.\.|=[a-z]=|[-+*/(),;=.]) | \s++""",
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)
IGNORED = re.compile(
    r"\$(?:(?:on|off)(?:listing|digit|symxref|symlist|uellist|uelxref)|title\b.*"
    r"|if not '%gams\.u1%' == '' \$include '%gams\.u1%')",
    re.IGNORECASE,
)
"""Lines that change nothing in the program."""
SET = re.compile(r"\$if not set (\w+) \$set (\w+) (\w+)", re.IGNORECASE)
"""How Convert lets a user exchange the class of the model."""
FUNCTIONS: Mapping[str, tuple[int, Callable[..., Any]]] = {
    **{name: (1, getattr(pyo, name)) for name in ("exp", "log", "log10", "sqrt", "sin", "cos", "tan")},
    **{name: (1, getattr(pyo, name)) for name in ("sinh", "cosh", "tanh", "ceil", "floor")},
    **{f"arc{name}": (1, getattr(pyo, f"a{name}")) for name in ("sin", "cos", "tan")},
    "abs": (1, abs),
    "sqr": (1, lambda a: a**2),
    "power": (2, operator.pow),
    "min": (0, lambda *listed: LISTS[11](list(listed))),
    "max": (0, lambda *listed: LISTS[12](list(listed))),
}
"""Function -> number of its arguments, 0 for any, and what it is in Pyomo."""


class Word(NamedTuple):
    """A word of a file, its kind (name, number, text, macro, sign), and the number of its line."""

    kind: str
    text: str
    line: int

    @property
    def key(self) -> str:
        """The word by which two names are the same."""
        return self.text.lower()


def wrong(word: Word | None, reason: str, hint: str = "check the file") -> FileError:
    """Return the error of a word; None stands for the end of the file."""
    where = f"line {word.line} of the .gms file, '{word.text[:40]}'" if word else "the end of the .gms file"
    return FileError(f"{where}: {reason}", hint)


def words_of(text: str) -> tuple[list[Word], dict[str, str]]:
    """Return the words without comments, and the macros that the file sets: name -> value."""
    words: list[Word] = []
    macros: dict[str, str] = {}
    outside = True
    for number, line in enumerate(worded(text).split("\n"), start=1):
        first = " ".join(line.split()).lower()
        if first in ("$ontext", "$offtext"):
            if (first == "$ontext") != outside:
                raise wrong(Word("sign", first, number), "a remark in a remark, or none that ends")
            outside = not outside
        elif line.startswith("$") and outside:
            if (found := SET.fullmatch(first)) and found[1] == found[2]:
                macros[found[1]] = found[3]
            elif not IGNORED.fullmatch(first):
                raise wrong(Word("sign", first, number), "this instruction is not read", "write the program in full")
        elif outside and not line.startswith("*"):
            words += _words(line, number)
    if not outside:
        raise wrong(None, "a remark has no $offtext", "get the whole file")
    return words, macros


def _words(line: str, number: int) -> Iterator[Word]:
    place = 0
    while place < len(line):
        found = WORD.match(line, place)
        if found is None:
            raise wrong(Word("sign", line[place : place + 1], number), "this sign is not read")
        place = found.end()
        if found.lastgroup:
            yield Word(found.lastgroup, found[0], number)


def value_of(words: Sequence[Word], x: Mapping[str, Any]) -> Any:
    """Return the expression of words, or a number, in the variables x by their names in small letters.

    Raises
    ------
    FileError : the words are no expression, have functions that are not read, or a value that is no finite number.
    """
    reader = _Reader(words, x)
    try:
        found = reader.total()
    except RecursionError as error:
        raise wrong(words[0], "there are too many brackets in brackets", "state the model with fewer") from error
    except (ArithmeticError, ValueError) as error:
        raise wrong(words[0], f"an expression without value: {error}") from error
    if reader.place < len(words):
        raise wrong(words[reader.place], "this is not expected here")
    if isinstance(found, (int, float)) and not math.isfinite(found):
        raise wrong(words[0], f"an expression with the value {found}")
    return found


class _Reader:
    """An expression that is read from left to right: sums of products of powers."""

    def __init__(self, words: Sequence[Word], x: Mapping[str, Any]) -> None:
        self.words, self.x = words, x
        self.place = 0

    def _next(self, *texts: str) -> str:
        """Return the next sign and step over it, if it is one of some; else an empty text."""
        word = self.words[self.place] if self.place < len(self.words) else None
        if word is None or word.text not in texts:
            return ""
        self.place += 1
        return word.text

    def _needed(self, text: str) -> None:
        if not self._next(text):
            raise wrong(self.words[min(self.place, len(self.words) - 1)], f"'{text}' is expected here")

    def total(self) -> Any:
        """Return a sum, which may begin with a sign."""
        found = -self._product() if self._next("+", "-") == "-" else self._product()
        while sign := self._next("+", "-"):
            term = self._product()
            found = found - term if sign == "-" else found + term
        return found

    def _product(self) -> Any:
        found = self._power()
        while sign := self._next("*", "/"):
            factor = self._power()
            found = found / factor if sign == "/" else found * factor
        return found

    def _power(self) -> Any:
        base = self._atom()
        if not self._next("**"):
            return base
        at = self.words[self.place - 1]
        exponent = self._atom()
        if self._next("**"):
            raise wrong(at, "a power of a power has no brackets", "write them")
        if isinstance(exponent, (int, float)) and float(exponent).is_integer() and not isinstance(base, (int, float)):
            raise wrong(at, "this power is an error in GAMS where its base is negative", "write power(x, 2), or sqr(x)")
        found = base**exponent
        if isinstance(found, complex):
            raise wrong(at, "this power is no real number")
        return found

    def _atom(self) -> Any:
        if self.place >= len(self.words):
            raise wrong(self.words[-1] if self.words else None, "a term is expected after this")
        word = self.words[self.place]
        self.place += 1
        if word.kind == "number":
            return finite(word.text)
        if word.text == "(":
            inner = self.total()
            self._needed(")")
            return inner
        if word.kind == "name" and self._next("("):
            return self._function(word)
        if word.kind != "name":
            raise wrong(word, "a number, a variable or a bracket is expected here")
        if word.key not in self.x:
            raise wrong(word, "this is no variable of the file")
        return self.x[word.key]

    def _function(self, word: Word) -> Any:
        if word.key not in FUNCTIONS:
            raise wrong(word, "this function is not read", "state the model without it")
        count, function = FUNCTIONS[word.key]
        arguments = [self.total()]
        while self._next(","):
            arguments.append(self.total())
        self._needed(")")
        if count and len(arguments) != count:
            raise wrong(word, f"it has {len(arguments)} arguments, not {count}")
        if word.key == "power" and not (isinstance(arguments[1], float) and arguments[1].is_integer()):
            raise wrong(word, "its exponent is no whole number", "write x ** y")
        return function(*arguments)
