"""Units of a program: a norm that is bounded by a constant is measured by that constant."""

import numpy as np
import pyomo.environ as pyo
import pytest
from support import blobs

import fsopt
from fsopt.results import Status


@pytest.mark.parametrize("tiny", [1e-6, 1e-9, 1e-12, 1e-15])
@pytest.mark.parametrize("solver", ["clarabel", "scs"])
def test_a_column_of_tiny_entries_does_not_hide_a_violated_norm(solver, tiny):
    """The column's unit is 1/tiny: divided by it, any violation of w'w <= 1 looked like nothing."""
    data = blobs(12, 2, seed=0, gap=0.5)
    alone = fsopt.solve(fsopt.build("rsvm", data.columns([1]), w_cap=1.0)).objective
    model = fsopt.build("rsvm", data.with_X(data.X * np.array([tiny, 1.0])), w_cap=1.0)
    result = fsopt.solve(model, solver)
    assert result.status is Status.OPTIMAL
    assert sum(pyo.value(v) ** 2 for v in model.w.values()) <= 1 + 1e-5
    assert result.objective == pytest.approx(alone, rel=1e-5)


@pytest.mark.parametrize("tiny", [1e-9, 1e-12])
def test_a_point_outside_the_ball_is_not_certified(tiny):
    data = blobs(12, 2, seed=0, gap=0.5)
    model = fsopt.build("rsvm", data.with_X(data.X * np.array([tiny, 1.0])), w_cap=1.0)
    free = fsopt.build("rsvm", data.with_X(data.X * np.array([tiny, 1.0])), w_cap=100.0)
    assert not fsopt.certify(model, fsopt.solve(free)).ok
