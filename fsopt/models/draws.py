"""The drawn data of a model's instances: in the instance library, and for trials of solvers."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.models.registry import MODELS, build
from fsopt.models.spec import Instance
from fsopt.typing import Matrix, Vector

GRID = 64
"""Values in the instance library are multiples of 1 / GRID."""


def two_classes(instance: Instance) -> tuple[Matrix, Vector]:
    """Return X (n, p) and y (n,) of two overlapping Gaussian classes, whose samples alternate.

    Values are independent normal of variance 1, with mean +gap or -gap in the first two features, 0 in the others.
    """
    y = np.where(np.arange(instance.n) % 2 == 0, 1.0, -1.0)
    X = np.random.Generator(np.random.PCG64(instance.seed)).standard_normal((instance.n, instance.p))
    X[:, : min(2, instance.p)] += instance.gap * y[:, None]
    return X, y


def instance_data(slug: str) -> Dataset:
    """Return the data of a model's instance in the library, rounded so that sums and products of them are exact."""
    X, y = two_classes(MODELS[slug].instance)
    return Dataset(np.round(X * GRID) / GRID, y, name=f"{slug}-instance")


def trial_data(slug: str) -> Dataset:
    """Return the data on which solvers are compared on a model, standardised."""
    X, y = two_classes(MODELS[slug].trial)
    return Dataset((X - X.mean(axis=0)) / X.std(axis=0), y, name="conformance")


def build_trial(slug: str) -> pyo.ConcreteModel:
    """Return the tiny instance of a model on which solvers are compared."""
    return build(slug, trial_data(slug), **MODELS[slug].trial.params)
