"""The dual of a conic program as a program: strong duality, multipliers that hold, and Farkas vectors."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from support import blobs

import fsopt
from fsopt.certificates.convex import dual_point, farkas
from fsopt.compiler import compile_model
from fsopt.results import Point
from fsopt.solvers.dual_program import dual_program
from fsopt.solvers.interface import Settings


def solved(program):
    return fsopt.SOLVERS["clarabel"].connect(program, Settings()).solve(None)


@pytest.mark.parametrize("slug", ["rlp", "svm", "svm-dual", "gmeb-primal", "gmeb-dual", "rsvm"])
def test_the_dual_has_the_value_of_the_primal_and_its_answer_is_its_multipliers(slug):
    model = fsopt.build(slug, blobs(24, 4, seed=3, gap=0.5))
    program = compile_model(model)
    primal = fsopt.solve(model, "clarabel")
    dual, form = dual_program(program, ray=False)
    outcome = solved(dual)
    assert outcome.status == "optimal"
    x = outcome.point.x
    value = 0.5 * x @ (dual.P @ x) + dual.c @ x
    assert program.c0 - value == pytest.approx(program.sign * primal.objective, rel=1e-6, abs=1e-6)
    found = form.point(np.zeros(program.n), x[: form.shape[0]])
    _, residuals = dual_point(program, Point(primal.point.x, found.y, found.z))
    assert max(residuals.values()) < 1e-6


@pytest.mark.parametrize(("level", "feasible"), [(1.0, True), (2.0, False)])
def test_a_ray_exists_where_there_is_no_point(level, feasible):
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(-3, None)), pyo.Var()
    m.disc = pyo.Constraint(expr=m.x**2 + m.y**2 <= 1)
    m.line = pyo.Constraint(expr=m.x + m.y >= level)
    m.o = pyo.Objective(expr=m.x)
    program = compile_model(m)
    dual, form = dual_program(program, ray=True)
    outcome = solved(dual)
    assert (outcome.status == "optimal") is not feasible
    if not feasible:
        assert farkas(program, form.point(np.zeros(program.n), outcome.point.x[: form.shape[0]])).ok
