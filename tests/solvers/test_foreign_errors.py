"""What a library raises at its boundary is one error that names it, and what fails after an answer does not lose it."""

import json
import math
from dataclasses import replace
from functools import reduce

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo_models import model_of
from solver_cases import usable_solvers
from support import there

import fsopt
from fsopt.answers.results import Status
from fsopt.certificates import near
from fsopt.cli import main
from fsopt.errors import DataError, FileError, OptionError, ParameterError, SolverError, foreign, said
from fsopt.solvers import auxiliary
from fsopt.solvers.base import Session
from fsopt.solvers.registry import SOLVERS
from fsopt.solvers.spec import Change, Connection, Settings, set_options

INF, NAN = math.inf, math.nan


def square() -> pyo.ConcreteModel:
    """Return min x + y over [0, 5]^2 with a parameter p = 1 that nothing uses yet: 0."""
    m = pyo.ConcreteModel("m")
    m.x = pyo.Var([0, 1], bounds=(0, 5))
    m.p = pyo.Param(initialize=1.0, mutable=True, within=pyo.Any)
    m.o = pyo.Objective(expr=m.x[0] + m.x[1])
    return m


def row(m, body, upper=1.0):
    m.c = pyo.Constraint(expr=(None, body, upper))


@pytest.mark.parametrize("deeper", [lambda m, inner: pyo.sin(inner), lambda m, inner: inner * m.x[1]])
def test_what_is_nested_less_is_solved_and_verified(deeper):
    m = square()
    m.x[0].value = m.x[1].value = 0.5
    m.o.expr = reduce(lambda inner, _: deeper(m, inner), range(150), m.x[0])
    result = fsopt.solve(m, there("ipopt"), options={"max_iter": 5})
    assert result.point is not None
    assert fsopt.verify(result, m).residuals["infeasibility"] == 0.0


@pytest.mark.parametrize("after", [NAN, None, "a"])
def test_a_change_of_a_loaded_model_to_no_number_is_refused_and_can_be_taken_back(after):
    m = square()
    m.c = pyo.Constraint(expr=m.x[0] + m.x[1] >= m.p)
    m.d = pyo.Constraint(expr=m.p * m.x[0] <= 4)
    session = fsopt.Session(m, "highs")
    assert session.solve().objective == pytest.approx(1.0)
    m.p.set_value(after)
    for change in (lambda: session.update(m.c, m.d), session.refresh):
        with pytest.raises(ParameterError):
            change()
    m.p.set_value(2.0)
    session.update(m.c, m.d)
    assert session.solve().objective == pytest.approx(2.0)


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


PAIRS = [(s, c) for s in NAMES for c in ZERO if fsopt.classify(degenerate(s, c)) in SOLVERS[s].classes]


@pytest.mark.parametrize(("solver", "case"), PAIRS)
def test_degenerate_programs_have_their_optimum_in_every_solver(solver, case):
    result = fsopt.solve(degenerate(solver, case), solver)
    assert (result.status, result.certificate.ok) == ("optimal", True), result
    assert result.objective == pytest.approx(0.0, abs=1e-6)


# -- one boundary ----------------------------------------------------------------------------------------------


def test_one_rule_names_the_library_and_its_words():
    for error, words in (
        (ValueError("first\nsecond"), "first"),
        (KeyError("x"), "KeyError 'x'"),
        (RuntimeError(), "RuntimeError"),
        (IndexError("\n\nlist index out of range."), "IndexError list index out of range"),
    ):
        with pytest.raises(FileError) as found, foreign("lib", "the file is wrong", "mend it", FileError):
            raise error
        assert str(found.value) == f"the file is wrong (lib: {words}): mend it"
        assert found.value.__cause__ is error
        assert said(error) == words
    for error in (MemoryError(), OSError("full"), SolverError("own")):
        with pytest.raises(type(error)), foreign("lib", "the file is wrong", "mend it", FileError):
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


def test_an_option_that_is_refused_is_named_with_its_value_and_the_solver_s_words():
    taken = {}

    def put(name, value):
        if name == "bad":
            raise ValueError("only in\n[0, 1]")
        taken[name] = value

    with pytest.raises(OptionError, match=r"solver 'some' does not take the option 'bad' \(.*7: only in \[0, 1\]\)"):
        set_options("some", {"good": 1, "bad": 7}, put, (ValueError,))
    assert taken == {"good": 1}


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


def test_a_mend_that_fails_in_its_library_leaves_the_answer(monkeypatch):
    m = square()
    m.c = pyo.Constraint(expr=m.x[0] + m.x[1] >= 1)

    def broken(*arguments):
        raise ValueError("a wrong array")

    monkeypatch.setattr(near, "_simplex", broken)
    with pytest.raises(SolverError, match=r"\(HiGHS: a wrong array\)"):
        near.least_change(*change_of_one())
    assert fsopt.solve(m, there("scs")).point is not None


def change_of_one():
    """Return arguments of the least change of one variable that is at least 1."""
    import scipy.sparse as sp

    ends = np.array([1.0]), np.array([np.inf])
    return sp.csr_matrix([[1.0]]), ends, (np.array([-np.inf]), np.array([np.inf])), np.ones(1), 1e300


@pytest.fixture
def sine(tmp_path):
    """Return the file of min sin(x) + x^2 over [0, 3], which is 0."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 3), domain=pyo.Integers)
    m.o = pyo.Objective(expr=m.x)
    return fsopt.export(m, tmp_path / "whole.lp")[0]


def test_a_second_solver_that_fails_does_not_lose_the_answer(sine, capsys):
    with pytest.raises(SystemExit) as end:
        main(["solve", str(sine), "--solver", there("scip"), "--verify", "clarabel", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert (end.value.code, found["status"]) == (0, "optimal")
    assert "does not solve" in found["verify"]["failed"]


def test_frames_that_pandas_refuses_to_convert_are_read_or_refused():
    """A sparse frame of which other numbers than zeros are left out, and columns of one name."""
    pd = pytest.importorskip("pandas")
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    sparse = pd.DataFrame(X, columns=["a", "b", "c"]).astype(pd.SparseDtype(float))
    assert np.array_equal(fsopt.load_dataset(sparse.assign(t=y), target="t").X, X)
    assert np.array_equal(fsopt.fit("fisher", sparse, y).predict(sparse), fsopt.fit("fisher", X, y).predict(X))
    with pytest.raises(DataError, match="there are 2 columns 'a'"):
        fsopt.load_dataset(pd.DataFrame(X, columns=["a", "a", "b"]).assign(t=y), target="t")
