"""HiGHS: interior point with crossover first and simplex afterwards; beside other instances in one process."""

from __future__ import annotations

import subprocess
import sys

import highspy
import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.solvers import highs
from fsopt.solvers.base import Session

ALONE = """
import fsopt
data = fsopt.Dataset([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
print(fsopt.solve(fsopt.build("onsvm", data), "highs").status.solved)
"""


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


@pytest.mark.parametrize("threads", [[1, 2, 1], [2, 1, 0, 1]])
def test_the_number_of_threads_may_change_from_run_to_run(threads):
    """HiGHS keeps the threads of its first run and calls a run with another number of them an error."""
    model = fsopt.build("onsvm", blobs(20, 3))
    assert len({round(fsopt.solve(model, "highs", options={"threads": n}).objective, 9) for n in threads}) == 1


def test_a_run_after_one_of_the_users_own():
    own = highspy.Highs()
    own.setOptionValue("output_flag", False)
    own.setOptionValue("threads", 2)
    own.addVar(0, 1)
    own.addRow(0.5, 9, 1, [0], [1.0])
    own.run()
    assert fsopt.solve(fsopt.build("onsvm", blobs(20, 3)), "highs").status.solved
    own.changeColCost(0, 1.0)
    assert fsopt.solve(fsopt.build("onsvm", blobs(20, 3)), "highs").status.solved


def test_the_first_solve_of_a_process_prints_nothing():
    """From 1.16 on the constructor prints its licence before any option can be set."""
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("True\n", "")
