"""The way from a table to a data set: target, identifier, features, texts, missing values, weights, and its labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from operator import itemgetter
from typing import Any

from fsopt.common.arguments import FLAG, LIST, TEXT, optional, word
from fsopt.errors import DataError, ParameterError, shown

SUFFIXES = (".csv.gz", ".csv", ".tsv.gz", ".tsv", ".parquet", ".xlsx", ".npz", ".arff", ".libsvm", ".svm")
"""Of the files of data; a name without one is looked up with these, in this order."""
DEFAULT_TARGET = "label"
MISSING = ("drop", "mean", "median", "indicator")
"""The treatments of missing values."""
SPELLING = ("sep", "decimal", "thousands", "encoding", "sheet")
"""Keywords of pandas: what is known of a file itself, whatever its columns mean."""
LISTS = ("positive", "drop")
"""Attributes that are lists of texts."""
NO_VALUE = frozenset({"", "?", ".", "nan", "na", "n/a", "null"})
"""Texts of a missing value, in lower case."""


@dataclass(frozen=True)
class Layout:
    """The way from a table to a data set: the meaning of its columns, and the weights of its classes.

    Attributes
    ----------
    target : column of the labels.
    positive : the labels that are +1, all others are -1; empty for two labels, see
        :func:`fsopt.data.validation.map_labels`.
    class_weight : ``balanced``, or pairs of a label and its weight; None for equal weights.
    drop, id, group, onehot, missing, weights, sep, decimal, thousands, encoding, sheet : as the keywords of
        :func:`fsopt.load_dataset`.
    """

    target: str = DEFAULT_TARGET
    positive: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    id: str | None = None
    onehot: bool = False
    missing: str | None = None
    weights: str | None = None
    class_weight: str | tuple[tuple[str, float], ...] | None = None
    sep: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    group: str | None = None

    def __post_init__(self) -> None:
        TEXT.check("target", self.target)
        FLAG.check("onehot", self.onehot)
        for name in ("id", "group", "weights", *SPELLING):
            optional(TEXT).check(name, getattr(self, name))
        for name in LISTS:
            LIST.check(name, getattr(self, name))
        if self.thousands == (self.decimal or "."):
            raise ParameterError(
                f"thousands='{self.thousands}' is the decimal mark too", "name the other with decimal="
            )
        if self.missing is not None:
            word("missing", self.missing, MISSING)

    @classmethod
    def of(cls, *, target: str | None = None, **given: Any) -> Layout:
        """Return the layout of the keywords of :func:`fsopt.load_dataset`; one text stands for a list of one."""
        lists = {name: _texts(name, given.get(name)) for name in LISTS}
        return cls(**{**given, **lists}, target=DEFAULT_TARGET if target is None else target)

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
        """Return the columns of the features among all, in the order of the table.

        Raises DataError where two columns have one name, no feature is left, or a column that the layout names is not
        there, if these are ``required``: samples to be classified need no target.
        """
        count = Counter(names)
        for what in ("target", "id", "group", "weights", "drop"):
            stated = getattr(self, what)
            for name in [stated] if isinstance(stated, str) else stated or ():
                if required and not count[name]:
                    near = get_close_matches(name, names, n=3) or names[-3:]
                    raise DataError(
                        f"there is no column '{name}' among the {len(names)} columns",
                        f"name the column with {what}=, for example one of: {', '.join(near)}",
                    )
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
