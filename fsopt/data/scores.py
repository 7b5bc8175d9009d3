"""Measures of predicted labels."""

from __future__ import annotations

import numpy as np

from fsopt.typing import Vector


def matthews(y: Vector, labels: Vector) -> float:
    """Return Matthews' correlation coefficient of two label vectors (n,) in {-1, +1}; 0 where one is constant."""
    true, found = y > 0, labels > 0
    both, neither = float(np.sum(true & found)), float(np.sum(~true & ~found))
    only_found, only_true = float(np.sum(~true & found)), float(np.sum(true & ~found))
    product = (both + only_found) * (both + only_true) * (neither + only_found) * (neither + only_true)
    return (both * neither - only_found * only_true) / product**0.5 if product > 0 else 0.0
