"""Residuals of what answers state: of a bound, and of several sources together, of which none hides another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def merged(*parts: Mapping[str, float]) -> dict[str, float]:
    """Return residuals of several sources by name; of a name that occurs twice the largest one, NaN before any number.

    A plain union of mappings would keep the last one, so that a residual of 0 hides a large one of the same name.
    """
    found: dict[str, float] = {}
    for part in parts:
        for name, value in part.items():
            found[name] = float(np.maximum(found.get(name, value), value))
    return found


def bound_residual(stated: Any, recomputed: float | None, sign: float) -> float:
    """Return by how much a stated bound claims more than the recomputed one; infinite where one of them is missing."""
    if stated is None or recomputed is None or not np.isfinite(float(stated)):
        return np.inf
    return max(sign * (float(stated) - recomputed), 0.0) / max(1.0, abs(recomputed))
