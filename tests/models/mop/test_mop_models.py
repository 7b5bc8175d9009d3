"""The kernel scaling problem and the master problem of paper 5: references, other formulations, and their bounds."""

from __future__ import annotations

import json

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize_scalar
from support import REFERENCE, blobs, reference

import fsopt
from fsopt.errors import ParameterError
from fsopt.models.mop.scaling import smallest_multiple

FEW = settings(max_examples=6, deadline=None, derandomize=True)
SEEDS = st.integers(0, 10**6)
GLOBAL = [
    pytest.param(entry, id="-".join([entry["data"], *(f"{k}={v}" for k, v in entry["params"].items())]))
    for entry in json.loads((REFERENCE / "golden.json").read_text())
    if entry["kind"] == "model-global" and entry["name"] == "kernel-scaling"
]


def best(name, data, **params):
    """Build and solve; the answer must be a certified optimum. Returns (model, objective)."""
    m = fsopt.build(name, data, **params)
    result = fsopt.solve(m, time_limit=60)
    assert result.status == "optimal", (name, result.stop, result.certificate)
    return m, result.objective


def values(component) -> np.ndarray:
    return np.array([v.value for v in component.values()])


def hinge(data, w, b) -> float:
    return np.maximum(0, 1 - data.y * (data.X @ w + b)).sum()


# -- (15) -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", GLOBAL)
def test_kernel_scaling_has_the_reference_optimum_globally(entry):
    pytest.importorskip("pyscipopt")
    with np.load(REFERENCE / "data" / f"{entry['data']}.npz", allow_pickle=False) as arrays:
        params = {"w": arrays["w"], "b": float(arrays["b"]), "e_cap": float(arrays["E"])} | entry["params"]
    data = reference(entry["data"])
    m, value = best("kernel-scaling", data, **params)
    assert fsopt.classify(m) == fsopt.MODELS["kernel-scaling"].problem_class == "NLP"
    assert abs(value - entry["objective"]) <= entry["atol"] + entry["rtol"] * abs(entry["objective"])
    s = values(m.s)
    radius, capacity = ((data.X**2) @ s).max(), s @ params["w"] ** 2
    assert radius * capacity + params["c"] * s.sum() == pytest.approx(value, rel=1e-6)
    assert hinge(data, s * params["w"], params["b"]) <= params["e_cap"] + 1e-6
    for variable, at in ((m.R, radius), (m.W, capacity)):
        assert 0 < variable.lb < at < variable.ub < np.inf


def test_the_references_are_there():
    assert len(GLOBAL) == 8


def frontier(data, w, b, e_cap):
    """Return the least RW over s by the lower left vertices in (R, W), found by linear programs of scipy."""
    n, p = data.X.shape
    A = data.X * (data.y[:, None] * w)
    rows = np.block([[-A, -np.eye(n), np.zeros((n, 1))], [np.zeros((1, p)), np.ones((1, n)), np.zeros((1, 1))],
                     [data.X**2, np.zeros((n, n)), -np.ones((n, 1))]])  # fmt: skip
    sides = np.concatenate([data.y * b - 1, [e_cap], np.zeros(n)])

    def vertex(price):
        answer = linprog(np.concatenate([w**2, np.zeros(n), [price]]), A_ub=rows, b_ub=sides)
        assert answer.status == 0
        return answer.x[-1], answer.x[:p] @ w**2

    def between(left, right):
        (R1, W1), (R2, W2) = left, right
        if R2 - R1 <= 1e-9 or W1 - W2 <= 1e-9:
            return []
        middle = vertex((W1 - W2) / (R2 - R1))
        gain = (W1 - W2) * (middle[0] - R1) + (R2 - R1) * (middle[1] - W1)
        return [] if gain >= -1e-8 else [*between(left, middle), middle, *between(middle, right)]

    ends = vertex(1e6), vertex(1e-6)
    return min(R * W for R, W in [*ends, *between(*ends)])


