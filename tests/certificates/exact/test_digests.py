"""Digests of programs of wdbc: the same on every processor, see also ``tests/truth/test_processors.py``."""

import math

import numpy as np
import pytest

import fsopt
from fsopt.certificates.exact.proofs import Header
from fsopt.data.matrices import SMALL, exact_sums
from fsopt.methods.claims import about_of
from fsopt.verification.verify import program_of
from fsopt.verifier.verify import digest

DIGESTS = {
    ("svm", "standard", "given"): "9c744373107a9240",
    ("svm", "unit-rows", "given"): "c5ee383cd3df0537",
    ("gmeb-primal", "center", "rms"): "e66e7ceef32fa530",
    ("mpm", "standard", "given"): "cc68d502b8b7306b",
    ("l1-mpm", "none", "given"): "54ad292d81c7f953",
    ("svm-dual", "standard", "given"): "acc8d6cda3523c4a",
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
