import copy
import gzip
import hashlib
import json
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsopt.data import Dataset, fetch_dataset, load_dataset
from fsopt.data.table import map_labels
from fsopt.errors import DataError, FileError, ParameterError

SHARED = Path(os.environ.get("FSOPT_SHARED", Path(__file__).parents[1] / ".." / "shared"))
needs_shared = pytest.mark.skipif(
    not (SHARED / "data").is_dir(), reason="the papers' benchmark files are not here (FSOPT_SHARED)"
)

X3 = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
Y3 = [1, -1, 1]


def small(**changes):
    return Dataset(**({"X": X3, "y": Y3, "features": ("a", "b"), "name": "small"} | changes))


# ---------------------------------------------------------------- Dataset


def test_dataset_copies_and_freezes():
    X, y = X3.copy(order="F"), np.array(Y3)
    data = Dataset(X, y)
    X[0, 0], y[0] = 99.0, -1
    assert data.X.tolist() == X3.tolist()
    assert data.y.tolist() == [1.0, -1.0, 1.0]
    assert data.X.flags.c_contiguous
    assert data.X.dtype == data.y.dtype == np.float64
    with pytest.raises(ValueError, match="read-only"):
        data.X[0, 0] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        data.y[0] = -1.0
    with pytest.raises(AttributeError, match="cannot assign"):
        data.X = X
    assert X.flags.writeable


def test_dataset_properties():
    data = small(labels=("benign", "malignant"))
    assert (data.n, data.p, data.features, data.name) == (3, 2, ("a", "b"), "small")
    assert data.positive.tolist() == [0, 2]
    assert data.negative.tolist() == [1]
    assert data.constant == ()
    assert data.labels == ("benign", "malignant")
    assert repr(data) == "Dataset('small', n=3, p=2, +1 (malignant): 2, -1 (benign): 1)"
    assert Dataset(X3, Y3).features == ("x1", "x2")
    assert Dataset(X3, Y3).labels == ("-1", "+1")
    assert Dataset([[1, 7, 0], [2, 7, 0]], [1, -1]).constant == ("x2", "x3")


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))])
def test_copies_are_equal_and_read_only(twin):
    data = small(labels=("no", "yes"))
    other = twin(data)
    assert np.array_equal(other.X, data.X)
    assert np.array_equal(other.y, data.y)
    assert (other.features, other.name, other.labels) == (data.features, data.name, data.labels)
    assert not other.X.flags.writeable
    assert not other.y.flags.writeable


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": [1.0, 2.0]}, r"X must be two-dimensional \(samples, features\), its shape is \(2,\)"),
        ({"X": np.zeros((3, 2, 1))}, r"its shape is \(3, 2, 1\)"),
        ({"X": [["a", "b"]] * 3}, "X is not numeric, its values are of type <U1"),
        ({"X": X3.astype(object)}, "X is not numeric, its values are of type object"),
        ({"X": X3 + 1j}, "X is not numeric, its values are of type complex128"),
        ({"X": [[1.0], [1.0, 2.0]]}, "X is not a matrix, its rows differ in length"),
        ({"X": np.zeros((3, 0))}, r"at least one row and one feature, its shape is \(3, 0\)"),
        ({"X": np.zeros((0, 2)), "y": []}, r"at least one row and one feature, its shape is \(0, 2\)"),
        ({"y": [1, -1]}, r"y has shape \(2,\), expected \(3,\) for the 3 rows of X"),
        ({"y": [[1], [-1], [1]]}, r"y has shape \(3, 1\), expected \(3,\)"),
        ({"y": [[1], [1, 2], [1]]}, "y is not a vector"),
        ({"y": [0, 1, 1]}, r"y has labels other than -1 and \+1: 0"),
        ({"y": [1, -1, np.nan]}, r"y has labels other than -1 and \+1: nan"),
        ({"y": [True, False, True]}, "y is not numeric, its values are of type bool"),
        ({"y": ["-1", "1", "1"]}, "y is not numeric, its values are of type <U2"),
        ({"y": [1, 1, 1]}, r"only one class is present, all 3 labels are \+1"),
        ({"y": [-1, -1, -1]}, "only one class is present, all 3 labels are -1"),
        ({"features": ("a", "a")}, "duplicate feature names: a"),
        ({"features": ("a",)}, "there are 1 feature names for 2 columns"),
        ({"features": ("a", " ")}, "the name of column 2 is empty"),
        ({"features": "ab"}, "features is one text, not a list of names"),
        ({"labels": ("x", "x")}, "give two different texts"),
        ({"labels": "xy"}, "give two different texts"),
    ],
)
def test_dataset_refuses(changes, message):
    with pytest.raises(DataError, match=message) as caught:
        small(**changes)
    assert caught.value.hint


