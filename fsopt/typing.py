"""The array types of signatures: double precision vectors and matrices, masks, and indices."""

from __future__ import annotations

from typing import Any, TypeAlias

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
