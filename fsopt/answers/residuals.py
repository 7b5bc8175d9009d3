"""Residuals of several sources in one mapping, of which none hides another one."""

from __future__ import annotations

from collections.abc import Mapping

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
