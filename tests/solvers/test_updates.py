"""Updates in place: a session that follows a changed model gives the answers and the arrays of a fresh one."""

from functools import partial
from itertools import product

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo_models import model_of
from solver_cases import PRICES, PRODUCTS, SHAPES, active_bounds, one_cone, shadow_prices, takers
from support import blobs, sampled, there

import fsopt
from fsopt.compiler import compile_model
from fsopt.solvers.base import Session
from fsopt.solvers.registry import SOLVERS

BOTH = pytest.mark.parametrize("solver", ["highs", "clarabel"])


def changeable(solver="clarabel"):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(0, 4))
    m.k = pyo.Param(range(3), initialize=1.0, mutable=True)
    m.c = pyo.Param(range(3), initialize={0: 1.0, 1: 2.0, 2: 0.5}, mutable=True)
    m.q, m.rhs = pyo.Param(initialize=1.0, mutable=True), pyo.Param(initialize=2.0, mutable=True)
    m.row = pyo.Constraint(expr=m.k[0] * m.x[0] + m.k[1] * m.x[1] >= m.rhs)
    m.two = pyo.Constraint(expr=(-1, m.x[0] - m.x[1] + m.x[2], 2))
    linear = sum(m.c[j] * m.x[j] for j in range(3))
    m.o = pyo.Objective(expr=linear if solver == "highs" else linear + m.q * (m.x[0] - 1) ** 2 + m.x[1] ** 2)
    return m


PATTERN = "other components or terms"
HESSIAN = "quadratic"
KIND = "appeared or vanished"
REFUSED = "a QP"
CHANGES = {  # name: (change, what is updated, why HiGHS translates anew, why Clarabel does)
    "cost": (lambda m: m.c[0].set_value(-2.0), "o", "", ""),
    "coefficient": (lambda m: m.k[1].set_value(3.0), "row", "", ""),
    "zero coefficient": (lambda m: m.k[1].set_value(0.0), "row", "", ""),
    "right-hand side": (lambda m: m.rhs.set_value(4.0), "row", "", ""),
    "bound": (lambda m: m.x[0].setub(1.5), "x", "", ""),
    "fixed": (lambda m: m.x[1].fix(1.25), "x", "", KIND),
    "bound gone": (lambda m: m.two.set_value(m.x[0] - m.x[1] + m.x[2] >= -1), "two", "", KIND),
    "other variables": (lambda m: m.row.set_value(m.x[0] + m.x[2] >= 3), "row", PATTERN, PATTERN),
    "square": (lambda m: m.q.set_value(4.0), "o", "", ""),
    "square vanishes": (lambda m: m.q.set_value(0.0), "o", "", None),
    "new product": (lambda m: m.o.set_value(m.o.expr + (m.x[1] - m.x[2]) ** 2), "o", REFUSED, HESSIAN),
    "no squares left": (lambda m: m.o.set_value(m.x[0] + 2 * m.x[1]), "o", "", None),
    "constraint deactivated": (lambda m: m.row.deactivate(), "row", None, None),
    "nothing": (lambda m: None, "", "", ""),
}
IN_PLACE = ("cost", "coefficient", "zero coefficient", "right-hand side", "bound", "square", "nothing")


