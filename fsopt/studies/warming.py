"""The first fit of a method in a process, whose imports and first calls are no part of a unit's seconds."""

from __future__ import annotations

from contextlib import suppress
from functools import cache

import numpy as np

from fsopt.data import Dataset
from fsopt.drivers.interruption import uninterrupted
from fsopt.methods.registry import METHODS
from fsopt.studies.methods import study_fit, study_spec

SAMPLES, FEATURES = 20, 4
LIMIT = 10.0
"""Seconds of the first fit; all of them together take less than half a second, imports apart."""


@cache
def warm_up(method: str, solver: str | None) -> None:
    """Fit a method to a few samples, once in a process: later fits find its modules and its solver loaded.

    A method of the user's own is not called for this. An error is that of this fit alone.

    Raises
    ------
    KeyboardInterrupt : also where a loop has turned it into its incumbent.
    """
    if method in METHODS.own:
        return
    with suppress(Exception):  # data or a solver that the method refuses: the unit itself says so
        params = study_spec(method).compare(FEATURES)
        uninterrupted(study_fit(method, _few(), solver=solver, time_limit=LIMIT, **params))


def _few() -> Dataset:
    """Return two classes that overlap, of :data:`SAMPLES` samples and :data:`FEATURES` features."""
    y = np.where(np.arange(SAMPLES) % 2 == 0, 1.0, -1.0)
    X = np.random.default_rng(0).standard_normal((SAMPLES, FEATURES))
    X[:, :2] += 0.4 * y[:, None]
    return Dataset(X, y)
