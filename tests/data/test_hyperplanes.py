"""Intercepts, losses, multipliers, measures, the norm of GMEB, kernels: against brute force and other packages."""

import decimal

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from selection_cases import exact_value
from sklearn import metrics
from sklearn.metrics import pairwise
from support import blobs

import fsopt
from fsopt.data import hyperplanes
from fsopt.data.hyperplanes import LOSSES, Kernel, dual_curvature, dual_sizes, dual_slopes, dual_values
from fsopt.errors import ParameterError
from fsopt.models.gmeb.norm import GmebNorm, second_moments


def labels_of(rng, n):
    """Return labels with both classes present."""
    return rng.permutation(np.r_[1.0, -1.0, np.where(rng.random(n - 2) < rng.random(), 1.0, -1.0)])


def brute_force(scores, y):
    """The loss is piecewise linear in b: its minimisers form an interval between two breakpoints."""
    points = np.unique(y - scores)
    losses = np.array([np.maximum(1 - y * (scores + b), 0).sum() for b in points])
    best = points[losses <= losses.min() + 1e-9]
    return best[0], best[-1], losses.min()


@pytest.mark.parametrize("seed", range(50))
def test_best_intercepts_are_the_interval_of_the_optimal_breakpoints_and_their_middle(seed):
    rng, n = np.random.default_rng(seed), 2 + seed % 11
    scores, y = rng.integers(-8, 9, n) * (1.0, 0.25, 1e-3)[seed % 3], labels_of(rng, n)  # with ties
    low, high = hyperplanes.best_intercepts(scores, y)
    expected_low, expected_high, least = brute_force(scores, y)
    assert low == pytest.approx(expected_low, abs=1e-9)
    assert high == pytest.approx(expected_high, abs=1e-9)
    assert hyperplanes.midpoint_intercept(scores, y) == pytest.approx((low + high) / 2, abs=1e-12)
    step = 1e-4  # the slope beside the interval is at least 1 and breakpoints are 1e-3 apart
    for b, beside in ((low, low - step), (high, high + step)):
        assert hyperplanes.hinge(scores + b, y) == pytest.approx(least, abs=1e-9)
        assert hyperplanes.hinge(scores + beside, y) > least + 0.5 * step


