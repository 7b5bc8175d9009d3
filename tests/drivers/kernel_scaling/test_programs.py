"""Linear programs of (15) by constraint generation: the optimum and the cuts of the model of all samples."""

from types import SimpleNamespace

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.certificates.kernel_scaling.bounds import Cut
from fsopt.certificates.kernel_scaling.problem import ScalingProblem
from fsopt.data.hyperplanes import hinge
from fsopt.drivers.kernel_scaling import driver, programs
from fsopt.drivers.kernel_scaling.driver import OuterApproximation, lower_hull
from fsopt.drivers.kernel_scaling.programs import RestrictedPrograms, WholeProgram
from fsopt.drivers.recorder import Recorder
from fsopt.models.mop.kernel_scaling import build_kernel_scaling_step
from fsopt.solvers.base import Session


@pytest.fixture
def few(monkeypatch):
    """Let restricted programs of two features begin with few samples."""
    monkeypatch.setattr(programs, "NEAREST", 5)
    monkeypatch.setattr(programs, "FOR_EACH", 0)
    monkeypatch.setattr(programs, "FARTHEST", 2)


def case(seed, kind):
    """Return (15) for a hyperplane that is no SVM's, with some slack in its loss."""
    rng = np.random.default_rng(seed)
    data = blobs(60, 2, seed=seed, gap=0.5)
    if kind == "units":
        data = data.with_X(data.X * [1e3, 1e-3])
    elif kind == "twice":
        data = data.rows([*range(30), *range(30)])
    w = data.X.T @ data.y / data.n / data.X.var(axis=0)
    w, b = w * rng.uniform(0.5, 1.5, 2), 0.1 * rng.standard_normal()
    active = np.array([True, kind != "inactive"])
    e_cap = 1.1 * hinge(data.X @ (active * w) + b, data.y)
    return ScalingProblem(data, w, b, e_cap, np.array([0.3, 0.2]), active)


@pytest.mark.parametrize(("seed", "kind"), [(0, "drawn"), (1, "units"), (0, "twice"), (1, "inactive")])
def test_a_restricted_program_has_the_optimum_and_the_cut_of_the_whole_one(seed, kind, few):
    at = case(seed, kind)
    model = build_kernel_scaling_step(at.data, w=at.w, b=at.b, e_cap=at.e_cap)
    session = Session(model)
    whole, parts = WholeProgram(session, Recorder([session])), RestrictedPrograms(at.data, Recorder([]))
    for linear in (whole, parts):
        linear.load(at, np.ones(2))
    assert parts.kept.sum() < 20
    unit_R, unit_W = at.units
    smallest = [linear.minimise((1.0, 0.0), np.zeros(2), None)[0] for linear in (whole, parts)]
    radius = 1.1 * at.size(smallest[0])[0]
    assert at.size(smallest[1])[0] == pytest.approx(at.size(smallest[0])[0], rel=1e-7)
    for R, W, priced, limit in ((unit_W, unit_R, 0, None), (0.1 * unit_W, unit_R, 1, None), (0.0, unit_R, 1, radius)):
        values, costs = [], priced * at.costs * unit_R * unit_W
        for linear in (whole, parts):
            s, multipliers = linear.minimise((R, W), costs, limit)
            assert at.excess(s) <= 1e-7
            assert not s[~at.active].any()
            size = at.size(s)
            assert limit is None or size[0] <= limit * (1 + 1e-3)  # the solver's tolerance in the units of R
            values.append(R * size[0] + W * size[1] + costs @ s)
            if limit is None:
                priced_problem = ScalingProblem(at.data, at.w, at.b, at.e_cap, costs, at.active)
                slope, delta, proved = Cut(*multipliers, W, bool(priced)).proved(priced_problem)
                # The cut of the optimal multipliers touches the optimum.
                assert (slope, delta) == pytest.approx((R, W), rel=1e-6)
                assert proved == pytest.approx(values[-1], rel=1e-6)
        assert values[1] == pytest.approx(values[0], rel=1e-7)
    assert parts.kept.sum() > 5


def test_the_losses_of_samples_left_out_are_linear():
    """With every sample left out the program is linear in g: a closed form for one feature."""
    data = fsopt.Dataset([[1.0], [-1.0], [3.0], [-2.0]], [1, -1, 1, -1])
    left = data.rows([2, 3])
    h = (left.y[:, None] * left.X).sum(axis=0)
    model = build_kernel_scaling_step(data.rows([0, 1]), w=[1.0], e_cap=1.0, offset=[*h, 2.0])
    result = fsopt.solve(model)
    # 2 (1 - s) + 2 - 5 s <= 1 for s <= 1, with R = s and W = s: s = 3 / 7.
    assert result.objective == pytest.approx(6.0 / 7.0)


@pytest.mark.parametrize(("value", "stop"), [(0.4, "optimal"), (0.6, "iteration-limit")])
def test_below_one_the_gap_is_absolute(value, stop, monkeypatch):
    monkeypatch.setattr(driver, "lower_bound", lambda problem, cuts, value: (0.0, 1.0))
    problem = SimpleNamespace(lower_bounds=[0.0])
    search = OuterApproximation(problem, None, np.zeros(1), value, programs=1)
    assert [at.stop for at in search.close_gap(0.5, 1)] == [stop]


def test_a_point_above_another_one_up_to_rounding_is_no_vertex():
    low = 1e-9
    points = [(1.0, 3.0), (2.0, low), (3.0, low), (3.5, low * (1 - 1e-14)), (1.5, 2.9)]
    assert lower_hull(points).tolist() == [[1.0, 3.0], [2.0, low]]
