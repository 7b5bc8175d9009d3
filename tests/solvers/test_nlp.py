"""The smooth form: values and derivatives against Pyomo and finite differences."""

import numpy as np
import pyomo.environ as pyo
import pytest

from fsopt.compiler import compile_model
from fsopt.compiler.derivatives import Derivatives
from fsopt.solvers.nlp import NonlinearForm


def curved_model(seed):
    rng = np.random.default_rng(seed)
    u = lambda: float(rng.uniform(0.3, 2.0))  # noqa: E731
    m = pyo.ConcreteModel()
    m.p = pyo.Param(initialize=u(), mutable=True)
    m.x = pyo.Var(range(5), bounds=(0.05, 0.95))
    m.s, m.t = pyo.Var(bounds=(0, None)), pyo.Var(bounds=(0, None))
    x = m.x
    m.o = pyo.Objective(
        sense=pyo.maximize if seed % 2 else pyo.minimize,
        expr=sum(1 - pyo.exp(-m.p * x[j]) for j in range(5))
        + x[0] ** x[1]
        + u() ** x[2]
        + x[0] * x[1] * x[2] / (x[3] + u())
        + x[4] ** -1.5
        + u() * x[0] * x[4],
    )
    m.cone = pyo.Constraint(expr=x[0] ** 2 + 3 * x[1] ** 2 <= m.s * m.t)
    m.line = pyo.Constraint(expr=u() * x[0] - x[3] + m.s >= -1)
    m.bilinear = pyo.Constraint(expr=u() * x[0] * x[1] - x[2] ** 2 + x[3] >= 1)
    m.norm = pyo.Constraint(expr=pyo.sqrt(x[0] ** 2 + u() * x[1] * x[2] + 1) + x[3] - 4 <= 2)
    m.zoo = pyo.Constraint(
        expr=pyo.log(x[0] + x[1] ** 2) * pyo.sin(x[3])
        + (pyo.tanh(x[0]) + x[2]) ** 3
        + abs(x[1])
        - pyo.atan(x[2]) * pyo.acos(x[1])
        + pyo.log10(x[4])
        + pyo.tan(x[0])
        + pyo.asin(x[1])
        + pyo.sinh(x[2])
        + pyo.cosh(x[3])
        + pyo.asinh(x[4])
        + pyo.acosh(1.5 + x[0])
        + pyo.atanh(x[1])
        + pyo.cos(x[2] / x[3])
        == 0.3
    )
    return m, rng


@pytest.mark.parametrize("seed", range(2))
def test_values_and_derivatives_against_pyomo_and_finite_differences(seed):
    m, rng = curved_model(seed)
    program = compile_model(m)
    assert len(program.cones) == 1
    form = NonlinearForm(program)
    v = rng.uniform(0.2, 0.8, form.size)
    x = form.D * v[: form.n]
    for variable, a in zip(program.variables, x.tolist(), strict=True):
        variable.set_value(a)
    other = Derivatives(program)
    shift = [r.terms.constant for r in program.general]
    assert other.values(x)[:-1] + shift == pytest.approx([pyo.value(r.constraint.body) for r in program.general])
    assert program.sign * form.objective(v) + program.sign * program.c0 == pytest.approx(pyo.value(m.o.expr))
    step, unit = 1e-6, np.eye(form.size)

    def slope(function):
        return np.array([(function(v + step * e) - function(v - step * e)) / (2 * step) for e in unit])

    def dense(structure, entries, rows):
        matrix = np.zeros((rows, form.size))
        np.add.at(matrix, structure, entries)
        return matrix

    np.testing.assert_allclose(form.gradient(v), slope(form.objective), rtol=1e-6, atol=1e-7)
    jacobian = dense(form.jacobianstructure(), form.jacobian(v), len(form.low))
    np.testing.assert_allclose(jacobian, slope(form.constraints).T, rtol=1e-6, atol=1e-7)
    weights, factor = rng.standard_normal(len(form.low)), 0.7

    def lagrangian(v):
        return factor * form.gradient(v) + weights @ dense(form.jacobianstructure(), form.jacobian(v), len(form.low))

    lower = dense(form.hessianstructure(), form.hessian(v, weights, factor), form.size)
    assert not np.triu(lower, 1).any()
    np.testing.assert_allclose(lower + np.tril(lower, -1).T, slope(lagrangian), rtol=1e-5, atol=1e-6)
