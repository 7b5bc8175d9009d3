"""GBD on masters that a reader has changed: fixed features, own variables, own cuts, other objectives, a start."""

import numpy as np
import pyomo.environ as pyo
import pytest
from support import all_values, blobs, reference

import fsopt
from fsopt.answers.results import Status
from fsopt.drivers.gbd import searched
from fsopt.drivers.gbd.driver import gbd
from fsopt.drivers.gbd.master import completed
from fsopt.drivers.gbd.settings import GbdSettings
from fsopt.drivers.gbd.state import State, TriedSelection
from fsopt.errors import InfeasibleError, ParameterError, SolverError
from fsopt.models.gbd.fsp_master import cut_coefficients
from fsopt.solvers.base import Session

C = 4.0


def run(data, model, **settings):
    return gbd(data, model, fsopt.build("fsp-sub", data, c=C), c=C, settings=GbdSettings(**settings))


def least(data, allowed):
    """Return the smallest F over the selections (p,) for which a function is true."""
    return min(value for s, value in all_values(data, C).items() if allowed(np.array(s)))


FIXED = [(2, "zero", {}), (6, "all", {}), (2, "all", {"master_solver": "scip"}), (3, "zero", {"master": "search"})]


@pytest.mark.parametrize(("m", "start", "settings"), FIXED)
def test_features_that_are_fixed_or_bounded_stay_where_they_are(m, start, settings):
    data = reference("gbd_n6")
    master = fsopt.build("fsp-master", data, m=m)
    master.sigma[0].fix(1)
    master.sigma[3].fix(0)
    master.sigma[4].setub(0)
    master.sigma[5].setlb(0.5)
    result = run(data, master, start=start, **settings)
    best = least(data, lambda s: s.sum() <= m and s[0] and not s[3] and not s[4] and s[5])
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(best, rel=2e-6)
    assert result.bound <= best * (1 + 1e-9)


@pytest.mark.parametrize("solver", [None, "scip"])
def test_fixed_features_that_no_limit_admits_are_told(solver):
    data = reference("gbd_n6")
    master = fsopt.build("fsp-master", data, m=2)
    for j in range(3):
        master.sigma[j].fix(1)
    with pytest.raises(InfeasibleError, match="keeps all limits"):
        run(data, master, master_solver=solver)


OBJECTIVES = {
    "weight": lambda m: m.objective.set_value(2 * m.theta),
    "none": lambda m: m.objective.set_value(sum(m.sigma.values())),
    "product": lambda m: m.objective.set_value(m.theta + m.sigma[0] * m.sigma[1]),
    "constant": lambda m: m.objective.set_value(m.theta + 3.0),
    "another variable": lambda m: m.objective.set_value(m.theta + m.group),
    "maximised": lambda m: setattr(m.objective, "sense", pyo.maximize),
}


def test_an_objective_that_the_bounds_do_not_mean_is_refused():
    """F(sigma) + lambda'sigma is what the SVMs are worth: a master with another objective bounds something else."""
    data = reference("gbd_n6")
    for change in OBJECTIVES.values():
        master = fsopt.build("fsp-master", data, m=2)
        master.group = pyo.Var(within=pyo.Binary)
        change(master)
        with pytest.raises(ParameterError, match="'theta' plus penalty weights of 'sigma'"):
            run(data, master)


def test_constraints_that_are_not_linear_are_for_a_solver_that_takes_them():
    data = reference("gbd_n6")
    master = fsopt.build("fsp-master", data, m=2)
    master.pair = pyo.Constraint(expr=master.sigma[0] * master.sigma[4] <= 0)
    with pytest.raises(SolverError, match="MINLP"):
        run(data, master, master_solver="highs")


def test_limits_may_have_variables_of_their_own():
    """Groups of features that are open or not."""
    data = reference("gbd_n6")
    master = fsopt.build("fsp-master", data, m=4)
    master.group = pyo.Var([0, 1], within=pyo.Binary)
    master.of_group = pyo.Constraint(master.J, rule=lambda m, j: m.sigma[j] <= m.group[j % 2])
    master.one_group = pyo.Constraint(expr=master.group[0] + master.group[1] <= 1)
    result = run(data, master)
    assert result.solver == "highs+clarabel"
    best = least(data, lambda s: s.sum() <= 4 and not (s[::2].any() and s[1::2].any()))
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(best, rel=2e-6)


