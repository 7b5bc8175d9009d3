"""RELIEF: weights by definition, features that only matter together, samples without neighbours."""

import dataclasses
import itertools

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.data import Dataset
from fsopt.methods.baselines import relief as module
from fsopt.methods.baselines.feature_scores import fisher, ks, pearson
from fsopt.methods.baselines.relief import relief

MIXED = blobs(31, 4, seed=4, gap=0.3)


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


@pytest.mark.parametrize("k", [1, 3, 100])
def test_weights_are_those_of_the_definition(k, monkeypatch):
    np.testing.assert_allclose(relief(MIXED, k), defined(MIXED, k), rtol=1e-9)
    monkeypatch.setattr(module, "BLOCK", 70)
    np.testing.assert_allclose(relief(MIXED, k), defined(MIXED, k), rtol=1e-9)


def test_a_part_of_the_samples_takes_its_turn():
    drawn = np.random.default_rng(0).permutation(MIXED.n)[:7]
    np.testing.assert_allclose(relief(MIXED, 3, turns=7), defined(MIXED, 3, drawn), rtol=1e-9)
    np.testing.assert_array_equal(relief(MIXED, 3, turns=MIXED.n), relief(MIXED, 3, turns=10 * MIXED.n))
    fit = fsopt.fit("relief", MIXED, turns=7)
    assert fsopt.verify(fit, MIXED).verified
    assert not fsopt.verify(dataclasses.replace(fit, params={**fit.params, "turns": 8}), MIXED).verified


def test_samples_at_the_distance_of_the_last_neighbour_are_taken_in_their_order():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(40, 3)).astype(float)
    data = Dataset(X, np.where(rng.uniform(size=40) < 0.5, 1, -1))
    for k in (1, 4):
        np.testing.assert_allclose(relief(data, k), defined(data, k), rtol=1e-9)


def test_features_that_only_matter_together_are_found():
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=2)))
    rng = np.random.default_rng(0)
    X = np.column_stack([np.tile(corners, (25, 1)) + 0.05 * rng.normal(size=(100, 2)), rng.normal(size=(100, 3))])
    data = Dataset(X, np.tile(corners.prod(axis=1), 25))
    assert set(fsopt.fit("relief", data, m=2).details["ranking"][:2].tolist()) == {0, 1}
    assert not any(set(np.argsort(-score(data))[:2].tolist()) == {0, 1} for score in (pearson, fisher, ks))


def test_a_class_of_one_sample_has_no_neighbour_of_its_own():
    data = Dataset(np.array([[0.0, 5.0], [1.0, 5.0], [4.0, 5.0]]), np.array([-1.0, -1.0, 1.0]))
    # To the other class 4/4, 3/4 and 3/4, to the own one 1/4 twice and nothing.
    np.testing.assert_allclose(relief(data, 1), [(4 + 3 + 3 - 1 - 1) / 12, 0.0])
