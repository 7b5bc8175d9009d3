"""Minimax probability machines: eigenvalues, closed forms, all angles, fine grids; proofs by working sets."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import minimize_scalar
from support import blobs, reference, sampled, without_model

import fsopt
from fsopt.errors import InfeasibleError
from fsopt.methods.mpm.space import FeatureSpace, accuracy_limit, kernel_ridge
from fsopt.models.mpm.moments import Moments, kappa, triangular
from fsopt.models.mpm.mpm import penalised_ratio
from fsopt.solvers.base import Session

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


@pytest.mark.parametrize(("lam", "theta"), [(0.0, 0.4), (0.3, 0.6)])
def test_the_outer_search_against_a_fine_grid(lam, theta):
    data = blobs(40, 2, 2, gap=1.0)
    fit = fsopt.fit("s-mpm", data, lam=lam, theta=theta, scale="none")
    moments, angles = Moments.of(data), np.linspace(0, 2 * np.pi, 1441)
    W = np.column_stack([np.cos(angles), np.sin(angles)])
    spread1, spread2 = (np.linalg.norm(W @ factor.T, axis=1) for factor in (moments.factor1, moments.factor2))
    gain = W @ (moments.mean1 - moments.mean2) - lam * np.abs(W).sum(axis=1)
    betas = np.r_[1e-9, 1e-6, np.linspace(0.001, 0.999, 999)]
    ratios = np.array([max(((gain - kappa(beta) * spread2) / spread1).max(), 0.0) for beta in betas])
    J = theta * ratios**2 / (1 + ratios**2) + (1 - theta) * betas
    inner = np.flatnonzero((J[1:-1] > J[:-2]) & (J[1:-1] > J[2:])) + 1
    assert len(inner) == 1
    assert J[0] > J[1]
    assert J[-1] > J[-2]  # not unimodal: both ends, where a class is given up, are local maxima
    assert fit.status == "stationary"
    assert fit.certificate.ok
    assert fit.objective == pytest.approx(J[inner[0]], abs=2e-5)
    assert fit.details["beta"] == pytest.approx(betas[inner[0]], abs=2e-3)
    assert fit.details["worst_case"][1] == pytest.approx(fit.details["beta"], rel=1e-9)
    # The accuracy of class +1 without the penalty is larger than with it.
    ratio = max(penalised_ratio(moments, fit.coef, fit.details["beta"], lam), 0.0)
    left = ratio**2 / (1 + ratio**2)
    assert fit.details["worst_case"][0] >= left - 1e-9
    assert (fit.details["worst_case"][0] - left > 1e-3) == (lam > 0)


WIDE, TALL = blobs(16, 30, seed=2), blobs(60, 12, seed=2, gap=1.0)
OVERLAPPING = blobs(30, 60, seed=2, gap=1.0)


@pytest.mark.parametrize("method", sampled(["l1-mpm", "s-mpm"], 1))
def test_the_optimum_of_too_few_features_is_no_optimum_of_all(method):
    """The reduced costs of the other features are looked at again, and their weights are 0."""
    params = {"l1-mpm": {"delta": 0.5}, "s-mpm": {"lam": 0.25, "ridge": 0.1}}[method]
    few = np.array([0, 1, 5, 7])
    part = fsopt.fit(method, WIDE.columns(few), **params)
    coef = np.zeros(WIDE.p)
    coef[few] = part.coef
    fit = without_model(method, WIDE, **params)
    details = {**part.details, **{k: fit.details[k] for k in ("kappa_limit", "alpha_limit")}, "columns": few}
    support, names = tuple(few[list(part.support)].tolist()), part.features
    stated = {"coef": coef, "intercept": part.intercept, "objective": part.objective, "bound": part.bound}
    forged = replace(fit, **stated, support=support, features=names, details=details)
    found = fsopt.verify(forged, WIDE)
    assert set(found.certificate.refused()) - {"train", "bound of some features"} == {"reduced costs"}
    moved = replace(fit, coef=fit.coef + 1e-3 * np.eye(WIDE.p)[np.argmin(np.abs(fit.coef))])
    assert not fsopt.verify(moved, WIDE).verified


def test_mpm_of_fewer_samples_than_features_has_one_value_for_each_class(tmp_path):
    fit = fsopt.fit("mpm", WIDE, scale="none")
    assert fit.status == fsopt.Status.OPTIMAL
    assert fit.objective == pytest.approx(0.0, abs=1e-9)
    assert np.round(fit.decision_function(WIDE.X), 6).tolist() == (0.5 * WIDE.y).tolist()
    fit.save(tmp_path / "fit.json")
    assert fsopt.verify(tmp_path / "fit.json", WIDE).verified
    tilted = fit.coef + 1e-3 * np.eye(WIDE.p)[0]
    forgeries = [{"coef": tilted}, {"coef": 0.5 * fit.coef}, {"details": {**fit.details, "kappa_limit": 5.0}}]
    for forged in forgeries:
        assert not fsopt.verify(replace(fit, **forged), WIDE).verified


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("data", [OVERLAPPING, TALL], ids=["wide", "tall"])
def test_the_covariances_are_those_of_numpy_and_the_limit_is_that_of_the_dense_factors(data, unbiased):
    """Of few samples it is computed in their span, of the covariances themselves in all features."""
    moments = Moments.of(data, unbiased=unbiased, ridge=0.3)
    dense = replace(moments, factor1=triangular(moments.factor1), factor2=triangular(moments.factor2))
    wide = moments.factor1.shape[0] + moments.factor2.shape[0] == data.n + 2 * data.p
    assert wide == (data is OVERLAPPING)
    for label, factor in zip((1.0, -1.0), (dense.factor1, dense.factor2), strict=True):
        expected = np.cov(data.X[data.y == label].T, ddof=int(unbiased)) + 0.3 * np.eye(data.p)
        assert factor.T @ factor == pytest.approx(expected, abs=1e-12)
    assert accuracy_limit(moments).kappa == pytest.approx(accuracy_limit(dense).kappa, rel=1e-9)
    within = [np.var(data.X[data.y == label], axis=0) for label in (1.0, -1.0)]
    assert kernel_ridge(data) == pytest.approx(0.01 * np.mean(within), rel=1e-12)
