"""Algorithm 1 for kernels: Proposition 1 holds, the first loss is the RSVM's, slopes are those of differences."""

import itertools

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.data.kernels import Kernel
from fsopt.errors import ParameterError
from fsopt.methods.mop.kernel_mop import _Scaling, kernel_mop

RNG = np.random.default_rng(2)
X = RNG.uniform(-1, 1, (40, 4))
RINGS = fsopt.Dataset(X, np.where(X[:, 0] ** 2 + X[:, 1] ** 2 < 0.6, 1.0, -1.0))


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "linear"])
def test_neither_loss_nor_capacity_rises(kernel):
    data = RINGS if kernel != "linear" else blobs(30, 4, gap=0.6)
    found = kernel_mop(data, kernel=kernel, w_cap=20.0, max_iterations=3)
    for values in (found.E, found.H):
        for before, after in itertools.pairwise(values):
            assert after <= before * (1 + 1e-6) + 1e-7
    first = fsopt.fit("rsvm", data, kernel=kernel, w_cap=20.0)
    assert found.E[0] == pytest.approx(first.objective, rel=1e-5, abs=1e-6)
    assert np.all(found.scales >= 0)
    scores = found.decision_function(data.X)
    assert np.maximum(1 - data.y * scores, 0).sum() == pytest.approx(found.E[-1], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "linear"])
def test_the_slopes_are_those_of_differences(kernel):
    scaling = _Scaling(RINGS, Kernel(kernel, RINGS.X, 1.3, 3), 0.0)
    s, weights, step = np.array([0.5, 1.0, 0.3, 0.8]), RNG.standard_normal(40), 1e-6 * np.eye(4)
    for slopes, of in (
        (scaling.slopes(s, weights), lambda at: scaling.gram(at) @ weights),
        (scaling.radius_slopes(s), lambda at: scaling.radii(scaling.gram(at))),
    ):
        numbers = np.column_stack([(of(s + e) - of(s - e)) / 2e-6 for e in step])
        np.testing.assert_allclose(slopes, numbers, atol=1e-6)


def test_a_cost_of_scales_leaves_the_two_features_that_matter():
    found = kernel_mop(blobs(50, 6, seed=1, gap=0.6), w_cap=5.0, c=5.0, scale="standard")
    assert np.flatnonzero(found.scales).tolist() == [0, 1]
    assert found.E[-1] < found.E[0]
    assert found.H[-1] < found.H[0]


def test_wrong_words():
    for wrong in ({"kernel": "rbf"}, {"c": -1.0}, {"w_cap": 0.0}, {"max_iterations": 0}):
        with pytest.raises(ParameterError):
            kernel_mop(RINGS, **wrong)
