"""L0-MPM by DCA: critical and global points for every approximation, starts, saved fits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad
from support import blobs

import fsopt
from fsopt.answers.results import Status
from fsopt.drivers.dca import dca
from fsopt.drivers.penalties import PENALTIES, SMALLEST_COST, Power, approximation, step_costs
from fsopt.errors import ParameterError
from fsopt.methods.mpm.space import accuracy_limit
from fsopt.models.mpm.moments import Moments


class Fraction:
    """A user's own penalty, the one of the documentation."""

    slope = 5.0

    def value(self, w):
        return float((5 * abs(w) / (1 + 5 * abs(w))).sum())

    def gradient(self, w):
        return np.sign(w) * (5 - 5 / (1 + 5 * abs(w)) ** 2)


@pytest.mark.parametrize("name", ["exp", "capped-l1", "lp", "own"])
def test_every_run_descends_and_the_best_one_is_a_critical_point(name):
    data = blobs(24, 2, seed=0, gap=0.8)
    penalty = Fraction() if name == "own" else approximation(name, 5.0)
    params = {"delta": 0.9 * accuracy_limit(Moments.of(data)).alpha, "alpha": penalty.slope}
    result = dca(fsopt.build("l0-mpm-step", data, **params), penalty, n_starts=4)
    assert (result.status, result.bound, result.certificate.ok) == (Status.STATIONARY, None, True)
    ends = []
    for start in range(4):
        values = np.array([h["objective"] for h in result.history if h["start"] == start])
        assert np.all(np.diff(values) <= 1e-6 * (1 + values[:-1]))
        ends.append(values[-1])
    w, v = result.point["w"], penalty.gradient(result.point["w"])
    assert result.objective == pytest.approx(penalty.value(w), rel=1e-12)
    assert result.objective <= min(ends) + 1e-6
    step = fsopt.solve(fsopt.build("l0-mpm-step", data, v=v, **params), "clarabel")
    assert penalty.slope * np.abs(w).sum() - v @ w == pytest.approx(step.objective, rel=2e-5, abs=2e-5)


FEW = settings(max_examples=40, deadline=None, derandomize=True)
ALPHAS = st.floats(0.1, 50)
WEIGHTS = arrays(float, 4, elements=st.floats(-3, 3, width=32))
NAMES = st.sampled_from(sorted(PENALTIES))


def convex_part(penalty, w):
    return penalty.slope * np.abs(w).sum() - penalty.value(w)


def kinks(name, alpha):
    """Return where phi has no second derivative."""
    lam = 2 / (4.7 * alpha)
    return {"capped-l1": (1 / alpha,), "scad": (lam, 3.7 * lam)}.get(name, ())


@FEW
@given(name=NAMES, alpha=ALPHAS, a=WEIGHTS, b=WEIGHTS)
def test_h_is_convex_since_its_gradient_lies_below(name, alpha, a, b):
    penalty = approximation(name, alpha)
    slack = 1e-10 * (1 + penalty.slope * 12) + 12 * SMALLEST_COST * penalty.slope
    assert convex_part(penalty, b) >= convex_part(penalty, a) + penalty.gradient(a) @ (b - a) - slack


@FEW
@given(name=NAMES, alpha=ALPHAS, w=WEIGHTS)
def test_the_gradient_is_that_of_finite_differences(name, alpha, w):
    penalty, step = approximation(name, alpha), 1e-6
    near = [np.abs(np.abs(w) - k) < 2 * step for k in kinks(name, alpha)]
    for j in np.flatnonzero(~np.any(near, axis=0)) if near else range(len(w)):
        up, down = w.copy(), w.copy()
        up[j] += step
        down[j] -= step
        slope = (convex_part(penalty, up) - convex_part(penalty, down)) / (2 * step)
        allowed = 1e-5 * penalty.slope * (1 + alpha)
        assert penalty.gradient(w)[j] == pytest.approx(slope, abs=allowed)
        cost = (penalty.value(np.abs(w) + step * (np.arange(4) == j)) - penalty.value(w)) / step
        assert step_costs(penalty, np.abs(w))[j] == pytest.approx(cost, abs=10 * allowed)


@pytest.mark.parametrize("alpha", [0.3, 5.0, 40.0])
def test_plateaus_and_units(alpha):
    one, far = np.array([1.0]), np.array([1e3])
    for name in ("exp", "capped-l1", "scad"):
        assert approximation(name, alpha).value(far) == 1.0
        assert approximation(name, alpha).slope == alpha
    for q in (0.5, 1.0, 3.0):
        penalty = Power(alpha, q=-q)
        assert penalty.slope == q * alpha
        assert penalty.value(np.array([1e99])) == 1.0
        # Its print, -(t + epsilon)^(-q), but for the unit and the value at 0.
        t, epsilon = 0.7 / alpha, 1 / alpha
        printed = -((t + epsilon) ** -q), -(epsilon**-q)
        assert penalty.value(np.array([t])) == pytest.approx((printed[0] - printed[1]) * epsilon**q, rel=1e-12)
    for name in ("log", "lp"):
        assert approximation(name, alpha).value(one) == pytest.approx(1.0, rel=1e-12)
        assert approximation(name, alpha).value(far) > 1.0
    for t in (0.1 / alpha, 0.7 / alpha, 3 / alpha):
        limit = Power(alpha, q=0.0).value(np.array([t]))
        assert Power(alpha, q=1e-7).value(np.array([t])) == pytest.approx(limit, rel=1e-5)
        lam = 2 / (4.7 * alpha)  # Fan and Li's derivative over its plateau (a + 1) lam^2 / 2
        area, _ = quad(
            lambda u, lam=lam: lam if u <= lam else max(3.7 * lam - u, 0) / 2.7, 0, t, points=kinks("scad", alpha)
        )
        assert approximation("scad", alpha).value(np.array([t])) == pytest.approx(area / (2.35 * lam**2), rel=1e-7)


def test_copies_and_units_of_columns_leave_a_point_that_meets_every_constraint():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 60))
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(30) > 0.0, 1.0, -1.0)
    data = fsopt.Dataset(np.column_stack([X[:, :50], X[:, 0] * (1.0 + 3e-16), X[:, 3] * 1e9]), y)
    assert fsopt.fit("fsv", data).status is Status.STATIONARY


def test_another_word_steepness_or_power_is_refused():
    for name, alpha in (("exp", 0.0), ("scad", -1.0), ("log", np.inf), ("lp", "steep")):
        with pytest.raises(ParameterError, match="alpha"):
            approximation(name, alpha)
    with pytest.raises(ParameterError, match="approx") as caught:
        approximation("l0", 5.0)
    assert all(f"{spec.name}: {spec.formula}" in caught.value.hint for spec in PENALTIES.values())
    for q in (1.0, -np.inf):
        with pytest.raises(ParameterError, match="'q'"):
            Power(5.0, q=q)
