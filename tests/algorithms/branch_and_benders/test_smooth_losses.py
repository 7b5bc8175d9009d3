"""The search with squared hinge and logistic loss: weights, frozen samples, scales, and the local search."""

from itertools import combinations

import numpy as np
import pytest
from selection_cases import exact_value, problem_of, solved
from support import blobs

import fsopt
from fsopt.algorithms.branch_and_benders import checkpoint, machines
from fsopt.algorithms.branch_and_benders.driver import branch_and_benders
from fsopt.algorithms.branch_and_benders.interior_point import Goal
from fsopt.algorithms.branch_and_benders.local_search import LocalSearch
from fsopt.algorithms.branch_and_benders.nodes import NodeSolver
from fsopt.algorithms.branch_and_benders.problem import Partial
from fsopt.algorithms.branch_and_benders.settings import BranchSettings
from fsopt.drivers.run import Run
from fsopt.errors import FileError

LOSS = "squared-hinge"
BOTH = pytest.mark.parametrize("loss", [LOSS, "logistic"])


@BOTH
def test_weights_of_samples_are_copies_of_them(loss):
    data = blobs(24, 6, seed=4, gap=0.2)
    counts = np.random.default_rng(0).integers(1, 4, data.n)
    copies = fsopt.Dataset(np.repeat(data.X, counts, axis=0), np.repeat(data.y, counts))
    weighted = fsopt.Dataset(data.X, data.y, weights=counts.astype(float))
    one, other = (solved(problem_of(d, 1.5, {"m": 2}, loss)) for d in (weighted, copies))
    np.testing.assert_array_equal(one.point["sigma"], other.point["sigma"])
    assert one.objective == pytest.approx(other.objective, rel=2e-6)
    assert one.objective == pytest.approx(exact_value(weighted, one.point["sigma"], 1.5, loss), rel=2e-6)


def test_samples_far_outside_the_margin_are_frozen_at_0_alone():
    data = blobs(400, 6, seed=8, gap=0.6)
    problem = problem_of(data, 0.5, {"m": 2}, LOSS)
    result = solved(problem)
    values = {pair: exact_value(data, np.isin(range(6), pair), 0.5, LOSS) for pair in [(0, 1), (0, 2), (1, 2)]}
    best = tuple(np.flatnonzero(result.point["sigma"]).tolist())
    assert result.status == "optimal"
    assert result.objective == pytest.approx(exact_value(data, result.point["sigma"], 0.5, LOSS), rel=2e-6)
    assert all(result.objective <= v * (1 + 2e-6) for pair, v in values.items() if pair != best)
    margins = np.array([-3.0, 0.5, 1.0, 1.5, 9.0])
    np.testing.assert_allclose(problem.distance(margins), [0.0, 0.0, 0.0, 0.5, 8.0])
    np.testing.assert_allclose(problem_of(data, 0.5, {"m": 2}, "logistic").distance(margins), 0.0)


def test_the_local_search_on_the_samples_near_the_margin_has_the_value_of_all_samples(monkeypatch):
    monkeypatch.setattr(machines, "KEPT", 100)
    data = blobs(260, 6, seed=9, gap=0.8)
    problem = problem_of(data, 0.5, {"m": 2}, LOSS)
    found = LocalSearch(problem, [], 400, lambda: True).descend(np.arange(6) < 2)
    assert found.value == pytest.approx(exact_value(data, found.mask(6), 0.5, LOSS), rel=1e-5)
    assert found.value <= exact_value(data, np.arange(6) < 2, 0.5, LOSS) * (1 + 1e-6)


def test_a_checkpoint_of_one_loss_is_not_resumed_with_the_other(tmp_path):
    data, path = blobs(30, 8, seed=1, gap=0.2), tmp_path / "run.npz"
    problems = {loss: problem_of(data, 1.0, {"m": 3}, loss) for loss in ("hinge", LOSS)}
    for own, other in ((LOSS, "hinge"), ("hinge", LOSS)):
        branch_and_benders(problems[own], run=Run(checkpoint=path))
        assert checkpoint.load(path, problems[own], BranchSettings()).search.incumbents.best is not None
        with pytest.raises(FileError, match="differs in loss"):
            checkpoint.load(path, problems[other], BranchSettings())


@pytest.mark.parametrize(("gap", "c"), [(0.3, 1e-3), (0.3, 1e3), (2.0, 1e-3), (2.0, 1.0), (2.0, 1e3)])
def test_the_relaxation_of_the_logistic_loss_is_solved_cold_warm_and_over_far_scales(gap, c):
    data = blobs(90, 5, seed=2, gap=gap)
    problem, mask = problem_of(data, c, {"m": 3}, "logistic"), np.arange(5) < 3
    solver, at = NodeSolver(problem), Partial(mask, ~mask)
    cold = solver.solve(at, None, Goal(1e-9))
    warm = solver.solve(at, solver.solve(problem.root(), None, Goal(1e-6)).hyperplane, Goal(1e-9))
    for found in (cold, warm):
        value, _ = problem.value(mask, found.hyperplane.w)
        assert value == pytest.approx(exact_value(data, mask, c, "logistic"), rel=1e-8)
        assert found.bound == pytest.approx(value, rel=1e-7)
        assert found.bound <= value * (1 + 1e-12)


def test_the_local_search_of_the_logistic_loss_ends_where_no_exchange_is_better():
    data = blobs(70, 6, seed=3, gap=0.3)
    problem = problem_of(data, 1.0, {"m": 2}, "logistic")
    found = LocalSearch(problem, [], 400, lambda: True).descend(np.arange(6) >= 4)
    values = {pair: exact_value(data, np.isin(range(6), pair), 1.0, "logistic") for pair in combinations(range(6), 2)}
    own = values[tuple(found.features.tolist())]
    assert found.value == pytest.approx(own, rel=1e-6)
    near = [v for pair, v in values.items() if len(set(pair) & set(found.features.tolist())) == 1]
    assert own <= min(near) * (1 + 2e-6)
