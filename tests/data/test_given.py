"""Every question takes a data set, samples with labels, a frame or a file: the same answer, or one clear line."""

import numpy as np
import pandas as pd
import pytest
from support import blobs

import fsopt
from fsopt.data.given import dataset_of
from fsopt.studies.executors import InProcess
from fsopt.studies.tuning import cross_validate, nested_cross_validation, tune

DATA = blobs(20, 3)
FRAME = pd.DataFrame(DATA.X, columns=["age", "size", "dose"])


def test_samples_with_labels_are_the_data_set_of_both():
    for y in (DATA.y, DATA.y.astype(int).tolist(), pd.Series(DATA.y, index=range(5, 25))):
        made = dataset_of(DATA.X.tolist(), y)
        assert np.array_equal(made.X, DATA.X)
        assert np.array_equal(made.y, DATA.y)
    assert fsopt.fit("svm", DATA.X, y, c=0.5).coef.tolist() == fsopt.fit("svm", DATA, c=0.5).coef.tolist()


def test_the_columns_of_a_data_frame_name_the_features():
    assert dataset_of(FRAME, DATA.y).features == ("age", "size", "dose")
    fit = fsopt.fit("pearson", FRAME, DATA.y, m=3)
    assert set(fit.features) == {"age", "size", "dose"}
    assert np.array_equal(fit.predict(FRAME[["dose", "age", "size"]]), fit.predict(FRAME))


ILL = (DATA.y > 0).astype(int)
QUESTIONS = {
    "fit": lambda *data: fsopt.fit("svm", *data).coef.tolist(),
    "steps": lambda data: [step["objective"] for step in fsopt.steps("fsv", data)],
    "build": lambda data: fsopt.solve(fsopt.build("svm", data, C=0.5)).objective,
    "select": lambda *data: fsopt.select(*data, folds=2, features=1).fit.features,
    "compare": lambda *data: fsopt.compare(*data, methods=["svm"], folds=2, executor=InProcess()).rows[0].cv_accuracy,
    "cross_validate": lambda data: cross_validate("svm", data, [{"C": 0.1}], folds=2).tolist(),
    "tune": lambda data: tune("svm", data, [{"c": 0.1}, {"c": 9.0}], folds=2).params,
    "nested": lambda data: nested_cross_validation("svm", data, [{"c": 0.1}], splits=2, folds=2).error,
    "selection_path": lambda data: fsopt.selection_path(data, C=0.5).objective.tolist(),
    "radius_path": lambda data: fsopt.radius_path(data, [3.0])["train_error"].tolist(),
    "pareto_front": lambda data: fsopt.pareto_front(data, [1.0])["y"].tolist(),
    "alternatives": lambda data: fsopt.alternatives(data, 2, within=0.5).objective.tolist(),
    "necessity": lambda data: fsopt.necessity(data, 1).optimum,
    "verify": lambda data: fsopt.verify(fsopt.fit("svm", DATA.X, ILL), data).numerically,
    "scores": lambda data: fsopt.fit("svm", DATA).scores(data),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_takes_every_kind_of_data(question, tmp_path, monkeypatch):
    frame = FRAME.set_axis(DATA.features, axis=1).assign(ill=ILL)
    frame.rename(columns={"ill": "label"}).to_csv(tmp_path / "mine.csv", index=False)
    frame.to_csv(tmp_path / "ill.csv", index=False)
    monkeypatch.setenv("FSOPT_DATA", str(tmp_path))
    asked = QUESTIONS[question]
    known = asked(fsopt.Dataset(DATA.X, ILL))
    for data in (
        (DATA.X, ILL),
        (frame.drop(columns="ill"), ILL),
        (frame, "ill"),
        frame.rename(columns={"ill": "label"}),
        str(tmp_path / "mine.csv"),
        tmp_path / "mine.csv",
        (tmp_path / "ill.csv", "ill"),
        "mine",
    ):
        assert asked(data) == known
    if question in ("fit", "select", "compare"):
        assert asked(DATA.X, ILL) == known


def test_a_comparison_takes_several_of_any_kind(tmp_path):
    FRAME.assign(label=DATA.y.astype(int)).to_csv(tmp_path / "mine.csv", index=False)
    found = fsopt.compare(
        [blobs(24, 3, seed=1), tmp_path / "mine.csv"], methods=["pearson"], folds=2, executor=InProcess()
    )
    assert found.data == ("data", "mine")
