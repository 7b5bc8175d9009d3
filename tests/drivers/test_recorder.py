"""The bookkeeping of drivers: another solver where one fails, told in the record and in the result, and when not."""

import numpy as np
import pyomo.environ as pyo
import pytest
from support import blobs, reference

import fsopt
from fsopt.answers.results import SolveResult, Status
from fsopt.drivers.dca import dca
from fsopt.drivers.gbd.driver import GbdSettings, gbd
from fsopt.drivers.penalties import Exponential
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import NoPoint, OutOfTimeError, Run
from fsopt.drivers.sla import ConcaveTerms, sla
from fsopt.errors import SolverError
from fsopt.solvers.base import Session

C = 4.0


def failing(monkeypatch, name, calls=(1,), how="none"):
    """Let some calls of a solver fail: no point, or an error; returns the names of the solvers called."""
    solve, called = Session.solve, []

    def sometimes(self, **keywords):
        called.append(self.spec.name)
        if self.spec.name != name or called.count(name) - 1 not in calls:
            return solve(self, **keywords)
        if how == "error":
            raise SolverError(f"{name} stopped with 'Not Set'", "try another solver")
        return SolveResult(Status.NONE, "numerical", None, None, name, {}, 0, message="lost its digits")

    monkeypatch.setattr(Session, "solve", sometimes)
    return called


def selection_of(run=None):
    data = reference("gbd_n6")
    master, sub = fsopt.build("fsp-master", data, m=2), fsopt.build("fsp-sub", data, c=C)
    return gbd(data, master, sub, c=C, settings=GbdSettings(), run=run or Run())


@pytest.mark.parametrize("how", ["none", "error"])
def test_another_solver_takes_over_a_subproblem_and_the_record_says_so(how, monkeypatch):
    plain = selection_of()
    called = failing(monkeypatch, "clarabel", calls=(1, 3), how=how)
    result = selection_of()
    assert result.status is plain.status is Status.OPTIMAL
    assert result.objective == pytest.approx(plain.objective, rel=1e-6)
    (other,) = set(called) - set(plain.solver.split("+"))
    assert set(result.solver.split("+")) >= {"clarabel", other}
    told = [record["fallback"] for record in result.history if record["fallback"]]
    assert told
    assert all(f"{other} solved it" in text and "clarabel" in text for text in told)
    assert not any(record["fallback"] for record in plain.history)
    assert other not in plain.solver
    for k in ("translate", "solve"):
        assert sum(h[f"seconds_{k}"] for h in result.history) <= result.seconds[k] * (1 + 1e-9)


def test_a_substitute_sees_every_update_and_every_cut(monkeypatch):
    """It works on the arrays of the session that failed: places of variables and constraints stay the same."""
    data = blobs(40, 6, seed=2, gap=1.0)
    model = fsopt.build("l0-mpm-step", data, delta=0.7, alpha=5.0)
    plain = dca(model, Exponential(5.0))
    called = failing(monkeypatch, "clarabel", calls=(2,))
    again = dca(fsopt.build("l0-mpm-step", data, delta=0.7, alpha=5.0), Exponential(5.0))
    assert len(set(called)) == 2
    assert again.objective == pytest.approx(plain.objective, rel=1e-4)
    assert again.history[2]["fallback"]
    theta = fsopt.build("gmeb-cuts", blobs(20, 3), thetas=[0.5])
    session = Session(theta)
    session.add(theta.cuts.add(theta.norm <= 0.5))
    other = session.with_solver("clarabel")
    one, two = session.solve(), other.solve()
    assert two.solver == "clarabel"
    assert two.objective == pytest.approx(one.objective, rel=1e-6)
    assert np.array_equal(session.rows(theta.cuts), other.rows(theta.cuts))


def test_the_first_failure_is_told_where_no_solver_succeeds(ends):
    ends(1, "numerical")
    session = Session(fsopt.build("fsp-sub", blobs(20, 3), c=C))
    with pytest.raises(SolverError, match=r"the subproblem was not solved: none .*clarabel.*nor was it by \w+"):
        Recorder([session]).solve(session, "the subproblem")


def test_a_solver_that_the_user_named_and_that_refuses_its_first_solve_is_not_replaced(monkeypatch):
    """A missing licence is the user's to mend: the error says how."""
    called = failing(monkeypatch, "clarabel", calls=(0,), how="error")
    with pytest.raises(SolverError, match="Not Set"):
        selection_of(Run(solver="clarabel"))
    assert called == ["clarabel"]


@pytest.mark.parametrize(("stop", "error"), [("infeasible", NoPoint), ("time-limit", OutOfTimeError)])
def test_infeasible_programs_and_late_solvers_are_not_given_to_others(stop, error, ends):
    called = ends(1, stop)
    session = Session(fsopt.build("fsp-sub", blobs(20, 3), c=C))
    with pytest.raises(error):
        Recorder([session]).solve(session, "the subproblem")
    assert called == ["clarabel"]


def test_a_driver_that_needs_vertices_takes_no_substitute_without(monkeypatch):
    called = failing(monkeypatch, "highs", calls=(1,))
    model = fsopt.build("fsv-step", reference("sla_fs8"), lam=0.05)
    terms = ConcaveTerms((("v", "cost_v"),), 5.0, weight=0.05)
    others = [s for s in fsopt.SOLVERS.values() if s.vertex and "LP" in s.classes and s.available and s.name != "highs"]
    if others:
        assert sla(model, terms).status is Status.STATIONARY
        assert called[2] in {s.name for s in others}
    else:
        with pytest.raises(SolverError, match="was not solved"):
            sla(model, terms)
        assert set(called) == {"highs"}


def test_a_substitute_gets_only_the_options_that_all_solvers_have():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(bounds=(1, 2))
    model.o = pyo.Objective(expr=model.x)
    session = Session(model, "highs", options={"tolerance": 1e-8, "presolve": "off"})
    other = session.with_solver("clarabel")
    assert (other.settings.tolerance, dict(other.settings.own)) == (1e-8, {})
    assert dict(session.settings.own) == {"presolve": "off"}
    assert other.solve().objective == pytest.approx(1.0, abs=1e-6)
