"""Sparse data sets: one canonical form of equal content, the numbers of the dense ones, and no dense copy."""

import copy
import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from fsopt.answers.trained import fingerprint
from fsopt.data import Dataset
from fsopt.data.hyperplanes import combination, hyperplane_errors
from fsopt.data.matrices import column_deviations, column_means, constant_columns, largest_values
from fsopt.data.splits import stratified_folds, train_and_test
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
    held = sp.csr_matrix(DENSE)
    for start, end in zip(held.indptr, held.indptr[1:], strict=False):
        held.indices[start:end] = held.indices[start:end][::-1].copy()
        held.data[start:end] = held.data[start:end][::-1].copy()
    held.has_sorted_indices = False
    return held


def doubled():
    rows, columns = np.nonzero(DENSE)
    halves = np.tile(DENSE[rows, columns] / 2, 2)
    return sp.coo_matrix((halves, (np.tile(rows, 2), np.tile(columns, 2))), DENSE.shape)


def with_zeros():
    held = sp.csr_array(np.where(DENSE == 0, 1.0, DENSE))
    held.data[np.ravel(DENSE) == 0] = 0.0
    return held


def long_places():
    held = sp.csr_array(DENSE)
    held.indices, held.indptr = held.indices.astype(np.int64), held.indptr.astype(np.int64)
    return held


FORMS = {
    "csc array": lambda: sp.csc_array(DENSE),
    "csr matrix": lambda: sp.csr_matrix(DENSE),
    "coo": lambda: sp.coo_array(DENSE),
    "unsorted": unsorted,
    "places twice": doubled,
    "stored zeros": with_zeros,
    "64-bit places": long_places,
}


@pytest.mark.parametrize("form", FORMS)
def test_equal_content_has_one_form(form):
    given = FORMS[form]()
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
    large = sp.csr_array(1e8 + RNG.normal(size=(50, 1)))
    np.testing.assert_allclose(column_deviations(large), large.toarray().std(axis=0), rtol=1e-9)
    np.testing.assert_array_equal(largest_values(SPARSE.X), np.abs(DENSE).max(axis=0))
    np.testing.assert_array_equal(constant_columns(SPARSE.X), constant_columns(DENSE))
    assert SPARSE.constant == FULL.constant == ("x3",)
    X = np.column_stack([np.full(40, 4.0), np.arange(40), np.full(40, -0.1), np.arange(40) // 2, np.arange(40) + 0.5])
    for data in (Dataset(sp.csr_array(X), Y), Dataset(X, Y)):
        assert (data.constant, data.identifiers) == (("x1", "x3"), ("x2",))
    alpha, w = RNG.uniform(size=40), RNG.normal(size=7)
    np.testing.assert_allclose(combination(SPARSE, alpha), combination(FULL, alpha), rtol=1e-9, atol=1e-6)
    assert hyperplane_errors(SPARSE, w, 0.5) == hyperplane_errors(FULL, w, 0.5)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
def test_the_mean_of_one_value_is_that_value(weights):
    np.testing.assert_array_equal(
        column_means(np.full((len(WEIGHTS), 3), [0.1, -0.7, 1e300]), weights), [0.1, -0.7, 1e300]
    )


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
