"""SCS: real data in any units, re-solves from the last point, options."""

import pytest
from pyomo_models import model_of
from support import blobs

import fsopt
from fsopt.solvers.base import Session

pytest.importorskip("scs")


def test_new_costs_and_bounds_go_in_place_and_start_from_the_last_point():
    m = fsopt.build("gmeb-primal", blobs(40, 4), r_plus=0.4, r_minus=0.3)
    session = Session(m, "scs")
    cold = session.solve()
    again = session.solve()
    assert again.iterations < cold.iterations / 2, "the second solve did not start from the first"
    solver = session.connection.interface.solver
    m.moment_plus.set_value(m.moment_plus.body <= 0.05)
    session.update(m.moment_plus)
    changed = session.solve()
    assert (session.rebuilt, session.connection.interface.solver) == ("", solver), "a new bound needs no factorisation"
    assert changed.objective == pytest.approx(fsopt.solve(m, "clarabel").objective, rel=1e-6)
    assert changed.objective > cold.objective * (1 + 1e-4)
    m.objective.set_value(2 * m.objective.expr)
    session.update(m.objective)
    assert session.connection.interface.solver is solver
    assert session.solve().objective == pytest.approx(2 * changed.objective, rel=1e-6)
    m.moment_plus.set_value(2 * m.moment_plus.body <= 0.05)
    session.update(m.moment_plus)
    last = session.solve()
    assert session.connection.interface.solver is not solver, "new coefficients need a new factorisation"
    assert last.objective == pytest.approx(fsopt.solve(m, "clarabel").objective, rel=1e-6)


def test_an_infeasible_bound_does_not_spoil_the_next_start():
    m = model_of(lambda x: x, lambda x: x >= 1.0, bounds=[(0, 2)])
    session = Session(m, "scs")
    for side, status in ((1.0, "optimal"), (3.0, "infeasible"), (1.5, "optimal")):
        m.row[0].set_value(m.x[0] >= side)
        session.update(m.row)
        result = session.solve()
        assert result.status == status
    assert result.objective == pytest.approx(1.5, rel=1e-6)


def test_good_options_reach_it():
    rough = fsopt.solve(fsopt.build("svm", blobs()), "scs", options={"tolerance": 1e-2, "acceleration_lookback": 0})
    fine = fsopt.solve(fsopt.build("svm", blobs()), "scs")
    assert rough.iterations < fine.iterations
    assert rough.certificate.worst > fine.certificate.worst
