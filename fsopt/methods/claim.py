"""What a saved fit claims, beside what is recomputed of every fit: the argument of each method's own check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fsopt.data import Dataset
from fsopt.results import Fit

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Claim:
    """A saved fit and its plane.

    Attributes
    ----------
    fit : as it was saved; its details are a file's, so a check raises FileError where they are damaged.
    raw : the data that it was fitted to.
    data : the same in the space of the plane: preprocessed columns, or the columns of the kernel matrix.
    w, b : the plane there.
    value : the method's objective at the plane, recomputed.
    residuals : how far that is from what is claimed, and the plane from feasible; each check adds its own.
    """

    fit: Fit
    raw: Dataset
    data: Dataset
    w: Vector
    b: float
    value: float
    residuals: Mapping[str, float]
