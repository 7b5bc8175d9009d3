"""Primal-dual steps on sparse l1-hinge programs: the optimum of the whole program, and bounds that always hold."""

import numpy as np
import pytest
import scipy.sparse as sp
from support import optimum

import fsopt
from fsopt.data import Dataset
from fsopt.drivers.column_generation import driver
from fsopt.drivers.column_generation.driver import column_generation, l1_hinge_steps
from fsopt.drivers.column_generation.l1_hinge_program import L1Hinge


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
        assert program.bound(at.alpha, program.free)[2] <= best * (1 + 1e-9)
    assert min(gaps) <= 1e-3 * best
    assert steps.norm >= np.linalg.norm(np.column_stack([program.Z.toarray(), program.y]), 2) * 0.98
