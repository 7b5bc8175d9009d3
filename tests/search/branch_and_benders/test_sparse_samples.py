"""Sparse samples: the answer of the same dense samples, and the memory of the search."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from selection_cases import exact_value

import fsopt
from fsopt.answers.results import Status


def texts(n, p, seed, density=0.02):
    """Return sparse samples with positive numbers, whose classes differ in a few frequent features."""
    rng = np.random.default_rng(seed)
    X, often = (sp.random(n, k, density=share, random_state=rng) for k, share in ((p, density), (12, 0.4)))
    score = often @ np.linspace(2.0, -2.0, 12) + 0.5 * rng.normal(size=n)
    return fsopt.Dataset(sp.hstack([X, often]), np.where(score > np.median(score), 1, -1))


@pytest.mark.parametrize("scale", ["none", "standard"])
def test_more_features_than_a_relaxation_holds_have_the_answer_of_the_dense_samples(scale):
    sparse = texts(60, 200, 0)
    dense = fsopt.Dataset(sparse.X.toarray(), sparse.y)
    found, known = (fsopt.fit("best-subset", data, m=2, c=0.1, scale=scale) for data in (sparse, dense))
    assert found.status is known.status is Status.OPTIMAL
    assert found.support == known.support
    assert found.objective == pytest.approx(known.objective, rel=1e-6)
    assert fsopt.verify(found, sparse).numerically
    if scale == "none":  # the pairs of frequent features, of which one is the optimum
        pairs = (np.isin(np.arange(212), pair) for pair in combinations(range(200, 212), 2))
        best = min(exact_value(dense, pair, 0.1) for pair in pairs)
        assert found.objective == pytest.approx(best, rel=1e-4)


def test_neither_the_search_nor_the_verification_makes_the_samples_dense(monkeypatch):
    data = texts(60, 3000, 4, density=0.005)
    sizes, whole = [], sp.csr_array.toarray
    for kind in (sp.csr_array, sp.csc_array, sp.coo_array):
        monkeypatch.setattr(kind, "toarray", lambda self: sizes.append(np.prod(self.shape)) or whole(self.tocsr()))
    fit = fsopt.fit("best-subset", data, m=2, c=0.1, scale="none", max_nodes=2)
    assert fsopt.verify(fit, data).numerically
    assert 0 < max(sizes) < 0.5 * data.n * data.p
