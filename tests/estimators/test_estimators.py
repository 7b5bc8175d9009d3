"""Estimators: scikit-learn's own checks, and what users put them into."""

import dataclasses
import inspect
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.estimator_checks import check_estimator
from support import ROOT, blobs, sampled

import fsopt
from fsopt import estimators
from fsopt.errors import DataError
from fsopt.methods.registry import METHODS

DATA = blobs(30, 5, gap=0.8, seed=2)
FRAME = pd.DataFrame(DATA.X, columns=list("abcde"))
LABELS = np.where(DATA.y > 0, "yes", "no")
EACH = [getattr(estimators, name) for name in estimators.__all__]
QUICK = {"SMPM": {"lam": 0.05}, "VSSSVM": {"n_partitions": 2}, "GBDLambda": {"tolerance": 0.01}}
"""Parameters with which a method that takes long is quicker: the checks are of what all estimators have in common."""
KINDS = ("BestSubsetSVM", "GMEB", "KS", "L0MPM", "RSVM", "SVM")


@pytest.mark.slow
@pytest.mark.parametrize("estimator", EACH, ids=lambda cls: cls.__name__)
def test_the_checks_of_scikit_learn(estimator):
    with warnings.catch_warnings(action="ignore"):
        check_estimator(estimator(**QUICK.get(estimator.__name__, {})))


def test_the_classes_are_made_at_their_first_use_and_are_always_the_same():
    loaded = "[m for m in ('sklearn', 'fsopt.methods') if m in sys.modules]"
    code = f"import sys, fsopt.estimators; print({loaded})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() == "[]", done.stderr
    assert estimators.GMEB is estimators.GMEB
    with pytest.raises(AttributeError, match="no registered method has this estimator"):
        estimators.Nothing  # noqa: B018
    with pytest.raises(TypeError, match="unexpected keyword argument 'q'"):
        estimators.GMEB(q=1.0)


def test_a_registered_method_has_an_estimator_and_a_replaced_one_a_new_one(monkeypatch):
    monkeypatch.setattr(METHODS, "own", {})

    def fit_own(data, run, *, cost: float = 2.0):
        return METHODS["svm"].fit(data, run, c=cost)

    own = dataclasses.replace(METHODS["svm"], name="my-svm", fit=fit_own, weights="")
    fsopt.register_method(own)
    first = estimators.MySvm
    assert list(inspect.signature(first).parameters) == ["cost", "solver", "time_limit", "callback"]
    assert "MySvm" in dir(estimators)
    found = first(cost=0.5).fit(DATA.X, LABELS)
    assert found.fit_.objective == pytest.approx(fsopt.fit("svm", DATA, c=0.5).objective, rel=1e-6)
    assert clone(found).get_params()["cost"] == 0.5
    fsopt.register_method(dataclasses.replace(own, fit=METHODS["svm"].fit), replace=True)
    assert "kernel" in inspect.signature(estimators.MySvm).parameters
    assert estimators.SVM.method == "svm"


def test_every_method_has_an_estimator_with_its_parameters_and_defaults():
    assert sorted(cls.method for cls in EACH) == sorted(METHODS)
    for estimator in EACH:
        stated = {k: p.default for k, p in inspect.signature(estimator).parameters.items()}
        rest = {k: stated.pop(k) for k in ("class_weight", "solver", "time_limit", "callback") if k in stated}
        assert stated == dict(METHODS[estimator.method].parameters)
        assert set(rest.values()) == {None}
        assert ("class_weight" in rest) == bool(METHODS[estimator.method].weights)
        assert ("solver" in rest) == METHODS[estimator.method].solver


@pytest.mark.parametrize("estimator", sampled(sorted(EACH, key=lambda cls: cls.__name__ not in KINDS), len(KINDS)))
def test_an_estimator_gives_the_answer_of_its_method(estimator):
    params = {"m": 2} if "m" in METHODS[estimator.method].parameters else {}
    found = estimator(**params).fit(FRAME, LABELS)
    fit = fsopt.fit(estimator.method, DATA, **params)
    assert found.fit_.objective == pytest.approx(fit.objective, rel=1e-6)
    assert found.predict(FRAME).tolist() == np.where(fit.predict(DATA.X) > 0, "yes", "no").tolist()
    kept = found.set_output(transform="pandas").transform(FRAME)
    assert list(kept.columns) == found.get_feature_names_out().tolist() == [list("abcde")[j] for j in fit.support]
    assert (found.certificate_ is None) == (fit.certificate is None)


