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
    """A DataFrame, by what a type checker without the stubs of pandas can know of it."""

    columns: Any
    rename: Any


Samples: TypeAlias = Frame | NDArray[Any] | Sequence[Sequence[float]]
"""Features (n, p) of samples: a data frame, an array, or lists."""
