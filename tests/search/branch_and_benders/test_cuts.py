"""Cuts: exact dual feasibility, bounds below every selection of a node, single features decided by a cut, the pool."""

from fractions import Fraction

import numpy as np
import pytest
from selection_cases import KINDS, allowed_values, drawn, problem_of
from support import blobs

from fsopt.search.branch_and_benders.cuts import GRID, Pool, bound, make_cut, on_grid, valid_grid
from fsopt.search.branch_and_benders.problem import Partial, SelectionProblem, largest_on_grid


def random_cut(problem, rng, name=0):
    alpha = rng.uniform(-0.2, 1.2, problem.n) * problem.c * rng.uniform(0.0, 1.0)
    return make_cut(problem, name, on_grid(alpha, problem.y, problem.c), rng.exponential(1.0, len(problem.r)))


def random_node(problem, rng):
    """Return a random partial selection and what the constraints leave of it; None where that is nothing."""
    draw = rng.uniform(size=problem.p)
    return problem.propagated(Partial(draw < 0.2, draw > 0.8))


def test_multipliers_on_the_grid_are_feasible_in_exact_arithmetic():
    rng = np.random.default_rng(0)
    for _ in range(20):
        n, c = int(rng.integers(2, 60)), float(rng.choice([0.3, 1.0, 32.0]))
        y = np.where(rng.uniform(size=n) < 0.5, 1.0, -1.0)
        y[:2] = 1.0, -1.0
        grid = on_grid(rng.uniform(-0.5, 1.5, n) * c, y, c)
        assert valid_grid(grid, y)
        alpha = [Fraction(int(k), GRID) for k in grid]
        assert sum(a * int(s) for a, s in zip(alpha, y, strict=True)) == 0
        assert all(0 <= a <= 1 for a in alpha)


def test_multipliers_near_a_balance_hardly_move():
    rng = np.random.default_rng(1)
    y = np.where(np.arange(200) % 2, 1.0, -1.0)
    alpha = np.repeat(rng.uniform(0.0, 2.0, 100), 2)
    assert np.abs(on_grid(alpha, y, 2.0) * 2.0 / GRID - alpha).max() <= 1e-6


def test_multipliers_on_the_grid_are_below_their_own_bounds():
    """Bounds next below multiples of the step, which doubles round to these."""
    c = np.append(np.nextafter(3.0 * np.arange(1, 400) / GRID, 0.0), 3.0)
    tops = largest_on_grid(c)
    assert all(3 * int(top) <= Fraction(limit) * GRID for top, limit in zip(tops, c, strict=True))
    assert np.all(tops >= c / 3.0 * GRID - 2.0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_a_cut_bounds_every_selection_of_a_node_and_decides_no_feature_wrongly(kind, seed):
    data, c, limits = drawn(kind, seed)
    problem, values = problem_of(data, c, limits), allowed_values(data, c, limits)
    rng = np.random.default_rng(seed)
    for _ in range(8):
        cut, at = random_cut(problem, rng), random_node(problem, rng)
        below = {
            s: v
            for s, v in values.items()
            if at is not None and all(np.array(s)[at.inside]) and not any(np.array(s)[at.outside])
        }
        assert at is not None or not below
        if not below:
            continue
        found = bound(problem, cut, at)
        slack = 1e-9 * max(values.values())
        assert found.value <= min(below.values()) + slack
        for j in np.flatnonzero(at.free):
            for chosen, claimed in ((1, found.if_selected[j]), (0, found.if_not[j])):
                assert claimed >= found.value - slack
                assert claimed <= min((v for s, v in below.items() if s[j] == chosen), default=np.inf) + slack


@pytest.mark.parametrize("m", [1, 3, 6])
def test_for_a_cardinality_the_bounds_are_the_sums_of_largest_gains(m):
    data = blobs(30, 6, seed=m)
    problem = problem_of(data, 2.0, {"m": m})
    rng = np.random.default_rng(m)
    cut = random_cut(problem, rng)
    root = problem.root()
    found = bound(problem, cut, root)
    assert found.value == pytest.approx(cut.constant - np.sort(cut.gains)[::-1][:m].sum(), rel=1e-7)
    for j in range(6):
        others = np.sort(np.delete(cut.gains, j))[::-1]
        assert found.if_selected[j] == pytest.approx(cut.constant - cut.gains[j] - others[: m - 1].sum(), rel=1e-7)
        assert found.if_not[j] == pytest.approx(cut.constant - others[:m].sum(), rel=1e-7)


@pytest.mark.parametrize("limits", [{"m": 3}, {"costs": [1.0, 2.0, 3.0, 1.5, 2.5, 0.0], "budget": 4.0}, {"lam": 1.0}])
def test_the_pool_returns_the_cut_of_the_largest_bound(limits):
    problem = problem_of(blobs(30, 6, seed=2), 2.0, limits)
    rng = np.random.default_rng(5)
    cuts = [random_cut(problem, rng, name) for name in range(10)]
    pool = Pool(problem)
    assert pool.best(problem.root(), 1.0) is None
    for cut in cuts:
        pool.add(cut)
    for _ in range(10):
        at = random_node(problem, rng)
        if at is not None:
            largest = max(bound(problem, cut, at).value for cut in cuts)
            assert bound(problem, pool.best(at, np.inf), at).value == pytest.approx(largest, rel=1e-9, abs=1e-9)


def test_the_main_constraint_is_the_knapsack_on_most_features():
    R = np.array([[1.0, 1.0, 0.0], [2.0, 1.0, 1.0], [1.0, -1.0, 1.0]])
    problem = SelectionProblem.of(blobs(10, 3), 1.0, R, np.ones(3), np.zeros(3))
    assert (problem.R[problem.main] > 0.0).all()


@pytest.mark.parametrize("m", [1, 3, 599, 600])
def test_the_pool_bounds_a_node_of_many_features_as_the_cut_does(m):
    problem = problem_of(blobs(30, 600, seed=2), 2.0, {"m": m})
    pool, cut = Pool(problem), random_cut(problem, np.random.default_rng(5))
    pool.add(cut)
    found = pool._bounds(np.array([0]), problem.root())
    assert found == pytest.approx([bound(problem, cut, problem.root()).value], rel=1e-7)
