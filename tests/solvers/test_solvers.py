"""Both solvers on small problems with known answers: optima, shadow prices, statuses, refusals, warm re-solves."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest

import fsopt
from fsopt.errors import ParameterError, SolverError, UnknownNameError
from fsopt.solvers.base import Session


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
