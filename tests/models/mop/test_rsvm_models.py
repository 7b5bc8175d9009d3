"""The rigorous SVM, its dual, and the smallest norm at a loss: each is recomputed from another one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import blobs, solved

import fsopt
from fsopt.compiler.values import values_of

FEW = settings(max_examples=3, deadline=None, derandomize=True)
SEEDS = st.integers(0, 10**6)


@FEW
@given(seed=SEEDS, w_cap=st.floats(0.01, 20))
def test_rsvm_and_its_dual_are_negatives(seed, w_cap):
    data = blobs(16, 3, seed=seed, gap=0.4)
    m, primal = solved("rsvm", data, w_cap=w_cap)
    d, dual = solved("rsvm-dual", data, w_cap=w_cap)
    assert dual.objective == pytest.approx(-primal.objective, rel=1e-6, abs=1e-6)
    gamma = np.linalg.norm(values_of(d.v)) / np.sqrt(w_cap)
    if gamma > 1e-2:
        np.testing.assert_allclose(values_of(d.v) / gamma, values_of(m.w), atol=1e-4 * np.sqrt(w_cap))


@FEW
@given(seed=SEEDS, e_cap=st.floats(0.5, 8), scaled=st.booleans())
def test_the_smallest_norm_is_the_inverse_of_rsvm(seed, e_cap, scaled):
    data = blobs(14, 3, seed=seed, gap=0.5)
    s = np.array([1.0, 0.25, 4.0]) if scaled else np.ones(3)
    _, floor = solved("rsvm", data, w_cap=1e6)
    e_cap += floor.objective
    m, result = solved("rsvm-least-norm", data, e_cap=e_cap, scale=s)
    hinge = np.maximum(0, 1 - data.y * (data.X @ values_of(m.w) + m.b.value)).sum()
    assert hinge <= e_cap * (1 + 1e-6)
    np.testing.assert_allclose(values_of(m.w), np.sqrt(s) * values_of(m.u), atol=1e-6)
    w_cap = 2 * result.objective
    if w_cap > 1e-3:
        _, loss = solved("rsvm", fsopt.Dataset(data.X * np.sqrt(s), data.y), w_cap=w_cap)
        assert loss.objective == pytest.approx(e_cap, rel=1e-4)
