"""Readers of files: round trips, and what is wrong with a file that is refused."""

import gzip
import pickle

import numpy as np
import pytest
from support import written

from fsopt.data import load_dataset
from fsopt.errors import DataError, ParameterError

X3 = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
Y3 = [1, -1, 1]


@pytest.mark.parametrize("name", ["toy.csv", "toy.csv.gz", "TOY.CSV"])
def test_csv(tmp_path, name):
    path = written(tmp_path, name, '\ufeffa,label,"b, c"\r\n1,yes, 2.5e3\r\n-0.1,no,4\r\n\r\n 3 ,yes,1e-300\r\n')
    data = load_dataset(path)
    assert data.X.tolist() == [[1.0, 2500.0], [-0.1, 4.0], [3.0, 1e-300]]
    assert data.y.tolist() == [1.0, -1.0, 1.0]
    assert (data.features, data.labels, data.name) == (("a", "b, c"), ("no", "yes"), name[:3])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("a,b,label\n", "there is no row"),
        ("1,2,3\n4,5,6\n", "the first row is numbers only, there is no header"),
        ("a,b,label\n1,2,1\n1,2\n", r"row 2 \(line 3\) has 2 fields, there are 3 columns"),
        ("a,b,label\n1,2,1\n\n1,2,3,4\n", r"row 2 \(line 4\) has 4 fields, there are 3 columns"),
        ("a,b,label\n1,2,3,1\n4,0\n", r"row 1 \(line 2\) has 4 fields, there are 3 columns"),
        ("a,b,label\n1,2,1\n3,blue,0\n", r"row 2 \(line 3\), column 'b': 'blue' is not a number"),
        ("a,b,class\n1,2,1\n", "there is no column 'label' among the 3 columns: .*target=.*class"),
        (
            "a,b,class\n1,2,1\n1,3,0\n",
            "no column 'label' among the columns: .*target=.*one of: class, b; .*target='class'",
        ),
        ("a,label,label\n1,2,1\n", "there are 2 columns 'label'"),
        ("label\n1\n0\n", "'label' is the only column"),
        ("a,label\n1,1\n2,1\n", "exactly two different values, 1 found: '1': give samples of both classes"),
        (b"a,label\n\xe9,1\n\x81,0\n", "the file is not cp1252 text .*encoding="),
        ("a\xe9,label\n1,1\n".encode() + b"\xe9,0\n", "the file is not UTF-8 text"),
        ('a,label\n"1,1\n' + "2" * 200_000, "line 2 is not a row of separated fields"),
        ('a,b,label\n1,2,1\n"x,3,0\n4,5,1\n', "line 3 is not a row .*a quote that opens there does not close"),
        ('a,b,label\n1,2,1\n3,4,"0\n5,6,1\n7,8,"0\n', "line 3 is not a row .*a quote that opens there does not close"),
        ('a,b,label\n1,2,1\n"3"4,5,0\n', "line 3 is not a row .*expected after"),
        ('a,"b,label\n1,2,1\n', "a quote in the header, line 1, does not close"),
        ("a,b,label\n1,2,1\n3,\0,0\n", "line 3 has a NUL character"),
        ("a,b,label\n1,2,1\n3,1_0,0\n", r"row 2 \(line 3\), column 'b': '1_0' is not a number"),
        ("a,b,label\n1,2,1\n3,True,0\n", r"row 2 \(line 3\), column 'b': 'True' is not a number"),
    ],
)
def test_csv_refuses(tmp_path, content, message):
    path = written(tmp_path, "t.csv.gz", content)
    with pytest.raises(DataError, match=message) as caught:
        load_dataset(path)
    assert caught.value.message.startswith(f"{path}: ")
    assert caught.value.hint


def test_csv_gzip_errors(tmp_path):
    plain = tmp_path / "plain.csv.gz"
    plain.write_text("a,label\n1,1\n2,0\n")
    with pytest.raises(DataError, match=r"the file is not valid gzip .*: drop \.gz from its name"):
        load_dataset(plain)
    whole = gzip.compress(np.random.default_rng(0).bytes(5000))
    for broken in (whole[:-20], whole[:100] + bytes(50) + whole[150:]):
        plain.write_bytes(broken)
        with pytest.raises(DataError, match="the file is not valid gzip"):
            load_dataset(plain)


