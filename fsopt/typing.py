"""The types of signatures: double precision vectors and matrices, masks, indices, data frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]
"""Numbers (n,) or (p,); shapes stand in the docstrings."""
Matrix: TypeAlias = NDArray[np.float64]
"""Numbers (n, p)."""
Mask: TypeAlias = NDArray[np.bool_]
"""Which entries are meant."""
Indices: TypeAlias = NDArray[np.signedinteger[Any]]
"""Places of samples, features, variables or constraints, from 0."""


class Frame(Protocol):
    """A DataFrame of pandas or polars, by what a type checker without their stubs can know of it."""

    @property
    def columns(self) -> Any:
        """The names of the columns."""

    def rename(self, *args: Any, **keywords: Any) -> Any:
        """Return the same with other names."""

    def __getitem__(self, key: Any, /) -> Any: ...

    def __len__(self) -> int: ...


Samples: TypeAlias = Frame | NDArray[Any] | Sequence[Sequence[float]]
"""Features (n, p) of samples: a data frame, an array, or lists."""
