"""Local search: no allowed exchange improves what it returns, against all values by brute force."""

import itertools

import numpy as np
import pytest
from selection_cases import KINDS, allowed_values, drawn, exact_value, problem_of, solved_as
from support import blobs, keeps, sampled

from fsopt.data import Dataset
from fsopt.search.branch_and_benders import local_search, nodes
from fsopt.search.branch_and_benders.driver import branch_and_benders
from fsopt.search.branch_and_benders.local_search import LocalSearch, exchanges
from fsopt.search.branch_and_benders.nodes import NodeSolver
from fsopt.search.branch_and_benders.problem import BranchSettings


def neighbours(selection):
    """All selections with one feature exchanged, taken in or left out."""
    inside, outside = np.flatnonzero(selection), np.flatnonzero(~selection)
    for i in [None, *inside]:
        for j in [None, *outside]:
            other = selection.copy()
            other[[k for k in (i, j) if k is not None]] ^= True
            yield tuple(other.astype(int))


def always():
    return True


CASES = [
    (seed, k, ("hinge", "hinge", "logistic", "squared-hinge")[(seed + k) % 4], bool((seed + k) % 2))
    for seed in range(6)
    for k in range(len(KINDS))
]
"""Seed, kind, loss, and whether all samples are free; else those far from the margin are frozen."""


@pytest.mark.parametrize(("seed", "k", "loss", "free"), sampled(CASES, 5, 0))
def test_no_allowed_neighbour_is_better(seed, k, loss, free, monkeypatch):
    monkeypatch.setattr(nodes, "FEWEST", 8)
    data, c, limits = drawn(KINDS[k], seed)
    problem, values = problem_of(data, c, limits, loss), allowed_values(data, c, limits, loss)
    width = np.inf if free else np.nan
    search = LocalSearch(problem, NodeSolver(problem, width, width), [], 10**6, always)
    start = max(values, key=values.__getitem__)
    found = search.descend(np.array(start, dtype=bool))
    at = found.selection
    value = values[tuple(at.astype(int))]
    # The value is that of a hyperplane; with frozen samples it may be above the best, and a neighbour may be missed.
    assert found.value >= value * (1 - 1e-6)
    best = search.restarted(at, 5, seed)
    assert best.value <= found.value * (1 + 1e-5)
    assert best.value >= values[tuple(best.selection.astype(int))] * (1 - 1e-6)
    assert found.value <= max(values[start], value) * (1 + 1e-2)
    if free:
        assert found.value == pytest.approx(value, rel=1e-5)
        assert value <= min(values.get(near, np.inf) for near in neighbours(at)) * (1 + 1e-5)


def test_of_many_features_those_of_smallest_weight_are_exchanged_but_none_that_is_forced(monkeypatch):
    monkeypatch.setattr(local_search, "WORK", 0)
    monkeypatch.setattr(local_search, "FEWEST", 3)
    data = blobs(40, 12, seed=5, gap=0.6)
    problem = problem_of(data, 1.0, {"m": 6, "include": [2]})
    search = LocalSearch(problem, NodeSolver(problem, np.inf, np.inf), [], 10**6, always)
    start = np.arange(12) < 6
    at = search._below(start, search._machine(start, None, np.inf), np.inf)
    weights = {j: abs(at.solved.hyperplane.w[j]) for j in range(6) if j != 2}
    smallest = sorted(weights, key=weights.get)[:3]
    better = search._neighbour(at)
    assert better.value < at.value
    assert set(np.flatnonzero(at.selection & ~better.selection).tolist()) <= set(smallest)
    found = search.descend(start)
    assert found.value <= better.value
    assert found.selection[2]
    assert found.value == pytest.approx(exact_value(data, found.selection, 1.0, "hinge"), rel=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_allowed_exchanges_are_those_of_the_constraints(kind):
    data, c, limits = drawn(kind, 1)
    problem, every = problem_of(data, c, limits), itertools.product((0, 1), repeat=data.p)
    values = [s for s in every if keeps(np.array(s), **{k: v for k, v in limits.items() if k != "lam"})]
    for selection in values[:: max(1, len(values) // 8)]:
        features = np.flatnonzero(selection)
        table = exchanges(problem, features)
        for i in range(len(features) + 1):
            for j in np.flatnonzero(np.array(selection) == 0):
                other = np.array(selection)
                other[features[i : i + 1]] = 0
                other[j] = 1
                assert table[i, j] == (tuple(other) in values)


def weighted(data, seed):
    """Return the data with weights of the samples, and with units that differ by a thousand."""
    rng = np.random.default_rng(seed)
    return Dataset(data.X * rng.choice([0.03, 1.0, 30.0], data.p), data.y, weights=rng.choice([0.5, 1.0, 3.0], data.n))


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
def test_the_best_feature_takes_one_relaxation(loss):
    data = weighted(blobs(40, 8, seed=2, gap=0.3), 2)
    found = solved_as(allowed_values(data, 0.5, {"m": 1}, loss), problem_of(data, 0.5, {"m": 1}, loss))
    assert found.history[-1]["solved"] <= 1


def test_copies_of_features_constants_and_ties_are_no_trouble():
    own = blobs(30, 4, seed=0, gap=0.2)
    X = np.column_stack([own.X, own.X, -own.X[:, :2], np.zeros(30), np.ones(30)])
    data, every = Dataset(X, own.y), np.arange(12)
    found = branch_and_benders(problem_of(data, 1.0, {"m": 2}), settings=BranchSettings(tolerance=1e-6))
    pairs = [*itertools.combinations(range(4), 2), *((j, j + 4) for j in range(4))]
    best = min(exact_value(data, np.isin(every, pair), 1.0) for pair in pairs)
    assert found.objective == pytest.approx(best, rel=1e-6)
    assert found.bound <= best * (1.0 + 1e-9)
