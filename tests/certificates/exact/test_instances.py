"""Every convex instance of the library: an exact interval that the verifier confirms, and that holds the optimum."""

from fractions import Fraction

import numpy as np
import pytest
from proof_files import proved, refused
from pyomo_models import FREE, model_of
from support import sampled

from fsopt.answers.results import Point, Status
from fsopt.certificates.exact.claims import VERIFIED, claim_of_pair, pair_of
from fsopt.certificates.exact.program import exact_program
from fsopt.compiler import compile_model
from fsopt.models.registry import MODELS
from fsopt.solvers.base import solve
from fsopt.verification.exact_checking import claim_infeasible, solve_claim
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
    claim = solve_claim(program, result.point.x, result.point, Status.OPTIMAL, (result.objective, result.bound))
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
        weaker = solve_claim(compile_model(model), result.point.x, worse, status, (result.objective, None))
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
