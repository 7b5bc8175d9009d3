"""Columns of tables: DataFrames as numbers and texts, the refusal of what is neither, and the features made of them.

The features are 0/1 features of texts and substitutes of missing values, as they are learned on training samples.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from fsopt.common.clock import NUMBER, require
from fsopt.common.texts import counted
from fsopt.data.layout import Layout, few, label_key, label_text, refuse_repeated
from fsopt.errors import DataError, shown
from fsopt.typing import Matrix

if TYPE_CHECKING:
    from pandas import DataFrame, Series

MOST_LEVELS = 100
"""Largest number of different texts in a column of categories."""
FEW_ROWS = 10
"""Rows up to which each may have a text of its own."""
SPELLED = re.compile(r"[+-]?(\d+|(0|[1-9]\d{0,2})([., ]\d{3})+)([.,]\d+)?([eE][+-]?\d+)?")
"""Numbers that pandas reads with the keywords ``decimal`` and ``thousands``."""


def is_frame(value: Any) -> TypeGuard[DataFrame]:
    """Return whether a value is a DataFrame of pandas, without an import of it."""
    return type(value).__name__ == "DataFrame" and hasattr(value, "iloc")


def with_names(frame: DataFrame) -> DataFrame:
    """Return a DataFrame whose columns have texts as names, those of several levels too."""
    return frame.set_axis([str(name) for name in frame.columns], axis=1)


def numbers_of_frame(frame: DataFrame) -> Any:
    """Return the matrix of a DataFrame of numbers, NaN for a missing one."""
    typed = typed_columns(with_names(frame))
    refuse_texts(typed)
    return typed.to_numpy()


def typed_columns(frame: DataFrame) -> DataFrame:
    """Return columns of a DataFrame as floats with NaN, or as texts, also of categories, and None for a missing one."""
    import pandas as pd

    if all(kind.kind in "biuf" for kind in frame.dtypes):
        return pd.DataFrame(frame.to_numpy(dtype=float, na_value=np.nan), columns=frame.columns)
    return pd.DataFrame({name: _typed(column, name) for name, column in frame.items()}, copy=False)


def texts_of(columns: DataFrame) -> list[str]:
    """Return the names of the columns of :func:`typed_columns` that hold texts."""
    return [str(name) for name, kind in columns.dtypes.items() if kind.kind != "f"]


def _typed(series: Series, name: str) -> Any:
    """Return a column as what it is."""
    import pandas as pd

    if series.dtype.kind in "biuf":
        return series.to_numpy(dtype=float, na_value=np.nan)
    cells = [None if gone else v for v, gone in zip(series.astype(object), series.isna(), strict=True)]
    strange = [v for v in cells if not isinstance(v, str | Real | Decimal | np.bool_ | None)]
    if strange:
        hint = f"make numbers or texts of them, or leave the column out: drop='{name}'"
        raise DataError(f"column '{name}' holds {shown(strange[0])}, neither a number nor a text", hint)
    declared = isinstance(series.dtype, pd.CategoricalDtype)
    if not any(isinstance(v, str) or (v is not None and declared) for v in cells):
        return np.array([np.nan if v is None else v for v in cells], dtype=float)
    return pd.Series([v if v is None else label_text(v) for v in cells], dtype="category" if declared else object)


def without_groups(frame: DataFrame, layout: Layout) -> DataFrame:
    """Return a frame of texts with numbers in the columns where all are numbers, by the marks of a layout."""
    # pandas itself would take the marks out of dates, too.
    import pandas as pd

    mark, point = layout.thousands or "", layout.decimal or "."
    form = rf"[+-]?(0|[1-9]\d*|[1-9]\d{{0,2}}({re.escape(mark)}\d{{3}})*)({re.escape(point)}\d+)?([eE][+-]?\d+)?"
    for name in frame.columns.difference([layout.target, layout.id], sort=False):
        texts = frame[name].dropna()
        if all(isinstance(v, str) and re.fullmatch(form, v.strip()) for v in texts):
            frame[name] = pd.Series([float(v.replace(mark, "").replace(point, ".")) for v in texts], texts.index)
    return frame


def refuse_texts(columns: DataFrame, onehot: bool = False) -> None:
    """Raise DataError for texts, unless ``onehot`` asks for categories and the column is, or is declared as, one."""
    for name in texts_of(columns):
        column = columns[name].reset_index(drop=True)
        present, declared = column[column.notna()], str(column.dtype) == "category"
        if not declared:
            _refuse_numbers(name, present)
        levels = present.nunique()
        if not onehot:
            hint = f"onehot=True makes 0/1 features of them, drop='{name}' leaves the column out"
            raise DataError(f"column '{name}' holds texts, such as {shown(present.iloc[0])}", hint)
        if not declared and levels > min(MOST_LEVELS, max(FEW_ROWS, len(present) // 2)):
            hint = f"drop='{name}' leaves it out, id='{name}' takes it for names of the samples"
            raise DataError(f"column '{name}' has {levels} different texts in {len(column)} rows", hint)


def _refuse_numbers(name: str, present: Series) -> None:
    """Raise DataError for texts of which more than half are numbers, in the spelling of Python or another one."""
    numbers = present.map(lambda text: isinstance(label_key(text), float) and "_" not in text).astype(bool)
    spelled = numbers | present.map(SPELLED.fullmatch).notna()
    if spelled.sum() > len(present) / 2:
        example = [*present[spelled & ~numbers], *present[numbers]][0]
        strays = [f", and {shown(text)} in row {row + 1}" for row, text in present[~spelled].items()]
        raise DataError(
            f"column '{name}' holds texts that would be numbers, such as {shown(example)}{''.join(strays[:1])}",
            "correct what is no number, or leave it empty; read other spellings with decimal= or thousands= of pandas, "
            f"such as decimal=','; or leave the column out: drop='{name}'",
        )


@dataclass(frozen=True)
class EncodedColumn:
    """The features of one column of a table, by its name.

    The different texts of a column of texts are its ``levels``, sorted; a column of numbers has none. Two make one
    feature, which is 1 for the second; more make one each. ``fill`` is the value in place of a missing one, None where
    that is an error.
    """

    name: str
    levels: tuple[str, ...]
    fill: float | str | None

    @property
    def shown(self) -> tuple[str, ...]:
        """The texts that have a feature."""
        return self.levels[1:] if len(self.levels) == 2 else self.levels

    @property
    def features(self) -> tuple[str, ...]:
        """The names of its features."""
        return tuple(f"{self.name}={level}" for level in self.shown) if self.levels else (self.name,)

    @property
    def substitute(self) -> str:
        """What is in place of a missing value, as words."""
        return "" if self.fill is None else f" by {self.fill if self.levels else format(self.fill, '.4g')}"

    def matrix(self, column: Series) -> Matrix:
        """Return the features (n, k) of the values of the column; an unknown text has 0 in all of them."""
        gone = column.isna().to_numpy()
        if not self.levels and column.dtype.kind != "f":
            told = f"column '{self.name}' holds texts, such as {shown(column[~gone].iloc[0])}"
            raise DataError(told, "give numbers, as in training")
        if gone.any() and self.fill is None:
            what = counted(int(gone.sum()), "missing value")
            hint = "fit with missing= (mean, median), which predictions then use too, or remove these rows"
            raise DataError(f"column '{self.name}' has {what}, in row {few(np.flatnonzero(gone) + 1)}", hint)
        if self.levels:
            texts = np.where(gone, self.fill, _texts(column))
            return np.column_stack([np.asarray(texts == level, dtype=float) for level in self.shown])
        values = np.asarray(column, dtype=float)
        return (values if self.fill is None else np.where(gone, float(self.fill), values))[:, None]


@dataclass(frozen=True)
class Encoding:
    """The map from the columns of a table, in the order of the features, to these, learned on training samples;
    ``missing`` is the treatment of missing values, one of :data:`fsopt.data.layout.MISSING`, or None.
    """

    columns: tuple[EncodedColumn, ...]
    missing: str | None

    @classmethod
    def learned(cls, source: DataFrame, missing: str | None) -> Encoding:
        """Return the encoding that columns of training samples tell; a column without a value has 0, or the text ""."""
        encoding = cls(tuple(_learned(name, source[name], missing) for name in source), missing)
        refuse_repeated(encoding.features, "feature")
        return encoding

    @property
    def features(self) -> tuple[str, ...]:
        """The names of all features."""
        return tuple(name for column in self.columns for name in column.features)

    def sources(self, features: Collection[str]) -> list[str]:
        """Return the columns of the table that these features are made of."""
        return [column.name for column in self.columns if not set(features).isdisjoint(column.features)]

    def matrix(self, source: DataFrame) -> Matrix:
        """Return the features (n, p) of columns, 0 of one that is not there; raises DataError, MemoryLimitError."""
        n = len(source)
        require(2 * NUMBER * n * len(self.features), "the features of all columns", "leave out those of many texts")
        empty = {one.name: np.zeros((n, len(one.features))) for one in self.columns if one.name not in source}
        parts = [empty[one.name] if one.name in empty else one.matrix(source[one.name]) for one in self.columns]
        return np.ascontiguousarray(np.hstack(parts))

    def unseen(self, source: DataFrame) -> dict[str, list[str]]:
        """Return column of texts -> its texts that the training samples did not have; their features are all 0."""
        held = [column for column in self.columns if column.levels and column.name in source]
        found = {one.name: sorted({*_texts(source[one.name])} - {*one.levels, None}) for one in held}
        return {name: texts for name, texts in found.items() if texts}


@dataclass(frozen=True, eq=False)
class Encoded:
    """The columns of a table that the features of a data set were made of, and the map from them to the features."""

    encoding: Encoding
    source: DataFrame


def _learned(name: str, column: Series, missing: str | None) -> EncodedColumn:
    """Return the features of a column."""
    present, treated = column.dropna(), missing not in (None, "drop")
    if column.dtype.kind != "f":
        counts = Counter(present.tolist() or [""])
        frequent = min(counts, key=lambda text: (-counts[text], text))
        return EncodedColumn(name, tuple(sorted(counts)), frequent if treated else None)
    values = present.to_numpy(dtype=float) if len(present) else np.zeros(1)
    with np.errstate(invalid="ignore", over="ignore"):  # infinite values are reported by Dataset
        fill = float(np.median(values) if missing == "median" else values.sum() / len(values))
    return EncodedColumn(name, (), fill if treated else None)


def _texts(column: Series) -> Any:
    """Return a column as texts (n,), None for a missing one: 1 for the number 1.0."""
    if column.dtype.kind != "f":
        return np.where(column.isna(), None, column.astype(object))
    shown = [None if v != v else label_text(v) for v in column.tolist()]
    return np.array(shown, dtype=object)
