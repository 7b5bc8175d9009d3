"""The models of Bi: kernel scaling (15) with its linear program, and the master problem (7)-(11)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from support import blobs, optimum, sampled, solved
from truths import hinge, smallest_product

import fsopt
from fsopt.compiler.values import values_of
from fsopt.models.mop.kernel_scaling import smallest_multiple

FEW = settings(max_examples=4, deadline=None, derandomize=True)
SEEDS = st.integers(0, 10**6)


@FEW
@given(seed=SEEDS, share=st.floats(0.3, 1.2))
def test_kernel_scaling_is_the_best_vertex_of_its_frontier(seed, share):
    pytest.importorskip("pyscipopt")
    data = blobs(10, 3, seed=seed, gap=0.6)
    w, b = np.random.default_rng(seed).standard_normal(3), 0.1
    losses = [hinge(data.X, data.y, t * w, b) for t in (0.0, 0.5, 1.0)]
    e_cap = max(share * losses[0], min(losses) + 0.1)
    m, value = optimum("kernel-scaling", data, w=w, b=b, e_cap=e_cap)
    expected = 0.0 if e_cap >= losses[0] else smallest_product(data.X, data.y, w, b, e_cap)
    assert value == pytest.approx(expected, rel=1e-5, abs=1e-6)
    for variable in (m.R, m.W):  # the bounds may not change the optimum
        variable.setlb(0.1 * variable.lb)
        variable.setub(None if variable.ub is None else 10 * variable.ub)
    free = fsopt.solve(m, time_limit=60)
    assert free.objective == pytest.approx(value, rel=1e-4, abs=1e-5)


@FEW
@given(seed=SEEDS, share=st.floats(0.1, 1.3), b=st.floats(-0.5, 0.5))
def test_the_smallest_multiple_is_the_first_that_keeps_the_loss(seed, share, b):
    data = blobs(9, 2, seed=seed)
    scores = data.X @ np.random.default_rng(seed).standard_normal(2)
    grid = np.linspace(0, 20, 20001)
    losses = np.maximum(0, 1 - data.y * (grid[:, None] * scores + b)).sum(axis=1)
    e_cap = share * losses[0]
    t = smallest_multiple(scores, b, data.y, e_cap)
    below = np.flatnonzero(losses <= e_cap)
    if t is None:
        assert not len(below)
    elif t <= 20:
        assert abs(grid[below[0]] - t) <= 1e-3 + 1e-9 if len(below) else t > 0
        assert np.maximum(0, 1 - data.y * (t * scores + b)).sum() <= e_cap * (1 + 1e-9) + 1e-12


@FEW
@given(seed=SEEDS, c=st.floats(0.0, 1.0), capacity=st.floats(0.1, 3))
def test_kernel_scaling_step_is_the_minimum_of_its_linear_program(seed, c, capacity):
    data = blobs(12, 3, seed=seed, gap=0.5)
    svm, _ = solved("svm", data, c=1.0)
    w, b = values_of(svm.w), svm.b.value
    e_cap = 1.1 * np.maximum(0, 1 - data.y * (data.X @ w + b)).sum() + 0.1
    m, result = solved("kernel-scaling-step", data, w=w, b=b, e_cap=e_cap, c=c, radius=2.0, capacity=capacity)

    assert m.b.value == b
    n, (A, loss) = 12, (data.X * (data.y[:, None] * w), 1 - data.y * b)
    margins = [-A, -np.eye(n), np.zeros((n, 1))]
    risk = [np.zeros((1, 3)), np.ones((1, n)), np.zeros((1, 1))]
    ball = [data.X**2, np.zeros((n, n)), -np.ones((n, 1))]
    cost = np.concatenate([2.0 * w**2 + c, np.zeros(n), [capacity]])
    answer = linprog(cost, A_ub=np.block([margins, risk, ball]), b_ub=np.concatenate([-loss, [e_cap], np.zeros(n)]))
    assert result.objective == pytest.approx(answer.fun, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize(("n", "p", "seed", "h_cap"), sampled([(10, 2, 1, 0.5), (14, 3, 2, 3.0)], 1))
def test_the_master_problem_has_the_optimum_of_its_convex_form(n, p, seed, h_cap):
    pytest.importorskip("pyscipopt")
    data = blobs(n, p, seed=seed, gap=0.5)
    convex, value = optimum("mmop-convex", data, h_cap=h_cap)
    printed, minimum = optimum("mmop", data, h_cap=h_cap)
    assert (fsopt.classify(printed), fsopt.classify(convex)) == ("NLP", "SOCP")
    assert minimum == pytest.approx(value, rel=1e-6)
    s = values_of(printed.sigma) ** 2
    assert ((data.X**2) @ s).max() * (values_of(printed.w) ** 2).sum() <= h_cap * (1 + 1e-6)
    assert hinge(data.X, data.y, values_of(printed.w) * np.sqrt(s), printed.b.value) == pytest.approx(minimum, rel=1e-6)
    printed.R.fix(4.0)  # the unit of R is free: the scales may be twice as large
    for j in printed.J:
        printed.sigma[j].setub(2 * printed.sigma[j].ub)
    assert fsopt.solve(printed, time_limit=60).objective == pytest.approx(minimum, rel=1e-6)


@settings(FEW, max_examples=3)
@given(seed=SEEDS, e_cap=st.floats(0.5, 8), scaled=st.booleans())
def test_the_smallest_norm_is_the_inverse_of_rsvm(seed, e_cap, scaled):
    data = blobs(14, 3, seed=seed, gap=0.5)
    s = np.array([1.0, 0.25, 4.0]) if scaled else np.ones(3)
    _, floor = solved("rsvm", data, w_cap=1e6)
    e_cap += floor.objective
    m, result = solved("rsvm-least-norm", data, e_cap=e_cap, scale=s)
    assert hinge(data.X, data.y, values_of(m.w), m.b.value) <= e_cap * (1 + 1e-6)
    np.testing.assert_allclose(values_of(m.w), np.sqrt(s) * values_of(m.u), atol=1e-6)
    w_cap = 2 * result.objective
    if w_cap > 1e-3:
        _, loss = solved("rsvm", fsopt.Dataset(data.X * np.sqrt(s), data.y), w_cap=w_cap)
        assert loss.objective == pytest.approx(e_cap, rel=1e-4)
