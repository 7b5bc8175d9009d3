"""The text of an .lp file as sections, and these as tokens with kinds, which are checked as arrays."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, islice
from operator import itemgetter
from typing import NoReturn

import numpy as np

from fsopt.errors import FileError
from fsopt.formats.mps_lines import numbers
from fsopt.typing import Indices, Mask, Vector

COMMENT = re.compile(r"\\[^\n]*")
NAME = r"[^\s0-9.+\-*^<>=:\[\]/\\][^\s+\-*^<>=:\[\]\\]*(?:\[[^\s\[\]]*\][^\s+\-*^<>=:\[\]\\]*)*"
"""A name; a bracket that follows it at once belongs to it, as in x[0]."""
TOKEN = re.compile(rf"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|{NAME}|->|::|[<>]=?|=[<>]?|\S")
SECTION = re.compile(
    r"\n[ \t]*(?=[a-uA-U])(?i:(?:(?:m(?:in|ax)(?:imi[sz]e|imum)?|subject\s+to|such\s+that|st|s\.t\.|st\.)"
    r"(?=\s))|(?:bounds?|generals?|gen|integers?|int|binary|binaries|bin|semi-continuous|semis?|sos\d?|end"
    r"|lazy constraints|user cuts|general constraints|pwlobj|multi-objectives|scenario)[ \t\r]*(?=\n|\Z))"
)
"""The first words of a section; those of the first two sections may have others behind them in their line."""
KINDS: Mapping[str, str] = {
    "min": "minimum minimise minimize",
    "max": "maximum maximise maximize",
    "constraints": "st st. s.t. subjectto suchthat",
    "bounds": "bound",
    "general": "generals gen integer integers int",
    "binary": "binaries bin",
    "semi": "semis semi-continuous",
    "sos": "",
    "end": "",
}
"""Section -> its other words."""
CALLED = {word: kind for kind, words in KINDS.items() for word in (kind, *words.split())}
SIGN, UNSIGNED, SIGNED, WORD, RELATION, COLON, ARROW, SETS, POWER, TIMES, OPEN, CLOSE, SLASH, QUADRATIC, OTHER = range(
    15
)
"""Kinds of tokens; a number is SIGNED by its own sign; QUADRATIC is a part in brackets, once it was read."""
FIRST = np.full(256, WORD, dtype=np.int8)
for kind_, characters in (
    (SIGN, "+-"),
    (UNSIGNED, "0123456789"),
    (RELATION, "<>="),
    (COLON, ":"),
    (POWER, "^"),
    (TIMES, "*"),
    (OPEN, "["),
    (CLOSE, "]"),
    (SLASH, "/"),
    (OTHER, ".\\"),
):
    FIRST[[ord(c) for c in characters]] = kind_


@dataclass
class Tokens:
    """The tokens of a section: words, kinds, and their places among all of its tokens.

    Attributes
    ----------
    words, kinds, values, origin : (k,); the value is that of a number, else 0.
    body, start : the text of the section, and its place in that of the file ``whole``.
    """

    words: np.ndarray
    kinds: np.ndarray
    values: Vector
    origin: Indices
    body: str
    start: int
    whole: str

    def __len__(self) -> int:
        return len(self.kinds)

    def kept(self, mask: Mask) -> Tokens:
        """Return some of the tokens."""
        arrays = (self.words[mask], self.kinds[mask], self.values[mask], self.origin[mask])
        return Tokens(*arrays, self.body, self.start, self.whole)

    def wrong(self, place: int, reason: str, hint: str = "check the file") -> NoReturn:
        """Raise the FileError of a token."""
        place = self.start + self._offset(int(self.origin[min(place, len(self) - 1)])) if len(self) else self.start
        number = self.whole.count("\n", 0, place)
        line = self.whole[self.whole.rfind("\n", 0, place) + 1 :].partition("\n")[0]
        raise FileError(f"line {number} of the file, '{' '.join(line.split())[:50]}': {reason}", hint)

    def _offset(self, place: int) -> int:
        """Return the place of a token in the section."""
        return next(islice(TOKEN.finditer(self.body), place, None)).start()

    def first_wrong(self, bad: Mask, reason: str, hint: str = "check the file") -> None:
        """Raise the FileError of the first token that is marked, if there is one."""
        if bad.any():
            self.wrong(int(np.argmax(bad)), reason, hint)

    def numbers(self, places: Indices) -> Vector:
        """Return the values of numbers at some places, which are finite."""
        values = self.values[places]
        if not np.isfinite(values).all():
            self.wrong(int(places[int(np.argmin(np.isfinite(values)))]), "the number is not finite")
        return values


def tokens_of(body: str, start: int, whole: str) -> Tokens:
    """Return the tokens of a section of a file."""
    words, figures = _separate(body) or (TOKEN.findall(body), None)
    kinds = _first(words)
    several = np.flatnonzero(np.isin(kinds, (SIGN, COLON, OTHER)))
    several = several[[len(words[k]) > 1 for k in several.tolist()]]
    for one, longer in ((SIGN, SIGNED), (COLON, SETS), (OTHER, UNSIGNED)):
        kinds[several[kinds[several] == one]] = longer
    if "->" in body:
        kinds[[k for k, word in enumerate(words) if word == "->"]] = ARROW
    values, numeric = np.zeros(len(words)), np.isin(kinds, (UNSIGNED, SIGNED))
    values[numeric] = numbers([*compress(words, numeric.tolist())]) if figures is None else figures
    return Tokens(np.array(words, dtype=object), kinds, values, np.arange(len(words)), body, start, whole)


def _first(words: Sequence[str]) -> np.ndarray:
    """Return the kinds of tokens by their first character."""
    return FIRST[np.frombuffer("".join(map(itemgetter(0), words)).encode("latin-1", "replace"), np.uint8)]


def _separate(body: str) -> tuple[list[str], Vector] | None:
    """Return tokens and numbers of a section where blanks are between all tokens, as most programs write; else None."""
    if "[" in body or "^" in body or "::" in body:
        return None
    words = body.replace(":", " : ").split()
    numeric = np.isin(_first(words), (SIGN, UNSIGNED, OTHER))
    figures = numbers([word for word in compress(words, numeric.tolist()) if word not in ("+", "-", "->")])
    others = {*compress(words, (~numeric).tolist())}
    return (words, figures) if figures is not None and all(map(TOKEN.fullmatch, others)) else None


def sections_of(text: str) -> dict[str, Tokens]:
    """Return the sections of a file by kind; raises FileError for one that is not read, comes twice or is missing."""
    text = "\n" + (COMMENT.sub(lambda found: " " * len(found[0]), text) if "\\" in text else text)
    found: dict[str, Tokens] = {}
    for word, body, place in _parts(text):
        kind = CALLED.get("".join(word.lower().split()), word.lower())
        tokens = tokens_of(body, place, text)
        if kind not in CALLED:
            _refuse(text, place, f"the section {word.lower()} is not read", "write the model without it")
        if ("max" if kind == "min" else "min" if kind == "max" else kind) in found or kind in found:
            _refuse(text, place, f"a section '{word.lower()}' comes twice", "write it once")
        if not found and kind not in ("min", "max"):
            _refuse(text, place, "the first section is not the objective", "begin with Minimize or Maximize")
        if "end" in found or (kind == "end" and len(tokens)):
            _refuse(text, place, "there is text after End", "end the file there")
        found[kind] = tokens
    for kind, word in (("constraints", "Subject To"), ("end", "End")):
        if kind not in found:
            raise FileError(f"the file has no line '{word}', so it may be cut", "get the whole file, or add it")
    return found


def _parts(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield first words, text and place of each section."""
    heads = list(SECTION.finditer(text))
    first = heads[0].start() if heads else len(text)
    if text[:first].strip() or not heads:
        _refuse(
            text, len(text) - len(text.lstrip()), "the file does not begin with an objective", "begin with Minimize"
        )
    for head, end in zip(heads, [*(h.start() for h in heads[1:]), len(text)], strict=True):
        yield head[0].strip(), text[head.end() : end], head.end()


def _refuse(text: str, place: int, reason: str, hint: str) -> NoReturn:
    """Raise the FileError of a place of a text, which has an empty line before the first one of the file."""
    raise FileError(f"line {text.count(chr(10), 0, place)} of the file: {reason}", hint)
