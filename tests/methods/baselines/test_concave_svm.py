"""Support vector machines and concave minimisation in turn: each program by other software, ends, refusals."""

import numpy as np
import pytest
from support import blobs
from truths import one_norm

import fsopt

DATA = blobs(40, 6, seed=2, gap=0.5)


def test_the_features_of_each_iteration_are_those_of_a_linear_program_at_the_machine_before():
    fit = fsopt.fit("concave-svm", DATA, c=0.5, scale="none")
    counts = [record["n_features"] for record in fit.history]
    assert counts[0] == 6 > counts[-1] == len(fit.support)
    left = np.arange(6)
    for record in fit.history:
        part = DATA.columns(left)
        machine = fsopt.fit("svm", part, c=0.5, scale="none")
        right = DATA.y * machine.decision_function(part.X) > 0
        costs = 5 * np.exp(-5 * np.abs(machine.coef))
        _, u, _ = one_norm(part.X[right], DATA.y[right], c=1e6, weights=costs)
        removed = left[np.abs(u) < 1e-9].tolist()
        assert record["correct"] == right.sum()
        assert record["removed"] == ([] if record is fit.history[-1] else removed)
        left = np.setdiff1d(left, record["removed"])
    assert not removed


def test_a_machine_that_is_right_on_one_class_alone_is_the_last_one():
    y = np.repeat([1.0, -1.0], [18, 2])
    data = fsopt.Dataset(np.random.default_rng(0).normal(size=(20, 3)), y)
    fit = fsopt.fit("concave-svm", data, c=1e-3)
    assert [record["n_features"] for record in fit.history] == [3]
    assert fsopt.verify(fit, data).verified


def test_samples_with_weights_are_repeated_samples():
    weights = np.where(np.arange(40) % 3 == 0, 2.0, 1.0)
    twice = fsopt.Dataset(np.repeat(DATA.X, weights.astype(int), axis=0), np.repeat(DATA.y, weights.astype(int)))
    fits = [fsopt.fit("concave-svm", one, c=0.5, scale="none") for one in (DATA.weighted(sample_weight=weights), twice)]
    assert fits[0].support == fits[1].support
    assert fits[0].objective == pytest.approx(fits[1].objective, rel=1e-6)


def test_a_solver_without_vertices_is_refused_before_the_first_machine():
    with pytest.raises(fsopt.FsoptError, match="needs vertices and solver 'clarabel'"):
        fsopt.fit(
            "concave-svm", DATA, lp_solver="clarabel", progress=lambda record: pytest.fail("a machine was trained")
        )
    with pytest.raises(fsopt.FsoptError, match="alpha"):
        fsopt.fit("concave-svm", DATA, alpha=0.0)
