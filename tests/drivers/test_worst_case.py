"""L1-MPM and L0-MPM by a working set of features: the optimum of the whole program, bounds for all features."""

from dataclasses import replace

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.answers.results import Status
from fsopt.drivers import dca, working_set
from fsopt.drivers.penalties import approximation
from fsopt.drivers.worst_case import Multipliers, WorstCase, certify_worst_case, worst_case_dca, worst_case_norm
from fsopt.models.mpm.moments import Moments


def problem(n, p, delta, seed=0, alpha=1.0):
    data = blobs(n, p, seed=seed, gap=1.0)
    return WorstCase.of(data, Moments.of(data), delta, alpha=alpha)


@pytest.fixture(autouse=True)
def few_columns(monkeypatch):
    """Restrict the first problems to so few features that they are infeasible, or others have to be added."""
    monkeypatch.setattr(working_set, "COLUMNS", 4)


@pytest.mark.parametrize(
    ("n", "p", "delta", "weighted"), [(12, 30, 0.7, False), (30, 20, 0.5, True), (20, 40, 0.9, False)]
)
def test_the_optimum_is_that_of_the_whole_program(n, p, delta, weighted):
    alpha = 5.0 if weighted else 1.0
    v = alpha * np.random.default_rng(n).uniform(-0.9, 0.9, p) * weighted
    given = replace(problem(n, p, delta, seed=n, alpha=alpha), v=v)
    params = {"delta": delta, "alpha": alpha, "v": v}
    expected = fsopt.solve(fsopt.build("l0-mpm-step", given.data, **params), "clarabel")
    result = worst_case_norm(given)
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(expected.objective, rel=1e-6)
    assert result.bound <= expected.objective * (1 + 1e-7)
    assert given.value(result.point["w"]) == pytest.approx(result.objective, rel=1e-12)
    assert result.history[-1]["columns"] < p


def test_any_multipliers_bound_the_optimum_from_below():
    given = problem(12, 40, 0.7, seed=5)
    found, random = worst_case_norm(given), np.random.default_rng(0)
    at = found.point["multipliers"]
    bounds = []
    for size in np.geomspace(1e-6, 1e2, 40):
        u1, u2 = (u + size * random.standard_normal(len(u)) for u in (at.u1, at.u2))
        bounds.append(given.dual(Multipliers(at.mean * (1 + size * random.standard_normal()), u1, u2))[2])
    assert max(bounds) <= found.objective * (1 + 1e-7)
    assert max(bounds) > 0.9 * found.objective


def test_a_feature_that_costs_nothing_and_does_not_vary_leaves_the_bound_as_it_is():
    """Multipliers mean = 1, u1 = u2 = 0 with |mu1 - mu2| = 1 at a cost of 1 prove e'(w+ + w-) >= 2."""
    data = fsopt.Dataset(np.array([[0.0, 5.0], [1.0, 5.0]]), np.array([-1.0, 1.0]))
    program = replace(WorstCase.of(data, Moments.of(data), 0.5), v=np.array([0.0, 1.0]))
    nothing = np.zeros(len(program.moments.factor1))
    feasible, excess, bound = program.dual(Multipliers(1.0, nothing, nothing))
    assert (feasible.mean, bound) == (1.0, 2.0)
    assert excess == pytest.approx([0.0, 0.0], abs=1e-7)


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_certificate_is_refused_for_other_multipliers_and_other_hyperplanes(factor):
    given = problem(12, 40, 0.7, seed=5)
    point = worst_case_norm(given).point
    w, b, at = point["w"], point["b"], point["multipliers"]
    assert certify_worst_case(given, w, b, at).ok
    forged = [Multipliers(factor * at.mean, at.u1, at.u2), Multipliers(at.mean, at.u1, factor * at.u2)]
    assert not any(certify_worst_case(given, w, b, other).ok for other in forged)
    # Multipliers that are too large are scaled back until they are feasible for every feature.
    assert certify_worst_case(given, w, b, at.scaled(factor)).ok is (factor > 1)
    assert not certify_worst_case(given, factor * w, factor * b, at).ok
    assert not certify_worst_case(given, w, b + 0.1, at).ok


def test_the_number_of_deviations_is_that_of_the_whole_accuracy():
    """A delta above alpha* is infeasible, however many features are added."""
    data = blobs(60, 6, seed=1, gap=0.2)
    with pytest.raises(fsopt.FsoptError, match="infeasible"):
        worst_case_norm(WorstCase.of(data, Moments.of(data), 0.99))


@pytest.mark.parametrize(("seed", "approx"), [(0, "exp"), (1, "log")])
def test_the_answer_of_dca_is_critical_for_all_features(seed, approx):
    penalty = approximation(approx, 5.0)
    given = problem(16, 24, 0.8, seed=seed, alpha=penalty.slope)
    result = worst_case_dca(given, penalty, n_starts=2, seed=seed)
    w, v = result.point["w"], result.point["gradient"]
    params = {"delta": given.delta, "alpha": penalty.slope}
    step = fsopt.solve(fsopt.build("l0-mpm-step", given.data, v=v, **params), "clarabel")
    here = penalty.slope * np.abs(w).sum() - v @ w
    assert result.status is Status.STATIONARY
    assert here == pytest.approx(step.objective, rel=1e-5, abs=1e-5)
    assert v == pytest.approx(penalty.gradient(w), abs=1e-4)
    assert result.objective == pytest.approx(penalty.value(w), rel=1e-12)
    whole = dca(fsopt.build("l0-mpm-step", given.data, **params), penalty, n_starts=2, seed=seed)
    assert result.objective <= 1.5 * whole.objective


@pytest.mark.parametrize("large", [0, 1])
def test_rounding_errors_of_either_class_cost_the_bound_nothing(large):
    """q of 1 is above a cost by 5e-5, within 1e-8 of the products of its sum, of which one is 1e4."""
    factors = [np.array([[1.0], [1e4 if k == large else 0.0]]) for k in range(2)]
    moments = Moments(np.zeros(1), np.zeros(1), *factors)
    program = WorstCase.of(blobs(4, 1), moments, 0.5, alpha=1.0 - 5e-5)
    u = [np.array([-1.0 if k == large else 0.0, 0.0]) for k in range(2)]
    feasible, excess, bound = program.dual(Multipliers(1.0, *u))
    assert excess[0] <= 0.0
    assert (feasible.mean, bound) == (1.0, 1.0)
