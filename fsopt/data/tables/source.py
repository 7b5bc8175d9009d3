"""The columns of a table before they are features: numbers, dates and texts, each with its missing values."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from numbers import Number
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fsopt.errors import DataError, shown
from fsopt.typing import Indices

if TYPE_CHECKING:
    from pandas import DataFrame, Series

Column: TypeAlias = NDArray[Any]
"""(n,) floats with NaN for a missing value, or objects: texts with None for a missing value."""

NO_VALUE = frozenset({"", "?", "nan", "na", "n/a", "null"})
"""Texts of a missing value, in lower case."""
NUMBER = "number"
DATE = "date"
TEXT = "text"
"""Kinds of a column. A date is a number: days since 1970-01-01."""
DAY = 86400.0
PLAIN = (str, Number, date, np.bool_)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?")
_DAY_FIRST = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})((?: \d{2}:\d{2}(?::\d{2})?)?)")
"""31.3.2026, also with a time: the dates of Central and Eastern Europe, whose day comes first."""
_MARKED = re.compile(r"[+-]?(\d+,\d+|\d{1,3}([.,' ]\d{3})+([.,]\d+)?)")
"""Numbers in another spelling than Python's: 1,5 and 1.234,5."""
_BOOLEAN = {"true": 1.0, "false": 0.0}
HINT = "onehot=True makes 0/1 features of its values, drop= or id= leaves it out; a missing value is empty, ?, nan, NA"


def is_missing(text: str) -> bool:
    """Return whether a cell is a missing value."""
    return text.strip().lower() in NO_VALUE


@dataclass(frozen=True, eq=False)
class Source:
    """The columns of the features of a table.

    Attributes
    ----------
    names : of the q columns.
    values : of each.
    kinds : of each, one of ``NUMBER``, ``DATE``, ``TEXT``.
    """

    names: tuple[str, ...]
    values: tuple[Column, ...]
    kinds: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.values[0])

    @property
    def numeric(self) -> bool:
        """Whether every column is of plain numbers."""
        return set(self.kinds) == {NUMBER}

    def rows(self, positions: Indices) -> Source:
        """Return the columns at some samples."""
        return Source(self.names, tuple(column[positions] for column in self.values), self.kinds)

    def columns(self, names: Sequence[str]) -> Source:
        """Return some of the columns."""
        place = {name: k for k, name in enumerate(self.names)}
        places = [place[name] for name in names]
        return Source(tuple(names), tuple(self.values[k] for k in places), tuple(self.kinds[k] for k in places))

    @property
    def gaps(self) -> dict[str, int]:
        """Column -> number of its missing values, of those that have some."""
        counts = {name: int(absent(v).sum()) for name, v in zip(self.names, self.values, strict=True)}
        return {name: count for name, count in counts.items() if count}

    @property
    def absent(self) -> NDArray[np.bool_]:
        """Which samples (n,) have a missing value."""
        found = np.zeros(self.n, dtype=bool)
        for column in self.values:
            found |= absent(column)
        return found


def absent(column: Column) -> NDArray[np.bool_]:
    """Return which values (n,) of a column are missing."""
    if column.dtype.kind == "f":
        return np.isnan(column)
    return np.array([value is None for value in column], dtype=bool)


def typed(texts: Sequence[str]) -> tuple[Column, str]:
    """Return a column of texts as what it is: numbers, true and false as 1 and 0, dates as days, or texts."""
    present = [text for text in texts if not is_missing(text)]
    lowered = {text.lower() for text in present}
    if present and lowered <= set(_BOOLEAN):
        return _converted(texts, lambda text: _BOOLEAN[text.lower()]), NUMBER
    for pattern, days in ((_DATE, _days), (_DAY_FIRST, _days_of_day_first)):
        if present and all(map(pattern.fullmatch, present)):
            try:
                return _converted(texts, days), DATE
            except ValueError:  # 2020-13-01
                pass
    try:
        return _converted(texts, _number), NUMBER
    except ValueError:
        return text_column([None if is_missing(text) else text for text in texts]), TEXT


def text_column(texts: Sequence[str | None]) -> Column:
    """Return texts, None for a missing one, as a column."""
    column = np.empty(len(texts), dtype=object)
    column[:] = texts
    return column


def of_texts(names: Sequence[str], columns: Sequence[Sequence[str]]) -> Source:
    """Return the source of columns of texts, as a file has them."""
    found = [typed(column) for column in columns]
    return Source(tuple(names), tuple(values for values, _ in found), tuple(kind for _, kind in found))


