"""From the columns of a table to features: 0/1 features of texts and substitutes of missing values, as learned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.common.memory import NUMBER as SIZE
from fsopt.common.memory import size_limit
from fsopt.data.frames import TEXT, kind_of, numbers_of
from fsopt.data.labels import first_rows, label_text
from fsopt.data.layout import refuse_repeated
from fsopt.data.matrices import canonical, stays_sparse
from fsopt.errors import DataError
from fsopt.typing import Indices, Matrix

if TYPE_CHECKING:
    from pandas import DataFrame, Series


MISSING_HINT = (
    "fit with missing= (mean, median, indicator), which is then used in predictions too, or remove these rows"
)


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
    levels: tuple[str, ...]
    fill: float | str | None
    indicator: bool

    @property
    def shown(self) -> tuple[str, ...]:
        """The texts that have a feature."""
        return self.levels[1:] if len(self.levels) == 2 else self.levels

    @property
    def features(self) -> tuple[str, ...]:
        """The names of its features."""
        own = tuple(f"{self.name}={level}" for level in self.shown) if self.kind == TEXT else (self.name,)
        return (*own, f"{self.name} missing") if self.indicator else own

    def matrix(self, column: Series) -> Matrix:
        """Return the features (n, k) of the values of the column; an unknown text has 0 in all of them."""
        gone = column.isna().to_numpy()
        if self.kind != TEXT and kind_of(column) == TEXT:
            strange = column[~gone].iloc[0]
            raise DataError(f"column '{self.name}' holds texts, such as '{strange}'", "give numbers, as in training")
        if gone.any() and self.fill is None and not self.indicator:
            what = "1 missing value, in row" if gone.sum() == 1 else f"{gone.sum()} missing values, in rows"
            raise DataError(f"column '{self.name}' has {what} {first_rows(gone)}", MISSING_HINT)
        if self.kind == TEXT:
            texts = np.where(gone, self.fill, _texts(column))
            parts = [np.asarray(texts == level, dtype=float) for level in self.shown]
        else:
            values = numbers_of(column)
            parts = [values if self.fill is None else np.where(gone, float(self.fill), values)]
        return np.column_stack([*parts, gone.astype(float)] if self.indicator else parts)


@dataclass(frozen=True)
class Encoding:
    """The map from the columns of a table to features, learned on training samples.

    Attributes
    ----------
    columns : of the table, in the order of the features.
    missing : the treatment of missing values, one of :data:`fsopt.data.layout.MISSING`, or None.
    """

    columns: tuple[EncodedColumn, ...]
    missing: str | None

    @classmethod
    def learned(cls, source: DataFrame, missing: str | None) -> Encoding:
        """Return the encoding that columns of training samples tell, see :func:`fsopt.load_dataset`.

        Raises DataError for a column without any value, or with a missing one that is not treated.
        """
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
        """Return the features (n, p) of columns; those of a column that is not there are 0.

        Features of many categories that would be larger than the limit on files are a sparse matrix. Raises DataError
        for a missing value without a substitute, and for a column of another kind.
        """
        n = len(source)
        if not stays_sparse(n, len(self.features), 2 * n * len(self.columns), size_limit() / SIZE):
            return np.ascontiguousarray(np.hstack(list(self._parts(source))))
        from scipy.sparse import csr_array, hstack

        return canonical(hstack([csr_array(part) for part in self._parts(source)]))  # type: ignore[no-any-return]

    def unseen(self, source: DataFrame) -> dict[str, list[str]]:
        """Return column of texts -> its texts that the training samples did not have; their features are all 0."""
        held = [column for column in self.columns if column.kind == TEXT and column.name in source]
        found = {one.name: sorted({*_texts(source[one.name])} - {*one.levels, None}) for one in held}
        return {name: texts for name, texts in found.items() if texts}

    def _parts(self, source: DataFrame) -> Iterator[Matrix]:
        """Yield the features (n, k) of each column."""
        for column in self.columns:
            if column.name in source:
                yield column.matrix(source[column.name])
            else:
                yield np.zeros((len(source), len(column.features)))

    @property
    def plain(self) -> dict[str, Any]:
        """The encoding as plain data of a saved answer."""
        return {"missing": self.missing, "columns": [asdict(column) for column in self.columns]}


@dataclass(frozen=True, eq=False)
class Encoded:
    """The columns of a table that the features of a data set were made of, and the map from them to the features."""

    encoding: Encoding
    source: DataFrame

    def rows(self, positions: Indices) -> Encoded:
        """Return the same of some samples, with the map as it is."""
        return Encoded(self.encoding, self.source.iloc[positions])


def _learned(name: str, column: Series, missing: str | None) -> EncodedColumn:
    """Return the features of a column."""
    kind, gone = kind_of(column), column.isna().to_numpy()
    present = (column if kind == TEXT else numbers_of(column))[~gone]
    treated = missing not in (None, "drop")
    if not len(present) and (kind == TEXT or treated):
        raise DataError(f"column '{name}' has no value at all", f"leave it out: drop='{name}'")
    indicator = missing == "indicator" and bool(gone.any())
    if kind == TEXT:
        counts = Counter(present.tolist())
        frequent = min(counts, key=lambda text: (-counts[text], text))
        return EncodedColumn(
            name, TEXT, tuple(sorted(counts)), frequent if treated and not indicator else None, indicator
        )
    if not treated:
        return EncodedColumn(name, kind, (), None, False)
    with np.errstate(invalid="ignore", over="ignore"):  # infinite values are reported by Dataset
        fill = np.median(present) if missing == "median" else present.sum() / len(present)
    return EncodedColumn(name, kind, (), float(fill), indicator)


def _texts(column: Series) -> Any:
    """Return a column as texts (n,), None for a missing one: 1 for the number 1.0."""
    if kind_of(column) == TEXT:
        return np.where(column.isna(), None, column.astype(object))
    shown = [None if v != v else label_text(v) for v in numbers_of(column).tolist()]
    return np.array(shown, dtype=object)
