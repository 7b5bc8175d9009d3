"""Intercepts, multipliers and the norm of GMEB against brute force and linear programs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog
from support import blobs

import fsopt
from fsopt.data.hyperplanes import best_intercepts, hinge, midpoint_intercept, project_multipliers
from fsopt.models.gmeb.moments import second_moments
from fsopt.models.gmeb.norm import GmebNorm


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


def test_feasible_multipliers_are_kept():
    alpha, y = np.array([0.75, 0.25, 0.5]), np.array([1.0, -1.0, -1.0])
    np.testing.assert_array_equal(project_multipliers(alpha, y, 1.0), alpha)


def test_hinge_of_known_scores():
    assert hinge(np.array([2.0, 0.5, -0.25]), np.array([1.0, 1.0, 1.0])) == 0.5 + 1.25
    assert hinge(np.array([2.0, -1.0]), np.array([-1.0, -1.0])) == 3.0


# ---------------------------------------------------------------- the norm of GMEB


def theta_roots(data, r_plus, r_minus, thetas):
    """Return the coefficients (k, p) of |w_j| in N(w) for each theta."""
    v_plus, v_minus = ((data.X[data.y == s] ** 2).mean(axis=0) for s in (1.0, -1.0))
    return np.sqrt(np.outer(thetas, v_plus / r_plus) + np.outer(1 - thetas, v_minus / r_minus))


def norm_on_grid(w, data, r_plus, r_minus):
    return (theta_roots(data, r_plus, r_minus, np.linspace(0, 1, 20001)) @ np.abs(w)).max()


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


def least_norm_bound(data, roots):
    """Return a lower bound on N over all hyperplanes of margin 1: a linear program on a grid of theta."""
    p, yX = data.p, data.X * data.y[:, None]
    cost = np.r_[np.zeros(2 * p + 1), 1.0]
    margins = np.column_stack([-yX, yX, -data.y, np.zeros(data.n)])
    norms = np.column_stack([roots, roots, np.zeros(len(roots)), -np.ones(len(roots))])
    sides = np.r_[-np.ones(data.n), np.zeros(len(roots))]
    bounds = [(0, None)] * (2 * p) + [(None, None), (0, None)]
    return linprog(cost, np.vstack([margins, norms]), sides, bounds=bounds).fun


@pytest.mark.parametrize("seed", [0, 1])
def test_separable_data_get_the_hyperplane_of_minimum_norm_and_a_flag(seed):
    data = blobs(24, 4, seed=seed, gap=3.0)
    data = data.with_X(data.X - data.X.mean(axis=0))
    radii = (8.0, 5.0)
    fit = fsopt.fit("gmeb", data, r_plus=radii[0], r_minus=radii[1])
    assert any("separable" in w for w in fit.warnings)
    assert fit.objective == pytest.approx(0.0, abs=1e-6)
    assert hinge(fit.decision_function(data.X), data.y) == pytest.approx(0.0, abs=1e-6)
    norm = norm_on_grid(fit.coef, data, *radii)
    assert norm <= 1.0
    assert fit.details["norm"] == pytest.approx(norm, rel=1e-5)
    bound = least_norm_bound(data, theta_roots(data, *radii, np.linspace(0, 1, 401)))
    assert bound * (1 - 1e-6) <= norm <= bound * (1 + 1e-4)


@pytest.mark.parametrize(("which", "radius"), [("plus", 0.3), ("minus", 4.0)])
def test_gmeb_with_one_radius_is_the_one_norm_svm_of_remark_16(wdbc_std, which, radius):
    data = wdbc_std.rows(slice(None, None, 4))
    data = data.with_X(data.X - data.X.mean(axis=0))
    v = (data.X[data.y == (1.0 if which == "plus" else -1.0)] ** 2).mean(axis=0)
    Z = data.X / np.sqrt(v)
    p, n = data.p, data.n
    yZ = Z * data.y[:, None]
    rows = np.column_stack([-yZ, yZ, -data.y, -np.eye(n)])
    norm = np.r_[np.ones(2 * p), np.zeros(n + 1)]
    bounds = [(0, None)] * (2 * p) + [(None, None)] + [(0, None)] * n
    cost = np.r_[np.zeros(2 * p + 1), np.ones(n)]
    expected = linprog(cost, np.vstack([rows, norm]), np.r_[-np.ones(n), np.sqrt(radius)], bounds=bounds).fun
    radii = {"r_plus": np.inf, "r_minus": np.inf} | {f"r_{which}": radius}
    fit = fsopt.fit("gmeb", data, **radii)
    assert fit.objective == pytest.approx(expected, rel=1e-6)
    assert np.abs(fit.coef * np.sqrt(v)).sum() <= np.sqrt(radius) * (1 + 1e-6)
    assert fit.status == "optimal"
