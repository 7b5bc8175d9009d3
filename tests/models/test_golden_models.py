"""The models against reference optima, against their duals, and against what the papers say of them."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from support import REFERENCE, blobs, reference

import fsopt
from fsopt.methods.mpm.worst_case import accuracy_limit
from fsopt.models.gbd.fsp_master import add_cut
from fsopt.models.mpm.moments import Moments

CORE = ("highs", "clarabel")
"""The solvers of the core install; the others are in test_conformance.py."""
FEW = settings(max_examples=8, deadline=None, derandomize=True)
SEEDS = st.integers(0, 10**6)
KINDS = {"model": {}, "relax": {"relax": True}}
"""Kind of a reference value -> parameters of its model that the entry does not name."""
GOLDEN = [
    pytest.param(entry, id="-".join([entry["name"], entry["data"], *(f"{k}={v}" for k, v in entry["params"].items())]))
    for entry in json.loads((REFERENCE / "golden.json").read_text())
    if entry["kind"] in KINDS and entry["name"] in fsopt.MODELS
]


def values(component) -> np.ndarray:
    return np.array([v.value for v in component.values()])


def best(name, data, **params):
    """Build and solve; the answer must be a certified optimum. Returns (model, result)."""
    m = fsopt.build(name, data, **params)
    result = fsopt.solve(m)
    assert result.status == "optimal", (name, result.stop, result.certificate)
    assert result.certificate.ok
    return m, result


@pytest.mark.parametrize("entry", GOLDEN)
def test_reference_optimum_with_every_solver_of_the_class(entry):
    data = reference(entry["data"])
    m, result = best(entry["name"], data, **entry["params"], **KINDS[entry["kind"]])
    assert abs(result.objective - entry["objective"]) <= entry["atol"] + entry["rtol"] * abs(entry["objective"])
    kind = fsopt.classify(m)
    integers = "MI" if entry["kind"] == "relax" else ""
    assert integers + kind == fsopt.MODELS[entry["name"]].problem_class
    for solver in CORE:
        spec = fsopt.SOLVERS[solver]
        slow = solver == "highs" and kind == "QP" and data.n > 100
        if solver != result.solver and kind in spec.classes and not slow:
            other = fsopt.solve(m, solver)
            assert other.status == "optimal"
            assert other.objective == pytest.approx(result.objective, rel=1e-6, abs=1e-6)


def test_the_reference_file_reaches_most_models():
    assert len(GOLDEN) >= 50
    assert {entry.values[0]["name"] for entry in GOLDEN} >= {"gmeb-primal", "gmeb-dual", "mpm", "l1-mpm", "rsvm", "svm",
                                                          "svm-dual", "fsp-m-perspective"}  # fmt: skip


# -- duality ----------------------------------------------------------------------------------------------


@FEW
@given(seed=SEEDS, r_plus=st.floats(0.1, 3), r_minus=st.floats(0.1, 3))
def test_gmeb_dual_has_the_primal_value_and_its_multipliers_are_the_classifier(seed, r_plus, r_minus):
    data = blobs(16, 3, seed=seed, gap=0.4)
    _, primal = best("gmeb-primal", data, r_plus=r_plus, r_minus=r_minus)
    m, dual = best("gmeb-dual", data, r_plus=r_plus, r_minus=r_minus)
    assert dual.objective == pytest.approx(primal.objective, rel=1e-6, abs=1e-6)
    if dual.objective > 1e-2:  # Theorem 19
        w = np.array([m.dual[m.moment[j]] for j in m.J])
        hinge = np.maximum(0, 1 - data.y * (data.X @ w + m.dual[m.balance])).sum()
        assert hinge == pytest.approx(dual.objective, rel=1e-4)


@FEW
@given(seed=SEEDS, w_cap=st.floats(0.01, 20))
def test_rsvm_and_its_dual_are_negatives(seed, w_cap):
    data = blobs(16, 3, seed=seed, gap=0.4)
    m, primal = best("rsvm", data, w_cap=w_cap)
    d, dual = best("rsvm-dual", data, w_cap=w_cap)
    assert dual.objective == pytest.approx(-primal.objective, rel=1e-6, abs=1e-6)
    gamma = np.linalg.norm(values(d.v)) / np.sqrt(w_cap)
    if gamma > 1e-2:
        np.testing.assert_allclose(values(d.v) / gamma, values(m.w), atol=1e-4 * np.sqrt(w_cap))


@FEW
@given(seed=SEEDS, r=st.floats(0.5, 5))
def test_hard_margin_norm_tells_where_gmeb_is_zero(seed, r):
    data = blobs(10, 3, seed=seed, gap=3.0)
    m = fsopt.build("gmeb-hard-margin", data, r_plus=r, r_minus=r)
    hard = fsopt.solve(m)
    _, soft = best("gmeb-primal", data, r_plus=r, r_minus=r)
    if hard.status == "infeasible":
        assert soft.objective > 0
        return
    assert hard.status == "optimal"
    assert (soft.objective < 1e-6) == (hard.objective < 1 + 1e-6)
    w = values(m.w)
    assert (data.y * (data.X @ w + m.b.value)).min() == pytest.approx(1, abs=1e-6)
    _, scaled = best("gmeb-hard-margin", fsopt.Dataset(2 * data.X, data.y), r_plus=4 * r, r_minus=4 * r)
    assert scaled.objective == pytest.approx(hard.objective / 4, rel=1e-5)


@FEW
@given(seed=SEEDS, c=st.floats(0.05, 20))
def test_svm_margin_prices_are_alpha(seed, c):
    data = blobs(16, 3, seed=seed)
    m, result = best("svm", data, c=c)
    alpha = np.array(list(result.duals(m.margin).values()))
    assert alpha.min() >= -1e-6 * c
    assert alpha.max() <= c * (1 + 1e-6)
    assert data.y @ alpha == pytest.approx(0, abs=1e-6 * c)
    w = data.X.T @ (alpha * data.y)
    np.testing.assert_allclose(w, values(m.w), atol=1e-5 * max(1, c))
    assert alpha.sum() - w @ w / 2 == pytest.approx(result.objective, rel=1e-6)


@pytest.mark.parametrize("name", ["gmeb-primal", "gmeb-dual", "svm", "onsvm"])
@pytest.mark.parametrize("size", ["small", "wdbc"])
def test_units_do_not_decide_what_is_certified(name, size, wdbc_std):
    params = {"r_plus": 0.4, "r_minus": 0.3} if name.startswith("gmeb") else {"c": 0.7}
    data = blobs(24, 4, seed=5, gap=0.3) if size == "small" else wdbc_std
    base = fsopt.solve(fsopt.build(name, data, **params)).objective
    mixed = 10.0 ** np.random.default_rng(1).uniform(-4, 4, data.p)
    for factors in (1e-4, 1e-2, 1e2, 1e4, mixed):
        m = fsopt.build(name, fsopt.Dataset(data.X * factors, data.y), **params)
        result = fsopt.solve(m)
        assert result.status == "optimal", (factors, result.certificate.residuals)
        if name.startswith("gmeb"):
            assert result.objective == pytest.approx(base, rel=1e-6)


# -- feature selection problem ----------------------------------------------------------------------------


def test_the_subproblem_is_the_svm_on_the_selected_columns():
    data = blobs(20, 4, seed=3)
    for sigma in itertools.product([0.0, 1.0], repeat=4):
        chosen = np.flatnonzero(sigma)
        m, result = best("fsp-sub", data, sigma=sigma, c=0.8)
        if len(chosen):
            _, svm = best("svm", fsopt.Dataset(data.X[:, chosen], data.y), c=0.8)
            expected = svm.objective
        else:
            expected = 2 * 0.8 * min(np.sum(data.y > 0), np.sum(data.y < 0))
        assert result.objective == pytest.approx(expected, rel=1e-6), sigma
        np.testing.assert_allclose(values(m.w)[np.array(sigma) == 0], 0, atol=1e-7)


@pytest.mark.parametrize(
    "limit", [{"m": 1}, {"m": 2}, {"m": 6}, {"lam": 0.0}, {"lam": 0.3}, {"lam": 3.0},
              {"costs": [1.0, 2.0, 0.5, 3.0, 1.5, 1.0], "budget": 3.6}, {"costs": np.ones(6), "budget": 0.0}],
    ids=lambda limit: "-".join(limit),
)  # fmt: skip
def test_the_master_is_the_least_over_all_selections(limit):
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
        s for s in map(np.array, itertools.product([0.0, 1.0], repeat=6))
        if s.sum() <= limit.get("m", 6) and np.asarray(limit.get("costs", np.zeros(6))) @ s <= limit.get("budget", 0.0)
    ]  # fmt: skip
    assert result.objective == pytest.approx(min(map(value, allowed)), rel=1e-6, abs=1e-6)
    assert value(values(m.sigma)) == pytest.approx(result.objective, rel=1e-6, abs=1e-6)
    assert any(np.array_equal(values(m.sigma), s) for s in allowed)


# -- linear programs written by hand ----------------------------------------------------------------------


def plane_lp(data, cost_a, cost_b, cost_v=None):
    """Return min cost_a'y + cost_b'z (+ cost_v'v) over the planes of paper 3, columns w gamma errors v."""
    order = np.argsort(-data.y, kind="stable")
    X, y = data.X[order], data.y[order]
    n, p = X.shape
    v = np.zeros(0 if cost_v is None else p) if cost_v is None else np.asarray(cost_v)
    rows = np.hstack([-X * y[:, None], y[:, None], -np.eye(n), np.zeros((n, len(v)))])
    sides = -np.ones(n)
    if len(v):
        for sign in (1, -1):
            rows = np.vstack([rows, np.hstack([sign * np.eye(p), np.zeros((p, n + 1)), -np.eye(p)])])
            sides = np.append(sides, np.zeros(p))
    cost = np.concatenate([np.zeros(p + 1), cost_a, cost_b, v])
    bounds = [(None, None)] * (p + 1) + [(0, None)] * (n + len(v))
    answer = linprog(cost, A_ub=rows, b_ub=sides, bounds=bounds)
    assert answer.status == 0
    return answer.fun


@FEW
@given(seed=SEEDS, alpha=st.floats(0.5, 6), lam=st.floats(0.0, 0.9), c=st.floats(0.05, 5))
def test_polyhedral_models_and_onsvm_against_linprog(seed, alpha, lam, c):
    data = blobs(17, 3, seed=seed, gap=0.4)
    k, l = int(np.sum(data.y > 0)), int(np.sum(data.y < 0))
    rng = np.random.default_rng(seed)
    y, z, v = rng.exponential(0.5, k), rng.exponential(0.5, l), rng.exponential(0.5, 3)
    average = np.full(k, 1 / k), np.full(l, 1 / l)
    step = (alpha * np.exp(-alpha * y), alpha * np.exp(-alpha * z))
    _, rlp = best("rlp", data)
    assert rlp.objective == pytest.approx(plane_lp(data, *average), abs=1e-7)
    _, misclass = best("misclass-step", data, alpha=alpha, y=y, z=z)
    assert misclass.objective == pytest.approx(plane_lp(data, *step), rel=1e-6, abs=1e-7)
    m, fsv = best("fsv-step", data, lam=lam, alpha=alpha, v=v)
    shares = [(1 - lam) * a for a in average]
    assert fsv.objective == pytest.approx(plane_lp(data, *shares, lam * alpha * np.exp(-alpha * v)), abs=1e-7)
    assert np.all(values(m.v) >= np.abs(values(m.w)) - 1e-8)
    m, onsvm = best("onsvm", data, c=c)
    assert onsvm.objective == pytest.approx(plane_lp(data, np.full(k, c), np.full(l, c), np.ones(3)), rel=1e-6)
    hinge = np.maximum(0, 1 - data.y * (data.X @ values(m.w) + m.b.value)).sum()
    assert np.abs(values(m.w)).sum() + c * hinge == pytest.approx(onsvm.objective, rel=1e-6)


# -- minimax probability machines and multi-objective models ----------------------------------------------


@FEW
@given(seed=SEEDS, share=st.floats(0.2, 0.95))
def test_mpm_is_the_reciprocal_of_kappa_and_l1_mpm_keeps_its_accuracy(seed, share):
    data = blobs(20, 3, seed=seed, gap=0.8)
    moments = Moments.of(data)
    limit = accuracy_limit(moments)
    _, mpm = best("mpm", data)
    assert mpm.objective == pytest.approx(1 / limit.kappa, rel=1e-8)
    delta = share * limit.alpha
    m, result = best("l1-mpm", data, delta=delta)
    w, b, k = values(m.w), m.b.value, np.sqrt(delta / (1 - delta))
    for side, mean, sign in ((1, moments.mean1, 1), (-1, moments.mean2, -1)):
        spread = np.sqrt(w @ np.cov(data.X[data.y == side].T, bias=True) @ w)
        assert sign * (mean @ w - b) >= max(1, k * spread) - 1e-6
    assert np.abs(w).sum() == pytest.approx(result.objective, rel=1e-6)
    v = np.array([2.0, -1.0, 0.5])
    m, step = best("l0-mpm-step", data, delta=delta, alpha=3.0, v=v)
    assert 3 * np.abs(values(m.w)).sum() - v @ values(m.w) == pytest.approx(step.objective, rel=1e-5)
    assert step.objective <= 3 * np.abs(w).sum() - v @ w + 1e-6


@FEW
@given(seed=SEEDS, e_cap=st.floats(0.5, 8), scaled=st.booleans())
def test_least_norm_is_the_inverse_of_rsvm(seed, e_cap, scaled):
    data = blobs(14, 3, seed=seed, gap=0.5)
    s = np.array([1.0, 0.25, 4.0]) if scaled else np.ones(3)
    _, floor = best("rsvm", data, w_cap=1e6)
    e_cap += floor.objective
    m, result = best("rsvm-least-norm", data, e_cap=e_cap, scale=s)
    hinge = np.maximum(0, 1 - data.y * (data.X @ values(m.w) + m.b.value)).sum()
    assert hinge <= e_cap * (1 + 1e-6)
    np.testing.assert_allclose(values(m.w), np.sqrt(s) * values(m.u), atol=1e-6)
    w_cap = 2 * result.objective
    if w_cap > 1e-3:
        _, loss = best("rsvm", fsopt.Dataset(data.X * np.sqrt(s), data.y), w_cap=w_cap)
        assert loss.objective == pytest.approx(e_cap, rel=1e-4)


@FEW
@given(seed=SEEDS, c=st.floats(0.0, 1.0), capacity=st.floats(0.1, 3))
def test_kernel_scaling_step_is_the_least_of_its_linear_program(seed, c, capacity):
    data = blobs(12, 3, seed=seed, gap=0.5)
    svm, _ = best("svm", data, c=1.0)
    w, b = values(svm.w), svm.b.value
    e_cap = 1.1 * np.maximum(0, 1 - data.y * (data.X @ w + b)).sum() + 0.1
    m, result = best("kernel-scaling-step", data, w=w, b=b, e_cap=e_cap, c=c, radius=2.0, capacity=capacity)

    def value(s):
        return 2.0 * (w**2 @ s) + capacity * (data.X**2 @ s).max() + c * s.sum()

    s = values(m.s)
    assert s.min() >= -1e-9
    assert np.maximum(0, 1 - data.y * (data.X @ (w * s) + b)).sum() <= e_cap + 1e-6
    assert value(s) == pytest.approx(result.objective, rel=1e-6, abs=1e-7)
    assert m.b.value == b
    n, (A, loss) = 12, (data.X * (data.y[:, None] * w), 1 - data.y * b)
    rows = np.block([[-A, -np.eye(n), np.zeros((n, 1))], [np.zeros((1, 3)), np.ones((1, n)), np.zeros((1, 1))],
                     [data.X**2, np.zeros((n, n)), -np.ones((n, 1))]])  # fmt: skip
    cost = np.concatenate([2.0 * w**2 + c, np.zeros(n), [capacity]])
    answer = linprog(cost, A_ub=rows, b_ub=np.concatenate([-loss, [e_cap], np.zeros(n)]))
    assert result.objective == pytest.approx(answer.fun, rel=1e-6, abs=1e-7)
    assert pyo.value(m.objective) == pytest.approx(result.objective, rel=1e-9)
