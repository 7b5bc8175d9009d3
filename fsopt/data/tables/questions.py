"""What a table leaves open, asked all at once: target, classes, texts, numbers in texts, and missing values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fsopt.data.tables.columns import (
    HINT,
    TEXT,
    as_numbers,
    is_missing,
    kind_of,
    label_text,
    listed,
    no_number,
    some_numbers,
)
from fsopt.data.tables.layout import DEFAULT_TARGET, MISSING, Layout
from fsopt.errors import DataError, TableError
from fsopt.typing import Indices

if TYPE_CHECKING:
    from pandas import DataFrame, Series

MOST_LEVELS = 100
"""Largest number of different texts in a column of categories."""
FEW_ROWS = 10
"""Rows up to which each may have a text of its own."""
MOST_CLASSES = 20
"""Largest number of different labels of which one may be asked for."""


class Question(NamedTuple):
    """What is open, a remedy, and the keywords of :func:`fsopt.load_dataset` that answer it, for example."""

    fault: str
    remedy: str
    answer: dict[str, Any]


def error_of(questions: Sequence[Question]) -> TableError:
    """Return the error that asks all questions, with the answers together."""
    answer: dict[str, Any] = {}
    for one in questions:
        answer |= {name: [*answer.get(name, []), *v] if isinstance(v, list) else v for name, v in one.answer.items()}
    if len(questions) == 1:
        return TableError(questions[0].fault, questions[0].remedy, answer)
    asked = "; ".join(f"({k}) {one.fault}: {one.remedy}" for k, one in enumerate(questions, start=1))
    return TableError(f"{len(questions)} questions: {asked}", "", answer)


def labelled(labels: Sequence[str], layout: Layout) -> tuple[Indices, str]:
    """Return the places of the samples with a label, and a sentence on the others, empty where there are none.

    Raises
    ------
    DataError : no sample has a label, or one has none and the layout refuses it.
    """
    gone = np.array([is_missing(text) for text in labels], dtype=bool)
    without = np.flatnonzero(gone)
    if not without.size:
        return np.arange(len(labels)), ""
    rows = ", ".join(str(i + 1) for i in without[:5]) + (" ..." if len(without) > 5 else "")
    fault = f"{len(without)} of {len(labels)} rows have no label"
    if gone.all():
        raise DataError(fault, "choose another column with target=")
    if layout.unlabelled == "refuse":
        raise DataError(f"{fault}: {rows}", "unlabelled='drop' leaves them out")
    return np.flatnonzero(~gone), f"{fault} and are left out: {rows}"


def outcomes_of(frame: DataFrame, target: str) -> tuple[str, ...]:
    """Return columns with two values, one of which may be the target that a table lacks.

    The one with the most similar name comes first, then the last one.
    """
    two = [str(name) for name, column in frame.items() if _values(column) == 2][::-1]
    near = get_close_matches(target, two, n=1) if target != DEFAULT_TARGET else []
    return tuple(dict.fromkeys([*near, *two]))


def _values(column: Series) -> int:
    texts = column.dropna().unique().tolist()
    return len({label_text(text).casefold() for text in texts if not is_missing(str(text))})


def about_target(outcomes: Sequence[str], target: str) -> Question:
    """Return the question about a target that is not in the table, in whose place the first of these is proposed."""
    remedy = f"name the column with target=, for example one of: {', '.join(outcomes[:5])}"
    return Question(f"there is no column '{target}' among the columns", remedy, {"target": outcomes[0]})


def about_classes(error: DataError, labels: Sequence[str]) -> Question:
    """Return the question of an error that says how many classes there are; the rarest of several is proposed."""
    counts = Counter(labels)
    rarest = min(sorted(counts), key=counts.__getitem__)
    return Question(error.message, error.hint, {"positive": [rarest]} if 2 < len(counts) <= MOST_CLASSES else {})


def identifiers(source: DataFrame) -> dict[str, str]:
    """Return column -> sentence, for columns of texts that are no category: identifiers and free texts."""
    found = {}
    for name in source:
        present = source[name].dropna().tolist() if kind_of(source[name]) == TEXT else []
        levels = len({*present})
        if levels > min(MOST_LEVELS, max(FEW_ROWS, len(present) // 2)) and not some_numbers(present):
            found[name] = f"'{name}' ({levels} different texts in {len(source)} rows, such as '{present[0]}')"
    return found


def about_columns(source: DataFrame, layout: Layout, places: Sequence[str]) -> Iterator[Question]:
    """Yield the questions about numbers in texts, texts, and missing values in the columns of the features."""
    kinds = {name: kind_of(source[name]) for name in source}
    texts = {name: source[name].dropna().tolist() for name, kind in kinds.items() if kind == TEXT}
    amounts = {name: as_numbers(source[name], name, places) for name, cells in texts.items() if some_numbers(cells)}
    if amounts:
        first, example = next(iter(amounts)), next(sentence for _, sentence in amounts.values())
        fault = no_number(first, source[first], places) + _more(list(amounts))
        yield Question(fault, f"numbers= takes the numbers in texts ({example})", {"numbers": list(amounts)})
    plain = [name for name, cells in texts.items() if cells and name not in amounts]
    if plain and not layout.onehot:
        fault = no_number(plain[0], source[plain[0]], places) + _more(plain)
        yield Question(fault, HINT, {"onehot": True})
    gone = source.assign(**{name: values for name, (values, _) in amounts.items()}).isna()
    empty = [name for name in source if gone[name].all()]
    if empty:
        yield Question(
            f"column '{empty[0]}' has no value at all{_more(empty)}",
            f"drop='{empty[0]}' leaves it out",
            {"drop": empty},
        )
    gaps = gone.drop(columns=empty).to_numpy()
    if gaps.any() and layout.missing is None:
        row, column = np.argwhere(gaps)[0]
        where = f"the first in {places[row]}, column '{gone.columns.drop(empty)[column]}'"
        count, wide = int(gaps.sum()), int(gaps.any(axis=0).sum())
        fault = f"{count} missing value{'s' * (count > 1)} in {wide} column{'s' * (wide > 1)}, {where}"
        remedy = f"missing= ({', '.join(MISSING[:-1])} or {MISSING[-1]}) treats missing values"
        yield Question(fault, remedy, {"missing": "median"})


def _more(names: Sequence[str]) -> str:
    """Return what is said of the columns beside the first one."""
    return f", and so in {listed(names[1:])}" if names[1:] else ""
