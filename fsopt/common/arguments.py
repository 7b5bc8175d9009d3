"""The kinds of arguments that public functions take, checked in one place before anything else is done."""

from __future__ import annotations

import functools
import inspect
import numbers
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar

from fsopt.errors import ParameterError, shown, similar

F = TypeVar("F", bound=Callable[..., Any])


TITLES = ("", "Parameters", "Returns", "Yields", "Raises", "Notes", "References", "Examples")
"""Of the sections of a docstring, in their order; the first one is what stands before them."""


def sections(doc: str) -> dict[str, str]:
    """Return title -> text of the sections of a docstring."""
    parts = re.split(rf"^({'|'.join(TITLES[1:])})\n-+\n", doc, flags=re.MULTILINE)
    return {title: text.strip("\n") for title, text in zip(["", *parts[1::2]], parts[::2], strict=True)}


def section(doc: str, title: str) -> str:
    """Return the text of a section of a docstring up to a blank line; empty where it has none."""
    return sections(doc).get(title, "").partition("\n\n")[0]


def with_keywords_of(*sources: Callable[..., Any], without: Collection[str] = ()) -> Callable[[F], F]:
    """Return a decorator that puts the keywords of other functions in the place of ``**keywords``.

    Its signature and docstring have its own keywords first, then those of the sources with their texts, but names of
    ``without``; what it returns and raises is that of the last source where it says nothing of it.
    """

    def named(function: F) -> F:
        signature, doc = inspect.signature(function), sections(inspect.getdoc(function) or "")
        parameters = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        texts, of = [doc.get("Parameters", "")], dict[str, str]()
        for source in sources:
            of = sections(inspect.getdoc(source) or "")
            listed = {text.partition(" : ")[0]: text for text in re.split(r"\n(?=\S)", of.get("Parameters", ""))}
            for p in inspect.signature(source).parameters.values():
                if p.kind is p.KEYWORD_ONLY and p.name not in without:
                    parameters += [p] * (p.name not in signature.parameters)
                    texts.append(listed.get(p.name, ""))
        function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        if "Returns" not in doc:
            doc |= {title: of.get(title, "") for title in ("Returns", "Raises")}
        doc["Parameters"] = "\n".join(filter(None, texts))
        told = [f"{title}\n{'-' * len(title)}\n{doc[title]}" for title in TITLES[1:] if title in doc]
        function.__doc__ = "\n\n".join([doc[""], *told]) + "\n"
        return function

    return named


P = ParamSpec("P")
R = TypeVar("R")
ALL = "[-inf, inf]"
"""The interval of all numbers."""
RANGES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("alpha", "big_m", "h_cap", "r_plus", "r_minus", "value"), "(0, inf)"),
        **dict.fromkeys(("c", "w_cap"), "[1e-100, 1e100]"),
        **dict.fromkeys(("c_plus", "c_minus"), "[1e-9, 1e100]"),
        **dict.fromkeys(("beta", "delta", "theta"), "(0, 1)"),
        **dict.fromkeys(("budget", "capacity", "e_cap", "lam", "omega", "radius", "tolerance", "within"), "[0, inf]"),
        **dict.fromkeys(("epsilon", "ridge"), "[0, inf)"),
        "jobs": "[1, 1024]",
        "m": "[1, inf)",
        "max_cuts": "[2, 100000]",
        "max_iterations": "[1, 100000]",
        "max_nodes": "[0, 1000000000000]",
        "n_partitions": "[1, 100000]",
        "n_starts": "[1, 1000000]",
        "seed": "[0, 4294967295]",
        "step": "[1, 100000]",
        **dict.fromkeys(("fsv.lam", "fsv-step.lam", "fsv-exact.lam", "fsv-lpec.lam"), "[0, 1]"),
        **dict.fromkeys(("kernel-scaling.c", "kernel-scaling-step.c"), "[0, inf]"),
        **dict.fromkeys(("kernel_scaling.c", "mop.c", "mopfs.c"), "[0, inf]"),
        **dict.fromkeys(("gmeb.r_plus", "gmeb.r_minus"), "(0, inf]"),
        "l0-mpm.tolerance": "[1e-9, 1)",
        "s-mpm.lam": "[0, 1e9]",
    }
)
"""Name of a parameter, or ``owner.name`` where an owner has another range by the name -> interval."""


