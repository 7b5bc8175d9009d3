"""Section 5 of Peleg & Meir: the SVM without feature scaling, (18) and (19), and the threshold of its weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from support import blobs, optimum

import fsopt
from fsopt.compiler.values import values_of
from fsopt.errors import ParameterError
from fsopt.methods.gmeb.svm_forms import margin_form, norm_threshold


def uneven(seed: int) -> fsopt.Dataset:
    """Return two overlapping classes of 15 and 7 rows, of either sign."""
    data = blobs(30, 3, seed=seed)
    many = 1.0 if seed % 2 else -1.0
    return data.rows(np.r_[np.flatnonzero(data.y == many), np.flatnonzero(data.y == -many)[:7]])


@settings(max_examples=2, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), factor=st.floats(1.05, 10))
def test_the_margin_problem_is_the_norm_svm_by_theorem_20(seed, factor):
    data = uneven(seed)
    c = factor * norm_threshold(data)
    m, norm = optimum("svm-norm", data, c=c)
    w, b, xi, gamma = margin_form(data, values_of(m.w), m.b.value, values_of(m.xi))
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
        with pytest.raises(ParameterError, match=r"no minimiser.*norm_threshold"):
            margin_form(data, values_of(m.w), m.b.value, values_of(m.xi))
    m, found = optimum("svm-norm", data, c=1.001 * threshold)
    assert np.ptp(data.X @ values_of(m.w)) >= 2 - 1e-4, "w does not grow from 0, it jumps"
    assert found < 2 * fewer * 1.001 * threshold * (1 - 1e-4)
    if 2 * fewer == data.n:
        assert threshold == pytest.approx(1 / (2 * np.linalg.norm(data.X.T @ data.y)), rel=1e-7)


def test_the_threshold_and_its_guard_know_the_units_of_the_data():
    data = uneven(5)
    threshold = norm_threshold(data)
    m, _ = optimum("svm-norm", data, c=2 * threshold)
    for unit in (1e-8, 1e8):
        assert norm_threshold(data.with_X(unit * (data.X + 1e5))) == pytest.approx(threshold / unit, rel=1e-6)
        moved, w, rest = data.with_X(unit * data.X), values_of(m.w) / unit, (m.b.value, values_of(m.xi))
        assert margin_form(moved, w, *rest)[-1] > 0
        with pytest.raises(ParameterError):
            margin_form(moved, 1e-7 * w, *rest)


def test_classes_that_cannot_be_told_apart_never_have_weights():
    X = np.random.default_rng(0).standard_normal((6, 3))
    same = fsopt.Dataset(np.vstack([X, X]), np.repeat([1.0, -1.0], 6))
    assert norm_threshold(same) == np.inf
    assert norm_threshold(fsopt.Dataset(np.ones((4, 2)), np.array([1.0, -1.0, 1.0, -1.0]))) == np.inf
    assert optimum("svm-norm", same, c=1e3)[1] == pytest.approx(12e3, rel=1e-6)


@pytest.mark.parametrize("solver", ["ipopt", "scip"])
def test_below_the_threshold_the_margin_runs_into_its_bound(solver):
    data = uneven(3)
    m = fsopt.build("svm-margin", data, c=0.5 * norm_threshold(data))
    result = fsopt.solve(m, solver)
    assert (result.status, result.bound) == ("feasible", None)
    assert "not attained" in result.message
    assert m.gamma.value == pytest.approx(m.gamma.ub, rel=1e-6)
    assert result.objective > 2 * 7
