"""Ipopt: multipliers, local answers that are called local, interrupts."""

import dataclasses

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo_models import POSITIVE, model_of

import fsopt
from fsopt.answers.results import Point
from fsopt.compiler import compile_model
from fsopt.compiler.classes import smoothly_convex
from fsopt.compiler.derivatives import Derivatives
from fsopt.solvers.base import Session
from fsopt.solvers.nlp import NonlinearForm

pytest.importorskip("cyipopt", exc_type=ImportError)


def hyperbola():
    bounds = [(-0.01, None), POSITIVE]  # with x >= 0 it would be a cone
    return model_of(lambda x, y: x + 4 * y, lambda x, y: x * y >= 1, bounds=bounds, start=[3.0, 0.3])


def test_a_nonconvex_quadratic_is_stationary_never_optimal_and_has_multipliers():
    m = hyperbola()
    result = fsopt.solve(m, "ipopt")
    assert (result.status, result.certificate.kind, result.bound) == ("stationary", "kkt", None)
    assert result.objective == pytest.approx(4.0)
    assert (m.x[0].value, m.x[1].value, m.dual[m.row[0]]) == pytest.approx((2, 0.5, 2.0))
    assert fsopt.certify(m, result).ok
    for x, y in ((result.point.x + np.array([1e-4, 0]), result.point.y), (result.point.x, 1.001 * result.point.y)):
        moved = dataclasses.replace(result, point=Point(x, y, result.point.z))
        assert not fsopt.certify(m, moved).ok


ANY = [(None, None)] * 2
SMOOTH = {  # name: (objective, constraints, bounds)
    "logistic": (lambda x, y: sum(pyo.log(1 + pyo.exp(s * x + y)) - s * x / 3 - y / 4 for s in (-1, 2, 3)), (), ANY),
    "ridge": (lambda x, y: pyo.log(1 + pyo.exp(x - 2 * y)) + x**2 + (y - 1) ** 2, (), ANY),
    "row": (lambda x, y: x + y, (lambda x, y: pyo.exp(-x) + pyo.exp(-y) <= 1,), ANY),
    "root": (lambda x, y: x, (lambda x, y: pyo.sqrt(x - y**2) >= 1,), ANY),
}


@pytest.mark.parametrize("what", SMOOTH)
def test_a_program_that_is_convex_by_its_functions_is_optimal_by_its_gradients(what):
    objective, rows, bounds = SMOOTH[what]
    m = model_of(objective, *rows, bounds=bounds, start=[0.5, 0.4])
    result = fsopt.solve(m)
    assert (result.solver, result.status, result.certificate.kind) == ("ipopt", "optimal", "convex")
    assert result.bound == pytest.approx(result.objective, rel=1e-6)
    if what in ("row", "root"):
        assert result.objective == pytest.approx({"row": 2 * np.log(2), "root": 1}[what], rel=1e-6)
    away = dataclasses.replace(result, point=Point(result.point.x + 1e-2, result.point.y, result.point.z))
    assert fsopt.certify(m, result) == result.certificate
    assert not fsopt.certify(m, away).ok


@pytest.mark.parametrize(
    ("objective", "convex"),
    [
        (lambda x, y: -pyo.exp(x), False),
        (lambda x, y: pyo.exp(x**2 + pyo.exp(y)), True),
        (lambda x, y: pyo.exp(-(x**2)), False),
        (lambda x, y: pyo.log(pyo.exp(x) + 2 * pyo.exp(x + y)), True),
        (lambda x, y: pyo.log(pyo.exp(x) + 2 * pyo.exp(y) * pyo.exp(x)), False),
        (lambda x, y: pyo.log(pyo.exp(x) - pyo.exp(y) / 9), False),
        (lambda x, y: -pyo.log(x + 2) - pyo.sqrt(y), True),
        (lambda x, y: pyo.log(x), False),
        (lambda x, y: x**-1.5 - 2 / y, False),
        (lambda x, y: pyo.exp(x) + x * y, False),
    ],
)
def test_convexity_is_told_by_rules_and_by_nothing_else(objective, convex):
    program = compile_model(model_of(objective, bounds=[POSITIVE] * 2, start=[1.0, 1.0]))
    assert smoothly_convex(program) == convex


@pytest.mark.parametrize("function", ["objective", "gradient", "constraints", "jacobian", "hessian"])
def test_an_interrupt_in_any_function_ends_the_solve_and_the_next_one_works(monkeypatch, function):
    session = Session(hyperbola(), "ipopt")
    calls = []

    def interrupted(self, *arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(self, *arguments)

    original = getattr(NonlinearForm, function)
    monkeypatch.setattr(NonlinearForm, function, interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.solve()
    assert len(calls) == 3, "the solve went on after the interrupt"
    monkeypatch.undo()
    assert session.solve().status == "stationary"


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
    zoo = pyo.log(x[0] + x[1] ** 2) * pyo.sin(x[3]) + (pyo.tanh(x[0]) + x[2]) ** 3 - abs(x[1]) + pyo.log10(x[4])
    m.zoo = pyo.Constraint(expr=zoo + pyo.cos(x[2] / x[3]) == 0.3)
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
