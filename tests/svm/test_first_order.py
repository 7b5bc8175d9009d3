"""SVMs of sparse data by first-order steps: the optimum of the model, valid bounds at every end, no dense matrix."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp

import fsopt
from fsopt.data import Dataset
from fsopt.drivers.run import Run
from fsopt.svm.first_order import svm_first_order

RNG = np.random.default_rng(3)
X = np.where(RNG.uniform(size=(60, 15)) < 0.3, RNG.exponential(size=(60, 15)), 0.0)
Y = np.where(X[:, :3] @ [1.0, -1.0, 0.5] + 0.2 * RNG.normal(size=60) > 0.1, 1.0, -1.0)
WEIGHTS = RNG.uniform(0.5, 2.0, 60)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize("c", [0.05, 1.0, 20.0])
def test_the_value_is_that_of_the_model(c, weights):
    found = svm_first_order(Dataset(sp.csr_array(X), Y, weights=weights), c=c)
    known = fsopt.solve(fsopt.build("svm", Dataset(X, Y, weights=weights), c=c))
    assert (found.status, found.stop) == ("optimal", "optimal")
    assert found.objective == pytest.approx(known.objective, rel=1e-6)
    assert found.bound == pytest.approx(known.objective, rel=1e-6)


def test_an_end_before_the_optimum_has_a_valid_bound(monkeypatch):
    data = Dataset(sp.csc_matrix(X), Y)
    best = svm_first_order(data).objective
    late = svm_first_order(data, run=Run(time_limit=1e-9))
    assert (late.stop, late.status) == ("time-limit", "feasible")
    monkeypatch.setattr("fsopt.svm.first_order.CLOSED", -1.0)
    monkeypatch.setattr("fsopt.svm.first_order.STALLED", 2)
    stalled = svm_first_order(data)
    assert stalled.stop == "stalled"
    for end in (late, stalled):
        assert end.bound <= best * (1 + 1e-9)
        assert best <= end.objective * (1 + 1e-6)


@pytest.mark.parametrize("indices", [np.int32, np.int64])
def test_large_sparse_data_are_fitted_and_verified_without_a_dense_matrix(indices, monkeypatch):
    rng = np.random.default_rng(0)
    made = sp.csr_array(sp.random(100, 1000, density=0.02, random_state=rng))
    y = np.where(made[:, :100].sum(axis=1) - made[:, 100:200].sum(axis=1) > 0, 1, -1)
    made.indices, made.indptr = made.indices.astype(indices), made.indptr.astype(indices)
    for kind in (sp.csr_array, sp.csr_matrix, sp.csc_array):
        monkeypatch.setattr(kind, "toarray", lambda *_: pytest.fail("a dense matrix was made"))
    monkeypatch.setattr("fsopt.methods.baselines.convex_svm.SMALL", 10_000)
    data = Dataset(made, y)
    fit = fsopt.fit("svm", data, c=0.5, scale="none")
    assert fit.status.value == "optimal"
    assert fsopt.verify(fit, data).numerically
    for false in ({"bound": 1.001 * fit.bound}, {"coef": 1.01 * fit.coef}, {"intercept": fit.intercept + 0.05}):
        assert not fsopt.verify(dataclasses.replace(fit, **false), data).numerically
