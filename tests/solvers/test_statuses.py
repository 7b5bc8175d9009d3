"""Infeasible and unbounded programs: every solver tells them apart, and none is called so that has an optimum."""

import pyomo.environ as pyo
import pytest
from pyomo_models import FREE, POSITIVE, model_of
from solver_cases import failing, takers

import fsopt
from fsopt.certificates.bounds import crossed
from fsopt.compiler import compile_model
from fsopt.solvers.base import Session
from fsopt.solvers.registry import SOLVERS

CLASSES = ("LP", "QP", "SOCP", "MILP", "MIQP", "MISOCP")
ALL = sorted({name for kind in CLASSES for name in takers(kind)})


@pytest.mark.parametrize("solver", ALL)
def test_infeasible_and_unbounded_are_told_apart_and_proved(solver):
    for kind in [kind for kind in CLASSES if kind in SOLVERS[solver].classes]:
        for what in ("unbounded", "infeasible with a free direction", "infeasible")[: 3 if kind == "LP" else 2]:
            model, expected = failing(kind, what), what.split()[0]
            assert fsopt.classify(model) == kind
            result = fsopt.solve(model, solver)
            proved = (expected, kind) != ("unbounded", "MISOCP")
            found = (result.status, result.stop, result.objective, result.point, result.certificate.ok)
            assert found == (expected if proved else "none", expected, None, None, proved), (kind, what)


def mixed(curve, whole):
    rows = [lambda x, y, z: x + y >= 1] + [lambda x, y, z: y**2 <= z] * (curve == "cone")
    goal = lambda x, y, z: {"linear": y, "convex": y**2, "concave": -(x**2), "cone": z}[curve] - x  # noqa: E731
    return model_of(goal, *rows, bounds=[FREE, (0, 4), POSITIVE], whole=whole)


@pytest.mark.parametrize("whole", [(), (0,)])
def test_scip_without_bounds_proves_what_is_convex(whole):
    pytest.importorskip("pyscipopt")
    for curve in ("linear", "convex", "concave", "cone"):
        m = mixed(curve, whole)
        result = fsopt.solve(m, "scip")
        proved = "none" if curve == "concave" or (curve, whole) == ("cone", (0,)) else "unbounded"
        assert (result.status, result.stop, result.point) == (proved, "unbounded", None), curve
        m.d = pyo.Constraint(expr=sum(m.x.values()) <= 0.5)
        result = fsopt.solve(m, "scip")
        assert (result.status, result.stop) == ("none" if curve == "concave" else "infeasible", "infeasible"), curve
        assert result.certificate.ok == (curve != "concave"), curve


@pytest.mark.parametrize("solver", [name for name in takers("NLP") if SOLVERS[name].proves == "global"])
def test_a_nonconvex_program_without_a_bound_gives_no_foreign_error(solver):
    m = model_of(lambda x, y: -(x**2) + y**2, bounds=[FREE] * 2)
    assert Session(m, solver).connection.solve(5.0).status in ("unbounded", "none")


@pytest.mark.parametrize("solver", takers("MILP"))
def test_whole_numbers_without_an_upper_bound_are_unbounded(solver):
    """Presolve may say that it is infeasible or unbounded, which is no status."""
    bounds = {"bounds": [POSITIVE, (0, 1)], "whole": [0]}
    m = model_of(lambda lots, rest: lots + rest, lambda lots, rest: lots >= rest, **bounds, sense=pyo.maximize)
    assert fsopt.solve(m, solver, time_limit=30).status in ("unbounded", "none")


@pytest.mark.parametrize("solver", sorted({*takers("LP"), *takers("QP")}))
def test_a_constraint_without_entries_holds_or_makes_the_program_infeasible(solver):
    square = "LP" not in SOLVERS[solver].classes
    for right in (1.0, -1.0):
        rows = (lambda x, right=right: 0 * x <= right,)
        result = fsopt.solve(model_of(lambda x: (x - 1) ** 2 if square else x, *rows, bounds=[(0, 5)]), solver)
        assert result.certificate.ok
        if right < 0:
            assert (result.status, result.stop, result.point) == ("infeasible", "infeasible", None)
        else:
            assert result.objective == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("solver", takers("QP"))
def test_a_program_without_constraints_and_bounds_has_its_optimum_and_prints_nothing(solver, capfd):
    result = fsopt.solve(model_of(lambda x, y: (x - 3) ** 2, bounds=[FREE] * 2, start=[None, 2.0]), solver)
    assert (result.status, result.certificate.ok) == ("optimal", True)
    assert result.objective == pytest.approx(0.0, abs=1e-6)
    assert capfd.readouterr() == ("", "")


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
