"""The front E(H) of the master problem; its values and those of the VC bound (1) are in the inventory."""

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.analysis.master_front import master_front
from fsopt.analysis.vc_bound import vc_bound
from fsopt.errors import ParameterError
from fsopt.methods.preprocessing import preprocess

DATA = blobs(40, 3, gap=0.6)


def test_points_are_in_order_and_what_is_no_capacity_is_refused():
    front = master_front(DATA, (2.0, 0.5))
    assert front.x.tolist() == [0.5, 2.0]
    assert front.nondominated.all()
    with pytest.raises(ParameterError, match="no value"):
        master_front(DATA, ())
    with pytest.raises(ParameterError, match="'h'"):
        vc_bound(0.1, 0.5, 10)


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