OTHERS = {
    "variables": lambda m: setattr(m, "group", pyo.Var(within=pyo.Binary)),
    "cuts": lambda m: setattr(m, "cut", pyo.Constraint(expr=m.theta >= 1.0 - m.sigma[0])),
    "products": lambda m: setattr(m, "pair", pyo.Constraint(expr=m.sigma[0] * m.sigma[4] <= 0)),
}


@pytest.mark.parametrize("change", OTHERS)
def test_a_master_that_the_search_does_not_see_whole_is_refused(change):
    data = reference("gbd_n6")
    master = fsopt.build("fsp-master", data, m=2)
    OTHERS[change](master)
    with pytest.raises(ParameterError, match=r"linear constraints on the selection alone.*use master='milp'"):
        run(data, master, master="search")


def test_a_bound_that_the_search_was_only_told_is_not_proved_by_it():
    """A bound of a checkpoint leads the loop, and is no evidence; the smallest value here is below it."""
    data = reference("gbd_n6")
    result = run(data, fsopt.build("fsp-master", data, m=2), master="search")
    master = searched.SearchedMaster(data, fsopt.build("fsp-master", data, m=2), None)
    master.add(result.point["alphas"][:2])
    told = 1.5 * result.objective
    best = TriedSelection(np.zeros(6), np.zeros(6), 0.0, 2.0 * result.objective)
    master.step(State(np.zeros(6), lower=told, best=best), 1e-6, None)
    assert master.proved <= result.objective * (1 + 1e-9) < told


@pytest.mark.slow
def test_a_search_that_its_nodes_end_keeps_the_bounds_that_it_has(monkeypatch):
    data = blobs(60, 12, seed=3, gap=0.1)
    limits = fsopt.build("fsp-master", data, m=4), fsopt.build("fsp-sub", data, c=1.0)
    settings = GbdSettings(master="search", start="zero", stabilisation="none")
    whole = gbd(data, *limits, c=1.0, settings=settings)
    monkeypatch.setattr(searched, "SEARCHES", ((0.5, 40), (1.0, 80)))
    limits = fsopt.build("fsp-master", data, m=4), fsopt.build("fsp-sub", data, c=1.0)
    ended = gbd(data, *limits, c=1.0, settings=settings)
    assert (whole.status, ended.status, ended.stop) == (Status.OPTIMAL, Status.FEASIBLE, "iteration-limit")
    assert 0.0 <= ended.bound <= whole.objective * (1 + 1e-9) <= ended.objective * (1 + 2e-9)
    assert len(ended.point["alphas"]) < 250


def test_cuts_that_the_master_brings_along_count():
    data = reference("gbd_n6")
    alphas = run(data, fsopt.build("fsp-master", data, m=2)).point["alphas"][:3]
    master = fsopt.build("fsp-master", data, m=2, cuts=alphas)
    result = run(data, master)
    assert result.solver == "highs+clarabel"
    assert result.objective == pytest.approx(least(data, lambda s: s.sum() <= 2), rel=2e-6)


# ---------------------------------------------------------------- the start of a master


def started(data, m, c, solver, **settings):
    models = fsopt.build("fsp-master", data, m=m), fsopt.build("fsp-sub", data, c=c)
    return gbd(data, *models, c=c, settings=GbdSettings(master_solver=solver, **settings))


def test_a_start_has_the_smallest_theta_that_the_cuts_allow():
    data = reference("gbd_n6")
    alphas = started(data, 2, 4.0, None).point["alphas"][:4]
    session = Session(fsopt.build("fsp-master", data, m=2, cuts=alphas))
    program, columns = session.program, session.columns(session.model.sigma)
    theta = program.column[id(session.model.theta)]
    sigma = np.array([0.0, 1.0, 0.0, 0.0, 1.0, 0.0])
    cuts = [constant - slopes @ sigma for constant, slopes in (cut_coefficients(data, a) for a in alphas)]
    x = completed(program, columns, theta, sigma)
    assert x[theta] == pytest.approx(max(0.0, *cuts))
    assert np.array_equal(x[columns], sigma)
    assert completed(program, columns, theta, np.ones(6)) is None
