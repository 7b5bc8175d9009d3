"""The forms of Peleg & Meir, (10), (11) and (15): the LMI, separable data, before the convexification."""

import numpy as np
import pyomo.environ as pyo
import pytest
from gmeb_cases import SHARES
from gmeb_cases import values as penalised
from scipy.optimize import minimize_scalar
from support import blobs, optimum, reference
from truths import minimum, one_norm, placed, sized_margins, slack_cost

import fsopt
from fsopt.compiler.values import values_of
from fsopt.models.gmeb.norm import second_moments

RADII = {"r_plus": 0.25, "r_minus": 0.25}


def smallest_hinge(Z, y, cap):
    """Return the smallest hinge loss over |w|_1 <= cap."""
    p = Z.shape[1]
    A, b = sized_margins(Z, y)
    A = np.vstack([A, placed(A.shape[1], slice(-p, None), 1.0)])
    return minimum(slack_cost(Z, *np.zeros(p)), A, np.append(b, cap))[0]


@pytest.mark.parametrize(("units", "misprint"), [("standard", 119.4781), ("raw", 38.3902)])
def test_with_one_radius_features_are_divided_by_the_root_of_the_moment(units, misprint):
    data = reference("wdbc_std")
    if units == "raw":
        raw = fsopt.load_dataset("wdbc")  # its labels are the other way round
        data = fsopt.Dataset(raw.X - raw.X.mean(axis=0), -raw.y)
    v = second_moments(data)[1]
    assert smallest_hinge(data.X / np.sqrt(v), data.y, np.sqrt(5.0)) == pytest.approx(94.662858, rel=1e-8)
    # Remark 16 divides by v itself: another problem, and one that depends on the units.
    assert smallest_hinge(data.X / v, data.y, np.sqrt(5.0)) == pytest.approx(misprint, rel=1e-6)
    if units == "standard":
        for slug in ("gmeb-primal", "gmeb-dual"):
            assert optimum(slug, data, r_plus=np.inf, r_minus=5.0)[1] == pytest.approx(94.662858, rel=1e-8)


def test_the_nonconvex_problem_has_the_convex_ones_optimum():
    data, given = blobs(12, 2, seed=1), {"r_plus": np.inf, "r_minus": 0.3}
    primal, truth = optimum("gmeb-primal", data, **given)
    m, found = optimum("gmeb-nonconvex", data, "scip", **given)
    assert found == pytest.approx(truth, rel=1e-6)
    np.testing.assert_allclose(values_of(m.u), values_of(m.w) * values_of(m.sigma), atol=1e-8)
    np.testing.assert_allclose(values_of(m.u), values_of(primal.w), atol=1e-5)
    for v, r in zip(second_moments(data), given.values(), strict=True):
        assert v @ values_of(m.sigma) ** 2 <= r * (1 + 1e-7)
    result = fsopt.solve(fsopt.build("gmeb-nonconvex", data, **given), "ipopt")
    assert result.status == "stationary"
    assert result.objective == pytest.approx(truth, rel=1e-7)


def test_the_penalised_bound_is_the_smallest_of_linear_programs():
    data, c_plus, c_minus = blobs(13, 2), 0.1, 0.8
    data = data.with_X(data.X - data.X.mean(axis=0))
    _, found = optimum("gmeb-penalised", data, "scip", c_plus=c_plus, c_minus=c_minus)
    coarse = SHARES[np.argmin(penalised(data, c_plus, c_minus))]
    truth = minimize_scalar(
        lambda share: penalised(data, c_plus, c_minus, [share])[0],
        bounds=(coarse - 0.02, coarse + 0.02),
        method="bounded",
        options={"xatol": 1e-7},
    )
    assert found == pytest.approx(truth.fun, rel=1e-6)


def test_the_dual_of_the_dual_with_sigma_not_inverted_is_another_problem():
    data = blobs(12, 2, seed=1)
    _, dual = optimum("gmeb-dual", data, **RADII)
    m = fsopt.build("gmeb-primal", data, **RADII)
    m.del_component(m.perspective)
    m.t.fix(0.0)
    for variable in m.w.values():  # a box far outside the best weights: without one no bound of a search counts
        variable.setlb(-1e3)
        variable.setub(1e3)
    m.printed = pyo.Constraint(expr=sum(m.sigma[j] * m.w[j] ** 2 for j in m.J) <= 1)  # (26): w'Sigma w <= 1
    result = fsopt.solve(m, "scip")
    free = one_norm(data.X, data.y, weights=np.zeros(2))[0]  # sigma = 0 leaves w free
    assert (result.status, result.objective) == ("optimal", pytest.approx(free, abs=1e-6))
    assert free < dual - 1


