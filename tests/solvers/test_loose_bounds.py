"""Noise in zeros, bounds that stand for 0 or infinity and rows of odd size move no solver from the optimum."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest

from fsopt.compiler import compile_model
from fsopt.compiler.classes import program_class
from fsopt.errors import SolverError
from fsopt.solvers.base import Session
from fsopt.solvers.registry import preference


def noise() -> tuple[pyo.ConcreteModel, float]:
    """The right-hand side of c is rounding noise of 0: t = -3.25, a = 2.25, b = 1."""
    m = pyo.ConcreteModel()
    m.t, m.a, m.b = pyo.Var(), pyo.Var(bounds=(0, 2.5)), pyo.Var(bounds=(0, 1))
    m.d = pyo.Constraint(expr=m.a - m.b <= 1.25)
    m.c = pyo.Constraint(expr=-m.t - m.a - m.b <= -1e-16)
    m.o = pyo.Objective(expr=m.t + 0.1 * m.b**2)
    return m, -3.25 - 0.25 + 0.25 + 0.1


def loose_rows() -> tuple[pyo.ConcreteModel, float]:
    """The rows x <= 1e8 z are loose: z = (8000, 2000)."""
    m = pyo.ConcreteModel()
    m.x, m.z = pyo.Var([1, 2], bounds=(0, None)), pyo.Var([1, 2], bounds=(0, None))
    m.q = pyo.Var(bounds=(0, None))
    m.b = pyo.Constraint(expr=m.x[1] + m.x[2] - m.q == 0)
    m.g = pyo.Constraint([1, 2], rule=lambda m, i: m.x[i] - m.z[i] == 0)
    m.u = pyo.Constraint([1, 2], rule=lambda m, i: m.x[i] - 1e8 * m.z[i] <= 0)
    m.d = pyo.Constraint([1, 2], rule=lambda m, i: m.z[i] + 0 * m.q >= 1000 * i)
    m.k = pyo.Constraint(expr=m.q + 0 * m.x[1] <= 10000)
    m.o = pyo.Objective(expr=3 * m.z[1] + 2 * m.z[2] - m.q, sense=pyo.maximize)
    return m, 18000.0


def tiny_row() -> tuple[pyo.ConcreteModel, float]:
    """The coefficient 1e-9 is one that HiGHS leaves out of a row: y >= x / 1000 >= 1 / 2."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(500, 1e10)), pyo.Var(bounds=(0, 1))
    m.link = pyo.Constraint(expr=1e-9 * m.x <= 1e-6 * m.y)
    m.o = pyo.Objective(expr=m.x + 200 * m.y)
    return m, 600.0


def tiny_whole_row() -> tuple[pyo.ConcreteModel, float]:
    """Integers, which keep their unit: 1e-10 z <= 2.5e-10 holds for z <= 2."""
    m = pyo.ConcreteModel()
    m.z, m.y = pyo.Var(domain=pyo.NonNegativeIntegers, bounds=(0, 100)), pyo.Var(bounds=(0, 1))
    m.c = pyo.Constraint(expr=1e-10 * m.z + 1e-10 * m.y <= 2.5e-10)
    m.o = pyo.Objective(expr=m.z + m.y, sense=pyo.maximize)
    return m, 2.5


def all_at_once() -> tuple[pyo.ConcreteModel, float]:
    """An assortment with rows and columns in odd units, bounds that stand for 0, and loose bounds and rows.

    In units of size one: min 2 x + 35.2 y + 3.4 z with 2 x + 4 y >= 16, 3 x - 4 y + 4 z <= -5, x + 2 y + 4 z >= 11; the
    optimum is at (1.6, 3.2, 0.75), where the three hold with equality.
    """
    m = pyo.ConcreteModel()
    m.x, m.y, m.z = pyo.Var(bounds=(3.8e-11, 7e8)), pyo.Var(bounds=(3.8e-10, 7e9)), pyo.Var(bounds=(3.8e-12, 7e7))
    m.a = pyo.Constraint(expr=2e-2 * m.x + 4e-3 * m.y >= 0.16)
    m.b = pyo.Constraint(expr=3e-5 * m.x - 4e-6 * m.y + 4e-4 * m.z <= -5e-5)
    m.c = pyo.Constraint(expr=1e-7 * m.x + 2e-8 * m.y + 4e-6 * m.z >= 1.1e-6)
    m.loose = pyo.Constraint(expr=m.x + m.y <= 1e10)
    m.o = pyo.Objective(expr=2 * m.x + 3.52 * m.y + 34 * m.z)
    return m, 2 * 1.6 + 35.2 * 3.2 + 3.4 * 0.75


PROGRAMS = (noise, loose_rows, tiny_row, tiny_whole_row, all_at_once)
CASES = [
    pytest.param(make, spec.name, id=f"{make.__name__}-{spec.name}")
    for make in PROGRAMS
    for spec in preference(program_class(compile_model(make()[0])))
    if spec.available and spec.name != "libsvm"
]


@pytest.mark.parametrize(("make", "solver"), CASES)
def test_every_solver_finds_the_optimum(make, solver):
    model, optimum = make()
    session = Session(model, solver)
    try:
        outcome = session.connection.solve(20.0)
    except SolverError as error:
        if "licence" not in str(error):
            raise
        return
    assert outcome.point is not None, outcome
    assert session.program.objective_at(outcome.point.x) == pytest.approx(optimum, rel=1e-4)
