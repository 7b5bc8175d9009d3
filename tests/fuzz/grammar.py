"""Well-formed texts of each format with the meaning of their numbers, and texts in which one word or line is another.

A template has a fact behind each number that states one, ``1.5{x 0}``; its other numbers are counts and indices.
``{x 0*.5}`` has half the number of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

LABEL = re.compile(r"(\S*?([-\d.]+))\{([^}*]*)\*?([^}]*)\}")
WORD = re.compile(r"(?<![\w.])[A-Za-z][\w]*|(?<![\w.])-?\d+(?:\.\d+)?|(?<=[A-Za-z])\d+(?![\w.])")
WRONG = ("0", "1", "2", "3", "-1", "7.5", "nan", "1e400", "2x", "1000000000", "1.5.2", "1_0", "-inf")
DIFFERENT = {"nan", "1e400", "2x", "1.5.2", "1_0", "-inf"}
"""Words that are no finite number."""
Facts = dict[str, float]


@dataclass(frozen=True)
class Damaged:
    """A text in which something is another.

    Attributes
    ----------
    text, what : the text, and what happened to it.
    facts : its facts; None where they are not known, and the text has to be refused where it is read strictly.
    """

    text: str
    what: str
    facts: Facts | None


def plain(template: str) -> tuple[str, Facts]:
    """Return the text of a template and its facts."""
    facts = {key: float(number) * float(factor or 1) for _, number, key, factor in LABEL.findall(template)}
    return LABEL.sub(r"\1", template), facts


def damaged(template: str, rng: np.random.Generator) -> Damaged:
    """Return the text of a template with one number, word, line or section exchanged, lost, doubled or moved."""
    text, facts = plain(template)
    kind = int(rng.integers(8))
    if kind < 3:
        found = list(LABEL.finditer(template))
        one = found[int(rng.integers(len(found)))]
        word = str(rng.choice([*WRONG, f"{float(one[2]) + 1:g}", f"{-float(one[2]):g}", "0.5"]))
        start = one.start(2)
        new = plain(template[:start] + "0" + template[one.end(2) :])[0]
        at = len(plain(template[:start])[0])
        changed = new[:at] + word + new[at + 1 :]
        known = None if word in DIFFERENT else facts | {one[3]: float(word) * float(one[4] or 1)}
        return Damaged(changed, f"{one[3]}: {one[2]} is {word}", known)
    if kind < 5:
        one, other = (list(WORD.finditer(text))[k] for k in rng.integers(len(WORD.findall(text)), size=2))
        word = other[0] if rng.integers(2) else str(rng.choice(WRONG))
        same = facts if word == one[0] else None
        changed = text[: one.start()] + word + text[one.end() :]
        return Damaged(changed, f"'{one[0]}' at {one.start()} is '{word}'", same)
    lines = text.splitlines(True)
    heads = [k for k, line in enumerate(lines) if line[0].isalpha() or k == 0]
    k = int(rng.integers(len(heads))) if rng.integers(2) else -1
    first, last = (heads[k], [*heads, len(lines)][k + 1]) if k >= 0 else (n := int(rng.integers(len(lines))), n + 1)
    what = f"lines {first + 1} to {last}"
    part, rest = lines[first:last], lines[:first] + lines[last:]
    if kind == 5:
        return Damaged("".join(lines[:last] + part + lines[last:]), f"{what} come twice", None)
    if kind == 6:
        return Damaged("".join(rest), f"{what} are lost", None)
    return Damaged("".join(lines[:first]), f"it ends before line {first + 1}", None)
