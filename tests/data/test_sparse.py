"""Sparse data and files of arrays: one canonical form of equal content, the numbers of dense ones, no dense copy."""

import copy
import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from support import written

import fsopt
from fsopt.answers.trained import fingerprint
from fsopt.data import Dataset, load_dataset
from fsopt.data.dataset import stratified_folds, train_and_test
from fsopt.data.given import load_samples
from fsopt.data.hyperplanes import combination, hyperplane_errors
from fsopt.data.matrices import column_deviations, column_means, constant_columns, largest_values
from fsopt.errors import DataError, ParameterError
from fsopt.methods.preprocessing import preprocess

RNG = np.random.default_rng(3)
DENSE = np.where(RNG.uniform(size=(40, 7)) < 0.3, np.round(RNG.normal(size=(40, 7)), 3), 0.0)
DENSE[:, 2] = 0.0  # an empty feature
DENSE[5] = 0.0  # an empty sample
DENSE[:, 5] *= 1e9
Y = np.where(np.arange(40) % 3 == 0, 1, -1)
WEIGHTS = RNG.uniform(0.5, 2.0, 40)
SPARSE = Dataset(sp.csr_array(DENSE), Y, weights=WEIGHTS)
FULL = Dataset(DENSE, Y, weights=WEIGHTS)


def unsorted():
    """Return places of 64 bits that fall."""
    held = sp.csr_matrix(DENSE[:, ::-1])
    return sp.csr_matrix((held.data, 6 - held.indices.astype(np.int64), held.indptr.astype(np.int64)), DENSE.shape)


def doubled():
    """Return two entries for each place, of zeros too."""
    rows, columns = np.indices(DENSE.shape).reshape(2, -1)
    halves = np.tile(DENSE.ravel() / 2, 2)
    return sp.coo_matrix((halves, (np.tile(rows, 2), np.tile(columns, 2))), DENSE.shape)


