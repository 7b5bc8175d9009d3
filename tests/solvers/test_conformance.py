"""One contract for all solvers: every registered solver on every model of its classes, and tiny cases.

``--require-solvers a,b`` makes a missing solver a failure. Solvers that are not installed, or have no licence here,
are left out of the parametrisation; a new registry entry is tested without editing this file.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
import pyomo.environ as pyo
import pytest
from support import sampled

import fsopt
from fsopt.errors import SolverError
from fsopt.library.conformance import agreement, build_trial, pairs
from fsopt.methods.preprocessing import preprocess
from fsopt.solvers.base import Session
from fsopt.solvers.registry import SOLVERS

WITHIN = 1e-6


def usable(name: str) -> bool:
    """Return whether a solver is installed and may be run."""
    if not SOLVERS[name].available or SOLVERS[name].structured:
        return SOLVERS[name].available
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fsopt.solve(tiny(), name)
    except SolverError as error:
        return "licence" not in str(error)
    return True


def tiny(sense: int = pyo.minimize, shift: float = 0.0) -> pyo.ConcreteModel:
    """Return a linear program with constraints >=, <= and =, and optimum at (1, 3) for a minimisation."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, 10)), pyo.Var(bounds=(0, 10))
    m.low = pyo.Constraint(expr=m.x + m.y >= 4 + shift)
    m.high = pyo.Constraint(expr=m.x - m.y <= 5)
    m.same = pyo.Constraint(expr=m.y - 3 * m.x == 0)
    sign = 1 if sense == pyo.minimize else -1
    m.o = pyo.Objective(expr=sign * (2 * m.x + m.y), sense=sense)
    return m


USABLE = [name for name in SOLVERS if usable(name)]
GENERAL = [name for name in USABLE if not SOLVERS[name].structured]
LINEAR = [name for name in GENERAL if "LP" in SOLVERS[name].classes]
DUAL = [name for name in LINEAR if SOLVERS[name].duals]
INTEGER = [name for name in GENERAL if "MILP" in SOLVERS[name].classes]
CONIC = [name for name in GENERAL if "SOCP" in SOLVERS[name].classes]
PAIRS = [(slug, solver) for slug, solver in pairs() if solver in USABLE]
HARD = ("fsp-m", "fsp-lambda", "mmop", "gmeb-nonconvex", "gmeb-penalised")
LONG = [(slug, solver) for slug, solver in PAIRS if slug in HARD and solver in ("gurobi", "xpress")]
"""Pairs that take up to seconds; SCIP proves the same models for ``make test``."""


def test_required_solvers_are_there(request: pytest.FixtureRequest) -> None:
    wanted = [name for name in request.config.getoption("--require-solvers").split(",") if name]
    assert [name for name in wanted if name not in USABLE] == []


@pytest.mark.parametrize(
    ("slug", "solver"),
    sampled([*(pair for pair in PAIRS if pair not in LONG), *LONG], len(PAIRS) - len(LONG)),
)
def test_every_pair_of_a_model_and_a_solver_of_its_class_agrees(slug: str, solver: str) -> None:
    found = agreement(slug, solver)
    if found.status == "refused":
        # Only for its structure, or for a constraint or function that is named.
        named = found.note.startswith(f"solver '{solver}' does not take ")
        assert SOLVERS[solver].structured or named, found.note
        return
    assert found.difference is not None, f"{found.status}: {found.note}"
    tolerance = max(WITHIN, SOLVERS[solver].tolerance)
    if found.status == "optimal":
        assert found.difference <= tolerance
    else:
        # An answer that is not good enough must not be called optimal, and must still be close.
        assert found.status in ("feasible", "stationary")
        assert found.difference <= 1e-3


