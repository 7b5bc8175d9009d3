"""Convex quadratic programs as public collections have them: each solver's answer has an exact interval around it.

Hessians are singular, and products of decimals, which rounding makes indefinite; variables are free, of wide scales, or
fixed; equations depend on each other, and inequalities hold with equality alone.
"""

import numpy as np
import pyomo.environ as pyo
import pytest
from support import sampled

import fsopt

KINDS = ("plain", "low rank", "decimals", "scales", "dependent", "tight")


def quadratic(kind, seed):
    """Return a feasible program of 12 variables that is bounded: costs are multipliers times rows."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    n, rows = 12, 6
    rank = {"plain": n, "low rank": 3, "decimals": 2}.get(kind, 6)
    F = np.round(rng.standard_normal((rank, n)) * 4) * (0.1 if kind == "decimals" else 0.25)
    A = np.round(rng.standard_normal((rows, n)), 2) * (rng.random((rows, n)) < 0.5)
    at = np.round(rng.standard_normal(n), 1)
    if kind == "scales":
        scale = 2.0 ** rng.integers(-10, 11, n)
        F, A, at = F * scale, A * scale, at / scale
    P = F.T @ F
    y = np.round(np.abs(rng.standard_normal(rows)), 1)
    m = pyo.ConcreteModel()
    boxed = kind == "decimals"  # a matrix that rounding made indefinite bounds nothing without bounds
    m.x = pyo.Var(
        range(n),
        bounds=lambda _, j: (float(at[j] - j % 2) if boxed or j % 3 else None, float(at[j] + 5) if boxed else None),
    )
    cost = y @ A - P @ at
    m.objective = pyo.Objective(
        expr=sum(0.5 * P[i, j] * m.x[i] * m.x[j] for i in range(n) for j in range(n))
        + sum(float(cost[j]) * m.x[j] for j in range(n))
    )
    m.rows = pyo.ConstraintList()
    body = [sum(float(A[i, j]) * m.x[j] for j in range(n)) for i in range(rows)]
    for i in range(rows):
        if kind != "dependent" or i % 2:
            m.rows.add(body[i] >= float(A[i] @ at))
    if kind == "dependent":
        for i, times in ((0, 1), (0, 2), (2, 1), (4, 1)):
            m.rows.add(times * body[i] == times * float(np.round(A[i] @ at, 6)))
    if kind == "tight":
        for i, j in ((1, 2), (2, 4), (4, 1)):
            m.rows.add(m.x[i] - m.x[j] >= 0)
    return m


@pytest.mark.parametrize(("kind", "seed"), sampled([(kind, seed) for seed in range(4) for kind in KINDS], len(KINDS)))
def test_the_optimum_of_a_quadratic_program_is_in_an_exact_interval(kind, seed):
    model = quadratic(kind, seed)
    result = fsopt.solve(model)
    assert result.status == "optimal"
    (claim,) = fsopt.verify(result, model, exact=True).exact.claims
    assert claim.holds, claim.reason
    assert float(claim.lower) == pytest.approx(result.objective, rel=2e-6, abs=2e-6)


def portfolio(n):
    """Return the least variance of returns, whose matrix is singular but for rounding, without upper bounds."""
    F = np.random.default_rng(n).standard_normal((3, n))
    P = F.T @ F
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(range(n), domain=pyo.NonNegativeReals), pyo.Var()
    square = sum(0.5 * P[i, j] * m.x[i] * m.x[j] for i in range(n) for j in range(n))
    m.objective = pyo.Objective(expr=square + 0.1 * m.x[0] + 0.1 * m.y**2 - 0.2 * m.y * m.x[0] + 0.1 * m.x[0] ** 2)
    m.above = pyo.Constraint(expr=sum(m.x.values()) >= 1)
    m.link = pyo.Constraint(expr=pyo.inequality(-3, m.y - m.x[1], 3))
    return m


def test_a_matrix_that_rounding_made_indefinite_needs_bounds_of_its_variables():
    model = portfolio(7)
    (claim,) = fsopt.verify(fsopt.solve(model), model, exact=True).exact.claims
    assert not claim.holds
    assert "not convex in rational numbers" in claim.reason