def test_a_vanishing_multiplier_of_the_norm_does_not_make_the_multipliers_vanish():
    """Appendix B asks for mu = 0 where mu_1 = 0; X'Y mu = 0 is enough, as for equal samples with opposite labels."""
    data = fsopt.Dataset(np.array([[1.0], [1.0], [2.0], [-2.0]]), np.array([1.0, -1.0, 1.0, -1.0]))
    m = fsopt.build("gmeb-dual", data, r_plus=100.0, r_minus=100.0)
    for variable in m.component_data_objects(pyo.Var):
        variable.set_value(0.0)
    m.mu[0], m.mu[1] = 1.0, 1.0
    assert all(constraint.slack() >= 0 for constraint in m.component_data_objects(pyo.Constraint))
    assert pyo.value(m.objective) == 2.0
    assert optimum("gmeb-primal", data, r_plus=100.0, r_minus=100.0)[1] == pytest.approx(2.0, rel=1e-7)
    assert fsopt.solve(m).objective == pytest.approx(2.0, rel=1e-7)


def uneven(seed: int) -> fsopt.Dataset:
    """Return two overlapping classes of 15 and 7 rows, of either sign."""
    data = blobs(30, 3, seed=seed)
    many = 1.0 if seed % 2 else -1.0
    return data.rows(np.r_[np.flatnonzero(data.y == many), np.flatnonzero(data.y == -many)[:7]])


def norm_threshold(data: fsopt.Dataset) -> float:
    """Return the largest C at which (19) has the solution w = 0, by its dual."""
    m = pyo.ConcreteModel()
    smaller = 1.0 if np.sum(data.y > 0) <= np.sum(data.y < 0) else -1.0
    m.mu = pyo.Var(range(data.n), bounds=lambda m, i: (float(data.y[i] == smaller), 1.0))
    m.q = pyo.Var(range(data.p))
    m.combined = pyo.Constraint(
        m.q.index_set(), rule=lambda m, j: m.q[j] == pyo.sum_product(dict(enumerate(data.X[:, j] * data.y)), m.mu)
    )
    m.balance = pyo.Constraint(expr=sum(y * mu for y, mu in zip(data.y.tolist(), m.mu.values(), strict=True)) == 0)
    m.objective = pyo.Objective(expr=sum(q**2 for q in m.q.values()))
    return 0.5 / float(np.sqrt(fsopt.solve(m).objective))


@pytest.mark.parametrize("data", [uneven(1), uneven(2), blobs(20, 4)], ids=["more +1", "more -1", "even"])
def test_the_threshold_is_where_weights_appear(data):
    threshold, fewer = norm_threshold(data), min(np.sum(data.y > 0), np.sum(data.y < 0))
    for factor in (0.3, 0.999):
        m, found = optimum("svm-norm", data, c=factor * threshold)
        assert np.abs(values_of(m.w)).max() <= 1e-5
        assert found == pytest.approx(2 * fewer * factor * threshold, rel=1e-6)
    m, found = optimum("svm-norm", data, c=1.001 * threshold)
    assert np.ptp(data.X @ values_of(m.w)) >= 2 - 1e-4, "w does not grow from 0, it jumps"
    assert found < 2 * fewer * 1.001 * threshold * (1 - 1e-4)
    if 2 * fewer == data.n:
        assert threshold == pytest.approx(1 / (2 * np.linalg.norm(data.X.T @ data.y)), rel=1e-7)


def test_the_margin_problem_is_the_norm_svm_by_theorem_20():
    data = uneven(3)
    c = 2.0 * norm_threshold(data)
    m, norm = optimum("svm-norm", data, c=c)
    gamma = 1.0 / np.linalg.norm(values_of(m.w))
    w, b, xi = gamma * values_of(m.w), gamma * m.b.value, gamma * values_of(m.xi)
    assert np.linalg.norm(w) == pytest.approx(1.0, rel=1e-12)
    assert (data.y * (data.X @ w + b) + xi - gamma).min() >= -1e-6
    mapped = (xi.sum() + 1 / (2 * c)) / gamma
    assert mapped == pytest.approx(norm / c, rel=1e-6)

    def at_margin(inverse):  # convex where the margin is given
        return optimum("rsvm", data, w_cap=inverse**2)[1] + inverse / (2 * c)

    scan = minimize_scalar(at_margin, bounds=(0.3 / gamma, 3 / gamma), method="bounded", options={"xatol": 1e-4})
    assert mapped == pytest.approx(scan.fun, rel=1e-6)
    margin = fsopt.build("svm-margin", data, c=c)
    result = fsopt.solve(margin, "ipopt")
    assert (result.status, result.objective) == ("stationary", pytest.approx(mapped, rel=1e-6))
    assert margin.gamma.value == pytest.approx(gamma, rel=1e-3)
    assert gamma <= margin.gamma.ub / 2


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
