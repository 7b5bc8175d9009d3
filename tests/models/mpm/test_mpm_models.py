"""The models of Yang & Ju: worst-case accuracies recomputed from the moments of the classes."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import blobs, solved

import fsopt
from fsopt.compiler.values import values_of
from fsopt.methods.mpm.space import accuracy_limit
from fsopt.methods.preprocessing import preprocess
from fsopt.models.mpm import moments as moments_module
from fsopt.models.mpm.moments import Moments


@given(seed=st.integers(0, 10**6), share=st.floats(0.2, 0.95))
@settings(max_examples=3, deadline=None, derandomize=True)
def test_l1_mpm_keeps_its_accuracy_and_a_step_is_no_worse_than_it(seed, share):
    data = blobs(20, 3, seed=seed, gap=0.8)
    moments = Moments.of(data)
    delta = share * accuracy_limit(moments).alpha
    m, result = solved("l1-mpm", data, delta=delta)
    w, b, k = values_of(m.w), m.b.value, np.sqrt(delta / (1 - delta))
    for label, mean in ((1, moments.mean1), (-1, moments.mean2)):
        spread = np.sqrt(w @ np.cov(data.X[data.y == label].T, bias=True) @ w)
        assert label * (mean @ w - b) >= max(1, k * spread) - 1e-6
    assert np.abs(w).sum() == pytest.approx(result.objective, rel=1e-6)
    v = np.array([2.0, -1.0, 0.5])
    m, step = solved("l0-mpm-step", data, delta=delta, alpha=3.0, v=v)
    assert 3 * np.abs(values_of(m.w)).sum() - v @ values_of(m.w) == pytest.approx(step.objective, rel=1e-5)
    assert step.objective <= 3 * np.abs(w).sum() - v @ w + 1e-6


@pytest.mark.parametrize(("name", "own"), [("mpm", {}), ("l1-mpm", {"delta": 0.6}), ("bmpm", {"beta": 0.5})])
def test_a_sparse_factor_of_a_ridge_has_the_optimum_of_the_triangular_one(name, own, monkeypatch):
    data = blobs(12, 30, seed=5, gap=0.8)
    _, dense = solved(name, data, ridge=0.2, **own)
    monkeypatch.setattr(moments_module, "WIDE", 0)
    m, sparse = solved(name, data, ridge=0.2, **own)
    assert len(m.u1) + len(m.u2) == data.n + 2 * data.p
    assert sparse.objective == pytest.approx(dense.objective, rel=1e-6)


def smallest_selection(data, delta):
    """Return the size of the smallest selection whose own alpha* is at least delta."""
    for size in range(1, data.p + 1):
        for chosen in itertools.combinations(range(data.p), size):
            if accuracy_limit(Moments.of(data.columns(list(chosen)))).alpha >= delta:
                return size
    return None


@pytest.mark.parametrize(("seed", "delta"), [(3, 0.3), (8, 0.5)])
def test_the_optimum_is_that_of_brute_force_and_below_dca(seed, delta):
    data, _ = preprocess(blobs(60, 5, seed=seed, gap=0.7), "standard")
    limit = accuracy_limit(Moments.of(data)).alpha
    delta = min(delta, 0.98 * limit)
    result = fsopt.solve(fsopt.build("l0-mpm-exact", data, delta=delta))
    assert result.status == "optimal"
    assert result.objective == pytest.approx(smallest_selection(data, delta), abs=1e-6)
    found = fsopt.fit("l0-mpm", data, delta=delta, scale="none")
    assert len(found.support) >= result.objective - 1e-6
