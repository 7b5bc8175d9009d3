"""The columns of a table before they are features: numbers, dates and texts, in a DataFrame of pandas."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, time
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
ORDER = "order"
TEXT = "text"
"""Kinds of a column. A date is a number, days since 1970-01-01, and so is an ordered word: its place, from 0."""
PLAIN = (str, Number, date, time, np.bool_)
_TIME = r"(?:[ T](?P<t>\d{2}:\d{2}(:\d{2}(\.\d+)?)?)Z?)?"
_MARKED = re.compile(r"[+-]?(\d+,\d+|\d{1,3}([.,' ]\d{3})+([.,]\d+)?)")
"""Numbers in another spelling than Python's: 1,5 and 1.234,5."""
AMOUNT = re.compile(
    r"(?P<before>[<>\u2264\u2265~\u2248]?=?\s*[$\u20ac\u00a3]?\s*)"
    r"(?P<number>[+-]?(?:\d[\d.,' \u00a0\u202f\u2019]*)?[.,]?\d+(?:[eE][+-]?\d+)?)"
    r"(?P<after>\s*(?:(?:[^\W\d_]|[%\u2030\u20ac$\u00a3\u00b0])[^\d<>]*)?)"
)
"""A number, perhaps with a sign of comparison or money before it, or a unit after it, such as <0.5, $3 and 3 mg."""
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


def numbers_of_frame(frame: Any) -> Any:
    """Return the matrix of a DataFrame of numbers, NaN for a missing one; sparse where all columns are.

    Raises
    ------
    DataError : a column holds something else.
    """
    frame = in_pandas(frame)
    sparse = sparse_of_frame(frame)
    for name, kind in frame.dtypes.items() if sparse is None else ():
        if kind.kind not in "biuf":
            hint = "fsopt.load_dataset(frame, target=...) makes features of texts, dates and categories"
            raise DataError(f"column '{name}' of X is of type {kind}, not of numbers", hint)
    return frame.to_numpy(dtype=float, na_value=np.nan) if sparse is None else sparse