@pytest.mark.parametrize(
    ("change", "told", "solver"), sampled(product(CHANGES, ["named", "unsaid"], ["highs", "clarabel"]), 30, 0)
)
def test_an_update_in_place_is_a_fresh_translation(change, told, solver):
    """Of the component that is named, or of what the session finds changed by itself."""
    act, component, *reasons = CHANGES[change]
    reason = reasons[solver == "clarabel"]
    m = changeable(solver)
    session = Session(m, solver)
    session.solve()
    act(m)
    components = [m.component(component)] if component else []
    follow = partial(session.update, *components) if told == "named" else session.solve
    if reason == REFUSED:
        with pytest.raises(fsopt.FsoptError, match=REFUSED):
            follow()
        return
    follow()
    p, fresh = session.program, compile_model(m)
    if change != "constraint deactivated":
        np.testing.assert_allclose(p.A.toarray(), fresh.A.toarray())
        np.testing.assert_allclose(p.P.toarray(), fresh.P.toarray())
        for name in ("c", "c0", "lo", "hi", "lb", "ub"):
            np.testing.assert_array_equal(getattr(p, name), getattr(fresh, name), err_msg=name)
    if reason is not None and (told == "named" or change in IN_PLACE):
        assert (reason in session.rebuilt) if reason else session.rebuilt == ""
    again = session.solve()
    assert again.objective == pytest.approx(fsopt.solve(m, "clarabel").objective, rel=1e-6, abs=1e-6)
    assert fsopt.certify(m, again).residuals["infeasibility"] <= 1e-9


@BOTH
def test_added_and_removed_constraints_and_a_turned_sense_reach_the_solver(solver):
    m = changeable()
    m.o.set_value(m.x[0] + 2 * m.x[1])
    m.cuts = pyo.ConstraintList()
    session = Session(m, solver)
    assert session.solve().objective == pytest.approx(2.0, abs=1e-6)
    session.add(m.cuts.add(m.x[0] - 2 * m.x[1] <= 0), m.cuts.add(m.x[0] + m.x[1] >= 3))
    assert session.solve().objective == pytest.approx(4.0, abs=1e-6)
    assert ("constraints were added" in session.rebuilt) == (solver == "clarabel")
    m.more = pyo.Constraint(expr=m.x[0] >= 3)
    assert session.solve().objective == pytest.approx(6.0, abs=1e-6)
    m.del_component("more")
    session.update()
    assert (bool(session.rebuilt), session.solve().objective) == (True, pytest.approx(4.0, abs=1e-6))
    m.o.sense = pyo.maximize
    session.update(m.o)
    assert session.solve().objective == pytest.approx(fsopt.solve(m).objective, abs=1e-6)


@BOTH
@pytest.mark.parametrize("change", ["objective", "row", "indefinite", "cone bound", "integers"])
def test_an_update_that_leaves_the_class_of_the_solver_is_refused(change, solver):
    solver = "clarabel" if change in ("cone bound", "integers") else solver
    m = changeable(solver)
    if change == "cone bound":
        m.cone = pyo.Constraint(expr=m.x[1] ** 2 <= m.x[0] ** 2)
    session = Session(m, solver)
    act, what = {
        "objective": (lambda: m.o.set_value(pyo.exp(m.x[0])), m.o),
        "indefinite": (lambda: m.o.set_value(m.o.expr - 9 * m.x[0] ** 2), m.o),
        "row": (lambda: m.row.set_value(m.x[0] + m.x[1] - m.x[0] ** 2 + m.x[2] ** 2 >= 1), m.row),
        "integers": (lambda: setattr(m.x[0], "domain", pyo.Binary), m.x),
        "cone bound": (lambda: m.x[0].setlb(-4), m.x),
    }[change]
    act()
    with pytest.raises(fsopt.FsoptError):
        session.update(what)


def test_what_an_update_does_not_name_is_read_before_the_next_solve():
    """The parameter is in the objective and in a row; the row is named, then both, before and after the last change."""
    m = changeable("highs")
    m.o.set_value(m.o.expr + m.rhs * m.x[0])
    m.fixed = pyo.Expression(expr=m.x[2])
    m.o.set_value(m.o.expr + m.fixed)
    session = Session(m, "highs")
    steps = (
        (lambda: m.rhs.set_value(-3.0), (m.row,)),
        (lambda: m.rhs.set_value(3.0), (m.row, m.o)),
        (lambda: (session.update(m.o), m.rhs.set_value(2.5)), (m.row,)),
        (lambda: m.fixed.set_value(-m.x[2]), (m.o, m.row)),
        (lambda: m.x[2].setub(m.rhs), (m.x,)),
        (lambda: m.rhs.set_value(1.5), (m.row, m.o)),
    )
    for act, named in steps:
        act()
        session.update(*named)
        assert session.solve().objective == pytest.approx(fsopt.solve(m.clone(), "highs").objective, rel=1e-9)


