"""What a Pyomo model says and no array holds: refused by name by solvers, in certificates and in files."""

import math

import pyomo.dae as dae
import pyomo.environ as pyo
import pytest
from pyomo.contrib.piecewise import PiecewiseLinearFunction
from pyomo.core.expr.numeric_expr import MaxExpression, MinExpression
from pyomo.gdp import Disjunct, Disjunction
from pyomo.mpec import Complementarity, complements
from pyomo.network import Arc, Port

import fsopt
from fsopt.compiler import compile_model
from fsopt.errors import FileError, ParameterError, SolverError


def plain():
    """Return min x + 2y, x + y >= 3, with the optimum 3."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, 10), initialize=3), pyo.Var(bounds=(0, 10), initialize=1)
    m.o = pyo.Objective(expr=m.x + 2 * m.y)
    m.c = pyo.Constraint(expr=m.x + m.y >= 3)
    return m


def part(make):
    """Return a change that adds a component ``d``."""
    return lambda m: m.add_component("d", make(m))


def row(body):
    return part(lambda m: pyo.Constraint(expr=body(m)))


def disjunct(m):
    m.d = Disjunct()
    m.d.c = pyo.Constraint(expr=m.x >= 5)


def logical(m):
    m.b = pyo.BooleanVar([1, 2])
    m.d = pyo.LogicalConstraint(expr=pyo.land(m.b[1], m.b[2]))


def arc(m):
    m.p, m.q = Port(), Port()
    m.p.add(m.x, "flow")
    m.q.add(m.y, "flow")
    m.d = Arc(source=m.p, destination=m.q)


def piecewise(m):
    m.d = PiecewiseLinearFunction(points=[0, 5, 10], function=lambda x: (x - 5) ** 2)
    m.e = pyo.Constraint(expr=m.d(m.x) <= 1)


KINDS = {
    "Disjunction": (part(lambda m: Disjunction(expr=[[m.x >= 5], [m.y >= 1]])), "transform"),
    "Disjunct": (disjunct, "Disjunction"),
    "LogicalConstraint": (logical, "logical_to_linear"),
    "Complementarity": (part(lambda m: Complementarity(expr=complements(m.x >= 1, m.y >= 1))), "simple_disjunction"),
    "SOSConstraint": (part(lambda m: pyo.SOSConstraint(rule=lambda m: ([m.x, m.y], [1, 2]), sos=1)), "binaries"),
    "Arc": (arc, "expand_arcs"),
    "PiecewiseLinearFunction": (piecewise, "integers"),
    "ExternalFunctionExpression": (row(lambda m: pyo.ExternalFunction(lambda a: a * a)(m.x) >= 4), "integers"),
    "floor": (row(lambda m: pyo.floor(m.x) >= 4), "integers"),
    "ceil": (row(lambda m: pyo.exp(2 + pyo.ceil(m.x)) >= 4), "integers"),
    "Expr_ifExpression": (row(lambda m: pyo.Expr_if(m.x >= 2, m.x, m.y) >= 4), "integers"),
    "MinExpression": (row(lambda m: MinExpression((m.x, m.y)) >= 4), "integers"),
    "MaxExpression": (row(lambda m: m.y * MaxExpression((m.x, m.y)) >= 4), "integers"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_part_without_a_place_in_the_arrays_is_refused_by_name(kind, tmp_path):
    change, hint = KINDS[kind]
    m = plain()
    change(m)
    with pytest.raises(SolverError, match=rf"a part of the kind {kind} \('d'\)") as error:
        fsopt.solve(m)
    assert hint in error.value.hint
    found = fsopt.certify(m)
    assert not found.ok
    assert f"{kind} ('d')" in found.notes[0]
    held = {"Complementarity": 3}
    for suffix in (".cbf", ".lp", ".mps", ".nl")[: held.get(kind, 4)]:
        with pytest.raises(FileError, match=r"cannot export.*'d'"):
            fsopt.export(m, tmp_path / f"m{suffix}")
    assert not [*tmp_path.iterdir()]


# -- other parts that are read, or refused --------------------------------------------------------------------


def inactive(m):
    m.b = pyo.Block()
    m.b.z = pyo.Var(initialize=0)
    m.b.c = pyo.Constraint(expr=m.x >= 100)
    m.b.k = Complementarity(expr=complements(m.x >= 1, m.y >= 1))
    m.b.deactivate()


READ = {
    "an inactive block": (inactive, 3),
    "a constant in the objective": (lambda m: m.o.set_value(m.x + 2 * m.y + 5), 8),
    "an infinite right-hand side": (part(lambda m: pyo.Constraint(expr=m.x <= math.inf)), 3),
    "a value beyond bounds": (lambda m: m.y.fix(20), 40),
    "a suffix": (lambda m: m.add_component("unknown", pyo.Suffix(direction=pyo.Suffix.EXPORT)), 3),
    "an external function in no constraint": (lambda m: m.add_component("f", pyo.ExternalFunction(lambda a: a)), 3),
    "a truth in no constraint": (lambda m: m.add_component("b", pyo.BooleanVar()), 3),
    "a port in no arc": (lambda m: m.add_component("p", Port()), 3),
    "one of two objectives": (lambda m: (m.o.deactivate(), m.add_component("q", pyo.Objective(expr=m.x))), 0),
}


@pytest.mark.parametrize("name", READ)
def test_what_is_read(name):
    change, expected = READ[name]
    m = plain()
    change(m)
    answer = fsopt.solve(m)
    assert (answer.status, answer.objective) == ("optimal", pytest.approx(expected))
    assert answer.certificate.ok


def unset(m):
    m.p = pyo.Param(mutable=True)
    m.d = pyo.Constraint(expr=m.p * m.x >= 2)


def of_a_parameter(value, body):
    """Return a change that adds a row whose body has a parameter that is no number that one can read."""

    def change(m):
        m.p = pyo.Param(initialize=value, mutable=True, within=pyo.Any)
        row(lambda m: body(m) <= 1)(m)

    return change


def nested(depth, grown):
    """Return a change whose objective has a function of a function of a function, or a long product."""

    def change(m):
        inner = m.x
        for _ in range(depth):
            inner = grown(m, inner)
        m.o.set_value(inner)

    return change


def foreign(factor, power=1):
    other = plain()
    return row(lambda m: m.y + factor * other.x**power >= 1)


def derivative(m):
    m.t = dae.ContinuousSet(bounds=(0, 1))
    m.z = pyo.Var(m.t, bounds=(0, 1))
    m.dz = dae.DerivativeVar(m.z)
    m.d = pyo.Constraint(m.t, rule=lambda m, t: m.dz[t] == 1)


REFUSED = {
    "a parameter without value": (unset, "'d' cannot be read"),
    "a division by 0": (of_a_parameter(0, lambda m: m.x / m.p), r"'d' cannot be read \(Pyomo: division by zero\)"),
    "an expression without content": (
        lambda m: (m.add_component("e", pyo.Expression()), row(lambda m: m.e + m.x >= 1)(m)),
        "'d' cannot be read",
    ),
    "a complex root": (of_a_parameter(-1, lambda m: m.x * m.p**0.5), "complex"),
    "an overflow": (of_a_parameter(1e300, lambda m: m.x * m.p**5), "out of range"),
    "sines of sines": (nested(900, lambda m, v: pyo.sin(v)), "'o' has a term nested more than 200 deep: give"),
    "a long product": (nested(900, lambda m, v: v * m.y), "'o' has a term nested more than 200 deep"),
    "a deleted variable": (lambda m: (m.o.set_value(m.x), m.del_component(m.y)), "no variable of the model"),
    "no number": (row(lambda m: math.nan * m.x <= 3), "'d' has the coefficient nan"),
    "no number in a function": (row(lambda m: pyo.exp(math.nan * m.x) <= 3), "'d' has the number nan"),
    "an infinite number": (row(lambda m: math.inf * m.x + m.y <= 3), "'d' has the coefficient inf"),
    "an infinite square": (lambda m: m.o.set_value(math.inf * m.x**2), "'o' has the coefficient inf"),
    "an equation with infinity": (row(lambda m: m.x == math.inf), "'d' has the bounds inf and inf"),
    "no number as bound": (row(lambda m: m.x <= math.nan), "'d' has the bounds -inf and nan"),
    "an infinite lower bound": (lambda m: m.x.setlb(math.inf), "'x' has no bounds that can be read"),
    "a fixed variable without value": (lambda m: m.x.fix(None), "'x' is fixed at None"),
    "a variable fixed at no number": (lambda m: m.x.fix(math.nan, skip_validation=True), "'x' is fixed at nan"),
    "a variable of another model": (foreign(1), "'d' has 'x', which is no variable of the model"),
    "to the third": (foreign(2, 3), "'d' has 'x', which is no variable of the model"),
    "a derivative": (derivative, r"'dz\[0\]', which is no variable of the model"),
    "two objectives": (lambda m: m.add_component("q", pyo.Objective(expr=m.y)), r"2 active objectives \(o, q\)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_by_name(name, tmp_path):
    change, words = REFUSED[name]
    m = plain()
    change(m)
    for call in (fsopt.solve, fsopt.classify, fsopt.certify, lambda m: fsopt.export(m, tmp_path / "m.nl")):
        with pytest.raises(ParameterError, match=words) as error:
            call(m)
        assert error.value.hint
        assert "\n" not in str(error.value)


def test_a_function_is_named_once_for_all_constraints():
    m = plain()
    m.d = pyo.Constraint([1, 2], rule=lambda m, i: pyo.floor(m.x) + pyo.ceil(m.y) <= i)
    assert compile_model(m).unsupported == {"floor": "d[1]", "ceil": "d[1]"}


def test_a_part_of_the_constraints_suffices_for_infeasibility():
    m = plain()
    m.never = pyo.Constraint(expr=m.x + m.y <= 2)
    answer = fsopt.solve(m)
    logical(m)
    assert (answer.status, fsopt.certify(m, answer).ok) == ("infeasible", True)
