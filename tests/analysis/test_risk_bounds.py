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
    work, _ = preprocess(DATA.rows(np.arange(8)), "unit-rows")
    small = master_front(work, (2.0,), scale="none")
    for merged in (False, True):
        model = fsopt.build("mmop", work, h_cap=2.0, merged=merged)
        assert fsopt.solve(model, "scip").objective == pytest.approx(small.y[0], rel=1e-4)
        assert (model.component("W") is None) == merged
    with pytest.raises(ParameterError, match="no value"):
        master_front(DATA, ())


@pytest.mark.parametrize("scale", ["standard", "unit-rows"])
def test_samples_without_labels_are_in_the_ball_of_the_master_front_in_the_units_of_the_data(scale):
    far = DATA.X.mean(axis=0) + np.array([9.0, 0.0, 0.0])
    front = master_front(DATA, (0.5, 2.0), scale=scale, unlabelled=np.array([far, DATA.X[3]]))
    work, map_ = preprocess(DATA, scale)
    for h, y, w, b in zip(front.x, front.y, front.columns["coef"], front.columns["intercept"], strict=True):
        model = fsopt.build("mmop-convex", work, h_cap=h, unlabelled=[map_.apply(far[np.newaxis])[0]])
        assert fsopt.solve(model).objective == pytest.approx(y, rel=1e-6)
        assert np.maximum(1.0 - work.y * (work.X @ w + b), 0.0).sum() == pytest.approx(y, rel=1e-5)
    more = front.y / master_front(DATA, (0.5, 2.0), scale=scale).y - 1.0
    assert np.all(more > (1e-4 if scale == "standard" else -1e-6))  # of norm 1 it is not far
    assert front.columns["certified"].all()
    scaled = master_front(DATA.with_X(DATA.X * 100.0), (2.0,), scale=scale, unlabelled=[100.0 * far])
    assert scaled.y[0] == pytest.approx(front.y[1], rel=1e-6)
    for wrong in (3.0, [[1.0]], [[1.0, np.nan, 0.0]]):
        with pytest.raises(ParameterError, match="'unlabelled"):
            master_front(DATA, (2.0,), unlabelled=wrong)
