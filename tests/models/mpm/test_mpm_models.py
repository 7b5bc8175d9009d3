"""The models of Yang & Ju: worst-case accuracies recomputed from the moments of the classes."""

import itertools

import pytest
from support import blobs, solved

import fsopt
from fsopt.methods.mpm.space import accuracy_limit
from fsopt.methods.preprocessing import preprocess
from fsopt.models.mpm import moments as moments_module
from fsopt.models.mpm.moments import Moments


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
