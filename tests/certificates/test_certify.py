"""Certificates: they hold for answers and fail for every changed number."""

import copy
import dataclasses
import pickle

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyomo_models import FREE, model_of
from support import blobs

import fsopt
from fsopt.answers.results import Point, Status
from fsopt.certificates.bounds import lower_bound
from fsopt.certificates.model import StatedBound, certify_point, on_artificial_bound, point_of_prices
from fsopt.certificates.nonconvex import certify_nonconvex, reduced_costs
from fsopt.compiler import compile_model, dot
from fsopt.errors import ParameterError
from fsopt.solvers.outcome import certified_result
from fsopt.solvers.spec import Outcome

MODELS = {
    "onsvm": {"c": 0.7},
    "svm": {"c": 0.7},
    "gmeb-primal": {"r_plus": 0.4, "r_minus": 0.3},
    "l1-mpm": {"delta": 0.2},
}
ALTERNATIVES = {"gmeb-primal": "z", "l1-mpm": "x"}
"""Parts of the point that an optimum leaves free: multipliers of idle features, slack in the deviations."""


def knapsack(sense=pyo.maximize):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(6), domain=pyo.Binary)
    m.y = pyo.Var(bounds=(0, 3))
    m.c = pyo.Constraint(expr=sum((3 + 2 * j) * m.x[j] for j in range(6)) + m.y <= 20.3)
    goal = sum((4 + 2.1 * j) * m.x[j] for j in range(6)) + 0.3 * m.y
    m.o = pyo.Objective(expr=goal if sense == pyo.maximize else -goal, sense=sense)
    return m


@pytest.mark.parametrize("name", [*MODELS, "knapsack"])
def test_certify_repeats_the_certificate_and_refuses_what_is_moved(name):
    m = knapsack() if name == "knapsack" else fsopt.build(name, blobs(8, 2, seed=2, gap=0.4), **MODELS[name])
    result = fsopt.solve(m)
    again = fsopt.certify(m, result)
    assert (result.status, again.ok, again.kind) == ("optimal", True, result.certificate.kind)
    assert dict(again.residuals) == pytest.approx(dict(result.certificate.residuals), abs=1e-9)
    assert (again.objective, again.bound) == pytest.approx((result.objective, result.bound))
    held, sign = result.point, compile_model(m).sign
    for part in {"x", "y", "z"} - {ALTERNATIVES.get(name)}:
        values = getattr(held, part)
        for j in range(0 if values is None else len(values)):
            for by in (0.03, -0.03):
                wrong = dataclasses.replace(held, **{part: values + by * (np.arange(len(values)) == j)})
                found = fsopt.certify(m, dataclasses.replace(result, point=wrong))
                assert part != "x" or not found.ok, (part, j, by)
                # Multipliers of a wrong sign, or outside their cone, are put right: what they prove stays a bound.
                assert found.bound is None or sign * found.bound <= sign * result.objective + 1e-6, (part, j, by)


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_a_bound_that_is_handed_up_wrong_is_refused(sense):
    result = fsopt.solve(m := knapsack(sense))
    assert (result.certificate.kind, result.certificate.bound_source) == ("mixed-integer", "the word of highs")
    for by in (0.01, -0.01):
        wrong = fsopt.certify(m, dataclasses.replace(result, bound=result.bound + by))
        assert not wrong.ok
        assert wrong.residuals["gap"] == pytest.approx(0.01 / abs(result.objective), rel=1e-2)
    assert fsopt.certify(m, dataclasses.replace(result, bound=None)).kind == "feasible"
    split = certify_point(compile_model(m), Point(np.full(7, 0.25)), StatedBound(bound=-1.0))
    assert (split.residuals["integrality"], split.ok) == (0.25, False)


def boxed(rng, kind):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(4), bounds=(-2, 3))
    m.t = pyo.Var(bounds=(0, 4))
    x, A = tuple(m.x.values()), rng.standard_normal((3, 4))
    m.rows = pyo.Constraint(range(3), rule=lambda m, i: (-2, dot(A[i], x), 1.5))
    goal = dot(rng.standard_normal(4), x) + 0.4 * m.t
    if kind == "SOCP":
        m.cone = pyo.Constraint(expr=sum(v**2 for v in x) <= 1.5 * m.t**2)
        m.ball = pyo.Constraint(expr=(x[0] - 1) ** 2 + x[1] ** 2 - x[2] <= 2)
    elif kind == "QP":
        goal = goal + (x[0] - 2 * x[1] + m.t) ** 2 + 0.5 * (x[2] + x[3]) ** 2
    m.o = pyo.Objective(expr=goal)
    return m


