"""Every convex instance of the library: an exact interval that the verifier confirms, and that holds the optimum."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from proof_files import proved, refused
from pyomo_models import FREE, model_of
from support import sampled

from fsopt.answers.results import Point, Status
from fsopt.certificates.exact.claims import VERIFIED, claim_of_pair, pair_of
from fsopt.certificates.exact.linear import Form, solution_of
from fsopt.certificates.exact.program import CONE, MATRIX, ROW, PointSet, factored
from fsopt.certificates.exact.proofs import Header
from fsopt.certificates.exact.repair import inside, repaired
from fsopt.compiler import compile_model
from fsopt.data.matrices import SMALL, exact_sums
from fsopt.errors import NotShownError
from fsopt.methods.claims import about_of
from fsopt.models.registry import MODELS
from fsopt.solvers.base import solve
from fsopt.verification.verify import claim_infeasible, claim_of_result, program_of
from fsopt.verifier.verify import digest
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


DIGESTS = {
    ("svm", "standard", "given"): "9c744373107a9240",
    ("svm", "unit-rows", "given"): "c5ee383cd3df0537",
    ("gmeb-primal", "center", "rms"): "e66e7ceef32fa530",
    ("mpm", "standard", "given"): "cc68d502b8b7306b",
    ("l1-mpm", "none", "given"): "54ad292d81c7f953",
    ("svm-dual", "standard", "given"): "acc8d6cda3523c4a",
}


@pytest.mark.parametrize("key", DIGESTS, ids=lambda key: " ".join(key))
def test_the_digest_of_a_program_is_that_of_any_processor(key, wdbc):
    slug, scale, units = key
    origin = Header(wdbc, scale).origin(about_of(slug, {}, units=units))
    assert digest(program_of(origin, wdbc))[:16] == DIGESTS[key]


def test_sums_do_not_depend_on_the_order_of_the_samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(999, 3)) * 10.0 ** rng.integers(-9, 9, (999, 3))
    assert X.size < SMALL
    found = exact_sums(X)
    assert found.tolist() == [math.fsum(column) for column in X.T] == exact_sums(X[rng.permutation(999)]).tolist()
    weights = rng.random(999)
    assert exact_sums(X, weights).tolist() == [math.fsum(column) for column in (X * weights[:, None]).T]
    with np.errstate(all="ignore"):
        assert np.isinf(exact_sums(np.array([[1e308, np.inf], [1e308, -np.inf]]))[0])


ONE = Fraction(1)


def form(terms, constant=0):
    return Form.of(list(terms), [Fraction(v) for v in terms.values()], Fraction(constant))


def points(size, equations=(), inequalities=(), *others):
    rows = [(ROW, [form], (0, high)) for forms, high in ((equations, 0), (inequalities, None)) for form in forms]
    return PointSet(size, (*rows, *others))


def test_the_equations_change_the_variables_of_largest_freedom_whatever_their_coefficients():
    equations = [form({0: 1000, 1: 1, 2: 1}, -1), form({0: 1000, 1: 1, 2: -1})]
    found = solution_of(equations, [Fraction(0)] * 3, np.array([1e-9, 1.0, 1.0]))
    assert found == [0, Fraction(1, 2), Fraction(1, 2)]
    (x, y) = solution_of([form({0: 1, 1: 1e-300}, -0.5)], [Fraction(0)] * 2, np.array([1.0, 1.0]))
    assert (x, y) == (Fraction(1, 2), 0)  # beyond the integers of a double


FIRST_LESS = [({0: 1, 1: -1}, Fraction(-1, 3)), ({1: 1, 2: -1}, Fraction(-1, 7)), ({2: 1, 0: -1}, Fraction(10, 21))]
NEAR = {  # no step leads inward of the last set, whose differences are 1/3, 1/7 and -10/21
    "a cone": (
        [form({0: 0.1, 1: 0.7}, -1)],
        [form({2: -1}, 3)],
        [(CONE, [form({2: 1}), form({2: 1}), form({0: 1}), form({1: 1})], [ONE, ONE])],
        [0.2, 1.4, np.hypot(0.2, 1.4) - 1e-10],
    ),
    "a matrix": (
        [form({1: 1}, -1)],
        [form({0: -1, 2: -1}, 5)],
        [(MATRIX, [form({0: 1}), form({1: 1}), form({2: 1})], 2)],
        [2.0, 1.0, 0.5 - 1e-11],
    ),
    "inequalities that are equations together": (
        [],
        [*(form(*less) for less in FIRST_LESS), form({0: 1}), form({2: -1}, 5)],
        [],
        [2.0, 2.0 - 1 / 3, 2.0 - 10 / 21 + 1e-9],
    ),
}


@pytest.mark.parametrize("name", NEAR)
def test_a_point_slightly_outside_moves_slightly(name):
    equations, inequalities, others, start = NEAR[name]
    held = points(3, equations, inequalities, *others)
    found = repaired(held, np.array(start))
    assert inside(held, found)
    assert np.allclose([float(v) for v in found], start, atol=1e-5)


def test_a_set_without_a_point_near_is_not_shown():
    with pytest.raises(NotShownError):
        repaired(points(1, [form({0: 1}, -1), form({0: 1}, -2)]), np.zeros(1))
    with pytest.raises(NotShownError):
        repaired(points(1, [], [form({0: 1}), form({0: -1}, -1)]), np.zeros(1))


def test_what_is_fixed_fixes_what_hangs_on_it():
    third = Fraction(1, 3)
    held = points(2, [form({0: 1, 1: -1})], [form({0: 3}, -1), form({0: -3}, 1)])
    assert repaired(held, np.array([0.0, 0.3])) == [third, third]
    with pytest.raises(NotShownError):
        repaired(points(2, [form({0: 1}, -1), form({0: 1, 1: 1}), form({1: 1}, 2)]), np.zeros(2))


def test_a_parabola_has_rational_factors_and_a_negative_sum_of_squares_none():
    _, forms, weights = factored({(0, 0): ONE}, {2: Fraction(-5)}, Fraction(-3))
    found = [(dict(zip(one.columns, one.coefficients, strict=True)), one.offset) for one in forms]
    assert (found, weights) == ([({2: 5}, 3), ({}, 1), ({0: 1}, 0)], [1])
    with pytest.raises(NotShownError):
        factored({(0, 0): Fraction(-1), (1, 1): Fraction(-1)}, {}, Fraction(0))