def test_a_solver_that_contradicts_its_own_point_after_an_update_starts_anew():
    """HiGHS reports 1.0 where the point has the value 4.5: the bounds of a variable were changed in it."""
    m = pyo.ConcreteModel()
    m.x, m.z = pyo.Var(range(4), bounds=(0, 6)), pyo.Var(domain=pyo.Binary)
    m.c = pyo.Constraint(expr=2 * m.x[0] + 3 * m.x[1] + m.x[2] + 4 * m.x[3] >= 7)
    m.d = pyo.Constraint(expr=m.x[0] + m.z <= 5)
    m.o = pyo.Objective(expr=m.x[0] + 2 * m.x[1] + 3 * m.x[2] + 4 * m.x[3] - m.z + 2)
    session = Session(m, "highs")
    for change in (lambda: m.x[3].fix(3), m.x[3].unfix):
        change()
        session.update(m.x)
        result = session.solve()
    assert (result.status, result.objective, result.bound) == ("optimal", pytest.approx(4.5), pytest.approx(4.5))


def test_scs_starts_from_its_last_point():
    m = fsopt.build("gmeb-primal", blobs(40, 4), r_plus=0.4, r_minus=0.3)
    session = Session(m, there("scs"))
    cold = session.solve()
    assert session.solve().iterations < cold.iterations / 2, "the second solve did not start from the first"
    m.moment_plus.set_value(2 * m.moment_plus.body <= 0.05)
    session.update(m.moment_plus)
    assert session.solve().objective == pytest.approx(fsopt.solve(m, "clarabel").objective, rel=1e-6)
    assert session.rebuilt == ""


SENSES = (pyo.minimize, pyo.maximize)
WITH = [name for name in {**dict.fromkeys(takers("LP")), **dict.fromkeys(takers("QP"))} if SOLVERS[name].duals]
PYOMO = ["pyomo:appsi_highs", "pyomo:highs"]
CONIC = [name for name in takers("SOCP") if SOLVERS[name].duals]


@pytest.mark.parametrize("solver", sampled([*WITH, *PYOMO], 8, 0))
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


def bounded(x=(0, 2), low=1, whole=()):
    least = pyo.Param(initialize=low, mutable=True)  # Pyomo takes no numbers that cross
    least.construct()
    return model_of(lambda x, y: x + y, lambda x, y: (least, x + y, 3), bounds=[x, (0, 5)], whole=whole)


CROSSED = {
    "the variable 'x[0]' has the lower bound 3.0 above its upper bound 2.0": {"x": (3, 2)},
    "the constraint 'row[0]' has the lower bound 4.0 above its upper bound 3.0": {"low": 4},
    "the integer 'x[0]' has no whole number between its bounds 1.2 and 1.8": {"x": (1.2, 1.8), "whole": [0]},
}


@pytest.mark.parametrize("message", CROSSED)
def test_crossed_bounds_are_infeasible_by_two_numbers(message):
    outcome = Session(bounded(**CROSSED[message]), "highs").connection.solve(10.0)
    assert (outcome.status, outcome.stop, outcome.message) == ("infeasible", "infeasible", message)


def test_a_session_goes_on_when_its_bounds_cross_and_part_again():
    m = bounded()
    session = Session(m, "highs")
    assert session.solve().objective == pytest.approx(1.0)
    m.x[0].setlb(3)
    session.update(m.x)
    assert session.solve().stop == "infeasible"
    m.x[0].setub(4)
    session.update(m.x)
    assert session.solve().objective == pytest.approx(3.0)
