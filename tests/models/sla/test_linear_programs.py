"""The linear programs of Mangasarian, and ONSVM, against the same programs by scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import blobs, solved
from truths import one_norm

from fsopt.compiler.values import values_of

FEW = settings(max_examples=5, deadline=None, derandomize=True)
SEEDS = st.integers(0, 10**6)


@FEW
@given(seed=SEEDS, alpha=st.floats(0.5, 6), lam=st.floats(0.0, 0.9), c=st.floats(0.05, 5))
def test_linear_programs_against_scipy(seed, alpha, lam, c):
    data = blobs(17, 3, seed=seed, gap=0.4)
    plus, minus = data.y > 0, data.y < 0
    rng = np.random.default_rng(seed)
    y, z, v = (rng.exponential(0.5, size) for size in (plus.sum(), minus.sum(), 3))
    average, step = np.empty(17), np.empty(17)
    for members, short in ((plus, y), (minus, z)):
        average[members], step[members] = 1 / len(short), alpha * np.exp(-alpha * short)

    def truth(loss, weights):
        return pytest.approx(one_norm(data.X, data.y, weights=weights, loss=loss)[0], rel=1e-6, abs=1e-7)

    assert solved("rlp", data)[1].objective == truth(average, np.zeros(3))
    assert solved("misclass-step", data, alpha=alpha, y=y, z=z)[1].objective == truth(step, np.zeros(3))
    m, fsv = solved("fsv-step", data, lam=lam, alpha=alpha, v=v)
    assert fsv.objective == truth((1 - lam) * average, lam * alpha * np.exp(-alpha * v))
    assert np.all(values_of(m.v) >= np.abs(values_of(m.w)) - 1e-8)
    m, onsvm = solved("onsvm", data, c=c)
    assert onsvm.objective == truth(np.full(17, c), np.ones(3))
    hinge = np.maximum(0, 1 - data.y * (data.X @ values_of(m.w) + m.b.value)).sum()
    assert np.abs(values_of(m.w)).sum() + c * hinge == pytest.approx(onsvm.objective, rel=1e-6)
