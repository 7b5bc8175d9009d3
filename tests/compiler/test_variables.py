"""Domains of variables: an interval or its whole numbers; every other one is refused by name."""

import gc
import math

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.core.base.range import NumericRange
from pyomo_models import FREE, POSITIVE, model_of

import fsopt
from fsopt.compiler import compile_model
from fsopt.compiler.classes import CLASSES
from fsopt.compiler.values import store, values_of
from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.solvers.conic import ConicForm

PLAIN = {
    "whole": ([2, 3, 4], (2, 4, True)),
    "one": ([4], (4, 4, False)),
    "binary": (pyo.Binary, (0, 1, True)),
    "unit": (pyo.UnitInterval, (0, 1, False)),
    "positive": (pyo.PositiveIntegers, (1, math.inf, True)),
    "negative": (pyo.NegativeIntegers, (-math.inf, -1, True)),
}


def ranges(*listed):
    return pyo.RangeSet(ranges=tuple(NumericRange(*one) for one in listed))


def model(domain, low=None):
    """Return min x, low <= x, over a domain."""
    m = pyo.ConcreteModel()
    m.D = pyo.Set(initialize=domain if isinstance(domain, list) else [])
    m.x = pyo.Var(domain=m.D if isinstance(domain, list) else domain)
    m.c = pyo.Constraint(expr=(low, m.x, None))
    m.o = pyo.Objective(expr=m.x)
    return m


@pytest.mark.parametrize("name", PLAIN)
def test_intervals_and_their_whole_numbers_are_read(name):
    domain, expected = PLAIN[name]
    p = compile_model(model(domain, 1.2))
    assert (p.n, p.lb[0], p.ub[0], bool(p.integer[0])) == (1, *expected)


REFUSED = {
    "empty": [],
    "empty set": pyo.EmptySet,
    "intersection": pyo.Binary & pyo.Set(initialize=[2, 3]),
    "words": ["a", "b"],
    "any": pyo.Any,
    "truths": [True, False],
    "infinite": [1, math.inf],
    "no number": [1, math.nan],
    "every second": [1, 3, 5],
    "irregular": [1, 3, 7],
    "halves": ranges((0.5, None, 1)),
    "semicontinuous": ranges((0, 0, 0), (5, 10, 0)),
    "semi-integer": ranges((0, 0, 0), (3, 9, 1)),
    "a missing point": ranges((-9, 0, 0, "[)"), (0, 9, 0, "(]")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_domains_are_refused_by_name(name, tmp_path):
    m = model(REFUSED[name], 1.2)
    for call in (fsopt.solve, fsopt.certify, lambda m: fsopt.export(m, tmp_path / "m.mps")):
        with pytest.raises(ParameterError, match="the domain of the variable 'x' is neither") as error:
            call(m)
        assert "binaries" in error.value.hint
    m.x.fix(2)
    assert fsopt.solve(m).objective == pytest.approx(2.0), "a fixed variable is a constant, whatever its domain"


def test_a_block_has_the_variables_around_it():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(domain=pyo.Integers)
    m.b = pyo.Block()
    m.b.o = pyo.Objective(expr=m.x)
    m.b.c = pyo.Constraint(expr=m.x >= 1.5)
    assert fsopt.solve(m.b, "highs").objective == pytest.approx(2)


def values_model():
    m = pyo.ConcreteModel()
    m.J = pyo.Set(initialize=["c", "a", "b"])
    m.x = pyo.Var(m.J, initialize={"a": 1.0, "b": 2.0, "c": 3.0})
    m.free = pyo.Var([0, 1])
    m.k = pyo.Param(m.J, initialize=0.0, mutable=True)
    return m


def test_values_of_variables_and_parameters_follow_the_index_set():
    m = values_model()
    assert values_of(m.x).tolist() == [3.0, 1.0, 2.0]
    assert values_of(m.k).tolist() == [0.0, 0.0, 0.0]
    assert np.isnan(values_of(m.free)).all(), "a variable without value is no number"
    assert values_of(m.x).dtype == np.float64


@pytest.mark.parametrize(
    ("values", "words"),
    [([1.0] * 2, "zip"), ([1.0] * 4, "zip"), *(([1.0, v, 2.0], "'k' is not finite") for v in (np.nan, -np.inf))],
)
def test_values_of_another_number_or_not_finite_are_an_error_that_changes_nothing(values, words):
    m = values_model()
    with pytest.raises(ValueError, match=words):
        store(m.k, np.array(values))
    assert values_of(m.k).tolist() == [0.0, 0.0, 0.0]


CLASS = {  # the classes of other combinations are asserted by the matrix of test_conformance.py
    "square over a cone": (lambda x, y: (x - y) ** 2, (lambda x, y: x**2 <= y**2), False, "SOCP"),
    "indefinite": (lambda x, y: x**2 + 3 * x * y + y**2, (lambda x, y: x <= y), False, "NLP"),
    "concave": (lambda x, y: -((x - y) ** 2), (lambda x, y: x <= y), False, "NLP"),
    "function": (lambda x, y: pyo.exp(x), (lambda x, y: x <= y), False, "NLP"),
    "indefinite of integers": (lambda x, y: x**2 + 3 * x * y + y**2, (lambda x, y: x <= y), True, "MINLP"),
}


@pytest.mark.parametrize("name", CLASS)
def test_every_class_is_told(name):
    goal, row, whole, expected = CLASS[name]
    for sign, sense in ((1, pyo.minimize), (-1, pyo.maximize)):
        m = model_of(lambda x, y, s=sign: s * goal(x, y), row, bounds=[FREE, POSITIVE], whole=range(whole), sense=sense)
        assert fsopt.classify(m) == expected in CLASSES, "a maximisation of the negative is the same problem"


EACH = 16
"""Objects at most for each sample and feature."""


def made(slug, size, params):
    """Return how many objects of the garbage collector a model, its arrays and its conic form of size x size leave."""
    rng = np.random.default_rng(0)
    data = Dataset(rng.standard_normal((size, size)), np.where(np.arange(size) % 2, 1.0, -1.0))
    gc.freeze()  # what is there already is neither counted nor searched
    try:
        before = len(gc.get_objects())
        form = ConicForm(compile_model(fsopt.build(slug, data, **params)))
        gc.collect()
        found = len(gc.get_objects()) - before
    finally:
        gc.unfreeze()
    assert form
    return found


@pytest.mark.parametrize(("slug", "params"), [("fsp-sub", {}), ("gmeb-dual", {"r_plus": 3.0, "r_minus": 3.0})])
def test_the_number_of_objects_is_linear_in_samples_and_features(slug, params):
    small, large = made(slug, 20, params), made(slug, 60, params)
    assert small > 20
    assert large - small <= EACH * 2 * (60 - 20)
