"""The problem class of a model, in both senses of its objective.

Models and their arrays have a few objects for each sample and feature, none for each number of the data.
"""

import gc

import numpy as np
import pyomo.environ as pyo
import pytest

import fsopt
from fsopt.compiler import compile_model, program
from fsopt.compiler.classes import CLASSES
from fsopt.compiler.recognition import lacking
from fsopt.data import Dataset
from fsopt.errors import SolverError
from fsopt.solvers.base import Session
from fsopt.solvers.conic import ConicForm


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


def test_convexity_is_an_eigenvalue_problem_solved_once_for_each_quadratic_part(monkeypatch):
    tested = []
    monkeypatch.setattr(program, "lacking", lambda P: tested.append(P) or lacking(P))
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(-1, 1))
    m.curvature, m.slope, m.side = (pyo.Param(initialize=1.0, mutable=True) for _ in range(3))
    square = (m.x[0] + m.x[1]) ** 2 + (m.x[1] - m.x[2]) ** 2
    m.o = pyo.Objective(expr=m.curvature * square + m.slope * m.x[0])
    m.c = pyo.Constraint(expr=m.x[0] + 1e-17 * m.x[1] + m.x[2] >= m.side)
    session = Session(m, "clarabel")
    for slope, side in ((1.0, 1.0), (2.0, 1.0), (2.0, 0.5)):
        m.slope.value, m.side.value = slope, side
        session.update(m.o, m.c)
        assert session.solve().status == "optimal"
    assert len(tested) == 1, "neither a copy without rounding errors nor another linear part is a new matrix"
    m.curvature.value = 2.0
    session.update(m.o)
    assert session.solve().status == "optimal"
    assert len(tested) == 2
    m.curvature.value = -1.0
    with pytest.raises(SolverError, match="clarabel"):
        session.update(m.o)


MODELS = {
    "onsvm": {"c": 1.0},
    "fsp-sub": {"c": 1.0},
    "gmeb-dual": {"r_plus": 3.0, "r_minus": 3.0},
}
EACH = 16
"""Objects at most for each sample and feature."""


def made(slug, size):
    """Return how many objects of the garbage collector a model, its arrays and its conic form of size x size leave."""
    rng = np.random.default_rng(0)
    data = Dataset(rng.standard_normal((size, size)), np.where(np.arange(size) % 2, 1.0, -1.0))
    gc.freeze()  # what is there already is neither counted nor searched
    try:
        before = len(gc.get_objects())
        form = ConicForm(compile_model(fsopt.build(slug, data, **MODELS[slug])))
        gc.collect()
        found = len(gc.get_objects()) - before
    finally:
        gc.unfreeze()
    assert form
    return found


@pytest.mark.parametrize("slug", MODELS)
def test_the_number_of_objects_is_linear_in_samples_and_features(slug):
    small, large = made(slug, 20), made(slug, 60)
    assert small > 20
    assert large - small <= EACH * 2 * (60 - 20)
