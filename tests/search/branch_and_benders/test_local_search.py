"""Local search: no allowed exchange improves what it returns, against all values by brute force."""

import itertools

import numpy as np
import pytest
from selection_cases import KINDS, allowed_values, drawn, problem_of
from support import keeps, sampled

from fsopt.search.branch_and_benders import nodes
from fsopt.search.branch_and_benders.local_search import LocalSearch, exchanges
from fsopt.search.branch_and_benders.nodes import NodeSolver


def neighbours(selection):
    """All selections with one feature exchanged, taken in or left out."""
    inside, outside = np.flatnonzero(selection), np.flatnonzero(~selection)
    for i in [None, *inside]:
        for j in [None, *outside]:
            other = selection.copy()
            other[[k for k in (i, j) if k is not None]] ^= True
            yield tuple(other.astype(int))


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
    search = LocalSearch(problem, NodeSolver(problem, width, width), [], 10**6, lambda: True)
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
