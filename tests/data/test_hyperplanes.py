"""Intercepts, multipliers, measures and the norm of GMEB against brute force and other packages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn import metrics

from fsopt.data.hyperplanes import MEASURES, best_intercepts, hinge, measures, midpoint_intercept, project_multipliers
from fsopt.models.gmeb.norm import GmebNorm, second_moments


@st.composite
def scored_samples(draw):
    """Scores on a coarse or a fine grid (ties matter) and labels with both classes present."""
    n = draw(st.integers(2, 12))
    grid = draw(st.sampled_from([1.0, 0.25, 1e-3]))
    scores = draw(arrays(float, n, elements=st.integers(-8, 8).map(float))) * grid
    y = np.where(draw(arrays(bool, n)), 1.0, -1.0)
    first = draw(st.integers(0, n - 2))
    y[first], y[first + 1] = 1.0, -1.0
    return scores, y


@st.composite
def multipliers(draw):
    """Multipliers that may leave [0, cap] on both sides, with labels and the cap."""
    n = draw(st.integers(2, 12))
    cap = draw(st.sampled_from([0.25, 1.0, 32.0]))
    alpha = draw(arrays(float, n, elements=st.floats(-0.5, 1.5))) * cap
    y = np.where(draw(arrays(bool, n)), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return alpha, y, cap


def brute_force(scores, y):
    """The loss is piecewise linear in b: its minimisers form an interval between two breakpoints."""
    points = np.unique(y - scores)
    losses = np.array([np.maximum(1 - y * (scores + b), 0).sum() for b in points])
    best = points[losses <= losses.min() + 1e-9]
    return best[0], best[-1], losses.min()


@settings(max_examples=50)
@given(scored_samples())
def test_best_intercepts_are_the_interval_of_the_optimal_breakpoints_and_their_middle(samples):
    scores, y = samples
    low, high = best_intercepts(scores, y)
    expected_low, expected_high, least = brute_force(scores, y)
    assert low == pytest.approx(expected_low, abs=1e-9)
    assert high == pytest.approx(expected_high, abs=1e-9)
    assert midpoint_intercept(scores, y) == pytest.approx((low + high) / 2, abs=1e-12)
    step = 1e-4  # the slope beside the interval is at least 1 and breakpoints are 1e-3 apart
    for b, beside in ((low, low - step), (high, high + step)):
        assert hinge(scores + b, y) == pytest.approx(least, abs=1e-9)
        assert hinge(scores + beside, y) > least + 0.5 * step


@settings(max_examples=50)
@given(multipliers())
def test_projection_of_multipliers_is_dual_feasible_and_leaves_the_lighter_class_alone(drawn):
    alpha, y, cap = drawn
    clipped, before = np.clip(alpha, 0, cap), alpha.copy()
    a = project_multipliers(alpha, y, cap)
    np.testing.assert_array_equal(alpha, before)
    assert a.min() >= 0.0
    assert np.all(a <= clipped)
    assert abs(y @ a) <= 1e-12 * max(1.0, a.sum())
    sums = {s: clipped[y == s].sum() for s in (1.0, -1.0)}
    lighter = min(sums, key=sums.get)
    np.testing.assert_array_equal(a[y == lighter], clipped[y == lighter])
    np.testing.assert_allclose(project_multipliers(a, y, cap), a, rtol=1e-14, atol=1e-300)


def test_hinge_of_known_scores():
    assert hinge(np.array([2.0, 0.5, -0.25]), np.array([1.0, 1.0, 1.0])) == 0.5 + 1.25
    assert hinge(np.array([2.0, -1.0]), np.array([-1.0, -1.0])) == 3.0


def norm_on_grid(w, data, r_plus, r_minus):
    """Return the largest sum of the coefficients of |w_j| in N(w) over theta."""
    v_plus, v_minus = ((data.X[data.y == s] ** 2).mean(axis=0) for s in (1.0, -1.0))
    thetas = np.linspace(0, 1, 20001)
    return (np.sqrt(np.outer(thetas, v_plus / r_plus) + np.outer(1 - thetas, v_minus / r_minus)) @ np.abs(w)).max()


def test_gmeb_norm_is_the_largest_over_theta(wdbc_std):
    rng = np.random.default_rng(0)
    for radii in ((3.0, 3.0), (1.2, 5.0), (9.0, 0.5)):
        w = rng.standard_normal(wdbc_std.p) * rng.integers(0, 2, wdbc_std.p)
        size = GmebNorm.of(wdbc_std, *radii)
        norm, sigma = size.at(w)[0], size.scales(w)
        assert norm == pytest.approx(norm_on_grid(w, wdbc_std, *radii), rel=1e-7)
        v_plus, v_minus = second_moments(wdbc_std)
        assert np.sum(w[w != 0] ** 2 / sigma[w != 0]) == pytest.approx(norm**2, rel=1e-6)
        assert max(v_plus @ sigma / radii[0], v_minus @ sigma / radii[1]) == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize("seed", range(2))
def test_measures_agree_with_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(50) < 0.3, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    score = np.round(rng.standard_normal(50) + 0.5 * y, 1)  # with ties
    labels = np.where(score > 0, 1.0, -1.0)
    found = measures(y, score)
    assert tuple(found) == MEASURES
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(y, labels))
    assert found["mcc"] == pytest.approx(metrics.matthews_corrcoef(y, labels))
    assert found["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(y, labels))
    assert found["recall"] == pytest.approx(metrics.recall_score(y, labels))
    assert found["auc"] == pytest.approx(metrics.roc_auc_score(y, score))
    assert measures(y, np.ones(50))["mcc"] == 0.0  # where one is constant
