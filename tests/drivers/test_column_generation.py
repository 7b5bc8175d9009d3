"""Restricted programs: the whole program's optimum, proofs that can be refused, bounds that always hold."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import blobs

import fsopt
from fsopt.answers.results import Status
from fsopt.data import Dataset
from fsopt.drivers import dca, working_set
from fsopt.drivers.column_generation import column_generation
from fsopt.drivers.dca import priced_dca
from fsopt.drivers.penalties import approximation
from fsopt.drivers.working_set import priced
from fsopt.methods.mpm.space import price
from fsopt.models.mpm.l0_mpm import build_l0_mpm_step
from fsopt.models.sla.hyperplane import exponential_costs

SMALL = {"rows": 6, "columns": 2}
"""So small restricted problems that samples cross, features are added and the trust region is moved."""


def ones(data, c=1.0):
    return np.full(data.n, c), np.ones(data.p)


def class_shares(data):
    return np.where(data.y > 0, 1 / data.positive.size, 1 / data.negative.size)


def programs(data, seed):
    """Return name -> (row costs, column costs, the whole program) of the four kinds."""
    random = np.random.default_rng(seed)
    errors, v = random.exponential(0.5, data.n), random.exponential(0.3, data.p)
    plus, minus = errors[data.y > 0], errors[data.y < 0]
    c, none = float(10.0 ** random.uniform(-2, 1)), np.zeros(data.p)
    return {
        "onsvm": (*ones(data, c), fsopt.build("onsvm", data, c=c)),
        "rlp": (class_shares(data), none, fsopt.build("rlp", data)),
        "misclass": (exponential_costs(5.0, errors), none, fsopt.build("misclass-step", data, y=plus, z=minus)),
        "fsv": (0.9 * class_shares(data), 0.1 * exponential_costs(5.0, v), fsopt.build("fsv-step", data, lam=0.1, v=v)),
    }


def check(data, d, c, result, optimum, *, within=1e-7):
    """Assert that a result is optimal and that hyperplane, value and bound are what they are called."""
    assert result.status is Status.OPTIMAL, (result.stop, result.certificate)
    value = c @ np.abs(result.point["w"]) + d @ np.maximum(
        1 - data.y * (data.X @ result.point["w"] + result.point["b"]), 0
    )
    size = max(1.0, abs(optimum))
    assert abs(result.objective - optimum) <= within * size
    assert abs(value - result.objective) <= 1e-9 * size
    assert result.bound <= optimum + 1e-7 * size


DEGENERATE = {
    "duplicates": lambda X, y: (np.tile(X[:40], (2, 1))[:, [0, 1, 2, 0, 4, 5]], np.tile(y[:40], 2)),
    "sparse": lambda X, y: ((X > 1).astype(float), y),
    "constant": lambda X, y: (X * [1, 1, 0, 1, 0, 1] + [0, 0, 7, 0, 0, 0], y),
    "scales": lambda X, y: (X * 10.0 ** np.array([-6, -3, 0, 2, 4, 6]) + 1e3, y),
    "separable": lambda X, y: (X + np.outer(5 * y, np.eye(6)[0]), y),
    "outlier": lambda X, y: (np.vstack([np.full(6, 1e5), X[1:]]), y),
    "one row of a class": lambda X, y: (X, np.where(np.arange(80) == 7, 1.0, -1.0)),
}


@pytest.mark.parametrize("cost", [1e-2, 1e3])
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data_end_exact(name, cost):
    drawn = blobs(80, 6, seed=1, gap=0.5)
    data = Dataset(*DEGENERATE[name](drawn.X, drawn.y))
    units = data.X.std(axis=0)
    units[units == 0] = 1.0
    data = data.with_X(data.X / units) if name == "scales" else data
    d, c = ones(data, cost)
    optimum = fsopt.solve(fsopt.build("onsvm", data, c=cost), "highs").objective
    few = {"rows": 10, "columns": 2}
    check(data, d, c, column_generation(data, d, c, **few), optimum)
    # The scale of a column is its cost: the same program in other units.
    raw = data.with_X(data.X * units)
    check(raw, d, units, column_generation(raw, d, units, **few), optimum, within=1e-6)


@settings(max_examples=8, deadline=None, derandomize=True)
@given(
    n=st.sampled_from([5, 30, 80]),
    p=st.integers(1, 14),
    seed=st.integers(0, 999),
    rounds=st.integers(1, 9),
    kind=st.sampled_from(["onsvm", "rlp", "misclass", "fsv"]),
)
def test_the_bound_holds_wherever_the_loop_is_stopped_and_its_end_is_the_optimum(n, p, seed, rounds, kind):
    data = blobs(n, p, seed=seed, gap=0.4)
    d, c, whole = programs(data, seed)[kind]
    optimum = fsopt.solve(whole, "highs").objective
    result = column_generation(data, d, c, rows=12, columns=2, max_iterations=rounds)
    size = max(1.0, optimum)
    assert result.bound <= optimum + 1e-7 * size
    assert result.objective >= optimum - 1e-7 * size
    assert result.iterations <= rounds
    assert result.status is Status.OPTIMAL or result.stop == "iteration-limit"
    assert all(h["bound"] <= optimum + 1e-7 * max(1.0, h["objective"]) for h in result.history)
    objectives = [h["objective"] for h in result.history]
    assert objectives == sorted(objectives, reverse=True)
    check(data, d, c, column_generation(data, d, c, **SMALL), optimum)


def test_a_restricted_answer_that_is_not_quite_feasible_is_as_good_as_any(answers):
    """Everything is proved on the whole data: HiGHS left 1.2e-6 in a row, above what counts as feasible."""
    data = blobs(60, 5, seed=3)
    optimum = fsopt.solve(fsopt.build("onsvm", data)).objective
    answers(lambda result: replace(result, status=Status.NONE))
    result = column_generation(data, np.ones(60), np.ones(5), **SMALL)
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(optimum, rel=1e-8)


@pytest.fixture(autouse=True)
def few_columns(monkeypatch):
    """Restrict the first problems to so few features that they are infeasible, or others have to be added."""
    monkeypatch.setattr(working_set, "COLUMNS", 4)


def steps(data, v, **params):
    """Return the step models of some features, their prices, and scores that say nothing."""

    def build(places):
        return build_l0_mpm_step(data.columns(places), v=v[places], **params)

    return build, partial(price, data, params), np.zeros(data.p)


def test_an_accuracy_that_no_feature_allows_is_infeasible_however_many_are_added():
    data = blobs(60, 6, seed=1, gap=0.2)
    with pytest.raises(fsopt.FsoptError, match="infeasible"):
        priced(*steps(data, np.zeros(6), delta=0.99, alpha=1.0))


@pytest.mark.parametrize(("seed", "approx"), [(0, "exp"), (1, "log")])
@pytest.mark.parametrize("started", [False, True])
def test_the_answer_of_dca_is_critical_for_all_features(seed, approx, started):
    penalty, data = approximation(approx, 5.0), blobs(16, 24, seed=seed, gap=1.0)
    params = {"delta": 0.8, "alpha": penalty.slope, "ridge": 0.0}
    start = np.ones(24) * (np.arange(24) > 17) if started else None
    result = priced_dca(*steps(data, np.zeros(24), **params), penalty, n_starts=2, seed=seed, start=start)
    w, v = result.point["w"], np.zeros(24)
    v[result.point["columns"]] = result.point["gradient"]
    step = fsopt.solve(fsopt.build("l0-mpm-step", data, v=v, **params), "clarabel")
    assert result.status is Status.STATIONARY
    assert penalty.slope * np.abs(w).sum() - v @ w == pytest.approx(step.objective, rel=1e-5, abs=1e-5)
    assert v == pytest.approx(penalty.gradient(w), abs=1e-4)
    assert result.objective == pytest.approx(penalty.value(w), rel=1e-12)
    whole = dca(fsopt.build("l0-mpm-step", data, **params), penalty, n_starts=2, seed=seed)
    assert result.objective <= 1.5 * whole.objective
    assert len(result.point["starts"]) == 2
    assert min(result.point["starts"]) == result.objective
