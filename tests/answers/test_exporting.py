"""The written class of a fit needs numpy alone, and predicts as the fit does, bit for bit."""

import ast

import numpy as np
import pandas as pd
import pytest
from support import blobs

import fsopt
from fsopt.errors import FileError, ParameterError

RNG = np.random.default_rng(2)
DATA = fsopt.Dataset(
    blobs(60, 6, seed=4).X * [1.0, 1e-6, 1e6, 3.0, 1.0, 20.0] + [0.0, 1e-6, 1e7, 0.0, 9.0, 1.0],
    np.where(blobs(60, 6, seed=4).y > 0, "ill", "well"),
    ["a", "b c", 'd"', "é", "x\\n'", "6"],
    labels=("well", "ill"),
)
NEW = DATA.X[RNG.integers(0, 60, 200)] + DATA.X.std(axis=0) * RNG.standard_normal((200, 6))
FRAME = pd.DataFrame(
    {
        "size": [float(f"{v:.3f}") if k % 7 else np.nan for k, v in enumerate(RNG.normal(5.0, 2.0, 60))],
        "kind": np.where(DATA.y > 0, "none", np.where(DATA.X[:, 0] > 0, "red", "b\"lue'")),
        "grade": RNG.integers(1, 4, 60),
        "smoker": RNG.integers(0, 2, 60).astype(bool),
        "pain": [("none", "some", "much", None)[k] for k in RNG.integers(0, 4, 60)],
        "seen": np.where(RNG.random(60) < 0.5, "late", "early"),
        "target": np.where(RNG.random(60) < 0.2, -DATA.y, DATA.y).astype(int),
    }
)
FRAME.loc[::9, "kind"] = np.nan


def loaded(path):
    """Return the predictor of a file, which imports nothing but numpy and the standard library."""
    text = path.read_text(encoding="utf-8")
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    assert names == {"__future__", "math", "collections.abc", "typing", "numpy"}
    space = {}
    exec(compile(text, str(path), "exec"), space)
    return space["predictor"]


@pytest.mark.parametrize("method", fsopt.METHODS)
def test_the_written_class_predicts_as_the_fit(method, tmp_path):
    fit = fsopt.fit(method, DATA, **fsopt.METHODS[method].compare(DATA.p))
    own = fsopt.export_predictor(fit, tmp_path / "predictor.py")
    for one in (own, loaded(tmp_path / "predictor.py")):
        for X in (NEW, pd.DataFrame(NEW, columns=DATA.features), dict(zip(DATA.features, NEW.T, strict=True))):
            assert np.array_equal(one.decision_function(X), fit.decision_function(NEW))
            assert np.array_equal(one.predict(X), fit.predict(NEW))
        assert np.array_equal(one.predict_labels(NEW), fit.predict_labels(NEW))


@pytest.mark.parametrize("missing", ["mean", "median", "indicator"])
@pytest.mark.parametrize("method", ["best-subset", "rsvm"])
def test_columns_of_a_table_become_the_same_features(method, missing, tmp_path):
    data = fsopt.load_dataset(FRAME, target="target", onehot=True, missing=missing)
    fit = fsopt.fit(method, data)
    fsopt.export_predictor(fit, tmp_path / "predictor.py")
    new = FRAME.drop(columns="target").sample(frac=1.0, random_state=1)
    new.loc[3, "kind"] = "unknown"
    one = loaded(tmp_path / "predictor.py")
    assert np.array_equal(one.decision_function(new), fit.decision_function(new))
    assert np.array_equal(one.decision_function(new.to_dict("list")), fit.decision_function(new))
    assert one.predict_labels(new).dtype == fit.predict_labels(new).dtype


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "linear"])
def test_kernels(kernel):
    fit = fsopt.fit("svm", DATA, kernel=kernel)
    found = fsopt.export_predictor(fit).decision_function(NEW)
    assert found == pytest.approx(fit.decision_function(NEW), rel=1e-12, abs=1e-12)


def test_probabilities_are_those_of_the_logistic_loss():
    fit = fsopt.fit("best-subset", DATA, loss="logistic", m=2)
    assert np.array_equal(fsopt.export_predictor(fit).predict_proba(NEW), fit.predict_proba(NEW))
    with pytest.raises(ValueError, match="not the logistic one"):
        fsopt.export_predictor(fsopt.fit("svm", DATA)).predict_proba(NEW)


@pytest.mark.parametrize(
    ("samples", "reason"),
    [
        (NEW[:, :3], r"\(n, 6\)"),
        (NEW[0], r"\(n, 6\)"),
        (np.where(NEW[4, 2] == NEW, np.nan, NEW), "row 5"),
        (pd.DataFrame(NEW, columns=[*DATA.features[1:], "z"]), "no column 'a'"),
        (pd.DataFrame(NEW, columns=["a"] * 6), "one name"),
        (pd.DataFrame(NEW, columns=DATA.features).assign(a="text"), "column 'a'"),
        (pd.DataFrame(NEW, columns=DATA.features).assign(a=None), "column 'a' has no value in row 1"),
    ],
)
def test_samples_that_are_none_are_refused(samples, reason):
    one = fsopt.export_predictor(fsopt.fit("svm", DATA))
    with pytest.raises(ValueError, match=reason):
        one.predict(samples)


def test_a_fit_is_exported_to_a_python_file(tmp_path):
    fit = fsopt.fit("svm", DATA)
    with pytest.raises(FileError, match=r"\.py"):
        fsopt.export_predictor(fit, tmp_path / "predictor.json")
    with pytest.raises(ParameterError, match="a Fit"):
        fsopt.export_predictor("fit.json")
