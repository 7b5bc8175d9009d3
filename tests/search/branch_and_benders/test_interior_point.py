"""The interior point: no gap on relaxations with every kind of constraint, and bounds with frozen samples."""

import numpy as np
import pytest
from selection_cases import KINDS, allowed_values, drawn, exact_value, problem_of
from support import blobs

from fsopt.answers.results import Status
from fsopt.data import Dataset
from fsopt.data.hyperplanes import LOSSES
from fsopt.linear.pieces import EPSILON
from fsopt.search.branch_and_benders import newton, nodes
from fsopt.search.branch_and_benders import problem as problems
from fsopt.search.branch_and_benders.cuts import bound, make_cut, on_grid
from fsopt.search.branch_and_benders.driver import branch_and_benders
from fsopt.search.branch_and_benders.interior_point import Goal
from fsopt.search.branch_and_benders.nodes import NodeSolver
from fsopt.search.branch_and_benders.problem import BranchSettings, Partial


def relaxation(problem, at=None, gap=1e-9, solver=None, hyperplane=None):
    """Return the relaxation of a node and the bound of its cut."""
    at = problem.root() if at is None else at
    found = (solver or NodeSolver(problem)).solve(at, hyperplane, Goal(gap))
    cut = make_cut(problem, 0, on_grid(problem, found.alpha), found.mu)
    return found, bound(problem, cut, at).value


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_the_relaxation_is_below_all_selections_and_its_shares_satisfy_the_constraints(kind, seed):
    data, c, limits = drawn(kind, seed)
    problem = problem_of(data, c, limits)
    found, value = relaxation(problem)
    assert value <= min(allowed_values(data, c, limits).values()) * (1 + 1e-9)
    sigma = found.hyperplane.sigma
    assert np.all(sigma >= -1e-6)
    assert np.all(sigma <= 1 + 1e-6)
    assert np.all(problem.R @ sigma <= problem.r + 1e-5 * np.maximum(1.0, np.abs(problem.r)))
    # The primal value at the shares and weights: no gap to the bound, in these constraints.
    used = sigma > 1e-9
    scores = data.X @ found.hyperplane.w + found.hyperplane.b
    primal = 0.5 * float((found.hyperplane.w[used] ** 2 / sigma[used]).sum())
    primal += c * float(np.maximum(1.0 - data.y * scores, 0.0).sum()) + float(problem.lam @ sigma)
    assert primal == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("gap", "c"), [(0.3, 1e-3), (2.0, 1.0), (2.0, 1e3)])
def test_without_free_features_it_is_the_machine_solved_cold_warm_and_over_far_scales(gap, c, loss):
    """Three of two allowed: no free feature can mend the constraint, whose multiplier would grow forever."""
    data, mask = blobs(90, 5, seed=2, gap=gap), np.arange(5) < 3
    problem, exact = problem_of(data, c, {"m": 2}, loss), exact_value(data, mask, c, loss)
    solver, at = NodeSolver(problem), Partial(mask, ~mask)
    for known in (None, solver.solve(problem.root(), None, Goal(1e-6)).hyperplane):
        found, value = relaxation(problem, at, solver=solver, hyperplane=known)
        attained, _ = problem.value(mask, found.hyperplane.w)
        assert attained == pytest.approx(exact, rel=1e-6)
        assert (found.bound, value) == pytest.approx((exact, exact), rel=1e-6)
        assert found.bound <= attained * (1 + 1e-12)


def test_features_left_out_of_the_program_cost_little(monkeypatch):
    data = blobs(60, 40, seed=1)
    problem = problem_of(data, 0.5, {"m": 4})
    _, whole = relaxation(problem)
    monkeypatch.setattr("fsopt.search.branch_and_benders.nodes.WHOLE", 6)
    _, priced = relaxation(problem, gap=1e-7)
    assert priced == pytest.approx(whole, rel=1e-4)
    assert priced <= whole * (1 + 1e-9)


@pytest.mark.parametrize(("c", "gap"), [(1.0, 1e-2), (30.0, 1e-2), (30.0, 1e-4)])
def test_the_gap_counts_from_the_dual_value_also_far_from_feasible(c, gap):
    """The first iterates of many samples have tiny products and a q that is not that of the multipliers."""
    problem = problem_of(blobs(3000, 8, seed=3, gap=0.3), c, {"m": 3})
    exact = NodeSolver(problem).solve(problem.root(), None, Goal(1e-9)).bound
    assert NodeSolver(problem).solve(problem.root(), None, Goal(gap)).bound >= (1.0 - 1.1 * gap) * exact


