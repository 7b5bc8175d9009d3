"""Intercepts and multipliers against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fsopt.planes import best_intercepts, hinge, midpoint_intercept, project_multipliers


@st.composite
def scored_rows(draw):
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


@given(scored_rows())
def test_best_intercepts_are_the_interval_of_the_best_breakpoints(rows):
    scores, y = rows
    low, high = best_intercepts(scores, y)
    expected_low, expected_high, least = brute_force(scores, y)
    assert low == pytest.approx(expected_low, abs=1e-9)
    assert high == pytest.approx(expected_high, abs=1e-9)
    for b in (low, high):
        assert hinge(scores + b, y) == pytest.approx(least, abs=1e-9)


@given(scored_rows())
def test_left_and_right_of_the_interval_is_worse(rows):
    scores, y = rows
    low, high = best_intercepts(scores, y)
    least = hinge(scores + low, y)
    step = 1e-4  # the slope beside the interval is at least 1 and breakpoints are 1e-3 apart
    assert hinge(scores + low - step, y) > least + 0.5 * step
    assert hinge(scores + high + step, y) > least + 0.5 * step


@given(scored_rows())
def test_the_midpoint_is_optimal_and_in_the_middle(rows):
    scores, y = rows
    low, high = best_intercepts(scores, y)
    b = midpoint_intercept(scores, y)
    assert b == pytest.approx((low + high) / 2, abs=1e-12)
    assert hinge(scores + b, y) == pytest.approx(brute_force(scores, y)[2], abs=1e-9)


@given(multipliers())
def test_projected_multipliers_are_dual_feasible(given_):
    alpha, y, cap = given_
    a = project_multipliers(alpha, y, cap)
    assert a.min() >= 0.0
    assert a.max() <= cap
    assert abs(y @ a) <= 1e-12 * max(1.0, a.sum())


@given(multipliers())
def test_projection_only_shrinks_and_leaves_the_lighter_class_alone(given_):
    alpha, y, cap = given_
    clipped = np.clip(alpha, 0, cap)
    a = project_multipliers(alpha, y, cap)
    assert np.all(a <= clipped)
    sums = {s: clipped[y == s].sum() for s in (1.0, -1.0)}
    lighter = min(sums, key=sums.get)
    np.testing.assert_array_equal(a[y == lighter], clipped[y == lighter])


@given(multipliers())
def test_projection_is_idempotent(given_):
    alpha, y, cap = given_
    once = project_multipliers(alpha, y, cap)
    np.testing.assert_allclose(project_multipliers(once, y, cap), once, rtol=1e-14, atol=0)


def test_projection_leaves_its_argument_alone():
    alpha, y = np.array([2.0, -1.0, 0.5]), np.array([1.0, -1.0, -1.0])
    project_multipliers(alpha, y, 1.0)
    np.testing.assert_array_equal(alpha, [2.0, -1.0, 0.5])


def test_feasible_multipliers_are_kept():
    alpha, y = np.array([0.75, 0.25, 0.5]), np.array([1.0, -1.0, -1.0])
    np.testing.assert_array_equal(project_multipliers(alpha, y, 1.0), alpha)


def test_hinge_of_known_scores():
    assert hinge(np.array([2.0, 0.5, -0.25]), np.array([1.0, 1.0, 1.0])) == 0.5 + 1.25
    assert hinge(np.array([2.0, -1.0]), np.array([-1.0, -1.0])) == 3.0
