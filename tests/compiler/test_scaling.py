"""Scaling: units are finite in every graph and follow those of the data; cones are mapped onto themselves."""

import itertools
from dataclasses import replace

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from pyomo_models import largest_eigenvalue, missed, symmetric
from support import blobs, sampled

import fsopt
from fsopt.answers.results import Status
from fsopt.compiler import compile_model, dot, lmi


@pytest.mark.parametrize(
    ("tiny", "solver"), sampled(itertools.product([1e-6, 1e-9, 1e-12, 1e-15], ["clarabel", "scs"]), 4, 0)
)
def test_a_column_of_tiny_entries_does_not_hide_a_violated_norm(solver, tiny):
    """The unit of the column is 1/tiny: divided by this unit, no violation of w'w <= 1 exceeded the tolerance."""
    data = blobs(12, 2, seed=0, gap=0.5)
    alone = fsopt.solve(fsopt.build("rsvm", data.columns([1]), w_cap=1.0)).objective
    model = fsopt.build("rsvm", data.with_X(data.X * np.array([tiny, 1.0])), w_cap=1.0)
    result = fsopt.solve(model, solver)
    assert result.status is Status.OPTIMAL
    assert sum(pyo.value(v) ** 2 for v in model.w.values()) <= 1 + 1e-5
    assert result.objective == pytest.approx(alone, rel=1e-5)


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
                assert np.all((missed(p.cones, turned) <= 1e-12 * np.abs(turned).max()) == inside)


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
    loose, A = 1e10, [[1, scale], [1, scale]]
    units = linear_program(A, [4, None], [None, loose], [(0, loose), (0, loose / scale)])
    assert np.all((units.columns * [1, scale] >= 1) & (units.columns * [1, scale] <= 8))


def scaled_entries(pairs, n):
    """Return the entries of rows a x_i - b x_j = 0 beside x_0 = 1 in the units of the program, and these units."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), bounds=(0, None))
    m.start = pyo.Constraint(expr=m.x[0] == 1)
    m.c = pyo.ConstraintList()
    for i, j, a, b in pairs:
        m.c.add(a * m.x[i] - b * m.x[j] == 0)
    units = (p := compile_model(m)).scaling
    entries = sp.diags(units.rows) @ p.A @ sp.diags(units.columns)
    return np.abs(entries.data), np.concatenate([units.columns, units.rows])


@pytest.mark.parametrize("graph", ["chain", "star", "tree", "cycle"])
@pytest.mark.parametrize("seed", range(3))
def test_units_are_finite_in_every_graph_and_entries_near_1_in_a_tree(graph, seed):
    """Fifty rows with ratios up to 1e6, and a chain in which all of them grow, to 1e300 and beyond."""
    n, rng = 51, np.random.default_rng(seed)
    before = {"star": lambda j: 0, "tree": lambda j: int(rng.integers(j))}.get(graph, lambda j: j - 1)
    pairs = [(j, before(j), 1.0, 10.0 ** rng.uniform(-6, 6)) for j in range(1, n)]
    pairs += [(n - 1, 0, 1.0, 1e6)] if graph == "cycle" else []
    entries, units = scaled_entries(pairs, n)
    assert np.all(np.isfinite(units) & (units > 0.0))
    assert graph == "cycle" or (entries.min() > 2.0**-7 and entries.max() < 2.0**7)
    _, units = scaled_entries([(j, before(j), 1.0, 1e6) for j in range(1, n + 20)], n + 20)
    assert np.all(np.isfinite(units) & (units > 0.0))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("slug", ["svm", "rlp", "gmeb-primal", "mpm"])
def test_other_units_of_rows_and_columns_leave_the_scaled_program_as_it_is(slug, seed):
    program, rng = compile_model(fsopt.build(slug, blobs(20, 3, seed=1))), np.random.default_rng(seed)
    rows, columns = (2.0 ** rng.integers(-26, 27, k) for k in program.A.shape)
    R, D = sp.diags(rows), sp.diags(columns)
    ends = {"lo": rows * program.lo, "hi": rows * program.hi, "lb": program.lb / columns, "ub": program.ub / columns}
    other = replace(
        program,
        A=sp.csr_matrix(R @ program.A @ D),
        P=sp.csc_matrix(D @ program.P @ D),
        c=columns * program.c,
        cones=replace(program.cones, G=sp.csr_matrix(program.cones.G @ D)),
        **ends,
    )
    units, others = program.scaling, other.scaling
    drift = [others.columns * columns / units.columns, others.rows * rows / units.rows]
    assert all(np.all(np.abs(np.log2(part)) <= 7) for part in drift)


def theta() -> pyo.ConcreteModel:
    """Return Lovasz's theta of the 5-cycle: min t, tI + sum x_e E_e - J semidefinite, whose variables are free."""
    m = pyo.ConcreteModel()
    m.t, m.x = pyo.Var(), pyo.Var(range(5))
    entry = {frozenset((i, (i + 1) % 5)): m.x[i] - 1 for i in range(5)} | {frozenset((i,)): m.t - 1 for i in range(5)}
    m.psd = lmi([[entry.get(frozenset((i, j)), -1) for j in range(5)] for i in range(5)])
    m.o = pyo.Objective(expr=m.t)
    return m


@pytest.mark.parametrize(("size", "sense"), [(0, 1), *itertools.product([1, 5], [pyo.minimize, pyo.maximize])])
@pytest.mark.parametrize("solver", ["clarabel", "scs"])
def test_the_largest_eigenvalue_and_the_theta_of_a_cycle(solver: str, size: int, sense: int) -> None:
    A = symmetric(size, size)
    model = largest_eigenvalue(A, sense) if size else theta()
    assert fsopt.classify(model) == "SDP"
    result = fsopt.solve(model, solver)
    assert (result.status, result.certificate.bound_source) == ("optimal", "dual point")  # of this solver
    assert pyo.value(model.t) == pytest.approx(np.linalg.eigvalsh(A)[-1] if size else 5**0.5, rel=1e-7)
    again = fsopt.certify(model, result)
    assert (again.ok, again.residuals) == (True, result.certificate.residuals)


def test_an_infeasible_inequality_has_a_proof() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var()
    m.lmi = lmi([[m.x, 2.0], [2.0, -m.x]])
    m.o = pyo.Objective(expr=m.x)
    result = fsopt.solve(m)
    assert result.status == "infeasible"
    assert result.certificate.ok
