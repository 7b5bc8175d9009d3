"""Primal-dual steps on sparse l1-hinge programs: the optimum of the whole program, and bounds that always hold."""

import dataclasses
from importlib import import_module
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from support import optimum

import fsopt
from fsopt.data import Dataset
from fsopt.drivers.column_generation import column_generation, l1_hinge_steps
from fsopt.drivers.l1_hinge_program import L1Hinge
from fsopt.drivers.run import Run
from fsopt.linear.first_order import minimise
from fsopt.linear.logistic_path import LogisticPath

driver = import_module("fsopt.drivers.column_generation")


def sparse(n=60, p=100, k=6, seed=0, scale=1.0):
    """Return data of k numbers in each row, with labels of a noisy score of a few columns."""
    random = np.random.default_rng(seed)
    rows = np.repeat(np.arange(n), k)
    columns = np.concatenate([random.choice(p, k, replace=False) for _ in range(n)])
    X = sp.csr_array((random.exponential(1.0, n * k) + 0.1, (rows, columns)), shape=(n, p))
    score = X @ (random.standard_normal(p) * (random.random(p) < 0.3)) + 0.3 * random.standard_normal(n)
    units = 10.0 ** random.uniform(-scale, scale, p)
    return Dataset(sp.csr_array(X @ sp.diags(units)), np.where(score > np.median(score), 1.0, -1.0))


@pytest.fixture
def by_steps_alone(monkeypatch):
    """Take every sparse program as large, and none as one of few features."""
    monkeypatch.setattr(driver, "SMALL", 0)
    monkeypatch.setattr(driver, "FEW", -1)


@pytest.mark.parametrize(("seed", "c", "scale"), [(0, 1.0, 0.0), (1, 0.2, 0.0), (2, 5.0, 0.5)])
def test_the_optimum_is_that_of_the_linear_program(seed, c, scale, by_steps_alone):
    data = sparse(seed=seed, scale=scale)
    fit = fsopt.fit("onsvm", data, c=c, scale="none")
    assert fit.status is fsopt.Status.OPTIMAL, (fit.stop, fit.gap)
    _, expected = optimum("onsvm", data.with_X(data.X.toarray()), c=c)
    assert fit.objective == pytest.approx(expected, rel=2e-6)
    assert fit.bound <= expected * (1 + 1e-7)
    assert fsopt.verify(fit, data).verified


def test_every_sweep_has_a_bound_below_the_optimum_and_none_is_lost():
    data = sparse(seed=5, scale=0.0)
    program = L1Hinge.of(data, np.ones(data.n), np.ones(data.p))
    best = column_generation(data, np.ones(data.n), np.ones(data.p)).objective
    steps, gaps = l1_hinge_steps(program), []
    for _ in range(60):
        low, high, at = steps.sweep()[0]
        gaps.append(high - low)
        margins = program.margins(at.w, at.b)
        assert program.value(at.w, margins) >= best * (1 - 1e-9)
        assert program.bound(at.alpha)[2] <= best * (1 + 1e-9)
    assert min(gaps) <= 1e-3 * best
    assert steps.norm >= np.linalg.norm(np.column_stack([program.Z.toarray(), program.y]), 2) * 0.98


RNG = np.random.default_rng(3)
X = np.where(RNG.uniform(size=(60, 15)) < 0.3, RNG.exponential(size=(60, 15)), 0.0)
Y = np.where(X[:, :3] @ [1.0, -1.0, 0.5] + 0.2 * RNG.normal(size=60) > 0.1, 1.0, -1.0)
WEIGHTS = RNG.uniform(0.5, 2.0, 60)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize("c", [0.05, 1.0, 20.0])
def test_the_value_is_that_of_the_model(c, weights):
    found = minimise(Dataset(sp.csr_array(X), Y, weights=weights), c=c)
    known = fsopt.solve(fsopt.build("svm", Dataset(X, Y, weights=weights), c=c))
    assert (found.status, found.stop) == ("optimal", "optimal")
    assert found.objective == pytest.approx(known.objective, rel=1e-6)
    assert found.bound == pytest.approx(known.objective, rel=1e-6)


def test_an_end_before_the_optimum_has_a_valid_bound(monkeypatch):
    data = Dataset(sp.csc_matrix(X), Y)
    best = minimise(data).objective
    late = minimise(data, run=Run(time_limit=1e-9))
    assert (late.stop, late.status) == ("time-limit", "feasible")
    monkeypatch.setattr("fsopt.linear.first_order.CLOSED", -1.0)
    monkeypatch.setattr("fsopt.linear.first_order.STALLED", 2)
    stalled = minimise(data)
    assert stalled.stop == "stalled"
    for end in (late, stalled):
        assert end.bound <= best * (1 + 1e-9)
        assert best <= end.objective * (1 + 1e-6)


@pytest.mark.parametrize("indices", [np.int32, np.int64])
def test_large_sparse_data_are_fitted_and_verified_without_a_dense_matrix(indices, monkeypatch):
    rng = np.random.default_rng(0)
    made = sp.csr_array(sp.random(100, 1000, density=0.02, random_state=rng))
    y = np.where(made[:, :100].sum(axis=1) - made[:, 100:200].sum(axis=1) > 0, 1, -1)
    made.indices, made.indptr = made.indices.astype(indices), made.indptr.astype(indices)
    for kind in (sp.csr_array, sp.csr_matrix, sp.csc_array):
        monkeypatch.setattr(kind, "toarray", lambda *_: pytest.fail("a dense matrix was made"))
    monkeypatch.setattr("fsopt.methods.baselines.machines.SMALL", 10_000)
    data = Dataset(made, y)
    fit = fsopt.fit("svm", data, c=0.5, scale="none")
    assert fit.status.value == "optimal"
    assert fsopt.verify(fit, data).numerically
    for false in ({"bound": 1.001 * fit.bound}, {"coef": 1.01 * fit.coef}, {"intercept": fit.intercept + 0.05}):
        assert not fsopt.verify(dataclasses.replace(fit, **false), data).numerically


def test_a_fit_is_the_minimum_for_each_penalty_weight():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((60, 6))
    y = np.where(Z[:, 0] - Z[:, 1] + 0.8 * Z[:, 2] + rng.logistic(size=60) > 0, 1.0, -1.0)
    at = LogisticPath(Z, y, rng.uniform(0.5, 2.0, 60), [np.array([j]) for j in range(6)])
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
