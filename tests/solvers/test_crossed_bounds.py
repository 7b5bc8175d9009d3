"""Bounds that exclude one another are infeasible by two numbers, from every solver, and sessions go on after them."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest

import fsopt
from fsopt.compiler import compile_model
from fsopt.compiler.crossed import crossed
from fsopt.solvers.base import Session
from fsopt.solvers.registry import preference


def program(kind: str) -> pyo.ConcreteModel:
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


SENTENCES = {
    "variable": "the variable 'x' has the lower bound 3.0 above its upper bound 2.0",
    "integer": "the variable 'x' has the lower bound 3.0 above its upper bound 2.0",
    "constraint": "the constraint 'row' has the lower bound 4.0 above its upper bound 3.0",
    "whole": "the integer 'x' has no whole number between its bounds 1.2 and 1.8",
    "none": "",
}


@pytest.mark.parametrize("kind", SENTENCES)
def test_the_sentence_names_the_two_numbers(kind):
    assert crossed(compile_model(program(kind))) == SENTENCES[kind]


@pytest.mark.parametrize(
    ("kind", "solver"),
    [
        (kind, spec.name)
        for kind in SENTENCES
        if kind != "none"
        for spec in preference(fsopt.classify(program(kind)))
        if spec.available
    ],
)
def test_every_solver_says_infeasible(kind, solver):
    outcome = Session(program(kind), solver).connection.solve(10.0)
    assert (outcome.status, outcome.stop, outcome.message) == ("infeasible", "infeasible", SENTENCES[kind])


def test_a_session_goes_on_when_its_bounds_cross_and_part_again():
    m = program("none")
    session = Session(m, "highs")
    assert session.solve().objective == pytest.approx(1.0)
    m.x.setlb(3)
    session.update(m.x)
    assert session.solve().stop == "infeasible"
    m.x.setub(4)
    session.update(m.x)
    assert session.solve().objective == pytest.approx(3.0)
