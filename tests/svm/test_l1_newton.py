"""Newton's method on the penalty problem of the one-norm SVM: scipy's optima, smallest norm, derivatives, limits."""

import numpy as np
import pytest
from support import blobs
from truths import one_norm

import fsopt
from fsopt.data import Dataset
from fsopt.drivers.column_generation.l1_hinge_program import L1Hinge
from fsopt.drivers.run import Run
from fsopt.svm.l1_newton import _Penalty, _solved, l1_svm_newton

DATA = blobs(40, 6, seed=2, gap=0.5)
UNITS = DATA.X * 10.0 ** np.array([-4, 4, 0, 2, -2, 5])
CASES = {
    "tall": (DATA, 1.0),
    "wide": (blobs(20, 45, seed=3, gap=0.3), 0.5),
    "large C": (DATA, 1e4),
    "no feature": (DATA, 1e-3),
    "separable": (blobs(30, 4, gap=6.0), 10.0),
    "whole numbers": (Dataset(np.round(DATA.X), DATA.y), 1.0),
    "contradictions": (Dataset(np.vstack([DATA.X, DATA.X]), np.append(DATA.y, -DATA.y)), 1.0),
    "units": (Dataset(UNITS, DATA.y), 1e-2),
}


@pytest.mark.parametrize("case", CASES)
def test_the_optimum_is_that_of_another_solver_and_proved(case):
    data, c = CASES[case]
    found = l1_svm_newton(data, c=c)
    truth = one_norm(data.X, data.y, c=c)[0]
    assert found.status == found.stop == "optimal"
    assert found.objective == pytest.approx(truth, rel=1e-6)
    assert found.bound == pytest.approx(truth, rel=1e-6)


def test_of_several_optima_it_is_the_one_of_smallest_norm():
    copies = Dataset(np.column_stack([DATA.X, DATA.X]), DATA.y)
    w = l1_svm_newton(copies, c=1.0).point["w"]
    assert w[:6] == pytest.approx(w[6:], abs=1e-8)
    assert w[:6] + w[6:] == pytest.approx(l1_svm_newton(DATA, c=1.0).point["w"], abs=1e-7)


def test_the_gradient_is_that_of_differences():
    program = L1Hinge.of(DATA, np.ones(40), 0.1 * np.ones(6))
    alpha, h = np.random.default_rng(0).normal(0.5, 1.0, 40), 1e-6

    def value(a):
        beyond = np.maximum(np.abs(program.Z.T @ a) - program.c, 0.0)
        out = np.maximum(a - program.d, 0.0) + np.minimum(a, 0.0)
        return -0.01 * a.sum() + 0.5 * (beyond @ beyond + (program.y @ a) ** 2 + out @ out)

    slopes = [(value(alpha + h * e) - value(alpha - h * e)) / (2 * h) for e in np.eye(40)]
    assert _Penalty.at(program, alpha, 0.01).gradient == pytest.approx(slopes, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("k", [3, 12])
def test_both_forms_of_the_linear_system_are_solved(k):
    rng = np.random.default_rng(k)
    U, diagonal, right = rng.normal(size=(8, k)), rng.uniform(0.1, 1.0, 8), rng.normal(size=8)
    truth = np.linalg.solve(np.diag(diagonal) + U @ U.T, right)
    assert _solved(diagonal, U, right) == pytest.approx(truth, rel=1e-9)


def test_a_bound_after_any_epsilon_is_none_above_the_optimum():
    history = l1_svm_newton(DATA, c=1.0).history
    truth = one_norm(DATA.X, DATA.y)[0]
    assert len(history) > 1
    for record in history:
        assert record["bound"] <= truth * (1 + 1e-9)
        assert record["objective"] >= truth * (1 - 1e-9)
    ended = l1_svm_newton(DATA, c=1.0, run=Run(time_limit=0.0))
    assert ended.stop == "time-limit"
    assert ended.bound <= truth <= ended.objective


def test_the_method_has_the_answer_of_its_program_and_refuses_two_ways_at_once():
    weights = np.where(np.arange(40) % 3 == 0, 2.0, 1.0)
    for data in (DATA, DATA.weighted(sample_weight=weights)):
        fit, other = fsopt.fit("l1-svm", data, newton=True), fsopt.fit("l1-svm", data)
        assert fit.objective == pytest.approx(other.objective, rel=1e-7)
        assert fit.coef == pytest.approx(other.coef, abs=1e-6)
        assert fsopt.verify(fit, data, exact=True).exact.claims[0].holds
    for other in ({"solver": "highs"}, {"generate": True}):
        with pytest.raises(fsopt.FsoptError, match="newton of 'l1-svm' is true"):
            fsopt.fit("l1-svm", DATA, newton=True, **other)
