"""One contract for all solvers: every registered solver on every model of its classes, refusals and time limits.

``--require-solvers a,b`` makes a missing solver a failure. Solvers that are not installed, or have no licence here,
are left out of the parametrisation; a new registry entry is tested without editing this file.
"""

import numpy as np
import pyomo.environ as pyo
import pytest
from solver_cases import knapsacks, takers, usable_solvers
from support import blobs, sampled, there

import fsopt
from fsopt.compiler.classes import CONVEX
from fsopt.errors import SolverError
from fsopt.methods.preprocessing import preprocess
from fsopt.models.draws import build_trial
from fsopt.solvers.base import Session
from fsopt.solvers.registry import SOLVERS
from tools.conformance import agreement, pairs

WITHIN = 1e-6
USABLE = usable_solvers()
PAIRS = [(slug, solver) for slug, solver in pairs() if solver in USABLE]
KIND = {slug: model.problem_class for slug, model in fsopt.MODELS.items()}
LAST = {(KIND[slug], solver): slug for slug, solver in PAIRS}
MANY = ("gurobi", "xpress", "scip", "ipopt")
SOON = [
    (slug, solver)
    for slug, solver in PAIRS
    if solver not in MANY
    or (LAST[KIND[slug], solver] == slug and (KIND[slug] != "MINLP" or solver == "scip"))
    or (KIND[slug], solver) == ("NLP", "ipopt")
]
"""Pairs of ``make test``: of the solvers of many classes a model of each, and Ipopt on all nonconvex ones."""


def test_required_solvers_are_there(request: pytest.FixtureRequest) -> None:
    wanted = [name for name in request.config.getoption("--require-solvers").split(",") if name]
    assert [name for name in wanted if name not in USABLE] == []


@pytest.mark.parametrize(
    ("slug", "solver"),
    sampled([*SOON, *(pair for pair in PAIRS if pair not in SOON)], len(SOON)),
)
def test_every_pair_of_a_model_and_a_solver_of_its_class_agrees(slug: str, solver: str) -> None:
    found = agreement(slug, solver)
    if found.status == "refused":
        # Only for a constraint or function that is named.
        assert found.note.startswith(f"solver '{solver}' does not take "), found.note
        return
    assert found.difference is not None, f"{found.status}: {found.note}"
    tolerance = max(WITHIN, SOLVERS[solver].tolerance)
    if found.status == "optimal" or KIND[slug] in CONVEX:
        assert (found.status, found.difference <= (WITHIN if KIND[slug] in CONVEX else tolerance)) == ("optimal", True)
    else:
        # An answer that is not good enough must not be called optimal, and must still be close.
        assert found.status in ("feasible", "stationary")
        assert found.difference <= 1e-3


@pytest.mark.parametrize(("scale", "truth"), sampled([("standard", 121.757464796), ("none", 229.9026016)], 1))
@pytest.mark.parametrize("solver", takers("SOCP"))
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


UNLIKE = [*(("gmeb-dual", name) for name in takers("SOCP")), *(("rlp", name) for name in takers("LP"))]
UNLIKE += [("svm", name) for name in takers("QP")]


@pytest.mark.parametrize(("slug", "solver"), UNLIKE)
def test_features_in_unlike_units_do_not_leak_into_the_answer(slug: str, solver: str) -> None:
    data = blobs(20, 3, seed=2, gap=0.2)
    model = fsopt.build(slug, fsopt.Dataset(data.X * [1e-3, 1.0, 1e3], data.y))
    result, other = fsopt.solve(model, solver), fsopt.solve(model, "ipopt" if solver == "clarabel" else "clarabel")
    assert (result.status, result.certificate.ok) == ("optimal", True)
    assert result.objective == pytest.approx(other.objective, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("solver", takers("MILP"))
def test_a_time_limit_keeps_the_incumbent_and_claims_nothing(solver: str) -> None:
    m = knapsacks()
    relaxed = pyo.TransformationFactory("core.relax_integer_vars").create_using(m)
    result = fsopt.solve(m, solver, time_limit=0.2)
    assert result.stop == "time-limit"
    assert result.status in ("feasible", "none")  # a slow machine may find nothing
    if result.status == "feasible":
        assert result.objective == pytest.approx(pyo.value(m.o))
        assert all(pyo.value(c.body) <= c.upper + 1e-6 for c in m.c.values())
        assert result.bound is None or result.objective < result.bound <= fsopt.solve(relaxed).objective * 1.001
    loose = fsopt.solve(m, solver, time_limit=60, options={"mip_gap": 0.5})
    assert loose.stop == ("almost" if solver == "pyomo:glpk" else "optimal")


@pytest.mark.parametrize("solver", ["highs", "clarabel", "scs", "ipopt", "scip", "gurobi"])
def test_a_time_limit_holds_for_one_solve_only_and_garbage_is_not_loaded(solver: str) -> None:
    rng = np.random.default_rng(0)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(40), bounds=(0, None), initialize=7.0)
    m.c = pyo.Constraint(range(40), rule=lambda m, i: sum(rng.random() * m.x[j] for j in range(40)) >= 1 + i)
    m.o = pyo.Objective(expr=sum(m.x.values()))
    session = Session(m, there(solver))
    first = session.solve(time_limit=1e-7)  # passed when the solver is called, on every machine
    assert (first.status in ("none", "feasible"), first.stop) == (True, "time-limit")
    if first.status == "none":
        assert m.x[0].value == 7.0, "a point that is no answer was written into the model"
    assert session.solve().status == "optimal"


@pytest.mark.parametrize("solver", USABLE)
def test_another_class_is_refused_before_the_call(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    other = next((slug for slug, m in fsopt.MODELS.items() if m.problem_class not in SOLVERS[solver].classes), None)
    if other is None:
        assert {m.problem_class for m in fsopt.MODELS.values()} <= SOLVERS[solver].classes
        return
    monkeypatch.setattr(Session, "_open", lambda self: pytest.fail("it was opened"))
    with pytest.raises(SolverError, match="installed for"):
        fsopt.solve(build_trial(other), solver)
