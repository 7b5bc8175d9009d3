"""One contract for all solvers: every registered solver on every model of its classes, and the matrix of cases."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo_models import model_of
from solver_cases import crossing, failing, knapsacks, takers, usable_solvers
from support import integers, sampled, there

import fsopt
from fsopt.answers.results import Status
from fsopt.compiler.classes import CONVEX
from fsopt.errors import FileError, SolverError, foreign
from fsopt.solvers import auxiliary
from fsopt.solvers.base import Session
from fsopt.solvers.registry import SOLVERS
from fsopt.solvers.spec import Change, Connection, Settings
from tools.conformance import agreement, pairs

WITHIN = 1e-6
USABLE = usable_solvers()
PAIRS = [(slug, solver) for slug, solver in pairs() if solver in USABLE]
KIND = {slug: model.problem_class for slug, model in fsopt.MODELS.items()}
SOON = set({(KIND[slug], solver): (slug, solver) for slug, solver in PAIRS if KIND[slug] != "MINLP"}.values())
"""Pairs of ``make test``: of each class but MINLP, which the matrix below has, a model with each solver."""


def test_required_solvers_are_there(request: pytest.FixtureRequest) -> None:
    wanted = [name for name in request.config.getoption("--require-solvers").split(",") if name]
    assert [name for name in wanted if name not in USABLE] == []


@pytest.mark.parametrize(("slug", "solver"), sampled(sorted(PAIRS, key=lambda pair: pair not in SOON), len(SOON)))
def test_every_pair_of_a_model_and_a_solver_of_its_class_agrees(slug: str, solver: str) -> None:
    found = agreement(slug, solver)
    if found.status == "refused":
        assert found.note.startswith(f"solver '{solver}' does not take "), found.note
        return
    assert found.difference is not None, f"{found.status}: {found.note}"
    tolerance = max(WITHIN, SOLVERS[solver].tolerance)
    if found.status == "optimal" or KIND[slug] in CONVEX:
        assert found.difference <= (WITHIN if KIND[slug] in CONVEX else tolerance)
        assert found.status == "optimal" or (found.status, solver) == ("feasible", "scs")  # its last digits are luck
    else:
        # An answer that is not good enough must not be called optimal, and must still be close.
        assert found.status in ("feasible", "stationary")
        assert found.difference <= 1e-3 or (slug, solver) == ("misclass", "ipopt")  # another local optimum


# -- the matrix: case x class of programs x solver -------------------------------------------------------------


def plain(kind: str, solver: str) -> None:
    """Integer programs against enumeration; nonconvex ones have their optimum where two curves cross."""
    if kind in ("NLP", "MINLP"):
        m, optimum = crossing(whole=(1,) if kind == "MINLP" else ()), -7.0
    else:
        m, optimum = integers(kind)
    assert fsopt.classify(m) == kind
    result = fsopt.solve(m, solver)
    assert (result.stop, result.certificate.ok) == ("optimal", True)
    assert result.certificate.kind == ("mixed-integer" if "MI" in kind else "global")
    assert result.certificate.bound_source == f"the word of {solver}"
    assert result.objective == pytest.approx(optimum, rel=1e-6, abs=2e-5 if kind == "NLP" else 1e-6)
    assert result.bound == pytest.approx(result.objective, rel=1e-6, abs=1e-6)
    assert all(v.value == round(v.value) for v in m.x.values() if v.is_integer())


def without_an_answer(what: str, kind: str, solver: str) -> None:
    """A program that has none is told what it is, and it is proved."""
    model, expected = failing(kind, what), what.split()[0]
    assert fsopt.classify(model) == kind
    result = fsopt.solve(model, solver)
    proved = (expected, kind) != ("unbounded", "MISOCP")
    found = (result.status, result.stop, result.objective, result.point, result.certificate.ok)
    assert found == (expected if proved else "none", expected, None, None, proved)


KEPT = {"scip": ""}
"""Solver -> the parameters of right-hand side (r), cost (d) and coefficient (a) that it takes in place, if not all."""


def update(kind: str, solver: str) -> None:
    """A session that changes gives what a new model gives."""
    m = pyo.ConcreteModel()
    m.r, m.a, m.d = (pyo.Param(initialize=v, mutable=True) for v in (4.0, 1.0, 3.0))
    m.x = pyo.Var(range(3), bounds=(0, 5))
    x, y, z = m.x.values()
    m.row = pyo.Constraint(expr=m.a * x + y + z >= m.r)
    m.o = pyo.Objective(expr=2 * x + m.d * y + 4 * z + 0.5 + (0 if kind == "LP" else (x - 1) ** 2))
    session = Session(m, solver)

    def agrees() -> bool:
        return session.solve().objective == pytest.approx(fsopt.solve(m.clone()).objective, rel=1e-6)

    assert agrees()
    for name, value, component in (("r", 6.0, m.row), ("d", 1.0, m.o), ("a", 3.0, m.row)):
        getattr(m, name).set_value(value)
        session.update(component)
        assert bool(session.rebuilt) is (name not in KEPT.get(solver, "rda")), name
        assert agrees(), name
    y.setub(1.0)
    m.more = pyo.Constraint(expr=x <= 1)
    session.update(m.x)
    session.add(m.more)
    assert agrees()
    z.fix(2.5)
    session.update(m.x)
    assert agrees()


def limit(kind: str, solver: str) -> None:
    """A time limit keeps the incumbent and claims nothing; it holds for one solve, and garbage is not loaded."""
    if kind == "MILP":
        m = knapsacks()
        relaxed = pyo.TransformationFactory("core.relax_integer_vars").create_using(m)
        result = fsopt.solve(m, solver, time_limit=0.2)
        assert (result.status in ("feasible", "none"), result.stop) == (True, "time-limit")
        if result.status == "feasible":
            assert result.objective == pytest.approx(pyo.value(m.o))
            assert all(pyo.value(c.body) <= c.upper + 1e-6 for c in m.c.values())
            assert result.bound is None or result.objective < result.bound <= fsopt.solve(relaxed).objective * 1.001
        loose = fsopt.solve(m, solver, time_limit=60, options={"mip_gap": 0.5})
        assert loose.stop == ("almost" if solver == "pyomo:glpk" else "optimal")
        return
    rng = np.random.default_rng(0)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(40), bounds=(0, None), initialize=7.0)
    m.c = pyo.Constraint(range(40), rule=lambda m, i: sum(rng.random() * m.x[j] for j in range(40)) >= 1 + i)
    m.o = pyo.Objective(expr=sum(m.x.values()))
    session = Session(m, solver)
    first = session.solve(time_limit=1e-7)  # passed when the solver is called, on every machine
    assert (first.status in ("none", "feasible"), first.stop) == (True, "time-limit")
    if first.status == "none":
        assert m.x[0].value == 7.0, "a point that is no answer was written into the model"
    assert session.solve().status == "optimal"


CONTINUOUS, WHOLE = ("LP", "QP", "SOCP"), ("MILP", "MIQP", "MISOCP")
CASES = {
    "plain": (plain, (*WHOLE, "NLP", "MINLP")),
    "infeasible with a free direction": (
        partial(without_an_answer, "infeasible with a free direction"),
        (*CONTINUOUS, *WHOLE),
    ),
    "unbounded": (partial(without_an_answer, "unbounded"), (*CONTINUOUS, *WHOLE)),
    "after an update": (update, ("LP", "QP")),
    "limit": (limit, ("LP", "MILP")),
}
"""What happens -> its test of a class and a solver, and the classes."""
LIMITED = ("highs", "clarabel", "scs", "ipopt", "scip", "gurobi")
"""Solvers of linear programs that look at the clock before their first step."""


@pytest.mark.parametrize(
    ("case", "kind", "solver"),
    sampled(
        [
            (case, kind, solver)
            for case, (_, kinds) in CASES.items()
            for kind in kinds
            for solver in takers(*{"NLP": ("NLP", "MINLP")}.get(kind, (kind,)))
            if (case, kind) != ("limit", "LP") or solver in LIMITED
        ],
        66,
        2557,  # a draw with most pairs of a case and a solver
    ),
)
def test_every_case_of_every_class_by_every_solver(case: str, kind: str, solver: str) -> None:
    CASES[case][0](kind, solver)


# -- refusals ---------------------------------------------------------------------------------------------------


INF = math.inf


def square() -> pyo.ConcreteModel:
    """Return min x + y over [0, 5]^2 with a parameter p = 1 that nothing uses yet: 0."""
    m = pyo.ConcreteModel("m")
    m.x = pyo.Var([0, 1], bounds=(0, 5))
    m.p = pyo.Param(initialize=1.0, mutable=True, within=pyo.Any)
    m.o = pyo.Objective(expr=m.x[0] + m.x[1])
    return m


def row(m, body, upper=1.0):
    m.c = pyo.Constraint(expr=(None, body, upper))


# -- programs without rows, entries, columns or objective ------------------------------------------------------

ZERO = {
    "no rows": lambda m: None,
    "a row without entries": lambda m: row(m, 0 * m.x[0]),
    "an equation without entries": lambda m: setattr(m, "c", pyo.Constraint(expr=(0, 0 * m.x[0], 0))),
    "a column without entries": lambda m: row(m, m.x[0]),
    "a row without bounds": lambda m: row(m, m.x[0] + m.x[1], INF),
    "fixed variables": lambda m: m.x.fix(0.0),
    "equal bounds": lambda m: (m.x[0].setub(0), m.x[1].setub(0)),
    "a constant objective": lambda m: m.o.set_value(0.0),
    "no objective": lambda m: m.o.deactivate(),
    "an objective of zeros": lambda m: m.o.set_value(0 * m.x[0]),
    "no columns": lambda m: (m.o.deactivate(), m.del_component(m.x)),
}
"""Changes of the square after which 0 stays the optimum."""
NAMES = [name for name in usable_solvers() if SOLVERS[name].classes & {"LP", "QP"}]


def degenerate(solver, case):
    m = square()
    if "LP" not in SOLVERS[solver].classes:
        m.o.expr += m.x[0] ** 2
    ZERO[case](m)
    return m


DEGENERATE = [(s, c) for s in NAMES for c in ZERO if fsopt.classify(degenerate(s, c)) in SOLVERS[s].classes]


@pytest.mark.parametrize(("solver", "case"), sampled(DEGENERATE, 30, 0))
def test_degenerate_programs_have_their_optimum_in_every_solver(solver, case):
    result = fsopt.solve(degenerate(solver, case), solver)
    assert (result.status, result.certificate.ok) == ("optimal", True), result
    assert result.objective == pytest.approx(0.0, abs=1e-6)


# -- one boundary ----------------------------------------------------------------------------------------------


def test_one_rule_names_the_library_and_its_words():
    boundary = partial(foreign, "lib", "the file is wrong", "mend it", FileError)
    for error, words in (
        (ValueError("first\nsecond"), "first"),
        (KeyError("x"), "KeyError 'x'"),
        (RuntimeError(), "RuntimeError"),
    ):
        with pytest.raises(FileError, match=rf"^the file is wrong \(lib: {words}\): mend it$"), boundary():
            raise error
    for error in (MemoryError(), OSError("full"), SolverError("own")):
        with pytest.raises(type(error)), boundary():
            raise error


class Broken:
    """An interface whose package fails everywhere but at the start."""

    def __init__(self, program, settings):
        if settings.tee:
            self.solve(None)

    def update(self, change):
        return {}["no such attribute"]

    def solve(self, time_limit, mip_gap=None):
        raise OSError("failed to create the problem\nwith more words")


def test_the_exceptions_of_a_package_become_one_line():
    session = Session(model_of(lambda x: x, bounds=[(0, 5)]), "highs")
    spec = replace(SOLVERS["highs"], connect=Broken)
    line = r"solver 'highs' fails on 'unknown' \(highs: failed to create the problem\): choose .*another solver"
    with pytest.raises(SolverError, match=line):
        Connection(spec, session.program, Settings(tee=True))
    connection = Connection(spec, session.program, Settings())
    with pytest.raises(SolverError, match=line):
        connection.solve(None)
    with pytest.raises(SolverError, match=r"solver 'highs' fails on 'unknown' \(highs: KeyError 'no such attribute'\)"):
        connection.update(Change(objective=True))


@pytest.mark.parametrize("error", [ZeroDivisionError, MemoryError, RecursionError])
def test_a_search_for_evidence_that_fails_leaves_the_answer(monkeypatch, error):
    """SCIP returns no multipliers of a quadratic program: without the second opinion its point is feasible."""
    m = square()
    m.o.expr = (m.x[0] - 1) ** 2 + m.x[1]

    def broken(*arguments, **keywords):
        raise error("broken")

    monkeypatch.setattr(auxiliary, "_solved", broken)
    result = fsopt.solve(m, there("scip"))
    assert result.status is Status.FEASIBLE
    assert result.objective == pytest.approx(0.0, abs=1e-6)
    assert "the search for evidence failed: broken" in result.message
