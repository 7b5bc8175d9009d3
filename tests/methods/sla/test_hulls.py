"""Hulls of the classes: each answer comes with evidence that is checked here."""

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.methods.sla.hulls import hulls


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("gap", [0.3, 1.0, 3.0])
def test_the_evidence_fits_the_answer(seed, gap):
    data = blobs(24, 2, seed=seed, gap=gap)
    found = hulls(data)
    assert found.disjoint == (found.value <= 1e-9)
    if found.disjoint:
        assert np.all(data.y * (data.X @ found.w - found.gamma) > 0)
        return
    for label in (1, -1):  # the point is inside each hull: no direction separates it from the class
        rows = data.X[data.y == label]
        for angle in np.linspace(0, 2 * np.pi, 721):
            direction = np.array([np.cos(angle), np.sin(angle)])
            assert (rows @ direction).max() >= found.point @ direction - 1e-6


def test_a_common_vertex_is_an_intersection():
    data = fsopt.Dataset([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [-1.0, 0.5]], [1, 1, -1, -1])
    found = hulls(data)
    assert not found.disjoint
    assert found.point == pytest.approx([0.0, 0.0], abs=1e-7)
