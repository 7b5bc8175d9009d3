"""Cuts of kernel scaling: what they prove, and in saved files multipliers of other numbers of samples are refused."""

from dataclasses import replace

import numpy as np
import pytest

from fsopt.certificates.kernel_scaling import Cut, ScalingProblem, lower_bound
from fsopt.data import Dataset

CUT = {"mu": [0.5, 0.5], "beta": [1.0, 0.0], "delta": 0.25}


def test_a_cut_has_two_multipliers_of_each_sample():
    assert Cut.of(CUT, 2).delta == 0.25
    for change in ({"mu": [0.5]}, {"beta": [1.0, 0.0, 0.0]}, {"delta": float("nan")}, {"mu": [0.5, float("inf")]}):
        with pytest.raises(ValueError, match="a cut has 2 and 2 multipliers"):
            Cut.of(CUT | change, 2)


@pytest.mark.parametrize("seed", [0, 3])
def test_the_bound_is_the_smallest_product_above_the_cuts(seed):
    rng = np.random.default_rng(seed)
    X, w, y = rng.normal(size=(8, 3)), rng.normal(size=3), np.where(np.arange(8) % 2, 1.0, -1.0)
    X[:, 0] += y
    problem = ScalingProblem(Dataset(X, y), w, 0.1, 0.5, np.zeros(3), np.ones(3, dtype=bool))
    multipliers = [(rng.uniform(0.0, 1.0, 8), rng.uniform(0.0, 0.3, 8), rng.uniform(0.1, 3.0)) for _ in range(6)]
    cuts, upper = [Cut(*at) for at in multipliers], problem.value(np.full(3, 3.0))
    bound, radius = lower_bound(problem, cuts, upper)
    low, high = problem.lower_bounds[0], upper / problem.lower_bounds[1]
    assert low <= radius <= high
    slope, delta, value = np.array([*(cut.proved(problem) for cut in cuts), (0.0, 1.0, problem.lower_bounds[1])]).T
    at = np.append(np.geomspace(low, high, 2000), radius)
    smallest = (at * ((value - slope * at[:, None]) / delta).max(axis=1)).min()
    assert bound == pytest.approx(smallest, rel=1e-9)
    assert lower_bound(problem, cuts, 0.5 * bound)[0] == 0.5 * bound
    assert lower_bound(replace(problem, costs=np.ones(3)), cuts, upper)[0] == 0.0


def test_the_value_is_squared_radius_times_capacity_plus_costs():
    data = Dataset(np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([1.0, -1.0]))
    problem = ScalingProblem(data, np.array([0.5, 2.0]), 0.0, 1.0, np.array([0.25, 0.5]), np.ones(2, dtype=bool))
    # R = max(1 + 3 * 4, 9), W = 1/4 + 3 * 4, q's = 1/4 + 3/2
    assert problem.value(np.array([1.0, 3.0])) == 13.0 * 12.25 + 1.75


def test_scales_of_zero_bound_nothing_where_they_are_feasible():
    data = Dataset(np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([1.0, -1.0]))
    for cap, known in ((2.0, False), (1.0, True)):  # the loss of s = 0 is 2
        problem = ScalingProblem(data, np.array([0.5, 2.0]), 0.0, cap, np.zeros(2), np.ones(2, dtype=bool))
        # The mean squares 5 and 2 over 0.5 * 4 and 2 * 2, and the weights 0.5 and 2 over 4 and 2.
        assert problem.lower_bounds == ((0.5, 0.125) if known else (0.0, 0.0))
