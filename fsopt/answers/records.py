"""Answers as plain data for JSON, sealed by a digest; and what those to questions share: a table, a picture, words."""

from __future__ import annotations

import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fsopt.answers.certificate import Certificate
from fsopt.common.files import write_text
from fsopt.common.texts import one_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

FORMAT = 2
"""The format of the files that this version writes and reads."""
MOST_ROWS = 20
"""Rows that a summary lists."""


def plain(value: Any) -> Any:
    """Return a value as plain JSON data: arrays as lists, inf and nan as the words 'inf', '-inf', 'nan'."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (np.floating, float)):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, (np.integer, np.bool_)):
        return value.item()
    if isinstance(value, Certificate):
        return {**{k: plain(v) for k, v in asdict(value).items()}, "worst": plain(value.worst)}
    if is_dataclass(value) and not isinstance(value, type):
        return {k: plain(v) for k, v in asdict(value).items()}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


def sealed(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with the number of its format and a digest of all that it holds.

    The digest shows that a file is as it was written. It says nothing about the truth of what was written.
    """
    numbered = {**record, "format": FORMAT}
    return {**numbered, "digest": digest(numbered)}


def digest(record: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the plain data of a record, apart from a digest in it."""
    rest = {k: v for k, v in record.items() if k != "digest"}
    return hashlib.sha256(json.dumps(plain(rest), sort_keys=True).encode()).hexdigest()


def as_text(facts: Sequence[tuple[str, str]], rows: Sequence[Mapping[str, str]], below: str = "") -> str:
    """Return names and texts, the first rows of a table and a remark on them as text."""
    lines = aligned(facts)
    if rows:
        lines += ["", *aligned([list(rows[0]), *([*row.values()] for row in rows[:MOST_ROWS])])]
        more = len(rows) - MOST_ROWS
        lines += [f"and {more} more: to_frame() has all"] * (more > 0) + [below] * bool(below)
    return "\n".join(lines)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines with their columns one below the other."""
    columns = [[one_line(text) for text in column] for column in zip(*rows, strict=True)]
    sizes = [max(map(len, column)) for column in columns]
    return ["  ".join(map(str.ljust, row, sizes)).rstrip() for row in zip(*columns, strict=True)]


class Told(ABC):
    """What says in words what it is, in a notebook too."""

    @abstractmethod
    def summary(self) -> str:
        """Return what was found and what is known of it as text."""

    def _repr_html_(self) -> str:
        """Return the summary for notebooks, in which all names are escaped."""
        return f"<pre>{escape(self.summary())}</pre>"


class Answer(Told):
    """The answer to a question about a model or a data set: a heading, and a record for each thing that it lists."""

    shown: ClassVar[tuple[str, ...]] = ()
    """The parts of the records that a summary lists; all of them where it is empty."""

    @property
    @abstractmethod
    def heading(self) -> Mapping[str, Any]:
        """Name -> number, text or list of what holds for the whole answer."""

    @abstractmethod
    def to_records(self) -> list[dict[str, Any]]:
        """Return one record for each thing that the answer lists."""

    @abstractmethod
    def plot(self) -> Figure:
        """Return a figure of the answer; raises PackageError where matplotlib is not installed."""

    def to_frame(self) -> DataFrame:
        """Return the records as a pandas DataFrame; lists of names are texts."""
        import pandas as pd

        kinds = (list, tuple, Mapping)
        rows = ({k: worded(v) if isinstance(v, kinds) else v for k, v in one.items()} for one in self.to_records())
        return pd.DataFrame(rows)

    def summary(self) -> str:
        """Return the heading and the first records as text."""
        rows = [{name: worded(one[name]) for name in self.shown or one} for one in self.to_records()]
        return as_text([(name, worded(value)) for name, value in self.heading.items()], rows)

    def __str__(self) -> str:
        return self.summary()

    def save(self, path: str | Path) -> None:
        """Save heading and records as JSON, whole or not at all; raises FileError where the file cannot be written."""
        record = plain({"answer": type(self).__name__, **self.heading, "rows": self.to_records()})
        write_text(path, json.dumps(record, allow_nan=False, indent=1) + "\n")


def worded(value: Any) -> str:
    """Return a value as the text of a cell; a dash for None."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {worded(one)}" for name, one in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(worded, value))
    return "-" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
