"""The grid of the convex methods: data sets over separation, size, units and penalty weight, and how each fit ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import product
from typing import Any

import numpy as np
from truth.instances import seed_of

import fsopt
from fsopt.errors import FsoptError
from fsopt.methods import large_programs

SEPARATIONS = (0.0, 0.3, 1.5, 4.0)
"""Half the distance of the classes in each of three features, in deviations of a class."""
SIZES = ((12, 3), (40, 5), (120, 10), (30, 60), (300, 20), (600, 6))
UNITS = {
    "one": (0.0, 0.0),
    "small": (-6.0, -6.0),
    "large": (6.0, 6.0),
    "mixed": (-4.0, 4.0),
    "wild": (-8.0, 8.0),
}
"""Exponents between which the units of the features are drawn."""
LEVELS = (1e-3, 1.0, 1e3)
"""The penalty weight C, and the place of the other parameters."""
LARGER = ((2_000, 10), (1_000, 30), (100, 500), (20_000, 30))
"""Sizes of the last 40 data sets; the last size is above the entries from which there is no model."""
PARAMS: Mapping[str, Any] = {
    "svm": lambda level: {"c": level},
    "rsvm": lambda level: {"w_cap": {1e-3: 0.01, 1.0: None, 1e3: 1e4}[level]},
    "onsvm": lambda level: {"c": level},
    "l1-svm": lambda level: {"c": level},
    "svm-norm": lambda level: {"c": level},
    "gmeb": lambda level: {"r_plus": 3.0 * level ** (1 / 3), "r_minus": 5.0},
    "mpm": lambda level: {"ridge": {1e-3: None, 1.0: 0.01, 1e3: 1.0}[level]},
    "l1-mpm": lambda level: {"delta": {1e-3: 0.05, 1.0: 0.3, 1e3: 0.7}[level]},
    "s-mpm": lambda level: {"lam": {1e-3: 0.0, 1.0: 0.05, 1e3: 0.2}[level], "ridge": 0.01},
}
"""Convex method -> its parameters at a level."""


def points() -> list[tuple[float, tuple[int, int], str, float]]:
    """Return the 400 points (separation, size, units, level), those of the larger sizes last."""
    small = list(product(SEPARATIONS, SIZES, UNITS, LEVELS))
    large = [
        (SEPARATIONS[k % 4], LEVELS[k % 3], list(UNITS)[(k // 2) % 5], LARGER[3 if k % 7 == 6 else k % 3])
        for k in range(40)
    ]
    return small + [(separation, size, units, level) for separation, level, units, size in large]


def data_at(point: tuple[float, tuple[int, int], str, float]) -> fsopt.Dataset:
    """Return the data set of a point of the grid: two Gaussian classes, of which every third is rounded."""
    separation, (n, p), units, _ = point
    seed = seed_of(repr(point))
    random = np.random.default_rng(seed)
    y = np.where(random.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X = random.standard_normal((n, p))
    X[:, :3] += separation * y[:, None]
    if seed % 3 == 0:
        X = np.round(X)
    return fsopt.Dataset(X * 10.0 ** random.uniform(*UNITS[units], size=p), y)


@contextmanager
def switches(low: bool) -> Iterator[None]:
    """Let data of every size be solved without a model where ``low``."""
    names = ("INTERIOR", "LONG", "LARGE")
    before = {name: getattr(large_programs, name) for name in names}
    try:
        if low:
            for name in names:
                setattr(large_programs, name, 0)
        yield
    finally:
        for name, value in before.items():
            setattr(large_programs, name, value)


def ending(method: str, point: tuple[float, tuple[int, int], str, float], seconds: float = 30.0) -> dict[str, Any]:
    """Return how a fit at a point of the grid ends: status, stop, numbers and, for an error, its message.

    Where the units are not all 1, every second data set is taken as it is, without standard deviations of 1. Every
    second data set is solved as large data are.
    """
    seed = seed_of(repr(point))
    params = PARAMS[method](point[3])
    if point[2] != "one" and seed % 4 < 2:
        params["scale"] = "none"
    try:
        with switches(seed % 2 == 0):
            fit = fsopt.fit(method, data_at(point), time_limit=seconds, **params)
    except FsoptError as error:
        return {"status": type(error).__name__, "stop": str(error), "params": params}
    return {
        "status": str(fit.status),
        "stop": fit.stop,
        "params": params,
        "objective": fit.objective,
        "bound": fit.bound,
        "solver": fit.solver,
        "warnings": fit.warnings,
        "residuals": dict(fit.certificate.residuals),
        "iterations": fit.iterations,
    }