@pytest.mark.parametrize(("scale", "truth"), sampled([("standard", 121.757464796), ("none", 229.9026016)], 1))
@pytest.mark.parametrize("solver", CONIC)
def test_the_leak_at_the_apex_of_a_cone_is_never_called_optimal(solver, scale, truth, wdbc) -> None:
    """Plain quadratics at default tolerances give 121.624 for the standardised data, and call it optimal."""
    data, _ = preprocess(wdbc, scale)
    try:
        result = fsopt.solve(fsopt.build("gmeb-primal", data, r_plus=3.0, r_minus=3.0), solver, time_limit=60)
    except SolverError as error:
        if "size-limited licence" not in str(error):
            raise
        return  # the licence refuses the size: nothing is claimed
    if result.status == "optimal":
        assert result.objective == pytest.approx(truth, rel=max(WITHIN, SOLVERS[solver].tolerance))
    else:
        assert not result.certificate.ok


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
@pytest.mark.parametrize("solver", DUAL)
def test_shadow_prices_have_pyomos_sign(solver: str, sense: int) -> None:
    m = tiny(sense)
    result = fsopt.solve(m, solver)
    assert result.objective == pytest.approx(5.0 if sense == pyo.minimize else -5.0, rel=1e-4)
    sign = 1 if sense == pyo.minimize else -1
    assert m.dual[m.low] == pytest.approx(sign * 1.25, rel=1e-3)
    assert m.dual[m.high] == pytest.approx(0.0, abs=1e-3)
    assert m.dual[m.same] == pytest.approx(-sign * 0.25, rel=1e-3)
    assert result.duals(m.low)[None] == m.dual[m.low]


@pytest.mark.parametrize("solver", [s for s in GENERAL if not SOLVERS[s].duals])
def test_a_solver_without_duals_leaves_none(solver: str) -> None:
    m = tiny()
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    m.dual[m.low] = 99.0
    assert fsopt.solve(m, solver).objective == pytest.approx(5.0)
    assert m.low not in m.dual


@pytest.mark.parametrize("solver", LINEAR)
def test_infeasible_and_unbounded_are_never_called_solved(solver: str) -> None:
    m = tiny()
    m.never = pyo.Constraint(expr=m.x + m.y <= 3)
    result = fsopt.solve(m, solver)
    assert result.status in ("infeasible", "none")
    assert result.objective is None or result.status == "none"
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, None)), pyo.Var(bounds=(0, None))
    m.c = pyo.Constraint(expr=m.x - m.y <= 1)
    m.o = pyo.Objective(expr=-m.x)
    assert fsopt.solve(m, solver).status in ("unbounded", "none", "feasible")
    if SOLVERS[solver].proves == "global":
        assert fsopt.solve(m, solver).status in ("unbounded", "none")


@pytest.mark.parametrize("solver", INTEGER)
def test_a_time_limit_keeps_the_incumbent_and_claims_nothing(solver: str) -> None:
    rng = np.random.default_rng(0)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(40), within=pyo.Binary)
    weights = rng.integers(100_000, 1_000_000, size=(5, 40))
    m.rows = pyo.ConstraintList()
    for row in weights:
        m.rows.add(sum(int(w) * m.x[j] for j, w in enumerate(row)) <= int(row.sum()) // 2)
    m.o = pyo.Objective(expr=sum(int(w) * m.x[j] for j, w in enumerate(weights.sum(axis=0))), sense=pyo.maximize)
    started = time.perf_counter()
    result = fsopt.solve(m, solver, time_limit=0.3, options={"mip_gap": 0.0})
    assert time.perf_counter() - started < 15
    if result.status != "optimal":
        assert (result.status, result.stop) == ("feasible", "time-limit")
        assert result.bound is None or result.bound >= result.objective
    assert result.objective > 0


@pytest.mark.parametrize("solver", USABLE)
def test_another_class_is_refused_before_the_call(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    other = next((slug for slug, m in fsopt.MODELS.items() if m.problem_class not in SOLVERS[solver].classes), None)
    if other is None:
        assert {m.problem_class for m in fsopt.MODELS.values()} <= SOLVERS[solver].classes
        return
    monkeypatch.setattr(Session, "_open", lambda self: pytest.fail("it was opened"))
    with pytest.raises(SolverError, match="installed for"):
        fsopt.solve(build_trial(other), solver)


@pytest.mark.parametrize("solver", USABLE)
def test_unknown_options_are_named(solver: str) -> None:
    model = next(build_trial(slug) for slug, name in pairs() if name == solver)
    with pytest.raises(fsopt.FsoptError, match="no_such_option"):
        fsopt.solve(model, solver, options={"no_such_option": 1})
