"""The search over groups of features, and with bounds on their weights: its relaxations."""

import numpy as np
import pytest
from support import blobs, exact_value

import fsopt
from fsopt.data.hyperplanes import LOSSES
from fsopt.models.gbd.feature_lists import Groups, WeightBounds
from fsopt.search.branch_and_benders.driver import branch_and_benders
from fsopt.search.branch_and_benders.interior_point import Goal, solve
from fsopt.search.branch_and_benders.nodes import node_program
from fsopt.search.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.search.branch_and_benders.relaxation import Columns


def drawn(seed, n=40, d=8, loss="hinge", gap=0.4):
    """Return a problem of random groups, each with its own bounds, a cardinality and one implication."""
    rng = np.random.default_rng(seed)
    data = blobs(n, d, seed=seed, gap=gap)
    of = np.unique(rng.integers(0, d // 2 + 1, d), return_inverse=True)[1]
    lower, upper, kind = np.full(d, -np.inf), np.full(d, np.inf), rng.integers(0, 5, d)
    lower[kind == 0], upper[kind == 1], upper[kind == 2] = 0.0, 0.0, 0.05
    lower[kind == 3], upper[kind == 3] = -0.1, 0.2
    p = int(of.max()) + 1
    R = np.vstack([np.ones(p), np.eye(p)[0] - np.eye(p)[-1]])
    groups = Groups(tuple(map(str, range(p))), of)
    columns = Columns.needed(groups, WeightBounds(lower, upper))
    lam = rng.uniform(0.0, 0.5, p) * (gap > 0)
    return SelectionProblem.of(data, 1.0, R, np.array([p // 2, 0.0]), lam, LOSSES[loss], columns)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_the_gap_between_both_programs_of_a_node_closes(seed, loss):
    """The dual value counts with its own conjugate, and the primal one of weights within their bounds."""
    problem = drawn(seed, loss=loss)
    first = np.arange(problem.p) == 0
    features = np.flatnonzero(~first)
    program = node_program(problem, Partial(first, ~first & first), features, None)
    found = solve(program, Goal(1e-9))
    sigma, w = found.hyperplane.sigma, found.hyperplane.w
    share = program.columns.each(sigma, 1.0)
    w = np.clip(w, program.columns.bounds.lower * share, program.columns.bounds.upper * share)
    columns = problem.places(np.append(0, features))
    scores = w @ problem.rows(columns) * problem.y + found.hyperplane.b
    value = 0.5 * np.sum(w * w / share) + problem.loss.total(scores, problem.y) + problem.lam[0]
    value += problem.lam[features] @ sigma
    assert found.bound == pytest.approx(value, rel=1e-6)
    assert np.all(program.R @ sigma <= program.r + 1e-7)


@pytest.mark.slow
def test_many_groups_are_taken_in_by_turns():
    """Above 150 free features a program has some of them, and takes in those that it lacks."""
    data = blobs(16, 160, seed=3, gap=0.2)
    groups = Groups(tuple(map(str, range(159))), np.maximum(np.arange(160) - 1, 0))
    columns = Columns.needed(groups, WeightBounds(np.zeros(160), np.full(160, np.inf)))
    none = np.zeros(159)
    problem = SelectionProblem.of(data, 1.0, np.ones((1, 159)), np.ones(1), none, columns=columns)
    best = min(exact_value(data, groups.of == g, 1.0, "hinge", np.zeros(160), np.full(160, np.inf)) for g in range(159))
    assert branch_and_benders(problem).objective == pytest.approx(best, rel=2e-6)


def test_bounds_that_are_far_away_are_as_none():
    data = blobs(12, 3, seed=1)
    wide = {"lower": {0: -5e5, 1: -1e9}, "upper": {1: 1e7, 2: 3e3}}
    for loss in LOSSES:
        bounded, free = (fsopt.fit("best-subset", data, m=2, c=17.0, loss=loss, **ends) for ends in (wide, {}))
        assert bounded.status == "optimal"
        assert bounded.objective == pytest.approx(free.objective, rel=2e-6)