@pytest.mark.parametrize("kind", ["LP", "QP", "SOCP"])
@settings(max_examples=5, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_any_multipliers_bound_the_objective_at_any_feasible_point(kind, seed):
    rng = np.random.default_rng(seed)
    m = boxed(rng, kind)
    program = compile_model(m)
    bounds = []
    for size in (0.0, 0.1, 1.0):
        z = rng.standard_normal(len(program.cones.h)) * size
        bounds.append(lower_bound(program, Point(rng.standard_normal(5), rng.standard_normal(3) * size, z)).value)
    result = fsopt.solve(m)
    bounds.append(result.bound)
    feasible = 0
    for _ in range(100):
        m.x.set_values(dict(enumerate(rng.uniform(-1.5, 1.5, 4))))
        m.t.set_value(rng.uniform(0, 4))
        if all(c.slack() >= 0 for c in m.component_data_objects(pyo.Constraint)):
            feasible += 1
            assert max(bounds) <= pyo.value(m.o) + 1e-7
    assert feasible
    assert max(bounds) <= result.objective + 1e-6 * max(1, abs(result.objective))


def test_a_multiplier_below_zero_is_compared_with_the_upper_bound():
    program = compile_model(model_of(lambda x: -0.125 * x**2, bounds=[(0, 2)]))
    # The reduced cost -x/4 times the distance 2 - x of the upper bound.
    for x, product in ((2.0, 0.0), (1.5, 0.1875)):
        found = certify_nonconvex(program, Point(np.array([x]), np.zeros(0), np.zeros(0)), bound=None, source="")
        assert found.residuals["complementarity"] == pytest.approx(product, abs=1e-12)


def test_reduced_costs_are_those_of_the_lagrangian():
    rows = (lambda x, y: x + 2 * y >= 1), (lambda x, y: x * y <= 9)
    m = model_of(lambda x, y: 3 * x - 0.5 * y**2, *rows, bounds=[(-5, 5)] * 2)
    # c - A'y - y_g grad(x_0 x_1) at (2, 3) with y = 0.5 and y_g = 0.25
    found = reduced_costs(compile_model(m), Point(np.array([2.0, 3.0]), np.array([0.5, 0.25]), np.zeros(0)))
    assert found == pytest.approx([3.0 - 0.5 - 0.25 * 3.0, -3.0 - 2 * 0.5 - 0.25 * 2.0], abs=1e-12)


@pytest.mark.parametrize(
    ("objective", "lacking", "enough"),
    [
        (lambda x, y: x * y, (None, None), (-1, 1)),
        (lambda x, y: -(x**2) + y, (-1, None), (-1, 1)),
        (lambda x, y: -pyo.exp(x) + y**2, (-1, None), (None, 1)),
        (lambda x, y: pyo.sin(x * y), (-1, None), (-1, 1)),
    ],
)
def test_a_bound_counts_where_what_is_not_convex_has_ranges(objective, lacking, enough):
    for ends, kind in ((lacking, "feasible"), (enough, "global")):
        m = model_of(objective, bounds=[ends] * 2)
        value = pyo.value(objective(1.0, -1.0))
        found = certify_nonconvex(compile_model(m), Point(np.array([1.0, -1.0])), bound=value, source="a solver")
        assert (found.kind, found.bound is None) == (kind, kind == "feasible")
        assert any("has no range" in note for note in found.notes) == (kind == "feasible")


@pytest.mark.parametrize(("width", "kind"), [(1e3, "feasible"), (1e-3, "global")])
@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_a_bound_that_a_step_to_a_corner_refutes_is_none(width, kind, sense):
    """(x - y)^2 - 2^-20 xy is -2^-20 width^2 at both ends of the diagonal: no sum of squares."""
    sign = 1.0 if sense == pyo.minimize else -1.0
    goal = lambda x, y: sign * (x**2 - 2 * x * y + y**2 - 2.0**-20 * x * y)  # noqa: E731
    program = compile_model(model_of(goal, bounds=[(-width, width)] * 2, sense=sense))
    outcome = Outcome(Status.OPTIMAL, "optimal", Point(np.zeros(2)), 0.0, 1, 0.0, "")
    result = certified_result(program, outcome, "somebody")
    assert (result.certificate.kind, result.bound is None) == (kind, kind == "feasible")
    assert result.status_line == ("feasible" if kind == "feasible" else "optimal (bound: somebody)")


def test_a_point_on_an_artificial_bound_is_named():
    m = model_of(lambda x, y: -x, bounds=[(0, 1e6)] * 2)
    m.artificial_bound = pyo.Suffix()
    m.artificial_bound[m.x[0]] = "no minimiser"
    program = compile_model(m)
    for value, said in ((1e6, "no minimiser"), (5e5, "")):
        assert on_artificial_bound(program, np.where(program.c != 0.0, value, 1e6)) == said


def test_first_order_conditions_leave_out_multipliers_of_sides_that_are_not_there():
    """exp(x) - x^3 / 3 on [1, 5] by rows: at x = 1 the slope e - 1 is the multiplier of the first."""
    m = model_of(lambda x: pyo.exp(x) - x**3 / 3, lambda x: x >= 1, lambda x: x <= 5, bounds=[FREE])
    program, x = compile_model(m), np.array([1.0])
    for first, second, holds in ((np.e - 1, 0, True), (np.e - 1, 3, True), (0, 3, False), (0, np.e - 1, False)):
        pair = Point(x, np.array([first, second]), np.zeros(0))
        assert certify_nonconvex(program, pair, bound=None, source="").ok is holds


@pytest.mark.parametrize("solver", ["highs", "clarabel"])
def test_duals_are_those_of_the_solved_model_alone(solver):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(0, None))
    m.total = pyo.Constraint(expr=m.x[0] + 2 * m.x[1] >= 1)
    m.each = pyo.Constraint(range(2))
    for j in range(2):
        m.each.add(j, m.x[j] <= 5)
    m.o = pyo.Objective(expr=m.x[0] + m.x[1])
    result = fsopt.solve(m, solver)
    assert result.duals(m.total) == {None: pytest.approx(0.5)}
    assert result.duals(m.each) == {0: pytest.approx(0.0, abs=1e-6), 1: pytest.approx(0.0, abs=1e-6)}
    for twin in (pickle.loads(pickle.dumps(m)), m.clone(), copy.deepcopy(m)):
        for component in (twin.total, twin.each):
            with pytest.raises(ParameterError, match=r"'(total|each\[0\])' is not a constraint of the solved model"):
                result.duals(component)
    m.each[1].deactivate()
    assert list(result.duals(m.each)) == [0], "an inactive constraint has no dual variable"
    m.late = pyo.Constraint(expr=m.x[0] <= 3)
    with pytest.raises(ParameterError, match="'late' is not a constraint of the solved model"):
        result.duals(m.late)
    m.x[0].domain = pyo.Integers
    with pytest.raises(ParameterError, match="gave no multipliers: choose one that 'fsopt solvers' lists with duals"):
        fsopt.solve(m, "highs").duals(m.total)


