"""Scaling: cones are mapped onto themselves, and a norm with a constant bound is measured by that bound."""

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from support import blobs

import fsopt
from fsopt.answers.results import Status
from fsopt.compiler import compile_model, dot


@pytest.mark.parametrize("tiny", [1e-6, 1e-9, 1e-12, 1e-15])
@pytest.mark.parametrize("solver", ["clarabel", "scs"])
def test_a_column_of_tiny_entries_does_not_hide_a_violated_norm(solver, tiny):
    """The unit of the column is 1/tiny: divided by this unit, no violation of w'w <= 1 exceeded the tolerance."""
    data = blobs(12, 2, seed=0, gap=0.5)
    alone = fsopt.solve(fsopt.build("rsvm", data.columns([1]), w_cap=1.0)).objective
    model = fsopt.build("rsvm", data.with_X(data.X * np.array([tiny, 1.0])), w_cap=1.0)
    result = fsopt.solve(model, solver)
    assert result.status is Status.OPTIMAL
    assert sum(pyo.value(v) ** 2 for v in model.w.values()) <= 1 + 1e-5
    assert result.objective == pytest.approx(alone, rel=1e-5)


@pytest.mark.parametrize("tiny", [1e-9, 1e-12])
def test_a_point_outside_the_ball_is_not_certified(tiny):
    data = blobs(12, 2, seed=0, gap=0.5)
    model = fsopt.build("rsvm", data.with_X(data.X * np.array([tiny, 1.0])), w_cap=1.0)
    free = fsopt.build("rsvm", data.with_X(data.X * np.array([tiny, 1.0])), w_cap=100.0)
    assert not fsopt.certify(model, fsopt.solve(free)).ok


@pytest.mark.parametrize("seed", range(4))
def test_scaling_maps_cones_onto_themselves_with_powers_of_two(seed):
    rng = np.random.default_rng(seed)
    m = pyo.ConcreteModel()
    m.w = pyo.Var(range(5))
    m.s = pyo.Var(range(5), bounds=(0, None))
    m.t = pyo.Var(bounds=(0, None))
    size = 10 ** rng.uniform(-5, 5, (5, 5))
    for i in range(5):
        m.add_component(f"r{i}", pyo.Constraint(expr=m.w[i] ** 2 <= float(size[i, 0]) * m.s[i] * m.t))
        m.add_component(f"a{i}", pyo.Constraint(expr=dot(size[i], tuple(m.w.values())) + m.s[i] >= i))
    m.ball = pyo.Constraint(expr=sum(v**2 for v in m.w.values()) <= 7)
    units = (p := compile_model(m)).scaling
    for factors in (units.columns, units.rows):
        np.testing.assert_array_equal(np.log2(factors), np.round(np.log2(factors)))
    assert abs(units.uncone @ units.cone - sp.identity(len(p.cones.h))).max() < 1e-9
    for inside in (True, False):
        for _ in range(30):
            s = rng.standard_normal(len(p.cones.h))
            for a, b in zip(p.cones.starts[:-1], p.cones.starts[1:], strict=True):
                s[a] = np.linalg.norm(s[a + 1 : b]) * (1 + (0.1 if inside else -0.1) * rng.uniform(0.1, 1))
            for turned in (units.cone @ s, units.uncone @ s, units.cone.T @ s):
                assert np.all((p.cones.distances(turned) <= 1e-12 * np.abs(turned).max()) == inside)


def test_the_units_of_weights_follow_those_of_the_features():
    """The rows of big-M take their units from the binary variables, and the weights theirs from these rows."""
    data = blobs(12, 3, seed=1)

    def columns(unit):
        program = compile_model(fsopt.build("fsv-exact", data.with_X(data.X * unit), big_m=20.0 / unit))
        weights = [k for k, v in enumerate(program.variables) if v.parent_component().local_name == "w"]
        assert len(weights) == 3
        return program.scaling.columns[weights]

    for unit in (2.0**-10, 2.0**10, 2.0**20):
        np.testing.assert_array_equal(columns(unit) * unit, columns(1.0))


