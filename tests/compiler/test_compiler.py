"""The compiler: Dot expressions, reading, cones, classes, scaling, and updates in place."""

from __future__ import annotations

import copy
import pickle
import re

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from pyomo.core.expr.numeric_expr import MonomialTermExpression
from pyomo.core.expr.visitor import identify_variables

import fsopt
from fsopt.compiler import Dot, compile_model, dot
from fsopt.compiler.classes import CLASSES
from fsopt.compiler.expressions import read

FEW = settings(max_examples=40, deadline=None, derandomize=True)
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
        "itself": (d, v), "negated": (-d, -v), "plus variable": (d + m.x[1], v + AT[1]),
        "variable plus": (m.x[1] + d, v + AT[1]), "plus number": (d + k, v + k), "times": (k * d, k * v),
        "param": (m.p[0] * d, 1.5 * v), "two": (d + other, v + w), "minus": (other - d, w - v),
        "sum": (sum([d, other, m.p[1], m.x[0] * 3]), v + w - 0.5 + 3 * AT[0]), "half": (d / 2, v / 2),
        "nested": (2 * (d + 1) - m.p[0] * (other - m.x[3]), 2 * (v + 1) - 1.5 * (w - AT[3])),
        "quicksum": (pyo.quicksum([d, d, other]), 2 * v + w), "square": ((d + 1) ** 2, (v + 1) ** 2),
    }  # fmt: skip
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


@pytest.mark.parametrize("suffix", ["lp", "nl", "mps"])
def test_a_model_with_dots_is_written_like_one_without(tmp_path, suffix):
    def build(form):
        m = four()
        x = tuple(m.x.values())
        m.a = pyo.Constraint(expr=form([1.0, 0.0, -3.0, 0.5], x) >= 1)
        m.b = pyo.Constraint(expr=form([1.0, -1.0, 2.0, 7.0], x) + 2 * m.x[0] - 4 <= 9)
        m.c = pyo.Constraint(expr=(-5, -form([3.0, 1.0, 1.0, 1.0], x), 5))
        m.o = pyo.Objective(expr=form([1.0, 1.0, 1.0, 1.0], x) + m.x[2] + 3, sense=pyo.maximize)
        path = tmp_path / f"{form.__name__}.{suffix}"
        m.write(str(path), io_options={"symbolic_solver_labels": suffix != "nl"})
        return re.sub(r"(\d)\.0\b", r"\1", path.read_text())

    def plain(coefs, x):
        return pyo.quicksum(MonomialTermExpression((c, v)) for c, v in zip(coefs, x, strict=True))

    assert build(dot) == build(plain)


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
            "var": lambda: v, "monomial": lambda: draw(NUMBER) * v, "param": lambda: m.p[0] * v - m.p[1],
            "dot": lambda: dot([draw(NUMBER) for _ in x], x), "const": lambda: draw(NUMBER) + m.p[1],
            "minus": lambda: draw(NUMBER) - v - v, "paramvar": lambda: (m.p[0] + v) / draw(number) + m.p[0] * 2,
        }[kind]()  # fmt: skip

    total = draw(NUMBER)
    for k in range(draw(st.integers(1, 4))):
        factor = draw(st.sampled_from(["affine", "product", "square", "shared", "named"]))
        a = affine()
        if factor == "named":
            m.add_component(f"e{k}", pyo.Expression(expr=a * 2 + 1))
            a = m.component(f"e{k}")
        term = {"affine": lambda a=a: a, "product": lambda a=a: a * affine(), "square": lambda a=a: a**2,
                "shared": lambda a=a: (a + x[0]) * (a - x[0]), "named": lambda a=a: a * affine()}  # fmt: skip
        total = total - draw(NUMBER) * term[factor]() / draw(number)
    return m, -(total * m.p[0]) + m.p[1]