def of_frame(frame: DataFrame, names: Sequence[str]) -> Source:
    """Return the source of some columns of a pandas DataFrame: numbers, bools, dates, texts and categories."""
    found = [_series(frame[name], name) for name in names]
    return Source(tuple(map(str, names)), tuple(values for values, _ in found), tuple(kind for _, kind in found))


def _series(series: Series, name: str) -> tuple[Column, str]:
    missing = series.isna().to_numpy(dtype=bool)
    kind = series.dtype.kind
    if kind in "biuf":
        return series.to_numpy(dtype=float, na_value=np.nan), NUMBER
    if kind == "M":
        days = series.dt.tz_localize(None) if getattr(series.dtype, "tz", None) is not None else series
        values = days.to_numpy(dtype="datetime64[us]").astype(float) / (1e6 * DAY)
        return np.where(missing, np.nan, values), DATE
    if kind != "O" and str(series.dtype) not in ("category", "string", "str"):
        raise DataError(
            f"column '{name}' holds values of the type {series.dtype}, not numbers",
            "make numbers, texts or dates of them, or leave the column out with drop",
        )
    values = series.astype(object).tolist()
    strange = [v for v, gone in zip(values, missing, strict=True) if not (gone or isinstance(v, PLAIN))]
    if strange:
        raise DataError(
            f"column '{name}' holds values of the type object, such as {shown(strange[0])}",
            "make numbers, texts or dates of them, or leave the column out with drop",
        )
    texts = ["" if gone else label_text(value) for value, gone in zip(values, missing, strict=True)]
    if str(series.dtype) == "category":
        return text_column([None if is_missing(text) else text for text in texts]), TEXT
    return typed(texts)


def label_text(value: object) -> str:
    """Return a label or category as a text, a whole number without a decimal point."""
    text = str(value).strip()
    return text if isinstance(value, str) else text.removesuffix(".0")


def refuse_texts(source: Source, places: Sequence[str]) -> None:
    """Raise DataError for a column that should hold numbers and does not.

    Parameters
    ----------
    places : of the rows, as messages tell them; ``row 2 (line 3)``.
    """
    for name, column, kind in zip(source.names, source.values, source.kinds, strict=True):
        if kind == TEXT:
            refuse_text(name, column, places)


def refuse_text(name: str, column: Column, places: Sequence[str], hint: str = HINT) -> None:
    """Raise DataError that names the first texts of a column and their rows."""
    wrong = [i for i, value in enumerate(column) if value is not None and not _is_number(value)]
    if not wrong:  # numbers that were declared a category
        wrong = [i for i, value in enumerate(column) if value is not None][:1]
    first = column[wrong[0]]
    cell = first if len(first) <= 40 else first[:37] + "..."
    if _MARKED.fullmatch(first):
        hint = f"decimal= and thousands= say how the numbers of a file are written; {hint}"
    rest = ", ".join(str(i + 1) for i in wrong[1:5]) + (" ..." if len(wrong) > 5 else "")
    more = f" (nor are those of {len(wrong) - 1} more rows: {rest})" if len(wrong) > 1 else ""
    raise DataError(f"{places[wrong[0]]}, column '{name}': '{cell}' is not a number{more}", hint)


def some_numbers(column: Column) -> bool:
    """Return whether more than half of the values of a column of texts are numbers in any spelling, and some are none.

    All are numbers of Python in a column that is declared a category.
    """
    present = [value for value in column if value is not None]
    numbers = sum(map(_is_number, present))
    return numbers < len(present) < 2 * (numbers + sum(_MARKED.fullmatch(value) is not None for value in present))


def _converted(texts: Sequence[str], convert: Callable[[str], float]) -> Column:
    return np.array([np.nan if is_missing(text) else convert(text) for text in texts], dtype=float)


def _days(text: str) -> float:
    return float(np.datetime64(text.replace(" ", "T"), "us").astype(np.int64)) / (1e6 * DAY)


def _days_of_day_first(text: str) -> float:
    return _days(_DAY_FIRST.sub(lambda found: f"{found[3]}-{found[2]:0>2}-{found[1]:0>2}{found[4]}", text))


def _number(text: str) -> float:
    if "_" in text:  # Python's own numbers may have underscores
        raise ValueError(text)
    return float(text)


def _is_number(text: str) -> bool:
    try:
        _number(text)
    except ValueError:
        return False
    return True
