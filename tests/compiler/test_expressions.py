"""Linear forms with array coefficients, and programs read from expressions: the values are those of Pyomo."""

import copy
import pickle

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.core.expr.visitor import identify_variables

import fsopt
from fsopt.compiler import Dot, compile_model, dot

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
