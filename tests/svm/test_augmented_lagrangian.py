"""The augmented Lagrangian for support vector machines of sparse data: the optimum, its bound, and its limits."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp

import fsopt
from fsopt.data import Dataset
from fsopt.drivers.run import Run
from fsopt.errors import ParameterError
from fsopt.svm.augmented_lagrangian import Lagrangian, svm_augmented_lagrangian
from fsopt.svm.certificate import certify_svm
from fsopt.svm.interior_point import svm_interior_point

RNG = np.random.default_rng(3)
X = np.where(RNG.uniform(size=(80, 25)) < 0.2, RNG.normal(size=(80, 25)), 0.0)
Y = np.where(X[:, :4].sum(axis=1) + 0.5 * RNG.normal(size=80) > 0.4, 1, -1)
SPARSE = Dataset(sp.csr_array(X), Y)
WIDE = Dataset(RNG.normal(size=(30, 120)), np.where(RNG.uniform(size=30) < 0.4, 1, -1))
TALL = Dataset(X[:, :8] + 0.3 * RNG.normal(size=(80, 8)), Y)
WEIGHTED = dataclasses.replace(SPARSE, weights=RNG.uniform(0.2, 3.0, 80))


@pytest.mark.parametrize("data", [SPARSE, WEIGHTED], ids=["equal", "weighted"])
def test_the_multipliers_are_recovered_from_the_optimal_hyperplane(data):
    known = svm_interior_point(data.with_X(data.X.toarray()), c=1.0, tolerance=1e-9)
    at = Lagrangian(data, 1.0)
    at.w, at.b = known.point["w"], known.point["b"]
    at.learn(at.recovered())
    assert at.bound == pytest.approx(known.objective, rel=1e-4)
    at.b += 1e3  # no sample is near the margin: each multiplier is at a bound
    np.testing.assert_array_equal(at.recovered(), np.where(data.y > 0, 0.0, at.caps))


def elastic_net_bound(data, alpha, rho):
    """Return e'a - |soft(X'Ya, rho)|^2 / (2 (1 - rho)), written out."""
    q = np.array([sum(alpha * data.y * column) for column in np.asarray(data.X.todense() if data.sparse else data.X).T])
    return alpha.sum() - np.sum(np.maximum(np.abs(q) - rho, 0.0) ** 2) / (2 * (1 - rho))


CASES = {
    "small c": (SPARSE, 0.1, 0.0),
    "large c": (SPARSE, 30.0, 0.0),
    "weighted": (WEIGHTED, 1.0, 0.0),
    "equal net": (SPARSE, 1.0, 0.99),
    "weighted net": (WEIGHTED, 0.1, 0.9),
    "wide net": (WIDE, 1.0, 0.5),
    "tall net": (TALL, 20.0, 0.1),
    "net far from 0": (TALL.with_X(TALL.X + 1e3), 1.0, 0.5),
}


@pytest.mark.parametrize(("data", "c", "rho"), CASES.values(), ids=CASES)
def test_the_optimum_is_that_of_the_model(data, c, rho):
    """With a share of the l1 norm, the elastic net, or without."""
    found = svm_augmented_lagrangian(data, c=c, l1_ratio=rho)
    dense = data.with_X(data.X.toarray()) if data.sparse else data
    model = fsopt.build("elastic-net-svm", dense, c=c, l1_ratio=rho) if rho else fsopt.build("svm", dense, c=c)
    known = fsopt.solve(model, options={"tolerance": 1e-10})
    assert found.status.value == "optimal"
    assert found.objective == pytest.approx(known.objective, rel=1e-6)
    w, b, alpha = (found.point[name] for name in ("w", "b", "alpha"))
    caps = c * (np.ones(data.n) if data.weights is None else data.weights)
    value = rho * np.abs(w).sum() + (1 - rho) / 2 * w @ w + caps @ np.maximum(1 - data.y * (data.X @ w + b), 0.0)
    assert found.objective == pytest.approx(value, rel=1e-12)
    assert alpha.min() >= 0.0
    assert (alpha <= caps).all()
    assert alpha @ data.y == pytest.approx(0.0, abs=1e-9 * caps.sum())
    assert found.bound == pytest.approx(elastic_net_bound(data, alpha, rho), rel=1e-9)
    for record in found.history:
        assert record["bound"] <= known.objective * (1 + 1e-7)
        assert record["objective"] >= known.objective * (1 - 1e-7)
    assert found.history[-1]["objective"] == pytest.approx(known.objective, rel=1e-6)


def test_weights_that_the_elastic_net_does_not_select_are_0():
    found = svm_augmented_lagrangian(WIDE, c=1.0, l1_ratio=0.9)
    correlation = np.abs(WIDE.X.T @ (found.point["alpha"] * WIDE.y))
    assert 0 < np.count_nonzero(found.point["w"]) < WIDE.n
    assert (correlation[found.point["w"] != 0] > 0.9 - 1e-3).all()
    for ratio in (1.0, -0.1):
        with pytest.raises(ParameterError, match="l1_ratio"):
            svm_augmented_lagrangian(WIDE, l1_ratio=ratio)


def test_one_sample_of_each_class_has_the_closed_form():
    # x = (2, 0) and (0, 1): at a large C the margin is the distance sqrt(5), so the value is 2 / 5.
    data = Dataset(sp.csr_array([[2.0, 0.0], [0.0, 1.0]]), [1, -1])
    found = svm_augmented_lagrangian(data, c=100.0, tolerance=1e-10)
    assert found.objective == pytest.approx(0.4, rel=1e-8)
    np.testing.assert_allclose(found.point["alpha"], 0.4, rtol=1e-6)


def test_samples_of_zeros_cost_as_much_as_the_smaller_class():
    data = Dataset(sp.csr_array((5, 3)), [1, 1, 1, -1, -1])
    found = svm_augmented_lagrangian(data, c=2.0)
    assert found.objective == pytest.approx(8.0)
    assert found.bound == pytest.approx(8.0)


def test_an_end_before_the_optimum_has_a_valid_bound():
    best = svm_augmented_lagrangian(SPARSE).objective
    short = svm_augmented_lagrangian(SPARSE, tolerance=0.0, max_iterations=1)
    assert short.stop == "iteration-limit"
    assert short.bound <= best <= short.objective
    late = svm_augmented_lagrangian(SPARSE, run=Run(time_limit=1e-9))
    assert late.stop == "time-limit"
    assert late.status.value == "feasible"
    assert late.bound <= best <= late.objective


def test_multipliers_of_another_optimum_are_no_evidence():
    found = svm_augmented_lagrangian(SPARSE)
    point = found.point
    assert certify_svm(SPARSE, 1.0, point["w"], point["b"], point["alpha"]).ok
    assert not certify_svm(SPARSE, 1.0, point["w"], point["b"], 0.99 * point["alpha"]).ok
    assert not certify_svm(SPARSE, 1.0, 1.01 * point["w"], point["b"], point["alpha"]).ok
    assert not certify_svm(SPARSE, 1.0, point["w"], point["b"] + 0.01, point["alpha"]).ok


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
    assert not fsopt.verify(dataclasses.replace(fit, bound=1.001 * fit.bound), data).numerically


@pytest.mark.parametrize("rho", [0.5, 1.0])
def test_an_elastic_net_of_sparse_or_large_data_is_fitted_and_verified_without_a_model(rho, monkeypatch):
    dense = fsopt.fit("elastic-net-svm", SPARSE.with_X(X), l1_ratio=rho, scale="none")
    build = "fsopt.methods.baselines.elastic_net_svm.build_elastic_net_svm"
    small = fsopt.fit("elastic-net-svm", SPARSE, l1_ratio=rho, scale="none")
    np.testing.assert_allclose(small.coef, dense.coef, rtol=1e-6, atol=1e-9)
    assert fsopt.verify(small, SPARSE).numerically
    monkeypatch.setattr(build, lambda *_, **__: pytest.fail("a model was built"))
    monkeypatch.setattr("fsopt.methods.large_programs.INTERIOR", X.size)
    monkeypatch.setattr("fsopt.methods.baselines.convex_svm.SMALL", 0)
    for data in (SPARSE, SPARSE.with_X(X)):
        fit = fsopt.fit("elastic-net-svm", data, l1_ratio=rho, scale="none")
        assert fit.objective == pytest.approx(dense.objective, rel=1e-6)
        assert fsopt.verify(fit, data).numerically
        for false in ({"bound": 1.001 * fit.bound}, {"intercept": fit.intercept + 0.01}, {"coef": 1.01 * fit.coef}):
            assert not fsopt.verify(dataclasses.replace(fit, **false), data).numerically
        params = {**fit.params, "l1_ratio": rho - 0.1}
        assert not fsopt.verify(dataclasses.replace(fit, params=params), data).numerically
