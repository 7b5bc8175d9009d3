"""PIQP and ProxQP: updates between solves, infeasible and unbounded programs, options."""

from __future__ import annotations

import pytest
from support import blobs

import fsopt
from fsopt.solvers.registry import SOLVERS

SQUARE = [name for name in ("piqp", "proxqp") if SOLVERS[name].available]


def test_they_are_installed_with_all():
    assert SQUARE == ["piqp", "proxqp"]


@pytest.mark.parametrize("name", SQUARE)
def test_a_session_follows_changed_bounds_and_new_constraints(name):
    model = fsopt.build("svm", blobs(30, 3), c=1.0)
    session = fsopt.Session(model, name)
    session.solve()
    model.b.fix(0.5)
    session.update(model.b)
    fixed = session.solve()
    assert session.rebuilt == "a bound appeared or vanished"
    assert fixed.objective == pytest.approx(fsopt.solve(model, "clarabel").objective, rel=1e-6)
