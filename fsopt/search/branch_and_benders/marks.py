"""Marks of the functions that are compiled where numba is installed, and those that are so far."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
ENTRIES: list[Callable[..., Any]] = []
"""Functions that :func:`fast` compiles."""
INNER: list[Callable[..., Any]] = []
"""Functions that these call."""
COMPILED: dict[Callable[..., Any], Callable[..., Any]] = {}
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
    return COMPILED.get(function, function)  # type: ignore[return-value]
