"""The way from a table to a data set: target, identifier, features, texts, missing values, weights, and its labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import itemgetter
from typing import Any

from fsopt.common.arguments import FLAG, TEXT, optional, word
from fsopt.errors import DataError, ParameterError, shown, similar

SUFFIXES = (".csv.gz", ".csv", ".tsv.gz", ".tsv", ".parquet", ".xlsx", ".npz", ".arff", ".libsvm", ".svm")
"""Of the files of data; a name without one is looked up with these, in this order."""
DEFAULT_TARGET = "label"
MISSING = ("drop", "mean", "median")
"""The treatments of missing values."""
SPELLING = ("sep", "decimal", "thousands", "encoding", "sheet")
"""Keywords of pandas: what is known of a file itself, whatever its columns mean."""
LISTS = ("positive", "drop")
"""Attributes that are lists of texts."""
NO_VALUE = frozenset({"", "?", ".", "nan", "na", "n/a", "null"})
"""Texts of a missing value, in lower case."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The way from a table to a data set: the meaning of its columns, and the weights of its classes.

    Parameters
    ----------
    target : str, default 'label'
        Name of the label's column, in formats with names of columns.
    positive : str or list, optional
        The label that is +1, or several; all other labels are -1, however many there are.
    drop : str or list, optional
        Columns that are left out.
    id : str, optional
        Column that names the samples, which is no feature.
    group : str, optional
        Column that names the person, animal or batch of each sample, which is no feature: ``Dataset.group``.
    onehot : bool
        Whether columns of texts and categories become 0/1 features ``COLUMN=VALUE``, one for each value, or one alone
        for two values. By default such a column is an error.
    missing : {"drop", "mean", "median"}, optional
        ``"drop"`` omits the samples with a missing value. ``"mean"`` and ``"median"`` replace a missing number by that
        of its feature, and a missing category by the most frequent one. By default a missing value is an error.
    weights : str, optional
        Column of positive sample weights, which is no feature.
    sep : str, optional
        As ``pandas.read_csv`` takes it, by default that which pandas finds in the header.
    decimal : str, optional
        Decimal mark.
    thousands : str, optional
        Separator of groups of three digits.
    encoding : str, optional
        Of a text, UTF-8 by default.
    sheet : str, optional
        Sheet of a workbook, by default the first one.
    class_weight : str or pairs of a label and its weight, optional
        ``balanced``, or weights of the classes; None for equal weights.
    """

    target: str = DEFAULT_TARGET
    positive: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    id: str | None = None
    group: str | None = None
    onehot: bool = False
    missing: str | None = None
    weights: str | None = None
    sep: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    class_weight: str | tuple[tuple[str, float], ...] | None = None

    def __post_init__(self) -> None:
        TEXT.check("target", self.target)
        FLAG.check("onehot", self.onehot)
        for name in ("id", "group", "weights", *SPELLING):
            optional(TEXT).check(name, getattr(self, name))
        for name in LISTS:
            object.__setattr__(self, name, _texts(name, getattr(self, name)))
        if self.thousands == (self.decimal or "."):
            raise ParameterError(
                f"thousands='{self.thousands}' is the decimal mark too", "name the other with decimal="
            )
        if self.missing is not None:
            word("missing", self.missing, MISSING)

    @classmethod
    def saved(cls, record: Mapping[str, Any]) -> Layout:
        """Return the layout in a saved answer; one that was saved in Python has none: that of the defaults."""
        from msgspec import convert

        return convert(record.get("layout", {}), cls)

    @property
    def stated(self) -> dict[str, Any]:
        """The attributes that are not at their defaults: the plain data of a saved answer."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name)) != field.default}

    def features(self, names: list[str], *, required: bool = True) -> list[str]:
        """Return the columns of the features; raises DataError where columns are repeated, or absent if required."""
        count = Counter(names)
        for what in ("target", "id", "group", "weights", "drop"):
            stated = getattr(self, what)
            for name in [stated] if isinstance(stated, str) else stated or ():
                if required and not count[name]:
                    near = similar(name, names) or f"the last ones are {', '.join(names[-3:])}"
                    hint = f"name the column with {what}=; {near}"
                    raise DataError(f"there is no column '{name}' among the {len(names)} columns", hint)
        without = {self.target, self.id, self.group, self.weights, *self.drop}
        refuse_repeated([name for name in names if name not in self.drop])
        left = [name for name in names if name not in without]
        if not left:
            raise DataError("no column is left for the features", "give a table with features, or drop fewer columns")
        return left


def refuse_repeated(names: Sequence[str], what: str = "column") -> None:
    """Raise DataError for a name that occurs twice among those of columns, or of something else."""
    name, count = max(Counter(names).items(), key=itemgetter(1), default=("", 0))
    if count > 1:
        raise DataError(f"there are {count} {what}s '{name}'", f"give every {what} its own name")


def _texts(name: str, given: object) -> tuple[str, ...]:
    """Return a text or a list of texts as a tuple; numbers, such as labels 0 and 1, become texts."""
    if given is None:
        return ()
    listed = [given] if isinstance(given, str | int | float) else given
    if not isinstance(listed, Iterable):
        raise ParameterError(f"{name} is {shown(given)}", "give a name, or a list of names")
    return tuple(item if isinstance(item, str) else str(item).removesuffix(".0") for item in listed)


def few(values: Any, show: Callable[[Any], str] = str) -> str:
    """Return the first five of a list or an array as words, and how many more there are."""
    return ", ".join(map(show, values[:5])) + (f" and {len(values) - 5} more" if len(values) > 5 else "")


def is_missing(text: str) -> bool:
    """Return whether a cell is a missing value."""
    return text.strip().lower() in NO_VALUE


def label_text(value: object) -> str:
    """Return a label or category as a text, a whole number without a decimal point."""
    text = str(value).strip()
    return text if isinstance(value, str) else text.removesuffix(".0")


def label_key(text: str) -> float | str:
    """Return a label to be compared: 1 and 1.0 are the same."""
    try:
        return float(text)
    except ValueError:
        return text


WHOLE = Layout()
"""Every column but ``label`` is a feature."""
