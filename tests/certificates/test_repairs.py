"""The cost of violations in programs that are not convex: by hand, and false optima in mixed units."""

import numpy as np
import pyomo.environ as pyo
import pytest

import fsopt
from fsopt.answers.results import Point
from fsopt.certificates.model import Claim, certify_point
from fsopt.certificates.repairs import minimised, repair_cost, repaired
from fsopt.compiler import compile_model


@pytest.mark.parametrize(("kind", "price"), [(pyo.NonNegativeReals, 10.0), (pyo.NonNegativeIntegers, 0.1)])
def test_a_violation_is_repaired_by_the_cheapest_continuous_variable(kind, price):
    m = pyo.ConcreteModel()
    m.x, m.k = pyo.Var(domain=pyo.NonNegativeReals), pyo.Var(domain=kind)
    m.demand = pyo.Constraint(expr=m.x + m.k >= 1)
    m.objective = pyo.Objective(expr=m.x + price * m.k)
    program = compile_model(m)
    assert repaired(program, np.array([0.5, 0.0])) == pytest.approx([1.0, 0.0])
    assert repaired(program, np.array([1.0, 0.0])) == pytest.approx([1.0, 0.0])


def test_the_cost_goes_through_products_and_other_constraints():
    """In u = w s, s <= 2, u + v >= 6 the error 1e-3 of the product is paid by v, or by w at the price 2."""
    m = pyo.ConcreteModel()
    m.w, m.u, m.v = pyo.Var(bounds=(0, 9)), pyo.Var(), pyo.Var(bounds=(0, None))
    m.s = pyo.Var(bounds=(0, 2))
    m.product = pyo.Constraint(expr=m.u == m.w * m.s)
    m.demand = pyo.Constraint(expr=m.u + m.v >= 6)
    m.objective = pyo.Objective(expr=4 * m.w + 3 * m.v)
    program = compile_model(m)
    at = np.zeros(4)
    for variable, value in ((m.w, 3.0), (m.s, 2.0), (m.u, 6.0), (m.v, 0.0)):
        at[program.column[id(variable)]] = value
    assert repair_cost(program, at) == 0.0
    at[program.column[id(m.w)]] -= 1e-3
    assert repair_cost(program, at) == pytest.approx(4e-3, rel=1e-6)


def test_the_repair_of_a_point_at_the_apex_of_a_cone_does_not_leave_the_cone():
    """To first order a may grow at the apex of |(a, b)| <= t for nothing, and the value falls: the cone is left."""
    m = pyo.ConcreteModel()
    m.x, m.t = pyo.Var(bounds=(0, 9)), pyo.Var(bounds=(0, 9))
    m.a, m.b = pyo.Var(bounds=(-9, 9)), pyo.Var(bounds=(-9, 9))
    m.cone = pyo.Constraint(expr=m.a**2 + m.b**2 <= m.t**2)
    m.row = pyo.Constraint(expr=m.x >= 1 + m.b)
    m.cost = pyo.Objective(expr=m.x + 2 * m.t - m.a)
    program = compile_model(m)
    at = np.zeros(4)
    at[program.column[id(m.x)]] = 1.0 - 1e-9
    assert len(program.cones) == 1
    assert repair_cost(program, at) == pytest.approx(1e-9, rel=1e-3)


def test_no_repair_is_an_infinite_cost():
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, 1)), pyo.Var(bounds=(0, 1))
    m.product = pyo.Constraint(expr=m.x * m.y >= 2)
    m.objective = pyo.Objective(expr=m.x)
    program = compile_model(m)
    assert repaired(program, np.ones(2)) is None
    assert repair_cost(program, np.ones(2)) == np.inf


@pytest.mark.parametrize("violated", ["slacks", "quotient"])
def test_a_violation_that_a_distant_bound_hides_is_no_optimum(violated):
    """The bound of the margin, 1e7, is the unit of the slacks: -0.015 was a violation of 9e-10, a margin being 21."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(16, 3)), np.where(rng.random(16) < 0.5, 1.0, -1.0)
    data = fsopt.Dataset((X + 0.7 * y[:, None]) * np.geomspace(1e-4, 3e6, 3), y)
    twin = fsopt.build("svm-norm", data)
    truth = fsopt.solve(twin, solver="clarabel")
    w = np.array([v.value for v in twin.w.values()])
    model = fsopt.build("svm-margin", data)
    program = compile_model(model)
    size, b = float(np.linalg.norm(w)), twin.b.value
    x = np.zeros(program.n)
    x[[program.column[id(v)] for v in model.w.values()]] = w / size
    slacks = [program.column[id(v)] for v in model.xi.values()]
    x[slacks] = np.maximum(1.0 - data.y * (data.X @ w + b), 0.0) / size
    x[program.column[id(model.b)]], x[program.column[id(model.gamma)]] = b / size, 1.0 / size
    if violated == "slacks":
        x[slacks] -= 0.015
    ratio = (x[slacks].sum() + 0.5) * size
    x[program.column[id(model.ratio)]] = ratio - (0.0 if violated == "slacks" else 7e-4)
    value = minimised(program, x)
    assert value < truth.objective - 5e-4
    found = certify_point(program, Point(x), Claim(value, "a solver with tolerances"))
    assert not found.ok
    assert value + found.residuals["cost"] * value == pytest.approx(truth.objective, rel=1e-7)


def test_a_point_at_which_the_objective_has_no_slope_is_not_repaired():
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, 4)), pyo.Var(bounds=(0, 4))
    m.row = pyo.Constraint(expr=m.x + m.y >= 1)
    m.cost = pyo.Objective(expr=pyo.sqrt(m.x) + m.y)
    program = compile_model(m)
    assert repair_cost(program, np.array([0.0, 0.5])) == np.inf
    assert repair_cost(program, np.array([0.25, 0.5])) == pytest.approx(0.25, abs=0.1)


@pytest.mark.parametrize("data", range(3))
def test_complementarity_as_products_is_repaired(data):
    """Both factors of x y <= 0 are positive, and the repair makes one of them 0."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(range(8), bounds=(0, None)), pyo.Var(range(8), bounds=(0, None))
    big = 10.0 ** (data + 3)
    m.pair = pyo.Constraint(range(8), rule=lambda m, i: m.x[i] * m.y[i] <= 0)
    m.row = pyo.Constraint(expr=sum(m.x.values()) >= big)
    m.cost = pyo.Objective(expr=sum(m.y.values()))
    program = compile_model(m)
    x = np.concatenate([np.full(8, big / 8), np.full(8, 1e-9)])
    point = repaired(program, x)
    assert point is not None
    assert minimised(program, point) == pytest.approx(0.0, abs=1e-12)
    assert (point[:8] * point[8:]).max() <= 1e-12
