"""SCIP: the source of its bounds, nonconvex constraints, refusals, what it writes."""

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo_models import model_of
from support import blobs

import fsopt
from fsopt.errors import SolverError
from fsopt.solvers.base import Session

pytest.importorskip("pyscipopt")
from fsopt.solvers.scip import Scip


@pytest.mark.parametrize(("slug", "source"), [("svm", "clarabel"), ("rlp", "highs")])
def test_a_convex_program_has_the_bound_of_another_solver(slug, source):
    result = fsopt.solve(fsopt.build(slug, blobs(12, 2)), "scip")
    assert (result.status, result.certificate.bound_source) == ("optimal", f"dual point of {source}")
    assert result.point.y is None


BODIES = {
    "ring": lambda x, y: x**2 + y**2,
    "product": lambda x, y: x * y,
    "exp": lambda x, y: pyo.exp(x) - y,
    "log": lambda x, y: pyo.log(x) + y,
    "root": lambda x, y: pyo.sqrt(x * y),
    "power": lambda x, y: x**1.7 + y,
    "base": lambda x, y: 2**x - y,
    "ratio": lambda x, y: x / y,
    "abs": lambda x, y: abs(x - y),
    "sin": lambda x, y: pyo.sin(3 * x) + pyo.cos(y),
}


@pytest.mark.slow
@pytest.mark.parametrize("body", BODIES)
def test_nonconvex_rows_against_a_grid(body):
    goal, side = lambda x, y: x + 2 * y - 0.3 * x * y, 0.9
    m = model_of(goal, lambda x, y: BODIES[body](x, y) >= side, bounds=[(0.2, 3)] * 2)
    result = fsopt.solve(m, "scip", options={"mip_gap": 1e-7})
    assert (result.status, result.stop) == ("optimal", "optimal")
    assert pyo.value(m.row[0].body) >= side - 1e-6
    grid = itertools.product(np.linspace(0.2, 3, 281), repeat=2)
    best = min(goal(x, y) for x, y in grid if pyo.value(BODIES[body](float(x), float(y))) >= side)
    assert best - 0.02 <= result.objective <= best + 1e-6


def test_an_unknown_function_is_refused_by_name_before_the_call(monkeypatch):
    m = model_of(pyo.tanh, bounds=[(0.2, 3)])
    monkeypatch.setattr(Scip, "solve", lambda *_: pytest.fail("SCIP was called"))
    with pytest.raises(SolverError, match=r"tanh.*'o'"):
        fsopt.solve(m, "scip")


def test_a_failing_linear_program_is_no_answer_and_no_traceback(monkeypatch):
    session = Session(fsopt.build("rlp", blobs()), "scip")

    class Broken:
        def __getattr__(self, name):
            if name == "optimize":
                raise RuntimeError("SCIP: error in LP solver!")
            return lambda *_: 1e20

    session.connection.interface.m = Broken()
    result = session.solve()
    assert (result.status, result.stop) == ("none", "numerical")
    assert session.solve().status == "optimal", "the model was not loaded anew"
