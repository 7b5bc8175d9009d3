"""Linear forms with array coefficients, and programs read from expressions: the values are those of Pyomo."""

import copy
import pickle

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyomo.core.expr.visitor import identify_variables

import fsopt
from fsopt.compiler import Dot, compile_model, dot
from fsopt.compiler.expressions import read

FEW = settings(max_examples=20, deadline=None, derandomize=True)
NUMBER = st.one_of(st.sampled_from([0.0, 1.0, -1.0]), st.floats(-8, 8).map(lambda v: round(v, 3)))
AT = [0.5, -2.0, 3.0, 1.25]


def four() -> pyo.ConcreteModel:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(4), initialize=dict(enumerate(AT)))
    m.p = pyo.Param(range(2), initialize={0: 1.5, 1: -0.5}, mutable=True)
    return m


def evaluate(terms, x) -> float:
    at = [v.value for v in x]
    linear = sum(c * at[j] for j, c in terms.affine({id(v): j for j, v in enumerate(x)}).items())
    return terms.constant + linear + sum(v * at[i] * at[j] for i, j, v in terms.quadratic)


# -- Dot ------------------------------------------------------------------------------------------------


@FEW
@given(st.lists(NUMBER, min_size=4, max_size=4), NUMBER)
def test_dot_in_any_expression_has_the_value_of_the_plain_sum(coefs, k):
    m = four()
    x = tuple(m.x.values())
    d, other = dot(coefs, x), dot([1.0, 0.0, -2.0, 0.0], x)
    v, w = sum(c * a for c, a in zip(coefs, AT, strict=True)), AT[0] - 2 * AT[2]
    cases = {
        "itself": (d, v),
        "variable plus": (m.x[1] + d, v + AT[1]),
        "plus number": (d + k, v + k),
        "two": (d + other, v + w),
        "sum": (sum([d, other, m.p[1], m.x[0] * 3]), v + w - 0.5 + 3 * AT[0]),
        "nested": (2 * (d + 1) / 4 - m.p[0] * (other - m.x[3]), (v + 1) / 2 - 1.5 * (w - AT[3])),
        "quicksum": (pyo.quicksum([d, -d, d, other]), v + w),
        "square": ((d + 1) ** 2, (v + 1) ** 2),
    }
    column = {id(var): j for j, var in enumerate(x)}
    for name, (expression, expected) in cases.items():
        assert pyo.value(expression) == pytest.approx(expected, abs=1e-9), name
        assert evaluate(read(expression, column), x) == pytest.approx(expected, abs=1e-9), name
    assert (d.nargs(), pyo.value(d)) == (4, pytest.approx(v, abs=1e-9)), "a sum changed the Dot it was made from"


def test_dot_copies_prints_and_names_its_variables():
    m = four()
    d = dot([1.0, -2.0, 0.5, 4.0], tuple(m.x.values()))
    plain = sum(c * v for c, v in zip(d.coefs, m.x.values(), strict=True))
    assert list(identify_variables(d)) == list(m.x.values())
    assert str(d) == str(plain)
    assert d.polynomial_degree() == 1
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


@st.composite
def expressions(draw):
    """A model of four variables (one fixed) and a random quadratic expression in it."""
    m = four()
    m.x[2].fix(3.0)
    x, number = tuple(m.x.values()), NUMBER.filter(bool)

    def affine():
        kind = draw(st.sampled_from(["var", "monomial", "param", "dot", "const", "minus", "paramvar"]))
        v = draw(st.sampled_from(x))
        return {
            "var": lambda: v,
            "monomial": lambda: draw(NUMBER) * v,
            "param": lambda: m.p[0] * v - m.p[1],
            "dot": lambda: dot([draw(NUMBER) for _ in x], x),
            "const": lambda: draw(NUMBER) + m.p[1],
            "minus": lambda: draw(NUMBER) - v - v,
            "paramvar": lambda: (m.p[0] + v) / draw(number) + m.p[0] * 2,
        }[kind]()

    total = draw(NUMBER)
    for k in range(draw(st.integers(1, 4))):
        factor = draw(st.sampled_from(["affine", "product", "square", "shared", "named"]))
        a = affine()
        if factor == "named":
            m.add_component(f"e{k}", pyo.Expression(expr=a * 2 + 1))
            a = m.component(f"e{k}")
        term = {
            "affine": lambda a=a: a,
            "product": lambda a=a: a * affine(),
            "square": lambda a=a: a**2,
            "shared": lambda a=a: (a + x[0]) * (a - x[0]),
            "named": lambda a=a: a * affine(),
        }
        total = total - draw(NUMBER) * term[factor]() / draw(number)
    return m, -(total * m.p[0]) + m.p[1]


@FEW
@given(expressions(), st.booleans(), st.lists(NUMBER, min_size=4, max_size=4))
def test_a_compiled_objective_has_the_model_value(pair, maximise, point):
    m, expression = pair
    m.o = pyo.Objective(expr=expression + 0 * m.x[0], sense=pyo.maximize if maximise else pyo.minimize)
    program = compile_model(m)
    point[2] = 3.0  # of the fixed variable, a constant
    m.x.set_values(dict(enumerate(point)))
    assert program.objective_at(np.array(point)) == pytest.approx(pyo.value(m.o), rel=1e-9, abs=1e-7)
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
