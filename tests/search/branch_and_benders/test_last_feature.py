"""Nodes where one feature more can be selected, beside every selection that is left."""

import itertools

import numpy as np
import pytest
from selection_cases import exact_value, problem_of
from support import blobs

from fsopt.data import Dataset
from fsopt.search.branch_and_benders import machines
from fsopt.search.branch_and_benders.driver import branch_and_benders
from fsopt.search.branch_and_benders.evidence import verify
from fsopt.search.branch_and_benders.interior_point import Goal
from fsopt.search.branch_and_benders.machines import LastFeature
from fsopt.search.branch_and_benders.nodes import NodeSolver
from fsopt.search.branch_and_benders.problem import BranchSettings, Partial


def weighted(data, seed):
    """Return the data with weights of the samples, and with units that differ by a thousand."""
    rng = np.random.default_rng(seed)
    return Dataset(data.X * rng.choice([0.03, 1.0, 30.0], data.p), data.y, weights=rng.choice([0.5, 1.0, 3.0], data.n))


def node_of(problem, inside):
    """Return a node with some features selected, its solver and the hyperplane of its relaxation."""
    solver = NodeSolver(problem)
    selected = np.isin(np.arange(problem.p), inside)
    at = Partial(selected, np.zeros(problem.p, dtype=bool))
    return solver, at, solver.solve(at, None, Goal(1e-6)).hyperplane


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "logistic"])
def test_the_machines_have_the_values_of_their_selections(loss):
    data = weighted(blobs(50, 9, seed=5, gap=0.4), 5)
    problem = problem_of(data, 0.7, {"m": 3}, loss)
    solver, at, near = node_of(problem, [2, 6])
    features = np.array([7, 0, 3])
    for j, alpha in zip(features, LastFeature.of(solver, at, near).multipliers(features), strict=True):
        assert np.all(alpha >= 0.0)
        assert np.all(alpha <= problem.caps)
        assert abs(problem.y @ alpha) <= 1e-9 * alpha.sum()
        q = problem.products(alpha, np.array([2, 6, j]))
        value = problem.term.values(alpha).sum() - 0.5 * q @ q
        assert value == pytest.approx(exact_value(data, at.inside | (np.arange(9) == j), 0.7, loss), rel=1e-5)


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
def test_the_best_feature_takes_one_relaxation(loss):
    data = weighted(blobs(40, 8, seed=2, gap=0.3), 2)
    problem = problem_of(data, 0.5, {"m": 1}, loss)
    found = branch_and_benders(problem, settings=BranchSettings(tolerance=1e-6))
    best = min(exact_value(data, np.arange(8) == j, 0.5, loss) for j in range(8))
    assert found.objective == pytest.approx(best, rel=1e-6)
    assert found.bound <= best * (1.0 + 1e-9)
    assert found.history[-1]["solved"] <= 1
    assert verify(problem, found.point["evidence"]).bound == pytest.approx(found.bound, rel=1e-12)


def test_copies_of_features_constants_and_ties_are_no_trouble():
    own = blobs(30, 4, seed=0, gap=0.2)
    X = np.column_stack([own.X, own.X, -own.X[:, :2], np.zeros(30), np.ones(30)])
    data, every = Dataset(X, own.y), np.arange(12)
    found = branch_and_benders(problem_of(data, 1.0, {"m": 2}), settings=BranchSettings(tolerance=1e-6))
    pairs = [*itertools.combinations(range(4), 2), *((j, j + 4) for j in range(4))]
    best = min(exact_value(data, np.isin(every, pair), 1.0) for pair in pairs)
    assert found.objective == pytest.approx(best, rel=1e-6)
    assert found.bound <= best * (1.0 + 1e-9)


def test_too_many_features_and_large_machines_are_left_to_relaxations(monkeypatch):
    problem = problem_of(blobs(80, 16, seed=2, gap=0.3), 0.5, {"m": 2})
    settings = BranchSettings(tolerance=1e-6)
    few = branch_and_benders(problem, settings=settings)
    for name, limit in (("MULTIPLIERS", 1000), ("STEP", 100.0)):
        with monkeypatch.context() as patch:
            patch.setattr(machines, name, limit)
            many = branch_and_benders(problem, settings=settings)
        assert many.objective == pytest.approx(few.objective, rel=1e-6)
        assert many.history[-1]["solved"] > few.history[-1]["solved"]
