"""Stacks of support vector machines: values of Clarabel, cutoffs, weights and frozen samples."""

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.data.losses import DualTerm
from fsopt.linear.batch import solve_batch


def stack(data, selections):
    return np.vstack([(data.X * data.y[:, None]).T, data.y]), np.array([[*s, data.p] for s in selections])


def value(data, selection, c, weights=None):
    part = fsopt.Dataset(data.X[:, selection], data.y, weights=weights)
    return fsopt.solve(fsopt.build("svm", part, c=c), "clarabel").objective


SELECTIONS = [(0, 1), (2, 5), (1, 3), (4, 0)]


WEIGHTS = np.random.default_rng(0).uniform(0.2, 3.0, 40)


@pytest.mark.parametrize(
    ("c", "weights"), [(0.01, None), (100.0, None), (1.0, WEIGHTS)], ids=["0.01", "100", "weighted"]
)
def test_each_value_is_that_of_another_solver(c, weights):
    data = blobs(40, 6, seed=2)
    caps = c * (np.ones(40) if weights is None else weights)
    found = solve_batch(*stack(data, SELECTIONS), DualTerm(c if weights is None else caps), 1e-9)
    assert found.closed.all()
    np.testing.assert_allclose(found.bound, [value(data, s, c, weights) for s in SELECTIONS], rtol=1e-6)
    # The multipliers are feasible, and the hyperplane has the value of the dual.
    assert found.alpha.min() >= 0.0
    assert np.all(found.alpha <= caps)
    np.testing.assert_allclose(found.alpha @ data.y, 0.0, atol=1e-9 * c)
    for s, h, v in zip(SELECTIONS, found.hyperplane, found.bound, strict=True):
        loss = np.maximum(1.0 - data.y * (data.X[:, s] @ h[:-1] + h[-1]), 0.0)
        assert 0.5 * h[:-1] @ h[:-1] + caps @ loss == pytest.approx(v, rel=1e-6)


def test_a_program_above_the_cutoff_ends_with_a_bound_between_the_cutoff_and_its_value():
    data = blobs(40, 6, seed=2)
    values = np.array([value(data, s, 1.0) for s in SELECTIONS])
    cutoff = float(np.sort(values)[1:3].mean())
    found = solve_batch(*stack(data, SELECTIONS), DualTerm(1.0), 1e-9, cutoff)
    above = values > cutoff
    assert above.sum() == 2
    assert np.all(found.bound[above] >= cutoff)
    assert np.all(found.bound <= values * (1 + 1e-7))
    np.testing.assert_allclose(found.bound[~above], values[~above], rtol=1e-6)


def test_frozen_samples_keep_their_multipliers_in_value_and_balance():
    data = blobs(60, 6, seed=5)
    rows, places = stack(data, SELECTIONS)
    whole = solve_batch(rows, places, DualTerm(1.0), 1e-10)
    for k in range(len(SELECTIONS)):
        # Samples at their bounds are frozen there: the optimum of what is left is the optimum.
        at = whole.alpha[k]
        free = (at > 1e-6) & (at < 1.0 - 1e-6)
        free[:10] = True
        frozen = np.where(free, 0.0, np.round(at))
        sums = (rows @ frozen)[places[k : k + 1]]
        part = solve_batch(rows[:, free], places[k : k + 1], DualTerm(1.0), 1e-10, frozen=sums)
        assert part.bound[0] + frozen.sum() == pytest.approx(whole.bound[k], rel=1e-6)
