"""The parts of a saved answer: the kind and shape of each, looked at before anything is computed or shown from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from fsopt.answers.results import Status
from fsopt.data.frames import NUMBER, TEXT
from fsopt.data.layout import MISSING, Layout
from fsopt.errors import FileError, FsoptError

Test: TypeAlias = Callable[[Any], bool]


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _real(value: Any) -> bool:
    """Return whether a value is a number that is a float, too: not nan, nor an integer beyond the range of floats."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return not math.isnan(float(value))
    except OverflowError:
        return False


def _finite(value: Any) -> bool:
    return _real(value) and math.isfinite(value)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and _real(value) and value >= 0


def _mapping(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)


def _numbers_by_name(value: Any) -> bool:
    return _mapping(value) and all(_real(v) for v in value.values())


def _list_of(test: Test) -> Test:
    return lambda value: isinstance(value, (list, tuple)) and all(test(v) for v in value)


def _different_texts(value: Any) -> bool:
    return _list_of(_text)(value) and len(set(value)) == len(value)


def _two_texts(value: Any) -> bool:
    return _different_texts(value) and len(value) == 2


def _status(value: Any) -> bool:
    return isinstance(value, str) and value in set(Status)


def _map(value: Any) -> bool:
    """Return whether a value is a map of the features: its kind and two lists of numbers."""
    numbers = _list_of(_finite)
    return _mapping(value) and all(
        test(value.get(k)) for k, test in (("kind", _text), ("shift", numbers), ("scale", numbers))
    )


def _encoding(value: Any) -> bool:
    """Return whether a value is the plain data of an encoding."""
    if not _mapping(value) or set(value) != {"missing", "columns"} or value["missing"] not in (None, *MISSING):
        return False
    return _list_of(_encoded_column)(value["columns"])


def _encoded_column(value: Any) -> bool:
    """Return whether a value is the plain data of the encoding of a column."""
    if not _mapping(value) or set(value) != {"name", "kind", "levels", "fill", "indicator"}:
        return False
    fill, texts = value["fill"], value["kind"] == TEXT
    known = value["kind"] in (NUMBER, TEXT)
    levels = _different_texts(value["levels"]) and bool(value["levels"]) == texts
    filled = fill is None or (fill in value["levels"] if texts else _finite(fill))
    return known and levels and filled and _text(value["name"]) and isinstance(value["indicator"], bool)


def _layout(value: Any) -> bool:
    """Return whether a value is the plain data of a layout."""
    try:
        Layout.saved({"layout": value})
    except (TypeError, ValueError, AttributeError, FsoptError):
        return False
    return True


@dataclass(frozen=True)
class SavedPart:
    """A part of a saved answer.

    Attributes
    ----------
    test : whether a value is of its kind.
    kind : the kind in words, for the message.
    needed : whether every file has it; other parts are of some answers only.
    empty : whether it may be null.
    """

    test: Test
    kind: str
    needed: bool = False
    empty: bool = False


