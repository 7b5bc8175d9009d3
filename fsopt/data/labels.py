"""The texts of a data set: its labels, and which of two is +1; and the order of its features by their names."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from fsopt.errors import DataError
from fsopt.typing import Indices, Mask, Vector

NO_VALUE = frozenset({"", "?", "nan", "na", "n/a", "null"})
"""Texts of a missing value, in lower case."""
_USUAL = "1 +1 yes ja oui si sí true positive pos case malignant cancer ill sick krank diseased disease event dead"
USUAL_POSITIVES = frozenset(_USUAL.split())
"""Labels that are +1 beside another one, in lower case."""
_NUMBER = re.compile(r"([0-9]{1,15})")


def is_missing(text: str) -> bool:
    """Return whether a cell is a missing value."""
    return text.strip().lower() in NO_VALUE


def label_text(value: object) -> str:
    """Return a label or category as a text, a whole number without a decimal point."""
    text = str(value).strip()
    return text if isinstance(value, str) else text.removesuffix(".0")


def first_rows(chosen: Mask) -> str:
    """Return the numbers from 1 of the first of the rows that are chosen."""
    rows = np.flatnonzero(chosen)
    return ", ".join(str(i + 1) for i in rows[:5]) + (" ..." if len(rows) > 5 else "")


def map_labels(texts: Sequence[str], positive: Sequence[str] = ()) -> tuple[Vector, tuple[str, str]]:
    """Map labels to -1 and +1.

    Parameters
    ----------
    texts : n labels
    positive : the labels that are +1, against all others; by default the larger of two numbers, or the one of two words
        that is among :data:`USUAL_POSITIVES`.

    Returns
    -------
    y : (n,) array in {-1, +1}
    labels : (str, str)
        The original texts of -1 and +1, each in its first spelling (1 and 1.0 are the same number).

    Raises
    ------
    DataError
        If there are not exactly two different labels, a positive one does not occur, or either of two words may be +1.
    """
    first = {label_key(text): text for text in reversed(list(dict.fromkeys(texts)))}
    asked = {label_key(text): text for text in positive}
    listed = ", ".join(f"'{text}'" for text in [*first.values()][::-1][:6]) + (", ..." if len(first) > 6 else "")
    absent = [text for key, text in asked.items() if key not in first]
    if absent:
        raise DataError(f"no sample has the label '{absent[0]}'", f"choose the positive class among {listed}")
    if not asked:
        asked = {_usual(first, listed): ""}
    rest = [text for key, text in reversed(first.items()) if key not in asked]
    if not rest:
        raise DataError("every label is positive, no sample would be -1", "choose fewer positive classes")
    name = "|".join(first[key] for key in asked)
    keys = {text: label_key(text) for text in set(texts)}
    y = np.array([1.0 if keys[text] in asked else -1.0 for text in texts])
    return y, (rest[0] if len(rest) == 1 else f"not {name}", name)


def _usual(first: dict[float | str, str], listed: str) -> float | str:
    """Return which of the labels, by their keys, is +1 where nothing is said of it."""
    keys = list(first)
    if len(keys) != 2:
        remedy = "positive= makes one of them (or several) +1 and the rest -1; or choose another column with target="
        raise DataError(
            f"the label must have exactly two different values, {len(keys)} found: {listed}",
            remedy if keys[2:] else "give samples of both classes, or choose another column with target=",
        )
    numbers = [key for key in keys if isinstance(key, float)]
    if len(numbers) == 2:
        return max(numbers)
    usual = [key for key in keys if first[key].casefold() in USUAL_POSITIVES]
    if len(usual) != 1:
        raise DataError(f"the labels are {listed}, and either may be +1", "name the one that is with positive=")
    return usual[0]


def label_key(text: str) -> float | str:
    """Return a label to be compared: 1 and 1.0 are the same."""
    try:
        return float(text)
    except ValueError:
        return text


def places_by_name(features: Sequence[str]) -> Indices:
    """Return the place (p,) of each feature in the order of the names; numbers in them count as such, x2 before x10.

    It decides where nothing else does: the order of the columns is an accident.
    """
    found = np.empty(len(features), dtype=np.int64)
    found[sorted(range(len(features)), key=lambda j: _key(features[j]))] = np.arange(len(features))
    return found


def _key(name: str) -> tuple[list[str | int], str]:
    # Texts are at the even places, so that a text is never compared with a number.
    return [int(part) if k % 2 else part for k, part in enumerate(_NUMBER.split(name))], name