def typed_columns(frame: DataFrame) -> DataFrame:
    """Return columns of a DataFrame as what they are.

    Parameters
    ----------
    frame : of numbers, bools, dates, texts and categories; texts may spell the others.

    Returns
    -------
    DataFrame
        Of floats with NaN, true and false being 1 and 0; of dates; of ordered categories of texts; and of objects:
        texts, None for a missing one.

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
    return ORDER if getattr(column.dtype, "ordered", False) else {"f": NUMBER, "M": DATE}.get(column.dtype.kind, TEXT)


def numbers_of(column: Series) -> Vector:
    """Return numbers, dates as days since 1970-01-01, and ordered words as their places, with NaN for a missing one."""
    kind = kind_of(column)
    if kind == NUMBER:
        return np.asarray(column, dtype=float)
    found = column.cat.codes if kind == ORDER else column.to_numpy(dtype="datetime64[us]").astype(float) / 86400e6
    return np.where(column.isna(), np.nan, found)


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
    if getattr(series.dtype, "ordered", False) and all(isinstance(level, str) for level in series.cat.categories):
        return series
    values = series.astype(object).tolist()
    gone = series.isna().tolist()
    strange = [value for value, absent in zip(values, gone, strict=True) if not (absent or isinstance(value, PLAIN))]
    known = kind in "OU" or word in ("category", "string", "str")
    if strange or not known:
        example = f"the type object, such as {shown(strange[0])}" if known else f"the type {word}, not numbers"
        hint = f"make numbers, texts or dates of them, or leave the column out: drop='{name}'"
        raise DataError(f"column '{name}' holds values of {example}", hint)
    return _of_texts(["" if absent else label_text(v) for v, absent in zip(values, gone, strict=True)], word, name)


def _of_texts(texts: list[str], word: str, name: str) -> Any:
    """Return texts as numbers, dates or texts; those of a column that is declared a category stay texts."""
    import pandas as pd

    codes, levels = pd.factorize(np.array(texts, dtype=object))
    known = [None if is_missing(text) else text for text in levels]
    ways = () if word == "category" and any(known) else _CONVERSIONS
    found = [values for way in ways if (values := way(known)) is not None]
    if not found:
        return pd.Series(np.array(known, dtype=object)[codes], dtype=object)  # pandas would make an array of its own
    if len(found) > 1 and any(known) and not np.array_equal(found[0], found[1], equal_nan=True):
        k = int(np.flatnonzero(found[0] != found[1])[0])
        first, second = (str(values[k])[:10] for values in found)
        raise DataError(
            f"column '{name}': '{known[k]}' may be {first} or {second}",
            f"write the dates as {first}, or leave the column out: drop='{name}'",
        )
    return found[0][codes]


def _each(convert: Callable[[str], Any], kind: str) -> Callable[[list[str | None]], Any]:
    """Return a function that converts the texts of a column, to None where one of them cannot be."""

    def converted(known: list[str | None]) -> Any:
        try:
            return np.array([None if text is None else convert(text) for text in known], dtype=kind)
        except (ValueError, KeyError):
            return None

    return converted


def _date(pattern: str) -> Callable[[list[str | None]], Any]:
    form = re.compile(pattern + _TIME)

    def convert(text: str) -> np.datetime64:
        found = form.fullmatch(text)
        if found is None:
            raise ValueError(text)
        return np.datetime64("{y}-{m:0>2}-{d:0>2}T{t}".format(**{**found.groupdict(), "t": found["t"] or "00"}), "us")

    return _each(convert, "datetime64[us]")


def number(text: str) -> float:
    """Return the number that a text spells, ValueError for none; Python's own may have underscores, these may not."""
    if "_" in text:
        raise ValueError(text)
    return float(text)


_CONVERSIONS = (
    _each(lambda text: {"true": 1.0, "false": 0.0}[text.lower()], "f8"),
    _each(number, "f8"),
    _date(r"(?P<y>\d{4})(?P<o>[-/])(?P<m>\d{1,2})(?P=o)(?P<d>\d{1,2})"),
    _date(r"(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})"),
    _date(r"(?P<d>\d{1,2})/(?P<m>\d{1,2})/(?P<y>\d{4})"),
    _date(r"(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>\d{4})"),
)
"""What texts may be: truth values, numbers, and dates such as 2026-03-31, 31.3.2026, 31/3/2026 and 3/31/2026."""


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
    """Raise DataError for a column that should hold numbers and holds texts or ordered words.

    Parameters
    ----------
    places : of the rows, as messages tell them; ``row 2 (line 3)``.
    """
    for name in columns:
        if kind_of(columns[name]) in (TEXT, ORDER):
            raise DataError(no_number(str(name), columns[name].astype(object), places), HINT)


def no_number(name: str, column: Series, places: Sequence[str]) -> str:
    """Return a sentence that names the first texts of a column and their rows."""
    present = [(i, value) for i, (value, gone) in enumerate(zip(column, column.isna(), strict=True)) if not gone]
    wrong = [(i, value) for i, value in present if not is_number(value)] or present[:1]  # numbers declared a category
    at, first = wrong[0]
    rest = ", ".join(places[i].split()[1] for i, _ in wrong[1:5]) + (" ..." if len(wrong) > 5 else "")
    more = f" (nor are those of {len(wrong) - 1} more rows: {rest})" if len(wrong) > 1 else ""
    return f"{places[at]}, column '{name}': {listed([first])} is not a number{more}"


def amount(text: str) -> tuple[float, str] | None:
    """Return number and unit of a text such as ``<0.5``, ``5 %`` and ``3 mg``, None for any other text."""
    found = AMOUNT.fullmatch(text)
    return (float(found["number"]), found["after"].strip()) if found and is_number(found["number"]) else None


