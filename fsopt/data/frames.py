"""DataFrames of pandas: their columns as numbers and texts, and the refusal of what is neither."""

from __future__ import annotations

import re
from collections.abc import Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from fsopt.data.labels import label_text
from fsopt.data.layout import Layout
from fsopt.data.matrices import canonical
from fsopt.errors import DataError, shown
from fsopt.typing import Frame, Matrix, Vector

if TYPE_CHECKING:
    from pandas import DataFrame, Series

NUMBER = "number"
TEXT = "text"
"""Kinds of a column."""
MOST_LEVELS = 100
"""Largest number of different texts in a column of categories."""
FEW_ROWS = 10
"""Rows up to which each may have a text of its own."""


def number_form(decimal: str, thousands: str) -> re.Pattern[str]:
    """Return the form of a number with a decimal mark, and a mark before groups of three digits if there is one."""
    whole = rf"(0|[1-9]\d{{0,2}}({re.escape(thousands)}\d{{3}})*)" if thousands else r"\d+"
    return re.compile(rf"[+-]?{whole}({re.escape(decimal)}\d+)?([eE][+-]?\d+)?")


MARKS = {
    "decimal=','": number_form(",", ""),
    "thousands=','": number_form(".", ","),
    "decimal=',' and thousands='.'": number_form(",", "."),
    "thousands=' '": number_form(".", " "),
    "decimal=',' and thousands=' '": number_form(",", " "),
}
"""Keywords of pandas -> the numbers that it reads with them."""


def is_frame(value: Any) -> TypeGuard[Frame]:
    """Return whether a value is a DataFrame of pandas, or of another package that becomes one by ``to_pandas``.

    Neither package is imported for it.
    """
    return type(value).__name__ == "DataFrame" and (hasattr(value, "iloc") or hasattr(value, "to_pandas"))


def in_pandas(frame: Any) -> Any:
    """Return a frame as a pandas DataFrame."""
    return frame if hasattr(frame, "iloc") else frame.to_pandas()


def with_texts_as_names(frame: Any) -> Any:
    """Return a DataFrame of pandas whose columns have texts as names, those of several levels too."""
    return frame.set_axis([str(name) for name in frame.columns], axis=1)


def sparse_of_frame(frame: Any) -> Any:
    """Return the sparse matrix of a DataFrame whose columns are all sparse with zeros left out, None for any other."""
    kinds = list(frame.dtypes)
    if not kinds or not all(hasattr(kind, "fill_value") and kind.fill_value == 0 for kind in kinds):
        return None
    return canonical(frame.sparse.to_coo())


def numbers_of_frame(frame: Any) -> Any:
    """Return the matrix of a DataFrame of numbers, NaN for a missing one; sparse where all columns are."""
    frame = in_pandas(frame)
    sparse = sparse_of_frame(frame)
    for name, kind in frame.dtypes.items() if sparse is None else ():
        if kind.kind not in "biuf":
            hint = "fsopt.load_dataset(frame, target=...) makes features of texts and categories"
            raise DataError(f"column '{name}' of X is of type {kind}, not of numbers", hint)
    return frame.to_numpy(dtype=float, na_value=np.nan) if sparse is None else sparse


def typed_columns(frame: DataFrame) -> DataFrame:
    """Return columns of a DataFrame as floats with NaN, or as objects: texts, and None for a missing one."""
    import pandas as pd

    if all(kind.kind in "biuf" for kind in frame.dtypes):
        return pd.DataFrame(frame.to_numpy(dtype=float, na_value=np.nan), columns=frame.columns)
    return pd.DataFrame({name: _typed(column, name) for name, column in frame.items()}, copy=False)


def kind_of(column: Series) -> str:
    """Return the kind of a column of :func:`typed_columns`."""
    return NUMBER if column.dtype.kind == "f" else TEXT


def numbers_of(column: Series) -> Vector:
    """Return the numbers of a column of :func:`typed_columns`."""
    return np.asarray(column, dtype=float)


def content_of(frame: DataFrame) -> tuple[Matrix, DataFrame | None]:
    """Return the matrix of columns of numbers, sparse where all are; where not all are numbers, the typed columns."""
    sparse = sparse_of_frame(frame)
    if sparse is not None:
        return sparse, None
    typed = typed_columns(frame)
    alone = all(kind.kind == "f" for kind in typed.dtypes)
    return (typed.to_numpy(), None) if alone else (np.empty((len(frame), 0)), typed)


