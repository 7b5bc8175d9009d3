"""SCIP: the source of its bounds, nonconvex constraints, refusals, what it writes."""

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo_models import POSITIVE, model_of
from support import blobs

import fsopt
from fsopt.answers.certificate import TOLERANCE
from fsopt.certificates.model import certify_point
from fsopt.certificates.points import minimised
from fsopt.compiler import compile_model
from fsopt.errors import SolverError
from fsopt.solvers.base import Session
from fsopt.solvers.interface import Settings

pytest.importorskip("pyscipopt")
from fsopt.solvers.scip import Scip


def priced(sense: int, third: str) -> pyo.ConcreteModel:
    """Return min 2x + 3y s.t. x + y >= 4, x - y <= 1 and a third row, or the maximum of its negative."""
    rows = {"redundant": lambda x, y: x + 2 * y >= -1, "row": lambda x, y: x + 2 * y >= 1, "bound": lambda x, y: y >= 3}
    both = (lambda x, y: x + y >= 4), (lambda x, y: x - y <= 1)
    return model_of(lambda x, y: sense * (2 * x + 3 * y), *both, rows[third], bounds=[POSITIVE] * 2, sense=sense)


@pytest.mark.parametrize("third", ["row", "redundant"])
@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_a_linear_program_is_certified_by_the_multipliers_of_scip_itself(sense, third):
    m = priced(sense, third)
    result = fsopt.solve(m, "scip")
    assert (result.status, result.certificate.bound_source) == ("optimal", "dual point of scip")
    assert result.evidence.y == pytest.approx([2.5, -0.5, 0.0])


def test_a_convex_quadratic_program_has_the_bound_of_another_solver():
    result = fsopt.solve(fsopt.build("svm", blobs(12, 2)), "scip")
    assert (result.status, result.certificate.bound_source) == ("optimal", "dual point of clarabel")
    assert result.point.y is None


@pytest.mark.parametrize(
    ("third", "options", "value", "source"),
    [("bound", None, 11.0, "scip"), ("row", {"presolving/maxrounds": -1}, 9.5, "highs")],
)
def test_rows_that_scip_drops_are_ranges_or_have_multipliers_of_another_solver(third, options, value, source):
    result = fsopt.solve(priced(1, third), "scip", options=options)
    assert (result.status, result.certificate.bound_source) == ("optimal", f"dual point of {source}")
    assert result.objective == pytest.approx(value)


def test_a_leaking_answer_is_refused_by_the_certificate(wdbc_std):
    program = compile_model(fsopt.build("gmeb-primal", wdbc_std, r_plus=3.0, r_minus=3.0))
    leak = fsopt.SOLVERS["scip"].connect(program, Settings(tolerance=1e-4)).solve(60)
    assert abs(minimised(program, leak.point.x) - 121.757464796) > 1e-3, "nothing leaks: the test is empty"
    certificate = certify_point(program, leak.point)
    assert not certificate.ok
    assert certificate.residuals["infeasibility"] > 10 * TOLERANCE


def nonconvex(body, side):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(0.2, 3))
    x, y = m.x.values()
    bodies = {
        "ring": x**2 + y**2,
        "product": x * y,
        "exp": pyo.exp(x) - y,
        "log": pyo.log(x) + y,
        "root": pyo.sqrt(x * y),
        "power": x**1.7 + y,
        "base": 2**x - y,
        "ratio": x / y,
        "abs": abs(x - y),
        "sin": pyo.sin(3 * x) + pyo.cos(y),
    }
    m.c = pyo.Constraint(expr=(side, bodies[body], None))
    m.o = pyo.Objective(expr=x + 2 * y - 0.3 * x * y)
    return m


@pytest.mark.slow
@pytest.mark.parametrize("body", ["ring", "product", "exp", "log", "root", "power", "base", "ratio", "abs", "sin"])
def test_nonconvex_rows_against_a_grid(body):
    side = 0.9
    m = nonconvex(body, side)
    result = fsopt.solve(m, "scip", options={"mip_gap": 1e-7})
    assert (result.status, result.stop) == ("optimal", "optimal")
    assert pyo.value(m.c.body) >= side - 1e-6
    best = np.inf
    for x, y in itertools.product(np.linspace(0.2, 3, 281), repeat=2):
        if x + 2 * y - 0.3 * x * y < best:
            m.x.set_values({0: x, 1: y})
            if pyo.value(m.c.body) >= side:
                best = x + 2 * y - 0.3 * x * y
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


def test_its_simplex_method_writes_nothing_to_stderr(capfd):
    """Rows of this size have it ask for a tolerance of 1e-12, which it refuses in a line of its own."""
    rows = (lambda x, y: -4e6 * x - 2e6 * y <= 1), (lambda x, y: -1e-6 * x - 7e-6 * y <= 1)
    fsopt.solve(model_of(lambda x, y: 3 * x + 3 * y, *rows, bounds=[(-1e8, 1e8)] * 2), "scip")
    assert capfd.readouterr().err == ""
