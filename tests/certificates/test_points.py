"""Points: each constraint is measured by its own terms, in every unit; rows of whole numbers are exact."""

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo_models import FREE, POSITIVE, model_of

from fsopt.answers.results import Point
from fsopt.certificates.bounds import recession, recession_cone
from fsopt.certificates.convex import certify_convex
from fsopt.certificates.model import certify_point
from fsopt.certificates.points import cone_errors, infeasibility, judged_point, minimised, rounded
from fsopt.compiler import compile_model, lmi


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