@FEW
@given(expressions(), st.lists(NUMBER, min_size=4, max_size=4))
def test_read_agrees_with_pyomo_at_any_point_and_parameter(pair, point):
    m, expression = pair
    x = tuple(m.x.values())
    m.p[0].set_value(point[0])
    terms = read(expression, {id(v): j for j, v in enumerate(x)})
    assert not terms.nonlinear
    m.x.set_values(dict(enumerate(point)))
    assert evaluate(terms, x) == pytest.approx(pyo.value(expression), rel=1e-9, abs=1e-7)


@FEW
@given(expressions(), st.booleans(), st.lists(NUMBER, min_size=4, max_size=4))
def test_a_compiled_objective_has_the_model_value(pair, maximise, point):
    m, expression = pair
    m.o = pyo.Objective(expr=expression + 0 * m.x[0], sense=pyo.maximize if maximise else pyo.minimize)
    program = compile_model(m)
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


# -- cones and classes ----------------------------------------------------------------------------------


def quadratic_model(rng, shape, side, unit):
    """A model whose only constraint is one random convex quadratic of the given shape."""
    m = pyo.ConcreteModel()
    m.w, m.s, m.n = pyo.Var(range(3)), pyo.Var(range(2), domain=pyo.NonNegativeReals), pyo.Var(bounds=(None, 0))
    norm = sum(dot(row, tuple(m.w.values())) ** 2 for row in rng.standard_normal((2, 3)) * unit)
    a, b = (float(v) for v in rng.uniform(0.2, 3, 2))
    body = {
        "ball": norm - a, "parabola": norm - m.s[0] + b * m.w[0] + a, "lorentz": norm - a * m.s[0] ** 2,
        "rotated": norm - a * m.s[0] * m.s[1], "negative": norm + a * m.s[0] * m.n,
        "forms": norm - (a * m.s[0] + b * m.s[1]) * (b * m.s[0] - a * m.n),
    }[shape]  # fmt: skip
    m.q = pyo.Constraint(expr=body <= 0) if side == "<=" else pyo.Constraint(expr=-body >= 0)
    return m


@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("side", ["<=", ">="])
@pytest.mark.parametrize("shape", ["ball", "parabola", "lorentz", "rotated", "negative", "forms"])
def test_convex_quadratics_become_cones_with_the_same_members(shape, side, unit):
    rng = np.random.default_rng(7)
    m = quadratic_model(rng, shape, side, unit)
    p = compile_model(m)
    assert (p.nonconic, len(p.cones)) == ([], 1)
    kinds = set()
    for _ in range(200):
        at = np.concatenate([rng.standard_normal(3) / unit * 10 ** rng.uniform(-2, 1), rng.exponential(1, 3)])
        at[5] *= -1
        for v, a in zip(p.variables, at.tolist(), strict=True):
            v.set_value(a)
        q = -m.q.slack()
        s = p.cones.G @ at + p.cones.h
        if abs(q) > 1e-7 * max(1.0, float(s @ s)):
            kinds.add(bool(p.cones.distances(s)[0] == 0))
            assert (p.cones.distances(s)[0] == 0) == (q <= 0), at
            form = p.cones.scale[0] * (s[1:] @ s[1:] - s[0] ** 2)
            assert form == pytest.approx(q, rel=1e-9, abs=1e-9 * float(s @ s))
    assert kinds == {True, False}


@pytest.mark.parametrize("tiny", [1e-9, 1e-13, 1e-16])
def test_a_cone_with_a_small_unit_on_its_large_side_keeps_that_side(tiny):
    m = pyo.ConcreteModel()
    m.w, m.s = pyo.Var(), pyo.Var(range(2), bounds=(0, None))
    m.q = pyo.Constraint(expr=m.w**2 <= tiny * m.s[0] * m.s[1])
    cones = compile_model(m).cones
    inside = cones.G @ np.array([0.5 * np.sqrt(tiny), 1.0, 1.0]) + cones.h
    assert cones.distances(inside)[0] == 0


