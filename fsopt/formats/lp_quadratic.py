"""The parts of an .lp file in brackets, ``[ 2 x^2 - x * y ] / 2``."""

from __future__ import annotations

import re

import numpy as np

from fsopt.formats.lp_tokens import CLOSE, OPEN, QUADRATIC, SLASH, Tokens
from fsopt.typing import Indices

Named = list[tuple[str, str, float]]
"""Terms ``v * x * y`` as names and values."""
LETTERS = bytes.maketrans(bytes(range(15)), b"sngvrca:pt[]/qo")
"""Kind of a token -> letter."""
PRODUCT = re.compile(r"(?:(s?)(n?)|(g))v(?:p(n)|t(v))")
"""A quadratic term in letters: sign and number, or signed number, name, and ^ 2 or * name."""


def without_brackets(tokens: Tokens) -> tuple[Tokens, list[Named]]:
    """Return the tokens with one in the place of each part in brackets, and the terms of these parts.

    Raises
    ------
    FileError : a bracket without a partner, a term that is no product of two variables, or one that is stated twice.
    """
    opens, closes = np.flatnonzero(tokens.kinds == OPEN), np.flatnonzero(tokens.kinds == CLOSE)
    if not len(opens) and not len(closes):
        return tokens, []
    _check_pairs(tokens, opens, closes)
    letters = tokens.kinds.astype(np.uint8).tobytes().translate(LETTERS).decode("ascii")
    words = tokens.words.tolist()
    slashed = tokens.kinds[np.minimum(closes + 1, len(tokens) - 1)] == SLASH
    for close in closes[slashed].tolist():
        if words[close + 2 : close + 3] != ["2"]:
            tokens.wrong(close, "a quadratic part is divided by another number than 2", "write [ ... ] / 2")
    parts = [
        _terms(tokens, letters, words, (first + 1, last), 0.5 if half else 1.0)
        for first, last, half in zip(opens.tolist(), closes.tolist(), slashed.tolist(), strict=True)
    ]
    inside = np.zeros(len(tokens) + 1, dtype=int)
    np.add.at(inside, opens + 1, 1)
    np.add.at(inside, closes + 1 + 2 * slashed, -1)
    tokens.kinds[opens] = QUADRATIC
    return tokens.kept(np.cumsum(inside)[:-1] == 0), parts


def _check_pairs(tokens: Tokens, opens: Indices, closes: Indices) -> None:
    """Refuse brackets that are not [ and ] in turn."""
    places = np.concatenate([opens, closes])
    order = np.argsort(places)
    turns = (order >= len(opens)) != (np.arange(len(order)) % 2 == 1)
    if turns.any() or len(order) % 2:
        bad = order[int(np.argmax(turns))] if turns.any() else order[-1]
        tokens.wrong(int(places[bad]), "a bracket has no partner of its own", "write each quadratic part as [ ... ]")


def _terms(
    tokens: Tokens, letters: str, words: list[str], part: tuple[int, int], factor: float
) -> list[tuple[str, str, float]]:
    """Return the terms of a part, in time linear in its length."""
    place, end = part
    terms: Named = []
    seen: set[tuple[str, str, float]] = set()
    while place < end:
        found = PRODUCT.match(letters, place, end)
        if found is None or (terms and not (found[1] or found[3])) or (found[4] and words[found.start(4)] != "2"):
            said = " ".join(words[place : min(end, place + 12)])[:40]
            tokens.wrong(place, f"the quadratic term '{said}' cannot be read", "write c x ^ 2 or c x * y")
        first = place + len(found[1] or found[3] or "") + len(found[2] or "")
        one, other = words[first], words[first if found[4] else found.start(5)]
        number = words[first - 1] if found[2] or found[3] else "1"
        value = factor * float(number) * (-1.0 if found[1] and words[place] == "-" else 1.0)
        term = (min(one, other), max(one, other), value)
        if term in seen:
            tokens.wrong(first, f"the product of '{one[:20]}' and '{other[:20]}' is stated twice", "add the two")
        seen.add(term)
        terms.append(term)
        place = found.end()
    return terms
