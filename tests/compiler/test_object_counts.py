"""Models and their arrays have a few objects for each sample and feature, none for each number of the data."""

import gc

import numpy as np
import pytest

import fsopt
from fsopt.compiler import compile_model
from fsopt.data import Dataset
from fsopt.solvers.conic import ConicForm

MODELS = {
    "onsvm": {"c": 1.0},
    "fsp-sub": {"c": 1.0},
    "gmeb-dual": {"r_plus": 3.0, "r_minus": 3.0},
}
EACH = 16
"""Objects at most for each sample and feature."""


def made(slug, size):
    """Return how many objects of the garbage collector a model, its arrays and its conic form of size x size leave."""
    rng = np.random.default_rng(0)
    data = Dataset(rng.standard_normal((size, size)), np.where(np.arange(size) % 2, 1.0, -1.0))
    gc.freeze()  # what is there already is neither counted nor searched
    try:
        before = len(gc.get_objects())
        form = ConicForm(compile_model(fsopt.build(slug, data, **MODELS[slug])))
        gc.collect()
        found = len(gc.get_objects()) - before
    finally:
        gc.unfreeze()
    assert form
    return found


@pytest.mark.parametrize("slug", MODELS)
def test_the_number_of_objects_is_linear_in_samples_and_features(slug):
    small, large = made(slug, 20), made(slug, 60)
    assert small > 20
    assert large - small <= EACH * 2 * (60 - 20)
