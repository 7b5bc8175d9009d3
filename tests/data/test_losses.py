"""Hinge and squared hinge: best intercepts by a second method, conjugates by their definition, upper bounds."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from selection_cases import exact_value
from support import blobs

from fsopt.data.losses import HINGE, LOSSES, SQUARED_HINGE, loss_of, value_of_zero
from fsopt.errors import ParameterError


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("seed", range(12))
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


@pytest.mark.parametrize("weights", [None, np.array([0.5, 2.0, 1.0, 3.0, 0.25])])
def test_the_curvature_is_that_of_the_conjugate(weights):
    # sup_t a t - C_i t^2 = a^2 / (4 C_i) = gamma_i a^2 / 2
    y = np.array([1.0, -1.0, -1.0, 1.0, -1.0])
    gamma = np.broadcast_to(SQUARED_HINGE.curvature(1.5, weights), 5)
    t, a = np.linspace(0.0, 20.0, 200_001), 2.0
    for i, g in enumerate(np.ones(5) if weights is None else weights):
        assert 0.5 * gamma[i] * a * a == pytest.approx(np.max(a * t - 1.5 * g * t**2), rel=1e-6)
    assert HINGE.curvature(1.5, weights) == 0.0
    assert np.all(HINGE.caps(1.5, y, weights) == 1.5 * (np.ones(5) if weights is None else weights))


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


def test_another_word_is_refused():
    with pytest.raises(ParameterError, match="squared-hinge"):
        loss_of("logistic")
