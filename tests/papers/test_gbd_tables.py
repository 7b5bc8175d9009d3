"""The experiments of Aytug: measures and averages by hand, tuned methods, real data."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import fsopt
from fsopt.data import gbd_set_one
from fsopt.errors import ParameterError, UnknownNameError
from fsopt.papers.gbd.tables import (
    C_VALUES,
    COMPARED,
    Measured,
    alignment,
    averages,
    candidates,
    data_set_one,
    measure,
    overlap,
    real_data,
)
from fsopt.studies.tuning import tune


def row(instance, method, test_error, p=5, found=5, aligned=1.0):
    return Measured(instance, method, {}, "feasible", None, p, 2, 2, 0.0, test_error, found, aligned, 1.0, 8.0)


def test_measures_by_hand():
    assert overlap((0, 1), (0, 1), 5) == 5
    assert overlap((0, 2), (0, 1), 5) == 3
    assert overlap((), (0, 1, 3), 5) == 2
    assert alignment(np.array([0.0, 3.0]), np.array([0.0, 2.0])) == pytest.approx(1.0)
    assert alignment(np.array([1.0, 1.0]), np.array([0.0, -2.0])) == pytest.approx(-np.sqrt(0.5))
    assert alignment(np.zeros(2), np.array([0.0, 2.0])) == 0.0


def test_candidates_are_the_grids_of_the_paper():
    for method in COMPARED:
        options = candidates(method, 4, max_cuts=7)
        assert len(options) == 8
        key = "lam" if method == "fsv" else "c"
        values = [o[key] for o in options]
        assert values == sorted(values)
        assert all(o["scale"] == "none" for o in options)
        counted = ("gbd", "best-subset", "rfe", "infogain")
        assert all(o.get("m") == (4 if method in counted else None) for o in options)
    assert {o["max_cuts"] for o in candidates("gbd", 4, max_cuts=7)} == {7}
    priced = [(o["c"], o["lam"]) for o in candidates("gbd-lambda", 4)]
    assert priced == sorted(itertools.product(C_VALUES, (1 / 64, 1 / 16, 1 / 4, 1.0)))
    with pytest.raises(ParameterError, match="'mpm' has no penalty weight C"):
        candidates("mpm", 4)
    with pytest.raises(UnknownNameError):
        data_set_one(methods=("gbd", "svn"))


def test_the_paper_s_lambda_of_one_selects_nothing():
    train = gbd_set_one(6, 60, 2)[0]
    assert fsopt.fit("fsv", train, lam=1.0, scale="none").support == ()
    assert all(o["lam"] < 1 for o in candidates("fsv", 4))


def test_the_first_candidate_of_smallest_validation_error_is_measured():
    train, validation, test, truth, w = instance = gbd_set_one(10, 60, 3)
    tuned = tune("rfe", train, candidates("rfe", len(truth)), validation=validation)
    best, found = tuned.fit, measure("rfe", instance)
    assert (found.params, found.validation_error) == (best.params, tuned.error)
    assert found.test_error == pytest.approx(np.mean(np.sign(test.X @ best.coef + best.intercept) != test.y))
    assert found.overlap == 10 - np.sum((np.abs(best.coef) > 0) != (w != 0))
    assert found.alignment == pytest.approx(best.coef @ w / np.linalg.norm(best.coef) / np.linalg.norm(w))
    assert (found.m, found.p, found.n_features) == (len(truth), 10, len(best.support))
    assert found.tuning_seconds > found.seconds


def test_gbd_is_measured_with_its_gap_under_a_cap():
    instance = gbd_set_one(6, 30, 4)
    found = measure("gbd", instance, max_cuts=2)
    assert found.n_features <= len(instance[3])
    assert found.params["max_cuts"] == 2
    again = fsopt.fit("gbd", instance[0], **found.params)
    assert found.gap == pytest.approx((again.objective - again.bound) / again.objective, abs=1e-9)
    assert (found.status == "optimal") == (found.gap <= 1e-4)
    assert again.iterations <= 2


def test_the_exact_search_is_never_above_the_loop_at_the_same_c_and_proves_few_features():
    train, _, _, truth, _ = instance = gbd_set_one(8, 60, 2)
    found = measure("best-subset", instance)
    assert found.status == "optimal"
    assert found.gap <= 1e-4
    loop = fsopt.fit("gbd", train, m=len(truth), c=found.params["c"], preset="printed", scale="none", max_cuts=5)
    best = fsopt.fit("best-subset", train, **found.params)
    assert best.objective <= loop.objective * (1 + 1e-4)


@pytest.mark.slow
def test_real_data_have_a_column_of_gbd_lambda():
    train = gbd_set_one(6, 60, 4)[0]
    rows = real_data(train, methods=("onsvm", "gbd-lambda"))
    assert [row.method for row in rows] == ["onsvm", "gbd-lambda"]
    assert (rows[1].overlap, rows[1].alignment) == (None, None)
    assert rows[1].n_features <= train.p


def test_averages_by_hand():
    rows = [
        row("a", "gbd", 0.1),
        row("a", "rfe", 0.2, found=3, aligned=0.5),
        row("b", "gbd", 0.0),
        row("b", "rfe", 0.0),
        row("c", "gbd", 0.4),
        row("c", "rfe", 0.3, found=4, aligned=0.9),
    ]
    gbd, rfe = averages(rows)
    assert (gbd.method, gbd.n, gbd.exact) == ("gbd", 3, 3)
    assert (gbd.difference, gbd.percent, gbd.better, gbd.worse) == (0, 0, 0, 0)
    assert rfe.test_error == pytest.approx(0.5 / 3)
    assert rfe.difference == pytest.approx(0.0)
    assert rfe.percent == pytest.approx((-100 + 25) / 2)
    assert (rfe.better, rfe.worse, rfe.exact) == (1, 1, 1)
    assert rfe.overlap == pytest.approx(4.0)
    assert rfe.alignment == pytest.approx(0.8)
    free = averages([replace(row("a", "gbd", 0.0), overlap=None, alignment=None), row("a", "rfe", 0.5)])
    assert free[1].percent is None
    assert (free[0].overlap, free[0].alignment, free[0].exact) == (None, None, None)
    assert [one.proved for one in averages([replace(rows[0], status="optimal"), *rows[2::2]])] == [1]
    beside = {one.method: one for one in averages(rows, "rfe")}
    assert (beside["gbd"].better, beside["gbd"].worse, beside["rfe"].better) == (1, 1, 0)
    with pytest.raises(ParameterError, match="other instances"):
        averages([row("a", "gbd", 0.1), row("b", "rfe", 0.1)])
    with pytest.raises(ParameterError, match="other instances"):
        averages(rows[1::2])
