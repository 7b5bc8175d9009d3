"""Rational numbers against intervals of 400 bits (mpmath): rounding, exponentials, logarithms, values, bounds."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyomo_models import model_of

from fsopt.certificates.exact.claims import primal_point
from fsopt.certificates.exact.linear import bareiss, solved
from fsopt.certificates.exact.program import exact_program
from fsopt.compiler import compile_model
from fsopt.errors import NotShownError
from fsopt.verifier.programs import semidefinite, triangle
from fsopt.verifier.rationals import EXACT, decimal, enclosed, entropy, exponential, logistic, number, rounded, written

FINITE = st.floats(allow_nan=False, allow_infinity=False)
RATIONAL = st.fractions()
FEW = settings(max_examples=40, deadline=None)


@pytest.fixture(autouse=True)
def precise():
    with mpmath.workprec(400):
        mpmath.iv.prec = 400
        yield


def wide(value):
    return mpmath.iv.mpf(value.numerator) / mpmath.iv.mpf(value.denominator)


@settings(max_examples=15, deadline=None)
@given(st.floats(0, 5000, allow_nan=False))
def test_the_exponential_is_inside(x):
    low, high = exponential(Fraction(x))
    true = mpmath.iv.exp(-mpmath.iv.mpf(x))
    assert mpmath.mpf(low.numerator) / low.denominator <= true.b
    assert true.a <= mpmath.mpf(high.numerator) / high.denominator
    assert high - low <= Fraction(2, 2**100)


SIZES = st.integers(1, 2**54)


@settings(max_examples=60, deadline=None)
@given(SIZES, SIZES)
@example(1, 2**54)
@example(2**54, 1)
@example(2**54, 2**54 - 1)
@example(2**54 - 1, 2**54)
@example(2**100 + 1, 2**100)
@example(4, 3)
@example(2, 3)
@example(5, 5)
def test_the_logarithm_is_inside(top, bottom):
    low, high = enclosed(EXACT.ln, Fraction(top, bottom))
    true = mpmath.iv.log(wide(Fraction(top, bottom)))
    assert mpmath.mpf(low.numerator) / low.denominator <= true.b
    assert true.a <= mpmath.mpf(high.numerator) / high.denominator
    assert high - low <= Fraction(1, 2**64)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 2**30), min_size=1, max_size=4), st.fractions(-5000, 5000))
@example([0, 2**30, 1, 2**30 - 1], Fraction(0))
@example([2**29], Fraction(-4500))
@example([2**29], Fraction(4500))
def test_entropies_are_from_below_and_logistic_losses_from_above(grid, margin):
    found, steps = entropy(grid, 2**30), mpmath.iv.mpf(2**30)
    parts = [part / steps for v in grid for part in (v, 2**30 - v) if part]
    true = -sum((t * mpmath.iv.log(t) for t in parts), mpmath.iv.mpf(0))
    below = mpmath.mpf(found.numerator) / found.denominator
    assert true.a - len(parts) * mpmath.mpf(2) ** -64 <= below <= true.b
    loss, u = logistic(margin), wide(margin)
    true = mpmath.iv.log(1 + mpmath.iv.exp(-u))
    above = mpmath.mpf(loss.numerator) / loss.denominator
    assert true.a <= above <= true.b + mpmath.mpf(2) ** -63


@FEW
@given(RATIONAL, st.booleans())
@example(3 * 2**400 + Fraction(1, 3**79), True)
def test_rounding_goes_to_its_side_and_not_far(value, up):
    short = rounded(value * Fraction(1, 3), up=up)
    assert (short >= value / 3) if up else (short <= value / 3)
    assert abs(short - value / 3) <= abs(value) / 2**94
    told = Fraction(decimal(value, up=up))
    assert (told >= value) if up else (told <= value)
    assert abs(told - value) <= abs(value) / 10**11


@FEW
@example(Fraction(2**53 + 1))
@given(RATIONAL | FINITE.map(Fraction))
def test_numbers_survive_plain_data(value):
    assert number(written(value)) == value
    # Readers of JSON keep whole numbers up to 2**53 alone.
    assert not isinstance(written(value), int) or abs(value) < 2**53


@FEW
@given(st.lists(st.lists(st.integers(-9, 9), min_size=3, max_size=3), min_size=3, max_size=3))
def test_a_matrix_is_semidefinite_where_its_minors_are(rows):
    S = np.array(rows) + np.array(rows).T
    entries = {(i, j): Fraction(int(S[i, j]), 3) for i, j in triangle(3)}
    # all principal minors, in integers
    places = [[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]]
    minors = [round(float(np.linalg.det(S[np.ix_(k, k)].astype(float)))) for k in places]
    assert semidefinite(entries) == all(m >= 0 for m in minors)


@FEW
@given(st.lists(st.lists(st.integers(-5, 5), min_size=4, max_size=4), min_size=3, max_size=3))
def test_a_system_is_solved_exactly_or_called_singular(rows):
    system = [[Fraction(v, 3) for v in row[:3]] for row in rows]
    right = [Fraction(row[3], 7) for row in rows]
    regular = round(float(np.linalg.det(np.array(rows)[:, :3]))) != 0
    found = [by(system, right) if regular else refused(by, system, right) for by in (solved, bareiss)]
    assert found[0] == found[1]
    x = found[0]
    assert x is None or [sum(a * v for a, v in zip(row, x, strict=True)) for row in system] == right


def refused(by, system, right):
    with pytest.raises(NotShownError):
        by(system, right)


def test_a_repair_moves_no_integer_variable():
    m = model_of(lambda k, x: k + 2 * x, lambda k, x: 4 * k + x == 5.5, bounds=[(0, 3)] * 2, whole=[0])
    start = np.array([1.0 + 1e-9, 1.5 - 1e-7])
    assert primal_point(exact_program(compile_model(m)), start) == (1, Fraction(3, 2))