@pytest.mark.parametrize("given", [sp.csc_array(DENSE), sp.csr_matrix(DENSE), unsorted(), doubled()])
def test_equal_content_has_one_form(given):
    before = given.copy()
    data = Dataset(given, Y, weights=WEIGHTS)
    assert data.sparse
    assert isinstance(data.X, sp.csr_array)
    np.testing.assert_array_equal(data.X.toarray(), DENSE)
    assert data.X.nnz == np.count_nonzero(DENSE)
    assert fingerprint(data) == fingerprint(SPARSE)
    assert (given != before).nnz == 0
    other = given.copy()
    other.data[0] += 1.0
    assert fingerprint(FULL) != fingerprint(SPARSE) != fingerprint(Dataset(other, Y, weights=WEIGHTS))
    with pytest.raises(ValueError, match="read-only"):
        data.X.data[0] = 1.0
    for other in (copy.deepcopy(data), pickle.loads(pickle.dumps(data))):
        assert fingerprint(other) == fingerprint(data)
        assert not other.X.data.flags.writeable


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
def test_statistics_are_those_of_the_dense_matrix(weights):
    for function in (column_means, column_deviations):
        np.testing.assert_allclose(function(SPARSE.X, weights), function(DENSE, weights), rtol=1e-12, atol=1e-12)
    one = [0.1, -0.7, 1e300]  # the mean of one value is that value
    np.testing.assert_array_equal(column_means(np.tile(one, (40, 1)), weights), one)
    large = sp.csr_array(1e8 + RNG.normal(size=(50, 1)))
    np.testing.assert_allclose(column_deviations(large), large.toarray().std(axis=0), rtol=1e-9)
    np.testing.assert_array_equal(largest_values(SPARSE.X), np.abs(DENSE).max(axis=0))
    np.testing.assert_array_equal(*(constant_columns(X, column_deviations(X)) for X in (SPARSE.X, DENSE)))
    assert SPARSE.constant == FULL.constant == ("x3",)
    X = np.column_stack([np.full(40, 4.0), np.arange(40), np.full(40, -0.1), np.arange(40) // 2, np.arange(40) + 0.5])
    for data, numbers in ((Dataset(sp.csr_array(X), Y), ()), (Dataset(X, Y), ("x2",))):
        assert (data.constant, data.identifiers) == (("x1", "x3"), numbers)
    alpha, w = RNG.uniform(size=40), RNG.normal(size=7)
    np.testing.assert_allclose(combination(SPARSE, alpha), combination(FULL, alpha), rtol=1e-9, atol=1e-6)
    assert hyperplane_errors(SPARSE, w, 0.5) == hyperplane_errors(FULL, w, 0.5)


def test_parts_of_the_data_are_those_of_the_dense_data():
    places = [3, 0, 7, 1]
    np.testing.assert_array_equal(SPARSE.rows(places).X.toarray(), DENSE[places])
    np.testing.assert_array_equal(SPARSE.columns([6, 0]).X.toarray(), DENSE[:, [6, 0]])
    assert SPARSE.weighted("balanced").X.nnz == SPARSE.X.nnz
    for one, two in zip(stratified_folds(SPARSE, 3, 0), stratified_folds(FULL, 3, 0), strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(train_and_test(SPARSE, one)[1].X.toarray(), train_and_test(FULL, one)[1].X)


def test_scaling_divides_without_a_shift():
    work, map_ = preprocess(SPARSE, "standard")
    np.testing.assert_array_equal(map_.shift, 0.0)
    dense, centred = preprocess(FULL, "standard")
    np.testing.assert_allclose(map_.scale, centred.scale, rtol=1e-12)
    np.testing.assert_allclose(work.X.toarray() - centred.shift / centred.scale, dense.X, atol=1e-6)
    unit, _ = preprocess(SPARSE, "unit-rows")
    norms = np.linalg.norm(unit.X.toarray(), axis=1)
    np.testing.assert_allclose(norms, np.where(DENSE.any(axis=1), 1.0, 0.0), atol=1e-12)
    assert preprocess(SPARSE, "center")[0].X.nnz == SPARSE.X.nnz


def test_no_step_takes_the_memory_of_the_dense_matrix():
    n, p = 2_000, 50_000  # 0.8 GB
    X = sp.csc_array(sp.random(n, p, density=2e-5, random_state=np.random.default_rng(0)))
    tracemalloc.start()
    try:
        data = Dataset(X, np.where(np.arange(n) % 2, 1, -1))
        preprocess(data, "standard")
        assert len(data.constant) == np.sum(np.diff(X.indptr) == 0)
        fingerprint(data.rows(np.arange(0, n, 3)))
        assert tracemalloc.get_traced_memory()[1] < 5e7
    finally:
        tracemalloc.stop()


DRAWS = np.random.default_rng(8)
X3 = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
Y3 = [1, -1, 1]
X = sp.csr_array(sp.random(1200, 5000, density=0.001, random_state=DRAWS, data_rvs=np.ones))
LABELS = np.where(np.asarray(X[:, :2500].sum(axis=1)) > X[:, 2500:].sum(axis=1), 1, -1)
DATA = Dataset(X, LABELS)


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
        with pytest.raises(DataError, match="there is no column 'z'"):
            load_dataset(source, target="z")
    lines = written(tmp_path, "t.libsvm", "1 1:1\n-1 2:1\n")
    with pytest.raises(ParameterError, match="columns of sparse lines have one meaning"):
        load_dataset(lines, drop="x2")


def test_npz_never_unpickles(tmp_path):
    path = tmp_path / "t.npz"
    for content in (b"", b"text", pickle.dumps({"X": 1}), b"PK\x03\x04 broken"):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"the file is no \.npz archive"):
            load_dataset(path)
    np.savez_compressed(path, X=DRAWS.random((50, 2)), y=np.arange(50) % 2)
    whole = path.read_bytes()
    path.write_bytes(whole[:200] + bytes(50) + whole[250:])
    with pytest.raises(DataError, match="is damaged"):
        load_dataset(path)


def test_libsvm(tmp_path):
    text = "+1 1:0.5 3:-2\n-1 2:4 # note\n-1 1:1 2:nan\n"
    data = load_dataset(written(tmp_path, "t.libsvm", text), missing="drop")
    assert data.X.tolist() == [[0.5, 0.0, -2.0], [0.0, 4.0, 0.0]]
    assert (data.y.tolist(), data.features, data.labels) == ([1.0, -1.0], ("x1", "x2", "x3"), ("-1", "1"))


@pytest.mark.parametrize("base", [0, 1])
def test_samples_in_libsvm_are_read_by_the_indices_of_the_fit(tmp_path, base):
    dense = DRAWS.normal(size=(30, 4))
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
    dump_svmlight_file(X, LABELS, str(tmp_path / "large.libsvm"), zero_based=False)
    found = load_dataset(tmp_path / "large.libsvm")
    assert found.sparse
    np.testing.assert_array_equal(found.X.toarray(), X.toarray()[:, : found.p])
    dump_svmlight_file(X[:90], LABELS[:90], str(tmp_path / "small.libsvm"), zero_based=False)
    assert not load_dataset(tmp_path / "small.libsvm").sparse


def test_sparse_columns_of_a_frame_are_made_dense_and_its_matrix_is_taken():
    frame = pd.DataFrame.sparse.from_spmatrix(X[:, :40], columns=[f"f{j}" for j in range(40)])
    data = load_dataset(frame.assign(label=LABELS))
    np.testing.assert_array_equal(data.X, X[:, :40].toarray())
    fit = fsopt.fit("onsvm", Dataset(frame.sparse.to_coo(), LABELS, frame.columns))
    np.testing.assert_array_equal(fit.predict(frame), fit.predict(data.X))
