"""Both solvers on small problems with known answers: optima, shadow prices, statuses, refusals, warm re-solves."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from solver_cases import PRODUCTS, SHAPES, active_bounds, knapsacks, one_cone, shadow_prices

import fsopt
from fsopt.errors import OptionError, ParameterError, SolverError, UnknownNameError
from fsopt.solvers.base import Session

BOTH = pytest.mark.parametrize("solver", ["highs", "clarabel"])


def program(kind: str) -> tuple[pyo.ConcreteModel, float, list[float]]:
    """Return a tiny model of variables x[0..2] in [0, 9], its optimum and its solution."""
    m = pyo.ConcreteModel(name=kind)
    m.x = pyo.Var(range(3), bounds=(0, 9), domain=pyo.Integers if kind == "MILP" else pyo.Reals)
    a, b, c = m.x.values()
    if kind == "LP":
        m.c = pyo.Constraint(expr=a + b >= 2)
        m.d = pyo.Constraint(expr=a + c == 1.5)
        m.o = pyo.Objective(expr=a + 2 * b + 3 * c + 1)
        return m, 3.5, [1.5, 0.5, 0.0]
    if kind == "QP":
        m.c = pyo.Constraint(expr=a + b <= 2)
        m.o = pyo.Objective(expr=-((a - 1) ** 2) - (b - 2) ** 2 - (c - 3) ** 2, sense=pyo.maximize)
        return m, -0.5, [0.5, 1.5, 3.0]
    if kind == "SOCP":
        m.c = pyo.Constraint(expr=a**2 <= b * c)
        m.d = pyo.Constraint(expr=a >= 3)
        m.o = pyo.Objective(expr=b + 4 * c)
        return m, 12.0, [3.0, 6.0, 1.5]
    m.c = pyo.Constraint(expr=2 * a + 3 * b + c <= 5.5)
    m.d = pyo.Constraint(expr=3 * a + 4 * b + 2 * c <= 8.5)
    m.o = pyo.Objective(expr=5 * a + 4 * b + 3 * c, sense=pyo.maximize)
    return m, 13.0, [2.0, 0.0, 1.0]


KINDS = ("LP", "QP", "SOCP", "MILP")
PAIRS = [(s, k) for s in ("highs", "clarabel") for k in KINDS if k in fsopt.SOLVERS[s].classes]


@pytest.mark.parametrize(("solver", "kind"), PAIRS)
def test_each_solver_reaches_the_optimum_of_each_class_it_claims(solver, kind):
    m, optimum, at = program(kind)
    assert fsopt.classify(m) == kind
    result = fsopt.solve(m, solver)
    assert (result.status, result.stop, result.solver) == ("optimal", "optimal", solver)
    assert result.certificate.ok
    assert result.objective == pytest.approx(optimum, rel=1e-6)
    assert result.bound == pytest.approx(optimum, rel=1e-6)
    assert pyo.value(m.o) == pytest.approx(result.objective, rel=1e-9)
    assert [v.value for v in m.x.values()] == pytest.approx(at, abs=1e-4)
    assert set(result.seconds) == {"build", "translate", "solve", "load"}
    assert all(s >= 0 for s in result.seconds.values())
    assert result.seconds["translate"] > 0 < result.seconds["solve"]


@pytest.mark.parametrize("kind", ["LP", "QP", "SOCP", "MILP"])
def test_without_a_name_the_class_picks_the_solver(kind):
    m, optimum, _ = program(kind)
    result = fsopt.solve(m)
    assert result.solver == {"LP": "highs", "QP": "clarabel", "SOCP": "clarabel", "MILP": "highs"}[kind]
    assert result.objective == pytest.approx(optimum, rel=1e-6)


# -- shadow prices ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("solver", "square"), [("highs", 0.0), ("clarabel", 0.0), ("clarabel", 0.3)])
@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_shadow_prices_are_derivatives_of_the_optimal_value(solver, square, sense):
    m = active_bounds(sense, square)
    result = fsopt.solve(m, solver)
    assert result.status == "optimal"
    for name, price in shadow_prices(m).items():
        above, below = (fsopt.solve(active_bounds(sense, square, name, t), "clarabel").objective for t in (1e-3, -1e-3))
        slope = (above - below) / 2e-3
        assert abs(slope) > 0.05, "the bound does not matter: the test is empty"
        assert price == pytest.approx(slope, rel=1e-4), name
    assert result.duals(m.le) == {None: m.dual[m.le]}
    assert abs(m.rc[m.x[0]]) < 1e-6


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
@pytest.mark.parametrize("shape", [*SHAPES, *PRODUCTS])
def test_the_shadow_price_of_a_cone_is_that_of_its_quadratic_constraint(shape, sense, turned):
    m, price = one_cone(shape, sense, turned)
    result = fsopt.solve(m)
    assert m.dual[m.q] == pytest.approx(price, rel=1e-5)
    assert result.duals(m.q) == {None: m.dual[m.q]}


@BOTH
def test_reduced_costs_without_constraints_and_no_old_shadow_prices_after_integers(solver):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(1, 5))
    m.o = pyo.Objective(expr=3 * m.x)
    assert fsopt.solve(m, solver).objective == pytest.approx(3)
    assert m.rc[m.x] == pytest.approx(3)
    m.c = pyo.Constraint(expr=m.x >= 2.5)
    fsopt.solve(m, solver)
    assert m.dual[m.c] == pytest.approx(3)
    m.x.domain = pyo.Integers
    assert fsopt.solve(m).objective == pytest.approx(9)
    assert m.dual.get(m.c) is None, "a shadow price of the continuous problem is left beside the integer answer"


# -- statuses ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("solver", "kind"), PAIRS)
def test_infeasible_and_unbounded_are_told(solver, kind):
    m, _, _ = program(kind)
    m.no = pyo.Constraint(expr=m.x[0] + m.x[1] + m.x[2] <= -1)
    result = fsopt.solve(m, solver)
    assert (result.status, result.stop) == ("infeasible", "infeasible")
    assert result.objective is result.point is None
    m, _, _ = program(kind)
    m.y = pyo.Var(domain=pyo.Integers if kind == "MILP" else pyo.Reals)
    m.o.set_value(m.o.expr + m.y * (1 if m.o.sense == pyo.maximize else -1))
    result = fsopt.solve(m, solver)
    assert (result.status, result.stop, result.objective) == ("unbounded", "unbounded", None)


def test_a_time_limit_gives_the_incumbent_and_a_bound_or_nothing_but_never_optimal():
    m = knapsacks()
    result = fsopt.solve(m, time_limit=0.5)
    assert (result.status, result.stop) == ("feasible", "time-limit")
    assert result.objective == pytest.approx(pyo.value(m.o))
    relaxed = knapsacks()
    for v in relaxed.x.values():
        v.domain = pyo.UnitInterval
    assert result.objective < result.bound <= fsopt.solve(relaxed).objective + 1e-6
    assert all(pyo.value(c.body) <= c.upper + 1e-6 for c in m.c.values())
    nothing = fsopt.solve(knapsacks(equations=True), time_limit=0.3)
    assert (nothing.status, nothing.stop, nothing.objective) == ("none", "time-limit", None)


@BOTH
def test_a_time_limit_holds_for_one_solve_only_and_garbage_is_not_loaded(solver):
    rng = np.random.default_rng(0)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(60), bounds=(0, None), initialize=7.0)
    m.c = pyo.Constraint(range(60), rule=lambda m, i: sum(rng.random() * m.x[j] for j in range(60)) >= 1 + i)
    m.o = pyo.Objective(expr=sum(m.x.values()))
    session = Session(m, solver)
    first = session.solve(time_limit=1e-7)
    assert (first.status in ("none", "feasible"), first.stop) == (True, "time-limit")
    if first.status == "none":
        assert m.x[0].value == 7.0, "a point that is no answer was written into the model"
    assert session.solve().status == "optimal"


# -- refusals ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("solver", "kind", "other"), [("highs", "SOCP", "clarabel"), ("clarabel", "MILP", "highs")])
def test_a_wrong_class_is_refused_before_any_call_with_the_alternative(monkeypatch, solver, kind, other):
    monkeypatch.setattr(Session, "_open", lambda self: pytest.fail("the solver was opened"))
    with pytest.raises(SolverError, match=rf"{solver}.*{kind}.*installed for {kind}: {other}"):
        fsopt.solve(program(kind)[0], solver)
    m, _, _ = program("MILP")
    m.o.set_value(m.o.expr - m.x[0] ** 2)
    with pytest.raises(SolverError, match="MIQP"):
        fsopt.solve(m, "highs")


def test_highs_refuses_quadratic_programs_with_the_reason_in_one_line():
    told = (
        r"highs.*QP \(it solves LP, MILP; its QP solver fails on everyday support vector machines\).*for QP: clarabel"
    )
    with pytest.raises(SolverError, match=told) as caught:
        fsopt.solve(program("QP")[0], "highs")
    assert "\n" not in str(caught.value)


@BOTH
@pytest.mark.parametrize(
    "bad",
    [
        {"nope": 1},
        {"tolerance": "a"},
        {"tolerance": -1},
        {"tolerance": float("nan")},
        {"seed": True},
        {"threads": 1.5},
        {"mip_gap": None},
        {"_private": 1},
    ],
    ids=str,
)
def test_bad_options_are_named(solver, bad):
    with pytest.raises(OptionError, match=next(iter(bad))):
        fsopt.solve(program("LP")[0], solver, options=bad)


@pytest.mark.parametrize(
    ("solver", "bad"),
    [
        ("highs", {"presolve": "bad"}),
        ("highs", {"presolve": [1]}),
        ("highs", {"simplex_strategy": 99}),
        ("clarabel", {"max_iter": "a"}),
        ("clarabel", {"max_iter": -5}),
        ("clarabel", {"default": 1}),
        ("clarabel", {"direct_solve_method": "bad"}),
    ],
    ids=str,
)
def test_bad_values_of_own_options_are_named(solver, bad):
    with pytest.raises(OptionError, match=next(iter(bad))):
        fsopt.solve(program("LP")[0], solver, options=bad)


def test_good_options_reach_the_solver():
    m, _, _ = program("SOCP")
    result = fsopt.solve(m, options={"max_iter": 2})
    assert (result.stop, result.iterations) == ("iteration-limit", 2)
    assert result.status in ("none", "feasible")
    assert fsopt.solve(knapsacks(), options={"mip_gap": 0.5}).stop == "optimal"


@pytest.mark.parametrize("limit", [0, -1.0, float("nan"), "5"])
def test_a_time_limit_that_is_no_positive_number_is_refused(limit):
    with pytest.raises(ParameterError, match="time limit"):
        fsopt.solve(program("LP")[0], time_limit=limit)


def test_unknown_names_and_objectives_that_are_none_or_two():
    m, _, _ = program("LP")
    with pytest.raises(UnknownNameError, match=r"hihgs.*highs"):
        fsopt.solve(m, "hihgs")
    m.second = pyo.Objective(expr=m.x[0])
    with pytest.raises(ParameterError, match="o, second"):
        fsopt.solve(m)
    m.o.deactivate()
    m.second.deactivate()
    result = fsopt.solve(m)
    assert (result.status, result.objective) == ("optimal", 0.0)
    assert m.x[0].value + m.x[1].value >= 2 - 1e-9
    m.x[0].fix(1.25)
    m.o.activate()
    assert fsopt.solve(m).objective == pytest.approx(1 + 1.25 + 1.5 + 0.75)
    assert m.x[0].fixed
    assert m.x[0].value == 1.25
