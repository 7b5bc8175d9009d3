"""Evidence found for the claims of other software: what it supports is claimed, no more and no less."""

from dataclasses import replace

import numpy as np
import pyomo.environ as pyo
import pytest

import fsopt
from fsopt.answers.results import Point, SolveResult, Status
from fsopt.compiler import compile_model
from fsopt.verification.foreign import reason, supported


def at_least_three(within=pyo.Reals):
    """Return min x + 2 y subject to x + y >= 3 on [1, 2] x [1, 2]: 4, at (2, 1)."""
    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var(within=within, bounds=(1, 2)), pyo.Var(within=within, bounds=(1, 2))
    model.three = pyo.Constraint(expr=model.x + model.y >= 3)
    model.objective = pyo.Objective(expr=model.x + 2 * model.y)
    return model


def answer(status, x=None, objective=None):
    """Return what a file says: a point without multipliers, or none."""
    point = None if x is None else Point(np.array(x))
    return SolveResult(Status(status), "", objective, None, "another", {}, 0, point=point)


@pytest.mark.parametrize("within", [pyo.Reals, pyo.Integers], ids=["convex", "integer"])
def test_a_feasible_point_is_an_optimum_where_the_evidence_shows_one(within):
    model = at_least_three(within)
    for x, value, status in (([2.0, 1.0], 4.0, "optimal"), ([1.0, 2.0], 5.0, "feasible")):
        found = supported(model, answer("feasible", x, value), None)
        assert (found.status, found.objective) == (status, pytest.approx(value))
        assert found.point.x == pytest.approx(x)
        verified = fsopt.verify(found, model)
        assert verified.verified
        assert verified.recomputed == status


@pytest.mark.parametrize("within", [pyo.Reals, pyo.Integers], ids=["convex", "integer"])
def test_a_false_value_stays_false_whatever_the_evidence_shows(within):
    model = at_least_three(within)
    for x, value in (([2.0, 1.0], 3.5), ([1.0, 2.0], 4.5)):
        found = fsopt.verify(supported(model, answer("feasible", x, value), None), model)
        assert not found.verified
        assert "objective" in found.reason


@pytest.mark.parametrize("within", [pyo.Reals, pyo.Integers], ids=["convex", "integer"])
def test_the_claim_of_an_optimum_stays_and_is_refuted_at_another_point(within):
    model = at_least_three(within)
    for x, value, holds in (([2.0, 1.0], 4.0, True), ([1.0, 2.0], 5.0, False)):
        found = supported(model, answer("optimal", x, value), None)
        assert (found.status, found.bound) == ("optimal", value)
        assert fsopt.verify(found, model).verified == holds


def test_another_optimum_is_no_evidence_for_the_point_of_the_file():
    model = at_least_three(pyo.Integers)
    model.objective.set_value(model.x + model.y)  # two optima, (2, 1) and (1, 2)
    for x in ([2.0, 1.0], [1.0, 2.0]):
        found = supported(model, answer("feasible", x, 3.0), None)
        assert found.point.x == pytest.approx(x)
        assert fsopt.verify(found, model).verified


def test_infeasibility_has_a_tree_or_a_vector_where_it_is_true_alone():
    for within in (pyo.Reals, pyo.Integers):
        model = at_least_three(within)
        assert not fsopt.verify(supported(model, answer("infeasible"), None), model).verified
        model.five = pyo.Constraint(expr=model.x + model.y >= 5)
        assert fsopt.verify(supported(model, answer("infeasible"), None), model).verified


def test_the_reason_is_empty_for_a_supported_claim_alone():
    model = at_least_three()
    program = compile_model(model)
    held = supported(model, answer("optimal", [2.0, 1.0], 4.0), None)
    assert reason(fsopt.verify(held, model), held, program) == ""
    bare = fsopt.verify(answer("optimal", [2.0, 1.0], 4.0), model)
    assert reason(bare, answer("optimal", [2.0, 1.0], 4.0), program) == "nothing in the file bounds the optimum"
    none = answer("infeasible")
    assert "has nothing that proves it" in reason(fsopt.verify(none, model), none, program)


def test_the_reason_of_what_holds_numerically_alone_is_that_of_the_exact_claim():
    model = at_least_three(pyo.Integers)
    result = fsopt.solve(model)
    found = fsopt.verify(result, model, exact=True)
    assert found.numerically
    assert "it rests on the search of a solver" in reason(found, result, compile_model(model))
    # The value of a product is exact; of a cubic term none is known: feasible, as it is claimed, numerically alone.
    product = at_least_three()
    product.objective.set_value(product.x * product.y)
    stated = answer("feasible", [2.0, 1.0], 2.0)
    found = fsopt.verify(stated, product, exact=True)
    assert found.numerically
    assert reason(found, stated, compile_model(product)) == ""
    product.objective.set_value(product.x * product.y**2)
    stated = answer("feasible", [2.0, 1.0], 2.0)
    found = fsopt.verify(stated, product, exact=True)
    assert "not convex in the arrays" in reason(found, stated, compile_model(product))


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_a_bound_between_the_exact_one_and_the_value_of_a_worse_point_is_refused(sense):
    model, sign = at_least_three(pyo.Integers), int(sense)
    model.objective.set_value(sign * model.objective.expr)
    model.objective.sense = sense
    found = supported(model, answer("feasible", [1.0, 2.0], 5.0 * sign), None)
    for bound, holds in ((4.0, True), (3.0, True), (4.5, False)):
        [claim] = fsopt.verify(replace(found, bound=sign * bound), model, exact=True).claims
        assert claim.holds == holds, claim.reason