@pytest.mark.parametrize("seed", range(50))
def test_projection_of_multipliers_is_dual_feasible_and_leaves_the_lighter_class_alone(seed):
    rng, n, cap = np.random.default_rng(seed), 2 + seed % 11, (0.25, 1.0, 32.0)[seed % 3]
    alpha, y = rng.uniform(-0.5, 1.5, n) * cap, labels_of(rng, n)  # on both sides of [0, cap]
    clipped, before = np.clip(alpha, 0, cap), alpha.copy()
    a = hyperplanes.project_multipliers(alpha, y, cap)
    np.testing.assert_array_equal(alpha, before)
    assert a.min() >= 0.0
    assert np.all(a <= clipped)
    assert abs(y @ a) <= 1e-12 * max(1.0, a.sum())
    sums = {s: clipped[y == s].sum() for s in (1.0, -1.0)}
    lighter = min(sums, key=sums.get)
    np.testing.assert_array_equal(a[y == lighter], clipped[y == lighter])
    np.testing.assert_allclose(hyperplanes.project_multipliers(a, y, cap), a, rtol=1e-14, atol=1e-300)


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
        norm, sigma = size.at(w)[0], size.sigma_of(w)
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
    found = hyperplanes.measures(y, score)
    assert tuple(found) == hyperplanes.MEASURES
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(y, labels))
    assert found["mcc"] == pytest.approx(metrics.matthews_corrcoef(y, labels))
    assert found["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(y, labels))
    assert found["recall"] == pytest.approx(metrics.recall_score(y, labels))
    assert found["auc"] == pytest.approx(metrics.roc_auc_score(y, score))
    assert hyperplanes.measures(y, np.ones(50))["mcc"] == 0.0  # where one is constant


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("seed", range(6))
def test_no_intercept_is_better(loss, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    y = np.where(np.arange(n) % 3, -1.0, 1.0)
    scores = rng.choice([0.1, 1.0, 5.0]) * rng.standard_normal(n) + rng.choice([0.0, 100.0])
    weights = None if seed % 2 else rng.uniform(0.1, 3.0, n)

    def value(b):
        return loss.total(scores + b, y, weights)

    ends = (float((y - scores).min()) - 1.0, float((y - scores).max()) + 1.0)
    best = minimize_scalar(value, bounds=ends, method="bounded", options={"xatol": 1e-12}).fun
    assert value(loss.intercept(scores, y, weights)) <= best * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("weights", [None, np.array([0.5, 2.0, 1.0, 3.0])])
def test_the_term_of_the_dual_is_the_conjugate_of_the_loss_with_its_slopes(name, weights):
    # psi_i(a) is the minimum of the loss of sample i at a margin u, plus a u
    y, alpha = np.array([1.0, -1.0, -1.0, 1.0]), np.array([0.02, 0.3, 0.6, 0.499])
    term = LOSSES[name].term(0.7, y, weights)
    if name != "squared-hinge":
        assert np.all(term.caps == 0.7 * (1.0 if weights is None else weights))
    given = term.each(4)
    values, slopes, curved = (part(alpha, *given) for part in (dual_values, dual_slopes, dual_curvature))
    margins = np.linspace(-40.0, 40.0, 800_001)
    for i in range(4):
        one = 0.7 * (1.0 if weights is None else weights[i])
        at_slope = one * LOSSES[name].total(slopes[i : i + 1], np.ones(1)) + alpha[i] * slopes[i]
        assert values[i] == pytest.approx(at_slope, rel=1e-9, abs=1e-12)
        slacks = np.maximum(1.0 - margins, 0.0)
        loss = np.logaddexp(0.0, -margins) if name == "logistic" else slacks ** LOSSES[name].power
        assert values[i] == pytest.approx(np.min(one * loss + alpha[i] * margins), rel=1e-6)
    step = 1e-6
    differences = (dual_slopes(alpha - step, *given) - dual_slopes(alpha + step, *given)) / (2 * step)
    np.testing.assert_allclose(differences, curved, rtol=1e-6, atol=1e-9)


def test_the_error_of_an_entropy_bounds_its_distance_from_decimals():
    rng = np.random.default_rng(0)
    with decimal.localcontext(decimal.Context(prec=50)):
        for exponent in range(31):
            weights = rng.uniform(0.1, 3.0, 40)
            term = hyperplanes.LOGISTIC.term(0.7, np.ones(40), weights)
            near = rng.random(40) * 2.0**-exponent
            alpha = term.caps * np.where(rng.random(40) < 0.5, near, 1.0 - near)
            value, sizes = (part(alpha, *term.each(40)).sum() for part in (dual_values, dual_sizes))
            error = 42 * hyperplanes.EPS * sizes
            exact = sum(_entropy(decimal.Decimal(a), decimal.Decimal(c)) for a, c in zip(alpha, term.caps, strict=True))
            assert abs(decimal.Decimal(value) - exact) <= decimal.Decimal(error)
            assert error <= 1e-12 * float(term.caps.sum())


def _entropy(a, c):
    return -sum((t * t.ln() * c for t in (a / c, 1 - a / c) if t), decimal.Decimal(0))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_upper_bound_is_above_all_multipliers_and_the_unit_of_its_grid_is_exact(weighted):
    data = blobs(30, 3, seed=2)
    if weighted:
        data = data.weighted(sample_weight=np.random.default_rng(1).uniform(0.2, 4.0, data.n))
    g = np.ones(data.n) if data.weights is None else data.weights
    plus, minus = g[data.y > 0].sum(), g[data.y < 0].sum()
    zero = 4 * plus * minus / (plus + minus)
    assert 0.7 * exact_value(data, np.zeros(3), 0.7, "squared-hinge") == pytest.approx(0.49 * zero, rel=1e-6)
    cap = hyperplanes.SQUARED_HINGE.caps(0.7, data.y, data.weights)
    largest = 1.0 if data.weights is None else data.weights.max()
    assert cap >= 2.0 * np.sqrt(0.7 * largest * 0.7 * zero)
    assert float(np.log2(cap / 0.7)).is_integer()


def test_the_slope_of_an_entropy_is_finite_where_a_multiplier_is_rounded_to_its_bound():
    given = hyperplanes.LOGISTIC.term(0.7, np.ones(1)).each(1)
    assert -80.0 < dual_slopes(np.array([0.7]), *given)[0] < -36.0
    assert np.isfinite(dual_curvature(np.array([0.7]), *given)[0])
    assert dual_values(np.array([0.0, 0.7]), *given).tolist() == [0.0, 0.0]


def test_matrices_agree_with_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    X, Z = rng.standard_normal((7, 3)), rng.standard_normal((5, 3))
    gaussian = Kernel("gaussian", Z, width=0.7).matrix(X)
    np.testing.assert_allclose(gaussian, pairwise.rbf_kernel(X, Z, gamma=1 / (2 * 0.7**2)), rtol=1e-12)
    np.testing.assert_allclose(Kernel("linear", Z).matrix(X), pairwise.linear_kernel(X, Z), atol=1e-15)
    # A large offset of the columns costs distances no digits.
    moved = Kernel("gaussian", X + 2.0**20).matrix(X + 2.0**20)
    np.testing.assert_allclose(moved, Kernel("gaussian", X).matrix(X), atol=1e-8)
    assert (np.diag(moved) == 1).all()


def test_the_linear_kernel_gives_the_hyperplane_of_the_columns() -> None:
    data, new = blobs(40, 5), blobs(200, 5, seed=9).X
    plane = fsopt.fit("mpm", data)
    machine = fsopt.fit("mpm", data, kernel="linear", ridge=1e-9)
    assert machine.details["kappa_limit"] == pytest.approx(plane.details["kappa_limit"], rel=1e-6)
    scores, expected = machine.decision_function(new), plane.decision_function(new)
    np.testing.assert_allclose(scores, expected, atol=1e-4 * np.abs(expected).max())


def test_widths_that_tell_nothing() -> None:
    data = blobs(30, 3)
    with pytest.raises(ParameterError, match="nearly the same values"):
        fsopt.fit("mpm", data, kernel="gaussian", width=1e9)
    fit = fsopt.fit("mpm", data, kernel="gaussian", width=1e-3)
    assert fit.scores(data)["accuracy"] == 1.0
    new = np.random.default_rng(0).standard_normal((5, 3))
    np.testing.assert_allclose(fit.decision_function(new), fit.intercept, atol=1e-12)
    usual = fsopt.fit("mpm", data, kernel="gaussian")
    assert not usual.warnings
    assert usual.kernel is not None
    assert usual.kernel.width == pytest.approx(np.sqrt(data.p / 2))