@dataclass(frozen=True)
class Argument:
    """A kind of argument: its noun ("must be a text"), whether a value is of it, and a remedy."""

    what: str
    holds: Callable[[Any], bool]
    hint: str

    def check(self, name: str, value: Any) -> None:
        """Raise ParameterError for a value of another kind."""
        if not self.holds(value):
            raise ParameterError(f"the {name.replace('_', ' ')} must be {self.what}, not {shown(value)}", self.hint)


def word(name: str, value: Any, words: Iterable[str | bool]) -> None:
    """Raise ParameterError for a value that is none of these words; an array, say, is none."""
    known = tuple(words)
    if not isinstance(value, str | bool) or value not in known:
        raise ParameterError(f"{name} is {shown(value)}", f"one of {', '.join(map(str, known))}")


def plain(value: Any) -> bool:
    """Return whether a parameter is None, a number, a text, or a list, mapping or array with any content."""
    return value is None or isinstance(value, numbers.Number | str) or _is_list(value) or isinstance(value, Mapping)


def native(value: Any) -> Any:
    """Return a parameter with Python's own numbers and lists in place of numpy's, as a file would give them back."""
    if isinstance(value, Mapping):
        return {key: native(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [native(entry) for entry in value]
    return value.tolist() if hasattr(value, "tolist") else value


def each(kind: Argument) -> Argument:
    """Return the kind of a tuple of arguments that are all of a kind."""
    return Argument(kind.what, lambda values: all(kind.holds(value) for value in values), kind.hint)


def optional(kind: Argument) -> Argument:
    """Return the kind that is also held by None."""
    return Argument(kind.what, lambda value: value is None or kind.holds(value), kind.hint)


def _is_list(value: Any) -> bool:
    """Return whether a value has a length and can be read more than once; arrays without dimensions have none."""
    listed = isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)
    return listed and getattr(value, "ndim", 1) != 0 and not hasattr(value, "columns")


def _is_real(value: Any) -> bool:
    """Return whether a value is a real number of any type."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


TEXT = Argument("a text", lambda value: isinstance(value, str), "give a name in quotes")
PATH = Argument("a path", lambda value: isinstance(value, str | os.PathLike), "give a text or a pathlib.Path")
FLAG = Argument("True or False", lambda value: isinstance(value, bool), "give True or False")
WHOLE = Argument("a whole number", lambda v: _is_real(v) and isinstance(v, numbers.Integral), "for example 0")
SECONDS = Argument("positive", lambda value: _is_real(value) and value > 0, "give seconds > 0")
FUNCTION = Argument("a function", callable, "give a function of one argument")
LIST = Argument("a list", _is_list, "give a list of numbers")
NUMBER = Argument(
    "a finite number", lambda value: _is_real(value) and abs(value) <= sys.float_info.max, "for example 1.0"
)
OPTIONS = Argument(
    "a mapping of names",
    lambda value: isinstance(value, Mapping) and all(isinstance(name, str) for name in value),
    "for example {'threads': 1}",
)


def checked(**kinds: Argument) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that checks the arguments of these names at every call; ParameterError for another kind."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def call(*args: P.args, **keywords: P.kwargs) -> R:
            given = bound(function.__name__, signature, args, keywords).arguments
            for name, kind in kinds.items():
                if name in given:
                    kind.check(name, given[name])
            return function(*args, **keywords)

        return call

    return decorate


def bound(
    name: str, signature: inspect.Signature, args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> inspect.BoundArguments:
    """Return the arguments of a call; the TypeError of one that is not possible names the function and a near word."""
    try:
        return signature.bind(*args, **keywords)
    except TypeError as error:
        unknown = [keyword for keyword in keywords if keyword not in signature.parameters]
        known = [keyword for keyword in signature.parameters if keyword != "self"]
        near = f": {similar(unknown[0], known) or 'it takes ' + ', '.join(known)}" if unknown else ""
        raise TypeError(f"{name}() {error}{near}") from None


def range_of(owner: str, name: str) -> str:
    """Return the interval of a parameter of a model, driver or method; without an entry it is that of all numbers."""
    return RANGES.get(f"{owner}.{name}", RANGES.get(name, ALL))


def ends(interval: str) -> tuple[float, float]:
    """Return the ends of an interval such as ``(0, 1]``."""
    low, high = (int(end) if end.isdigit() else float(end) for end in interval[1:-1].split(", "))
    return low, high


def within(value: float, interval: str) -> bool:
    """Return whether a number is in an interval; NaN is in none."""
    low, high = ends(interval)
    inside = low <= value <= high
    return inside and not (value == low and interval[0] == "(") and not (value == high and interval[-1] == ")")
