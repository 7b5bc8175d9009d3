"""The columns of a table before they are features: numbers, dates and texts, in a DataFrame of pandas."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from importlib.util import find_spec
from numbers import Number
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from fsopt.data.matrices import canonical
from fsopt.errors import DataError, PackageError, shown
from fsopt.typing import Frame, Matrix, Vector

if TYPE_CHECKING:
    from pandas import DataFrame, Series

NO_VALUE = frozenset({"", "?", "nan", "na", "n/a", "null"})
"""Texts of a missing value, in lower case."""
NUMBER = "number"
DATE = "date"
TEXT = "text"
"""Kinds of a column. A date is a number: days since 1970-01-01."""
PLAIN = (str, Number, date, np.bool_)
_DATE = re.compile(r"(?P<y>\d{4})-(?P<m>\d{2})-(?P<d>\d{2})(?:[ T](?P<t>\d{2}:\d{2}(:\d{2}(\.\d+)?)?))?")
_DAY_FIRST = re.compile(r"(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})(?: (?P<t>\d{2}:\d{2}(:\d{2})?))?")
"""31.3.2026, also with a time: the dates of Central and Eastern Europe, whose day comes first."""
_MARKED = re.compile(r"[+-]?(\d+,\d+|\d{1,3}([.,' ]\d{3})+([.,]\d+)?)")
"""Numbers in another spelling than Python's: 1,5 and 1.234,5."""
HINT = "onehot=True makes 0/1 features of its values, drop= or id= leaves it out; a missing value is empty, ?, nan, NA"


def is_frame(value: Any) -> TypeGuard[Frame]:
    """Return whether a value is a DataFrame of pandas, or of polars and others that become one by ``to_pandas``.

    Neither package is imported for it.
    """
    return type(value).__name__ == "DataFrame" and (hasattr(value, "iloc") or hasattr(value, "to_pandas"))


def in_pandas(frame: Any) -> Any:
    """Return a frame as a pandas DataFrame."""
    if hasattr(frame, "iloc"):
        return frame
    if find_spec("pyarrow") is None:
        raise PackageError(
            "DataFrames of other packages become those of pandas by pyarrow", "pip install 'fsopt[parquet]'"
        )
    return frame.to_pandas()


def with_texts_as_names(frame: Any) -> Any:
    """Return a DataFrame of pandas whose columns have texts as names, those of several levels too."""
    return frame.set_axis([str(name) for name in frame.columns], axis=1)


def sparse_of_frame(frame: Any) -> Any:
    """Return the sparse matrix of a DataFrame whose columns are all sparse with zeros left out, None for any other."""
    kinds = list(frame.dtypes)
    if not kinds or not all(hasattr(kind, "fill_value") and kind.fill_value == 0 for kind in kinds):
        return None
    return canonical(frame.sparse.to_coo())


def typed_columns(frame: DataFrame) -> DataFrame:
    """Return columns of a DataFrame as what they are.

    Parameters
    ----------
    frame : of numbers, bools, dates, texts and categories; texts may spell the others.

    Returns
    -------
    DataFrame
        Of floats with NaN, true and false being 1 and 0; of dates; and of objects: texts, None for a missing one.

    Raises
    ------
    DataError : a column is of another type.
    """
    import pandas as pd

    if all(kind.kind in "biuf" for kind in frame.dtypes):
        return pd.DataFrame(frame.to_numpy(dtype=float, na_value=np.nan), columns=frame.columns)
    return pd.DataFrame({name: _typed(column, name) for name, column in frame.items()}, copy=False)


def kind_of(column: Series) -> str:
    """Return the kind of a column of :func:`typed_columns`."""
    return {"f": NUMBER, "M": DATE}.get(column.dtype.kind, TEXT)


def numbers_of(column: Series) -> Vector:
    """Return numbers, and dates as days since 1970-01-01, with NaN for a missing value."""
    if kind_of(column) == NUMBER:
        return np.asarray(column, dtype=float)
    days = column.to_numpy(dtype="datetime64[us]").astype(float) / 86400e6
    return np.where(column.isna(), np.nan, days)


def numbers_alone(columns: DataFrame) -> Matrix | None:
    """Return the matrix of columns of plain numbers, None where another one is among them."""
    return columns.to_numpy() if all(kind.kind == "f" for kind in columns.dtypes) else None


