"""Files of arrays and of sparse lines, sparse columns of frames and categories, and damaged archives."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from support import written

import fsopt
from fsopt.answers.trained import fingerprint
from fsopt.data import Dataset, load_dataset, load_samples
from fsopt.errors import DataError, ParameterError

RNG = np.random.default_rng(8)
X3 = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
Y3 = [1, -1, 1]
X = sp.csr_array(sp.random(1200, 5000, density=0.001, random_state=RNG, data_rvs=np.ones))
Y = np.where(np.asarray(X[:, :2500].sum(axis=1)) > X[:, 2500:].sum(axis=1), 1, -1)
DATA = Dataset(X, Y)


def archive(path, **changes):
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape, "format": "csr", "y": Y}
    np.savez(path, **{k: v for k, v in (parts | changes).items() if v is not None})
    return path


def test_npz_round_trip(tmp_path):
    path = tmp_path / "toy.npz"
    np.savez(path, w=np.zeros(3), X=X3, y=np.array(Y3), features=np.array(["a", "b"]))
    data = load_dataset(path)
    assert np.array_equal(data.X, X3)
    assert (data.y.tolist(), data.features, data.name, data.labels) == (Y3, ("a", "b"), "toy", ("-1", "1"))
    np.savez(path, X=X3.astype(np.float32), y=np.array(["no", "yes", "no"]))
    data = load_dataset(path)
    assert (data.features, data.labels, data.y.tolist()) == (("x1", "x2"), ("no", "yes"), [-1, 1, -1])
    np.savez(path, X=[[1.0, np.nan], [2.0, 3.0], [3.0, 4.0]], y=[0.0, 1.0, 0.0])
    data = load_dataset(path, missing="mean")
    assert (data.X.tolist(), data.labels) == ([[1.0, 3.5], [2.0, 3.0], [3.0, 4.0]], ("0", "1"))
    for source in (path, "wdbc"):
        with pytest.raises(ParameterError, match="target='z' cannot be used for"):
            load_dataset(source, target="z")


def test_npz_never_unpickles(tmp_path):
    path = tmp_path / "t.npz"
    for content in (b"", b"text", pickle.dumps({"X": 1}), b"PK\x03\x04 broken"):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"the file is not an \.npz archive"):
            load_dataset(path)
    np.savez_compressed(path, X=RNG.random((50, 2)), y=np.arange(50) % 2)
    whole = path.read_bytes()
    path.write_bytes(whole[:200] + bytes(50) + whole[250:])
    with pytest.raises(DataError, match="the array X is damaged"):
        load_dataset(path)


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_sparse_archives(tmp_path, kind):
    sp.save_npz(tmp_path / "own.npz", X.asformat(kind))
    with np.load(tmp_path / "own.npz") as held:
        np.savez(tmp_path / "t.npz", **held, y=Y, features=np.array([f"f{j}" for j in range(X.shape[1])]))
    found = load_dataset(tmp_path / "t.npz")
    assert fingerprint(found) == fingerprint(DATA)
    assert found.features[7] == "f7"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": "bsr"}, "no sparse matrix"),
        ({"shape": (1200, 5000, 1)}, "no sparse matrix"),
        ({"shape": (1200, 4)}, "no (valid )?sparse matrix"),
        ({"indices": X.indices - 1}, "no (valid )?sparse matrix"),
        ({"indptr": X.indptr[::-1].copy()}, "no (valid )?sparse matrix"),
        ({"indptr": X.indptr[:-1]}, "no (valid )?sparse matrix"),
        ({"shape": (1200, 10**12)}, "more than the limit"),
        ({"data": None}, "no array data"),
        ({"y": None}, "no array y"),
        ({"data": np.where(np.arange(X.nnz) == 3, np.nan, X.data)}, "1 missing value, first in row"),
        ({"data": X.data.astype(str)}, "not numeric"),
    ],
)
def test_damaged_archives(tmp_path, changes, words):
    with pytest.raises(DataError, match=words):
        load_dataset(archive(tmp_path / "t.npz", **changes))


def test_sparse_rows_with_a_missing_value_are_dropped(tmp_path):
    data = X.data.copy()
    data[[0, 1]] = np.nan
    gone = np.unique(np.searchsorted(X.indptr, [0, 1], side="right") - 1)
    found = load_dataset(archive(tmp_path / "t.npz", data=data), missing="drop")
    np.testing.assert_array_equal(found.X.toarray(), np.delete(X.toarray(), gone, axis=0))


def test_libsvm(tmp_path):
    text = "+1 1:0.5 3:-2\n-1 2:4 # note\n-1 1:1 2:nan\n"
    data = load_dataset(written(tmp_path, "t.libsvm", text), missing="drop")
    assert data.X.tolist() == [[0.5, 0.0, -2.0], [0.0, 4.0, 0.0]]
    assert (data.y.tolist(), data.features, data.labels) == ([1.0, -1.0], ("x1", "x2", "x3"), ("-1", "1"))


@pytest.mark.parametrize("base", [0, 1])
def test_samples_in_libsvm_are_read_by_the_indices_of_the_fit(tmp_path, base):
    dense = RNG.normal(size=(30, 4))
    dense[:5, 0] = dense[:5, 3] = 0.0  # the first samples have neither the first nor the last index
    labels = np.where(dense.sum(axis=1) > 0, 1, -1)
    dump_svmlight_file(dense, labels, str(tmp_path / "train.svm"), zero_based=base == 0)
    dump_svmlight_file(dense[:5], labels[:5], str(tmp_path / "new.svm"), zero_based=base == 0)
    data = load_dataset(tmp_path / "train.svm")
    assert data.features == tuple(f"x{j + base}" for j in range(4))
    fit = fsopt.fit("svm", data)
    fit.save(tmp_path / "fit.json")
    for known in (fit, fsopt.load_fit(tmp_path / "fit.json")):
        found = known.decision_function(load_samples(tmp_path / "new.svm"))
        np.testing.assert_allclose(found, fit.decision_function(dense[:5]))


def test_large_libsvm_files_stay_sparse_and_small_ones_are_dense(tmp_path):
    dump_svmlight_file(X, Y, str(tmp_path / "large.libsvm"), zero_based=False)
    found = load_dataset(tmp_path / "large.libsvm")
    assert found.sparse
    np.testing.assert_array_equal(found.X.toarray(), X.toarray()[:, : found.p])
    dump_svmlight_file(X[:90], Y[:90], str(tmp_path / "small.libsvm"), zero_based=False)
    assert not load_dataset(tmp_path / "small.libsvm").sparse
    with pytest.raises(DataError, match="needs dense data"):
        fsopt.fit("mpm", found)


def test_sparse_columns_of_a_frame():
    part = X[:, :40]
    frame = pd.DataFrame.sparse.from_spmatrix(part, columns=[f"f{j}" for j in range(40)])
    found = load_dataset(frame.assign(label=Y))
    assert fingerprint(found) == fingerprint(Dataset(part, Y))
    assert found.features == tuple(frame.columns)
    fit = fsopt.fit("onsvm", found)
    assert (fit.predict(frame) == fit.predict(part)).all()
    assert (fsopt.fit("onsvm", frame, Y).coef == fit.coef).all()


def test_wide_categories_stay_sparse_beyond_the_limit(monkeypatch):
    frame = pd.DataFrame({f"c{k}": RNG.integers(0, 50, 300).astype(str) for k in range(20)})
    frame = frame.map(lambda text: f"v{text}").assign(size=RNG.normal(size=300), label=np.arange(300) % 2)
    dense = load_dataset(frame, onehot=True)
    monkeypatch.setenv("FSOPT_DATA_LIMIT", "0.001")
    found = load_dataset(frame, onehot=True)
    assert (found.sparse, dense.sparse, found.features == dense.features) == (True, False, True)
    np.testing.assert_array_equal(found.X.toarray(), dense.X)
    fit = fsopt.fit("onsvm", found)
    np.testing.assert_allclose(fit.decision_function(frame), fit.decision_function(dense))
