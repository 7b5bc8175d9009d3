"""Texts of other people, such as names of features, where a terminal, a page or a reader of LaTeX shows them."""

from __future__ import annotations

import re

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Characters that tell a terminal to do something, begin a line, or turn the direction of what follows; all but the
tabulator and the end of a line."""


def printable(text: str) -> str:
    """Return a text with their numbers, x1b or u202e after a backslash, in place of control characters."""
    return CONTROL.sub(lambda found: _number(found[0]), text)


def one_line(text: str) -> str:
    """Return a text as :func:`printable` does, also without tabulators and ends of lines: a name, a cell of a table."""
    return re.sub(r"[\t\n]", lambda found: _number(found[0]), printable(text))


def _number(sign: str) -> str:
    return f"\\x{ord(sign):02x}" if ord(sign) < 0x100 else f"\\u{ord(sign):04x}"


def counted(number: float, noun: str) -> str:
    """Return a number with its noun: ``1 feature``, ``2.5 features``, ``0 classes``."""
    shown = f"{number:g}" if isinstance(number, float) else str(number)
    return f"{shown} {noun}" if number == 1 else f"{shown} {noun}{'es' if noun.endswith('s') else 's'}"
