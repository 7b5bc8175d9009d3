"""Model l0-mpm-exact: its optimum is that of all selections by brute force, and no answer of DCA is below it."""

import itertools

import pytest
from support import blobs

import fsopt
from fsopt.methods.mpm.space import accuracy_limit
from fsopt.methods.preprocessing import preprocess
from fsopt.models.mpm.moments import Moments


def smallest_selection(data, delta):
    """Return the size of the smallest selection whose own alpha* is at least delta."""
    for size in range(1, data.p + 1):
        for chosen in itertools.combinations(range(data.p), size):
            if accuracy_limit(Moments.of(data.columns(list(chosen)))).alpha >= delta:
                return size
    return None


@pytest.mark.parametrize(("seed", "delta"), [(3, 0.3), (8, 0.5)])
def test_the_optimum_is_that_of_brute_force_and_below_dca(seed, delta):
    data, _ = preprocess(blobs(60, 5, seed=seed, gap=0.7), "standard")
    limit = accuracy_limit(Moments.of(data)).alpha
    delta = min(delta, 0.98 * limit)
    result = fsopt.solve(fsopt.build("l0-mpm-exact", data, delta=delta))
    assert result.status == "optimal"
    assert result.objective == pytest.approx(smallest_selection(data, delta), abs=1e-6)
    found = fsopt.fit("l0-mpm", data, delta=delta, scale="none")
    assert len(found.support) >= result.objective - 1e-6


def test_there_is_no_selection_above_the_limit():
    data, _ = preprocess(blobs(40, 4, gap=0.5), "standard")
    limit = accuracy_limit(Moments.of(data)).alpha
    assert fsopt.solve(fsopt.build("l0-mpm-exact", data, delta=1.02 * limit)).status in ("infeasible", "none")
    with pytest.raises(fsopt.FsoptError, match="big_m"):
        fsopt.build("l0-mpm-exact", data, big_m=0)
