"""Bayes error rates of the synthetic data: the error of the best classifier on a large sample."""

import numpy as np
import pytest

from fsopt.data.synthetic.gmeb import gmeb_type1, gmeb_type1_bayes, gmeb_type2, gmeb_type2_bayes, orthogonal
from fsopt.data.synthetic.mpm import mpm_synthetic, mpm_synthetic_bayes

N = 50_000


def near(measured, rate):
    assert abs(measured - rate) <= 4 * np.sqrt(rate * (1 - rate) / N)


def test_type_1():
    data = gmeb_type1(N, 5, p=6)
    s = [data.X[:, k : k + 3] @ [1.0, 2.0, 3.0] for k in (0, 3)]
    near(np.mean((0.7 * np.sinh(s[0]) + 0.3 * np.sinh(s[1]) > 0) != (data.y > 0)), gmeb_type1_bayes())


@pytest.mark.parametrize("size", [2, 10])
def test_type_2(size):
    data = gmeb_type2(N, 7, p=size, n_informative=size)
    V, _ = orthogonal(7, size)
    w = V @ (V.T @ np.ones(size) / np.arange(1.0, size + 1))
    near(np.mean(np.sign(data.X @ w) != data.y), gmeb_type2_bayes(7, size))


def test_the_data_of_yang_and_ju():
    data = mpm_synthetic(N, 1, p=10)
    near(np.mean(np.sign(-data.X.sum(axis=1)) != data.y), mpm_synthetic_bayes())
