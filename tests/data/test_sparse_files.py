"""Files, frames and categories with sparse data: what is kept sparse, and damaged archives."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

import fsopt
from fsopt.answers.trained import fingerprint
from fsopt.data import Dataset
from fsopt.data.synthetic.files import write
from fsopt.errors import DataError

RNG = np.random.default_rng(8)
X = sp.csr_array(sp.random(1200, 5000, density=0.001, random_state=RNG, data_rvs=np.ones))
Y = np.where(np.asarray(X[:, :2500].sum(axis=1)) > X[:, 2500:].sum(axis=1), 1, -1)
DATA = Dataset(X, Y)


def archive(path, **changes):
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape, "format": "csr", "y": Y}
    np.savez(path, **{k: v for k, v in (parts | changes).items() if v is not None})
    return path


def test_large_libsvm_files_stay_sparse_and_small_ones_are_dense(tmp_path):
    dump_svmlight_file(X, Y, str(tmp_path / "large.libsvm"), zero_based=False)
    found = fsopt.load_dataset(tmp_path / "large.libsvm")
    assert found.sparse
    np.testing.assert_array_equal(found.X.toarray(), X.toarray()[:, : found.p])
    dump_svmlight_file(X[:90], Y[:90], str(tmp_path / "small.libsvm"), zero_based=False)
    assert not fsopt.load_dataset(tmp_path / "small.libsvm").sparse
    with pytest.raises(DataError, match="needs dense data"):
        fsopt.fit("mpm", found)


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_sparse_archives(tmp_path, kind):
    sp.save_npz(tmp_path / "own.npz", X.asformat(kind))
    with np.load(tmp_path / "own.npz") as held:
        np.savez(tmp_path / "t.npz", **held, y=Y, features=np.array([f"f{j}" for j in range(X.shape[1])]))
    found = fsopt.load_dataset(tmp_path / "t.npz")
    assert fingerprint(found) == fingerprint(DATA)
    assert found.features[7] == "f7"


def test_a_written_archive_is_read_again(tmp_path):
    write(DATA, tmp_path / "t.npz")
    assert fingerprint(fsopt.load_dataset(tmp_path / "t.npz")) == fingerprint(DATA)
    with pytest.raises(DataError, match=r"a \.csv file needs dense data"):
        write(DATA, tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": "bsr"}, "format 'bsr'"),
        ({"shape": (1200, 5000, 1)}, "shape"),
        ({"shape": (1200, 4)}, "no (valid )?sparse matrix"),
        ({"indices": X.indices + 0.5}, "format 'csr'"),
        ({"indices": X.indices - 1}, "no (valid )?sparse matrix"),
        ({"indptr": X.indptr[::-1].copy()}, "no (valid )?sparse matrix"),
        ({"indptr": X.indptr[:-1]}, "no (valid )?sparse matrix"),
        ({"shape": (1200, 10**12)}, "more than the limit"),
        ({"data": None}, "no array data"),
        ({"y": None}, "no array y"),
        ({"data": np.where(np.arange(X.nnz) == 3, np.nan, X.data)}, "1 missing value in row"),
        ({"data": X.data.astype(str)}, "not numeric"),
    ],
)
def test_damaged_archives(tmp_path, changes, words):
    with pytest.raises(DataError, match=words):
        fsopt.load_dataset(archive(tmp_path / "t.npz", **changes))


def test_rows_with_a_missing_value_are_dropped(tmp_path):
    data = X.data.copy()
    data[[0, 1]] = np.nan
    gone = np.unique(np.searchsorted(X.indptr, [0, 1], side="right") - 1)
    found = fsopt.load_dataset(archive(tmp_path / "t.npz", data=data), missing="drop")
    np.testing.assert_array_equal(found.X.toarray(), np.delete(X.toarray(), gone, axis=0))


def test_sparse_columns_of_a_frame():
    part = X[:, :40]
    frame = pd.DataFrame.sparse.from_spmatrix(part, columns=[f"f{j}" for j in range(40)])
    found = fsopt.Dataset.from_frame(frame.assign(label=Y), target="label")
    assert found.sparse
    assert fingerprint(found) == fingerprint(Dataset(part, Y))
    assert found.features == tuple(frame.columns)
    fit = fsopt.fit("onsvm", found)
    assert (fit.predict(frame) == fit.predict(part)).all()
    assert (fsopt.fit("onsvm", frame, Y).coef == fit.coef).all()


def test_wide_categories_stay_sparse_beyond_the_limit(monkeypatch):
    frame = pd.DataFrame({f"c{k}": RNG.integers(0, 50, 300).astype(str) for k in range(20)})
    frame = frame.map(lambda text: f"v{text}").assign(size=RNG.normal(size=300), label=np.arange(300) % 2)
    layout = {"target": "label", "encode": "onehot"}
    dense = fsopt.Dataset.from_frame(frame, **layout)
    monkeypatch.setenv("FSOPT_DATA_LIMIT", "0.001")
    found = fsopt.Dataset.from_frame(frame, **layout)
    assert found.sparse
    assert not dense.sparse
    assert found.features == dense.features
    np.testing.assert_array_equal(found.X.toarray(), dense.X)
    fit = fsopt.fit("onsvm", found)
    np.testing.assert_allclose(fit.decision_function(frame), fit.decision_function(dense))
