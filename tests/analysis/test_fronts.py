"""The front of risk and capacity: weighted sums on the same convex curve, and what a front says of any points."""

import numpy as np
import pytest
from support import blobs, reference

import fsopt
from fsopt.analysis.grids import Grid, nondominated, pareto_front
from fsopt.errors import ParameterError

CAPS = (0.2, 4.0, 12.0, 30.0)


@pytest.fixture(scope="module")
def front():
    return pareto_front(reference("mop_a"), CAPS, scale="none")


def test_weighted_sums_are_on_the_same_curve(front):
    data = reference("mop_a")
    assert front["certified"].all()
    assert sorted(front["x"]) == pytest.approx(CAPS)
    for x, y, bound in zip(front["x"], front["y"], front["bound"], strict=True):
        minimum = fsopt.solve(fsopt.build("rsvm", data, w_cap=x)).objective
        assert y == pytest.approx(minimum, rel=1e-6)
        assert bound <= minimum * (1 + 1e-7)
        c = 1 / front["gamma"][front["x"] == x].item()
        value = fsopt.solve(fsopt.build("svm", data, c=c)).objective
        assert 0.5 * x + c * y == pytest.approx(value, rel=1e-6)


def test_the_curve_falls_and_is_convex_in_the_norm_and_gamma_is_its_slope(front):
    assert np.all(np.diff(front["x"]) > 0)
    assert np.all(np.diff(front["y"]) < 0)
    for axis in (front["x"], np.sqrt(front["x"])):
        assert np.all(np.diff(np.diff(front["y"]) / np.diff(axis)) > -1e-5)  # it may be straight for a while
    gamma = front["gamma"]
    lines = front["y"][:, None] - 0.5 * gamma[:, None] * (front["x"] - front["x"][:, None])
    assert np.all(front["y"] >= lines - 1e-6)  # every point is above every tangent
    close = pareto_front(reference("mop_a"), (3.999, 4.0, 4.001), scale="none")
    (x0, _, x2), (y0, _, y2) = close["x"], close["y"]
    assert (y2 - y0) / (x2 - x0) == pytest.approx(-close["gamma"][1] / 2, 1e-2)
    assert front["nondominated"].all()


def test_beyond_the_minimum_loss_the_front_is_constant():
    data = blobs(30, 2, seed=1, gap=0.4)
    front = pareto_front(data, (1e3, 1e5), scale="standard")
    fit = fsopt.fit("rsvm", data, w_cap=1e5, scale="standard")
    assert front["x"] == pytest.approx([fit.details["capacity"]] * 2, rel=1e-4)
    assert front["gamma"].tolist() == [0.0, 0.0]
    assert front["certified"].all()


def test_the_columns_are_those_of_the_fits():
    data, test = blobs(30, 3, seed=3, gap=0.3), blobs(60, 3, seed=9, gap=0.3)
    front = pareto_front(data, (1.0, 5.0), validation=test)
    for k in range(2):
        fit = fsopt.fit("rsvm", data, w_cap=front["x"][k])
        assert front["y"][k] == pytest.approx(fit.objective, rel=1e-6)
        assert front["h_over_l"][k] == pytest.approx(fit.details["h_over_l"], rel=1e-6)
        assert front["n_support_vectors"][k] == np.sum(fit.details["alpha"] > 1e-6)
        assert front["train_error"][k] == pytest.approx(1 - fit.scores(data)["accuracy"])
        assert front["validation_error"][k] == pytest.approx(1 - fit.scores(test)["accuracy"])
    assert front.chosen == int(np.argmin(front["validation_error"]))
    plain = pareto_front(data)
    assert np.isnan(plain["validation_error"]).all()
    assert len(plain["x"]) == 10
    assert plain["h_over_l"][0] == pytest.approx(0.05)
    active = plain["gamma"] > 0
    assert plain["h_over_l"][active] == pytest.approx(np.geomspace(0.05, 0.5, 10)[active])
    assert np.abs(plain["h_over_l"] - 0.1).argmin() == plain.chosen


def test_any_points_have_their_dominated_ones():
    rng = np.random.default_rng(0)
    for _ in range(8):
        x, y = np.sort(rng.integers(0, 12, 15) / 4), rng.integers(0, 12, 15) / 4
        points = list(zip(x, y, strict=True))
        dominated = [any(a <= u and b <= v and (a < u or b < v) for a, b in points) for u, v in points]
        assert nondominated(x, y).tolist() == [not d for d in dominated]


def test_a_plot_shows_every_point_and_the_choice(front):
    axes = front.plot().axes[0]
    points, dominated, star = axes.lines
    assert (len(points.get_xdata()), len(dominated.get_xdata())) == (len(front["x"]), 0)
    assert (star.get_xdata()[0], star.get_ydata()[0]) == (front["x"][front.chosen], front["y"][front.chosen])
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("capacity w'w", "hinge loss E")
    points = {"R": np.array([1.0, 2.0, 3.0]), "W": np.array([3.0, 4.0, 1.0])}
    other = Grid(points, {"R": "R", "W": "W"}, 0).plot().axes[0]
    assert [line.get_label() for line in other.lines] == ["nondominated", "dominated", "chosen"]


def test_grids_are_refused():
    for caps, words in (((), "no value of W"), ((0.0,), "'caps'"), (("a",), "'caps'")):
        with pytest.raises(ParameterError, match=words):
            pareto_front(blobs(10, 2), caps)
