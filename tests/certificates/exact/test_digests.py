"""Digests of programs of wdbc: the same on every processor, with every kind of BLAS kernel and every numpy."""

import math

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.certificates.exact.proofs import Header
from fsopt.data.matrices import SMALL, exact_sums
from fsopt.methods.exact.programs import about_of
from fsopt.models.mpm.moments import triangular
from fsopt.verification.origins import program_of
from fsopt.verifier.verify import digest

DIGESTS = {
    ("svm", "standard", "given"): "9385f013ef8c4a79",
    ("svm", "unit-rows", "given"): "4361bf5dcd8f1938",
    ("gmeb-primal", "center", "rms"): "4c900d8612088144",
    ("mpm", "standard", "given"): "6bae219e3c8fe629",
    ("l1-mpm", "none", "given"): "878af25d363780f7",
    ("svm-dual", "standard", "given"): "3c9f8b2e8f6b2d9f",
}


@pytest.mark.parametrize("key", DIGESTS, ids=lambda key: " ".join(key))
def test_the_digest_of_a_program_is_that_of_any_processor(key):
    slug, scale, units = key
    data = fsopt.load_dataset("wdbc")
    origin = Header(data, scale).origin(about_of(slug, {}, units=units))
    assert digest(program_of(origin, data))[:16] == DIGESTS[key]


def test_sums_do_not_depend_on_the_order_of_the_samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(999, 3)) * 10.0 ** rng.integers(-9, 9, (999, 3))
    found = exact_sums(X)
    assert found.tolist() == [math.fsum(column) for column in X.T] == exact_sums(X[rng.permutation(999)]).tolist()
    weights = rng.random(999)
    assert exact_sums(X, weights).tolist() == [math.fsum(column) for column in (X * weights[:, None]).T]
    huge = np.array([[1e308, np.inf], [1e308, -np.inf]])
    with np.errstate(all="ignore"):
        assert np.isinf(exact_sums(huge)[0])
    assert X.size < SMALL


@pytest.mark.parametrize("kind", ["regular", "duplicate", "constant"])
def test_the_triangular_factor_has_the_same_covariance(kind):
    X = blobs(n=20, p=4, seed=1).X.copy()
    X[:, 3] = {"regular": X[:, 3], "duplicate": X[:, 0], "constant": 0.0}[kind]
    F = triangular(X)
    assert F.shape == (4, 4)
    assert np.allclose(F.T @ F, X.T @ X, rtol=1e-13, atol=1e-13)
    assert np.array_equal(F, np.triu(F))
