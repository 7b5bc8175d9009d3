"""LIBSVM: recognised from the arrays, refused otherwise, certified, with the multipliers of every constraint."""

import numpy as np
import pyomo.environ as pyo
import pytest
from support import blobs, reference

import fsopt
from fsopt.answers.certificate import TOLERANCE
from fsopt.errors import SolverError
from fsopt.solvers.base import Session

SIGMA = {"ones": np.ones(4), "some": np.array([1.0, 0, 1, 0]), "none": np.zeros(4), "parts": np.array([0.3, 1, 0, 0.7])}


def by_hand(data, c, turn=1.0):
    """A support vector machine with other names, another order, and one cost per sample."""
    m = pyo.ConcreteModel()
    m.z = pyo.Var(range(data.n), bounds=(0, None))
    m.k = pyo.Var()
    m.a = pyo.Var(range(data.p))
    costs = c * (1 + np.arange(data.n) % 3)

    def row(m, i):
        return m.z[i] + data.y[i] * (m.k + sum(data.X[i, j] * m.a[j] for j in range(data.p))) >= 1

    m.rows = pyo.Constraint(list(reversed(range(data.n))), rule=row)
    cost = 0.5 * turn * sum(v**2 for v in m.a.values()) + sum(costs[i] * m.z[i] for i in range(data.n))
    m.o = pyo.Objective(expr=-cost, sense=pyo.maximize)
    return m


@pytest.mark.parametrize("c", [0.05, 32.0])
@pytest.mark.parametrize("name", ["svm", *SIGMA])
def test_the_models_are_certified_and_agree_with_clarabel(name, c):
    extra = {} if name == "svm" else {"sigma": SIGMA[name]}
    m = fsopt.build("svm" if name == "svm" else "fsp-sub", blobs(), c=c, **extra)
    result = fsopt.solve(m, "libsvm")
    assert (result.status, result.stop, result.certificate.kind) == ("optimal", "optimal", "convex")
    assert result.certificate.worst <= TOLERANCE / 1e3, "single precision was not refined away"
    assert result.objective == pytest.approx(fsopt.solve(m, "clarabel").objective, rel=1e-7, abs=1e-7)
    assert result.bound == pytest.approx(result.objective, rel=1e-9)


def test_the_reference_optimum():
    result = fsopt.solve(fsopt.build("svm", reference("sgm_wdbc_std"), c=1.0), "libsvm")
    assert result.objective == pytest.approx(26.5254551598, rel=1e-9)
    assert result.certificate.worst <= 1e-9


@pytest.mark.parametrize("name", ["svm", "some", "parts"])
def test_multipliers_have_clarabels_signs_and_sizes(name):
    def multipliers(solver):
        extra = {} if name == "svm" else {"sigma": SIGMA[name]}
        m = fsopt.build("svm" if name == "svm" else "fsp-sub", blobs(), c=0.7, **extra)
        assert fsopt.solve(m, solver).status == "optimal"
        rows = [m.dual[r] for r in m.component_data_objects(pyo.Constraint)]
        return np.array([*rows, *(m.rc[v] for v in m.component_data_objects(pyo.Var))])

    mine = multipliers("libsvm")
    np.testing.assert_allclose(mine, multipliers("clarabel"), atol=1e-5)
    assert mine[:30].min() >= 0
    assert mine[:30].max() == pytest.approx(0.7), "no sample lies inside the margin: the test is weak"


@pytest.mark.parametrize("turn", [1.0, 2.5])
def test_names_order_senses_curvature_and_costs_do_not_matter(turn):
    data = blobs(40, 3)
    m = by_hand(data, 0.4, turn=turn)
    result = fsopt.solve(m, "libsvm")
    assert (result.status, result.certificate.ok) == ("optimal", True)
    other = by_hand(data, 0.4, turn=turn)
    assert result.objective == pytest.approx(fsopt.solve(other, "clarabel").objective, rel=1e-7)
    assert m.k.value == pytest.approx(other.k.value, abs=1e-5)
    assert m.dual[m.rows[7]] == pytest.approx(other.dual[other.rows[7]], abs=1e-5)


SPOILS = {
    "bounded": lambda m: m.a[0].setlb(0),
    "factors": lambda m: m.o.set_value(m.o.expr - m.a[0] ** 2),
    "products": lambda m: m.o.set_value(m.o.expr - 0.1 * m.a[0] * m.a[1]),
    "free slack": lambda m: m.z[3].setlb(None),
    "capped slack": lambda m: m.z[3].setub(1),
    "row": lambda m: m.add_component("extra", pyo.Constraint(expr=m.a[0] + m.a[1] <= 5)),
    "side": lambda m: m.add_component("extra", pyo.Constraint(expr=m.z[0] + m.k >= 2)),
    "equation": lambda m: m.add_component("extra", pyo.Constraint(expr=m.a[0] + m.a[1] == 0)),
    "second intercept": lambda m: m.rows[0].set_value(m.rows[0].body + m.spare >= 1),
    "intercept": lambda m: m.rows[0].set_value(m.rows[0].body + m.k >= 1),
    "cost": lambda m: m.o.set_value(m.o.expr - m.k),
}
"""Changes that turn a support vector machine into something else."""


@pytest.mark.parametrize("how", SPOILS)
def test_anything_else_is_refused_before_the_call(how, monkeypatch):
    m = by_hand(blobs(10, 3), 0.4)
    m.spare = pyo.Var()
    SPOILS[how](m)
    assert fsopt.classify(m) == "QP"
    monkeypatch.setattr("sklearn.svm.SVC", lambda **_: pytest.fail("LIBSVM was called"))
    with pytest.raises(SolverError, match=r"libsvm.*support vector machines only.*(svm, fsp-sub|svm and fsp-sub)"):
        fsopt.solve(m, "libsvm")


def test_the_benders_loop_updates_sigma_and_the_costs():
    data = blobs()
    m = fsopt.build("fsp-sub", data, c=0.7)
    session = Session(m, "libsvm")
    for sigma in SIGMA.values():
        for j in m.J:
            m.sigma[j] = sigma[j]
        session.update(m.selection)
        assert session.rebuilt == ""
        fresh = fsopt.solve(fsopt.build("fsp-sub", data, c=0.7, sigma=sigma), "clarabel")
        assert session.solve().objective == pytest.approx(fresh.objective, rel=1e-7)
    m.objective.set_value(m.objective.expr + pyo.quicksum(m.xi.values()))
    session.update(m.objective)
    assert session.solve().objective == pytest.approx(fsopt.solve(m, "clarabel").objective, rel=1e-7)
    m.objective.set_value(m.objective.expr + m.b)
    with pytest.raises(SolverError, match="its slacks are not"):
        session.update(m.objective)


def test_limits_are_told_with_a_feasible_point():
    m = fsopt.build("svm", blobs(60, 4, gap=0.1), c=32.0)
    short = fsopt.solve(m, "libsvm", time_limit=1e-6)
    assert (short.status, short.stop) == ("feasible", "time-limit")
    assert short.certificate.residuals["gap"] > TOLERANCE
    few = fsopt.solve(m, "libsvm", options={"max_iter": 50})
    assert (few.status, few.stop, few.iterations) == ("feasible", "iteration-limit", 50)
