"""Infinite bounds of integers in .mps files: Pyomo writes them as 10E20, which HiGHS takes for a number."""

from __future__ import annotations

import re

from fsopt.formats.read_arrays import INFINITE

WORDS = {"LI": "MI", "UI": "PL"}
"""Word of an integer bound -> the word of an infinite one."""
BOUND = re.compile(r"[ \t]+(LI|UI)[ \t]+(\S+)[ \t]+(\S+)[ \t]+([-+]?\d++\.?\d*+(?:[eE][-+]?\d++)?)[ \t]*")
"""The digits are taken once (++): a long number would be tried at each length."""


def with_words(text: str) -> str:
    """Return the text of an .mps file with the words MI and PL in the place of integer bounds beyond 1e20.

    A variable without another bound would be continuous then: its lines in COLUMNS get the markers of integers.
    """
    lines = text.splitlines()
    infinite, finite = set(), set()
    for k, line in enumerate(lines):
        if (bound := BOUND.fullmatch(line)) is None:
            continue
        if abs(float(bound[4])) < INFINITE:
            finite.add(bound[3])
        else:
            infinite.add(bound[3])
            lines[k] = f" {WORDS[bound[1]]} {bound[2]} {bound[3]}"
    return "\n".join(_marked(lines, infinite - finite)) + "\n" if infinite else text


def _marked(lines: list[str], names: set[str]) -> list[str]:
    """Return the lines with markers around those of some variables in COLUMNS."""
    marked: list[str] = []
    section, open_ = "", False
    for line in lines:
        words = line.split()
        if line[:1].strip() and not line.startswith("*"):
            section = words[0]
        inside = section == "COLUMNS" and len(words) > 1 and words[0] in names
        if inside != open_:
            marked.append(f"    M{len(marked)} 'MARKER' '{'INTORG' if inside else 'INTEND'}'")
            open_ = inside
        marked.append(line)
    return marked
