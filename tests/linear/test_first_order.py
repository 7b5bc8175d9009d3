"""Primal-dual steps on sparse l1-hinge programs: the optimum of the whole program, and bounds that always hold.

SVMs of sparse data by first-order steps: the optimum of the model, valid bounds at every end, no dense matrix.
"""

import dataclasses
from importlib import import_module

import numpy as np
import pytest
import scipy.sparse as sp
from support import optimum

import fsopt
from fsopt.data import Dataset
from fsopt.drivers.column_generation import column_generation, l1_hinge_steps
from fsopt.drivers.l1_hinge_program import L1Hinge
from fsopt.drivers.run import Run
from fsopt.linear.first_order import minimise

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


def test_samples_of_weight_0_do_not_count(by_steps_alone):
    data, random = sparse(40, 60, seed=3), np.random.default_rng(3)
    costs = np.where(random.random(data.n) < 0.5, 0.0, random.uniform(0.5, 2.0, data.n))
    found = column_generation(data, costs, np.ones(data.p))
    counted = np.flatnonzero(costs)
    part = column_generation(Dataset(data.X[counted], data.y[counted]), costs[counted], np.ones(data.p))
    assert found.status == part.status == "optimal"
    assert found.objective == pytest.approx(part.objective, rel=2e-6)


def test_few_features_are_left_to_restricted_problems(monkeypatch):
    data = sparse(seed=4)
    monkeypatch.setattr(driver, "SMALL", 0)
    found = column_generation(data, np.full(data.n, 0.3), np.ones(data.p))
    assert found.status == "optimal"
    assert found.objective - found.bound <= 1e-9 * found.objective  # steps alone end at 5e-7


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
