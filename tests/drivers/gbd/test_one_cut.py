"""The master with one cut in closed form: against all selections, and where it is left to a solver."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.drivers.gbd.driver import gbd
from fsopt.drivers.gbd.master import Master, largest_number, solve_one_cut
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import OutOfTimeError, Run
from fsopt.models.gbd.fsp_master import build_fsp_master
from fsopt.models.gbd.fsp_sub import build_fsp_sub
from fsopt.solvers.base import Session


@pytest.mark.parametrize("seed", range(6))
def test_no_selection_has_a_lower_value(seed):
    rng = np.random.default_rng(seed)
    p = 7
    slopes, penalties = rng.exponential(1.0, p) * rng.integers(0, 2, p), rng.choice([0.0, 0.3], p)
    slopes[-1] = slopes[0]
    constant, most = slopes.sum() + rng.exponential(1.0), int(rng.integers(1, p + 1))
    value, sigma = solve_one_cut(constant, slopes, penalties, most)
    selections = np.array([s for s in itertools.product((0.0, 1.0), repeat=p) if sum(s) <= most])
    values = np.maximum(constant - selections @ slopes, 0.0) + selections @ penalties
    assert value == pytest.approx(values.min(), abs=1e-12)
    assert max(constant - slopes @ sigma, 0.0) + penalties @ sigma == pytest.approx(value, abs=1e-12)
    assert sigma.sum() <= most


def test_a_cut_below_zero_is_left_to_the_solver():
    assert solve_one_cut(1.0, np.array([2.0, 0.5]), np.zeros(2), 1) is None


RULES = {
    "include": {"include": [0]},
    "exclude": {"exclude": [1]},
    "budget": {"costs": [1.0, 2.0, 1.0, 1.0, 1.0], "budget": 2.0},
    "implies": {"implies": [[0, 1]]},
    "conflicts": {"conflicts": [[0, 1]]},
}


@pytest.mark.parametrize("rule", ["m", "lam", *RULES])
def test_a_master_has_the_bound_and_the_selection_of_its_solver(rule):
    data = blobs(40, 5, seed=3)
    params = RULES.get(rule, {"m": 2} if rule == "m" else {"lam": [0.0, 0.1, 0.2, 0.5, 5.0]})
    alpha = np.full(data.n, 0.05)
    master = Master(data, build_fsp_master(data, **params), None)
    assert (master.most is None) == (rule in RULES)
    master.add(alpha)
    bound, sigma, done = master.solve(Recorder([master.session]))
    expected = fsopt.solve(build_fsp_master(data, **params, cuts=[alpha]))
    assert done
    assert bound == pytest.approx(expected.objective, rel=1e-6, abs=1e-9)
    assert master.feasible(np.round(sigma)) or rule == "implies"
    master.add(2.0 * alpha)
    assert master.one_cut is None


@pytest.mark.parametrize("params", [{"m": 2}, {"lam": 0.05}], ids=["m", "lam"])
def test_a_master_that_is_never_solved_leaves_an_incumbent_and_a_bound(params, monkeypatch):
    data = blobs(60, 8, seed=1, gap=0.6)
    master, sub = build_fsp_master(data, **params), build_fsp_sub(data, c=1.0)
    best = gbd(data, master, sub, c=1.0)
    whole = Session.solve

    def late(self, **given):
        if self.model.name == "fsp-master":
            raise OutOfTimeError("late", "give more seconds")
        return whole(self, **given)

    monkeypatch.setattr(Session, "solve", late)
    found = gbd(data, build_fsp_master(data, **params), build_fsp_sub(data, c=1.0), c=1.0, run=Run(time_limit=60.0))
    assert (found.status, found.stop) == ("feasible", "time-limit")
    assert 0.0 < found.bound <= best.objective * (1 + 1e-9)
    assert found.objective >= best.objective * (1 - 1e-6)
    assert len(found.point["alphas"]) >= 2
    assert np.sum(found.point["sigma"]) <= params.get("m", data.p)


@pytest.mark.parametrize(("bounds", "expected"), [((0.0, 1.0), 2), ((-1.0, 1.0), None), ((0.0, 2.0), None)])
def test_a_number_of_features_is_a_limit_of_shares_alone(bounds, expected):
    session = Session(build_fsp_master(blobs(20, 3), m=2))
    columns = session.columns(session.model.sigma)
    lb, ub = session.program.lb.copy(), session.program.ub.copy()
    lb[columns[0]], ub[columns[0]] = bounds
    assert largest_number(replace(session.program, lb=lb, ub=ub), columns) == expected
