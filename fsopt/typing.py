"""The types of signatures: double precision vectors and matrices, masks, indices, data frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pandas import DataFrame

Vector: TypeAlias = NDArray[np.float64]
"""Numbers (n,) or (p,); shapes stand in the docstrings."""
Matrix: TypeAlias = NDArray[np.float64]
"""Numbers (n, p)."""
Mask: TypeAlias = NDArray[np.bool_]
"""Which entries are meant."""
Indices: TypeAlias = NDArray[np.signedinteger[Any]]
"""Places of samples, features, variables or constraints, from 0."""
Samples: TypeAlias = "DataFrame | NDArray[Any] | Sequence[Sequence[float]]"
"""Features (n, p) of samples: a data frame, an array, or lists."""
