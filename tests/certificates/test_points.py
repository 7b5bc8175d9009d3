"""Points: each constraint is measured by its own terms, in every unit; rows of whole numbers are exact."""

from fractions import Fraction

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from pyomo_models import FREE, POSITIVE, largest_eigenvalue, missed, model_of, symmetric

from fsopt.answers.certificate import FEASIBLE, status_line
from fsopt.answers.results import Point
from fsopt.certificates import arithmetic
from fsopt.certificates.bounds import into_cones, lower_bound, ranges, recession, recession_cone
from fsopt.certificates.convex import _least_norm, best_bound, certify_convex
from fsopt.certificates.model import StatedBound, certify_point, certify_unbounded, with_substituted_objective
from fsopt.certificates.points import cone_errors, infeasibility, judged_point, minimised, rounded
from fsopt.compiler import compile_model, dot, lmi


def row(expression, bounds=(None, None), whole=False, n=2):
    """Return the program of one row and n variables with the same bounds, whole or not."""
    places = range(n) if whole else ()
    return compile_model(model_of(lambda *x: x[0], lambda *x: expression(x), bounds=[bounds] * n, whole=places))


@pytest.mark.parametrize(("low", "high", "x"), [(-1e6, 1.0, 1.5), (-1.0, 1e6, -1.5)])
def test_a_far_side_does_not_hide_the_violation_of_the_near_one(low, high, x):
    program = row(lambda v: pyo.inequality(low, v[0] + v[1], high), bounds=(-4, 4))
    assert infeasibility(program, np.array([x, 0.0])) == pytest.approx(0.5 / 2.5)


@pytest.mark.parametrize("unit", [1e-30, 1.0, 2.0**40])
@pytest.mark.parametrize("column", [1e-12, 1.0, 1e9])
@pytest.mark.parametrize("far", [None, 1e15])
def test_neither_the_unit_of_a_row_nor_of_a_column_nor_a_far_bound_changes_the_infeasibility(unit, column, far):
    program = row(lambda v: unit * (column * v[0] + v[1]) >= 3 * unit, bounds=(None, far))
    assert infeasibility(program, np.array([1.0 / column, 1.5])) == pytest.approx(0.5 / 5.5)


def test_bounds_are_met_exactly_and_integers_are_whole_at_the_point_that_is_judged():
    program = row(lambda v: v[0] + v[1] <= 3, bounds=(0, 1), whole=True)
    assert judged_point(program, np.array([-1e-9, 0.9999999])).tolist() == [0.0, 1.0]


def test_a_row_of_whole_numbers_that_is_off_by_one_is_violated_whatever_its_size():
    """The largest left-hand side is 2^32 - 1: relative to the row, the violation 1 is 2e-10."""
    binary = row(lambda v: sum(2**i * v[i] for i in range(32)) >= 2**32, bounds=(0, 1), whole=True, n=32)
    assert infeasibility(binary, np.ones(32)) == np.inf
    for right, expected in ((2**52 + 1, np.inf), (2**52, 0.0)):
        even = row(lambda v, right=right: 2 * v[0] == right, whole=True, n=1)
        assert infeasibility(even, np.array([2.0**51])) == expected


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize(
    ("w", "f", "g", "expected"), [(1e-5, 0.0, 1.0, 1.0), (1e-4, 0.0, 0.0, 1.0), (2.0, 1.0, 1.0, 1 / 3)]
)
def test_a_rotated_cone_is_measured_in_every_unit_of_its_factors(unit, w, f, g, expected):
    """w^2 <= f g: a weight without any scale violates all of it, however small it is."""
    model = model_of(lambda w, f, g: w, lambda w, f, g: w**2 <= unit * f * g, bounds=[FREE, POSITIVE, POSITIVE])
    program = compile_model(model)
    assert len(program.cones) == 1
    assert cone_errors(program, np.array([w, f / unit, g])) == pytest.approx([expected], rel=1e-6)


def test_a_direction_that_the_arrays_have_lost_is_measured_on_the_constraint():
    """x^2 + xy + y^2 <= 1 + x with zeros in the place of y: at (2, 3) it is 19 - 3 of 19 + 3, and (0, 1) is no ray."""
    program = row(lambda v: v[0] ** 2 + v[0] * v[1] + v[1] ** 2 <= 1 + v[0])
    program.cones.G.data[program.cones.G.indices == 1] = 0.0
    assert cone_errors(program, np.array([2.0, 3.0])) == pytest.approx(0.5 * 16 / 22)
    assert cone_errors(recession_cone(program), np.array([0.0, 1.0])) == pytest.approx(0.5)


@pytest.mark.parametrize("linear", [0.0, 1.0])
def test_a_way_out_of_a_ball_is_no_ray(linear):
    program = compile_model(model_of(lambda x, y: -y, lambda x, y: x**2 + y**2 <= 1 + linear * x, bounds=[FREE] * 2))
    assert not recession(program, np.array([0.0, 1.0])).ok


