"""RELIEF: weights by definition, with ties, samples that take turns or have no neighbours."""

import dataclasses

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.data import Dataset
from fsopt.methods.baselines import feature_scores as module
from fsopt.methods.baselines.feature_scores import relief

MIXED = blobs(31, 4, seed=4, gap=0.3)
TIED = Dataset(np.random.default_rng(0).integers(0, 3, size=(40, 3)), np.where(np.arange(40) % 3, 1, -1))


def defined(data, k, turns=None):
    """Return the weights, sample by sample and neighbour by neighbour."""
    turns = range(data.n) if turns is None else turns
    z = data.X / (data.X.max(axis=0) - data.X.min(axis=0))
    weights = np.zeros(data.p)
    for i in turns:
        for sign in (1, -1):
            rest = [r for r in range(data.n) if r != i and data.y[r] == -sign * data.y[i]]
            near = sorted(rest, key=lambda r: sum(abs(z[i] - z[r])))[:k]
            weights += sign * sum(abs(z[i] - z[r]) for r in near) / len(near) / len(turns)
    return weights


@pytest.mark.parametrize("data", [MIXED, TIED], ids=["mixed", "tied"])
@pytest.mark.parametrize("k", [1, 4, 100])
def test_weights_are_those_of_the_definition(data, k, monkeypatch):
    """Samples at the distance of the last neighbour are taken in their order."""
    np.testing.assert_allclose(relief(data, k), defined(data, k), rtol=1e-9)
    monkeypatch.setattr(module, "BLOCK", 70)
    np.testing.assert_allclose(relief(data, k), defined(data, k), rtol=1e-9)


def test_a_part_of_the_samples_takes_its_turn():
    drawn = np.random.default_rng(0).permutation(MIXED.n)[:7]
    np.testing.assert_allclose(relief(MIXED, 3, turns=7), defined(MIXED, 3, drawn), rtol=1e-9)
    np.testing.assert_array_equal(relief(MIXED, 3, turns=MIXED.n), relief(MIXED, 3, turns=10 * MIXED.n))
    fit = fsopt.fit("relief", MIXED, turns=7)
    assert fsopt.verify(fit, MIXED).verified
    assert not fsopt.verify(dataclasses.replace(fit, params={**fit.params, "turns": 8}), MIXED).verified


def test_a_class_of_one_sample_has_no_neighbour_of_its_own():
    data = Dataset(np.array([[0.0, 5.0], [1.0, 5.0], [4.0, 5.0]]), np.array([-1.0, -1.0, 1.0]))
    # To the other class 4/4, 3/4 and 3/4, to the own one 1/4 twice and nothing.
    np.testing.assert_allclose(relief(data, 1), [(4 + 3 + 3 - 1 - 1) / 12, 0.0])
