"""Gurobi alone: proofs of infeasibility; see test_licensed.py for the rest."""

from __future__ import annotations

from importlib.util import find_spec

import pyomo.environ as pyo
import pytest

import fsopt

SOLVER = "gurobi"


@pytest.fixture(autouse=True)
def installed() -> None:
    if find_spec("gurobipy") is None:
        pytest.skip("gurobipy is not installed (pip install gurobipy)")


def test_an_infeasible_cone_program_comes_with_a_proof():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2))
    m.disc = pyo.Constraint(expr=m.x[0] ** 2 + m.x[1] ** 2 <= 1)
    m.line = pyo.Constraint(expr=m.x[0] + m.x[1] >= 3)
    m.o = pyo.Objective(expr=m.x[0])
    result = fsopt.solve(m, SOLVER)
    assert (result.status, result.certificate.kind, result.certificate.ok) == ("infeasible", "infeasible", True)
