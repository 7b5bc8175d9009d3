"""What a fit keeps of its training data: names, the map from a table to features, and the scores on them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from fsopt.common.texts import counted
from fsopt.data import Dataset
from fsopt.data.encoding import Encoding, is_frame, refuse_texts, typed_columns, with_names
from fsopt.data.given import Table
from fsopt.data.layout import refuse_repeated
from fsopt.data.matrices import parts_of
from fsopt.data.validation import as_matrix, check_finite
from fsopt.errors import DataError, similar
from fsopt.typing import Indices, Mask, Matrix

if TYPE_CHECKING:
    from pandas import DataFrame


def fingerprint(data: Dataset) -> str:
    """Return the SHA-256 of X, y and the weights, which ties a saved answer to its data.

    It is that of the text ``(n, p)`` and then of the numbers as little-endian doubles, X sample by sample. Of sparse
    data, which methods scale otherwise, it is that of the text ``(n, p) sparse``, the ends of the rows and the places
    of the columns as 64-bit integers, and the numbers.
    """
    digest = hashlib.sha256(f"{data.X.shape}{' sparse' if data.sparse else ''}".encode())
    *places, numbers = parts_of(data.X)
    doubles = [part for part in (numbers, data.y, data.weights) if part is not None]
    for kind, parts in (("<i8", places), ("<f8", doubles)):
        for part in parts:
            digest.update(np.ascontiguousarray(part, dtype=kind).tobytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Trained:
    """What a fit keeps of its training data.

    Attributes
    ----------
    data, labels : name of the data set, and the texts of -1 and +1.
    columns : names of its p features.
    deviation : (p,) their standard deviations.
    data_sha256 : :func:`fingerprint` of the data set.
    encoding : the map from the columns of a table to the features; None where the columns are the features.
    train : measures on the training samples.
    """

    data: str
    labels: tuple[str, str]
    columns: tuple[str, ...]
    data_sha256: str
    deviation: Sequence[float] = field(default=(), repr=False)
    encoding: Encoding | None = field(default=None, repr=False)
    train: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def unknown(cls, p: int) -> Trained:
        """Return the description of training data of which only the number of features p is known."""
        return cls("data", ("-1", "+1"), tuple(f"x{j}" for j in range(1, p + 1)), "")

    def samples(self, given: Any, needed: Mask) -> Matrix:
        """Return samples as a matrix (n, p) of the features of the fit, matched by name where they have names.

        Features that are not needed (p,) may be missing, and are 0 then. Raises DataError where a needed one is
        missing, or has a missing or infinite value.
        """
        names = [name for name, need in zip(self.columns, needed, strict=True) if need]
        if isinstance(given, Dataset) and given.features == self.columns:  # encoded by the same map, or not at all
            return given.X
        held, found = _held(given)
        if found is None:
            X, names = as_matrix(held), list(self.columns)
            if X.shape[1] != len(names):
                fault, hint = f"the samples have {counted(X.shape[1], 'feature')}", f"{counted(len(names), 'feature')}"
                raise DataError(fault, f"give finite values of the {hint} of the fit")
        elif is_frame(held):
            X = self._named(held, names)
        else:
            names = [] if isinstance(given, Table) else names  # of sparse lines: features that are not there are 0
            _refuse_absent(found, names)
            places = self._places(found)
            known = np.flatnonzero(places >= 0)
            order = csr_array((np.ones(len(known)), (known, places[known])), shape=(len(found), len(self.columns)))
            X = held @ order
        hint = f"give finite values of the {counted(len(names), 'feature')} of the fit, or fit with missing='mean'"
        check_finite(X, self.columns, hint)
        return X

    def _places(self, names: Sequence[str]) -> Indices:
        """Return the places of features by their names, -1 for unknown ones."""
        place = {name: j for j, name in enumerate(self.columns)}
        return np.array([place.get(name, -1) for name in names], dtype=np.intp)

    def _named(self, source: DataFrame, names: Sequence[str]) -> Matrix:
        """Return the samples of columns with names, of which only the needed ones are looked at."""
        wanted = names if self.encoding is None else self.encoding.sources(names)
        _refuse_absent(list(source.columns), wanted)
        used, X = typed_columns(source[wanted]), np.zeros((len(source), len(self.columns)))
        if not wanted:
            return X
        if self.encoding is not None:
            return self.encoding.matrix(used)
        refuse_texts(used)
        X[:, self._places(wanted)] = used.to_numpy()
        return X


def _held(given: Any) -> tuple[Any, list[str] | None]:
    """Return samples as a matrix or columns; and names, or None without."""
    if isinstance(given, Dataset) and given.encoded is not None:
        given = given.encoded.source
    elif isinstance(given, Dataset):
        import pandas as pd

        return given.X if given.sparse else pd.DataFrame(given.X, columns=given.features), list(given.features)
    if isinstance(given, Table):
        return given.held, given.features
    if not is_frame(given):
        return given, None
    frame = with_names(given)
    of_array = list(given.columns) == list(range(frame.shape[1]))  # a DataFrame of an array has no names
    return (frame.to_numpy(), None) if of_array else (frame, list(frame.columns))


def _refuse_absent(found: Sequence[str], wanted: Sequence[str]) -> None:
    """Raise DataError for a column that is not there, or that is there twice."""
    there = Counter(found)
    absent = [name for name in wanted if name not in there]
    if absent:
        more = f" and {len(absent) - 3} more" if len(absent) > 3 else ""
        raise DataError(
            f"the data have no column {', '.join(absent[:3])}{more}",
            f"{similar(absent[0], there)} give the columns of the fit with a weight, by their names".strip(),
        )
    refuse_repeated([name for name in wanted for _ in range(there[name])])
