"""Rational numbers as plain data, exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

Part: TypeAlias = dict[str, Any]
"""One claim of a proof with its evidence."""


def encoded(value: Fraction | None) -> int | float | str | None:
    """Return a rational number as an integer, as the double that equals it, or as a text 'p/q' in hexadecimal."""
    if value is None:
        return None
    if value.denominator == 1 and abs(value.numerator) < 2**53:
        return value.numerator
    if value.denominator.bit_length() < 1000 and abs(value.numerator).bit_length() < 1000:
        near = float(value)
        if Fraction(near) == value:
            return near
    return f"{value.numerator:x}/{value.denominator:x}"


def decoded(value: Any) -> Fraction:
    """Return the rational number of :func:`encoded`; raises ValueError or TypeError where it is none."""
    if isinstance(value, str):
        top, _, bottom = value.partition("/")
        below = int(bottom or "1", 16)
        if not below:
            raise ValueError(f"{value!r} is not a number")
        return Fraction(int(top, 16), below)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{value!r} is not a number")
    return Fraction(value)
