"""HiGHS: interior point with crossover first and simplex afterwards; beside other instances in one process."""

import highspy
import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo_models import POSITIVE, model_of
from solver_cases import knapsacks
from support import blobs

import fsopt
from fsopt.compiler import compile_model
from fsopt.models.draws import build_trial
from fsopt.solvers import highs
from fsopt.solvers.base import Session
from fsopt.solvers.spec import Settings

HIPO = highs.silent().setOptionValue("solver", "hipo") == highspy.HighsStatus.kOk
OTHERS = [{"solver": "ipx", "run_crossover": "off"}, {"solver": "pdlp"}, *[{"solver": "hipo"}] * HIPO]


@pytest.mark.parametrize("options", OTHERS, ids=lambda options: options["solver"])
def test_other_methods_for_linear_programs_have_the_optimum_of_simplex(options):
    for slug in ("onsvm", "rlp", "fsv-step"):
        found, simplex = (fsopt.solve(build_trial(slug), "highs", options=given) for given in (options, {}))
        assert (found.status, found.iterations > 0) == ("optimal", True), slug
        assert found.objective == pytest.approx(simplex.objective, rel=1e-6, abs=1e-9), slug


def test_interior_point_with_crossover_ends_at_a_vertex_proves_infeasibility_and_warm_solves_follow(monkeypatch):
    model = fsopt.build("onsvm", blobs(40, 12, seed=2), c=0.5)
    simplex = fsopt.solve(model, "highs")
    monkeypatch.setattr(highs, "INTERIOR", 0)
    session = Session(model, "highs")
    crossed, again = session.solve(), session.solve()
    assert (crossed.status, crossed.objective) == ("optimal", pytest.approx(simplex.objective, rel=1e-9))
    inside = (crossed.point.x > session.program.lb) & (crossed.point.x < session.program.ub)
    assert np.sum(inside) <= len(crossed.point.y)
    assert again.iterations < crossed.iterations
    assert again.objective == pytest.approx(simplex.objective, rel=1e-9)
    result = fsopt.solve(fsopt.build("gmeb-cuts", blobs(30, 3, gap=0.1), hard=True), "highs")
    assert (result.status, result.certificate.ok) == ("infeasible", True)


def test_the_number_of_threads_may_change_from_run_to_run_and_after_one_of_the_users_own():
    """HiGHS keeps the threads of its first run and calls a run with another number of them an error."""
    model = fsopt.build("onsvm", blobs(20, 3))
    own = highspy.Highs()
    own.setOptionValue("output_flag", False)
    own.setOptionValue("threads", 2)
    own.addVar(0, 1)
    own.addRow(0.5, 9, 1, [0], [1.0])
    own.run()
    values = [fsopt.solve(model, "highs", options={"threads": n}).objective for n in (2, 1, 0, 1, 2, 1)]
    own.changeColCost(0, 1.0)
    values.append(fsopt.solve(model, "highs").objective)
    assert len({round(value, 9) for value in values}) == 1


def test_a_program_that_is_infeasible_or_unbounded_is_neither_on_this_word(monkeypatch):
    """As presolve says, whose word the run without presolve may repeat."""
    monkeypatch.setattr(highs.Highs, "_run_without_presolve", lambda self: None)
    bounds = {"bounds": [POSITIVE, (0, 1)], "whole": [0]}
    rising = model_of(lambda x, y: x + y, lambda x, y: x - y >= 0, **bounds, sense=pyo.maximize)
    solver = highs.Highs(compile_model(rising), Settings())
    outcome = solver.solve(None)
    assert solver._word() == "kUnboundedOrInfeasible"
    assert (outcome.status, outcome.stop) == ("none", "numerical")


def test_a_run_out_of_time_claims_nothing():
    solver = highs.Highs(compile_model(knapsacks(45)), Settings(mip_gap=0.0))
    outcome = solver.solve(0.0)
    assert solver._word() == "kTimeLimit"
    assert (outcome.status, outcome.stop) == ("none", "time-limit")
