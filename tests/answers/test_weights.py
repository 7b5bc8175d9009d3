"""A printed table of weights is the classifier: with the intercept it gives the predictions on raw samples."""

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.answers.fits import fit_record
from fsopt.cli.fitting import print_fit

RNG = np.random.default_rng(5)
SMALL = blobs(60, 8, gap=0.7, seed=3)
SCALES = np.array([1.0, 1e-6, 1e6, 30.0, 1.0, 1e-2, 7.0, 100.0])
TABLES = {
    "units": SMALL.X * SCALES + np.array([3.0, -1e-6, 5e6, 1.0, 0.0, 0.5, 2000.0, -40.0]),
    "far from 0": SMALL.X + 1e9,
    "constant and 0/1": np.column_stack([SMALL.X[:, :4], np.full(60, 7.0), RNG.integers(0, 2, (60, 3))]),
}


def listed(text):
    """Return the rows of the printed table of weights as records of texts, and the intercept."""
    lines = text.splitlines()
    intercept = next(float(line.split()[-1]) for line in lines if line.startswith("intercept"))
    start = next(k for k, line in enumerate(lines) if line.startswith("feature ") and "weight" in line)
    heads = lines[start].replace("weight (raw units)", "weight").split()
    rows = []
    for line in lines[start + 1 :]:
        if len(line.split()) != len(heads):
            break
        rows.append(dict(zip(heads, line.split(), strict=True)))
    return rows, intercept


def printed_scores(text, X):
    """Return the scores of raw samples by the printed numbers alone."""
    rows, intercept = listed(text)
    places = [int(row["feature"].removeprefix("x")) - 1 for row in rows]
    w = np.array([float(row["weight"]) for row in rows])
    Z, norm = X[:, places], 1.0
    if "shift" in rows[0]:
        assert len(rows) == X.shape[1]
        Z = Z - np.array([float(row["shift"]) for row in rows])
        norm = np.sqrt((Z / np.array([float(row["scale"]) for row in rows])) ** 2 @ np.ones(len(w)))
    return Z @ w / norm + intercept


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("method", fsopt.METHODS)
def test_printed_weights_are_the_classifier(method, table, capsys):
    X = TABLES[table]
    data = fsopt.Dataset(X, SMALL.y)
    fit = fsopt.fit(method, data, **fsopt.METHODS[method].compare(data.p))
    print_fit(fit, fit_record(fit, source="x"))
    scores = fit.decision_function(X)
    clear = np.abs(scores) > 2e-3 * np.abs(scores - np.median(scores)).max()
    for text in (capsys.readouterr().out, fit.summary()):
        if not fit.coef.any():
            continue
        found = printed_scores(text, X)
        assert np.array_equal(np.where(found > 0, 1.0, -1.0)[clear], fit.predict(X)[clear]), text


def test_a_feature_below_the_threshold_of_the_rule_is_listed_as_not_selected():
    data = fsopt.Dataset(TABLES["units"], SMALL.y)
    fit = fsopt.fit("l1-svm", data, scale="center")
    frame = fit.to_frame()
    assert tuple(frame["feature"][frame["selected"]]) != tuple(frame["feature"])
    assert set(frame["feature"][frame["selected"]]) == set(fit.features)
    places = [int(name[1:]) - 1 for name in frame["feature"]]
    used = np.zeros(data.p)
    used[places] = frame["weight"]
    assert np.array_equal(used, fit.coef)


@pytest.mark.parametrize("table", TABLES)
def test_the_selection_of_the_one_norm_machine_does_not_depend_on_units(table):
    X = TABLES[table]
    fits = [fsopt.fit("l1-svm", fsopt.Dataset(part, SMALL.y), c=0.1) for part in (X, X * SCALES**2)]
    assert fits[0].support == fits[1].support


def test_a_table_of_kernel_weights_names_patterns():
    fit = fsopt.fit("svm", fsopt.Dataset(SMALL.X, SMALL.y), kernel="gaussian")
    frame = fit.to_frame()
    assert frame["feature"].str.startswith("row ").all()
    assert set(frame["feature"][frame["selected"]]) == set(fit.features)


@pytest.mark.parametrize("method", [name for name, spec in fsopt.METHODS.items() if "scale" in spec.parameters])
def test_a_constant_feature_without_preprocessing_counts(method):
    data = fsopt.Dataset(TABLES["constant and 0/1"], SMALL.y)
    fit = fsopt.fit(method, data, **{**fsopt.METHODS[method].compare(data.p), "scale": "none"})
    found = printed_scores(fit.summary(), data.X) if fit.coef.any() else fit.intercept
    np.testing.assert_allclose(found, fit.decision_function(data.X), atol=2e-3 * np.ptp(fit.decision_function(data.X)))
