"""The start of the masters of GBD: the incumbent reaches the solver, and changes no answer."""

import numpy as np
import pytest
from support import all_values, blobs, reference, sampled

import fsopt
from fsopt.answers.results import Status
from fsopt.drivers.gbd.driver import gbd
from fsopt.drivers.gbd.master_program import completed
from fsopt.drivers.gbd.settings import GbdSettings
from fsopt.models.gbd.fsp_master import cut_coefficients
from fsopt.solvers.base import Session
from fsopt.solvers.watching import Watch


def run(data, m, c, solver, **settings):
    models = fsopt.build("fsp-master", data, m=m), fsopt.build("fsp-sub", data, c=c)
    return gbd(data, *models, c=c, settings=GbdSettings(master_solver=solver, **settings))


@pytest.mark.parametrize("solver", sampled(["highs", "scip"], 1))
def test_the_first_incumbent_of_a_master_is_that_of_the_loop(solver, monkeypatch):
    """By its own course the solver has the value of the incumbent before it has found anything."""
    solve, firsts = Session.solve, []

    def watched(session, *, mip_gap=None, **keywords):
        watch = None if mip_gap is None else Watch()
        result = solve(session, mip_gap=mip_gap, watch=watch, **keywords)
        if watch is not None:
            firsts.append(next(r["incumbent"] for r in watch.records if r["incumbent"] is not None))
        return result

    monkeypatch.setattr(Session, "solve", watched)
    data = blobs(60, 12, seed=3, gap=0.1)
    found = {}
    for start in ("incumbent", "none"):
        firsts.clear()
        result = run(data, 4, 1.0, solver, master_start=start, max_cuts=12)
        values = np.array([record["objective"] for record in result.history])
        found[start] = [float(np.abs(values / value - 1.0).min()) <= 1e-6 for value in firsts]
    assert len(found["incumbent"]) >= 4
    assert all(found["incumbent"])
    assert not all(found["none"])


@pytest.mark.parametrize("solver", [None, "scip"])
def test_the_answer_is_the_optimum_with_and_without_a_start(solver):
    data = reference("gbd_n6")
    best = min(value for s, value in all_values(data, 4.0).items() if sum(s) <= 2)
    for start in ("none", "incumbent"):
        result = run(data, 2, 4.0, solver, master_start=start)
        assert result.status is Status.OPTIMAL
        assert result.objective == pytest.approx(best, rel=2e-6)
        assert result.bound <= best * (1 + 1e-9)


def test_a_start_has_the_smallest_theta_that_the_cuts_allow():
    data = reference("gbd_n6")
    alphas = run(data, 2, 4.0, None).point["alphas"][:4]
    session = Session(fsopt.build("fsp-master", data, m=2, cuts=alphas))
    program, columns = session.program, session.columns(session.model.sigma)
    theta = program.column[id(session.model.theta)]
    sigma = np.array([0.0, 1.0, 0.0, 0.0, 1.0, 0.0])
    cuts = [constant - slopes @ sigma for constant, slopes in (cut_coefficients(data, a) for a in alphas)]
    x = completed(program, columns, theta, sigma)
    assert x[theta] == pytest.approx(max(0.0, *cuts))
    assert np.array_equal(x[columns], sigma)
    assert completed(program, columns, theta, np.ones(6)) is None