def test_sparse_samples_of_a_method_that_needs_dense_ones_are_a_value_error():
    X = sp.csr_matrix(DATA.X)
    assert [kind().__sklearn_tags__().input_tags.sparse for kind in (estimators.GMEB, estimators.FSV)] == [False, True]
    with pytest.raises(ValueError, match="'gmeb' needs dense data"):
        estimators.GMEB().fit(X, LABELS)
    known = estimators.GMEB().fit(DATA.X, LABELS)
    np.testing.assert_allclose(known.decision_function(X), known.decision_function(DATA.X))


def test_three_classes_one_against_the_rest():
    several = np.digitize(DATA.X[:, 0], np.quantile(DATA.X[:, 0], [0.3, 0.7]))
    found = OneVsRestClassifier(estimators.SVM(c=10.0)).fit(DATA.X, several)
    assert found.predict(DATA.X).shape == (DATA.n,)
    with pytest.raises(ValueError, match="OneVsRestClassifier"):
        estimators.SVM().fit(DATA.X, several)


def test_solver_time_limit_and_callback_are_those_of_the_fit():
    seen = []
    found = estimators.GBD(m=2, solver="clarabel", time_limit=60.0, callback=seen.append)
    assert "clarabel" in found.fit(DATA.X, LABELS).fit_.solver
    assert len(seen) > 0


def test_class_weights_by_the_names_of_the_classes():
    few = DATA.rows(np.append(DATA.positive[:6], DATA.negative))
    names = np.where(few.y > 0, "yes", "no")
    recall = [
        np.mean(estimators.SVM(class_weight=w, c=0.05).fit(few.X, names).predict(few.X)[few.y > 0] == "yes")
        for w in (None, "balanced", {"yes": 20.0})
    ]
    assert recall[0] < recall[1] <= recall[2]
    with pytest.raises(ValueError, match="a class of the class weights is 'maybe'"):
        estimators.SVM(class_weight={"maybe": 2.0}).fit(few.X, names)


def test_probabilities_are_those_of_the_logistic_loss_and_others_are_calibrated():
    found = estimators.BestSubsetSVM(m=2, loss="logistic").fit(FRAME, LABELS)
    probabilities = found.predict_proba(FRAME)
    assert np.array_equal(probabilities, found.fit_.predict_proba(FRAME.to_numpy()))
    assert np.array_equal(found.classes_[probabilities.argmax(axis=1)], found.predict(FRAME))
    assert not hasattr(estimators.SVM(), "predict_proba")
    with pytest.raises(AttributeError, match=r"SVM with this loss .*CalibratedClassifierCV"):
        estimators.SVM().fit(FRAME, LABELS).predict_proba(FRAME)
    calibrated = CalibratedClassifierCV(estimators.SVM(), cv=2).fit(FRAME, LABELS)
    assert calibrated.predict_proba(FRAME).shape == (len(FRAME), 2)
    with pytest.raises(NotFittedError):
        estimators.BestSubsetSVM(loss="logistic").predict_proba(FRAME)


def test_masked_values_are_refused_as_by_every_other_door():
    """numpy and scikit-learn would take the numbers under the mask."""
    masked, labels, weights = (np.ma.masked_greater(a, 0.0) for a in (DATA.X, DATA.y, np.ones(30)))
    found = estimators.SVM().fit(np.ma.masked_array(DATA.X), LABELS)
    for args in ((masked, LABELS), (DATA.X, labels), (DATA.X, LABELS, weights)):
        with pytest.raises(ValueError, match="masked values: fill them"):
            estimators.SVM().fit(*args)
    for use in (found.predict, found.decision_function, found.transform):
        with pytest.raises(ValueError, match="X has masked values"):
            use(masked)
    with pytest.raises(DataError, match="sample_weight has masked"):
        fsopt.fit("svm", DATA, sample_weight=weights)
