"""Paths of logistic classifiers: their fits, the optimum for few variables, variables of several columns."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from fsopt.linear.logistic_path import LogisticPath, _Model


def problem(n=60, p=6, seed=0, groups=None):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, p))
    y = np.where(Z[:, 0] - Z[:, 1] + 0.8 * Z[:, 2] + rng.logistic(size=n) > 0, 1.0, -1.0)
    return LogisticPath(Z, y, rng.uniform(0.5, 2.0, n), groups or [np.array([j]) for j in range(p)])


def test_a_fit_is_the_minimum_for_each_penalty_weight():
    at = problem()
    columns, cs = np.array([0, 3]), np.array([0.01, 1.0, 100.0])
    found, values = at.fit(columns, cs)
    for theta, value, c in zip(found, values, cs, strict=True):

        def objective(x, c=c):
            losses = np.logaddexp(0.0, -at.y * (at.Z[:, columns] @ x[:-1] + x[-1]))
            return 0.5 * x[:-1] @ x[:-1] + c * at.g @ losses

        best = minimize(objective, np.zeros(3), tol=1e-12)
        assert value == pytest.approx(best.fun, rel=1e-6)
        assert value == pytest.approx(objective(theta), rel=1e-12)


def test_exchanges_find_the_best_pair_that_greedy_steps_miss():
    # Column 0 is nearly 1 + 2 and alone the best; with both 1 and 2 there is less left than with it and either.
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 200))
    y = np.where(a + b + 0.1 * rng.logistic(size=200) > 0, 1.0, -1.0)
    Z = np.column_stack([a + b + 0.5 * rng.standard_normal(200), a, b])
    at = LogisticPath(Z, y, np.ones(200), [np.array([j]) for j in range(3)])
    path = at.path(0.3, 3)
    values = {pair: at.fit(at.columns(pair), np.array([0.3]))[1][0] for pair in combinations(range(3), 2)}
    assert path[1] == (0,)
    assert set(path[2]) == set(min(values, key=values.get)) == {1, 2}
    assert [len(chosen) for chosen in path] == [0, 1, 2, 3]


def test_the_model_of_a_fall_is_exact_to_second_order():
    # With next to no curvature of the loss the quadratic model is F itself.
    at = problem(groups=[np.array([0]), np.array([1, 2]), np.array([3]), np.array([4, 5])])
    c = 1e-4
    theta, value = at.fit(at.columns((0, 3)), np.array([c]))
    falls = _Model(at, (0, 3), theta[0], c).falls()
    for entering in (1, 2):
        after = at.fit(at.columns((0, 3, entering)), np.array([c]))[1][0]
        assert falls[entering] == pytest.approx(value[0] - after, rel=1e-2)
    assert falls[0] < 0 > falls[3]


def test_columns_of_one_variable_enter_together():
    rng = np.random.default_rng(2)
    town = rng.integers(0, 3, 120)
    Z = np.column_stack([rng.standard_normal(120), *(town == k for k in range(3))]).astype(float)
    y = np.where(town == 1, 1.0, -1.0) * np.where(rng.random(120) < 0.1, -1.0, 1.0)
    path = LogisticPath(Z, y, np.ones(120), [np.array([0]), np.arange(1, 4)]).path(0.3, 2)
    assert path == [(), (1,), (1, 0)]