def test_non_finite_values_are_counted_and_located():
    X = X3.copy()
    X[1, 1], X[2, 0] = np.nan, np.inf
    with pytest.raises(DataError) as caught:
        small(X=X)
    assert caught.value.message == "X has 2 values that are not finite, the first in row 2, column 'b' (nan)"
    assert "--missing drop|mean" in caught.value.hint
    X[1, 1] = 4.0
    with pytest.raises(DataError, match=r"X has 1 value that is not finite in row 3, column 'a' \(inf\)"):
        small(X=X)


def test_rows():
    data = small(labels=("no", "yes"))
    for index in ([2, 1], np.array([2, 1]), (2, -2), slice(2, 0, -1)):
        part = data.rows(index)
        assert part.X.tolist() == [[5.0, 6.0], [3.0, 4.0]]
        assert part.y.tolist() == [1.0, -1.0]
        assert (part.features, part.name, part.labels) == (("a", "b"), "small", ("no", "yes"))
    assert data.rows([True, True, False]).X.tolist() == X3[:2].tolist()
    with pytest.raises(DataError, match="only one class is present"):
        data.rows([0, 2])
    with pytest.raises(DataError, match="at least one row"):
        data.rows([])
    with pytest.raises(ParameterError, match=r"these are not rows of the data set: .*out of bounds"):
        data.rows([0, 3])
    with pytest.raises(ParameterError, match="these are not rows of the data set"):
        data.rows([0.0, 1.0])
    with pytest.raises(ParameterError, match="one list of rows is needed, got 1"):
        data.rows(1)


def test_columns():
    data = small(labels=("no", "yes"))
    part = data.columns([1, 0])
    assert part.features == ("b", "a")
    assert part.X.tolist() == X3[:, ::-1].tolist()
    assert part.labels == ("no", "yes")
    assert data.columns([False, True]).features == ("b",)
    with pytest.raises(DataError, match=r"at least one row and one feature, its shape is \(3, 0\)"):
        data.columns([])
    with pytest.raises(DataError, match="duplicate feature names: a"):
        data.columns([0, 0])
    with pytest.raises(ParameterError, match="these are not columns of the data set"):
        data.columns([2])


def test_with_x():
    data = small(labels=("no", "yes")).with_X(2 * X3)
    assert data.X.tolist() == (2 * X3).tolist()
    assert (data.features, data.name, data.labels) == (("a", "b"), "small", ("no", "yes"))
    with pytest.raises(DataError, match="there are 2 feature names for 3 columns"):
        data.with_X(np.ones((3, 3)))
    with pytest.raises(DataError, match=r"y has shape \(3,\), expected \(2,\)"):
        data.with_X(np.ones((2, 2)))


@given(st.data())
def test_a_subset_of_rows_keeps_names_and_values(draw):
    n, p = draw.draw(st.integers(2, 8)), draw.draw(st.integers(1, 4))
    X = np.arange(n * p, dtype=float).reshape(n, p)
    y = np.where(np.arange(n) % 2, 1, -1)
    names = tuple(f"f{j}" for j in range(p))
    index = draw.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=12))
    data = Dataset(X, y, names)
    if len({i % 2 for i in index}) < 2:
        with pytest.raises(DataError, match="only one class"):
            data.rows(index)
        return
    part = data.rows(index)
    assert part.features == names
    assert np.array_equal(part.X, X[index])
    assert np.array_equal(part.y, y[index])


