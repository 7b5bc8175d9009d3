"""Tuning: cross-validation, ties and validation data; parameters and solvers of methods that are compared."""

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.data.dataset import stratified_folds
from fsopt.errors import InfeasibleError, ParameterError
from fsopt.studies import tuning
from fsopt.studies.comparison import compare
from fsopt.studies.study import StudyMethod
from fsopt.studies.tuning import cross_validate, tune

pytestmark = pytest.mark.usefixtures("in_process")


def test_errors_are_the_shares_of_the_held_out_samples_that_are_misclassified():
    data = blobs(45, 3, seed=2, gap=0.3)
    candidates = [{"c": 0.1}, {"c": 10.0}]
    errors = cross_validate("svm", data, candidates, folds=2, seed=4)
    for k, params in enumerate(candidates):
        for f, test in enumerate(stratified_folds(data, 2, 4)):
            fit = fsopt.fit("svm", data.rows(np.setdiff1d(np.arange(45), test)), **params)
            assert errors[k, f] == np.mean(fit.predict(data.X[test]) != data.y[test])
    assert errors.shape == (2, 2)


def test_bad_calls_are_told_before_and_failed_fits_by_their_candidate():
    data = blobs(30, 3)
    with pytest.raises(ParameterError, match="candidates"):
        cross_validate("svm", data, [])
    with pytest.raises(InfeasibleError, match=r"0\.999"):
        cross_validate("l0-mpm", data, [{"delta": 0.999}])


def test_among_equal_errors_the_first_candidate_wins(monkeypatch):
    data, candidates = blobs(30, 3), [{"c": c} for c in (4.0, 1.0, 2.0, 3.0)]
    means = {"errors": np.array([[0.3, 0.3], [0.1, 0.3], [0.2, 0.2], [0.1, 0.3]])}
    monkeypatch.setattr(tuning, "cross_validate", lambda *args, **rest: means["errors"])
    tuned = tune("svm", data, candidates)
    assert tuned.params == {"c": 1.0}
    assert tuned.fit.params["c"] == 1.0
    assert tuned.fit.objective == fsopt.fit("svm", data, c=1.0).objective
    # The same errors, added in another order: 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1 in floating point.
    thirds = np.array([[0.9, 0.9, 0.9], [0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.4, 0.4, 0.4]])
    for order in ([0, 1, 2, 3], [0, 2, 1, 3]):
        means["errors"] = thirds[order]
        assert tune("svm", data, candidates).params == {"c": 1.0}


def test_on_validation_data_the_first_best_candidate_is_chosen_and_grids_begin_with_their_end(monkeypatch):
    data, other = blobs(60, 4, seed=3, gap=0.3), blobs(50, 4, seed=4, gap=0.3)
    options = [{"c": c} for c in (10.0, 0.01, 1.0)]
    fits = [fsopt.fit("l1-svm", data, **params) for params in options]
    errors = [float(np.mean(fit.predict(other.X) != other.y)) for fit in fits]
    begun, real = [], tuning.study_fit
    monkeypatch.setattr(tuning, "study_fit", lambda *args, **rest: begun.append(rest["c"]) or real(*args, **rest))
    tuned = tune("l1-svm", data, options, validation=other)
    best = errors.index(min(errors))
    assert tuned.errors.ravel().tolist() == errors
    assert (tuned.error, tuned.params) == (min(errors), options[best])
    np.testing.assert_array_equal(tuned.fit.coef, fits[best].coef)
    assert tuned.seconds > tuned.fit.seconds["total"]
    assert begun == [1.0, 0.01, 10.0]


NAMED = fsopt.Dataset(blobs(16, 6, gap=0.4).X, blobs(16, 6).y, ("mean radius", "x11", "Größe", "x1", "a, b", "x2"))


def test_a_comparison_gives_a_solver_to_the_methods_that_have_one():
    found = compare(NAMED, methods=["gbd", "best-subset"], folds=2, solver="clarabel").rows
    assert [(row["lacking"], row["solver"]) for row in found] == [("", "highs+clarabel"), ("", "branch-and-benders")]
    asked = {"name": "best-subset", "solver": "clarabel"}
    [row] = fsopt.run_study({"data": [NAMED], "folds": 0, "methods": [asked]}).rows
    assert "'best-subset' calls no solver" in row["error"]


def in_comparisons(name, p, **params):
    return StudyMethod(name=name, params=params).choices(p)[0][0]


def test_parameters_in_comparisons_go_with_all_that_the_user_gives():
    assert in_comparisons("gbd", 4, c=2.0) == {"max_cuts": 20, "tolerance": 1e-4, "c": 2.0}
    assert in_comparisons("best-subset", 4, max_nodes=7) == {"max_nodes": 7, "tolerance": 1e-3}
    assert [in_comparisons("s-mpm", p) for p in (40, 4000)] == [{"ridge": 0.01}, {"ridge": 0.1, "lam": 0.5}]
    told = fsopt.Dataset(np.column_stack([NAMED.X[:, :1], NAMED.y]), NAMED.y)  # a feature is constant in each class
    with pytest.raises(fsopt.errors.InfeasibleError, match=r"ridge=0\.01"):
        fsopt.fit("s-mpm", told)
    assert fsopt.fit("s-mpm", told, **in_comparisons("s-mpm", 2)).certificate.ok


def test_what_methods_take_is_taken():
    how = {"params": {"costs": [1.0, 2.0, 1.0], "budget": 2}, "grid": {"c": [1, 0.1], "loss": ["hinge"]}}
    StudyMethod(name="best-subset", **how).check()
    for name, spec in fsopt.METHODS.items():
        StudyMethod(name=name, params={k: v for k, v in spec.parameters.items() if v is not None}).check()
        StudyMethod(name=name, grid=spec.candidates).check()