def some_numbers(texts: Sequence[str]) -> bool:
    """Return whether more than half of the texts of a column are numbers, in any spelling or of one unit.

    All are numbers of Python in a column that is declared a category.
    """
    if all(map(is_number, texts)):
        return False
    found = [amount(text) for text in texts]
    units = {one[1] for one in found if one and one[1]}
    compared = [text[0] not in "+-.0123456789$\u20ac\u00a3" for text in texts]
    marked = (_MARKED.fullmatch(text) is not None for text in texts)
    count = sum(a or (b is not None and not c) for a, b, c in zip(marked, found, compared, strict=True))
    return len(units) <= 1 and len(texts) < 2 * count


def as_numbers(column: Series, name: str, places: Sequence[str]) -> tuple[Vector, str]:
    """Return texts as the numbers in them, NaN for one without a number, and a sentence on both.

    Raises
    ------
    DataError : no text has a number, one has another decimal mark, or they have several units.
    """
    cells = column.where(column.notna(), "").tolist()
    found = {text: amount(text) for text in dict.fromkeys(cells)}
    units = sorted({one[1] for one in found.values() if one and one[1]})
    marked = [k for k, text in enumerate(cells) if found[text] is None and AMOUNT.fullmatch(text)]
    if marked:
        fault = f"{places[marked[0]]}, column '{name}': '{cells[marked[0]]}' is not a number"
        raise DataError(fault, f"decimal= and thousands= say how the numbers are written; drop='{name}' leaves it out")
    if len(units) > 1 or not any(found.values()):
        what = f"numbers with several units: {listed(units)}" if units else f"no numbers: {listed(list(found))}"
        raise DataError(f"column '{name}' has {what}", f"correct the cells; drop='{name}' leaves it out")
    read = [text for text in cells if found[text] and not is_number(text)]
    lost = [text for text in cells if text and not found[text]]
    words = [f"{len(read)} texts are numbers, such as {found[read[0]][0]:g} for {listed(read[:1])}"] if read else []  # type: ignore[index]
    words += [f"texts without one are missing values: {listed(lost)}"] if lost else []
    values = np.array([np.nan if (one := found[text]) is None else one[0] for text in cells])
    return values, f"column '{name}': {', '.join(words)}" if words else ""


def listed(texts: Sequence[str], most: int = 5) -> str:
    """Return the first different texts in quotation marks."""
    distinct = list(dict.fromkeys(texts))
    short = (text if len(text) <= 40 else text[:37] + "..." for text in distinct[:most])
    return ", ".join(f"'{text}'" for text in short) + (", ..." if len(distinct) > most else "")


def with_orders(source: DataFrame, orders: Sequence[str]) -> DataFrame:
    """Return columns of which those with ordered words are ordered categories.

    Parameters
    ----------
    orders : texts ``low<middle<high``, for each column of texts with these words, or ``COLUMN=low<middle<high``.

    Raises
    ------
    DataError : a column has most of the words and another one, or none has them.
    """
    import pandas as pd

    found: dict[str, Any] = {}
    for order in orders:
        named = [name for name in source if order.startswith(f"{name}=")]
        words = [word.strip() for word in order.removeprefix(f"{named[0]}=" if named else "").split("<")]
        before = len(found)
        for name in named or source:
            levels = {*source[name].dropna()} if kind_of(source[name]) == TEXT else set()
            others = sorted(levels - {*words})
            if others and (named or 2 * len(others) < len(levels)):
                raise DataError(
                    f"column '{name}' has {listed(others)} beside the words of order='{order}'",
                    "put every word of the column at its place, or drop the column",
                )
            if levels and not others:
                found[name] = pd.Categorical(source[name], categories=words, ordered=True)
        if len(found) == before:
            raise DataError(f"no column of texts has the words of order='{order}'", "give the words as in the table")
    return source.assign(**found)
