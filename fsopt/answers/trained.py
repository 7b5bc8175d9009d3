"""What a fit keeps of its training data: names, the map from a table to features, and the scores on them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.common.texts import counted
from fsopt.data import Dataset
from fsopt.data.encoding import Encoding
from fsopt.data.frames import (
    in_pandas,
    is_frame,
    numbers_of,
    refuse_texts,
    sparse_of_frame,
    typed_columns,
    with_texts_as_names,
)
from fsopt.data.given import Table
from fsopt.data.layout import refuse_repeated
from fsopt.data.matrices import column_deviations, finite, is_sparse, parts_of, place
from fsopt.data.validation import as_matrix
from fsopt.errors import DataError
from fsopt.typing import Mask, Matrix

if TYPE_CHECKING:
    from pandas import DataFrame


def fingerprint(data: Dataset) -> str:
    """Return the SHA-256 of X, y and the weights, which ties a saved answer to its data.

    It is that of the text ``(n, p)`` and then of the numbers as little-endian doubles, X sample by sample. Of sparse
    data it is that of their canonical form: the text ``(n, p) sparse``, the ends of the rows and the places of the
    columns as 64-bit integers, and the numbers. Sparse data with the same content agree in it; the same content as a
    dense matrix does not, because methods scale it otherwise.
    """
    digest = hashlib.sha256(f"{data.X.shape}{' sparse' if data.sparse else ''}".encode())
    *places, numbers = parts_of(data.X)
    for part in places:
        digest.update(np.ascontiguousarray(part, dtype="<i8").tobytes())
    digest.update(np.ascontiguousarray(numbers, dtype="<f8").tobytes())
    digest.update(np.ascontiguousarray(data.y, dtype="<f8").tobytes())
    if data.weights is not None:
        digest.update(np.ascontiguousarray(data.weights, dtype="<f8").tobytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Trained:
    """What a fit keeps of its training data.

    Attributes
    ----------
    name, labels : of the data set; ``labels`` are the texts of -1 and +1.
    features : names of its p features.
    deviation : (p,) their standard deviations.
    digest : :func:`fingerprint` of the data set.
    encoding : the map from the columns of a table to the features; None where the columns are the features.
    scores : measures on the training samples.
    """

    name: str
    labels: tuple[str, str]
    features: tuple[str, ...]
    digest: str
    deviation: Sequence[float] = field(default=(), repr=False)
    encoding: Encoding | None = field(default=None, repr=False)
    scores: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, data: Dataset, scores: Mapping[str, float]) -> Trained:
        """Return what a fit keeps of a data set, with its scores there."""
        encoding = None if data.encoded is None else data.encoded.encoding
        deviation = tuple(column_deviations(data.X).tolist())
        return cls(data.name, data.labels, data.features, fingerprint(data), deviation, encoding, scores)

    @classmethod
    def unknown(cls, p: int) -> Trained:
        """Return the description of training data of which only the number of features p is known."""
        return cls("data", ("-1", "+1"), tuple(f"x{j}" for j in range(1, p + 1)), "")

    def samples(self, given: Any, needed: Mask) -> Matrix:
        """Return samples as a matrix (n, p) of the features of the fit, matched by name where they have names.

        Parameters
        ----------
        given : DataFrame, :class:`Dataset`, :class:`fsopt.data.given.Table`, or (n, p) array in the order of the
            fit.
        needed : (p,) features on which a score depends; the others may be missing, and are 0 then.

        Raises
        ------
        DataError : a needed feature is missing, or has a missing or infinite value.
        """
        names = [name for name, need in zip(self.features, needed, strict=True) if need]
        if isinstance(given, Dataset):
            if given.features == self.features:  # encoded by the same map, or not at all
                return given.X
            given = Table(given.X, [], list(given.features), given.encoded and given.encoded.source)
        if isinstance(given, Table):
            if given.source is None and given.features is None:
                return self._positional(given.X)
            if given.zeros:
                return self._sparse(given.X, given.features or (), [])
            if is_sparse(given.X):
                return self._sparse(given.X, given.features or (), names)
            return self._named(given.columns, names)
        if is_frame(given):
            return self._of_frame(in_pandas(given), names)
        return self._positional(given)

    def _of_frame(self, frame: Any, names: Sequence[str]) -> Matrix:
        wanted = names if self.encoding is None else self.encoding.sources(names)
        if list(frame.columns) == list(range(frame.shape[1])):  # a DataFrame of an array, without names
            sparse = sparse_of_frame(frame)
            return self._positional(frame.to_numpy() if sparse is None else sparse)
        frame = with_texts_as_names(frame)
        if self.encoding is None and (sparse := sparse_of_frame(frame)) is not None:
            return self._sparse(sparse, list(frame.columns), names)
        _refuse_absent(list(frame.columns), wanted)
        return self._named(typed_columns(frame[wanted]), names)

    def _named(self, source: DataFrame, names: Sequence[str]) -> Matrix:
        """Return the samples of columns with names, of which only the needed ones are looked at."""
        wanted = names if self.encoding is None else self.encoding.sources(names)
        _refuse_absent(list(source.columns), wanted)
        used, X = source[wanted], np.zeros((len(source), len(self.features)))
        if not wanted:
            return X
        if self.encoding is not None:
            return self._checked(self.encoding.matrix(used), names)
        refuse_texts(used)
        places = {name: j for j, name in enumerate(self.features)}
        for name in wanted:
            X[:, places[name]] = numbers_of(used[name])
        return self._checked(X, names)

    def _sparse(self, X: Any, found: Sequence[str], names: Sequence[str]) -> Matrix:
        """Return sparse samples with names, in the order of the fit; features that they lack are 0."""
        from scipy.sparse import csr_array

        _refuse_absent(found, names)
        places = {name: j for j, name in enumerate(self.features)}
        moved = [(k, places[name]) for k, name in enumerate(found) if name in places]
        rows, columns = np.array(moved, dtype=int).reshape(-1, 2).T
        order = csr_array((np.ones(len(moved)), (rows, columns)), shape=(X.shape[1], len(places)))
        return self._checked(X @ order, names)

    def _positional(self, given: Any) -> Matrix:
        X = as_matrix(given)
        p = len(self.features)
        if X.shape[1] != p:
            raise DataError(
                f"the samples have {counted(X.shape[1], 'feature')}",
                f"give finite values of the {counted(p, 'feature')} of the fit",
            )
        return self._checked(X, self.features)

    def _checked(self, X: Matrix, names: Sequence[str]) -> Matrix:
        bad = [place(X, k) for k in np.flatnonzero(~finite(X)).tolist()]
        if bad:
            rows = sorted({i + 1 for i, _ in bad})
            shown = ", ".join(map(str, rows[:5])) + (" ..." if len(rows) > 5 else "")
            raise DataError(
                f"values that are not finite, missing ones perhaps, in {counted(len(rows), 'sample')}, first in column "
                f"'{self.features[bad[0][1]]}': rows {shown}",
                f"give finite values of the {counted(len(names), 'feature')} of the fit, or fit with missing='mean'",
            )
        return X


def _refuse_absent(found: Sequence[str], wanted: Sequence[str]) -> None:
    there = set(found)
    absent = [name for name in wanted if name not in there]
    if absent:
        more = f" and {len(absent) - 3} more" if len(absent) > 3 else ""
        raise DataError(
            f"the data have no column {', '.join(absent[:3])}{more}",
            "give the columns of the fit, by their names; it needs those with a weight",
        )
    needed = set(wanted)
    refuse_repeated([name for name in found if name in needed])
