"""Minimax probability machines: limits and hyperplanes against eigenvalues, closed forms, simulation."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import minimize_scalar
from support import blobs, reference, sampled

import fsopt
from fsopt.errors import InfeasibleError, ParameterError
from fsopt.methods.mpm.space import FeatureSpace, accuracy_limit, worst_case
from fsopt.models.mpm.moments import Moments, kappa
from fsopt.solvers.base import Session
from fsopt.verification.verify import check_fit

DATA = [blobs(40, 4, 0), reference("wdbc_std")]


def limit_by_eigenvalues(data):
    """Return kappa* from the covariances themselves: the best of all weighted sums of them, each a linear system."""
    parts = [data.X[data.y > 0], data.X[data.y < 0]]
    d = parts[0].mean(axis=0) - parts[1].mean(axis=0)
    S1, S2 = (np.cov(part.T, bias=True) for part in parts)
    values, V = eigh(S1, S2)
    squares = (V.T @ d) ** 2

    def negative(share):
        return -np.sum(squares / (values / share + 1 / (1 - share)))

    return np.sqrt(-minimize_scalar(negative, bounds=(1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-12}).fun)


@pytest.mark.parametrize("data", DATA, ids=str)
def test_kappa_by_model_by_search_and_by_eigenvalues(data):
    found = accuracy_limit(Moments.of(data))
    limit = found.kappa
    assert limit == pytest.approx(limit_by_eigenvalues(data), rel=1e-8)
    assert found.alpha == pytest.approx(limit**2 / (1 + limit**2), rel=1e-12)
    assert limit == pytest.approx(1 / fsopt.solve(fsopt.build("mpm", data)).objective, rel=1e-8)


def test_of_singular_covariances_the_limit_is_infinite_and_grows_as_the_ridge_vanishes():
    singular = blobs(10, 15)
    infinite = accuracy_limit(Moments.of(singular))
    assert (infinite.kappa, infinite.alpha) == (np.inf, 1.0)
    kappas = [accuracy_limit(Moments.of(singular, ridge=r)).kappa for r in (1e-2, 1e-4, 1e-6)]
    assert np.inf > kappas[2] > 9 * kappas[1] > 81 * kappas[0]  # as 1 / sqrt(ridge) along the null direction


def test_a_class_of_one_sample_has_no_unbiased_covariance():
    lone = fsopt.Dataset(np.arange(8.0).reshape(4, 2), [1, -1, -1, -1])
    with pytest.raises(ParameterError, match="one sample"):
        fsopt.build("mpm", lone, unbiased=True)


PUBLISHED = {
    "wdbc": 0.7749,
    "ionosphere": 0.6266,
    "sonar": 0.6238,
    "pima": 0.3210,
    "wpbc": 0.3812,
    "wbcd": 0.8434,
    "spambase": 0.5609,
}


@pytest.mark.parametrize("name", sampled(PUBLISHED, 2))
def test_the_paper_asks_for_more_than_its_data_allow(name, shared):
    """On 7 of its 8 data sets delta = 0.9 is infeasible; incomplete samples of wpbc and wbcd are dropped."""
    data = fsopt.load_dataset(shared / "data" / f"{name}.csv.gz", missing="drop")
    assert FeatureSpace.of(data).limit.alpha == pytest.approx(PUBLISHED[name], abs=1e-4)
    with pytest.raises(InfeasibleError, match=r"alpha\* = 0\."):
        fsopt.fit("l1-mpm", data, delta=0.9)


@pytest.mark.parametrize("method", ["l1-mpm", "l0-mpm"])
def test_an_infeasible_delta_costs_no_solver_call(method, monkeypatch):
    monkeypatch.setattr(Session, "__init__", lambda *args, **kwargs: pytest.fail("a solver was opened"))
    data = blobs(60, 4)
    with pytest.raises(InfeasibleError) as caught:
        fsopt.fit(method, data, delta=0.95)
    limit = FeatureSpace.of(data).limit
    for number in ("delta = 0.95", f"{kappa(0.95):.4f}", f"{limit.kappa:.4f}", f"{limit.alpha:.4f}"):
        assert number in caught.value.message
    assert "choose delta <=" in caught.value.hint
    monkeypatch.undo()
    assert fsopt.fit(method, data, delta=limit.alpha - 0.01).status.solved


def test_with_singular_covariances_mpm_warns_and_a_ridge_makes_it_finite():
    data = blobs(10, 15)
    fit = fsopt.fit("mpm", data)
    assert any("infinite" in w for w in fit.warnings)
    assert fit.objective == pytest.approx(0, abs=1e-7)
    assert fit.certificate.ok
    assert fit.details["worst_case"] == pytest.approx([1, 1], abs=1e-9)
    assert check_fit(fit, data).ok
    ridged = fsopt.fit("mpm", data, ridge=0.1)
    assert ridged.warnings == ()
    assert ridged.details["worst_case"] == pytest.approx([ridged.details["alpha_limit"]] * 2, rel=1e-6)
    assert ridged.details["alpha_limit"] < 1
    assert any("infinite" in w for w in fsopt.fit("l1-mpm", data, delta=0.7).warnings)
    assert fsopt.fit("l1-mpm", data, delta=0.5, ridge=0.1).warnings == ()
    with pytest.raises(InfeasibleError):
        fsopt.fit("l1-mpm", data, delta=ridged.details["alpha_limit"] + 1e-3, ridge=0.1)


def test_a_mean_on_the_wrong_side_has_no_accuracy():
    moments = Moments.of(blobs(40, 2, 0))
    one, two = worst_case(np.array([1.0, 0.0]), 10.0, moments)
    assert one > 0.9
    assert two == 0.0


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("method", ["mpm", "s-mpm"])
def test_a_class_of_one_sample_lies_on_its_side_and_the_answer_is_verified(method, sign):
    """Without a deviation the sample is on the optimal hyperplane, where rounding decides: 0/0 was verified as 0."""
    X, y = np.random.default_rng(0).normal(size=(20, 3)), sign * np.r_[1, -np.ones(19)]
    if method == "s-mpm" and sign > 0:  # every multiple of a direction has the deviation 0: unbounded
        with pytest.raises(InfeasibleError):
            fsopt.fit(method, X, y)
        return
    fit = fsopt.fit(method, X, y)
    assert fit.predict(X)[0] == y[0]
    assert fsopt.verify(fit, fsopt.Dataset(X, y)).verified
    if method == "mpm":  # alpha = d^2 / (1 + d^2) with the Mahalanobis distance d from the other class
        d = X[0] - X[1:].mean(axis=0)
        squared = d @ np.linalg.solve(np.cov(X[1:].T, ddof=0), d)
        assert fit.objective == pytest.approx(1.0 / np.sqrt(squared), rel=1e-6)
        np.testing.assert_allclose(sorted(fit.details["worst_case"]), [squared / (1.0 + squared), 1.0], rtol=1e-6)
