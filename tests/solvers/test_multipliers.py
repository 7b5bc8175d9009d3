"""Shadow prices and reduced costs of every solver, in Pyomo's signs, against closed forms.

Infeasible and unbounded programs: every solver tells them apart, and none is called so that has an optimum.
"""

from itertools import product

import pyomo.environ as pyo
import pytest
from pyomo_models import FREE, model_of
from solver_cases import PRICES, PRODUCTS, SHAPES, active_bounds, one_cone, shadow_prices, takers
from support import there

import fsopt
from fsopt.certificates.bounds import crossed
from fsopt.compiler import compile_model
from fsopt.solvers.base import Session
from fsopt.solvers.registry import SOLVERS

SENSES = (pyo.minimize, pyo.maximize)
WITH = [name for name in {**dict.fromkeys(takers("LP")), **dict.fromkeys(takers("QP"))} if SOLVERS[name].duals]
PYOMO = ["pyomo:appsi_highs", "pyomo:highs"]
CONIC = [name for name in takers("SOCP") if SOLVERS[name].duals]


@pytest.mark.parametrize("solver", [*WITH, *PYOMO])
def test_every_kind_of_bound_has_its_price_in_both_senses(solver):
    classes = SOLVERS[there(solver)].classes if solver in SOLVERS else {"LP"}
    squares = [square for kind, square in (("LP", 0.0), ("QP", 0.3)) if kind in classes]
    for sense, square in product(SENSES, squares):
        m = active_bounds(sense, square)
        result = fsopt.solve(m, solver)
        assert (result.status, result.solver) == ("optimal", solver)
        assert shadow_prices(m) == pytest.approx({k: sense * v for k, v in PRICES.items()}, abs=1e-6), (sense, square)
        assert abs(m.rc[m.x[0]]) < 1e-6
        assert result.duals(m.le) == {None: m.dual[m.le]}


@pytest.mark.parametrize("solver", CONIC)
def test_the_shadow_price_of_a_cone_is_that_of_its_quadratic_constraint(solver):
    cases = list(product(SHAPES, (pyo.minimize,), (False,)))
    if solver == "clarabel":  # senses are no matter of the solver
        cases += [*product(PRODUCTS, SENSES, (False, True)), ("ball", -1, False), ("lorentz", 1, True)]
    for case in cases:
        m, price = one_cone(*case)
        result = fsopt.solve(m, solver)
        assert result.status == "optimal"
        assert m.dual[m.q] == pytest.approx(price, rel=1e-5), case
        assert result.duals(m.q) == {None: m.dual[m.q]}


@pytest.mark.parametrize("solver", CONIC)
def test_cone_multipliers_lie_in_the_cone_and_are_stationary_at_an_apex(solver):
    m = pyo.ConcreteModel()
    m.x, m.t = pyo.Var(range(2)), pyo.Var(bounds=(0, None))
    m.q = pyo.Constraint(expr=m.x[0] ** 2 + m.x[1] ** 2 <= m.t**2)
    m.o = pyo.Objective(expr=2 * m.t + m.x[0] + 0.5 * m.x[1])
    result = fsopt.solve(m, solver)
    assert (result.status, result.certificate.ok) == ("optimal", True)
    assert result.objective == pytest.approx(0.0, abs=1e-6)
    assert sorted(result.point.z[1:]) == pytest.approx([0.5, 1.0], abs=1e-5)


@pytest.mark.parametrize("solver", ["highs", "clarabel"])
def test_reduced_costs_without_constraints_and_no_old_shadow_prices_after_integers(solver):
    m = model_of(lambda x: 3 * x, bounds=[(1, 5)])
    assert fsopt.solve(m, solver).objective == pytest.approx(3)
    assert m.rc[m.x[0]] == pytest.approx(3)
    m.c = pyo.Constraint(expr=m.x[0] >= 2.5)
    fsopt.solve(m, solver)
    assert m.dual[m.c] == pytest.approx(3)
    m.x[0].domain = pyo.Integers
    assert fsopt.solve(m).objective == pytest.approx(9)
    assert m.dual.get(m.c) is None, "a shadow price of the continuous problem is left beside the integer answer"


