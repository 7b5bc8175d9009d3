"""The rigorous SVM: references, the C-SVM at C = 1/gamma, the inactive capacity, kernels, and saved evidence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC
from support import blobs
from truths import one_norm

import fsopt
from fsopt.data.hyperplanes import best_intercepts
from fsopt.drivers.run import Run, drained
from fsopt.methods.baselines.machines import gamma_of, train

FEW = settings(max_examples=3, deadline=None, derandomize=True)
SEEDS = st.integers(0, 10**6)


def machine(data, w_cap, solver=None):
    return drained(train("rsvm", data, Run(solver), w_cap))


@FEW
@given(seed=SEEDS, w_cap=st.floats(0.05, 5))
def test_the_plane_is_that_of_the_c_svm(seed, w_cap):
    data = blobs(24, 3, seed=seed, gap=0.3)
    found = machine(data, w_cap)
    assert found.outcome.status == "optimal"
    gamma = gamma_of(data, found.alpha, w_cap)
    if gamma < 1e-3:
        return
    other = SVC(kernel="linear", C=1 / gamma, tol=1e-10).fit(data.X, data.y)
    np.testing.assert_allclose(found.w, other.coef_[0], atol=2e-5 * np.sqrt(w_cap))
    low, high = best_intercepts(data.X @ found.w, data.y)
    assert low - 1e-4 <= other.intercept_[0] <= high + 1e-4
    assert found.b == (low + high) / 2
    strong = np.flatnonzero(found.alpha > 1e-4)
    assert set(strong) <= set(other.support_)
    np.testing.assert_allclose(found.w, data.X.T @ found.beta, atol=1e-5 * np.sqrt(w_cap))


@FEW
@given(seed=SEEDS, gap=st.sampled_from([0.2, 3.0]), solver=st.sampled_from([None, "clarabel"]))
def test_a_capacity_that_is_not_needed_gives_the_shortest_hyperplane_of_smallest_loss(seed, gap, solver):
    data = blobs(16, 2, seed=seed, gap=gap)
    found = machine(data, 1e5, solver)
    assert found.outcome.status == "optimal"
    loss = found.outcome.objective
    assert loss == pytest.approx(one_norm(data.X, data.y, weights=np.zeros(data.p))[0], rel=1e-6, abs=1e-6)
    assert gamma_of(data, found.alpha, 1e5) == 0
    assert "inactive" in found.warnings[0]
    below, above = (machine(data, found.w @ found.w * share).outcome.objective for share in (0.98, 1.02))
    assert below > loss + 1e-5
    assert above == pytest.approx(loss, abs=1e-6)
    np.testing.assert_allclose(found.w, data.X.T @ found.beta, rtol=1e-5, atol=1e-5)
    if loss < 1e-6:  # separable: the hard margin
        hard = SVC(kernel="linear", C=1e8, tol=1e-10).fit(data.X, data.y)
        np.testing.assert_allclose(found.w, hard.coef_[0], rtol=1e-4, atol=1e-4)


def test_the_default_capacity_is_a_tenth_of_the_rows():
    data = blobs(30, 3, seed=2, gap=0.4)
    for options in ({"scale": "standard"}, {"scale": "unit-rows", "kernel": "gaussian"}, {}):
        fit = fsopt.fit("rsvm", data, **options)
        assert fit.details["h_over_l"] == pytest.approx(0.1)
        assert fit.details["radius"] * fit.params["w_cap"] + 1 == pytest.approx(3.0)
        assert (fit.status, fit.certificate.kind) == ("optimal", "convex")
    assert (fit.details["radius"], fit.support) == (pytest.approx(1.0), (0, 1, 2))
    assert fsopt.fit("rsvm", data, w_cap=2.0).details["h_over_l"] == pytest.approx(3.0 / 30)


def test_a_kernel_machine_is_the_c_svm_with_that_kernel():
    data, new = blobs(40, 3, seed=6, gap=0.3), np.random.default_rng(1).standard_normal((60, 3))
    fit = fsopt.fit("rsvm", data, w_cap=4.0, kernel="gaussian", width=0.8)
    assert fit.status == "optimal"
    K, K_new = (fit.kernel.matrix(fit.preprocessing.apply(X)) for X in (data.X, new))
    other = SVC(kernel="precomputed", C=1 / fit.details["gamma"], tol=1e-10).fit(K, data.y)
    low, high = fit.details["b_interval"]
    assert high - low < 1e-5
    np.testing.assert_allclose(fit.decision_function(new), other.decision_function(K_new), atol=1e-4)
    scores = fit.decision_function(data.X)
    assert fit.objective == pytest.approx(np.maximum(0, 1 - data.y * scores).sum(), rel=1e-9)
    assert fit.coef @ K @ fit.coef == pytest.approx(4.0)
    assert fit.coef.sum() == pytest.approx(0, abs=1e-9)
    assert set(fit.support) == set(np.flatnonzero(fit.details["alpha"] > 1e-6 * fit.details["alpha"].max()))
    mean = np.eye(40) - 1 / 40
    assert fit.details["radius"] == pytest.approx(np.diag(mean @ K @ mean).max())
