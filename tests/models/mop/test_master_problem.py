"""The master problem of Bi, (7)-(11), and its convex form: one against the other, and other formulations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize_scalar
from support import blobs, optimum, sampled

import fsopt
from fsopt.compiler.values import values_of
from fsopt.errors import ParameterError

FEW = settings(max_examples=6, deadline=None, derandomize=True)
SEEDS = st.integers(0, 10**6)


def hinge(data, w, b) -> float:
    return np.maximum(0, 1 - data.y * (data.X @ w + b)).sum()


@pytest.mark.parametrize(("n", "p", "seed"), sampled([(12, 2, 1), (14, 3, 2)], 1))
@pytest.mark.parametrize("h_cap", [0.5, 3.0])
def test_the_master_problem_has_the_optimum_of_its_convex_form(n, p, seed, h_cap):
    pytest.importorskip("pyscipopt")
    data = blobs(n, p, seed=seed, gap=0.5)
    convex, value = optimum("mmop-convex", data, h_cap=h_cap)
    printed, minimum = optimum("mmop", data, h_cap=h_cap)
    assert (fsopt.classify(printed), fsopt.classify(convex)) == ("NLP", "SOCP")
    assert minimum == pytest.approx(value, rel=1e-6)
    s = values_of(printed.sigma) ** 2
    assert ((data.X**2) @ s).max() * (values_of(printed.w) ** 2).sum() <= h_cap * (1 + 1e-6)
    assert hinge(data, values_of(printed.w) * np.sqrt(s), printed.b.value) == pytest.approx(minimum, rel=1e-6)
    printed.R.fix(4.0)  # the unit of R is free: the scales may be twice as large
    for j in printed.J:
        printed.sigma[j].setub(2 * printed.sigma[j].ub)
    assert fsopt.solve(printed, time_limit=60).objective == pytest.approx(minimum, rel=1e-6)


@settings(FEW, max_examples=4)
@given(seed=SEEDS, h_cap=st.floats(0.2, 20))
def test_the_master_problem_is_the_best_rigorous_svm_over_all_scales(seed, h_cap):
    data = blobs(12, 2, seed=seed, gap=0.5)
    _, value = optimum("mmop-convex", data, h_cap=h_cap)

    def loss(angle):  # scales in each direction, as long as R = 1 allows
        s = np.array([np.cos(angle) ** 2, np.sin(angle) ** 2])
        s /= ((data.X**2) @ s).max()
        return optimum("rsvm", data.with_X(data.X * np.sqrt(s)), w_cap=h_cap)[1]

    grid = np.linspace(0.01, np.pi / 2 - 0.01, 9)
    losses = [loss(angle) for angle in grid]
    assert min(losses) >= value - 1e-6 * max(1, value)
    k = int(np.argmin(losses))
    inner = minimize_scalar(
        loss, bounds=(grid[max(k - 1, 0)], grid[min(k + 1, 8)]), method="bounded", options={"xatol": 1e-3}
    )
    assert min(inner.fun, *losses) == pytest.approx(value, rel=2e-4)


def cutting_planes(data, h_cap):
    """Return the smallest loss with N(w)^2 <= H by cuts: N is a largest weighted one-norm, over the convex hull."""
    n, p = data.X.shape
    cuts = [np.abs(data.X).max(axis=0) / np.sqrt(n)]
    for _ in range(200):
        margins = np.hstack([-data.X * data.y[:, None], data.X * data.y[:, None], -data.y[:, None], -np.eye(n)])
        norms = np.array([np.concatenate([a, a, [0.0], np.zeros(n)]) for a in cuts])
        answer = linprog(
            np.concatenate([np.zeros(2 * p + 1), np.ones(n)]),
            A_ub=np.vstack([margins, norms]),
            b_ub=np.concatenate([-np.ones(n), np.full(len(cuts), np.sqrt(h_cap))]),
            bounds=[(0, None)] * 2 * p + [(None, None)] + [(0, None)] * n,
        )
        w = np.abs(answer.x[:p] - answer.x[p : 2 * p])
        size = np.full(n, 1.0 / n)
        for _ in range(3000):  # multiplicative updates maximise the concave N over the simplex
            gradient = (data.X**2) @ (w / np.sqrt(np.maximum((data.X**2).T @ size, 1e-300)))
            size *= gradient / (size @ gradient)
        a = np.sqrt((data.X**2).T @ size)
        if w @ a <= np.sqrt(h_cap) * (1 + 1e-5):
            return answer.fun
        cuts.append(a)
    raise AssertionError("the cuts do not end")


@pytest.mark.parametrize("h_cap", [0.5, 4.0])
def test_the_convex_form_bounds_a_largest_weighted_one_norm(h_cap):
    data = blobs(16, 4, seed=7, gap=0.5)
    m, value = optimum("mmop-convex", data, h_cap=h_cap)
    assert value == pytest.approx(cutting_planes(data, h_cap), rel=1e-4)
    m.h_cap.set_value(2 * h_cap)
    assert fsopt.solve(m).objective == pytest.approx(optimum("mmop-convex", data, h_cap=2 * h_cap)[1], rel=1e-6)


@FEW
@given(seed=SEEDS, w_cap=st.floats(0.1, 10))
def test_free_scales_and_the_alternation_are_never_better_than_the_master_problem(seed, w_cap):
    data = blobs(20, 4, seed=seed, gap=0.4)
    radius = (data.X**2).sum(axis=1).max()
    _, rigorous = optimum("rsvm", data, w_cap=w_cap)
    _, master = optimum("mmop-convex", data, h_cap=radius * w_cap)
    assert master <= rigorous + 1e-6 * max(1, rigorous)
    fit = fsopt.fit("mopfs", data, w_cap=w_cap, c=0.0, scale="none")
    capacity = fit.coef**2 / np.where(fit.details["scales"] > 0, fit.details["scales"], 1.0)
    h = ((data.X**2) @ fit.details["scales"]).max() * capacity.sum()
    assert optimum("mmop-convex", data, h_cap=h * (1 + 1e-9))[1] <= fit.objective + 1e-5 * max(1, fit.objective)


@FEW
@given(seed=SEEDS)
def test_the_master_problem_does_not_depend_on_the_units_of_features(seed):
    data = blobs(14, 3, seed=seed, gap=0.5)
    factors = 10.0 ** np.random.default_rng(seed).uniform(-2, 2, 3)
    one, other = (optimum("mmop-convex", d, h_cap=2.0)[1] for d in (data, data.with_X(data.X * factors)))
    assert other == pytest.approx(one, rel=1e-6)


@pytest.mark.parametrize("name", ["mmop", "mmop-convex"])
@pytest.mark.parametrize("h_cap", [0.0, -1.0, "much", float("nan")])
def test_a_capacity_that_is_not_positive_is_refused(name, h_cap):
    with pytest.raises(ParameterError, match="'h_cap'"):
        fsopt.build(name, blobs(6, 2), h_cap=h_cap)


def test_no_unlabelled_samples_and_copies_of_the_labelled_ones_change_nothing():
    data = blobs(14, 3, seed=2, gap=0.5)
    plain, value = optimum("mmop-convex", data, h_cap=2.0)
    none, same = optimum("mmop-convex", data, h_cap=2.0, unlabelled=[])
    assert same == value
    assert [c.name for c in none.component_objects(descend_into=False)] == [
        c.name for c in plain.component_objects(descend_into=False)
    ]
    assert optimum("mmop-convex", data, h_cap=2.0, unlabelled=data.X.tolist())[1] == pytest.approx(value, rel=1e-6)
    assert optimum("mmop-convex", data, h_cap=2.0, unlabelled=[[0.0] * 3])[1] == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("far", [0.5, 3.0])
def test_an_unlabelled_sample_of_one_feature_sets_the_radius_alone(far):
    """With p = 1 the ball gives R = max x^2 s, so that w^2 <= H / max x^2: a rigorous SVM with this capacity."""
    data = blobs(20, 1, seed=4, gap=0.3)
    place = far * np.abs(data.X).max()
    radius = max(place, np.abs(data.X).max()) ** 2
    value = optimum("mmop-convex", data, h_cap=2.0, unlabelled=[[-place]])[1]
    assert value == pytest.approx(optimum("rsvm", data, w_cap=2.0 / radius)[1], rel=1e-6)
    assert (value > optimum("mmop-convex", data, h_cap=2.0)[1] * (1 + 1e-3)) == (far > 1.0)


@pytest.mark.parametrize("wrong", [[[1.0]], [[1.0, np.nan, 0.0]], 3.0, [["x", 0.0, 0.0]]], ids=str)
def test_unlabelled_samples_of_another_kind_are_refused(wrong):
    with pytest.raises(ParameterError, match="'unlabelled"):
        fsopt.build("mmop-convex", blobs(12, 3, seed=1), unlabelled=wrong)
