"""The validated container, and every kind of data of which one is made: the same answer, or one clear line."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from support import blobs

import fsopt
from fsopt.data import Dataset, load_dataset
from fsopt.data.dataset import random_parts, stratified_folds, train_and_test
from fsopt.data.given import dataset_of
from fsopt.data.validation import map_labels, places_by_name
from fsopt.errors import DataError
from fsopt.studies.tuning import cross_validate, tune

X3 = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
Y3 = [1, -1, 1]


def small(**changes):
    return Dataset(**({"X": X3, "y": Y3, "features": ("a", "b"), "name": "small"} | changes))


def test_dataset_copies_and_freezes():
    X, y, group = X3.copy(order="F"), np.array(Y3), np.array([7, 3, 7])
    data = Dataset(X, y, labels=("no", "yes"), weights=[1, 2, 3], group=group)
    X[0, 0], y[0] = 99.0, -1
    assert X.flags.writeable
    for held in (data, copy.copy(data), copy.deepcopy(data), pickle.loads(pickle.dumps(data))):
        assert (held.X.tolist(), held.y.tolist(), held.group.tolist()) == (X3.tolist(), [1.0, -1.0, 1.0], [0, 1, 0])
        assert (held.features, held.labels, held.X.dtype, held.y.dtype) == (("x1", "x2"), ("no", "yes"), float, float)
        assert held.X.flags.c_contiguous
        for part in (held.X, held.y, held.weights, held.group):
            with pytest.raises(ValueError, match="read-only"):
                part[0] = 0
    with pytest.raises(AttributeError, match="cannot assign"):
        data.X = X


@pytest.mark.parametrize(
    ("y", "labels", "signs"),
    [
        ([0, 1, 1], ("0", "1"), [-1, 1, 1]),
        ([2, 1], ("1", "2"), [1, -1]),
        ([True, False, True], ("False", "True"), [1, -1, 1]),
        (["dead", "alive", "dead"], ("alive", "dead"), [1, -1, 1]),
        (np.array(["ill", "a", "ill"], dtype=object), ("a", "ill"), [1, -1, 1]),
        (["no", "yes"], ("no", "yes"), [-1, 1]),
        (["Ja", "nein"], ("nein", "Ja"), [1, -1]),
        (["benign", "malignant"], ("benign", "malignant"), [-1, 1]),
        (["case", "control"], ("control", "case"), [1, -1]),
        (["1.0", "0"], ("0", "1.0"), [1, -1]),
        (["10", "9"], ("9", "10"), [1, -1]),
        (["0.5", "-1e3", "-1e3"], ("-1e3", "0.5"), [1, -1, -1]),
    ],
)
def test_the_usual_positive_label_or_the_larger_number_is_plus_one(y, labels, signs):
    X = np.arange(len(y))[:, None]
    for data in (Dataset(X, y), load_dataset(pd.DataFrame({"a": X[:, 0], "label": y}))):
        assert (data.labels, data.y.tolist()) == (labels, signs)
        assert data.rows([1, 0]).labels == labels
    assert map_labels(["-1", "+1", "1.0"])[1] == ("-1", "+1")


def test_texts_of_labels_that_are_given():
    for y, labels in (([1.0, 0.0, 1.0], ("healthy", "ill")), ("dad", ("a", "d")), ([1, -1, 1], ("1", "-1"))):
        data = Dataset(X3, list(y), labels=labels)
        assert (data.labels, data.y.tolist()) == (labels, [1, -1, 1])
    assert Dataset(X3, list("dad"), labels=("d", "a")).y.tolist() == [-1, 1, -1]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({(1, 1): np.nan, (2, 0): np.inf}, r"2 infinite or missing values, first in row 2, column 'b' \(nan\)"),
        ({(2, 0): np.inf}, r"X has 1 infinite or missing value, first in row 3, column 'a' \(inf\)"),
        ({(2, 0): np.nan, (1, 1): np.nan}, r"X has 2 missing values, first in row 2, column 'b' \(nan\)"),
    ],
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_missing_and_infinite_values_are_counted_and_located(form, values, message):
    X = X3.copy()
    for place, value in values.items():
        X[place] = value
    with pytest.raises(DataError, match=message + r": missing= \(drop, mean"):
        small(X=form(X))


def test_rows():
    data = small(labels=("no", "yes"))
    for index in ([2, 1], np.array([2, 1]), (2, -2), slice(2, 0, -1)):
        part = data.rows(index)
        assert part.X.tolist() == [[5.0, 6.0], [3.0, 4.0]]
        assert part.y.tolist() == [1.0, -1.0]
        assert (part.features, part.name, part.labels) == (("a", "b"), "small", ("no", "yes"))
    assert data.rows([True, True, False]).X.tolist() == X3[:2].tolist()


def test_columns_and_another_matrix():
    data = small(labels=("no", "yes"))
    part = data.columns([1, 0])
    assert part.features == ("b", "a")
    assert part.X.tolist() == X3[:, ::-1].tolist()
    assert data.columns([False, True]).features == ("b",)
    data = data.with_X(2 * X3)
    assert data.X.tolist() == (2 * X3).tolist()
    assert (data.features, data.name, data.labels) == (("a", "b"), "small", ("no", "yes"))


def test_the_order_of_names_is_not_that_of_the_columns():
    names = ["x10", "x2", "b", "", "x9", "a"]
    assert [names[j] for j in np.argsort(places_by_name(names))] == ["", "a", "b", "x2", "x9", "x10"]


SHARES = (0.6, 0.2, 0.2)


def numbered(positive, negative):
    return Dataset(np.arange(positive + negative)[:, None], [1.0] * positive + [-1.0] * negative)


def test_folds_are_disjoint_complete_and_stratified():
    data = numbered(20, 30)
    folds = stratified_folds(data, 5, 3)
    assert [(np.sum(data.y[f] > 0), np.sum(data.y[f] < 0)) for f in folds] == [(4, 6)] * 5
    assert sorted(np.concatenate(folds)) == list(range(50))
    for fold in folds:
        train, test = train_and_test(data, fold)
        assert test.X[:, 0].tolist() == fold.tolist()
        assert sorted([*train.X[:, 0], *test.X[:, 0]]) == list(range(50))


def test_random_parts_are_stratified_complete_and_of_their_seed():
    data = numbered(20, 30)
    parts = random_parts(data, SHARES, 1)
    assert [(np.sum(part < 20), np.sum(part >= 20)) for part in parts] == [(12, 18), (4, 6), (4, 6)]
    assert sorted(np.concatenate(parts)) == list(range(50))
    assert all((np.diff(part) > 0).all() for part in parts)
    assert not np.array_equal(parts[0], random_parts(data, SHARES, 2)[0])
    validation, test = random_parts(numbered(8, 8), SHARES, 0)[1:]
    assert validation.tolist() == [0, 9]
    assert test.tolist() == [1, 7, 8, 11]


@pytest.mark.parametrize("shares", [(0.05, 0.05, 0.9), (0.9, 0.05, 0.05), SHARES])
@pytest.mark.parametrize("data", [numbered(smaller, 11) for smaller in (3, 4, 7)])
def test_every_part_has_both_classes(shares, data):
    assert all(set(data.y[part]) == {-1.0, 1.0} for part in random_parts(data, shares, 0))


def test_groups_of_both_labels_are_of_the_class_of_most():
    data = fsopt.Dataset(np.eye(9), [1, 1, -1, 1, 1, -1, 1, -1, -1], group=np.arange(9) // 3)
    with pytest.raises(DataError, match=r"classes of 2 and 1 groups \(by most of their labels\) .* 2 parts"):
        random_parts(data, (0.5, 0.5), 0)


DATA = blobs(20, 3)
FRAME = pd.DataFrame(DATA.X, columns=["age", "size", "dose"])


def test_samples_are_taken_by_position_or_by_the_names_of_their_columns():
    for y in (DATA.y.astype(int).tolist(), pd.Series(DATA.y, index=range(5, 25))):
        made = dataset_of(DATA.X.tolist(), y)
        assert np.array_equal(made.X, DATA.X)
        assert np.array_equal(made.y, DATA.y)
    assert dataset_of(FRAME, DATA.y).features == ("age", "size", "dose")


ILL = (DATA.y > 0).astype(int)
QUESTIONS = {
    "fit": lambda *data: fsopt.fit("svm", *data).coef.tolist(),
    "steps": lambda data: [step["objective"] for step in fsopt.steps("fsv", data)],
    "build": lambda data: fsopt.solve(fsopt.build("svm", data, c=0.5)).objective,
    "cross_validate": lambda data: cross_validate("svm", data, [{"c": 0.1}], folds=2).tolist(),
    "tune": lambda data: tune("svm", data, [{"c": 0.1}, {"c": 9.0}], folds=2).params,
    "verify": lambda data: fsopt.verify(fsopt.fit("svm", DATA.X, ILL), data).numerically,
    "scores": lambda data: fsopt.fit("svm", DATA).scores(data),
}


def test_a_data_set_is_made_of_every_kind_of_data(tmp_path, monkeypatch):
    frame = FRAME.assign(ill=ILL)
    frame.rename(columns={"ill": "label"}).to_csv(tmp_path / "mine.csv", index=False)
    frame.to_csv(tmp_path / "ill.csv", index=False)
    monkeypatch.setenv("FSOPT_DATA", str(tmp_path))
    kinds = [(FRAME, ILL), (frame, "ill"), frame.rename(columns={"ill": "label"}), str(tmp_path / "mine.csv")]
    kinds += [tmp_path / "mine.csv", (tmp_path / "ill.csv", "ill"), "mine"]
    for made in map(dataset_of, kinds):
        assert (made.features, made.y.tolist(), made.X.tolist()) == (tuple(FRAME), DATA.y.tolist(), DATA.X.tolist())


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_function_takes_every_kind_of_data(question):
    asked = QUESTIONS[question]
    known = asked(fsopt.Dataset(DATA.X, ILL))
    assert asked((DATA.X, ILL)) == known
    if question == "fit":
        assert asked(DATA.X, ILL) == known