def circle() -> pyo.ConcreteModel:
    """Return max x + y on the unit disc with y <= 1/2: the optimum is (sqrt(3)/2, 1/2), its multipliers by hand."""
    m = pyo.ConcreteModel()
    m.x, m.y, m.idle = pyo.Var(initialize=3**0.5 / 2), pyo.Var(initialize=0.5), pyo.Var()
    m.disc = pyo.Constraint(expr=m.x**2 + m.y**2 <= 1)
    m.cap = pyo.Constraint(expr=m.y <= 0.5)
    m.objective = pyo.Objective(expr=m.x + m.y, sense=pyo.maximize)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_shadow_prices_of_a_cone_by_hand(sign):
    """The gradient (1, 1) is lambda (2x, 2y) + mu (0, 1): lambda = 1 / sqrt(3), mu = 1 - 1 / sqrt(3)."""
    m = circle()
    m.dual[m.disc], m.dual[m.cap] = sign / 3**0.5, sign * (1 - 1 / 3**0.5)
    found = fsopt.certify(m)
    assert (found.kind, found.ok) == ("convex", True)
    assert found.bound == pytest.approx(0.5 + 3**0.5 / 2)
    m.dual[m.cap] = 0.5
    assert not fsopt.certify(m).ok


@pytest.mark.parametrize("cost", [lambda x: 2 * x, lambda x: x**2])
def test_a_variable_of_the_objective_alone_needs_a_value(cost):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 1))
    m.objective = pyo.Objective(expr=cost(m.x))
    with pytest.raises(ParameterError, match="'x' has no value"):
        fsopt.certify(m)


def test_the_shadow_price_of_a_cone_says_nothing_at_its_apex():
    cone = compile_model(model_of(lambda x, t: t, lambda x, t: x**2 <= t**2, bounds=[FREE, (0, 9)]))
    found = [point_of_prices(cone, np.zeros(2), np.array([price])) for price in (1.0, 0.0)]
    assert [point is None for point in found] == [True, False]


def test_values_without_multipliers_are_feasible_and_no_values_are_an_error():
    m = circle()
    assert fsopt.certify(m).kind == "feasible"
    m.dual[m.cap] = 1.0  # not of every constraint
    assert fsopt.certify(m).kind == "feasible"
    m.y.set_value(0.6)
    assert not fsopt.certify(m).ok
    m.y.clear()
    with pytest.raises(ParameterError, match="'y' has no value"):
        fsopt.certify(m)