def linear_program(A, lo, hi, bounds):
    """Return the units of ``lo <= Ax <= hi``."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(len(bounds)), bounds=lambda m, j: bounds[j])
    m.c = pyo.ConstraintList()
    for row, low, high in zip(A, lo, hi, strict=True):
        m.c.add((low, dot(row, tuple(m.x.values())), high))
    return compile_model(m).scaling


@pytest.mark.parametrize("noise", [1e-16, 1e-12, 1e-8])
def test_noise_in_a_right_hand_side_and_a_bound_above_zero_fix_no_unit(noise):
    """x1 + x2 >= 4 and x1 - x2 <= 0: the sizes are about 4."""
    for low, high in ((noise, 0.0), (0.0, noise), (noise, noise)):
        units = linear_program([[1, 1], [1, -1]], [4, None], [None, high], [(low, None), (low, None)])
        assert np.all((units.columns >= 1) & (units.columns <= 8)), (low, high)
        assert np.all((units.rows >= 1 / 16) & (units.rows <= 1)), (low, high)


@pytest.mark.parametrize("scale", [1.0, 2.0**-30, 2.0**30])
def test_a_loose_bound_and_a_loose_constraint_fix_no_unit(scale):
    """0 <= x <= 1e10, x1 + x2 <= 1e10 and x1 + x2 >= 4, in any unit of x2: the sizes are about 4."""
    loose = 1e10
    A = [[1, scale], [1, scale]]
    units = linear_program(A, [4, None], [None, loose], [(0, loose), (0, loose / scale)])
    sizes = units.columns * [1, scale]
    assert np.all((sizes >= 1) & (sizes <= 8))


def test_constraints_without_a_right_hand_side_get_units_from_their_variables():
    """x <= 1e8 z with z >= 1000 says nothing about x, z = x does."""
    units = linear_program([[1, -1e8], [1, -1], [0, 1]], [None, 0, 1000], [0, 0, None], [(0, None), (0, None)])
    assert units.columns.tolist() == [1024.0, 1024.0]
    assert units.rows[0] == 2.0**-37


def norm_in(unit):
    """Return a model of w and t with ``t >= ||u||``, where u is w in some unit."""
    m = pyo.ConcreteModel()
    m.w = pyo.Var(range(2))
    m.u = pyo.Var(range(2))
    m.t = pyo.Var(bounds=(0, None))
    m.rows = pyo.Constraint(range(2), rule=lambda m, i: unit * m.w[i] == m.u[i])
    m.norm = pyo.Constraint(expr=m.u[0] ** 2 + m.u[1] ** 2 <= m.t**2)
    return m


def units_of(m):
    program = compile_model(m)
    return dict(zip([v.name for v in program.variables], program.scaling.columns, strict=True))


@pytest.mark.parametrize("unit", [1.0, 2.0**-10, 2.0**10])
@pytest.mark.parametrize("small", [2.0**-10, 2.0**-30])
def test_a_weight_that_is_next_to_nothing_in_its_row_gives_a_norm_no_unit(small, unit):
    """min ||(w1, w2)|| in some unit with w1 + small w2 = 1: w2 is small, though the row lets it be 1 / small."""
    m = norm_in(unit)
    m.objective = pyo.Objective(expr=m.t)
    m.normal = pyo.Constraint(expr=m.w[0] + small * m.w[1] == 1)
    assert units_of(m) == {"w[0]": 1.0, "w[1]": 1.0, "u[0]": unit, "u[1]": unit, "t": unit}


@pytest.mark.parametrize("unit", [2.0**-10, 1.0, 2.0**10])
def test_a_norm_below_a_variable_with_a_unit_has_this_unit(unit):
    """The norm of w is at most m = w1 + 1e-17 w2 with m >= 1, as in L1-MPM with means that agree in a feature."""
    m = norm_in(unit)
    m.m = pyo.Var(bounds=(1, None))
    m.objective = pyo.Objective(expr=m.m)
    m.mean = pyo.Constraint(expr=m.w[0] + 1e-17 * m.w[1] == m.m)
    m.accuracy = pyo.Constraint(expr=m.m >= m.t)
    units = units_of(m)
    assert units["w[1]"] == 1.0 / unit
    assert units["u[0]"] == units["u[1]"] == units["t"] == units["m"] == 1.0
