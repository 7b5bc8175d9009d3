"""The linear programs of Mangasarian, and ONSVM, against the same programs by scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from support import blobs, solved

from fsopt.compiler.values import values_of

FEW = settings(max_examples=8, deadline=None, derandomize=True)
SEEDS = st.integers(0, 10**6)


def hyperplane_program(data, cost_a, cost_b, cost_v=None):
    """Return min cost_a'y + cost_b'z (+ cost_v'v) over the hyperplanes x'w = gamma, in the order w gamma errors v."""
    order = np.argsort(-data.y, kind="stable")
    X, y = data.X[order], data.y[order]
    n, p = X.shape
    v = np.zeros(0 if cost_v is None else p) if cost_v is None else np.asarray(cost_v)
    A = np.hstack([-X * y[:, None], y[:, None], -np.eye(n), np.zeros((n, len(v)))])
    right = -np.ones(n)
    if len(v):
        for sign in (1, -1):
            A = np.vstack([A, np.hstack([sign * np.eye(p), np.zeros((p, n + 1)), -np.eye(p)])])
            right = np.append(right, np.zeros(p))
    cost = np.concatenate([np.zeros(p + 1), cost_a, cost_b, v])
    bounds = [(None, None)] * (p + 1) + [(0, None)] * (n + len(v))
    answer = linprog(cost, A_ub=A, b_ub=right, bounds=bounds)
    assert answer.status == 0
    return answer.fun


@FEW
@given(seed=SEEDS, alpha=st.floats(0.5, 6), lam=st.floats(0.0, 0.9), c=st.floats(0.05, 5))
def test_linear_programs_against_scipy(seed, alpha, lam, c):
    data = blobs(17, 3, seed=seed, gap=0.4)
    k, l = int(np.sum(data.y > 0)), int(np.sum(data.y < 0))
    rng = np.random.default_rng(seed)
    y, z, v = rng.exponential(0.5, k), rng.exponential(0.5, l), rng.exponential(0.5, 3)
    average = np.full(k, 1 / k), np.full(l, 1 / l)
    step = (alpha * np.exp(-alpha * y), alpha * np.exp(-alpha * z))
    _, rlp = solved("rlp", data)
    assert rlp.objective == pytest.approx(hyperplane_program(data, *average), abs=1e-7)
    _, misclass = solved("misclass-step", data, alpha=alpha, y=y, z=z)
    assert misclass.objective == pytest.approx(hyperplane_program(data, *step), rel=1e-6, abs=1e-7)
    m, fsv = solved("fsv-step", data, lam=lam, alpha=alpha, v=v)
    shares = [(1 - lam) * a for a in average]
    assert fsv.objective == pytest.approx(hyperplane_program(data, *shares, lam * alpha * np.exp(-alpha * v)), abs=1e-7)
    assert np.all(values_of(m.v) >= np.abs(values_of(m.w)) - 1e-8)
    m, onsvm = solved("onsvm", data, c=c)
    assert onsvm.objective == pytest.approx(
        hyperplane_program(data, np.full(k, c), np.full(l, c), np.ones(3)), rel=1e-6
    )
    hinge = np.maximum(0, 1 - data.y * (data.X @ values_of(m.w) + m.b.value)).sum()
    assert np.abs(values_of(m.w)).sum() + c * hinge == pytest.approx(onsvm.objective, rel=1e-6)