REFUSED = [
    (lambda m: m.x * m.y <= 1, "not convex"), (lambda m: m.x**2 >= 1, "not convex"),
    (lambda m: m.x**2 + m.y**2 == 1, "equation or range"), (lambda m: m.x**2 <= m.f * m.y, "bounds"),
    (lambda m: m.x**2 + m.y**2 + 1 <= 0, "no solution"), (lambda m: m.x * m.y * m.f <= 1, "not quadratic"),
    (lambda m: pyo.exp(m.x) <= 1, "not quadratic"), (lambda m: m.x**2 + m.f**2 <= m.y**2 + m.x, "linear terms"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "reason"), REFUSED)
def test_what_is_no_cone_is_refused_by_name_with_a_reason(make, reason):
    m = pyo.ConcreteModel()
    m.x, m.f, m.y = pyo.Var(), pyo.Var(), pyo.Var(bounds=(0, None))
    m.guilty = pyo.Constraint(expr=make(m))
    m.o = pyo.Objective(expr=m.x)
    [(name, why)] = compile_model(m).nonconic
    assert (name, reason in why) == ("guilty", True)
    with pytest.raises(fsopt.FsoptError, match="guilty"):
        fsopt.solve(m, "clarabel")


@pytest.mark.parametrize(
    ("objective", "cone", "integer", "expected"),
    [
        ("linear", False, False, "LP"), ("linear", False, True, "MILP"), ("square", False, False, "QP"),
        ("square", False, True, "MIQP"), ("linear", True, False, "SOCP"), ("square", True, False, "SOCP"),
        ("linear", True, True, "MISOCP"), ("indefinite", False, False, "NLP"), ("exp", False, False, "NLP"),
        ("indefinite", False, True, "MINLP"), ("concave", False, False, "NLP"),
    ],
)  # fmt: skip
def test_every_class_is_told(objective, cone, integer, expected):
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(domain=pyo.Integers if integer else pyo.Reals), pyo.Var(bounds=(0, None))
    form = {"linear": m.x, "square": (m.x - m.y) ** 2, "indefinite": m.x**2 + 3 * m.x * m.y + m.y**2,
            "exp": pyo.exp(m.x), "concave": -((m.x - m.y) ** 2)}[objective]  # fmt: skip
    m.o = pyo.Objective(expr=form)
    m.q = pyo.Constraint(expr=m.x**2 <= m.y**2) if cone else pyo.Constraint(expr=m.x <= m.y)
    assert fsopt.classify(m) == expected in CLASSES
    m.o.set_value(-form)
    m.o.sense = pyo.maximize
    assert fsopt.classify(m) == expected, "a maximisation of the negative is the same problem"


# -- scaling --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_scaling_maps_cones_onto_themselves_with_powers_of_two(seed):
    rng = np.random.default_rng(seed)
    m = pyo.ConcreteModel()
    m.w, m.s, m.t = pyo.Var(range(5)), pyo.Var(range(5), bounds=(0, None)), pyo.Var(bounds=(0, None))
    size = 10 ** rng.uniform(-5, 5, (5, 5))
    for i in range(5):
        m.add_component(f"r{i}", pyo.Constraint(expr=m.w[i] ** 2 <= float(size[i, 0]) * m.s[i] * m.t))
        m.add_component(f"a{i}", pyo.Constraint(expr=dot(size[i], tuple(m.w.values())) + m.s[i] >= i))
    m.ball = pyo.Constraint(expr=sum(v**2 for v in m.w.values()) <= 7)
    units = (p := compile_model(m)).scaling
    for factors in (units.columns, units.rows):
        np.testing.assert_array_equal(np.log2(factors), np.round(np.log2(factors)))
    assert abs(units.uncone @ units.cone - sp.identity(len(p.cones.h))).max() < 1e-9
    for inside in (True, False):
        for _ in range(30):
            s = rng.standard_normal(len(p.cones.h))
            for a, b in zip(p.cones.starts[:-1], p.cones.starts[1:], strict=True):
                s[a] = np.linalg.norm(s[a + 1 : b]) * (1 + (0.1 if inside else -0.1) * rng.uniform(0.1, 1))
            for turned in (units.cone @ s, units.uncone @ s, units.cone.T @ s):
                assert np.all((p.cones.distances(turned) <= 1e-12 * np.abs(turned).max()) == inside)
