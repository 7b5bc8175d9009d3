"""Models of some of many features: the optimum of the whole program, a DCA that is critical for all features."""

from functools import partial

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.answers.results import Status
from fsopt.drivers import dca, working_set
from fsopt.drivers.dca import priced_dca
from fsopt.drivers.penalties import approximation
from fsopt.drivers.working_set import priced
from fsopt.methods.mpm.space import price
from fsopt.models.mpm.l0_mpm import build_l0_mpm_step


@pytest.fixture(autouse=True)
def few_columns(monkeypatch):
    """Restrict the first problems to so few features that they are infeasible, or others have to be added."""
    monkeypatch.setattr(working_set, "COLUMNS", 4)


def steps(data, v, **params):
    """Return the step models of some features, their prices, and scores that say nothing."""

    def build(places):
        return build_l0_mpm_step(data.columns(places), v=v[places], **params)

    return build, partial(price, data, params), np.zeros(data.p)


@pytest.mark.parametrize(
    ("n", "p", "delta", "weighted"), [(12, 30, 0.7, False), (30, 20, 0.5, True), (20, 40, 0.9, False)]
)
def test_the_optimum_is_that_of_the_whole_program(n, p, delta, weighted):
    data = blobs(n, p, seed=n, gap=1.0)
    v = 5.0 * np.random.default_rng(n).uniform(-0.9, 0.9, p) * (np.arange(p) < 4) * weighted
    params = {"delta": delta, "alpha": 5.0}
    expected = fsopt.solve(fsopt.build("l0-mpm-step", data, v=v, **params), "clarabel")
    result = priced(*steps(data, v, **params))
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(expected.objective, rel=1e-6)
    assert result.bound <= expected.objective * (1 + 1e-7)
    w = result.point["w"]
    assert 5.0 * np.abs(w).sum() - v @ w == pytest.approx(result.objective, rel=1e-6)
    assert 0 < len(result.point["columns"]) < p
    assert not np.delete(w, result.point["columns"]).any()


def test_an_accuracy_that_no_feature_allows_is_infeasible_however_many_are_added():
    data = blobs(60, 6, seed=1, gap=0.2)
    with pytest.raises(fsopt.FsoptError, match="infeasible"):
        priced(*steps(data, np.zeros(6), delta=0.99, alpha=1.0))


@pytest.mark.parametrize(("seed", "approx"), [(0, "exp"), (1, "log")])
@pytest.mark.parametrize("started", [False, True])
def test_the_answer_of_dca_is_critical_for_all_features(seed, approx, started):
    penalty, data = approximation(approx, 5.0), blobs(16, 24, seed=seed, gap=1.0)
    params = {"delta": 0.8, "alpha": penalty.slope}
    start = np.ones(24) * (np.arange(24) > 17) if started else None
    result = priced_dca(*steps(data, np.zeros(24), **params), penalty, n_starts=2, seed=seed, start=start)
    w, v = result.point["w"], np.zeros(24)
    v[result.point["columns"]] = result.point["gradient"]
    step = fsopt.solve(fsopt.build("l0-mpm-step", data, v=v, **params), "clarabel")
    assert result.status is Status.STATIONARY
    assert penalty.slope * np.abs(w).sum() - v @ w == pytest.approx(step.objective, rel=1e-5, abs=1e-5)
    assert v == pytest.approx(penalty.gradient(w), abs=1e-4)
    assert result.objective == pytest.approx(penalty.value(w), rel=1e-12)
    whole = dca(fsopt.build("l0-mpm-step", data, **params), penalty, n_starts=2, seed=seed)
    assert result.objective <= 1.5 * whole.objective
    assert len(result.point["starts"]) == 2
    assert min(result.point["starts"]) == result.objective