def _typed(series: Series, name: str) -> Any:
    """Return a column as what it is."""
    kind, word = series.dtype.kind, str(series.dtype)
    if kind in "biuf":
        return series.to_numpy(dtype=float, na_value=np.nan)
    if kind == "M":
        local = series.dt.tz_localize(None) if getattr(series.dtype, "tz", None) is not None else series
        return local.to_numpy(dtype="datetime64[us]")
    values = series.astype(object).tolist()
    gone = series.isna().tolist()
    strange = [value for value, absent in zip(values, gone, strict=True) if not (absent or isinstance(value, PLAIN))]
    known = kind == "O" or word in ("category", "string", "str")
    if strange or not known:
        example = f"the type object, such as {shown(strange[0])}" if known else f"the type {word}, not numbers"
        hint = "make numbers, texts or dates of them, or leave the column out with drop"
        raise DataError(f"column '{name}' holds values of {example}", hint)
    return _of_texts(["" if absent else label_text(v) for v, absent in zip(values, gone, strict=True)], word)


def _of_texts(texts: list[str], word: str) -> Any:
    """Return texts as numbers, dates or texts; those of a column that is declared a category stay texts."""
    import pandas as pd

    codes, levels = pd.factorize(np.array(texts, dtype=object))
    known = [None if is_missing(text) else text for text in levels]
    for convert, kind in _CONVERSIONS if word != "category" or not any(known) else ():
        try:
            values = np.array([None if text is None else convert(text) for text in known], dtype=kind)
        except (ValueError, KeyError):
            continue
        return values[codes]
    return pd.Series(np.array(known, dtype=object)[codes], dtype=object)  # pandas would make an array of its own texts


def _date(pattern: re.Pattern[str]) -> Callable[[str], np.datetime64]:
    def convert(text: str) -> np.datetime64:
        found = pattern.fullmatch(text)
        if found is None:
            raise ValueError(text)
        return np.datetime64("{y}-{m:0>2}-{d:0>2}T{t}".format(**{**found.groupdict(), "t": found["t"] or "00"}), "us")

    return convert


def number(text: str) -> float:
    """Return the number that a text spells, ValueError for none; Python's own may have underscores, these may not."""
    if "_" in text:
        raise ValueError(text)
    return float(text)


_CONVERSIONS: tuple[tuple[Callable[[str], Any], str], ...] = (
    (lambda text: {"true": 1.0, "false": 0.0}[text.lower()], "f8"),
    (_date(_DATE), "datetime64[us]"),
    (_date(_DAY_FIRST), "datetime64[us]"),
    (number, "f8"),
)


def is_missing(text: str) -> bool:
    """Return whether a cell is a missing value."""
    return text.strip().lower() in NO_VALUE


def is_number(text: str) -> bool:
    """Return whether a text spells a number."""
    try:
        number(text)
    except ValueError:
        return False
    return True


def label_text(value: object) -> str:
    """Return a label or category as a text, a whole number without a decimal point."""
    text = str(value).strip()
    return text if isinstance(value, str) else text.removesuffix(".0")


def refuse_texts(columns: DataFrame, places: Sequence[str]) -> None:
    """Raise DataError for a column that should hold numbers and does not.

    Parameters
    ----------
    places : of the rows, as messages tell them; ``row 2 (line 3)``.
    """
    for name in columns:
        if kind_of(columns[name]) == TEXT:
            refuse_text(str(name), columns[name], places)


def refuse_text(name: str, column: Iterable[str | None], places: Sequence[str], hint: str = HINT) -> None:
    """Raise DataError that names the first texts of a column and their rows."""
    present = [(i, value) for i, value in enumerate(column) if value is not None]
    wrong = [(i, value) for i, value in present if not is_number(value)] or present[:1]  # numbers declared a category
    at, first = wrong[0]
    cell = first if len(first) <= 40 else first[:37] + "..."
    if _MARKED.fullmatch(first):
        hint = f"decimal= and thousands= say how the numbers of a file are written; {hint}"
    rest = ", ".join(str(i + 1) for i, _ in wrong[1:5]) + (" ..." if len(wrong) > 5 else "")
    more = f" (nor are those of {len(wrong) - 1} more rows: {rest})" if len(wrong) > 1 else ""
    raise DataError(f"{places[at]}, column '{name}': '{cell}' is not a number{more}", hint)


def some_numbers(texts: Sequence[str]) -> bool:
    """Return whether more than half of the texts of a column are numbers in any spelling, and some are none.

    All are numbers of Python in a column that is declared a category.
    """
    numbers = sum(map(is_number, texts))
    return numbers < len(texts) < 2 * (numbers + sum(_MARKED.fullmatch(text) is not None for text in texts))
