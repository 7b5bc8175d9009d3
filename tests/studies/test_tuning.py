"""Tuning: cross-validation, ties and validation data; every parameter goes through a study, or is refused before it."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from support import blobs, sampled

import fsopt
from fsopt.data.splits import stratified_folds
from fsopt.errors import FsoptError, InfeasibleError, ParameterError, UnknownNameError
from fsopt.studies import tuning
from fsopt.studies.comparison import compare
from fsopt.studies.study import StudyMethod
from fsopt.studies.tuning import cross_validate, tune

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture
def spied(monkeypatch):
    """Replace the fit of the tuning by one that keeps its training data and predicts by a given function."""
    seen = []

    def spy(method, data, *, solver=None, **params):
        seen.append((data, params, solver))
        label = params.get("label", 1.0)
        hyperplane = {"coef": np.array([1.0, 0.5, 0.0]), "kernel": None}
        return SimpleNamespace(decision_function=lambda X: np.full(len(X), label), params=params, **hyperplane)

    monkeypatch.setattr(tuning, "study_fit", spy)
    return seen


def numbered(n, share=0.5):
    """Return data whose first feature is the number of the sample."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(n), rng.standard_normal((n, 2))])
    return fsopt.Dataset(X, np.where(np.arange(n) < share * n, 1.0, -1.0))


def test_folds_are_stratified_disjoint_and_the_same_for_all_candidates(spied):
    data = numbered(40, share=0.25)
    cross_validate("svm", data, [{"c": 1.0}, {"c": 2.0}], folds=5, seed=3, solver="scs")
    held = [frozenset(range(40)) - set(d.X[:, 0].astype(int)) for d, _, _ in spied]
    assert held[:5] == held[5:]
    assert sorted(i for part in held[:5] for i in part) == list(range(40))
    assert all(sum(i < 10 for i in part) == 2 and len(part) == 8 for part in held)
    assert [p for _, p, _ in spied] == [{"c": 1.0}] * 5 + [{"c": 2.0}] * 5
    assert {s for _, _, s in spied} == {"scs"}


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
    with pytest.raises(UnknownNameError):
        cross_validate("svn", data, [{}])
    with pytest.raises(ParameterError, match="candidates"):
        cross_validate("svm", data, [])
    with pytest.raises(ParameterError, match="folds"):
        cross_validate("svm", data, [{}], folds=16)
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
VALUES = json.loads("""{
"r_plus": 2.0, "r_minus": 2.0, "c_plus": 2.0, "c_minus": 2.0, "c": 0.5, "w_cap": 2.0, "lam": 0.2, "alpha": 2.0,
"tolerance": 1e-3, "ridge": 0.1, "width": 2.0, "theta": 0.5, "delta": 0.2, "m": 2, "budget": 3.0, "step": 2,
"n_starts": 2, "seed": 1, "max_nodes": 7, "jobs": 2, "max_cuts": 40, "max_iterations": 3, "n_partitions": 3,
"scale": "none", "kernel": "gaussian", "approx": "log", "preset": "printed", "master_solver": "highs",
"scaling": "global", "loss": "squared-hinge", "costs": [1.0, 2.0, 1.0, 2.0, 1.0, 1.0], "include": ["Größe"],
"implies": [["x11", "x1"]], "conflicts": [["x11", "x1"]], "groups": [["x11", "x1"]], "initial": ["x11"],
"positive": ["x1"], "negative": ["x1"], "lower": {"x1": -1.0}, "upper": {"x1": 1.0},
"gmeb route": "theta-cuts", "l0-mpm start": [0.5, 0.5, 0.0, 0.0, 0.0, 0.0], "gbd start": "zero",
"gbd-lambda start": "zero"}""")
"""Parameter, or method and parameter -> a value that is not its default."""
KINDS = ("best-subset", "svm", "pmm", "ks")
"""Methods that differ in kind: with parameters of comparisons, of a program, a loop, a filter."""
METHODS = [*KINDS, *(name for name in fsopt.METHODS if name not in KINDS)]


def by_fit(method, params):
    """Return the error of the fit by itself, empty where there is none."""
    try:
        fsopt.fit(method, NAMED, **params)
    except FsoptError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("method", sampled(METHODS, len(KINDS)))
def test_every_parameter_given_alone_goes_through_a_study(method):
    known = fsopt.METHODS[method].parameters
    alone = [{name: VALUES.get(f"{method} {name}", VALUES.get(name))} for name in known]
    assert all(params[name] != known[name] for params in alone for name in params), "values that are given"
    study = {"data": [NAMED], "folds": 0, "methods": [{"name": method, "params": params} for params in alone]}
    for params, row in zip(alone, fsopt.run_study(study).rows, strict=True):
        refused = bool({"costs", "budget"} & set(params))  # each needs the other one
        assert (row["status"] == "none", row["error"]) == (refused, by_fit(method, params) if refused else "")


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


REFUSED = [
    ({"name": "svm", "grid": {"c": [1.0, -1.0]}}, r"'c' of 'svm' is -1\.0: give a value inside \[1e-100, 1e100\]"),
    ({"name": "svm", "grid": {"c": [1.0, "large"]}}, "'c' of 'svm' is 'large': it must be a number"),
    ({"name": "svm", "grid": {"c": [float("nan")]}}, "'c' of 'svm' is nan: "),
    ({"name": "best-subset", "grid": {"m": [1, 2.5]}}, "'m' of 'best-subset' is 2.5: it must be a whole number"),
    ({"name": "gmeb", "grid": {"scale": ["standard", "unit"]}}, "'scale' of 'gmeb' is 'unit': give a value of .*none"),
    ({"name": "fsv", "grid": {"lam": [0.5, 2]}, "tune": True}, r"'lam' of 'fsv' is 2: give a value inside \[0, 1\]"),
    ({"name": "gbd", "params": {"max_nodes": 3}}, "has no parameter 'max_nodes'"),
]


@pytest.mark.parametrize(("method", "message"), REFUSED, ids=[str(method) for method, _ in REFUSED])
def test_a_value_that_no_data_make_right_is_refused_before_the_first_unit(tmp_path, method, message):
    with pytest.raises(ParameterError, match=message):
        fsopt.run_study({"data": [NAMED], "methods": ["pearson", method]}, store=tmp_path / "s.sqlite")
    assert not list(tmp_path.iterdir())
    last = {name: values[-1] for name, values in method.get("grid", {}).items()}
    with pytest.raises(FsoptError):  # the method refuses it, too
        fsopt.fit(method["name"], NAMED, **method.get("params", {}), **last)


def test_what_methods_take_is_taken():
    how = {"params": {"costs": [1.0, 2.0, 1.0], "budget": 2}, "grid": {"c": [1, 0.1], "loss": ["hinge"]}}
    StudyMethod(name="best-subset", **how).check()
    for name, spec in fsopt.METHODS.items():
        StudyMethod(name=name, params={k: v for k, v in spec.parameters.items() if v is not None}).check()
        StudyMethod(name=name, grid=spec.candidates).check()
