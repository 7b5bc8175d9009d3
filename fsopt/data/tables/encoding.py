"""From the columns of a table to features: 0/1 features of texts and substitutes of missing values, as learned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from fsopt.common.budget import size_limit
from fsopt.data.matrices import canonical, stays_sparse
from fsopt.data.tables.content import NUMBER as SIZE
from fsopt.data.tables.source import DATE, NUMBER, TEXT, Column, Source, absent, refuse_text, some_numbers, text_column
from fsopt.errors import DataError
from fsopt.typing import Indices, Matrix

MOST_LEVELS = 100
"""Largest number of different texts in a column of categories."""
FEW_ROWS = 10
"""Rows up to which each may have a text of its own."""


@dataclass(frozen=True)
class EncodedColumn:
    """The features of one column.

    Attributes
    ----------
    name, kind : of the column in the table.
    levels : the different texts of a column of texts, sorted. Two make one feature, which is 1 for the second; more
        make one feature each.
    fill : the value in place of a missing one; None where a missing value is an error, or, with an indicator, where
        the features of a column of texts are all 0.
    indicator : whether a feature tells where the value is missing.
    """

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    fill: float | str | None = None
    indicator: bool = False

    @property
    def features(self) -> tuple[str, ...]:
        """The names of its features."""
        shown = self.levels[1:] if len(self.levels) == 2 else self.levels
        own = tuple(f"{self.name}={level}" for level in shown) if self.kind == TEXT else (self.name,)
        return (*own, f"{self.name} missing") if self.indicator else own

    def matrix(self, values: Column) -> Matrix:
        """Return the features (n, k) of the values of the column; an unknown text has 0 in all of them."""
        gone = absent(values)
        if gone.any() and self.fill is None and not self.indicator:
            _refuse_missing(self.name, gone)
        if self.kind == TEXT:
            shown = self.levels[1:] if len(self.levels) == 2 else self.levels
            filled = values.copy()
            filled[gone] = self.fill
            parts = [np.asarray(filled == level, dtype=float) for level in shown]
        else:
            parts = [np.where(gone, float(self.fill), values) if self.fill is not None else values]
        return np.column_stack([*parts, gone.astype(float)] if self.indicator else parts)


@dataclass(frozen=True)
class Encoding:
    """The map from the columns of a table to features, learned on training samples.

    Attributes
    ----------
    columns : of the table, in the order of the features.
    missing : the treatment of missing values, one of :data:`fsopt.data.tables.layout.MISSING`, or None.
    """

    columns: tuple[EncodedColumn, ...]
    missing: str | None

    @property
    def features(self) -> tuple[str, ...]:
        """The names of all features."""
        return tuple(name for column in self.columns for name in column.features)

    def sources(self, features: Collection[str]) -> list[str]:
        """Return the columns of the table that these features are made of."""
        return [column.name for column in self.columns if not set(features).isdisjoint(column.features)]

    def matrix(self, source: Source) -> Matrix:
        """Return the features (n, p) of a source; those of a column that it lacks are 0.

        Features of many categories that would be larger than the limit on files are a sparse matrix.

        Raises
        ------
        DataError : a value is missing and the training samples tell no substitute, or a column is of another kind.
        """
        p = len(self.features)
        if not stays_sparse(source.n, p, 2 * source.n * len(self.columns), size_limit() / SIZE):
            return np.ascontiguousarray(np.hstack(list(self._parts(source))))
        from scipy.sparse import csr_array, hstack

        return canonical(hstack([csr_array(part) for part in self._parts(source)]))  # type: ignore[no-any-return]

    def unseen(self, source: Source) -> dict[str, list[str]]:
        """Return column of texts -> its texts that the training samples did not have; their features are all 0."""
        levels = {column.name: column.levels for column in self.columns if column.kind == TEXT}
        found = {}
        for name, values, kind in zip(source.names, source.values, source.kinds, strict=True):
            if name in levels:
                texts = values if kind == TEXT else _as_texts(values)
                found[name] = sorted(set(texts[~absent(texts)].tolist()) - set(levels[name]))
        return {name: texts for name, texts in found.items() if texts}

    def _parts(self, source: Source) -> Iterator[Matrix]:
        """Yield the features (n, k) of each column."""
        places = {name: k for k, name in enumerate(source.names)}
        for column in self.columns:
            if column.name not in places:
                yield np.zeros((source.n, len(column.features)))
                continue
            k = places[column.name]
            yield column.matrix(_as_kind(column, source.values[k], source.kinds[k]))

    @property
    def plain(self) -> dict[str, Any]:
        """The encoding as plain data of a saved answer."""
        return {"missing": self.missing, "columns": [asdict(column) for column in self.columns]}

    @classmethod
    def of_plain(cls, record: Mapping[str, Any]) -> Encoding:
        """Return the encoding of plain data, the inverse of :attr:`plain`."""
        columns = [{**entry, "levels": tuple(entry["levels"])} for entry in record["columns"]]
        return cls(tuple(EncodedColumn(**entry) for entry in columns), record["missing"])


@dataclass(frozen=True, eq=False)
class Encoded:
    """The columns of a table that the features of a data set were made of.

    Attributes
    ----------
    encoding : the map from the columns to the features.
    source : the columns.
    """

    encoding: Encoding
    source: Source

    def rows(self, positions: Indices) -> Encoded:
        """Return the same of some samples, with the map as it is."""
        return Encoded(self.encoding, self.source.rows(positions))


def learn(source: Source, missing: str | None, places: Sequence[str] | None = None) -> Encoding:
    """Return the encoding that training samples tell: the levels of texts, and the substitutes of missing values.

    Parameters
    ----------
    source : of the training samples.
    missing : ``mean`` and ``median`` substitute those of a column of numbers; ``indicator`` substitutes the mean and
        adds a feature for each column with missing values. A column of texts gets its most frequent one, or with
        ``indicator`` none. None makes a missing value an error.
    places : of the rows, for messages.

    Raises
    ------
    DataError : a column has no value at all, texts among numbers, or too many different texts.
    """
    rows = [f"row {i}" for i in range(1, source.n + 1)] if places is None else places
    learned = [
        _texts(name, values, missing, rows) if kind == TEXT else _numbers(name, kind, values, missing)
        for name, values, kind in zip(source.names, source.values, source.kinds, strict=True)
    ]
    encoding = Encoding(tuple(learned), missing)
    twice = [name for name, count in Counter(encoding.features).items() if count > 1]
    if twice:
        raise DataError(f"two features would be called '{twice[0]}'", "give the columns other names")
    return encoding


def _numbers(name: str, kind: str, values: Column, missing: str | None) -> EncodedColumn:
    gone = absent(values)
    if missing in (None, "drop"):
        if gone.any():
            _refuse_missing(name, gone)
        return EncodedColumn(name, kind)
    if gone.all():
        raise DataError(f"column '{name}' has no value at all, so no {missing}", f"leave it out: drop='{name}'")
    with np.errstate(invalid="ignore", over="ignore"):  # infinite values are reported by Dataset
        fill = np.median(values[~gone]) if missing == "median" else values[~gone].sum() / (~gone).sum()
    return EncodedColumn(name, kind, (), float(fill), missing == "indicator" and bool(gone.any()))


def _texts(name: str, values: Column, missing: str | None, places: Sequence[str]) -> EncodedColumn:
    gone = absent(values)
    counts = Counter(values[~gone].tolist())
    if some_numbers(values):
        refuse_text(name, values, places, "correct these cells; a missing value is empty, ?, nan or NA")
    if len(counts) > MOST_LEVELS or len(counts) > max(FEW_ROWS, (~gone).sum() // 2):
        raise DataError(
            f"column '{name}' has {len(counts)} different texts in {len(values)} rows, such as "
            f"'{next(iter(counts))}': an identifier or free text, not a category",
            f"id='{name}' keeps it beside the predictions, drop='{name}' leaves it out",
        )
    if not counts:
        raise DataError(f"column '{name}' has no value at all", f"leave it out: drop='{name}'")
    if gone.any() and missing in (None, "drop"):
        _refuse_missing(name, gone)
    indicator = missing == "indicator" and bool(gone.any())
    frequent = None if missing in (None, "drop") or indicator else min(counts, key=lambda text: (-counts[text], text))
    return EncodedColumn(name, TEXT, tuple(sorted(counts)), frequent, indicator)


def _refuse_missing(name: str, gone: Column) -> None:
    first = ", ".join(str(i + 1) for i in np.flatnonzero(gone)[:5]) + (" ..." if gone.sum() > 5 else "")
    what = "1 missing value, in row" if gone.sum() == 1 else f"{int(gone.sum())} missing values, in rows"
    raise DataError(
        f"column '{name}' has {what} {first}",
        "fit with missing= (mean, median, indicator), which is then used in predictions too, or remove these rows",
    )


def _as_kind(column: EncodedColumn, values: Column, kind: str) -> Column:
    """Return the values of a column as the kind that it was learned as."""
    if column.kind == TEXT and kind != TEXT:
        return _as_texts(values)
    if column.kind != TEXT and kind == TEXT:
        refuse_text(
            column.name, values, [f"row {i}" for i in range(1, len(values) + 1)], "give numbers, as in training"
        )
    if not absent(values).all() and (column.kind == DATE) != (kind == DATE):
        held = {NUMBER: "numbers", DATE: "dates"}
        raise DataError(
            f"column '{column.name}' holds {held[kind]}, it held {held[column.kind]} in training", "give the same"
        )
    return values


def _as_texts(values: Column) -> Column:
    """Return numbers as texts."""
    return text_column([None if gone else _shown(v) for v, gone in zip(values.tolist(), absent(values), strict=True)])


def _shown(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def as_source(X: Matrix, names: Sequence[str]) -> Source:
    """Return the source of numbers X (n, p), NaN for a missing value."""
    return Source(tuple(names), tuple(X.T), (NUMBER,) * len(names))
