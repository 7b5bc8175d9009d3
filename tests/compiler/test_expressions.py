"""Expressions, variables and classes of a Pyomo model: read with the values of Pyomo, or refused by name."""

import copy
import gc
import math
import pickle

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.core.base.range import NumericRange
from pyomo.core.expr.visitor import identify_variables
from pyomo_models import FREE, POSITIVE, model_of

import fsopt
from fsopt.compiler import Dot, compile_model, dot
from fsopt.compiler.classes import CLASSES
from fsopt.compiler.values import store, values_of
from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.solvers.conic import ConicForm

AT = [0.5, -2.0, 3.0, 1.25]


def four() -> pyo.ConcreteModel:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(4), initialize=dict(enumerate(AT)))
    m.p = pyo.Param(range(2), initialize={0: 1.5, 1: -0.5}, mutable=True)
    return m


# -- Dot ------------------------------------------------------------------------------------------------


def test_dot_copies_prints_and_names_its_variables():
    m = four()
    d = dot([1.0, -2.0, 0.5, 4.0], tuple(m.x.values()))
    plain = sum(c * v for c, v in zip(d.coefs, m.x.values(), strict=True))
    assert list(identify_variables(d)) == list(m.x.values())
    assert str(d) == str(plain)
    assert d.polynomial_degree() == 1
    assert pyo.value(sum([d + m.x[1], d + 1, m.p[0] - d])) == pytest.approx(pyo.value(d) + AT[1] + 1 + 1.5)
    assert d.nargs() == 4, "a sum changed the Dot it was made from"
    m.c = pyo.Constraint(expr=d <= 3)
    for twin in (m.clone(), pickle.loads(pickle.dumps(m)), copy.deepcopy(m)):
        assert list(identify_variables(twin.c.body)) == list(twin.x.values())
        twin.x[3].set_value(10.0)
        assert (pyo.value(twin.c.body), m.x[3].value) == (pytest.approx(46.0), 1.25)
        assert type(twin.c.body) is Dot, "a copy loses the cheap form"


def test_dot_keeps_zero_coefficients_out_of_the_matrix_and_refuses_another_length():
    m = four()
    x = tuple(m.x.values())
    m.c = pyo.Constraint(expr=dot([0.0, 2.0, 0.0, -1.0], x) + m.x[1] == 0)
    m.d = pyo.Constraint(expr=dot([1.0, 2.0], (x[0], x[0])) <= 1)
    A = compile_model(m).A
    assert (A.nnz, A.toarray().tolist()) == (3, [[0, 3, 0, -1], [3, 0, 0, 0]])
    with pytest.raises((ValueError, fsopt.FsoptError)):
        dot([1.0, 2.0], x)


# -- reading --------------------------------------------------------------------------------------------


def drawn(m, rng):
    """Return a random quadratic expression of four variables, one of them fixed."""
    m.x[2].fix(3.0)
    x = tuple(m.x.values())
    number = lambda: float(rng.choice([0.0, 1.0, -1.0, round(rng.uniform(-8, 8), 3)]))  # noqa: E731
    affine = (
        lambda v: v,
        lambda v: number() * v,
        lambda v: m.p[0] * v - m.p[1],
        lambda v: dot([number() for _ in x], x),
        lambda v: number() + m.p[1],
        lambda v: number() - v - v,
        lambda v: (m.p[0] + v) / float(rng.uniform(0.5, 8)) + m.p[0] * 2,
    )
    total = number()
    for k in range(rng.integers(1, 5)):
        a, b = (affine[rng.integers(len(affine))](x[rng.integers(4)]) for _ in range(2))
        m.add_component(f"e{k}", pyo.Expression(expr=a * 2 + 1))
        term = (a, a * b, a**2, (a + x[0]) * (a - x[0]), m.component(f"e{k}") * b)[rng.integers(5)]
        total = total - number() * term / float(rng.uniform(0.5, 8))
    return m.p[1] - total * m.p[0]


@pytest.mark.parametrize("seed", range(24))
def test_a_compiled_objective_has_the_model_value(seed):
    m, rng = four(), np.random.default_rng(seed)
    m.o = pyo.Objective(expr=drawn(m, rng) + 0 * m.x[0], sense=pyo.maximize if seed % 2 else pyo.minimize)
    program, point = compile_model(m), rng.uniform(-8, 8, 4)
    point[2] = 3.0  # of the fixed variable, a constant
    m.x.set_values(dict(enumerate(point)))
    assert program.objective_at(point) == pytest.approx(pyo.value(m.o), rel=1e-9, abs=1e-7)
    assert program.lb[2] == program.ub[2] == 3.0


def test_rows_with_ranges_duplicates_constants_and_nothing_in_them():
    m = four()
    x = m.x
    m.range = pyo.Constraint(expr=(-1, x[0] + 2 * x[1] + x[0] - 7, 3))
    m.twosided = pyo.Constraint(expr=x[0] + 4 >= x[1] - m.p[0])
    m.equal = pyo.Constraint(expr=3 * (x[2] - 1) == 2 * x[3] + 5)
    m.empty = pyo.Constraint(expr=m.p[0] * (x[0] - x[0]) + m.p[1] <= 4)
    p = compile_model(m)
    assert [c.name for c in p.constraints] == ["range", "twosided", "equal", "empty"]
    for at in np.random.default_rng(0).standard_normal((10, 4)):
        m.x.set_values(dict(enumerate(at)))
        below, above = p.A @ at - p.lo, p.hi - p.A @ at
        assert list(below) == pytest.approx([c.lslack() for c in p.constraints])
        assert list(above) == pytest.approx([c.uslack() for c in p.constraints])


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
    gc.collect()
    before = len(gc.get_objects())
    form = ConicForm(compile_model(fsopt.build(slug, data, **params)))
    gc.collect()
    assert form
    return len(gc.get_objects()) - before


@pytest.mark.parametrize(("slug", "params"), [("fsp-sub", {}), ("gmeb-dual", {"r_plus": 3.0, "r_minus": 3.0})])
def test_the_number_of_objects_is_linear_in_samples_and_features(slug, params):
    small, large = made(slug, 20, params), made(slug, 60, params)
    assert small > 20
    assert large - small <= EACH * 2 * (60 - 20)