@pytest.mark.parametrize("seed", range(6))
def test_multipliers_of_a_matrix_become_semidefinite_in_any_units_and_stay_then(seed):
    cones, rng = (program := compile_model(largest_eigenvalue(symmetric(3)))).cones, np.random.default_rng(seed)
    j, i = np.tril_indices(3)
    units = (u := 2.0 ** rng.integers(-26, 27, 3))[i] * u[j]
    z = rng.standard_normal(6) + (i == j)
    found = into_cones(program, units * z)
    assert missed(cones, found / units).max() <= 1e-14
    assert into_cones(program, found) == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_a_matrix_is_measured_in_every_unit_of_its_diagonal(unit):
    """[[u^2, 1.5 u], [1.5 u, 1]] has the eigenvalue -0.5 after its diagonal is scaled to 1."""
    m = pyo.ConcreteModel()
    m.S = lmi([[unit**2, 1.5 * unit], [1.5 * unit, 1.0]])
    m.o = pyo.Objective(expr=m.S.S[0, 0])
    program = compile_model(m)
    x = np.zeros(3)
    for place, value in (((0, 0), unit**2), ((0, 1), 1.5 * unit), ((1, 1), 1.0)):
        x[program.column[id(m.S.S[place])]] = value
    assert infeasibility(program, x) == pytest.approx(0.5)


def test_an_objective_value_of_rounding_errors_is_no_value():
    program = row(lambda v: v[0] - v[1] == 0)
    program.c[:] = [1.0, -1.0]
    assert rounded(program, np.full(2, 1.0))[1] < 1e-12
    assert not certify_point(program, Point(np.full(2, 1e12))).ok
    assert minimised(program, np.array([1e16 + 2.0, 1e16])) == 2.0


@pytest.mark.parametrize(("declared", "holds"), [(None, True), (1e-9, False), (0.0, False)])
def test_a_gap_is_relative_to_the_unit_that_the_model_declares(declared, holds):
    """min x, x >= 5e-9, and a point at 8e-9: in the unit 1 they are equal."""
    m = model_of(lambda x: x, lambda x: x >= 5e-9, bounds=[FREE])
    if declared is not None:
        m.unit = pyo.Suffix()
        m.unit[m.o] = declared
    pair = Point(np.array([8e-9]), np.ones(1), np.zeros(0))
    assert certify_convex(compile_model(m), pair.x, pair, "").ok == holds


NUMBERS = st.floats(-1e12, 1e12, allow_nan=False)


@settings(deadline=None, derandomize=True)
@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=12), NUMBERS)
def test_sums_of_products_are_within_their_error_of_the_exact_ones(pairs, other):
    a, b = (np.array(v, dtype=float) for v in (zip(*pairs, strict=True) if pairs else ([], [])))
    exact = sum((Fraction(u) * Fraction(v) for u, v in pairs), Fraction(0)) - Fraction(other)
    found = arithmetic.segments(a, b, np.array([0, len(pairs)])).minus(arithmetic.of(np.array([other])))
    assert abs(Fraction(found.high[0]) + Fraction(found.low[0]) - exact) <= Fraction(found.error[0]) + Fraction(1e-290)


def test_a_remainder_of_a_free_variable_counts_as_zero_only_below_its_terms_and_is_said():
    model = model_of(lambda x, y: x + 2 * y, lambda x, y: x + y >= 1, bounds=[FREE, POSITIVE])
    program = compile_model(model)
    for error, holds in ((0.0, True), (1e-13, True), (1e-10, False)):
        pair = Point(np.array([1.0, 0.0]), np.array([1.0 - error]), np.zeros(0))
        found = certify_convex(program, pair.x, pair, "dual point")
        assert (found.ok, bool(found.notes)) == (holds, error == 1e-13)  # without the remainder it is -infinity


def test_the_head_of_a_cone_gives_its_free_parts_their_ranges():
    cone = compile_model(model_of(lambda x, t: t, lambda x, t: x**2 <= t**2, bounds=[FREE, (0, 3)]))
    assert [ends[0] for ends in ranges(cone)] == pytest.approx([-3.0, 3.0])


def test_an_incumbent_gives_free_variables_their_ranges():
    """min x + 2 y, x free with x + y >= 1 and x - y >= -4: y is at most 5 where the cost is at most 6."""
    rows = (lambda x, y: x + y >= 1), (lambda x, y: x - y >= -4)
    program = compile_model(model_of(lambda x, y: x + 2 * y, *rows, bounds=[FREE, POSITIVE]))
    low, high = ranges(program, 6.0)
    assert np.isfinite([low, high]).all()
    x, y = np.random.default_rng(0).uniform(-20, 20, (2, 4000))
    drawn = np.array([x, y]).T[(y >= 0) & (x + y >= 1) & (x - y >= -4) & (x + 2 * y <= 6)]
    assert ((low <= drawn) & (drawn <= high)).all()
    product = compile_model(model_of(lambda x, y: x**2 + y**2 + 1.8 * x * y, bounds=[FREE] * 2))
    assert (ranges(product, 1.0)[1] >= 2.2).all()  # 0.968 at (2.2, -2.2), where squares alone would be 9.68
    pair = Point(np.array([1.0, 0.0]), np.array([1.0 - 1e-10, 0.0]), np.zeros(0))
    assert best_bound(program, pair, 1.0).rigorous == pytest.approx(1.0, abs=1e-8)
    assert lower_bound(program, pair).rigorous == -np.inf


