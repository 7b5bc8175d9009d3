"""Linear matrix inequalities: largest eigenvalues, the LMI form of GMEB, certificates that refuse lies."""

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo_models import largest_eigenvalue, missed, symmetric
from support import blobs, there

import fsopt
from fsopt.compiler import compile_model, lmi


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("solver", ["clarabel", "scs"])
def test_the_largest_eigenvalue(solver: str, size: int, sense: int) -> None:
    A = symmetric(size, size)
    model = largest_eigenvalue(A, sense)
    assert fsopt.classify(model) == "SDP"
    result = fsopt.solve(model, solver)
    assert (result.status, result.certificate.bound_source) == ("optimal", "dual point")  # of this solver
    assert pyo.value(model.t) == pytest.approx(np.linalg.eigvalsh(A)[-1], rel=1e-7)
    again = fsopt.certify(model, result)
    assert (again.ok, again.residuals) == (True, result.certificate.residuals)


@pytest.mark.parametrize("solver", ["clarabel", "scs"])
def test_free_variables_without_bounds_are_paid_by_no_one(solver: str) -> None:
    """Lovasz's theta of the 5-cycle, min t: tI + sum x_e E_e - J is semidefinite, and the relaxation of its cut."""
    edges = [(i, (i + 1) % 5) for i in range(5)]
    theta = pyo.ConcreteModel()
    theta.t, theta.x = pyo.Var(), pyo.Var(range(5))
    entry = {tuple(sorted(edge)): theta.x[k] - 1 for k, edge in enumerate(edges)} | {
        (i, i): theta.t - 1 for i in range(5)
    }
    theta.psd = lmi([[entry.get((min(i, j), max(i, j)), -1) for j in range(5)] for i in range(5)])
    theta.o = pyo.Objective(expr=theta.t)
    cut = pyo.ConcreteModel()
    cut.X = pyo.Var([(i, j) for j in range(5) for i in range(j + 1)])
    cut.psd = lmi([[cut.X[min(i, j), max(i, j)] for j in range(5)] for i in range(5)], own=True)
    cut.unit = pyo.Constraint(range(5), rule=lambda m, i: m.X[i, i] == 1)
    cut.o = pyo.Objective(expr=sum(1 - cut.X[tuple(sorted(e))] for e in edges) / 2, sense=pyo.maximize)
    for model, value in ((theta, 5**0.5), (cut, 5 * (5 + 5**0.5) / 8)):
        result = fsopt.solve(model, there(solver))
        assert (result.status, result.objective) == ("optimal", pytest.approx(value, rel=1e-6))
        assert result.bound == pytest.approx(value, rel=1e-6)


def test_an_infeasible_inequality_has_a_proof() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var()
    m.lmi = lmi([[m.x, 2.0], [2.0, -m.x]])
    m.o = pyo.Objective(expr=m.x)
    result = fsopt.solve(m)
    assert result.status == "infeasible"
    assert result.certificate.ok


@pytest.mark.parametrize("a", [1.0, 1e8])
@pytest.mark.parametrize("solver", ["clarabel", "scs"])
def test_a_constant_entry_may_have_another_size_than_the_variables(solver: str, a: float) -> None:
    """The smallest x + y with a^2 <= xy is 2a, and the largest x with x^2 <= a (4 / a) is 2."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(), pyo.Var()
    m.lmi = lmi([[m.x, a], [a, m.y]])
    m.o = pyo.Objective(expr=m.x + m.y)
    assert fsopt.solve(m, solver).objective == pytest.approx(2 * a, rel=1e-6)
    m = pyo.ConcreteModel()
    m.x = pyo.Var()
    m.lmi = lmi([[a, m.x], [m.x, 4 / a]])
    m.o = pyo.Objective(expr=m.x, sense=pyo.maximize)
    assert fsopt.solve(m, solver).objective == pytest.approx(2, rel=1e-6)


@pytest.mark.parametrize("units", [np.full(3, 1e-6), 10.0 ** np.linspace(-6, 6, 3)])
@pytest.mark.parametrize("solver", ["clarabel", "scs"])
def test_gmeb_in_its_lmi_form_has_its_optimum_in_any_units(solver: str, units: np.ndarray) -> None:
    data = blobs(16, 3, seed=2)
    truth = fsopt.solve(fsopt.build("gmeb-dual", data, r_plus=0.5, r_minus=0.8)).objective
    model = fsopt.build("gmeb-sdp", data.with_X(data.X * units), r_plus=0.5, r_minus=0.8)
    result = fsopt.solve(model, solver)
    assert result.status == "optimal" or solver == "scs"  # the last digits of a first-order method are luck
    assert result.objective == pytest.approx(truth, rel=1e-6 if result.status == "optimal" else 1e-5)
    assert fsopt.certify(model, result).ok == (result.status == "optimal")


def test_the_units_of_a_matrix_are_products_and_keep_it_semidefinite() -> None:
    data = blobs(12, 3, seed=0)
    program = compile_model(fsopt.build("gmeb-sdp", data.with_X(data.X * np.array([1e-5, 1.0, 1e5]))))
    units, rng = program.scaling, np.random.default_rng(0)
    assert units.columns.min() < 1e-8 < 1e8 < units.columns.max()
    for factors in (units.columns, units.rows):
        np.testing.assert_array_equal(np.log2(factors), np.round(np.log2(factors)))
    assert abs(units.uncone @ units.cone - np.identity(len(program.cones.h))).max() == 0
    j, i = np.tril_indices(4)
    for rank in (1, 2, 3, 4):
        B = rng.standard_normal((4, rank))
        S = B @ B.T
        for turn in (units.cone, units.uncone, units.cone.T):
            s = turn @ np.where(i == j, S[i, j], np.sqrt(2) * S[i, j])
            assert missed(program.cones, s)[0] <= 1e-12 * np.abs(s).max()
