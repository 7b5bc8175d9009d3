"""HiGHS on large linear programs: interior point with crossover first, simplex from its vertex afterwards."""

from __future__ import annotations

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.solvers import highs
from fsopt.solvers.base import Session


def test_interior_point_with_crossover_gives_the_same_vertex_kind_of_answer_and_warm_solves_after(monkeypatch):
    data = blobs(40, 12, seed=2)
    model = fsopt.build("onsvm", data, c=0.5)
    simplex = fsopt.solve(model, "highs")
    monkeypatch.setattr(highs, "INTERIOR", 0)
    session = Session(model, "highs")
    crossed = session.solve()
    assert crossed.objective == pytest.approx(simplex.objective, rel=1e-9)
    assert crossed.status == "optimal"
    rows = len(crossed.point.y)
    inside = np.sum((crossed.point.x > session.program.lb) & (crossed.point.x < session.program.ub))
    assert inside <= rows
    again = session.solve()
    assert again.iterations < crossed.iterations
    assert again.objective == pytest.approx(simplex.objective, rel=1e-9)


def test_interior_point_proves_infeasibility_too(monkeypatch):
    monkeypatch.setattr(highs, "INTERIOR", 0)
    model = fsopt.build("gmeb-cuts", blobs(30, 3, gap=0.1), hard=True)
    result = fsopt.solve(model, "highs")
    assert result.status == "infeasible"
    assert result.certificate.ok
