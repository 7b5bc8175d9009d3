"""The master problem of Bi, (7)-(11), its convex form, and the smallest norm at a loss: each from another model."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import blobs, optimum, sampled, solved
from truths import hinge

import fsopt
from fsopt.compiler.values import values_of
from fsopt.errors import ParameterError

FEW = settings(max_examples=2, deadline=None, derandomize=True)
SEEDS = st.integers(0, 10**6)


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


@FEW
@given(seed=SEEDS, w_cap=st.floats(0.1, 10))
def test_free_scales_and_the_alternation_are_never_better_than_the_master_problem(seed, w_cap):
    data = blobs(14, 3, seed=seed, gap=0.4)
    radius = (data.X**2).sum(axis=1).max()
    _, rigorous = optimum("rsvm", data, w_cap=w_cap)
    _, master = optimum("mmop-convex", data, h_cap=radius * w_cap)
    assert master <= rigorous + 1e-6 * max(1, rigorous)
    fit = fsopt.fit("mopfs", data, w_cap=w_cap, c=0.0, scale="none")
    capacity = fit.coef**2 / np.where(fit.details["scales"] > 0, fit.details["scales"], 1.0)
    h = ((data.X**2) @ fit.details["scales"]).max() * capacity.sum()
    assert optimum("mmop-convex", data, h_cap=h * (1 + 1e-9))[1] <= fit.objective + 1e-5 * max(1, fit.objective)


def test_no_unlabelled_samples_and_copies_of_the_labelled_ones_change_nothing():
    data = blobs(14, 3, seed=2, gap=0.5)
    plain, value = optimum("mmop-convex", data, h_cap=2.0)
    none, same = optimum("mmop-convex", data, h_cap=2.0, unlabelled=[])
    assert same == value
    assert len(list(none.component_objects())) == len(list(plain.component_objects()))
    assert optimum("mmop-convex", data, h_cap=2.0, unlabelled=data.X.tolist())[1] == pytest.approx(value, rel=1e-6)
    assert optimum("mmop-convex", data, h_cap=2.0, unlabelled=[[0.0] * 3])[1] == pytest.approx(value, rel=1e-6)


def test_capacities_and_unlabelled_samples_of_another_kind_are_refused():
    for name in ("mmop", "mmop-convex"):
        for h_cap in (0.0, -1.0, "much", float("nan")):
            with pytest.raises(ParameterError, match="'h_cap'"):
                fsopt.build(name, blobs(6, 2), h_cap=h_cap)
    for wrong in ([[1.0]], [[1.0, np.nan, 0.0]], 3.0, [["x", 0.0, 0.0]]):
        with pytest.raises(ParameterError, match="'unlabelled"):
            fsopt.build("mmop-convex", blobs(12, 3, seed=1), unlabelled=wrong)


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
