"""Rational numbers as plain data, exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

Part: TypeAlias = dict[str, Any]
"""One claim of a proof with its evidence."""


def encoded(value: Fraction | None) -> int | float | str | None:
    """Return a rational number as an integer, as the double that equals it, or as a text 'p/q' in hexadecimal."""
    return None if value is None else encoded_quotient(value.numerator, value.denominator)


def encoded_quotient(top: int, bottom: int) -> int | float | str:
    """Return the quotient of two integers as :func:`encoded`."""
    if bottom == 1 and abs(top) < 2**53:
        return top
    if bottom.bit_length() < 1000 and top.bit_length() < 1000:
        near = top / bottom
        above, below = near.as_integer_ratio()
        if above * bottom == top * below:
            return int(near) if below == 1 and abs(above) < 2**53 else near
    return f"{top:x}/{bottom:x}"


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
