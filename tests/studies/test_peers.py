"""Peers: the classifier of the package itself on the same standardised samples, and the errors of a study."""

import numpy as np
import pytest
from sklearn.svm import SVC, LinearSVC
from support import blobs

import fsopt
from fsopt.data.splits import stratified_folds, train_and_test
from fsopt.errors import PackageError, ParameterError, UnknownNameError
from fsopt.studies.executors import InProcess
from fsopt.studies.peers import PEERS, fit_peer

NAMES = ("x11", "mean radius", "Größe (mm)", "x1", 'a,b; "c"', "x2")
DATA = fsopt.Dataset(blobs(40, 6, gap=0.6).X, blobs(40, 6).y, NAMES)
Z = (DATA.X - DATA.X.mean(axis=0)) / DATA.X.std(axis=0)


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.filterwarnings("ignore")  # of the package, which fit_peer and this test call
def test_a_peer_is_a_linear_classifier_on_named_features(name):
    pytest.importorskip(PEERS[name].package)
    limit = {"m": 2} if "m" in PEERS[name].parameters else {"alpha": 0.1} if name == "skglm" else {"c": 0.1}
    fit = fit_peer(name, DATA, **limit)
    assert (fit.method, fit.status, fit.bound, fit.certificate) == (name, "feasible", None, None)
    assert fit.support == tuple(np.flatnonzero(np.abs(fit.coef) > 1e-6 * np.abs(fit.coef).max()).tolist())
    assert len(fit.support) == 2 or "m" not in limit
    assert fit.scores(DATA)["accuracy"] > 0.7
    assert np.sum(fit.decision_function(DATA.X) > 0) not in (0, DATA.n)
    w, _ = PEERS[name].function(Z, DATA.y, **limit)
    chosen = {NAMES[j] for j in np.flatnonzero(np.abs(w) > 1e-6 * np.abs(w).max())}
    assert set(fit.features) == chosen
    assert set(fit_peer(name, DATA.columns([3, 1, 5, 0, 2, 4]), **limit).features) == chosen
    # In a study the test samples are found by the names of their features.
    study = {"data": [DATA], "folds": 2, "all_samples": True, "methods": [{"name": name, "params": limit}]}
    whole, *rows = fsopt.run_study(study, executor=InProcess()).rows
    assert (whole["error"], whole["features"]) == ("", list(fit.features))
    for row, test in zip(rows, stratified_folds(DATA, 2, 0), strict=True):
        train, held_out = train_and_test(DATA, test)
        part = fit_peer(name, train, **limit)
        assert row["features"] == list(part.features)
        assert row["accuracy"] == np.mean(part.predict(held_out.X) == held_out.y)


def test_the_numbers_are_those_of_scikit_learn():
    machine = LinearSVC(penalty="l1", dual=False, C=0.3, max_iter=10_000, random_state=0).fit(Z, DATA.y)
    fit = fit_peer("sklearn-l1-svc", DATA, c=0.3)
    np.testing.assert_allclose(fit.decision_function(DATA.X), machine.decision_function(Z), atol=1e-9)
    kept = fit_peer("sklearn-kbest", DATA, m=2, c=0.7)
    part = SVC(kernel="linear", C=0.7).fit(Z[:, kept.support], DATA.y)
    scores = part.decision_function(Z[:, kept.support])
    np.testing.assert_allclose(kept.decision_function(DATA.X), scores, atol=1e-9)


def test_a_study_takes_methods_and_peers_with_the_same_splits():
    methods = [
        {"name": "svm"},
        {"name": "sklearn-rfe", "grid": {"m": [1, 2]}},
        {"name": "sklearn-l1-logistic", "grid": {"c": [0.1, 1.0]}, "tune": True, "inner_folds": 2},
    ]
    study = {"data": [DATA], "folds": 2, "methods": methods}
    found = fsopt.run_study(study, executor=InProcess())
    assert found.complete
    rows = [row for row in found.rows if row["method"] == "sklearn-rfe" and row["params"]["m"] == 2]
    assert [row["n_features"] for row in rows] == [2, 2]
    assert {row["fitted"]["c"] for row in found.rows if row["method"] == "sklearn-l1-logistic"} <= {0.1, 1.0}


@pytest.mark.parametrize(
    ("name", "params", "match"),
    [("skglm", {"lam": 1.0}, "'lam'"), ("abess", {"m": 99}, "6 features"), ("sklearn-rfe", {"c": "x"}, "number > 0")],
)
def test_wrong_parameters(name, params, match):
    with pytest.raises(ParameterError, match=match):
        fit_peer(name, DATA, **params)


def test_a_missing_package_is_named(monkeypatch):
    from fsopt.studies import peers

    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(peers, "import_module", absent)
    with pytest.raises(PackageError, match=r"abess.*fsopt\[peers\]"):
        fit_peer("abess", DATA)


def test_fit_does_not_know_them_and_a_study_knows_both():
    with pytest.raises(UnknownNameError):
        fsopt.fit("skglm", DATA)
    with pytest.raises(UnknownNameError, match="did you mean"):
        fsopt.run_study({"data": [DATA], "folds": 2, "methods": [{"name": "sklearn-rf"}]}, executor=InProcess())
