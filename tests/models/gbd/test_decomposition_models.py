"""The models of generalized Benders: the SVM, the subproblem at a selection, and the relaxed master problem."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import blobs, solved

import fsopt
from fsopt.compiler.values import values_of
from fsopt.models.gbd.fsp_master import add_cut

FEW = settings(max_examples=8, deadline=None, derandomize=True)
SEEDS = st.integers(0, 10**6)


@FEW
@given(seed=SEEDS, c=st.floats(0.05, 20))
def test_the_multipliers_of_the_margins_of_the_svm_are_alpha(seed, c):
    data = blobs(16, 3, seed=seed)
    m, result = solved("svm", data, c=c)
    alpha = np.array(list(result.duals(m.margin).values()))
    assert alpha.min() >= -1e-6 * c
    assert alpha.max() <= c * (1 + 1e-6)
    assert data.y @ alpha == pytest.approx(0, abs=1e-6 * c)
    w = data.X.T @ (alpha * data.y)
    np.testing.assert_allclose(w, values_of(m.w), atol=1e-5 * max(1, c))
    assert alpha.sum() - w @ w / 2 == pytest.approx(result.objective, rel=1e-6)


def test_the_subproblem_is_the_svm_on_the_selected_features():
    data = blobs(20, 4, seed=3)
    for sigma in itertools.product([0.0, 1.0], repeat=4):
        selected = np.flatnonzero(sigma)
        m, result = solved("fsp-sub", data, sigma=sigma, c=0.8)
        if len(selected):
            _, svm = solved("svm", fsopt.Dataset(data.X[:, selected], data.y), c=0.8)
            expected = svm.objective
        else:
            expected = 2 * 0.8 * min(np.sum(data.y > 0), np.sum(data.y < 0))
        assert result.objective == pytest.approx(expected, rel=1e-6), sigma
        np.testing.assert_allclose(values_of(m.w)[np.array(sigma) == 0], 0, atol=1e-7)


@pytest.mark.parametrize(
    "limit",
    [
        {"m": 1},
        {"m": 2},
        {"m": 6},
        {"lam": 0.0},
        {"lam": 0.3},
        {"lam": 3.0},
        {"costs": [1.0, 2.0, 0.5, 3.0, 1.5, 1.0], "budget": 3.6},
        {"costs": np.ones(6), "budget": 0.0},
    ],
    ids=lambda limit: "-".join(limit),
)
def test_the_master_is_the_minimum_over_all_selections(limit):
    data = blobs(14, 6, seed=9)
    rng = np.random.default_rng(4)
    cuts = []
    for _ in range(3):
        plus, minus = (rng.exponential(1, 14) * (data.y == s) for s in (1, -1))
        cuts.append(0.5 * (plus / plus.sum() + minus / minus.sum()) * rng.uniform(5, 20))
    late, cuts = cuts[-1], cuts[:-1]
    m = fsopt.build("fsp-master", data, cuts=cuts, **limit)
    add_cut(m, data, late)
    result = fsopt.solve(m)
    assert (result.status, result.certificate.kind) == ("optimal", "mixed-integer")

    def value(sigma):
        q = [data.X.T @ (a * data.y) for a in (*cuts, late)]
        theta = max(0.0, *(a.sum() - 0.5 * sigma @ g**2 for a, g in zip((*cuts, late), q, strict=True)))
        return theta + limit.get("lam", 0.0) * sigma.sum()

    allowed = [
        s
        for s in map(np.array, itertools.product([0.0, 1.0], repeat=6))
        if s.sum() <= limit.get("m", 6) and np.asarray(limit.get("costs", np.zeros(6))) @ s <= limit.get("budget", 0.0)
    ]
    assert result.objective == pytest.approx(min(map(value, allowed)), rel=1e-6, abs=1e-6)
    assert value(values_of(m.sigma)) == pytest.approx(result.objective, rel=1e-6, abs=1e-6)
    assert any(np.array_equal(values_of(m.sigma), s) for s in allowed)
