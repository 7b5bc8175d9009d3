"""Parts of the synthetic data: random labels, generators, and the check of whole numbers."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from fsopt.errors import ParameterError, shown
from fsopt.typing import Vector


def signs(rng: np.random.Generator, n: int) -> Vector:
    """Return n independent labels, -1 or +1 with probability 1/2."""
    return np.where(rng.random(n) < 0.5, 1.0, -1.0)


def generator(seed: int) -> np.random.Generator:
    """Return the generator of a seed; raises ParameterError for a seed that is not a whole number >= 0."""
    whole("seed", seed, 0)
    return np.random.default_rng(seed)


def whole(name: str, value: int, low: int, high: int | None = None) -> None:
    """Raise ParameterError for a value that is not a whole number from low to high."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or value < low or (high is not None and value > high):
        allowed = f"at least {low}" if high is None else f"{low} to {high}"
        raise ParameterError(f"{name} is {shown(value)}", f"{name} is a whole number, {allowed}")