def test_import_is_light():
    code = "import sys, fsopt.data; print([m for m in ('scipy', 'sklearn', 'pyomo', 'pandas') if m in sys.modules])"
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}
    )
    assert run.stdout.strip() == "[]", run.stderr


# ---------------------------------------------------------------- labels


@pytest.mark.parametrize(
    ("texts", "y", "labels"),
    [
        (["1", "0", "1"], [1, -1, 1], ("0", "1")),
        (["2", "1"], [1, -1], ("1", "2")),
        (["-1", "+1", "1.0"], [-1, 1, 1], ("-1", "+1")),
        (["10", "9"], [1, -1], ("9", "10")),
        (["M", "B"], [1, -1], ("B", "M")),
        (["malignant", "benign"], [1, -1], ("benign", "malignant")),
        (["False", "True"], [-1, 1], ("False", "True")),
        (["10", "9a"], [-1, 1], ("10", "9a")),
    ],
)
def test_label_mapping(texts, y, labels):
    got, kept = map_labels(texts)
    assert got.tolist() == y
    assert kept == labels


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["1", "1"], "exactly two different values, 1 found: '1'"),
        (["a", "b", "c"], "exactly two different values, 3 found: 'a', 'b', 'c'"),
        (["1", "1.0"], "exactly two different values, 1 found: '1', '1.0'"),
        (list("12345678"), "8 found: '1', '2', '3', '4', '5', '6', ..."),
    ],
)
def test_label_mapping_refuses(texts, message):
    with pytest.raises(DataError, match=message):
        map_labels(texts)


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=2, unique=True),
    st.lists(st.booleans(), min_size=2).filter(lambda b: len(set(b)) == 2),
)
def test_the_larger_number_is_positive(pair, upper):
    low, high = sorted(pair)
    y, labels = map_labels([repr(high if up else low) for up in upper])
    assert y.tolist() == [1.0 if up else -1.0 for up in upper]
    assert tuple(map(float, labels)) == (low, high)


@given(
    st.sets(st.text("abcxyz", min_size=1, max_size=4), min_size=2, max_size=2),
    st.lists(st.booleans(), min_size=2).filter(lambda b: len(set(b)) == 2),
)
def test_the_alphabetically_last_text_is_positive(pair, upper):
    low, high = sorted(pair)
    y, labels = map_labels([high if up else low for up in upper])
    assert y.tolist() == [1.0 if up else -1.0 for up in upper]
    assert labels == (low, high)


# ---------------------------------------------------------------- CSV


def written(folder, name, content):
    path = folder / name
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


@pytest.mark.parametrize("name", ["toy.csv", "toy.csv.gz", "TOY.CSV"])
def test_csv(tmp_path, name):
    path = written(tmp_path, name, '\ufeffa,label,"b, c"\r\n1,yes, 2.5e3\r\n-0.1,no,4\r\n\r\n 3 ,yes,1e-300\r\n')
    data = load_dataset(path)
    assert data.X.tolist() == [[1.0, 2500.0], [-0.1, 4.0], [3.0, 1e-300]]
    assert data.y.tolist() == [1.0, -1.0, 1.0]
    assert data.features == ("a", "b, c")
    assert data.labels == ("no", "yes")
    assert data.name == name[:3]


def test_csv_round_trip_is_exact(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 3)) * 10.0 ** rng.integers(-200, 200, (20, 3))
    lines = ["a,b,c,label"] + [",".join(map(repr, row)) + f",{i % 2}" for i, row in enumerate(X.tolist())]
    data = load_dataset(written(tmp_path, "r.csv", "\n".join(lines)))
    assert np.array_equal(data.X, X)