@FEW
@given(seed=SEEDS, share=st.floats(0.3, 1.2))
def test_kernel_scaling_is_the_best_vertex_of_its_frontier(seed, share):
    pytest.importorskip("pyscipopt")
    data = blobs(10, 3, seed=seed, gap=0.6)
    w, b = np.random.default_rng(seed).standard_normal(3), 0.1
    losses = [hinge(data, t * w, b) for t in (0.0, 0.5, 1.0)]
    e_cap = max(share * losses[0], min(losses) + 0.1)
    m, value = best("kernel-scaling", data, w=w, b=b, e_cap=e_cap)
    expected = 0.0 if e_cap >= losses[0] else frontier(data, w, b, e_cap)
    assert value == pytest.approx(expected, rel=1e-5, abs=1e-6)
    for variable in (m.R, m.W):  # the bounds may not change the optimum
        variable.setlb(0.1 * variable.lb)
        variable.setub(None if variable.ub is None else 10 * variable.ub)
    free = fsopt.solve(m, time_limit=60)
    assert free.objective == pytest.approx(value, rel=1e-4, abs=1e-5)


def test_kernel_scaling_starts_at_a_feasible_point_and_shares_the_steps_parameters():
    data = blobs(14, 3, seed=4)
    m = fsopt.build("kernel-scaling", data, c=0.25)
    difference = data.X[data.y > 0].mean(axis=0) - data.X[data.y < 0].mean(axis=0)
    assert m.e_cap.value == pytest.approx(hinge(data, difference, 0.0))
    for row in m.component_data_objects(pyo.Constraint, active=True):
        assert row.slack() >= -1e-9, row.name
    step, whole = (fsopt.MODELS[name].parameters for name in ("kernel-scaling-step", "kernel-scaling"))
    assert {k: v for k, v in step.items() if k in whole} == dict(whole)


def test_kernel_scaling_without_a_feasible_multiple_has_no_upper_bounds_and_can_be_infeasible():
    pytest.importorskip("pyscipopt")
    data = fsopt.Dataset(np.array([[1.0], [-1.0], [0.5]]), np.array([1.0, -1.0, -1.0]))
    m = fsopt.build("kernel-scaling", data, w=[1.0], e_cap=1.0)  # the loss of t is at least 1.5
    assert m.R.ub is None
    assert m.W.lb > 0
    assert fsopt.solve(m, time_limit=30).status == "infeasible"


@FEW
@given(seed=SEEDS, share=st.floats(0.1, 1.3), b=st.floats(-0.5, 0.5))
def test_the_least_multiple_is_the_first_that_keeps_the_loss(seed, share, b):
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


# -- (7)-(11) ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "p", "seed"), [(12, 2, 1), (14, 3, 2)])
@pytest.mark.parametrize("h_cap", [0.5, 3.0])
def test_the_master_problem_has_the_optimum_of_its_convex_form(n, p, seed, h_cap):
    pytest.importorskip("pyscipopt")
    data = blobs(n, p, seed=seed, gap=0.5)
    convex, value = best("mmop-convex", data, h_cap=h_cap)
    printed, least = best("mmop", data, h_cap=h_cap)
    assert (fsopt.classify(printed), fsopt.classify(convex)) == ("NLP", "SOCP")
    assert least == pytest.approx(value, rel=1e-6)
    s = values(printed.sigma) ** 2
    assert ((data.X**2) @ s).max() * (values(printed.w) ** 2).sum() <= h_cap * (1 + 1e-6)
    assert hinge(data, values(printed.w) * np.sqrt(s), printed.b.value) == pytest.approx(least, rel=1e-6)
    printed.R.fix(4.0)  # the unit of R is free: the scales may be twice as large
    for j in printed.J:
        printed.sigma[j].setub(2 * printed.sigma[j].ub)
    assert fsopt.solve(printed, time_limit=60).objective == pytest.approx(least, rel=1e-6)


