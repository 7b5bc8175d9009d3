"""Pieces that the interfaces share: bounds by kind, ranges split, quadratics scaled, factors, options by name."""

import numpy as np
import pytest
import scipy.sparse as sp
from pyomo_models import model_of

from fsopt.compiler import compile_model
from fsopt.errors import OptionError
from fsopt.solvers import shared
from fsopt.solvers.interface import optional, set_options


def ranges():
    rows = (
        lambda x, y, z: x + 30 * y <= 4,
        lambda x, y, z: y - z >= -2,
        lambda x, y, z: x + z == 3,
        lambda x, y, z: (-1, y + z, 11),
        lambda x, y, z: (1, x * y + 2 * z + 5, 9),
    )
    return compile_model(model_of(lambda x, y, z: x, *rows, bounds=[(-50, 700)] * 3))


def test_bounds_have_their_kind_and_absent_ones_are_zero_or_none():
    low, high = np.array([1.0, -np.inf, -2.0, -np.inf, 0.0]), np.array([1.0, 4.0, np.inf, np.inf, 5.0])
    assert shared.bound_kinds(low, high) == ["fixed", "upper", "lower", "free", "range"]
    assert shared.present(low).tolist() == [1.0, 0.0, -2.0, 0.0, 0.0]
    assert optional(high) == [1.0, 4.0, None, None, 5.0]


def test_ranges_are_split_and_a_point_meets_the_parts_exactly_where_it_meets_the_whole():
    program = ranges()
    split = shared.one_sided(program)
    assert sorted(split.rows.tolist()) == [0, 1, 2, 3, 3]
    rng = np.random.default_rng(0)
    for x in rng.uniform(-3, 6, (200, 3)):
        x[0] = 3 - x[2] if rng.random() < 0.7 else x[0]
        whole = program.A @ x
        inside = np.all((whole >= program.lo - 1e-9) & (whole <= program.hi + 1e-9))
        parts = whole[split.rows] - split.right
        met = {"=": np.abs(parts) <= 1e-9, "<": parts <= 1e-9, ">": parts >= -1e-9}
        assert inside == all(met[sense][k] for k, sense in enumerate(split.sense.tolist()))


def test_a_quadratic_constraint_has_the_same_body_in_the_units_of_the_solver():
    program = ranges()
    d = shared.units(program)
    assert np.any(d != 1.0), "nothing is scaled: the test is empty"
    (row,) = shared.quadratic_constraints(program, d)
    unit = row.high / 4.0
    assert (row.low, unit) == (-4.0 * unit, 2.0 ** round(np.log2(unit)))
    assert 0.7 < max(np.abs(row.Q).max(), np.abs(row.a).max()) < 1.5
    x = np.array([1.5, -2.0, 0.7])
    assert (x / d) @ (row.Q @ (x / d)) + row.a @ (x / d) == pytest.approx(unit * (x[0] * x[1] + 2 * x[2]))


def test_the_factor_of_a_singular_matrix_has_its_rank():
    F = np.random.default_rng(1).standard_normal((2, 3))
    P = np.zeros((5, 5))
    P[np.ix_([0, 2, 4], [0, 2, 4])] = F.T @ F
    columns, found = shared.factor(sp.csc_matrix(P))
    assert columns.tolist() == [0, 2, 4]
    assert found.shape == (2, 3)
    assert found.T @ found == pytest.approx(F.T @ F)


def test_an_option_that_is_refused_is_named_with_its_value_and_the_solver_s_words():
    taken = {}

    def put(name, value):
        if name == "bad":
            raise ValueError("only in\n[0, 1]")
        taken[name] = value

    with pytest.raises(OptionError, match=r"solver 'some' does not take the option 'bad' \(.*7: only in \[0, 1\]\)"):
        set_options("some", {"good": 1, "bad": 7}, put, (ValueError,))
    assert taken == {"good": 1}
