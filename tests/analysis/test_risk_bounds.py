"""The VC bound (1), its choice on a front, and the front E(H) of the master problem."""

import math

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.analysis.master_front import master_front
from fsopt.analysis.vc_bound import vc_bound, vc_bounds
from fsopt.errors import ParameterError
from fsopt.methods.preprocessing import preprocess

DATA = blobs(40, 3, gap=0.6)


def test_the_bound_by_hand_and_its_monotony():
    wanted = 0.1 + math.sqrt((5 * (math.log(2 * 1000 / 5) + 1) + math.log(4 / 0.05)) / 1000)
    assert vc_bound(0.1, 5, 1000) == pytest.approx(wanted)
    values = [vc_bound(0.1, h, 100) for h in (1, 3, 10, 50, 100, 1000)]
    assert values == sorted(values)
    with pytest.raises(ParameterError, match="'h'"):
        vc_bound(0.1, 0.5, 10)


def test_the_bounds_of_a_front_are_those_of_its_points():
    front = fsopt.pareto_front(DATA, (1.0, 4.0), prices=(0.5,))
    found = vc_bounds(front, DATA)
    work, _ = preprocess(DATA, "unit-rows")
    radius = (work.X**2).sum(axis=1).max()
    for k, bound in enumerate(found):
        scores = work.X @ front.columns["coef"][k] + front.columns["intercept"][k]
        risk = np.mean(np.where(scores > 0, 1, -1) != work.y)
        assert bound == pytest.approx(vc_bound(risk, math.floor(radius * front.x[k]) + 1, DATA.n))


def test_each_point_of_the_master_front_is_the_optimum_of_both_forms():
    front = master_front(DATA, (2.0, 0.5))
    assert front.x.tolist() == [0.5, 2.0]
    assert front.columns["certified"].all()
    assert front.nondominated.all()
    work, _ = preprocess(DATA.rows(np.arange(10)), "unit-rows")
    small = master_front(work, (2.0,), scale="none")
    for merged in (False, True):
        model = fsopt.build("mmop", work, h_cap=2.0, merged=merged)
        assert fsopt.solve(model, "scip").objective == pytest.approx(small.y[0], rel=1e-4)
        assert (model.component("W") is None) == merged
    with pytest.raises(ParameterError, match="no value"):
        master_front(DATA, ())