def _typed(series: Series, name: str) -> Any:
    """Return a column as what it is."""
    import pandas as pd

    kind, word = series.dtype.kind, str(series.dtype)
    if kind in "biuf":
        return series.to_numpy(dtype=float, na_value=np.nan)
    cells = [None if gone else v for v, gone in zip(series.astype(object), series.isna(), strict=True)]
    strange = [v for v in cells if not isinstance(v, str | Number | np.bool_ | None)]
    if strange or not (kind in "OU" or word in ("category", "string", "str")):
        example = f"{shown(strange[0])}" if kind == "O" and strange else f"the type {word}"
        hint = f"make numbers or texts of them, or leave the column out: drop='{name}'"
        raise DataError(f"column '{name}' holds values of {example}, neither numbers nor texts", hint)
    if not any(isinstance(v, str) or (v is not None and word == "category") for v in cells):
        return np.array([np.nan if v is None else v for v in cells], dtype=float)
    return pd.Series([None if v is None else label_text(v) for v in cells], dtype=object)


def is_number(text: str) -> bool:
    """Return whether a text spells a number; Python's own may have underscores, these may not."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def refuse_false_groups(read: DataFrame, texts: DataFrame, layout: Layout) -> None:
    """Raise DataError for one of the texts, as they stand, out of which pandas takes marks though it is no number."""
    mark, form = str(layout.thousands), number_form(layout.decimal or ".", str(layout.thousands))
    for name in (name for name in read if read[name].dtype.kind in "iuf" and name not in layout.drop):
        for row, text in enumerate(texts[name], start=1):
            if isinstance(text, str) and mark in text.strip() and not form.fullmatch(text.strip()):
                fault = f"column '{name}' holds '{text}' in row {row}, which is no number with thousands='{mark}'"
                raise DataError(fault, f"correct it, read the file without the keyword, or leave it out: drop='{name}'")


def refuse_texts(columns: DataFrame, onehot: bool = False, declared: Sequence[str] = ()) -> None:
    """Raise DataError for a column of texts that is none of categories, or where categories are not asked for.

    ``declared`` columns are categories whatever their texts are.
    """
    texts = [str(name) for name in columns if kind_of(columns[name]) == TEXT]
    for name in texts:
        column = columns[name].reset_index(drop=True)
        present = column[column.notna()]
        if name not in declared:
            _refuse_numbers(name, present)
        levels = present.nunique()
        if not onehot:
            more = f"; so do {', '.join(texts[1:5])}{' ...' * (len(texts) > 5)}" if len(texts) > 1 else ""
            hint = f"onehot=True makes 0/1 features of them, drop='{name}' leaves the column out"
            raise DataError(f"column '{name}' holds texts, such as '{present.iloc[0]}'{more}", hint)
        if name not in declared and levels > min(MOST_LEVELS, max(FEW_ROWS, len(present) // 2)):
            hint = f"drop='{name}' leaves it out, id='{name}' takes it for names of the samples"
            raise DataError(f"column '{name}' has {levels} different texts in {len(column)} rows", hint)


def _refuse_numbers(name: str, present: Series) -> None:
    """Raise DataError for texts of which more than half are numbers, in the spelling of Python or another one."""
    numbers = present.map(is_number)
    counts = {flags: sum(map(bool, map(form.fullmatch, present))) for flags, form in MARKS.items()}
    most = max(counts.values())
    if most > max(numbers.sum(), len(present) / 2):
        found = [flags for flags, count in counts.items() if count == most]
        flags = " or ".join(found[: 2 if found[1:2] == ["thousands=','"] else 1])
        example = present[~numbers].iloc[0]
        raise DataError(
            f"column '{name}' holds texts that would be numbers in another spelling, such as '{example}'",
            f"read them with {flags}, keywords of pandas; or leave the column out: drop='{name}'",
        )
    if numbers.all():
        example = present.iloc[0]
        raise DataError(f"column '{name}' holds texts that are numbers, such as '{example}'", "make numbers of them")
    if numbers.sum() > len(present) / 2:
        row, other = next((i + 1, text) for i, text in present[~numbers].items())
        hint = f"correct it, leave it empty where no value is known, or leave the column out: drop='{name}'"
        raise DataError(f"column '{name}' holds '{other}' in row {row}, which is not a number", hint)
