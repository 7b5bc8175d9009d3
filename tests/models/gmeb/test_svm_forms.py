"""Section 5 of Peleg & Meir: the SVM without feature scaling, (18) and (19), and the threshold of its weights."""

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from support import blobs, optimum

import fsopt
from fsopt.compiler.values import values_of


def uneven(seed: int) -> fsopt.Dataset:
    """Return two overlapping classes of 15 and 7 rows, of either sign."""
    data = blobs(30, 3, seed=seed)
    many = 1.0 if seed % 2 else -1.0
    return data.rows(np.r_[np.flatnonzero(data.y == many), np.flatnonzero(data.y == -many)[:7]])


def norm_threshold(data: fsopt.Dataset) -> float:
    """Return the largest C at which (19) has the solution w = 0, by its dual."""
    m = pyo.ConcreteModel()
    smaller = 1.0 if np.sum(data.y > 0) <= np.sum(data.y < 0) else -1.0
    m.mu = pyo.Var(range(data.n), bounds=lambda m, i: (float(data.y[i] == smaller), 1.0))
    m.q = pyo.Var(range(data.p))
    m.combined = pyo.Constraint(
        m.q.index_set(), rule=lambda m, j: m.q[j] == pyo.sum_product(dict(enumerate(data.X[:, j] * data.y)), m.mu)
    )
    m.balance = pyo.Constraint(expr=sum(y * mu for y, mu in zip(data.y.tolist(), m.mu.values(), strict=True)) == 0)
    m.objective = pyo.Objective(expr=sum(q**2 for q in m.q.values()))
    return 0.5 / float(np.sqrt(fsopt.solve(m).objective))


@settings(max_examples=2, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), factor=st.floats(1.05, 10))
def test_the_margin_problem_is_the_norm_svm_by_theorem_20(seed, factor):
    data = uneven(seed)
    c = factor * norm_threshold(data)
    m, norm = optimum("svm-norm", data, c=c)
    gamma = 1.0 / np.linalg.norm(values_of(m.w))
    w, b, xi = gamma * values_of(m.w), gamma * m.b.value, gamma * values_of(m.xi)
    assert np.linalg.norm(w) == pytest.approx(1.0, rel=1e-12)
    assert (data.y * (data.X @ w + b) + xi - gamma).min() >= -1e-6
    mapped = (xi.sum() + 1 / (2 * c)) / gamma
    assert mapped == pytest.approx(norm / c, rel=1e-6)

    def at_margin(inverse):  # convex where the margin is given
        return optimum("rsvm", data, w_cap=inverse**2)[1] + inverse / (2 * c)

    scan = minimize_scalar(at_margin, bounds=(0.3 / gamma, 3 / gamma), method="bounded", options={"xatol": 1e-4})
    assert mapped == pytest.approx(scan.fun, rel=1e-6)
    margin = fsopt.build("svm-margin", data, c=c)
    result = fsopt.solve(margin, "ipopt")
    assert (result.status, result.objective) == ("stationary", pytest.approx(mapped, rel=1e-6))
    assert margin.gamma.value == pytest.approx(gamma, rel=1e-3)
    assert gamma <= margin.gamma.ub / 2


@pytest.mark.parametrize("data", [uneven(1), uneven(2), blobs(20, 4)], ids=["more +1", "more -1", "even"])
def test_the_threshold_is_where_weights_appear(data):
    threshold, fewer = norm_threshold(data), min(np.sum(data.y > 0), np.sum(data.y < 0))
    for factor in (0.3, 0.999):
        m, found = optimum("svm-norm", data, c=factor * threshold)
        assert np.abs(values_of(m.w)).max() <= 1e-5
        assert found == pytest.approx(2 * fewer * factor * threshold, rel=1e-6)
    m, found = optimum("svm-norm", data, c=1.001 * threshold)
    assert np.ptp(data.X @ values_of(m.w)) >= 2 - 1e-4, "w does not grow from 0, it jumps"
    assert found < 2 * fewer * 1.001 * threshold * (1 - 1e-4)
    if 2 * fewer == data.n:
        assert threshold == pytest.approx(1 / (2 * np.linalg.norm(data.X.T @ data.y)), rel=1e-7)


@pytest.mark.parametrize("solver", ["ipopt", "scip"])
def test_below_the_threshold_the_margin_runs_into_its_bound(solver):
    data = uneven(3)
    m = fsopt.build("svm-margin", data, c=0.5 * norm_threshold(data))
    result = fsopt.solve(m, solver)
    assert (result.status, result.bound) == ("feasible", None)
    assert "not attained" in result.message
    assert m.gamma.value == pytest.approx(m.gamma.ub, rel=1e-6)
    assert result.objective > 2 * 7
