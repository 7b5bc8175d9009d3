"""Every convex instance of the library: an exact interval that the verifier confirms, and that holds the optimum.

Convex quadratic programs as public collections have them: each solver's answer has an exact interval around it.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyomo.environ as pyo
import pytest
from proof_files import proved, refused
from pyomo_models import FREE, model_of
from support import sampled

import fsopt
from fsopt.answers.results import Point, Status
from fsopt.certificates.exact.claims import VERIFIED, claim_of_pair, pair_of
from fsopt.certificates.exact.program import exact_program
from fsopt.compiler import compile_model
from fsopt.models.registry import MODELS
from fsopt.solvers.base import solve
from fsopt.verification.solves import claim_infeasible, claim_of_result
from tools.instances import build_instance, exact_ends

FIRST = ("onsvm", "fsv-step", "svm", "svm-dual", "gmeb-primal", "gmeb-dual", "mpm", "gmeb-sdp")
"""Two linear programs, two quadratic ones, three with cones, and one with a matrix."""
CONVEX = [slug for slug, spec in MODELS.items() if spec.problem_class in ("LP", "QP", "SOCP", "SDP")]
CONVEX.sort(key=lambda slug: slug not in FIRST)
OTHERS = [slug for slug in MODELS if slug not in CONVEX and MODELS[slug].problem_class != "MPEC"]
OTHERS.sort(key=lambda slug: slug not in ("mmop", "fsv-exact", "kernel-scaling"))


@pytest.mark.parametrize("slug", sampled(CONVEX, len(FIRST)))
def test_the_optimum_is_verified_exactly(slug):
    model = build_instance(slug)
    result = solve(model)
    program = compile_model(model)
    claim = claim_of_result(program, replace(result, status=Status.OPTIMAL))
    assert claim.holds, claim.reason
    assert claim.width <= Fraction(1, 10**6)
    assert claim.lower - Fraction(1, 10**6) <= Fraction(result.objective) <= claim.upper + Fraction(1, 10**6)
    assert not refused(claim.part)


@pytest.mark.parametrize("slug", sampled(OTHERS, 3))
def test_other_instances_are_not_called_verified_and_the_reason_is_named(slug):
    model = build_instance(slug)
    found = exact_ends(model, solve(model))
    assert found["exact"]
    assert found["exact"] != VERIFIED
    assert "lower" not in found


@pytest.mark.parametrize("slug", ["mpm", "gmeb-primal", "fsv-step", "svm"])
def test_a_wrong_dual_point_bounds_less_and_is_not_called_optimal(slug):
    model = build_instance(slug)
    result = solve(model)
    y, z = result.point.multipliers
    worse = Point(result.point.x, 0.9 * y, 0.9 * z)
    claim = claim_of_pair("", "optimal", pair_of(compile_model(model), result.point.x, worse), 1e-6)
    assert not claim.holds
    assert claim.lower is None or claim.lower < claim.upper - Fraction(1, 1000)
    # Where no optimum is claimed, the bound may be below the stated objective.
    for status in (Status.STATIONARY, Status.FEASIBLE):
        weaker = claim_of_result(compile_model(model), replace(result, point=worse, status=status, bound=None))
        assert weaker.holds, weaker.reason


def test_an_infeasible_program_needs_a_ray_that_proves_it():
    rows = (lambda x, y: 0.1 * x + 0.3 * y >= 1), (lambda x, y: 0.2 * x + 0.6 * y <= 1)
    program = compile_model(model_of(lambda x, y: x, *rows, bounds=[FREE] * 2))
    found = claim_infeasible(program, Point(np.zeros(2), np.array([2.0, -1.0]), np.zeros(0)))
    assert found.holds  # the doubles of the second row are twice those of the first, exactly
    assert proved(found.part) == (None, None)
    assert not refused(found.part)
    assert not claim_infeasible(program, Point(np.zeros(2), np.array([1.0, 0.0]), np.zeros(0))).holds
    found.part["program"]["rows"][1][3] = 3
    assert refused(found.part)


def test_cones_have_the_coefficients_of_the_model_without_square_roots():
    program = compile_model(build_instance("gmeb-dual"))
    cone = exact_program(program).cones[0]
    body = program.cones.constraints[0]
    assert str(body.body).startswith("s[0]**2 - mu1*(")
    assert cone.right.coefficients == [Fraction(5.22265625), Fraction(1.8233642578125)]


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
