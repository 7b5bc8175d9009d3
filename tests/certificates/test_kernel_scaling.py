"""Cuts of kernel scaling: what they prove, and in saved files multipliers of other numbers of samples are refused."""

import numpy as np
import pytest
from scipy.optimize import linprog

from fsopt.certificates.kernel_scaling.bounds import Cut, Inequalities, lower_bound
from fsopt.certificates.kernel_scaling.problem import ScalingProblem
from fsopt.data import Dataset

CUT = {"mu": [0.5, 0.5], "beta": [1.0, 0.0], "delta": 0.25, "priced": True}


def test_a_cut_has_two_multipliers_of_each_sample():
    assert Cut.of(CUT, 2).delta == 0.25
    for change in ({"mu": [0.5]}, {"beta": [1.0, 0.0, 0.0]}, {"delta": float("nan")}, {"mu": [0.5, float("inf")]}):
        with pytest.raises(ValueError, match="a cut has 2 and 2 multipliers"):
            Cut.of(CUT | change, 2)


def drawn(seed: int, *, costs: bool):
    """Return a problem of eight samples and three features, and six cuts of random multipliers."""
    rng = np.random.default_rng(seed)
    X, w, y = rng.normal(size=(8, 3)), rng.normal(size=3), np.where(np.arange(8) % 2, 1.0, -1.0)
    X[:, 0] += y
    price = rng.uniform(0.2, 1.0, 3) if costs else np.zeros(3)
    problem = ScalingProblem(Dataset(X, y), w, 0.1, 0.5, price, np.ones(3, dtype=bool))
    multipliers = [(rng.uniform(0.0, 1.0, 8), rng.uniform(0.0, 0.3, 8), rng.uniform(0.1, 3.0)) for _ in range(6)]
    return problem, [Cut(mu, beta, delta, bool(costs and k % 2)) for k, (mu, beta, delta) in enumerate(multipliers)]


def proved_at(problem: ScalingProblem, cuts: list[Cut], radius: float) -> float:
    """Return the largest t'(v - A R) over t >= 0 with t'delta <= R and t'tau <= 1, by linear programming."""
    rows = [(*cut.proved(problem), cut.priced) for cut in cuts] + [(0.0, 1.0, problem.lower_bounds[1], False)]
    slope, delta, value, priced = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    return -linprog(slope * radius - value, A_ub=[delta, priced], b_ub=[radius, 1.0]).fun


@pytest.mark.parametrize(("seed", "costs", "gap"), [(0, False, 0.0), (3, False, 0.0), (1, True, 1e-9), (3, True, 0.01)])
def test_the_bound_is_the_smallest_value_that_the_cuts_prove_at_a_radius(seed, costs, gap):
    problem, cuts = drawn(seed, costs=costs)
    upper = problem.value(np.full(3, 3.0))
    bound, radius = lower_bound(problem, cuts, upper)
    low, high = problem.lower_bounds[0], upper / problem.lower_bounds[1]
    assert low <= radius <= high
    smallest = min(proved_at(problem, cuts, at) for at in np.append(np.geomspace(low, high, 60), radius))
    assert (1.0 - gap - 1e-9) * smallest <= bound <= smallest * (1.0 + 1e-9)
    assert lower_bound(problem, cuts, 0.5 * bound)[0] == 0.5 * bound


def test_the_value_is_squared_radius_times_capacity_plus_costs():
    data = Dataset(np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([1.0, -1.0]))
    problem = ScalingProblem(data, np.array([0.5, 2.0]), 0.0, 1.0, np.array([0.25, 0.5]), np.ones(2, dtype=bool))
    # R = max(1 + 3 * 4, 9), W = 1/4 + 3 * 4, q's = 1/4 + 3/2
    assert problem.value(np.array([1.0, 3.0])) == 13.0 * 12.25 + 1.75


def test_the_smallest_value_of_two_cuts_with_costs_is_at_the_end_where_one_is_alone():
    """Multipliers (3 - R) / 2 and (R - 1) / 2 of 10 - 2R and 4.5 - R prove (2R^2 - 21R + 51) / 4, least at R = 3."""
    cuts = Inequalities(np.array([2.0, 1.0]), np.array([1.0, 3.0]), np.array([10.0, 4.5]), np.array([True, True]))
    bound, radius = cuts.bound_on(1.0, 3.0)
    assert bound == pytest.approx(1.5, abs=1e-12)
    assert 2.9 < radius < 3.0


def test_scales_of_zero_bound_nothing_where_they_are_feasible():
    data = Dataset(np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([1.0, -1.0]))
    for cap, known in ((2.0, False), (1.0, True)):  # the loss of s = 0 is 2
        problem = ScalingProblem(data, np.array([0.5, 2.0]), 0.0, cap, np.zeros(2), np.ones(2, dtype=bool))
        # The mean squares 5 and 2 over 0.5 * 4 and 2 * 2, and the weights 0.5 and 2 over 4 and 2.
        assert problem.lower_bounds == ((0.5, 0.125) if known else (0.0, 0.0))
