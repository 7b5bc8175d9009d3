"""The solver ``fsopt``: problem (15) of Bi goes to the algorithm for it by default, and nothing else does."""

import numpy as np
import pyomo.environ as pyo
import pytest
from support import blobs

import fsopt
from fsopt.answers.results import Status
from fsopt.certificates.kernel_scaling.form import recognise
from fsopt.compiler import compile_model
from fsopt.data.hyperplanes import hinge
from fsopt.drivers.kernel_scaling import interface
from fsopt.drivers.kernel_scaling.driver import kernel_scaling
from fsopt.errors import OptionError, SolverError
from fsopt.solvers.registry import SOLVERS, alternatives, choose, preference


def small(**changed):
    """Return a small model and its program."""
    data = blobs(20, 3)
    model = fsopt.build("kernel-scaling", data, **({"w": [1.0, -0.5, 0.25], "b": 0.1, "c": 0.1} | changed))
    return model, compile_model(model)


def test_another_form_of_the_same_problem_is_taken():
    """The constant of the objective, the order of components and their names are no part of the form."""
    model, _ = small()
    plain = fsopt.solve(model)
    model.objective.deactivate()
    model.other = pyo.Objective(expr=-(model.R * model.W + 0.1 * sum(model.s[j] for j in model.J)) - 5, sense=-1)
    result = fsopt.solve(model)
    assert (result.solver, result.status) == ("fsopt", Status.OPTIMAL)
    assert result.objective == pytest.approx(-plain.objective - 5)
    assert result.bound == pytest.approx(-plain.bound - 5)


@pytest.mark.parametrize(("w", "b"), [([1.0, 0.0, 0.25], 0.0), ([0.0, 0.0, 1.0], -0.4), ([1.0, -0.5, 0.25], 0.2)])
def test_zero_weights_and_intercepts_are_part_of_the_form(w, b):
    model, _ = small(w=w, b=b)
    result = fsopt.solve(model)
    driven = kernel_scaling(blobs(20, 3), w=w, b=b, c=0.1)
    assert (result.solver, result.status, result.stop) == ("fsopt", Status.OPTIMAL, "optimal")
    assert result.objective == pytest.approx(driven.objective, rel=1e-6)
    assert result.bound == pytest.approx(driven.objective, rel=1e-6)
    assert (result.certificate.kind, result.certificate.bound_source) == ("global", "cuts")
    assert fsopt.certify(model, result).ok
    assert pyo.value(model.objective) == pytest.approx(result.objective, rel=1e-12)


def test_scales_of_zero_are_optimal_where_the_loss_allows_them():
    result = fsopt.solve(small(e_cap=1e3)[0])
    assert (result.solver, result.status, result.objective) == ("fsopt", Status.OPTIMAL, pytest.approx(0.0))


# -- changed models ---------------------------------------------------------------------------------------


def ball_without_radius(m):
    """As many constraints as before, two of which would be the risk."""
    m.ball[next(iter(m.ball))].set_value(m.s[next(iter(m.s))] <= 5.0)


def more(constraint):
    """Return the change that adds a constraint."""
    return lambda m: m.add_component("more", pyo.Constraint(expr=constraint(m)))