@pytest.fixture
def many(monkeypatch):
    """Let 100 samples be many, of a quarter of which the nearest are found."""
    monkeypatch.setattr(nodes, "MANY", 100)
    monkeypatch.setattr(nodes, "EACH", 10)
    monkeypatch.setattr(problems, "PART", 4)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_samples_nearest_to_the_margin_of_a_part_give_the_relaxation_of_all(loss, many):
    data = blobs(400, 8, seed=1, gap=0.3)
    problem = problem_of(data, 2.0, {"m": 3}, loss=loss)
    assert problem.part.n < 0.3 * problem.n
    for at in (problem.root(), problem.root().decided(0, selected=True).decided(1, selected=False)):
        whole = NodeSolver(problem)._rounds(at, None, Goal(1e-9)).bound
        found = NodeSolver(problem).solve(at, None, Goal(1e-9))
        cut = make_cut(problem, 0, on_grid(problem, found.alpha), found.mu)
        assert bound(problem, cut, at).value == pytest.approx(whole, rel=1e-6)


@pytest.mark.parametrize("kind", KINDS[::2])
def test_a_search_of_many_samples_finds_the_optimum(kind, many, monkeypatch):
    monkeypatch.setattr(nodes, "MANY", 10)
    monkeypatch.setattr(nodes, "EACH", 1)
    data, c, limits = drawn(kind, 1)
    result = branch_and_benders(problem_of(data, c, limits), settings=BranchSettings(tolerance=1e-6))
    assert result.objective == pytest.approx(min(allowed_values(data, c, limits).values()), rel=1e-5)
    assert result.status == Status.OPTIMAL


def test_samples_frozen_far_from_where_they_belong_are_taken_back():
    """The first feature separates; without it samples far from its margin are on both sides of the other's."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(400) < 0.5, 1.0, -1.0)
    X = np.column_stack([4.0 * y, 0.3 * y]) + rng.standard_normal((400, 2))
    problem = problem_of(Dataset(X, y), 1.0, {"m": 1})
    solver, both, last = NodeSolver(problem), np.array([True, True]), np.array([False, True])
    parent = solver.solve(Partial(both, ~both), None, Goal(1e-3)).hyperplane
    whole = solver.solve(Partial(last, ~last), None, Goal(1e-3))
    assert solver.solve(Partial(last, ~last), parent, Goal(1e-3)).bound > 0.8 * whole.bound


def reduced_drawn(n, p, k, seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.standard_normal(n) > 0, 1.0, -1.0)
    A = np.vstack([rng.standard_normal((p, n)), y])
    theta, delta = 10.0 ** rng.uniform(-3, 3, n), 10.0 ** rng.uniform(-2, 2, p)
    border = np.hstack([rng.standard_normal((k, p)), np.zeros((k, 1))])
    return A, theta, delta, border, np.eye(k) + 0.1, rng


@pytest.mark.parametrize("elimination", ["by_features", "by_samples"])
@pytest.mark.parametrize(("n", "p", "k"), [(12, 40, 1), (12, 40, 0), (40, 12, 1), (15, 15, 3), (3, 200, 2)])
def test_a_step_satisfies_its_equations(elimination, n, p, k, monkeypatch):
    A, theta, delta, border, corner, rng = reduced_drawn(n, p, k, seed=n + p + k)
    s, g, h = rng.standard_normal(n), rng.standard_normal(p + 1), rng.standard_normal(k)
    for name in ("by_features", "by_samples"):
        monkeypatch.setattr(newton, name, getattr(newton, elimination))
    alpha, hyperplane, mu = newton.reduced_system(A, theta, delta, border, corner)(s, g, h)
    diagonal = np.append(delta, EPSILON * theta.sum())
    assert alpha / theta + hyperplane @ A == pytest.approx(s, abs=1e-7)
    assert diagonal * hyperplane - A @ alpha + mu @ border == pytest.approx(g, abs=1e-7)
    assert border @ hyperplane - corner @ mu == pytest.approx(h, abs=1e-7)
