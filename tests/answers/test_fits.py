"""A fit reads itself: in words, as a table, as a picture, from a file, and for samples matched by their names."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from support import blobs

import fsopt
from fsopt.answers.certificate import Kind, make, merged
from fsopt.answers.fits import fit_record
from fsopt.answers.records import FORMAT, sealed
from fsopt.answers.saved import file_of, is_parameter, read_record, solve_record
from fsopt.errors import DataError, FileError, ParameterError
from fsopt.methods.verdict import extend

DATA = fsopt.Dataset(blobs(50, 4, gap=0.8, seed=1).X, blobs(50, 4, gap=0.8, seed=1).y, ["a", "b", "c<i>", "d"])
FRAME = pd.DataFrame(DATA.X, columns=DATA.features)


@pytest.fixture(scope="module")
def fit():
    return fsopt.fit("best-subset", DATA, m=2)


def test_html_is_escaped():
    found = fsopt.fit("svm", fsopt.Dataset(DATA.X, DATA.y, DATA.features, name="<script>", labels=("<b>", "c")))
    assert "&lt;script&gt;" in found._repr_html_()
    assert not re.search("<(script|i|b)>", found._repr_html_())


def test_plots(fit):
    pytest.importorskip("matplotlib")
    assert fit.plot("weights").axes
    assert [len(axes.lines) for axes in fit.plot().axes] == [2]
    with pytest.raises(ParameterError, match="weights, convergence"):
        fit.plot("pie")
    with pytest.raises(ParameterError, match="no history"):
        fsopt.fit("svm", DATA).plot("convergence")


@pytest.mark.parametrize("method", ["best-subset", "rsvm", "fsv"])
def test_a_saved_fit_is_the_same(method, tmp_path):
    found = fsopt.fit(method, DATA)
    found.save(tmp_path / "fit.json")
    again = fsopt.load_fit(tmp_path / "fit.json")
    assert np.array_equal(again.decision_function(FRAME), found.decision_function(DATA))
    assert again.trained == found.trained
    changed = (tmp_path / "fit.json").read_text().replace('"a"', '"A"')
    (tmp_path / "other.json").write_text(changed)
    with pytest.raises(FileError, match="changed after it was saved"):
        fsopt.load_fit(tmp_path / "other.json")


def test_samples_are_matched_by_their_names(fit):
    scores = fit.decision_function(DATA.X)
    backwards = FRAME[FRAME.columns[::-1]]
    assert np.array_equal(fit.decision_function(backwards), scores)
    assert np.array_equal(fit.decision_function(DATA.columns([3, 2, 1, 0])), scores)
    assert np.array_equal(fit.decision_function(FRAME.assign(more="text")), scores)
    used = [name for name, w in zip(DATA.features, fit.coef, strict=True) if w]
    assert len(used) == 2
    assert np.array_equal(fit.decision_function(FRAME[used]), scores)
    with pytest.raises(DataError, match=f"no column {used[1]}"):
        fit.predict(FRAME[used[:1]])
    with pytest.raises(DataError, match="no column"):
        fit.predict(fsopt.Dataset(DATA.X, DATA.y))
    with pytest.raises(DataError, match="3 features"):
        fit.predict(DATA.X[:, :3])


def test_a_missing_value_is_filled_as_in_training(tmp_path):
    frame = FRAME.assign(label=DATA.y, kind=np.where(DATA.X[:, 0] > 0, "big", "small"))
    frame.loc[::7, "a"] = np.nan
    data = fsopt.load_dataset(frame, onehot=True, missing="mean")
    found = fsopt.fit("svm", data)
    found.save(tmp_path / "fit.json")
    again = fsopt.load_fit(tmp_path / "fit.json")
    assert again.predict(frame).tolist() == found.predict(data).tolist()
    one = frame.iloc[:1].assign(a=np.nan, kind="other")
    filled = one.assign(a=frame["a"].mean())
    assert again.decision_function(one) == pytest.approx(again.decision_function(filled))
    with pytest.raises(DataError, match="missing value"):
        fsopt.fit("svm", DATA).predict(FRAME.assign(a=np.nan))


def test_a_frame_with_columns_of_two_levels_is_predicted_as_it_was_fitted():
    frame = FRAME.set_axis(pd.MultiIndex.from_product([["u"], list(DATA.features)]), axis=1)
    fit, plain = (fsopt.fit("l1-svm", part, DATA.y) for part in (frame, FRAME))
    np.testing.assert_array_equal(fit.predict(frame), plain.predict(FRAME))


def test_residuals_of_several_sources_hide_none():
    assert merged({"gap": 1.0, "primal": 0.0}, {"gap": 0.0}) == {"gap": 1.0, "primal": 0.0}
    assert np.isnan(
        [merged(*parts)["gap"] for parts in (({"gap": np.nan}, {"gap": 0.0}), ({"gap": 0.0}, {"gap": np.nan}))]
    ).all()
    false = extend(make(Kind.FEASIBLE, {"gap": 1.0}), {"gap": 0.0})
    assert (false.ok, false.residuals) == (False, {"gap": 1.0})


SCHEMA_DATA = blobs(20, 3)
FIT = sealed(fit_record(fsopt.fit("svm", SCHEMA_DATA), data=SCHEMA_DATA, source="blobs"))
MODEL = fsopt.build("onsvm", SCHEMA_DATA)
SOLVE = sealed(solve_record(MODEL, fsopt.solve(MODEL), slug="onsvm", data=SCHEMA_DATA, source="blobs", params={}))


@pytest.mark.parametrize("record", [FIT, SOLVE], ids=["fit", "solve"])
def test_a_part_of_another_kind_is_refused_and_so_is_an_unknown_or_a_missing_one(record):
    file_of(record, "here")
    without = {k: v for k, v in record.items() if k != "status"}
    for changed, words in (
        ({**record, "status": b""}, "status"),
        (without, "status"),
        ({**record, "remark": ""}, "unknown field 'remark'"),
    ):
        with pytest.raises(FileError, match=f"'here' is not a saved answer: .*{words}"):
            file_of(changed, "here")


@pytest.mark.parametrize("number", [None, 1, FORMAT + 1, str(FORMAT)])
def test_a_file_of_another_format_is_refused_in_one_line(number, tmp_path):
    path = tmp_path / "fit.json"
    record = {key: value for key, value in FIT.items() if key != "format"}
    path.write_text(json.dumps(record if number is None else record | {"format": number}))
    held = "no format" if number is None else f"the format {number!r}"
    with pytest.raises(
        FileError, match=f"the format {FORMAT}, which this version reads: it has {held}: compute the answer"
    ):
        fsopt.load_fit(path)


def test_names_may_be_the_words_of_numbers(tmp_path):
    path = tmp_path / "fit.json"
    names = {"columns": ["inf", "nan", "x"], "labels": ["nan", "inf"], "features": ["inf", "nan", "x"]}
    path.write_text(json.dumps({**FIT, **names}))
    read = read_record(path)
    assert {name: read[name] for name in names} == names


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        ("float", [1, 2.5, float("inf")], [None, "1", True, float("nan"), 10**400, [1.0]]),
        ("int | None", [3, None], [2.5, "3", False, 10**400]),
        ("bool | str", [True, "auto"], [1, None]),
        ("str | Sequence[float]", ["all", [1.0]], [1.0, None]),
    ],
)
def test_a_parameter_has_a_kind_of_its_annotation(annotation, good, bad):
    assert all(is_parameter(annotation, value) for value in good)
    assert not any(is_parameter(annotation, value) for value in bad)
    assert is_parameter(float, "anything")


RNG = np.random.default_rng(5)
SMALL = blobs(60, 8, gap=0.7, seed=3)
SCALES = np.array([1.0, 1e-6, 1e6, 30.0, 1.0, 1e-2, 7.0, 100.0])
TABLES = {
    "units": SMALL.X * SCALES + np.array([3.0, -1e-6, 5e6, 1.0, 0.0, 0.5, 2000.0, -40.0]),
    "far from 0": SMALL.X + 1e9,
    "constant and 0/1": np.column_stack([SMALL.X[:, :4], np.full(60, 7.0), RNG.integers(0, 2, (60, 3))]),
}


def printed_scores(fit, X):
    """Return the scores of raw samples by the printed numbers alone, which are those of the summary."""
    (rows, intercept), text = fit.printed(), " ".join(fit.summary().split())
    assert all(" ".join(row.values()) in text for row in (*rows, {"name": "intercept", "value": intercept}))
    table = pd.DataFrame(rows)
    Z, norm = X[:, table.pop("feature").str[1:].astype(int) - 1], 1.0
    table = table.drop(columns="selected", errors="ignore").astype(float)
    if "shift" in table:
        Z = Z - table["shift"].to_numpy()
        norm = np.linalg.norm(Z / table["scale"].to_numpy(), axis=1)
    return Z @ table["weight"] / norm + float(intercept)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("method", ["l1-svm", "rsvm"])  # the last one has unit rows
def test_printed_weights_are_the_classifier(method, table):
    X = TABLES[table]
    data = fsopt.Dataset(X, SMALL.y)
    fit = fsopt.fit(method, data, **fsopt.METHODS[method].compare(data.p))
    scores, found = fit.decision_function(X), printed_scores(fit, X)
    clear = np.abs(scores) > 2e-3 * np.abs(scores - np.median(scores)).max()
    assert np.array_equal(np.where(found > 0, 1.0, -1.0)[clear], fit.predict(X)[clear])


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


def test_a_table_of_kernel_weights_names_patterns():
    fit = fsopt.fit("svm", fsopt.Dataset(SMALL.X, SMALL.y), kernel="gaussian")
    frame = fit.to_frame()
    assert frame["feature"].str.startswith("row ").all()
    assert set(frame["feature"][frame["selected"]]) == set(fit.features)