def test_csv_label_by_name(tmp_path):
    path = written(tmp_path, "t.csv", "group,x,label\n1,5,0\n2,6,0\n")
    data = load_dataset(str(path), label="group")
    assert data.features == ("x", "label")
    assert data.y.tolist() == [-1.0, 1.0]
    assert data.labels == ("1", "2")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("a,b,label\n", "there is no row after the header"),
        ("1,2,3\n4,5,6\n", "the first row is numbers only, there is no header"),
        ("a,b,label\n1,2,1\n1,2\n", r"row 2 \(line 3\) has 2 fields, there are 3 columns"),
        ("a,b,label\n1,2,1\n\n1,2,3,4\n", r"row 2 \(line 4\) has 4 fields, there are 3 columns"),
        ("a,b,label\n1,2,1\n3,blue,0\n", r"row 2 \(line 3\), column 'b': 'blue' is not a number"),
        ("a,b,class\n1,2,1\n", "there is no column 'label' among the 3 columns: .*--label.*class"),
        ("a,label,label\n1,2,1\n", "there are 2 columns 'label'"),
        ("label\n1\n0\n", "'label' is the only column"),
        ("a,a,label\n1,2,1\n1,2,0\n", "duplicate feature names: a"),
        ("a,,label\n1,2,1\n1,2,0\n", "the name of column 2 is empty"),
        ("a,label\n1,1\n2,2\n3,3\n", "exactly two different values, 3 found: '1', '2', '3'"),
        ("a,label\n1,1\n2,1\n", "exactly two different values, 1 found: '1'"),
        ("a,label\ninf,1\n2,0\n", r"1 value that is not finite in row 1, column 'a' \(inf\)"),
        ("a,label\n\xe9,1\n".encode("latin-1"), "the file is not UTF-8 text"),
        ('a,label\n"1,1\n' + "2" * 200_000, "line 3 is not comma-separated text .*field larger"),
    ],
)
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_csv_refuses(tmp_path, name, content, message):
    path = written(tmp_path, name, content)
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


def test_missing_is_an_error_by_default(tmp_path):
    with pytest.raises(DataError) as caught:
        load_dataset(written(tmp_path, "t.csv", MISSING))
    assert "4 values that are not finite, the first in row 1, column 'b' (nan)" in caught.value.message
    assert "--missing drop|mean" in caught.value.hint


def test_missing_drop(tmp_path):
    data = load_dataset(written(tmp_path, "t.csv", MISSING), missing="drop")
    assert data.X.tolist() == [[5.0, 8.0], [9.0, 1.0]]
    assert data.y.tolist() == [-1.0, 1.0]
    path = written(tmp_path, "all.csv", "a,b,label\n1,,1\n,2,0\n")
    with pytest.raises(DataError, match="every one of the 2 rows has a missing value"):
        load_dataset(path, missing="drop")
    path = written(tmp_path, "one.csv", "a,label\n1,1\n,0\n")
    with pytest.raises(DataError, match="exactly two different values, 1 found"):
        load_dataset(path, missing="drop")


def test_missing_mean(tmp_path):
    data = load_dataset(written(tmp_path, "t.csv", MISSING), missing="mean")
    assert data.X[:, 0].tolist() == [1.0, 5.0, 3.0, 5.0, 7.0, 9.0]
    assert data.X[:, 1] == pytest.approx([13 / 3, 4.0, 13 / 3, 8.0, 13 / 3, 1.0], rel=1e-15)
    path = written(tmp_path, "empty.csv", "a,b,label\n1,,1\n2,?,0\n")
    with pytest.raises(DataError, match="column 'b' has no value at all, so no mean"):
        load_dataset(path, missing="mean")
    path = written(tmp_path, "infinite.csv", "a,label\ninf,1\n-inf,0\n,1\n")
    with pytest.raises(DataError, match="X has 3 values that are not finite, the first in row 1"):
        load_dataset(path, missing="mean")


def test_missing_labels(tmp_path):
    path = written(tmp_path, "t.csv", "a,label\n1,1\n2,?\n3,0\n4,\n")
    for missing in (None, "mean"):
        with pytest.raises(DataError, match=r"2 rows have no label, the first is row 2: use --missing drop"):
            load_dataset(path, missing=missing)
    assert load_dataset(path, missing="drop").X.tolist() == [[1.0], [3.0]]


@pytest.mark.parametrize("missing", ["median", "", 0, "Drop"])
def test_unknown_missing(missing):
    with pytest.raises(ParameterError, match=r"missing is .*use 'drop', 'mean' or nothing"):
        load_dataset("wdbc", missing=missing)


