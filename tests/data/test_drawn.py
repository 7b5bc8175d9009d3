"""Synthetic data of the papers: their laws, their seeds, and the error rates of the best classifiers on them."""

import numpy as np
import pandas as pd
import pytest
from support import SHARED

from fsopt.data.drawn import (
    gbd_set_one,
    gbd_set_two,
    gmeb_type1,
    gmeb_type2,
    gmeb_type2_bayes,
    mpm_synthetic,
    orthogonal,
)

INSTANCES = SHARED / "instances" / "gbd_set1.csv"
N = 20_000
LARGE = 50_000
MEAN = 5 / np.sqrt(N)  # five standard errors of a unit-variance mean


def test_gmeb_type1_law():
    data = gmeb_type1(N, seed=3, p=12)
    assert (data.n, data.p, data.name) == (N, 12, "gmeb-type1")
    assert gmeb_type1(50, 0).p == 202
    assert abs(data.y.mean()) < MEAN
    signed = data.X * data.y[:, None]
    i = np.arange(1.0, 4.0)
    # y x_i is a mixture of N(i, 1) and N(0, 1) with weight q on the first: mean q i, variance 1 + q (1-q) i^2
    for columns, q in ((slice(0, 3), 0.7), (slice(3, 6), 0.3)):
        variance = 1 + q * (1 - q) * i**2
        assert np.all(np.abs(signed[:, columns].mean(axis=0) - q * i) < MEAN * np.sqrt(variance))
        assert np.allclose(signed[:, columns].var(axis=0), variance, rtol=0.06)
    # one case for the whole sample: y x_3 and y x_6 are never both shifted
    covariance = np.cov(signed[:, 2], signed[:, 5])[0, 1]
    assert covariance == pytest.approx(-0.7 * 0.3 * 9, abs=0.15)
    noise = data.X[:, 6:]
    assert np.allclose(noise.var(axis=0), 20.0, rtol=0.06)
    assert np.all(np.abs(noise.mean(axis=0)) < MEAN * np.sqrt(20.0))
    assert np.all(np.abs(signed[:, 6:].mean(axis=0)) < MEAN * np.sqrt(20.0))


def test_gmeb_type2_law():
    s = 5
    data = gmeb_type2(N, seed=4, p=9, n_informative=s)
    assert (data.n, data.p, data.name) == (N, 9, "gmeb-type2")
    assert gmeb_type2(50, 0).p == 100
    residual = data.X[:, :s] - data.y[:, None]
    assert np.all(np.abs(residual.mean(axis=0)) < MEAN * np.sqrt(s))
    covariance = np.cov(residual, rowvar=False)
    assert np.allclose(np.linalg.eigvalsh(covariance), np.arange(1, s + 1), rtol=0.06)
    V = np.linalg.qr(np.random.default_rng(4).standard_normal((s, s)))[0]  # columns up to sign
    assert np.allclose(covariance, V @ np.diag(np.arange(1.0, s + 1)) @ V.T, rtol=0, atol=0.2)
    assert np.allclose(data.X[:, s:].var(axis=0), 1.0, rtol=0.06)
    assert np.all(np.abs((data.X[:, s:] * data.y[:, None]).mean(axis=0)) < MEAN)


def test_mpm_synthetic_law():
    data = mpm_synthetic(N, seed=5, p=14)
    assert (data.n, data.p, data.name) == (N, 14, "mpm-synthetic")
    assert mpm_synthetic(seed=1).X.shape == (50, 1000)
    signed = data.X * data.y[:, None]
    assert np.all(np.abs(signed[:, :10].mean(axis=0) + 1.0) < MEAN)
    assert np.allclose(signed.var(axis=0), 1.0, rtol=0.06)
    assert np.all(np.abs(signed[:, 10:].mean(axis=0)) < MEAN)


def documented(rng, p, n, m):
    """Return support, weights and three data sets as the page on synthetic data says that they are drawn."""
    support = rng.choice(p, m, replace=False)
    weights = np.zeros(p)
    weights[support] = rng.standard_normal(m)
    drawn = [rng.standard_normal((n, p)) for _ in range(3)]
    sets = [X / np.linalg.norm(X, axis=1, keepdims=True) for X in drawn]
    return sorted(support.tolist()), weights, [(X, np.where(X @ weights >= 0, 1.0, -1.0)) for X in sets]


def gbd_one(p, n, k):
    rng, b = np.random.default_rng([2013, p, n, k]), k // 2
    m = rng.integers(int(np.floor(0.2 * b * p)) + 1, int(np.floor(0.2 * (b + 1) * p)) + 1)
    return gbd_set_one(p, n, k), documented(rng, p, n, min(m, p - 1))


def gbd_two(p, n, m, k):
    return gbd_set_two(m, k, p=p, n=n), documented(np.random.default_rng([2014, p, n, m, k]), p, n, m)


@pytest.mark.parametrize(("law", "given"), [*((gbd_one, (23, 60, k)) for k in (0, 1, 4, 9)), (gbd_two, (12, 30, 3, 4))])
def test_gbd_sets_are_drawn_as_documented(law, given):
    (*sets, support, w), (places, weights, wanted) = law(*given)
    assert support.tolist() == places
    assert np.array_equal(w, weights)
    for data, (X, y) in zip(sets, wanted, strict=True):
        assert np.allclose(data.X, X, rtol=0, atol=1e-15)
        assert np.array_equal(data.y, y)
    assert [data.name.rpartition("-")[2] for data in sets] == ["train", "valid", "test"]


@pytest.mark.shared
@pytest.mark.skipif(not INSTANCES.is_file(), reason="the named instances are not here (FSOPT_SHARED)")
def test_the_named_instances_have_their_m():
    rows = pd.read_csv(INSTANCES)
    assert len(rows) == 90
    for row in rows[::7].itertuples():
        assert gbd_set_one(row.n_features, row.n_samples, row.k)[3].size == row.m, row


@pytest.mark.parametrize("size", [2, 10])
def test_the_bayes_error_of_type_2(size):
    data = gmeb_type2(LARGE, 7, p=size, n_informative=size)
    V, _ = orthogonal(7, size)
    w = V @ (V.T @ np.ones(size) / np.arange(1.0, size + 1))
    rate = gmeb_type2_bayes(7, size)
    assert abs(np.mean(np.sign(data.X @ w) != data.y) - rate) <= 4 * np.sqrt(rate * (1 - rate) / LARGE)
