"""L1-MPM, L0-MPM and S-MPM of many features: no model of all of them, the same answers, evidence."""

from dataclasses import replace

import numpy as np
import pytest
from support import blobs, sampled

import fsopt
from fsopt.drivers import working_set
from fsopt.methods import large_programs, verdict
from fsopt.methods.mpm import mpm, s_mpm
from fsopt.methods.mpm.space import accuracy_limit
from fsopt.models.mpm.moments import Moments, triangular

WIDE = blobs(16, 30, seed=2)
MODELS = [(mpm, "build_l1_mpm"), (mpm, "build_l0_mpm_step"), (s_mpm, "build_s_mpm"), (verdict, "build")]


def only_parts(monkeypatch):
    """Let models be built of some of the features alone, at first so few that they are infeasible or others follow."""
    monkeypatch.setattr(working_set, "COLUMNS", 4)

    def parts(build):
        def built(*args, **params):
            data = next(arg for arg in args if isinstance(arg, fsopt.Dataset))
            assert data.p < WIDE.p
            return build(*args, **params)

        return built

    for module, name in MODELS:
        monkeypatch.setattr(module, name, parts(getattr(module, name)))


@pytest.fixture
def small_is_large(monkeypatch):
    monkeypatch.setattr(large_programs, "LONG", 25)
    monkeypatch.setattr(large_programs, "LARGE", 1)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("l1-mpm", {"delta": 0.5}),
        ("l1-mpm", {"scale": "none"}),
        ("l1-mpm", {"ridge": 0.1}),
        ("l0-mpm", {"delta": 0.5}),
    ],
    ids=str,
)
def test_a_fit_without_a_model_is_that_of_the_model(method, params, monkeypatch, small_is_large, tmp_path):
    with monkeypatch.context() as whole:
        whole.setattr(large_programs, "LONG", 1000)
        expected = fsopt.fit(method, WIDE, **params)
    only_parts(monkeypatch)
    fit = fsopt.fit(method, WIDE, **params)
    assert (fit.status, fit.support) == (expected.status, expected.support)
    assert fit.objective == pytest.approx(expected.objective, rel=1e-5)
    assert fit.coef == pytest.approx(expected.coef, abs=1e-3 * np.abs(expected.coef).max())
    assert fsopt.verify(fit, WIDE).verified
    fit.save(tmp_path / "fit.json")
    assert fsopt.verify(tmp_path / "fit.json", WIDE).verified


@pytest.mark.parametrize("method", ["l1-mpm", "s-mpm"])
def test_the_optimum_of_too_few_features_is_no_optimum_of_all(method, monkeypatch, small_is_large):
    """The reduced costs of the other features are looked at again, and their weights are 0."""
    params = {"l1-mpm": {"delta": 0.5}, "s-mpm": {"lam": 0.25, "ridge": 0.1}}[method]
    few = np.array([0, 1, 5, 7])
    part = fsopt.fit(method, WIDE.columns(few), **params)
    coef = np.zeros(WIDE.p)
    coef[few] = part.coef
    fit = fsopt.fit(method, WIDE, **params)
    details = {**part.details, **{k: fit.details[k] for k in ("kappa_limit", "alpha_limit")}, "columns": few}
    support, names = tuple(few[list(part.support)].tolist()), part.features
    stated = {"coef": coef, "intercept": part.intercept, "objective": part.objective, "bound": part.bound}
    forged = replace(fit, **stated, support=support, features=names, details=details)
    found = fsopt.verify(forged, WIDE)
    assert set(found.certificate.refused()) - {"train", "bound of some features"} == {"reduced costs"}
    moved = replace(fit, coef=fit.coef + 1e-3 * np.eye(WIDE.p)[np.argmin(np.abs(fit.coef))])
    assert not fsopt.verify(moved, WIDE).verified


TALL = blobs(60, 12, seed=2, gap=1.0)
OVERLAPPING = blobs(30, 60, seed=2, gap=1.0)
PENALTIES = [
    (OVERLAPPING, 0.9, 0.0),
    (TALL, 0.25, 0.1),
    (blobs(100, 30, seed=2, gap=1.0), 0.25, 0.0),
    (OVERLAPPING, 0.25, 0.1),
]


@pytest.mark.parametrize(
    ("data", "lam", "ridge"), sampled(PENALTIES, 1), ids=["feasible", "tall ridge", "stationary", "wide ridge"]
)
def test_s_mpm_prices_features_for_every_beta(data, lam, ridge, monkeypatch, small_is_large, tmp_path):
    with monkeypatch.context() as whole:
        whole.setattr(large_programs, "LONG", 1000)
        expected = fsopt.fit("s-mpm", data, lam=lam, ridge=ridge)
    monkeypatch.setattr(large_programs, "LONG", 10)
    monkeypatch.setattr(working_set, "COLUMNS", 4)
    fit = fsopt.fit("s-mpm", data, lam=lam, ridge=ridge)
    assert (fit.status, fit.stop, fit.support) == (expected.status, expected.stop, expected.support)
    assert fit.objective == pytest.approx(expected.objective, rel=1e-7)
    assert fit.coef == pytest.approx(expected.coef, abs=1e-4 * np.abs(expected.coef).max())
    fit.save(tmp_path / "fit.json")
    assert fsopt.verify(tmp_path / "fit.json", data).verified
    point = fit.details["point"]
    for size in (0.99, 1.01, 0.0):
        forged = {**fit.details, "point": replace(point, y=size * point.y)}
        assert not fsopt.verify(replace(fit, details=forged), data).verified


def test_mpm_of_fewer_samples_than_features_needs_no_program(monkeypatch, small_is_large, tmp_path):
    """The optimum is 0 at a hyperplane on which every class has one value, of the smallest norm."""
    monkeypatch.setattr(mpm, "build_mpm", None)
    fit = fsopt.fit("mpm", WIDE, scale="none")
    assert (fit.status, fit.bound) == (fsopt.Status.OPTIMAL, 0.0)
    assert fit.objective == pytest.approx(0.0, abs=1e-9)
    assert np.round(fit.decision_function(WIDE.X), 9).tolist() == (0.5 * WIDE.y).tolist()
    # The smallest norm: no weight outside the span of the differences between the samples.
    differences = WIDE.X[1:] - WIDE.X[0]
    assert np.linalg.lstsq(differences.T, fit.coef, rcond=None)[1] == pytest.approx(0.0, abs=1e-12)
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