_TEXT = SavedPart(_text, "a text")
_NUMBERS = SavedPart(_numbers_by_name, "numbers with names")
_RECORDS = SavedPart(_list_of(_mapping), "a list of mappings")
_TEXTS = SavedPart(_list_of(_text), "a list of texts")
_POINT = SavedPart(_mapping, "a point", empty=True)
_BOTH: Mapping[str, SavedPart] = {
    "params": SavedPart(_mapping, "a mapping", needed=True),
    "status": SavedPart(_status, f"one of {', '.join(Status)}", needed=True),
    "objective": SavedPart(_finite, "a finite number", empty=True),
    "bound": SavedPart(_real, "a number", empty=True),
    "stop": _TEXT,
    "solver": _TEXT,
    "data": _TEXT,
    "data_sha256": SavedPart(_text, "a text", needed=True),
    "label": _TEXT,
    "missing": SavedPart(_text, "a text", empty=True),
    "iterations": SavedPart(_count, "a whole number >= 0"),
    "seconds": _NUMBERS,
    "certificate": SavedPart(_mapping, "a mapping", empty=True),
    "labels": SavedPart(_two_texts, "two different texts", needed=True),
    "format": SavedPart(_count, "a whole number >= 0"),
    "digest": _TEXT,
    "layout": SavedPart(_layout, "the layout of a table"),
}
FIT_PARTS: Mapping[str, SavedPart] = {
    **_BOTH,
    "method": SavedPart(_text, "a text", needed=True),
    "coef": SavedPart(_list_of(_finite), "a list of finite numbers", needed=True),
    "intercept": SavedPart(_finite, "a finite number", needed=True),
    "support": SavedPart(_list_of(_count), "a list of whole numbers >= 0", needed=True),
    "preprocessing": SavedPart(_map, "a kind with a shift and a scale of finite numbers", needed=True),
    "features": _TEXTS,
    "columns": SavedPart(_different_texts, "a list of different texts", needed=True),
    "history": _RECORDS,
    "warnings": _TEXTS,
    "train": _NUMBERS,
    "deviation": SavedPart(_list_of(_finite), "a list of finite numbers"),
    "encoding": SavedPart(_encoding, "columns with a kind, levels, a substitute and an indicator each", empty=True),
    "details": SavedPart(_mapping, "a mapping"),
    "kernel": SavedPart(_mapping, "a mapping", empty=True),
}
"""The parts of a saved fit."""
SOLVE_PARTS: Mapping[str, SavedPart] = {
    **_BOTH,
    "model": SavedPart(_text, "a text", needed=True),
    "point": _POINT,
    "evidence": _POINT,
    "ray": _POINT,
    "direction": _POINT,
    "evidence_source": _TEXT,
    "solution": SavedPart(_mapping, "a mapping", empty=True),
    "scale": _TEXT,
    "message": _TEXT,
    "customised": SavedPart(_mapping, "a mapping"),
    "verify": SavedPart(_mapping, "a mapping", empty=True),
}
"""The parts of a saved solve."""


def check_parts(record: Mapping[str, Any], path: str | Path) -> None:
    """Look at every known part of a saved answer before it is used.

    Raises
    ------
    FileError : a part is missing or of another kind, or parts differ in length; the message names it and ``path``.
    """
    for name, part in (FIT_PARTS if "method" in record else SOLVE_PARTS).items():
        if name not in record:
            if part.needed:
                raise _damaged(path, f"it has no {name}")
        elif not (part.test(record[name]) or (part.empty and record[name] is None)):
            raise _damaged(path, f"{name} is not {part.kind}")
    if "method" in record:
        _check_lengths(record, path)


def _check_lengths(record: Mapping[str, Any], path: str | Path) -> None:
    """Make sure that the parts of a fit with one entry for each feature agree."""
    map_ = record["preprocessing"]
    p = len(map_["shift"])
    parts = [map_["scale"], record["columns"], record.get("deviation") or map_["shift"]]
    if any(len(part) != p for part in parts):
        raise _damaged(path, "shift, scale, columns and deviation differ in length")


def _damaged(path: str | Path, reason: str) -> FileError:
    return FileError(f"'{path}' is not a saved answer: {reason}", "save it again")


def is_parameter(annotation: Any, value: Any) -> bool:
    """Return whether a saved parameter is of a kind that its annotation names, such as ``float | None``.

    Only annotations written as text are looked at, and only their outermost kinds.
    """
    if not isinstance(annotation, str):
        return True
    tests: Mapping[str, Test] = {
        "float": _real,
        "int": lambda v: _real(v) and isinstance(v, int),
        "bool": lambda v: isinstance(v, bool),
        "str": _text,
        "None": lambda v: v is None,
        "Mapping": lambda v: isinstance(v, Mapping),
    }
    kinds = [kind.strip().partition("[")[0] for kind in annotation.split("|")]
    return any(isinstance(value, (list, tuple)) if kind not in tests else tests[kind](value) for kind in kinds)
