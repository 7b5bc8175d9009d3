"""Multipliers on a coarser grid: balanced, within their bounds, near the finer ones, and no longer than needed."""

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.methods.gbd.coarser_grids import coarser
from fsopt.verification.exact_checking import exactly


@pytest.mark.parametrize("seed", range(5))
def test_rounded_multipliers_are_balanced_bounded_and_near(seed):
    rng = np.random.default_rng(seed)
    top, shift = 2**30, 12
    y = rng.permutation([1] * 13 + [-1] * 8)
    grid = rng.choice([0, top, 5, top - 5], len(y)) + 0
    grid = np.where(rng.random(len(y)) < 0.5, rng.integers(0, top, len(y)), grid)
    while (left := int(y @ grid)) != 0:  # the last digits of a class that has room
        k = int(rng.choice(np.flatnonzero((y * left > 0) & (grid > 0))))
        grid[k] -= min(abs(left), grid[k])
    (found,) = coarser([grid.tolist()], y.astype(float), shift)
    assert np.dot(found, y) == 0
    assert 0 <= min(found) <= max(found) <= top >> shift
    assert np.abs(np.array(found) * 2.0**shift - grid).max() <= 3 * 2**shift


def test_a_wide_gap_needs_few_digits_and_holds():
    data = blobs(n=30, p=6, seed=4, gap=0.3)
    sizes = {}
    for tolerance in (1e-3, 1e-6):
        claim = exactly(fsopt.fit("best-subset", data, m=2, tolerance=tolerance), data).claims[0]
        assert claim.holds
        sizes[tolerance] = claim.part["evidence"]["steps"]
    assert sizes[1e-3] < sizes[1e-6] / 100 < 2**30 / 100
