"""Support vector machines by active sets against an independent one, from any beginning, and along features."""

import numpy as np
import pytest
from support import blobs

from fsopt.data import Dataset
from fsopt.data.drawn import gbd_set_two
from fsopt.data.hyperplanes import hinge, midpoint_intercept
from fsopt.linear import selections
from fsopt.linear.selections import WarmSvm, active_set_svm


def violation(gram, y, caps, alpha):
    """Return by how much an exchange of two multipliers lowers the objective, or bounds and balance are violated."""
    slopes = y * (1.0 - gram @ alpha)
    rises = slopes[np.where(y > 0, alpha < caps, alpha > 0)].max(initial=-np.inf)
    falls = slopes[np.where(y > 0, alpha > 0, alpha < caps)].min(initial=np.inf)
    return max(rises - falls, abs(alpha @ y), -alpha.min(), (alpha - caps).max())


@pytest.mark.parametrize("c", [0.01, 1.0, 300.0])
@pytest.mark.parametrize(("n", "p", "factor"), [(30, 4, 1.0), (20, 60, 1.0), (40, 40, 1e3)])
def test_the_multipliers_satisfy_the_optimality_conditions_from_any_beginning(n, p, factor, c):
    data = blobs(n, p, seed=3, gap=0.3)
    Z = factor * data.X * data.y[:, None]
    gram, caps = Z @ Z.T, np.full(n, c)
    found = active_set_svm(gram, data.y, caps)
    other = active_set_svm(gram, data.y, caps, np.where(data.y > 0, c / np.sum(data.y > 0), c / np.sum(data.y < 0)))
    for alpha in (found, other):
        assert violation(gram, data.y, caps, alpha) <= 1e-7 * max(1.0, 1e-6 * gram.max() * alpha.sum())
    np.testing.assert_allclose(Z.T @ found, Z.T @ other, rtol=1e-6, atol=1e-7 / factor)


def test_samples_that_repeat_or_are_all_zero_end_too():
    data = blobs(12, 2, seed=1, gap=0.1)
    Z = np.vstack([data.X, data.X]) * np.tile(data.y, 2)[:, None]
    y, caps = np.tile(data.y, 2), np.full(24, 5.0)
    alpha = active_set_svm(Z @ Z.T, y, caps)
    single = active_set_svm(Z[:12] @ Z[:12].T, data.y, np.full(12, 10.0))
    np.testing.assert_allclose(Z.T @ alpha, Z[:12].T @ single, atol=1e-6)
    assert active_set_svm(np.zeros((4, 4)), np.array([1.0, 1.0, -1.0, -1.0]), np.ones(4)) is None


@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 2.0, 25)])
def test_machines_along_features_are_those_of_an_independent_machine(weights):
    from sklearn.svm import SVC

    drawn = blobs(25, 30, seed=2, gap=0.3)
    data = Dataset(drawn.X, drawn.y, weights=weights)
    for c in (0.05, 2.0):
        machines = WarmSvm(data, c)
        selection = np.ones(30, dtype=bool)
        for gone in (29, 7, 8, 9, 10, 3, 0, 1, 2, 20, 21, 22, 23, 24, 25, 26):
            selection[gone] = False
            w, value = machines.solve(selection)
            own = SVC(kernel="linear", C=c, tol=1e-10).fit(data.X[:, selection], data.y, sample_weight=weights)
            np.testing.assert_allclose(w[selection], own.coef_[0], atol=1e-5)
            assert not w[~selection].any()
            b = midpoint_intercept(data.X @ w, data.y, weights)
            assert value == pytest.approx(0.5 * w @ w + c * hinge(data.X @ w + b, data.y, weights), rel=1e-9)


def test_one_free_sample_more_than_the_rank_has_a_step_of_full_accuracy():
    """The products of p + 1 samples are singular, the equations with the balance are not."""
    data = blobs(40, 5, seed=5, gap=0.2)
    Z = data.X * data.y[:, None]
    gram, caps = Z @ Z.T, np.full(40, 1e4)
    alpha = active_set_svm(gram, data.y, caps)
    assert np.sum((alpha > 0.0) & (alpha < 1e4)) == 6
    assert violation(gram, data.y, caps, alpha) <= 1e-7


def test_many_samples_that_enter_together_do_not_go_in_a_circle():
    """From 0 at a small C hundreds of multipliers go to their bounds: steps of length 0 let fewer enter."""
    train = gbd_set_two(75, 0, p=150, n=200)[0]
    Z = train.X * train.y[:, None]
    gram, caps = Z @ Z.T, np.full(200, 0.25)
    assert violation(gram, train.y, caps, active_set_svm(gram, train.y, caps)) <= 1e-7


@pytest.mark.parametrize("p", [4, 80])
def test_the_interior_point_has_the_machines_of_the_active_sets_at_a_large_c(p, monkeypatch):
    """Of separable classes the multipliers are far below C: digits lost in the products of the samples are too many."""
    data, every = blobs(30, p, gap=4.0), np.ones(p, dtype=bool)
    monkeypatch.setattr(selections, "LONG", 30)
    w, value = WarmSvm(data, 100.0).solve(every)
    monkeypatch.setattr(selections, "GRAM", 0)
    alone = WarmSvm(data, 100.0)
    assert not alone.few
    found = alone.solve(every)
    assert found[1] == pytest.approx(value, rel=1e-7)
    np.testing.assert_allclose(found[0], w, atol=1e-5 * np.abs(w).max())
