"""Marks of the functions that are compiled where numba is installed, and functions that have other loops there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from fsopt.typing import Indices, Vector

Number = Any
"""A number of Python, or of numpy; in a formula also an array of them."""

F = TypeVar("F", bound=Callable[..., Any])
ENTRIES: list[Callable[..., Any]] = []
"""Functions that :func:`fast` compiles."""
INNER: list[Callable[..., Any]] = []
"""Functions that these call."""
COMPILED: dict[Callable[..., Any], Any] = {}
"""Function -> the compiled one, where searches have gone on to that."""


def entry(function: F) -> F:
    """Mark a function that :func:`fast` compiles."""
    ENTRIES.append(function)
    return function


def inner(function: F) -> F:
    """Mark a function that compiled functions call."""
    INNER.append(function)
    return function


def fast(function: F) -> F:
    """Return a function compiled where searches have gone on to that, else as it is."""
    found: F = COMPILED.get(function, function)
    return found


def choice(condition: Any, one: Number, other: Number) -> Number:
    """Return numbers where a condition holds, others elsewhere."""
    return np.where(condition, one, other)


def falling(value: Vector) -> Indices:
    """Return the places of values (n,) by falling value."""
    return np.argsort(-value, kind="stable")


def each(formula: Callable[..., tuple[Number, ...]], *given: Number) -> Any:
    """Return the values of a formula for the numbers of arrays, one after another, with others that are the same."""
    return formula(*given)