@settings(FEW, max_examples=4)
@given(seed=SEEDS, h_cap=st.floats(0.2, 20))
def test_the_master_problem_is_the_best_rigorous_machine_over_all_scales(seed, h_cap):
    data = blobs(12, 2, seed=seed, gap=0.5)
    _, value = best("mmop-convex", data, h_cap=h_cap)

    def loss(angle):  # scales in each direction, as long as R = 1 allows
        s = np.array([np.cos(angle) ** 2, np.sin(angle) ** 2])
        s /= ((data.X**2) @ s).max()
        return best("rsvm", data.with_X(data.X * np.sqrt(s)), w_cap=h_cap)[1]

    grid = np.linspace(0.01, np.pi / 2 - 0.01, 9)
    losses = [loss(angle) for angle in grid]
    assert min(losses) >= value - 1e-6 * max(1, value)
    k = int(np.argmin(losses))
    inner = minimize_scalar(
        loss, bounds=(grid[max(k - 1, 0)], grid[min(k + 1, 8)]), method="bounded", options={"xatol": 1e-3}
    )
    assert min(inner.fun, *losses) == pytest.approx(value, rel=2e-4)


def cutting_planes(data, h_cap):
    """Return the least loss with N(w)^2 <= H by cuts: N is a largest weighted one-norm, over the convex hull."""
    n, p = data.X.shape
    cuts = [np.abs(data.X).max(axis=0) / np.sqrt(n)]
    for _ in range(200):
        margins = np.hstack([-data.X * data.y[:, None], data.X * data.y[:, None], -data.y[:, None], -np.eye(n)])
        norms = np.array([np.concatenate([a, a, [0.0], np.zeros(n)]) for a in cuts])
        answer = linprog(
            np.concatenate([np.zeros(2 * p + 1), np.ones(n)]), A_ub=np.vstack([margins, norms]),
            b_ub=np.concatenate([-np.ones(n), np.full(len(cuts), np.sqrt(h_cap))]),
            bounds=[(0, None)] * 2 * p + [(None, None)] + [(0, None)] * n,
        )  # fmt: skip
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
    m, value = best("mmop-convex", data, h_cap=h_cap)
    assert value == pytest.approx(cutting_planes(data, h_cap), rel=1e-4)
    m.h_cap.set_value(2 * h_cap)
    assert fsopt.solve(m).objective == pytest.approx(best("mmop-convex", data, h_cap=2 * h_cap)[1], rel=1e-6)


@FEW
@given(seed=SEEDS, w_cap=st.floats(0.1, 10))
def test_free_scales_and_the_alternation_are_never_better_than_the_master_problem(seed, w_cap):
    data = blobs(20, 4, seed=seed, gap=0.4)
    radius = (data.X**2).sum(axis=1).max()
    _, rigorous = best("rsvm", data, w_cap=w_cap)
    _, master = best("mmop-convex", data, h_cap=radius * w_cap)
    assert master <= rigorous + 1e-6 * max(1, rigorous)
    fit = fsopt.fit("mopfs", data, w_cap=w_cap, c=0.0, scale="none")
    capacity = fit.coef**2 / np.where(fit.details["scales"] > 0, fit.details["scales"], 1.0)
    h = ((data.X**2) @ fit.details["scales"]).max() * capacity.sum()
    assert best("mmop-convex", data, h_cap=h * (1 + 1e-9))[1] <= fit.objective + 1e-5 * max(1, fit.objective)


@FEW
@given(seed=SEEDS)
def test_the_master_problem_does_not_depend_on_the_units_of_columns(seed):
    data = blobs(14, 3, seed=seed, gap=0.5)
    factors = 10.0 ** np.random.default_rng(seed).uniform(-2, 2, 3)
    one, other = (best("mmop-convex", d, h_cap=2.0)[1] for d in (data, data.with_X(data.X * factors)))
    assert other == pytest.approx(one, rel=1e-6)


@pytest.mark.parametrize("name", ["mmop", "mmop-convex"])
@pytest.mark.parametrize("h_cap", [0.0, -1.0, "much", float("nan")])
def test_a_capacity_that_is_not_positive_is_refused(name, h_cap):
    with pytest.raises(ParameterError, match="'h_cap'"):
        fsopt.build(name, blobs(6, 2), h_cap=h_cap)
