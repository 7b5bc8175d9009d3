"""Weights of samples and classes: a weight of k is k equal samples, for objective, bound, certificate and check."""

import numpy as np
import pytest
from saved_records import as_read
from support import blobs, optimum, sampled, without_model

import fsopt
from fsopt.errors import FileError, ParameterError
from fsopt.verification.verify import verify_record

DATA = blobs(24, 4, gap=0.8, seed=3)
WEIGHTS = np.random.default_rng(1).integers(1, 5, DATA.n)
WEIGHTED = DATA.weighted(sample_weight=WEIGHTS)
REPEATED = DATA.rows(np.repeat(np.arange(DATA.n), WEIGHTS))
CASES = {
    "gmeb": {"r_plus": 1.0, "r_minus": 2.0},
    "gmeb by cuts": {"r_plus": 1.0, "r_minus": 2.0, "route": "theta-cuts"},
    "gmeb by the primal": {"r_plus": 1.0, "r_minus": 2.0, "route": "primal"},
    "svm": {},
    "svm without a model": {},
    "l1-svm": {},
    "onsvm": {},
    "onsvm without a model": {},
    "gbd": {"m": 2},
    "gbd-lambda": {"lam": 2.0},
    "best-subset": {"m": 2},
    "best-subset-penalised": {"lam": 2.0},
    "rsvm": {"w_cap": 1.0},
    "rsvm of the default capacity": {},
    "rsvm with a kernel": {"kernel": "gaussian", "w_cap": 5.0, "width": 2.0},
    "rfe": {"m": 2},
    "pearson": {"m": 2},
    "fisher": {"m": 2},
    "ks": {"m": 2},
    "infogain": {"m": 2},
}


@pytest.mark.parametrize("case", sampled(CASES, 6))
def test_whole_weights_are_repeated_samples_and_the_check_needs_them(case):
    name, params = case.split()[0], CASES[case]
    fit_of = without_model if case.endswith("without a model") else fsopt.fit
    weighted, repeated = fit_of(name, WEIGHTED, **params), fit_of(name, REPEATED, **params)
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-6)
    if weighted.kernel is None:
        assert weighted.support == repeated.support
        assert weighted.decision_function(DATA) == pytest.approx(repeated.decision_function(DATA), abs=1e-4)
    assert weighted.status == repeated.status
    if weighted.bound is not None:
        assert weighted.bound == pytest.approx(repeated.bound, rel=1e-5)
    record = as_read(weighted, WEIGHTED)
    found = verify_record(record, WEIGHTED, "fit.json")
    assert found.verified, found.certificate
    for other in (DATA, DATA.weighted(sample_weight=WEIGHTS[::-1])):
        with pytest.raises(fsopt.FsoptError, match="other data"):
            verify_record(record, other, "fit.json")
        try:
            found = verify_record(as_read(weighted, other), other, "fit.json").verified
        except FileError:  # cuts that are not dual feasible at these weights
            found = False
        assert not found


GMEB = {"r_plus": 1.0, "r_minus": 2.0}


@pytest.mark.parametrize(
    ("name", "other", "params"),
    [
        ("gmeb-sdp", "gmeb-sdp", GMEB),
        ("fsp-m-bigm", "fsp-m-bigm", {"m": 2}),
        ("svm", "svm-dual", {"c": 0.3}),
        ("gmeb-primal", "gmeb-dual", GMEB),
        ("rsvm", "rsvm-dual", {"w_cap": 1.0}),
        ("fsp-sub", "fsp-sub-dual", {"c": 0.3}),
    ],
)
def test_models_of_weighted_samples_have_the_optimum_of_repeated_ones_and_of_their_duals(name, other, params):
    weighted, repeated = optimum(name, WEIGHTED, **params)[1], optimum(other, REPEATED, **params)[1]
    assert weighted == pytest.approx(repeated * (-1 if other == "rsvm-dual" else 1), rel=1e-6)
    if other != name:
        assert optimum(other, WEIGHTED, **params)[1] == pytest.approx(repeated, rel=1e-6)


def test_class_weights_of_fsv_multiply_the_mean_errors_of_their_class():
    fit = fsopt.fit("fsv", DATA, class_weight={-1: 2.0, 1: 0.5}, lam=0.02)
    errors = np.maximum(1 - DATA.y * fit.decision_function(DATA.X), 0)
    loss = 0.5 * errors[DATA.y > 0].mean() + 2.0 * errors[DATA.y < 0].mean()
    w = fit.coef * DATA.X.std(axis=0)
    assert fit.objective == pytest.approx(0.98 * loss - 0.02 * np.expm1(-5.0 * np.abs(w)).sum(), rel=1e-6)
    assert fsopt.verify(fit, DATA.weighted({-1: 2.0, 1: 0.5})).verified


def test_a_method_without_weights_refuses_them():
    for name in ("mpm", "s-mpm", "misclass", "mopfs", "pmm", "gmeb-penalised"):
        with pytest.raises(ParameterError, match=f"method '{name}' has no place for weights"):
            fsopt.fit(name, DATA, class_weight="balanced")
    with pytest.raises(ParameterError, match="one weight for each class"):
        fsopt.fit("fsv", WEIGHTED)
    with pytest.raises(ParameterError, match="model 'mpm' has no place"):
        fsopt.build("mpm", WEIGHTED)


def test_weights_are_validated():
    for wrong in (np.ones(3), -np.ones(DATA.n), np.zeros(DATA.n), ["a"] * DATA.n):
        with pytest.raises(fsopt.FsoptError, match="weight"):
            DATA.weighted(sample_weight=wrong)
    with pytest.raises(ParameterError, match="class 'x'"):
        DATA.weighted({"x": 1.0})
    with pytest.raises(ParameterError, match="give a number > 0"):
        DATA.weighted({1: -1.0})
    kept = DATA.weighted(sample_weight=np.arange(DATA.n))
    assert (kept.n, kept.weights.tolist()) == (DATA.n - 1, list(range(1, DATA.n)))
