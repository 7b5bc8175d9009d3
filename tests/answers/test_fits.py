"""A fit reads itself: in words, as a table, as a picture, from a file, and for samples matched by their names."""

import numpy as np
import pandas as pd
import pytest
from support import blobs

import fsopt
from fsopt.errors import DataError, FileError, ParameterError

DATA = fsopt.Dataset(blobs(50, 4, gap=0.8, seed=1).X, blobs(50, 4, gap=0.8, seed=1).y, ["a", "b", "c<i>", "d"])
FRAME = pd.DataFrame(DATA.X, columns=DATA.features)


@pytest.fixture(scope="module")
def fit():
    return fsopt.fit("best-subset", DATA, m=2)


def test_the_summary_tells_what_is_known(fit):
    text = fit.summary()
    for part in ("best-subset", "optimal", "certificate", "2 of 4", "training accuracy", *fit.features):
        assert part in text


@pytest.mark.parametrize(
    ("words", "kind"),
    [((0, 1), "i"), (("no", "yes"), "U"), ((-1, 1), "i"), ((1.0, 2.0), "i"), ((0.5, 1.5), "f"), ((False, True), "b")],
)
def test_predicted_labels_are_those_that_were_given(words, kind, tmp_path):
    y = np.where(DATA.y > 0, words[1], words[0])
    found = fsopt.fit("svm", FRAME, y)
    found.save(tmp_path / "fit.json")
    for one in (found, fsopt.load_fit(tmp_path / "fit.json")):
        labels = one.predict_labels(FRAME)
        assert (labels == np.where(one.predict(FRAME) > 0, words[1], words[0])).all()
        assert labels.dtype.kind == kind
    assert np.array_equal(found.predict(FRAME), fsopt.fit("svm", DATA).predict(DATA))


def test_html_is_escaped():
    found = fsopt.fit("svm", fsopt.Dataset(DATA.X, DATA.y, DATA.features, name="<script>", labels=("<b>", "c")))
    assert "<script>" not in found._repr_html_()
    assert "&lt;script&gt;" in found._repr_html_()
    assert "<i>" not in found._repr_html_()
    assert "<b>" not in found._repr_html_()


def test_the_frame_of_features_counts_folds(fit):
    folds = [fsopt.fit("best-subset", DATA.rows(np.arange(DATA.n) % 3 != k), m=2) for k in range(3)]
    frame = fit.to_frame(folds)
    assert set(frame["feature"]) == set(fit.features)
    for _, row in frame.iterrows():
        j = DATA.features.index(row["feature"])
        assert row["weight"] == fit.coef[j]
        assert row["standardised"] == pytest.approx(fit.coef[j] * DATA.X[:, j].std())
        assert row["folds"] == sum(row["feature"] in fold.features for fold in folds)
    assert np.all(np.diff(frame["standardised"].abs()) <= 0)


def test_plots(fit):
    pytest.importorskip("matplotlib")
    for kind, data in (("weights", None), ("scores", DATA), (None, None)):
        assert fit.plot(kind, data).axes
    assert [len(axes.lines) for axes in fit.plot("convergence").axes] == [2, 2]
    for kind, reason in (("scores", "no data|there is none"), ("pie", "weights, convergence, scores")):
        with pytest.raises(ParameterError, match=reason):
            fit.plot(kind)
    with pytest.raises(ParameterError, match="no history"):
        fsopt.fit("svm", DATA).plot("convergence")


@pytest.mark.parametrize("method", ["best-subset", "svm", "rsvm", "fsv"])
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
    with pytest.raises(DataError, match="not finite"):
        fsopt.fit("svm", DATA).predict(FRAME.assign(a=np.nan))


def test_a_frame_with_columns_of_two_levels_is_predicted_as_it_was_fitted():
    frame = FRAME.set_axis(pd.MultiIndex.from_product([["u"], list(DATA.features)]), axis=1)
    fit, plain = (fsopt.fit("l1-svm", part, DATA.y) for part in (frame, FRAME))
    np.testing.assert_array_equal(fit.predict(frame), plain.predict(FRAME))
