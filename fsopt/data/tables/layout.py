"""The way from a table to a data set: target, identifier, features, texts, missing values and weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from difflib import get_close_matches
from typing import Any

from fsopt.common.arguments import FLAG, LIST, TEXT, optional, word
from fsopt.errors import DataError, ParameterError, TableError, shown

DEFAULT_TARGET = "label"
MISSING = ("drop", "mean", "median", "indicator")
"""The treatments of missing values."""
UNLABELLED = ("drop", "refuse")
"""The treatments of samples without a label."""
SPELLING = ("sep", "encoding", "decimal", "thousands", "sheet")
"""What is known of a file itself, whatever its columns mean."""
LISTS = ("positive", "drop", "columns", "numbers", "order")
"""Attributes that are lists of texts."""
TABULATOR = ("tab", "\\t")
"""Spellings of a tabulator as a separator."""


@dataclass(frozen=True)
class Layout:
    """The way from a table to a data set: the meaning of its columns, and the weights of its classes.

    Attributes
    ----------
    target : column of the labels.
    positive : the labels that are +1, all others are -1; empty for two labels, of which the larger one is +1.
    columns : the columns of the features; empty for all others.
    class_weight : ``balanced``, or pairs of a label and its weight; None for equal weights.
    drop, id, onehot, sep, missing, weights, encoding, decimal, thousands, sheet, unlabelled, numbers, order : as the
        keywords of :func:`fsopt.load_dataset`; None to find what is not said of a file.
    """

    target: str = DEFAULT_TARGET
    positive: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    id: str | None = None
    onehot: bool = False
    sep: str | None = None
    missing: str | None = None
    weights: str | None = None
    class_weight: str | tuple[tuple[str, float], ...] | None = None
    encoding: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    sheet: str | None = None
    unlabelled: str = "drop"
    numbers: tuple[str, ...] = ()
    order: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        TEXT.check("target", self.target)
        FLAG.check("onehot", self.onehot)
        for name in ("id", "weights", *SPELLING):
            optional(TEXT).check(name, getattr(self, name))
        for name in LISTS:
            LIST.check(name, getattr(self, name))
        word("unlabelled", self.unlabelled, UNLABELLED)
        for order in self.order:
            words = [one.strip() for one in order.split("<")]
            if len(words) < 2 or len({*words, ""}) <= len(words):
                raise ParameterError(f"the order is {shown(order)}", "give different words, as in 'low<middle<high'")
        if not isinstance(self.missing, str | None) or self.missing not in (None, *MISSING):
            raise ParameterError(
                f"missing is {shown(self.missing)}", f"use one of {', '.join(MISSING)}, or nothing (an error)"
            )
        if self.sep is not None and len(self.separator(",")) != 1:
            raise ParameterError(f"the separator is {shown(self.sep)}", "give one character, such as ';', or tab")
        if self.decimal not in (None, ".", ","):
            raise ParameterError(f"the decimal mark is {shown(self.decimal)}", "give '.' or ','")
        if len(self.thousands or "") > 1 or (self.thousands or "") in (*"+-0123456789", self.decimal):
            raise ParameterError(
                f"the separator of thousands is {shown(self.thousands)}", "give one character, such as '.', or none"
            )

    @classmethod
    def of(cls, *, label: str, target: str | None, **given: Any) -> Layout:
        """Return the layout of the keywords of :func:`fsopt.load_dataset`, of which one text stands for a list of one.

        Raises
        ------
        ParameterError : a keyword is of another kind, or ``label`` and ``target`` differ.
        """
        for name, value in (("label", label), ("target", label if target is None else target)):
            TEXT.check(name, value)
        if target is not None and label not in (DEFAULT_TARGET, target):
            raise ParameterError(f"label is '{label}' and target '{target}'", "they are the same: give one of them")
        lists = {name: _texts(name, given.get(name)) for name in LISTS}
        return cls(**{**given, **lists}, target=label if target is None else target)

    @classmethod
    def saved(cls, record: Mapping[str, Any]) -> Layout:
        """Return the layout in a saved answer; one that was saved in Python has none: that of the defaults."""
        return cls(**{k: _tuples(v) for k, v in record.get("layout", {}).items()})

    @property
    def stated(self) -> dict[str, Any]:
        """The attributes that are not at their defaults: the plain data of a saved answer."""
        defaults = {field.name: field.default for field in fields(self)}
        return {k: _lists(v) for k, v in asdict(self).items() if v != defaults[k]}

    def separator(self, own: str) -> str:
        """Return the separator of a text file whose suffix stands for ``own``."""
        return own if self.sep is None else "\t" if self.sep in TABULATOR else self.sep

    def features(self, names: list[str], *, required: bool = True) -> list[str]:
        """Return the columns of the features among all, in the order of the table.

        Parameters
        ----------
        names : of all columns of the table.
        required : whether a column that is named and not there is an error; samples to be classified need no target.

        Raises
        ------
        DataError : a named column is not there, has several parts in this layout, or no feature is left.
        """
        special = [name for name in (self.target, self.id, self.weights) if name is not None]
        count = Counter(names)
        for what in ("target", "id", "weights", "drop", "columns", "numbers"):
            stated = getattr(self, what)
            for name in [stated] if isinstance(stated, str) else stated or ():
                if (count[name] > 1 and what != "drop") or (required and not count[name]):
                    refuse_absent(name, names, what)
        without = {*special, *self.drop}
        twice = [name for name in self.columns if name in without]
        if twice:
            raise DataError(f"column '{twice[0]}' is asked for and left out", "name it once: in columns, or elsewhere")
        left = set(self.columns or names).intersection(names) - without
        if not left:
            only = f"'{names[0]}' is the only column" if len(names) == 1 else "no column is left for the features"
            raise DataError(only, "give a table with features, or drop fewer columns")
        repeated = [name for name in count if name in left and count[name] > 1]
        if repeated:
            hint = "give every feature its own name, or leave them out with drop="
            raise TableError(f"duplicate feature names: {', '.join(repeated)}", hint, {"drop": repeated})
        return [name for name in names if name in left]


def refuse_absent(name: str, names: list[str], what: str) -> None:
    """Raise DataError where a column is not in the table, or is there twice.

    Parameters
    ----------
    what : attribute of the layout that names the column.
    """
    if names.count(name) > 1:
        raise DataError(f"there are {names.count(name)} columns '{name}'", "give every column its own name")
    if name in names:
        return
    near = get_close_matches(name, names, n=3) or names[-3:]
    raise DataError(
        f"there is no column '{name}' among the {len(names)} columns",
        f"name the column with {what}=, for example one of: {', '.join(near)}",
    )


def _texts(name: str, given: object) -> tuple[str, ...]:
    """Return a text or a list of texts as a tuple; numbers, such as labels 0 and 1, become texts."""
    if given is None:
        return ()
    listed = [given] if isinstance(given, str | int | float) else given
    if not isinstance(listed, Iterable):
        raise ParameterError(f"{name} is {shown(given)}", "give a name, or a list of names")
    return tuple(item if isinstance(item, str) else str(item).removesuffix(".0") for item in listed)


def _lists(value: Any) -> Any:
    return [_lists(item) for item in value] if isinstance(value, tuple) else value


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