CHANGES = {
    "a constraint": more(lambda m: m.s[0] + m.s[1] <= 1),
    "an equation": more(lambda m: m.s[0] - m.s[1] == 0),
    "a margin": more(lambda m: m.w[0] + m.xi[0] >= 1),
    "a variable": lambda m: m.add_component("free", pyo.Var(bounds=(0, None))),
    "a quadratic constraint": more(lambda m: m.s[0] ** 2 <= m.s[1]),
    "another cost": lambda m: m.price_s.store_values({1: 0.2}),
    "negative costs": lambda m: m.price_s.store_values(dict.fromkeys(m.J, -0.1)),
    "another product": lambda m: m.objective.set_value(2 * m.R * m.W + 0.1 * sum(m.s[j] for j in m.J)),
    "square": lambda m: m.objective.set_value(m.R * m.W + m.R**2),
    "cost of the size": lambda m: m.objective.set_value(m.R * m.W + m.R),
    "no ball": lambda m: m.ball[3].deactivate(),
    "ball without a radius": ball_without_radius,
    "no capacity": lambda m: m.capacity.deactivate(),
    "no risk": lambda m: m.risk.deactivate(),
    "no margin": lambda m: m.margin[2].deactivate(),
    "another capacity": lambda m: m.w_square.store_values({0: 3.0}),
    "another ball": lambda m: m.ball[0].set_value(2 * m.s[0] + m.s[1] - m.R <= 0),
    "another loss": lambda m: m.risk.set_value(sum(m.xi[i] for i in m.I) + m.xi[0] <= 1),
    "integer scale": lambda m: setattr(m.s[0], "domain", pyo.NonNegativeIntegers),
    "bounded scale": lambda m: m.s[0].setub(1),
    "positive scale": lambda m: m.s[0].setlb(0.1),
    "fixed scale": lambda m: m.s[0].fix(0.0),
    "free intercept": lambda m: m.b.unfix(),
    "small radius": lambda m: m.R.setub(0.1),
    "large capacity": lambda m: m.W.setlb(10.0),
    # The lower bounds on R and W belong to the smaller E of the building.
    "looser loss": lambda m: m.e_cap.set_value(1.05 * m.e_cap.value),
    "maximised": lambda m: setattr(m.objective, "sense", pyo.maximize),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_model_is_left_to_other_solvers(change):
    model, program = small()
    assert interface.takes(program)
    CHANGES[change](model)
    program = compile_model(model)
    assert not interface.takes(program)
    assert "fsopt" not in [s.name for s in preference("NLP", program)]
    missing = "it has more or fewer constraints, or other ones" if change == "ball without a radius" else None
    with pytest.raises(SolverError, match=missing):
        recognise(program)
    with pytest.raises(SolverError):
        fsopt.solve(model, "fsopt")


def test_a_session_goes_on_with_the_solver_for_what_the_model_has_become():
    model, _ = small()
    session = fsopt.Session(model)
    assert session.spec.name == "fsopt"
    first = session.solve().objective
    for j in model.J:
        model.price_s[j] = 0.05
    session.update(model.objective)
    second = session.solve()
    assert (session.spec.name, session.rebuilt, second.status) == ("fsopt", "", Status.OPTIMAL)
    assert second.objective < first
    # The upper bounds on R and W belong to the cost 0.1 of the building: with a larger one they need not hold.
    for j in model.J:
        model.price_s[j] = 0.2
    session.update(model.objective)
    assert session.spec.name != "fsopt"
    assert "the upper bounds on R and W are not implied" in session.rebuilt


# -- the choice, limits and refusals ----------------------------------------------------------------------


def test_it_is_preferred_for_what_it_takes_and_named_for_nothing_else():
    _, program = small()
    assert SOLVERS["fsopt"].structured
    assert preference("NLP", program)[0].name == "fsopt"
    assert "fsopt" not in [s.name for s in preference("NLP")]
    assert choose(None, "NLP", "m", program).name == "fsopt"
    assert choose("scip", "NLP", "m", program).name == "scip"
    assert "fsopt" in alternatives("NLP")


def test_other_nonconvex_models_are_refused_by_name():
    with pytest.raises(SolverError, match="solver 'fsopt' solves programs of one structure only"):
        fsopt.solve(fsopt.build("gmeb-nonconvex", blobs(20, 3), r_plus=1.0, r_minus=1.0), "fsopt")
    with pytest.raises(OptionError, match="no_such_option"):
        fsopt.solve(small()[0], "fsopt", options={"no_such_option": 1})


def test_the_common_options_are_taken():
    model, _ = small()
    loose = fsopt.solve(model, "fsopt", options={"mip_gap": 0.5, "tolerance": 1e-8, "threads": 1, "seed": 3})
    tight = fsopt.solve(model, "fsopt", options={"mip_gap": 1e-9})
    assert loose.bound <= tight.objective * (1 + 1e-9) <= loose.objective * (1 + 2e-9)
    assert loose.iterations <= tight.iterations


def test_infeasible_problems_have_a_farkas_certificate():
    """No scales reach the loss 0 where two samples are equal but for their labels."""
    X = np.array([[1.0, 2.0], [1.0, 2.0], [0.5, -1.0]])
    data = fsopt.Dataset(X, np.array([1.0, -1.0, 1.0]))
    result = fsopt.solve(fsopt.build("kernel-scaling", data, w=[1.0, 0.5], b=0.1, e_cap=0.0))
    assert (result.solver, result.status, result.stop) == ("fsopt", Status.INFEASIBLE, "infeasible")
    assert result.certificate.ok
    assert result.certificate.residuals["farkas"] <= 1e-9


def test_a_time_limit_keeps_the_incumbent_and_a_valid_bound():
    model, _ = small()
    best = fsopt.solve(model)
    result = fsopt.solve(model, time_limit=1e-9)
    assert result.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert result.bound <= best.objective * (1 + 1e-9) <= result.objective * (1 + 2e-9)


def test_separable_samples_keep_a_loss_of_zero():
    data, w = blobs(40, 6), np.linspace(0.6, 0.1, 6)
    X = data.X + 9 * np.outer(data.y, w)
    separable = fsopt.Dataset(X, data.y)
    scale = 2 / (data.y * (X @ w)).min()
    assert hinge(X @ w * scale, data.y) == 0
    result = fsopt.solve(fsopt.build("kernel-scaling", separable, w=w * scale, b=0.0, e_cap=0.0))
    assert (result.solver, result.status) == ("fsopt", Status.OPTIMAL)
