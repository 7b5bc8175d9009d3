"""The problem class of a model, in both senses of its objective."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest

import fsopt
from fsopt.compiler.classes import CLASSES


@pytest.mark.parametrize(
    ("objective", "cone", "integer", "expected"),
    [
        ("linear", False, False, "LP"),
        ("linear", False, True, "MILP"),
        ("square", False, False, "QP"),
        ("square", False, True, "MIQP"),
        ("linear", True, False, "SOCP"),
        ("square", True, False, "SOCP"),
        ("linear", True, True, "MISOCP"),
        ("indefinite", False, False, "NLP"),
        ("exp", False, False, "NLP"),
        ("indefinite", False, True, "MINLP"),
        ("concave", False, False, "NLP"),
    ],
)
def test_every_class_is_told(objective, cone, integer, expected):
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(domain=pyo.Integers if integer else pyo.Reals), pyo.Var(bounds=(0, None))
    form = {
        "linear": m.x,
        "square": (m.x - m.y) ** 2,
        "indefinite": m.x**2 + 3 * m.x * m.y + m.y**2,
        "exp": pyo.exp(m.x),
        "concave": -((m.x - m.y) ** 2),
    }[objective]
    m.o = pyo.Objective(expr=form)
    m.q = pyo.Constraint(expr=m.x**2 <= m.y**2) if cone else pyo.Constraint(expr=m.x <= m.y)
    assert fsopt.classify(m) == expected in CLASSES
    m.o.set_value(-form)
    m.o.sense = pyo.maximize
    assert fsopt.classify(m) == expected, "a maximisation of the negative is the same problem"
