"""Names, folders and OpenML: where data sets come from."""

import gzip
import json
import time
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from support import SHARED, written

from fsopt.data import fetch_dataset, load_dataset
from fsopt.errors import DataError, FileError, ParameterError

needs_shared = pytest.mark.skipif(
    not (SHARED / "data").is_dir(), reason="the papers' benchmark files are not here (FSOPT_SHARED)"
)

X3 = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
Y3 = [1, -1, 1]


def test_libsvm(tmp_path):
    data = load_dataset(written(tmp_path, "t.libsvm", "+1 1:0.5 3:-2\n-1 2:4 # note\n-1 1:1 2:nan\n"), missing="drop")
    assert data.X.tolist() == [[0.5, 0.0, -2.0], [0.0, 4.0, 0.0]]
    assert data.y.tolist() == [1.0, -1.0]
    assert data.features == ("x1", "x2", "x3")
    assert data.labels == ("-1", "1")


def test_wdbc():
    data = load_dataset("wdbc")
    assert (data.n, data.p, data.name) == (569, 30, "wdbc")
    assert data.labels == ("benign", "malignant")
    assert data.features[::10] == ("radius_mean", "radius_se", "radius_worst")
    bunch = load_breast_cancer()
    assert np.array_equal(data.X, bunch.data)
    assert np.array_equal(data.y > 0, bunch.target == 0)
    words = [str(name).replace("error", "se").split() for name in bunch.feature_names]
    assert [set(name.split("_")) for name in data.features] == [set(w) for w in words]


@pytest.mark.slow
@pytest.mark.shared
@needs_shared
def test_every_benchmark_file(monkeypatch):
    monkeypatch.setenv("FSOPT_DATA", str(SHARED / "data"))
    manifest = json.loads((SHARED / "data" / "manifest.json").read_text())
    tasks = [entry for entry in manifest if not entry.get("extra") and entry["file"].endswith(".csv.gz")]
    assert len(tasks) >= 15
    for task in tasks:
        if task["name"] == "wdbc":
            assert np.array_equal(load_dataset(SHARED / "data" / task["file"]).X, load_dataset("wdbc").X)
            continue
        if task["n_missing_values"]:
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
    with pytest.raises(DataError, match=r"FSOPT_DATA is not set: .* run: fsopt data sonar --fetch$"):
        load_dataset("sonar")
    monkeypatch.setenv("FSOPT_DATA", str(tmp_path))
    with pytest.raises(DataError) as caught:
        load_dataset("sonar")
    assert caught.value.message == "there is no data set 'sonar' in the folder FSOPT_DATA"
    assert str(tmp_path) in caught.value.hint
    assert "fsopt data sonar --fetch" in caught.value.hint
    (tmp_path / "folder.csv").mkdir()
    written(tmp_path, "t.sav", "")
    for name, told in (
        ("nowhere.csv", r"there is no file .*nowhere\.csv"),
        ("folder.csv", r"there is no file .*folder\.csv"),
        ("t.sav", r"the type of .*t\.sav is not known from its name: use one of \.csv"),
    ):
        with pytest.raises(DataError, match=told):
            load_dataset(tmp_path / name)


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


def test_fetch_writes_what_load_reads_whenever_it_is_called(tmp_path, monkeypatch):
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
    monkeypatch.setattr(time, "time", lambda: 1e9)
    assert fetch_dataset("toy", tmp_path).read_bytes() == path.read_bytes()


def test_fetched_words_and_several_classes_are_as_in_any_table(tmp_path, monkeypatch):
    openml(monkeypatch, categories={"level": ["low", "high"]}, target=np.array(["a", "b", "c"]))
    path = fetch_dataset("toy", tmp_path)
    assert gzip.decompress(path.read_bytes()) == b"width,level,label\n1.5,low,a\n,high,b\n1e-07,,c\n"


def test_a_name_is_quoted_in_an_address_and_in_a_command(tmp_path, monkeypatch):
    calls = openml(monkeypatch)
    monkeypatch.setenv("FSOPT_DATA", str(tmp_path))
    assert fetch_dataset("a b?c#%2f;é").name == "a b?c#%2f;é.csv.gz"
    assert calls[0]["name"] == "a%20b%3Fc%23%252f%3B%C3%A9"
    with pytest.raises(DataError, match=r"or run: fsopt data 'x; rm -r y' --fetch$"):
        load_dataset("x; rm -r y")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
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
    for name in ("", "../toy", "a/b", ".", ".."):
        with pytest.raises(ParameterError, match="is not a name of a data set"):
            fetch_dataset(name, tmp_path)


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    openml(monkeypatch)
    path = written(tmp_path, "toy.csv.gz", "old")
    before = path.read_bytes()

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(FileError, match=r"cannot write .*No space left"):
        fetch_dataset("toy", tmp_path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