MISSING = "a,b,label\n1,,1\n?,4,0\n3,nan,1\n5,8,0\n7,NaN,1\n9,1,1\n"


def test_missing_values_are_an_error_or_dropped_or_the_mean(tmp_path):
    path = written(tmp_path, "t.csv", MISSING)
    with pytest.raises(
        DataError, match=r"4 missing values in 2 columns, the first in row 1, column 'b': missing= \(drop, mean"
    ):
        load_dataset(path)
    data = load_dataset(path, missing="drop")
    assert data.X.tolist() == [[5.0, 8.0], [9.0, 1.0]]
    assert data.y.tolist() == [-1.0, 1.0]
    data = load_dataset(path, missing="mean")
    assert data.X[:, 0].tolist() == [1.0, 5.0, 3.0, 5.0, 7.0, 9.0]
    assert data.X[:, 1] == pytest.approx([13 / 3, 4.0, 13 / 3, 8.0, 13 / 3, 1.0], rel=1e-15)


@pytest.mark.parametrize(
    ("content", "missing", "message"),
    [
        ("a,b,label\n1,,1\n,2,0\n", "drop", "every one of the 2 rows has a missing value"),
        ("a,b,label\n1,,1\n2,,0\n", "drop", "column 'b' has no value at all: drop='b' leaves it out"),
        ("a,label\n1,1\n,0\n", "drop", "exactly two different values, 1 found"),
        ("a,b,label\n1,,1\n2,?,0\n", "mean", "column 'b' has no value at all"),
        ("a,label\ninf,1\n-inf,0\n,1\n", "mean", "X has 3 values that are not finite, the first in row 1"),
    ],
)
def test_missing_values_that_cannot_be_treated(tmp_path, content, missing, message):
    with pytest.raises(DataError, match=message):
        load_dataset(written(tmp_path, "t.csv", content), missing=missing)


def test_a_gap_among_the_labels_is_another_question_than_one_among_the_features(tmp_path):
    path = written(tmp_path, "t.csv", "a,label\n1,1\n2,?\n,0\n4,\n5,0\n")
    said = "2 of 5 rows have no label and are left out: 2, 4"
    for missing, X in (("drop", [[1.0], [5.0]]), ("mean", [[1.0], [3.0], [5.0]])):
        with pytest.warns(UserWarning, match=said):
            assert load_dataset(path, missing=missing).X.tolist() == X
        with pytest.raises(DataError, match="2 of 5 rows have no label: 2, 4: unlabelled='drop' leaves them out"):
            load_dataset(path, missing=missing, unlabelled="refuse")
    with pytest.raises(DataError, match=r"1 missing value .* row 3 .line 4., column 'a'"):
        load_dataset(path)
    with pytest.raises(DataError, match="2 of 2 rows have no label: choose another column with target="):
        load_dataset(written(tmp_path, "t.csv", "a,label\n1,\n2,\n"))
    with pytest.raises(ParameterError, match="unlabelled is 'keep': one of drop, refuse"):
        load_dataset(path, unlabelled="keep")


@pytest.mark.parametrize("missing", ["", 0, "Drop"])
def test_unknown_missing(missing):
    with pytest.raises(ParameterError, match=r"missing is .*use one of drop, mean, median, indicator, or nothing"):
        load_dataset("wdbc", missing=missing)