@pytest.mark.parametrize(("n", "p"), [(62, 2000), (4601, 57)])
def test_csv_is_fast(tmp_path, n, p):
    X = np.random.default_rng(1).standard_normal((n, p))
    lines = [",".join([f"g{j}" for j in range(p)] + ["label"])]
    lines += [",".join(map(repr, row)) + f",{i % 2}" for i, row in enumerate(X.tolist())]
    path = written(tmp_path, "big.csv.gz", "\n".join(lines))
    started = time.process_time()
    data = load_dataset(path)
    assert time.process_time() - started < 0.9
    assert np.array_equal(data.X, X)


# ---------------------------------------------------------------- NPZ


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
        ({"X": X3.astype(object), "y": Y3}, "an array cannot be read .Object arrays cannot be loaded"),
        (
            {"X": X3, "y": Y3, "features": np.array(["a", "b"], object)},
            "an array cannot be read .Object arrays cannot be loaded",
        ),
        (
            {"X": X3, "y": Y3, "features": [1, 2]},
            r"features is an array of type int64 and shape \(2,\), not 2 texts",
        ),
        (
            {"X": X3, "y": Y3, "features": ["a"]},
            r"features is an array of type <U1 and shape \(1,\), not 2 texts",
        ),
        ({"X": X3, "y": [[1], [0], [1]]}, r"y is an array of type int64 and shape \(3, 1\), not n labels"),
        ({"X": X3, "y": [1, 0]}, "there are 2 labels for 3 rows"),
        ({"X": X3[0], "y": [1, 0]}, "X must be two-dimensional"),
        ({"X": [["1", "2"]], "y": [1]}, "X is not numeric"),
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


