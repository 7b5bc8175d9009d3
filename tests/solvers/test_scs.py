"""SCS: certified optima of the registered models, shadow prices, statuses, options, re-solves from the last point."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from support import blobs

import fsopt
from fsopt.answers.certificate import TOLERANCE
from fsopt.compiler import compile_model
from fsopt.errors import OptionError, SolverError
from fsopt.solvers.base import Session
from fsopt.solvers.interface import Settings

pytest.importorskip("scs")
from fsopt.solvers.scs import STATUS_MAP, Scs

PARAMS = {
    "gmeb-primal": {"r_plus": 0.4, "r_minus": 0.3},
    "gmeb-dual": {"r_plus": 0.4, "r_minus": 0.3},
    "gmeb-hard-margin": {"r_plus": 3.0, "r_minus": 3.0},
    "l1-mpm": {"delta": 0.3},
    "l0-mpm-step": {"delta": 0.3},
    "fsv-step": {"lam": 0.3},
    "rsvm": {"w_cap": 0.5},
    "rsvm-dual": {"w_cap": 0.5},
}
CLAIMED = [slug for slug, m in fsopt.MODELS.items() if m.problem_class in fsopt.SOLVERS["scs"].classes]


def small(slug: str) -> pyo.ConcreteModel:
    data = blobs(24, 4, gap=2.5) if slug == "gmeb-hard-margin" else blobs()
    return fsopt.build(slug, data, **PARAMS.get(slug, {}))


@pytest.mark.parametrize("slug", CLAIMED)
def test_every_model_of_its_classes_is_certified_and_agrees(slug):
    m = small(slug)
    other = fsopt.solve(m, "clarabel")
    assert other.status == "optimal"
    result = fsopt.solve(m, "scs")
    assert (result.status, result.stop, result.certificate.kind) == ("optimal", "optimal", "convex")
    assert result.certificate.worst <= TOLERANCE
    assert result.objective == pytest.approx(other.objective, rel=1e-6, abs=1e-6)
    assert result.bound == pytest.approx(other.objective, rel=1e-6, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("slug", ["gmeb-primal", "gmeb-dual", "gmeb-sdp", "rsvm", "onsvm"])
@pytest.mark.parametrize("units", ["standardised", "raw"])
def test_a_real_data_set_is_certified_in_any_units(slug, units, wdbc, wdbc_std):
    m = fsopt.build(slug, wdbc_std if units == "standardised" else wdbc)
    result = fsopt.solve(m, "scs")
    assert (result.status, result.certificate.ok) == ("optimal", True)
    assert result.objective == pytest.approx(fsopt.solve(m, "clarabel").objective, rel=1e-6)
    if (slug, units) == ("gmeb-primal", "standardised"):
        assert result.objective == pytest.approx(121.757464796, rel=1e-7)


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_shadow_prices_have_the_sign_of_the_slope(sense):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(4))
    m.x[3].setub(1.5)
    m.ge = pyo.Constraint(expr=m.x[0] >= 2)
    m.le = pyo.Constraint(expr=m.x[1] <= 3)
    m.eq = pyo.Constraint(expr=m.x[2] - m.x[3] == 1)
    cost = 2 * m.x[0] - 5 * m.x[1] + m.x[2] - 3 * m.x[3]
    m.o = pyo.Objective(expr=cost if sense == pyo.minimize else -cost, sense=sense)
    assert fsopt.solve(m, "scs").status == "optimal"
    prices = [m.dual[m.ge], m.dual[m.le], m.dual[m.eq], m.rc[m.x[3]]]
    assert prices == pytest.approx([s * (1 if sense == pyo.minimize else -1) for s in (2, -5, 1, -2)], abs=1e-6)


def test_the_shadow_price_of_a_cone_is_that_of_its_quadratic():
    m = pyo.ConcreteModel()
    m.w = pyo.Var()
    m.s, m.t = pyo.Var(bounds=(0, None)), pyo.Var(bounds=(0, None))
    m.fix = pyo.Constraint(expr=m.w == 3)
    m.q = pyo.Constraint(expr=m.w**2 - m.s * m.t <= 0)
    m.o = pyo.Objective(expr=m.s + m.t)
    assert fsopt.solve(m, "scs").objective == pytest.approx(6, rel=1e-6)
    assert m.dual[m.q] == pytest.approx(-1 / 3, rel=1e-5)


def test_infeasible_comes_with_a_proof_and_unbounded_is_told():
    m = fsopt.build("gmeb-hard-margin", blobs(), r_plus=0.4, r_minus=0.3)
    result = fsopt.solve(m, "scs")
    assert (result.status, result.stop, result.point) == ("infeasible", "infeasible", None)
    assert (result.certificate.kind, result.certificate.ok) == ("infeasible", True)
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, None)), pyo.Var()
    m.o = pyo.Objective(expr=m.y**2 - m.x)
    assert fsopt.solve(m, "scs").status == "unbounded"


def test_limits_are_told_and_the_certificate_decides():
    m = fsopt.build("rsvm", blobs(200, 20), w_cap=0.5)
    few = fsopt.solve(m, "scs", options={"max_iters": 20})
    assert (few.stop, few.iterations) == ("iteration-limit", 20)
    assert few.status in ("feasible", "none")
    assert not few.certificate.ok
    session = Session(m, "scs")
    short = session.solve(time_limit=1e-6)
    assert short.stop == "time-limit"
    assert short.status != "optimal"
    assert session.solve().status == "optimal", "the limit of one solve held for the next"


def test_a_program_without_rows_and_one_with_a_fixed_column():
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(), pyo.Var(initialize=2.0)
    m.o = pyo.Objective(expr=(m.x - 3) ** 2)
    assert fsopt.solve(m, "scs").status == "optimal"
    assert m.x.value == pytest.approx(3, abs=1e-5)
    m.y.fix(2.0)
    m.c = pyo.Constraint(expr=m.x + m.y <= 4)
    assert fsopt.solve(m, "scs").objective == pytest.approx(1, abs=1e-6)


# -- re-solving -------------------------------------------------------------------------------------------


def test_new_costs_and_bounds_go_in_place_and_start_from_the_last_point():
    m = fsopt.build("gmeb-primal", blobs(60, 5), r_plus=0.4, r_minus=0.3)
    session = Session(m, "scs")
    cold = session.solve()
    again = session.solve()
    assert again.iterations < cold.iterations / 2, "the second solve did not start from the first"
    solver = session.connection.interface.solver
    m.moment_plus.set_value(m.moment_plus.body <= 0.05)
    session.update(m.moment_plus)
    changed = session.solve()
    assert (session.rebuilt, session.connection.interface.solver) == ("", solver), "a new bound needs no factorisation"
    assert changed.objective == pytest.approx(fsopt.solve(m, "clarabel").objective, rel=1e-6)
    assert changed.objective > cold.objective * (1 + 1e-4)
    m.objective.set_value(2 * m.objective.expr)
    session.update(m.objective)
    assert session.connection.interface.solver is solver
    assert session.solve().objective == pytest.approx(2 * changed.objective, rel=1e-6)
    m.moment_plus.set_value(2 * m.moment_plus.body <= 0.05)
    session.update(m.moment_plus)
    last = session.solve()
    assert session.connection.interface.solver is not solver, "new coefficients need a new factorisation"
    assert last.objective == pytest.approx(fsopt.solve(m, "clarabel").objective, rel=1e-6)


def test_bounds_go_in_place_and_new_ones_rebuild():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(1, 5))
    m.o = pyo.Objective(expr=m.x[0] ** 2 + m.x[1])
    session = Session(m, "scs")
    assert session.solve().objective == pytest.approx(2, rel=1e-6)
    solver = session.connection.interface.solver
    m.x.setlb(2)
    session.update(m.x)
    assert (session.rebuilt, session.connection.interface.solver) == ("", solver)
    assert session.solve().objective == pytest.approx(6, rel=1e-6)
    m.x[0].setub(None)
    session.update(m.x)
    assert "appeared or vanished" in session.rebuilt
    m.o.set_value(3 * m.x[0] ** 2 + m.x[1])
    session.update(m.o)
    assert session.solve().objective == pytest.approx(14, rel=1e-6)
    m.c = pyo.ConstraintList()
    m.c.add(m.x[0] + m.x[1] >= 7)
    session.add(m.c[1])
    assert "added" in session.rebuilt
    assert session.solve().objective == pytest.approx(17, rel=1e-6)


def test_an_infeasible_bound_does_not_spoil_the_next_start():
    m = pyo.ConcreteModel()
    m.r = pyo.Param(initialize=1.0, mutable=True)
    m.x = pyo.Var(bounds=(0, 2))
    m.c = pyo.Constraint(expr=m.x >= m.r)
    m.o = pyo.Objective(expr=m.x)
    session = Session(m, "scs")
    for side, status in ((1.0, "optimal"), (3.0, "infeasible"), (1.5, "optimal")):
        m.r = side
        session.update(m.c)
        result = session.solve()
        assert result.status == status
    assert result.objective == pytest.approx(1.5, rel=1e-6)


# -- refusals ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad",
    [
        {"nope": 1},
        {"verbose": True},
        {"max_iters": -1},
        {"max_iters": "a"},
        {"alpha": 5.0},
        {"normalize": 2},
        {"linear_solver": "bad"},
        {"log_csv_filename": 3},
        {"eps_abs": -1.0},
    ],
    ids=str,
)
def test_bad_options_are_named(bad):
    with pytest.raises(OptionError, match=next(iter(bad))):
        Scs(compile_model(small("rlp")), Settings.make(bad))


def test_good_options_reach_it_and_a_wrong_class_is_refused():
    rough = fsopt.solve(small("svm"), "scs", options={"tolerance": 1e-2, "acceleration_lookback": 0})
    fine = fsopt.solve(small("svm"), "scs")
    assert rough.iterations < fine.iterations
    assert rough.certificate.worst > fine.certificate.worst
    with pytest.raises(SolverError, match=r"scs.*MILP"):
        fsopt.solve(fsopt.build("fsp-master", blobs(), m=2), "scs")


def test_the_log_is_shown_only_when_asked(capfd):
    fsopt.solve(small("rlp"), "scs")
    assert capfd.readouterr().out == ""
    fsopt.solve(small("rlp"), "scs", tee=True)
    assert "SCS" in capfd.readouterr().out


def test_every_word_of_its_own_is_mapped():
    words = {"solved", "infeasible", "unbounded", "interrupted", "failure", "indeterminate"}
    assert words <= set(STATUS_MAP)
    assert all(np.isin([s for _, s in STATUS_MAP.values()], fsopt.solvers.interface.STOP_WORDS))