@pytest.mark.parametrize("solver", [name for name in takers("LP") if not SOLVERS[name].duals])
def test_a_solver_without_multipliers_leaves_none(solver):
    m = active_bounds(pyo.minimize, 0.0)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    m.dual[m.le] = 99.0
    assert fsopt.solve(m, solver).status == "optimal"
    assert m.le not in m.dual


CLASSES = ("LP", "QP", "SOCP", "MILP", "MIQP", "MISOCP")
ALL = sorted({name for kind in CLASSES for name in takers(kind)})


@pytest.mark.parametrize("solver", [name for name in takers("NLP") if SOLVERS[name].proves == "global"])
@pytest.mark.parametrize("whole", [(), (0,)])
def test_of_what_is_not_convex_no_proof_is_claimed(solver, whole):
    m = model_of(lambda x, y: -(x**2) - x, lambda x, y: x + y >= 1, bounds=[FREE, (0, 4)], whole=whole)
    assert fsopt.solve(m, solver, time_limit=10).status == "none"
    m.d = pyo.Constraint(expr=sum(m.x.values()) <= 0.5)
    result = fsopt.solve(m, solver, time_limit=10)
    assert (result.status, result.stop) == ("none", "infeasible")
    m.o.set_value(-(m.x[0] ** 2) + m.x[1] ** 2)
    m.d.deactivate()
    m.row.deactivate()
    assert Session(m, solver).connection.solve(5.0).status in ("unbounded", "none")


@pytest.mark.parametrize("solver", sorted({*takers("LP"), *takers("QP")}))
def test_a_constraint_without_entries_makes_the_program_infeasible(solver):
    goal = (lambda x: x) if "LP" in SOLVERS[solver].classes else (lambda x: (x - 1) ** 2)
    result = fsopt.solve(model_of(goal, lambda x: 0 * x <= -1.0, bounds=[(0, 5)]), solver)
    assert (result.status, result.stop, result.point, result.certificate.ok) == ("infeasible", "infeasible", None, True)


def bounded(kind):
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, 2)), pyo.Var(bounds=(0, 5))
    m.low = pyo.Param(initialize=4 if kind == "constraint" else 1, mutable=True)
    m.row = pyo.Constraint(expr=(m.low, m.x + m.y, 3))
    m.o = pyo.Objective(expr=m.x + m.y)
    if kind in ("variable", "integer"):
        m.x.setlb(3)
    if kind == "whole":
        m.x.setlb(1.2)
        m.x.setub(1.8)
    if kind in ("integer", "whole"):
        m.x.domain = pyo.Integers
    return m


CROSSED = {
    "variable": "the variable 'x' has the lower bound 3.0 above its upper bound 2.0",
    "integer": "the variable 'x' has the lower bound 3.0 above its upper bound 2.0",
    "constraint": "the constraint 'row' has the lower bound 4.0 above its upper bound 3.0",
    "whole": "the integer 'x' has no whole number between its bounds 1.2 and 1.8",
}


@pytest.mark.parametrize("solver", ALL)
def test_crossed_bounds_are_infeasible_by_two_numbers(solver):
    for kind, sentence in CROSSED.items():
        m = bounded(kind)
        if fsopt.classify(m) in SOLVERS[solver].classes:
            outcome = Session(m, solver).connection.solve(10.0)
            assert (outcome.status, outcome.stop, outcome.message) == ("infeasible", "infeasible", sentence)
    assert crossed(compile_model(bounded("none"))) == ""


def test_a_session_goes_on_when_its_bounds_cross_and_part_again():
    m = bounded("none")
    session = Session(m, "highs")
    assert session.solve().objective == pytest.approx(1.0)
    m.x.setlb(3)
    session.update(m.x)
    assert session.solve().stop == "infeasible"
    m.x.setub(4)
    session.update(m.x)
    assert session.solve().objective == pytest.approx(3.0)