def test_npz_round_trip(tmp_path):
    path = tmp_path / "toy.npz"
    np.savez(path, w=np.zeros(3), X=X3, y=np.array(Y3), features=np.array(["a", "b"]))
    data = load_dataset(path)
    assert np.array_equal(data.X, X3)
    assert data.y.tolist() == Y3
    assert (data.features, data.name, data.labels) == (("a", "b"), "toy", ("-1", "1"))
    np.savez(path, X=X3.astype(np.float32), y=np.array(["no", "yes", "no"]))
    data = load_dataset(path)
    assert (data.features, data.labels, data.y.tolist()) == (("x1", "x2"), ("no", "yes"), [-1, 1, -1])
    np.savez(path, X=X3, y=np.array([False, True, True]))
    assert load_dataset(path).labels == ("False", "True")
    np.savez(path, X=[[1.0, np.nan], [2.0, 3.0], [3.0, 4.0]], y=[0.0, 1.0, 0.0])
    data = load_dataset(path, missing="mean")
    assert data.X.tolist() == [[1.0, 3.5], [2.0, 3.0], [3.0, 4.0]]
    assert data.labels == ("0", "1")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": X3}, "the archive has no array y, it has X"),
        ({"x": X3, "Y": X3}, "the archive has no array X and y, it has x, Y"),
        ({"X": X3.astype(object), "y": Y3}, "an array cannot be read .it holds Python objects"),
        ({"X": X3, "y": Y3, "features": [1, 2]}, r"features is an array of type int64 and shape \(2,\), not 2 texts"),
        ({"X": X3, "y": Y3, "features": ["a"]}, r"features is an array of type <U1 and shape \(1,\), not 2 texts"),
        ({"X": X3, "y": [[1], [0], [1]]}, r"y is an array of type int64 and shape \(3, 1\), not n labels"),
        ({"X": X3, "y": [1, 0]}, "there are 2 labels for 3 rows"),
        ({"X": X3, "y": [1, 2, 3]}, "exactly two different values, 3 found: '1', '2', '3'"),
    ],
)
def test_npz_refuses(tmp_path, arrays, message):
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(DataError, match=message):
        load_dataset(tmp_path / "t.npz")


def test_npz_never_unpickles(tmp_path):
    path = tmp_path / "t.npz"
    for content in (b"", b"text", pickle.dumps({"X": 1}), b"PK\x03\x04 broken"):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"the file is not an \.npz archive"):
            load_dataset(path)
    np.savez_compressed(path, X=np.random.default_rng(0).random((50, 2)), y=np.arange(50) % 2)
    whole = path.read_bytes()
    path.write_bytes(whole[:200] + bytes(50) + whole[250:])
    with pytest.raises(DataError, match="an array cannot be read"):
        load_dataset(path)
    with path.open("wb") as stream:
        np.save(stream, X3)
    with pytest.raises(DataError, match="the file is a single array"):
        load_dataset(path)


ARFF = """% a comment
@RELATION toy

@attribute 'width (mm)' numeric
@attribute n INTEGER
@attribute flag {0, 1}
@attribute Class {good,'very bad'}
@data
% another comment
1.5, 2, 0, good
?,3,1,'very bad'

2.5,4,1,good
"""


def test_arff(tmp_path):
    data = load_dataset(written(tmp_path, "toy.arff", ARFF), missing="mean")
    assert data.features == ("width (mm)", "n", "flag")
    assert data.X.tolist() == [[1.5, 2.0, 0.0], [2.0, 3.0, 1.0], [2.5, 4.0, 1.0]]
    assert data.y.tolist() == [-1.0, 1.0, -1.0]
    assert data.labels == ("good", "very bad")


def test_arff_label_choice(tmp_path):
    text = ARFF.replace("good", "0").replace("'very bad'", "1")
    for label, given in (("flag", {"label": "flag"}), ("label", {})):
        path = written(tmp_path, "t.arff", text.replace("flag {0, 1}", f"{label} {{0, 1}}"))
        data = load_dataset(path, **given, missing="drop")
        assert (data.features, data.y.tolist()) == (("width (mm)", "n", "Class"), [-1.0, 1.0])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "there are no @attribute lines followed by @data"),
        ("@attribute a numeric\n1\n", "there are no @attribute lines followed by @data"),
        (ARFF.replace("Class", "kind"), "there is no column 'label' among the columns: .*one of: kind, flag"),
        (ARFF.replace("{good,'very bad'}", "string"), "there is no column 'label'"),
        (ARFF.replace("?", "wide"), r"row 2 \(line 11\), column 'width \(mm\)': 'wide' is not a number"),
        (ARFF.replace("2.5,4,1,good", "2.5,4,good"), r"row 3 \(line 13\) has 3 fields, there are 4 columns"),
        (ARFF.replace("2.5,4,1,good", "{0 2.5, 3 good}"), "sparse ARFF rows .* are not read"),
        (ARFF.replace("@attribute n INTEGER", "@attribute n"), "line 5 is not an attribute: '@attribute n'"),
    ],
)
def test_arff_refuses(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        load_dataset(written(tmp_path, "t.arff", content))
