"""First-order steps of the root's relaxation: its optimum by another way, and valid bounds."""

import numpy as np
import pytest
import scipy.sparse as sp
from selection_cases import allowed_values, drawn, problem_of, solved

from fsopt.data import Dataset
from fsopt.search.branch_and_benders import root
from fsopt.search.branch_and_benders.cuts import bound, make_cut, on_grid
from fsopt.search.branch_and_benders.evidence import verify
from fsopt.search.branch_and_benders.first_order_nodes import RelaxationSteps, beginning
from fsopt.search.branch_and_benders.interior_point import Goal
from fsopt.search.branch_and_benders.nodes import NodeSolver, unfolded


def proved(problem, found):
    """Return the bound of the whole multiples next to the multipliers."""
    grid = on_grid(found.alpha, problem.y, problem.caps)
    return bound(problem, make_cut(problem, 0, grid, found.mu), problem.root()).value


CASES = [
    (kind, (k + n) % 2, loss)
    for k, kind in enumerate(("cardinality", "budget", "include", "lambda"))
    for n, loss in enumerate(("hinge", "squared-hinge"))
]
"""Each kind of constraints with each loss; every other one has samples with weights, by its seed."""


def thinned(data, seed):
    """Return a data set with a third of its numbers 0, and weights of the samples for odd seeds."""
    rng = np.random.default_rng(seed)
    X = data.X * (rng.uniform(size=data.X.shape) < 2 / 3)
    return Dataset(sp.csr_array(X), data.y, weights=rng.uniform(0.5, 2.0, data.n) if seed % 2 else None)


@pytest.mark.parametrize(("kind", "seed", "loss"), CASES)
def test_bound_and_value_enclose_the_relaxation_and_no_bound_is_above_a_selection(kind, seed, loss):
    whole, c, limits = drawn(kind, seed)
    if limits.pop("conflicts", None):
        limits["exclude"] = [j for j in range(whole.p) if j not in limits["include"]][:1]
    data = thinned(whole, seed)
    problem = problem_of(data, c, limits, loss)
    at = problem.root()
    exact = NodeSolver(problem).solve(at, None, Goal(1e-9)).bound
    free = np.flatnonzero(at.free)
    steps = RelaxationSteps(problem, at, free, problem.signed, beginning(problem))
    for gap in (1e-2, 1e-5):  # a second call goes on
        steps.run(Goal(gap))
        assert steps.lower <= exact * (1 + 1e-8) <= steps.upper * (1 + 2e-8)
        assert steps.upper - steps.lower <= gap * steps.upper
    found = unfolded(problem, steps.solution(), at, free, None)
    dense = Dataset(data.X.toarray(), data.y, weights=data.weights)
    assert proved(problem, found) <= min(allowed_values(dense, c, limits, loss).values()) * (1 + 1e-8)
    assert np.all(found.hyperplane.sigma[at.inside] == 1.0)
    assert not np.any(found.hyperplane.sigma[at.outside])


def wide(seed, n=40, p=200):
    rng = np.random.default_rng(seed)
    X = sp.random(n, p, density=0.1, random_state=rng, format="csr")
    score = X[:, :8].sum(axis=1) - X[:, 8:16].sum(axis=1)
    return Dataset(X, np.where(np.ravel(score) + 0.1 * rng.normal(size=n) > 0.0, 1.0, -1.0))


@pytest.mark.parametrize("limits", [{"m": 3}, {"lam": 0.5}], ids=["cardinality", "penalised"])
def test_a_root_with_too_many_features_for_interior_points_has_the_bound_of_the_steps(limits, monkeypatch):
    problem = problem_of(wide(1), 1.0, limits)
    exact = NodeSolver(problem).solve(problem.root(), None, Goal(1e-9)).bound
    monkeypatch.setattr(root, "SYSTEM", 0.0)
    monkeypatch.setattr(NodeSolver, "solve", only_selections(NodeSolver.solve))
    result = solved(problem, max_nodes=0, thorough=False)
    assert exact * (1 - 2e-3) <= result.bound <= exact * (1 + 1e-8)
    monkeypatch.undo()
    assert verify(problem, result.point["evidence"]).bound == pytest.approx(result.bound, rel=1e-12)


def only_selections(solve):
    """Return the solver of nodes without that of relaxations."""

    def checked(self, at, *args):
        assert not at.free.any()
        return solve(self, at, *args)

    return checked


def test_the_interior_points_begin_with_the_features_of_the_steps():
    """Their root then has the bound that they find from the features of the largest differences of means."""
    problem = problem_of(wide(2), 1.0, {"m": 3})
    exact = NodeSolver(problem).solve(problem.root(), None, Goal(1e-9)).bound
    assert solved(problem, max_nodes=0, tolerance=1e-5, thorough=False).bound == pytest.approx(exact, rel=1e-5)
