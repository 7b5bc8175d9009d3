"""Quadratic forms in other units of their variables, from 1e-8 to 1e8: rank, sign, status and value stay.

A few programs in the normal run, with ``FSOPT_TRUTH=1`` (``make truth``) many, by every solver.
"""

import os

import numpy as np
import pytest
from pyomo_models import model_of
from solver_cases import usable_solvers
from support import there

import fsopt
from fsopt.errors import FsoptError

WHOLE = bool(os.environ.get("FSOPT_TRUTH"))
KINDS = ("ellipsoid", "cylinder", "ellipsoids", "products", "convex", "least squares", "indefinite")
SOLVERS = [name for name in usable_solvers() if name in ("clarabel", "ipopt", "mosek", "scip", "gurobi")]


def quadratic_program(kind, rng):
    """Return n, P of x'Px/2, c, constraints (Q, a, b) of ``x'Qx + a'x <= b``, and a bound of all sizes."""
    n = int(rng.integers(2, 6))
    F, thin = rng.standard_normal((n, n)), rng.standard_normal((n - 1, n))
    c, none = rng.standard_normal(n), np.zeros(n)
    if kind == "products":  # w^2 + 0.3 <= s t, with c > 0
        Q = np.diag([0.0, *np.ones(n - 2), 0.0])
        Q[0, -1] = Q[-1, 0] = -0.5
        return n, 0 * F, np.abs(c) + 0.1, [(Q, none, -0.3)]
    P = {"convex": F.T @ F, "least squares": thin.T @ thin, "indefinite": F + F.T}.get(kind, 0 * F)
    rows = {
        "ellipsoid": [(F.T @ F, rng.standard_normal(n), 1.0)],
        "cylinder": [(thin.T @ thin, none, 1.0)],
        "ellipsoids": [(F.T @ F + np.eye(n), none, 1.0), (F @ F.T + np.eye(n), c, 1.0)],
    }
    return n, P, c, rows.get(kind, [])


def in_units(n, P, c, rows, units, positive):
    """Return the model in the variables x / units, within a box of size 2; the first and last one may be >= 0."""

    def form(Q, a):
        products = [(i, j, float(Q[i, j] * units[i] * units[j])) for i in range(n) for j in range(n) if Q[i, j]]
        linear = (a * units).tolist()
        return lambda *x: sum(v * x[i] * x[j] for i, j, v in products) + sum(map(lambda s, v: s * v, linear, x))

    low = [0.0 if positive and j in (0, n - 1) else -2.0 / units[j] for j in range(n)]
    bodies = [(form(Q, a), b) for Q, a, b in rows]
    constraints = [lambda *x, q=q, b=b: q(*x) <= b for q, b in bodies]
    return model_of(form(0.5 * P, c), *constraints, bounds=list(zip(low, (2.0 / units).tolist(), strict=True)))


def units_of(rng, n):
    """Yield units that are powers of 2, and others."""
    exponents = rng.uniform(-8, 8, n)
    yield 2.0 ** np.round(exponents * np.log2(10.0))
    yield 10.0**exponents


def differs(solver, model, plain):
    """Return what an answer claims that another one, of the same program, contradicts; empty where it is right.

    An answer with a remainder says that it is one of numbers near those of the program.
    """
    try:
        found = fsopt.solve(model, solver, time_limit=20)
    except FsoptError:
        return ""
    claimed = found.status in ("optimal", "infeasible", "unbounded")
    if not claimed or any(note.startswith("numerically") for note in found.certificate.notes):
        return ""
    same = found.status == plain.status
    if same and found.status == "optimal":
        same = abs(found.objective - plain.objective) <= 5e-6 * max(1.0, abs(plain.objective))
    return "" if same else f"{solver}: {plain.status} {plain.objective}, then {found.status} {found.objective}"


@pytest.mark.parametrize("seed", range(40 if WHOLE else 1))
@pytest.mark.parametrize("kind", KINDS)
def test_no_unit_of_a_variable_changes_a_quadratic_program(kind, seed):
    rng, first = np.random.default_rng([KINDS.index(kind), seed]), there("scip" if kind == "indefinite" else "clarabel")
    n, *parts = quadratic_program(kind, rng)
    model = in_units(n, *parts, np.ones(n), kind == "products")
    known, plain = fsopt.classify(model), fsopt.solve(model, first)
    assert plain.status == "optimal"
    for units in units_of(rng, n):
        model = in_units(n, *parts, units, kind == "products")
        assert fsopt.classify(model) == known
        assert [wrong for solver in (SOLVERS if WHOLE else [first]) if (wrong := differs(solver, model, plain))] == []