@pytest.mark.parametrize(
    ("direction", "holds", "line"),
    [
        ((1, 1), True, "unbounded"),
        ((1, 0), True, "unbounded"),
        ((1, 1 + 1e-13), True, "unbounded (numerically)"),
        ((1, 1 + 1e-9), False, "unbounded (numerically)"),
        ((0, 1), False, "unbounded (numerically)"),
        ((-1, -1), False, "unbounded"),
    ],
)
def test_a_ray_keeps_every_row_and_descends(direction, holds, line):
    model = model_of(lambda x, y: -x - 2 * y, lambda x, y: x - y >= -1, bounds=[POSITIVE, (1e-9, None)])
    found = certify_unbounded(compile_model(model), Point(np.array(direction, dtype=float)), Point(np.ones(2)))
    assert (found.ok, status_line("unbounded", notes=found.notes)) == (holds, line)


@pytest.mark.parametrize("kind", ["rows", "cone", "integers", "product"])
@pytest.mark.parametrize("away", [0.0, 1e-4])
def test_a_point_pays_for_what_it_misses_of_its_rows(kind, away):
    """min x, x + y = 2 and x + (1 + e) y >= 2 + e, e = 2^-20: (1, 1) is the minimum, and (1 - a, 1 + a) misses e a."""
    e = 2.0**-20
    rows = [lambda x, y, k: x + y == 2, lambda x, y, k: x + (1 + e) * y <= 2 + e]
    if kind == "cone":
        rows[1] = lambda x, y, k: (2 * (x + (1 + e) * y) - (2 + e)) ** 2 <= (2 + e) ** 2 * k**2
    if kind == "product":
        rows.append(lambda x, y, k: (x - 1) * (k - 1) <= 3)
    bounds = [(0, 9), (0, 1 + away), (1, 1)]
    program = compile_model(model_of(lambda x, y, k: x, *rows, bounds=bounds, whole=[2] if kind == "integers" else ()))
    assert (kind == "cone") == bool(len(program.cones))
    pair = Point(
        np.array([1 - away, 1 + away, 1.0]),
        np.eye(len(program.lo) + len(program.general))[0],
        np.zeros(len(program.cones.h)),
    )
    found = certify_point(program, pair, StatedBound(1 - away, "somebody"))
    assert (found.ok, found.objective) == (away == 0.0, 1 - away)
    assert found.residuals["infeasibility"] <= FEASIBLE


@pytest.mark.parametrize("seed", range(6))
def test_a_substituted_objective_is_the_same_function_on_the_feasible_set(seed: int) -> None:
    """Chains of equations in one or two variables, in random order and scale, and a random quadratic objective."""
    rng = np.random.default_rng(seed)
    point, Q, c = rng.normal(size=6), rng.normal(size=(6, 6)), rng.normal(size=6)
    A = np.zeros((4, 6))
    for row in A:
        row[rng.choice(6, 2, replace=False)] = rng.uniform(0.5, 2.0, 2) * rng.choice([-1.0, 1.0], 2)
        row[np.argmax(row != 0)] *= rng.random() > 0.3
    goal = lambda *x: sum(Q[i, j] * x[i] * x[j] for i in range(6) for j in range(6)) + dot(c, x) + 3  # noqa: E731
    rows = [lambda *x, row=row: dot(row, x) == float(row @ point) for row in A]
    program = compile_model(model_of(goal, *rows, bounds=[FREE] * 6))
    changed = with_substituted_objective(program)
    null = np.eye(6) - np.linalg.pinv(A) @ A
    for at in (point, point + null @ rng.normal(size=6)):
        assert changed.objective_at(at) == pytest.approx(program.objective_at(at), rel=1e-10, abs=1e-10)


def test_dependent_sparse_equations_have_their_solution_of_least_norm_and_no_library_prints(capfd):
    # Margins of 400 samples, 50 of them without an error of their own: factors of a singular system print from LAPACK.
    samples = np.random.default_rng(0).integers(1, 9, (400, 10)).astype(float)
    matrix = sp.hstack([samples, sp.eye(400, 350)]).tocsr()
    right = matrix @ np.ones(360)
    expected = np.linalg.lstsq(matrix.toarray(), right, rcond=None)[0]
    np.testing.assert_allclose(_least_norm(matrix, right), expected, atol=1e-9)
    assert capfd.readouterr() == ("", "")