# ---------------------------------------------------------------- ARFF

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
    path = written(tmp_path, "flag.arff", ARFF.replace("good", "0").replace("'very bad'", "1"))
    data = load_dataset(path, label="flag", missing="drop")
    assert data.features == ("width (mm)", "n", "Class")
    text = ARFF.replace("flag {0, 1}", "label {0, 1}").replace("good", "0").replace("'very bad'", "1")
    data = load_dataset(written(tmp_path, "label.arff", text), missing="drop")
    assert data.features == ("width (mm)", "n", "Class")
    assert data.y.tolist() == [-1.0, 1.0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "there are no @attribute lines followed by @data"),
        ("@attribute a numeric\n1\n", "there are no @attribute lines followed by @data"),
        (ARFF.replace("Class", "kind"), "there is no column 'label' among the 4 columns"),
        (ARFF.replace("{good,'very bad'}", "string"), "there is no column 'label'"),
        (ARFF.replace("?", "wide"), r"row 2 \(line 11\), column 'width \(mm\)': 'wide' is not a number"),
        (ARFF.replace("2.5,4,1,good", "2.5,4,good"), r"row 3 \(line 13\) has 3 fields, there are 4 columns"),
        (ARFF.replace("2.5,4,1,good", "{0 2.5, 3 good}"), "sparse ARFF rows .* are not read"),
        (ARFF.replace("@attribute n INTEGER", "@attribute n"), "line 5 is not an attribute: '@attribute n'"),
        (ARFF, "1 value that is not finite in row 2, column 'width"),
        (ARFF.split("% another")[0], "there is no row after the header"),
    ],
)
def test_arff_refuses(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        load_dataset(written(tmp_path, "t.arff", content))


# ---------------------------------------------------------------- libsvm


def test_libsvm(tmp_path):
    data = load_dataset(written(tmp_path, "t.libsvm", "+1 1:0.5 3:-2\n-1 2:4 # note\n-1 1:1 2:nan\n"), missing="drop")
    assert data.X.tolist() == [[0.5, 0.0, -2.0], [0.0, 4.0, 0.0]]
    assert data.y.tolist() == [1.0, -1.0]
    assert data.features == ("x1", "x2", "x3")
    assert data.labels == ("-1", "1")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1,2 1:3\n2 1:4\n", "the file is not in libsvm format"),
        ("a 1:3\n", "the file is not in libsvm format"),
        ("1 1:3\n2 1:3\n3 1:1\n", "exactly two different values, 3 found: '1', '2', '3'"),
        ("", "at least one row"),
    ],
)
def test_libsvm_refuses(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        load_dataset(written(tmp_path, "t.libsvm", content))


# ---------------------------------------------------------------- sources


def test_wdbc():
    data = load_dataset("wdbc")
    assert (data.n, data.p, data.name) == (569, 30, "wdbc")
    assert (data.positive.size, data.negative.size) == (212, 357)
    assert data.labels == ("benign", "malignant")
    assert data.features[::10] == ("radius_mean", "radius_se", "radius_worst")
    assert "concave_points_se" in data.features
    assert data.X[0, :3].tolist() == [17.99, 10.38, 122.8]
    assert data.y[0] == 1.0


@pytest.mark.shared
@needs_shared
def test_wdbc_equals_the_file():
    bundled, file = load_dataset("wdbc"), load_dataset(SHARED / "data" / "wdbc.csv.gz")
    assert bundled.features == file.features
    assert np.array_equal(bundled.X, file.X)
    assert np.array_equal(bundled.y, file.y)


@pytest.mark.shared
@needs_shared
def test_every_benchmark_file(monkeypatch):
    monkeypatch.setenv("FSOPT_DATA", str(SHARED / "data"))
    manifest = json.loads((SHARED / "data" / "manifest.json").read_text())
    tasks = [entry for entry in manifest if not entry.get("extra") and entry["file"].endswith(".csv.gz")]
    assert len(tasks) >= 15
    for task in tasks:
        if task["name"] == "wdbc":
            continue
        if task["n_missing_values"]:
            with pytest.raises(DataError, match=r"not finite.*--missing drop"):
                load_dataset(task["name"])
            whole = load_dataset(task["name"], missing="mean")
            complete = load_dataset(task["name"], missing="drop")
            assert complete.n == task["n_rows"] - task["n_rows_with_missing"], task["name"]
        else:
            whole = load_dataset(task["name"])
        shape = (whole.n, whole.p, whole.positive.size, whole.negative.size)
        assert shape == (task["n_rows"], task["n_features"], task["n_pos"], task["n_neg"]), task["name"]
        assert whole.name == task["name"]


def test_name_in_the_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FSOPT_DATA", str(tmp_path))
    np.savez(tmp_path / "two.parts.npz", X=X3, y=Y3)
    assert load_dataset("two.parts").n == 3
    written(tmp_path, "two.parts.csv", "a,label\n1,0\n2,1\n")
    assert load_dataset("two.parts").n == 2
    written(tmp_path, "two.parts.csv.gz", "a,label\n1,0\n2,1\n3,1\n4,1\n")
    assert load_dataset("two.parts").n == 4


def test_sources_not_found(tmp_path, monkeypatch):
    monkeypatch.delenv("FSOPT_DATA", raising=False)
    with pytest.raises(DataError, match=r"FSOPT_DATA is not set: .*'fsopt data fetch sonar', or give a path"):
        load_dataset("sonar")
    monkeypatch.setenv("FSOPT_DATA", str(tmp_path))
    with pytest.raises(DataError) as caught:
        load_dataset("sonar")
    assert f"there is no data set 'sonar' in {tmp_path}" in caught.value.message
    assert "fsopt data fetch sonar" in caught.value.hint
    with pytest.raises(DataError, match=r"there is no file .*nowhere\.csv"):
        load_dataset(tmp_path / "nowhere.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match=r"there is no file .*folder\.csv"):
        load_dataset(tmp_path / "folder.csv")
    written(tmp_path, "t.xlsx", "")
    with pytest.raises(DataError, match=r"the type of .*t\.xlsx is not known from its name: use one of \.csv"):
        load_dataset(tmp_path / "t.xlsx")


def test_unreadable_file(tmp_path, monkeypatch):
    path = written(tmp_path, "t.csv", "a,label\n1,0\n")

    def denied(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", denied)
    with pytest.raises(DataError, match=r"t\.csv cannot be read: Permission denied"):
        load_dataset(path)


def test_label_is_refused_where_it_has_no_meaning(tmp_path):
    np.savez(tmp_path / "t.npz", X=X3, y=Y3)
    with pytest.raises(ParameterError, match=r"label='z' cannot be used for a \.npz file"):
        load_dataset(tmp_path / "t.npz", label="z")
    with pytest.raises(ParameterError, match="label='z' cannot be used for wdbc"):
        load_dataset("wdbc", label="z")


# ---------------------------------------------------------------- fetch


def openml(monkeypatch, **changes):
    bunch = SimpleNamespace(
        data=np.array([[1.5, 0.0], [np.nan, 1.0], [1e-7, np.nan]]),
        target=np.array(["g", "b", "g"], dtype=object),
        feature_names=["width", "level"],
        categories={"level": ["10", "20"]},
    )
    bunch.__dict__.update(changes)
    calls = []

    def fake(**keywords):
        calls.append(keywords)
        return bunch

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fake)
    return calls


def test_fetch_writes_what_load_reads(tmp_path, monkeypatch):
    calls = openml(monkeypatch)
    monkeypatch.setenv("FSOPT_DATA", str(tmp_path / "new"))
    path = fetch_dataset("toy")
    assert calls == [{"name": "toy", "version": 1, "as_frame": False, "parser": "liac-arff"}]
    assert path == tmp_path / "new" / "toy.csv.gz"
    assert gzip.decompress(path.read_bytes()) == b"width,level,label\n1.5,10,g\n,20,b\n1e-07,,g\n"
    data = load_dataset("toy", missing="mean")
    assert data.X.tolist() == [[1.5, 10.0], [(1.5 + 1e-7) / 2, 20.0], [1e-7, 15.0]]
    assert data.labels == ("b", "g")
    assert [child.name for child in path.parent.iterdir()] == ["toy.csv.gz"]


def test_fetch_is_deterministic(tmp_path, monkeypatch):
    openml(monkeypatch)
    first = fetch_dataset("toy", tmp_path / "a").read_bytes()
    monkeypatch.setattr(time, "time", lambda: 1e9)
    second = fetch_dataset("toy", tmp_path / "b").read_bytes()
    assert hashlib.sha256(first).digest() == hashlib.sha256(second).digest()
    assert first[4:8] == bytes(4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"categories": {"level": ["low", "high"]}},
            r"feature 'level' of 'toy' is categorical \(low, high\)",
        ),
        ({"target": np.array(["a", "b", "c"])}, "exactly two different values, 3 found"),
        ({"target": None}, "'toy' has not one target column"),
        ({"target": np.zeros((3, 2))}, "'toy' has not one target column"),
        ({"feature_names": ["width", "label"], "categories": None}, "'toy' has a feature called 'label'"),
        ({"data": SimpleNamespace(toarray=None)}, "'toy' is sparse on OpenML"),
    ],
)
def test_fetch_refuses(tmp_path, monkeypatch, changes, message):
    openml(monkeypatch, **changes)
    with pytest.raises(DataError, match=message):
        fetch_dataset("toy", tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (URLError("no route"), "'toy' cannot be downloaded from OpenML .*no route.*: check the network"),
        (TimeoutError("slow"), "'toy' cannot be downloaded from OpenML .slow.: check the network"),
        (ValueError("No active dataset"), "OpenML does not give 'toy' .No active dataset.: look up its name"),
    ],
)
def test_fetch_without_an_answer(tmp_path, monkeypatch, error, message):
    def fail(**keywords):
        raise error

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fail)
    with pytest.raises(DataError, match=message):
        fetch_dataset("toy", tmp_path)


def test_fetch_needs_a_name_and_a_folder(tmp_path, monkeypatch):
    openml(monkeypatch)
    monkeypatch.delenv("FSOPT_DATA", raising=False)
    with pytest.raises(ParameterError, match="there is no folder to write to, FSOPT_DATA is not set"):
        fetch_dataset("toy")
    for name in ("", "../toy", "a/b", "."):
        with pytest.raises(ParameterError, match="is not a name of a data set"):
            fetch_dataset(name, tmp_path)


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    openml(monkeypatch)
    path = written(tmp_path, "toy.csv.gz", "old")
    before = path.read_bytes()

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(FileError, match=r"cannot be written .*No space left"):
        fetch_dataset("toy", tmp_path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
