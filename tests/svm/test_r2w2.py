"""The radius/margin bound: its gradient by differences, its ball by optimality, and the features that it finds."""

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.data import Dataset
from fsopt.drivers.gbd.subproblem import Subproblem
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import Run
from fsopt.svm.interior_point import svm_interior_point
from fsopt.svm.r2w2 import NO_PENALTY, FactorPenalty, RadiusMargin, _descend, enclosing_ball

DATA = blobs(24, 5, seed=3, gap=0.1)
SIGMA = np.array([1.0, 0.6, 1.3, 0.8, 1.1])


def bound(sigma, c=1.0):
    return RadiusMargin.at(sigma, Subproblem(DATA, svm_interior_point, c, Run()), Recorder([]))


@pytest.mark.parametrize("shape", [(1, 2), (2, 3), (12, 1), (30, 4), (5, 9)], ids=str)
def test_the_ball_is_the_smallest(shape):
    Z = np.random.default_rng(sum(shape)).normal(size=shape) + 5.0
    radius, beta = enclosing_ball(Z)
    distance = ((Z - beta @ Z) ** 2).sum(axis=1)
    assert beta.min() >= 0.0
    assert beta.sum() == pytest.approx(1.0)
    assert distance.max() == pytest.approx(radius, rel=1e-7, abs=1e-12)
    # A center in the hull of points on the sphere is that of the smallest ball.
    assert beta @ distance == pytest.approx(radius, rel=1e-6, abs=1e-9)


def test_the_ball_of_a_square_and_of_equal_points():
    corners = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [2.0, 2.0]])
    assert enclosing_ball(corners)[0] == pytest.approx(2.0)
    assert enclosing_ball(np.ones((4, 3)))[0] == 0.0


def test_the_gradient_is_that_of_central_differences():
    here, h = bound(SIGMA), 1e-4
    for j, unit in enumerate(np.eye(5)):
        ahead, behind = bound(SIGMA + h * unit), bound(SIGMA - h * unit)
        difference = (np.log(ahead.value) - np.log(behind.value)) / (2 * h)
        assert here.slopes[j] == pytest.approx(difference, rel=1e-3, abs=1e-4)


def test_the_weight_is_that_of_the_machine_on_the_scaled_samples():
    scaled = fsopt.solve(fsopt.build("svm", DATA.with_X(DATA.X * SIGMA), c=1.0), "clarabel")
    assert bound(SIGMA).margin == pytest.approx(2.0 * scaled.objective, rel=1e-5)


def test_two_features_of_twenty_that_separate_are_found():
    rng = np.random.default_rng(1)
    y = np.repeat([1.0, -1.0], 30)
    X = rng.normal(size=(60, 20))
    X[:, 7] += 1.6 * y
    X[:, 13] -= 1.6 * y
    fit = fsopt.fit("r2w2", Dataset(X, y), m=2, step=3)
    assert fit.support == (7, 13)
    assert [record["n_features"] for record in fit.history] == [20, 17, 14, 11, 8, 5, 2]
    assert fsopt.verify(fit, Dataset(X, y)).verified


@pytest.mark.parametrize("penalty", [NO_PENALTY, FactorPenalty(3.0, 0.2, 2.0)], ids=["bound", "penalised"])
def test_the_value_falls_as_the_factors_descend(penalty):
    sub, recorder = Subproblem(DATA, svm_interior_point, 1.0, Run()), Recorder([])
    sigma, values = penalty.scaled(np.ones(5)), []
    for _ in range(4):
        values.append(RadiusMargin.at(sigma, sub, recorder).value + penalty.lam * np.sum(sigma**penalty.power))
        sigma, stated = _descend(penalty, sub, recorder, sigma)
        assert sigma.sum() == pytest.approx(penalty.total or 5.0)
    assert np.all(np.diff(values) < 0.0)
    assert stated < values[-1]


def test_the_gradient_with_a_penalty_is_that_of_central_differences():
    penalty, h = FactorPenalty(lam=2.0, power=0.3), 1e-4
    slopes = penalty.slopes(SIGMA, bound(SIGMA))
    for j, unit in enumerate(np.eye(5)):
        ahead, behind = (bound(s).value + 2.0 * np.sum(s**0.3) for s in (SIGMA + h * unit, SIGMA - h * unit))
        assert slopes[j] == pytest.approx((np.log(ahead) - np.log(behind)) / (2 * h), rel=1e-3, abs=1e-4)


def test_of_copies_of_a_feature_a_strong_penalty_keeps_the_larger_factor_alone():
    """R and W depend on the sum of the squares of the factors of copies; a small power makes one of them 0."""
    copies = Dataset(np.column_stack([DATA.X[:, 0], DATA.X[:, 0]]), DATA.y)
    sub, recorder = Subproblem(copies, svm_interior_point, 1.0, Run()), Recorder([])
    penalty, sigma = FactorPenalty(lam=1e4, power=0.1, total=2.0), np.array([1.1, 0.9])
    for _ in range(20):
        sigma = _descend(penalty, sub, recorder, sigma)[0]
    assert sigma == pytest.approx([2.0, 0.0])


def test_a_wrong_penalty_is_refused_before_anything_is_solved():
    for name, value in {"lam": -1.0, "power": 0.0, "total": 0.0}.items():
        with pytest.raises(fsopt.FsoptError, match=name):
            fsopt.fit("r2w2", DATA, **{name: value})
    saved = fsopt.fit("r2w2", DATA, m=2, lam=0.5, power=0.5, total=2.0)
    assert fsopt.verify(saved, DATA).verified


def test_a_solver_gives_the_selection_of_the_own_machines():
    own = fsopt.fit("r2w2", DATA, m=4)
    assert fsopt.fit("r2w2", DATA, m=4, solver="clarabel").support == own.support


def test_a_constant_feature_goes_first():
    X = np.column_stack([DATA.X, np.ones(DATA.n)])
    fit = fsopt.fit("r2w2", Dataset(X, DATA.y), m=3)
    assert fit.history[0]["removed"] == [5]
