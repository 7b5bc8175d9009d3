"""Losses: best intercepts by a second method, conjugates by their definition, upper bounds, errors of an entropy."""

import decimal

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from selection_cases import exact_value
from support import blobs

from fsopt.data.losses import (
    EPS,
    LOGISTIC,
    LOSSES,
    SQUARED_HINGE,
    dual_curvature,
    dual_sizes,
    dual_slopes,
    dual_values,
    value_of_zero,
)


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


def test_the_intercept_between_classes_apart_is_their_middle():
    scores, y = np.array([3.0, 8.0, -1.0, -6.0]), np.array([1.0, 1.0, -1.0, -1.0])
    b = SQUARED_HINGE.intercept(scores, y)
    assert b == pytest.approx(-1.0)
    assert SQUARED_HINGE.total(scores + b, y) == 0.0


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
    np.testing.assert_allclose(
        (dual_slopes(alpha - step, *given) - dual_slopes(alpha + step, *given)) / (2 * step),
        curved,
        rtol=1e-6,
        atol=1e-9,
    )
    np.testing.assert_allclose(term.of(np.array([2, 0])).values(alpha[[2, 0]]), values[[2, 0]])


def test_the_error_of_an_entropy_bounds_its_distance_from_decimals():
    rng = np.random.default_rng(0)
    with decimal.localcontext(decimal.Context(prec=50)):
        for exponent in range(31):
            weights = rng.uniform(0.1, 3.0, 40)
            term = LOGISTIC.term(0.7, np.ones(40), weights)
            near = rng.random(40) * 2.0**-exponent
            alpha = term.caps * np.where(rng.random(40) < 0.5, near, 1.0 - near)
            value, sizes = (part(alpha, *term.each(40)).sum() for part in (dual_values, dual_sizes))
            error = 42 * EPS * sizes
            exact = sum(_entropy(decimal.Decimal(a), decimal.Decimal(c)) for a, c in zip(alpha, term.caps, strict=True))
            assert abs(decimal.Decimal(value) - exact) <= decimal.Decimal(error)
            assert error <= 1e-12 * float(term.caps.sum())


def _entropy(a, c):
    return -sum((t * t.ln() * c for t in (a / c, 1 - a / c) if t), decimal.Decimal(0))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_upper_bound_is_above_all_multipliers_and_the_unit_of_its_grid_is_exact(weighted):
    data = blobs(30, 3, seed=2)
    if weighted:
        data = type(data)(data.X, data.y, weights=np.random.default_rng(1).uniform(0.2, 4.0, data.n))
    zero = value_of_zero(data.y, data.weights)
    assert 0.7 * exact_value(data, np.zeros(3), 0.7, "squared-hinge") == pytest.approx(0.49 * zero, rel=1e-6)
    cap = SQUARED_HINGE.caps(0.7, data.y, data.weights)
    largest = 1.0 if data.weights is None else data.weights.max()
    assert cap >= 2.0 * np.sqrt(0.7 * largest * 0.7 * zero)
    assert float(np.log2(cap / 0.7)).is_integer()


def test_the_slope_of_an_entropy_is_finite_where_a_multiplier_is_rounded_to_its_bound():
    given = LOGISTIC.term(0.7, np.ones(1)).each(1)
    assert -80.0 < dual_slopes(np.array([0.7]), *given)[0] < -36.0
    assert np.isfinite(dual_curvature(np.array([0.7]), *given)[0])
    assert dual_values(np.array([0.0, 0.7]), *given).tolist() == [0.0, 0.0]
