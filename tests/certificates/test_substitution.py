"""Integers as constants and substituted variables: the same feasible set, the same objective on it."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from support import blobs

import fsopt
from fsopt.certificates.model import fixed_program, with_substituted_objective
from fsopt.compiler import compile_model
from fsopt.compiler.classes import program_class


@pytest.mark.parametrize("selection", [[0, 1, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1]])
def test_products_with_fixed_integers_make_a_convex_program(selection: list[int]) -> None:
    data = blobs(20, 4)
    program = compile_model(fsopt.build("fsp-lambda", data, lam=0.5))
    assert program_class(program) == "MINLP"
    places = [program.column[id(v)] for v in program.model.sigma.values()]
    x = np.zeros(program.n)
    x[places] = selection
    rest = fixed_program(program, x + 1e-7)
    assert program_class(rest) == ("QP" if any(selection) else "LP")
    assert not rest.integer.any()
    assert rest.lb[places].tolist() == rest.ub[places].tolist() == selection

    by_hand = fsopt.build("fsp-lambda", data, lam=0.5)
    for variable, value in zip(by_hand.sigma.values(), selection, strict=True):
        variable.fix(value)
    weights = np.random.default_rng(0).normal(size=4)
    for v, w, s, weight in zip(*(by_hand.component(n).values() for n in ("v", "w", "sigma")), weights, strict=True):
        w.set_value(weight)
        v.set_value(s.value * weight)
    for variable in (*by_hand.xi.values(), by_hand.b):
        variable.set_value(0.25)
    point = np.array([v.value for v in by_hand.component_data_objects(pyo.Var)])
    assert rest.objective_at(point) == pytest.approx(pyo.value(by_hand.objective), rel=1e-14)


@pytest.mark.parametrize("seed", range(6))
def test_a_substituted_objective_is_the_same_function_on_the_feasible_set(seed: int) -> None:
    """Chains of equations in one or two variables, in random order and scale, and a random quadratic objective."""
    rng = np.random.default_rng(seed)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(6))
    point = rng.normal(size=6)
    m.rows = pyo.ConstraintList()
    for _ in range(4):
        i, j = rng.choice(6, 2, replace=False).tolist()
        a, b = rng.uniform(0.5, 2.0, 2) * rng.choice([-1.0, 1.0], 2)
        b = 0.0 if rng.random() < 0.3 else b
        body = a * m.x[i] + b * m.x[j] if b else a * m.x[i]
        m.rows.add(body == a * point[i] + b * point[j])
    Q, c = rng.normal(size=(6, 6)), rng.normal(size=6)
    x = list(m.x.values())
    quadratic = sum(float(Q[i, j]) * x[i] * x[j] for i in range(6) for j in range(6))
    m.o = pyo.Objective(expr=quadratic + sum(float(c[j]) * x[j] for j in range(6)) + 3)
    program = compile_model(m)
    changed = with_substituted_objective(program)
    assert changed.objective_at(point) == pytest.approx(program.objective_at(point), rel=1e-12, abs=1e-12)
    A = program.A.toarray()
    null = np.eye(6) - np.linalg.pinv(A) @ A
    other = point + null @ rng.normal(size=6)
    assert changed.objective_at(other) == pytest.approx(program.objective_at(other), rel=1e-10, abs=1e-10)
