"""Infeasibility explained: every set contradicts itself, and without any member it does not."""

import pyomo.environ as pyo
import pytest
from pyomo_models import FREE, model_of
from support import blobs

import fsopt
from fsopt.analysis.infeasibility import explain_infeasibility


def contradiction(integer=False):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(0, 10), domain=pyo.Integers if integer else pyo.Reals, doc="x, amounts")
    m.low = pyo.Constraint(expr=m.x[0] + m.x[1] >= 8, doc="(1) demand")
    m.cap = pyo.Constraint(range(2), rule=lambda m, i: m.x[i] <= 3, doc="(2) capacity")
    m.free = pyo.Constraint(expr=m.x[2] + m.x[0] <= 9, doc="(3) irrelevant")
    m.o = pyo.Objective(expr=m.x[2])
    return m


@pytest.mark.parametrize("integer", [False, True])
def test_the_members_contradict_each_other_and_are_named_by_component_and_equation(integer):
    found = explain_infeasibility(contradiction(integer))
    assert (found.status, found.irreducible) == ("infeasible", True)
    assert [(m["component"], m["index"]) for m in found.members] == [("low", None), ("cap", 0), ("cap", 1)]
    assert [m["equation"] for m in found.members] == ["(1) demand", "(2) capacity", "(2) capacity"]
    assert "cap[1]: x[1] <= 3" in str(found)
    assert found.evidence == ("Farkas multipliers" if not integer else "highs")
    for member in found.members:
        m = contradiction(integer)
        m.component(member["component"])[member["index"]].deactivate()
        assert fsopt.solve(m).status == "optimal"


def test_bounds_are_members_too_and_the_objective_is_none():
    found = explain_infeasibility(model_of(lambda x: -x, lambda x: x >= 2, bounds=[(0, 1)]))
    members = [(v["component"], v["text"]) for v in found.members]
    assert members == [("row", "row[0]: 2 <= x[0]"), ("x", "x[0] <= 1")]


def test_crossed_bounds_are_the_contradiction():
    m = contradiction()
    m.x[2].setlb(5)
    m.x[2].setub(4)
    m.low.deactivate()
    assert [v["text"] for v in explain_infeasibility(m).members] == ["x[2] >= 5", "x[2] <= 4"]


def test_an_unbounded_model_is_not_explained():
    model = model_of(lambda x: x, lambda x: x <= 3, bounds=[FREE])
    assert explain_infeasibility(model).status == "feasible"


def test_a_cone_is_named_with_its_equation():
    model = fsopt.build("l0-mpm-step", blobs(40, 3), delta=0.999, alpha=5.0)
    model.more = pyo.Constraint(expr=sum(v**2 for v in model.component("w_plus").values()) <= 1e-6, doc="own cone")
    found = explain_infeasibility(model)
    assert found.status == "infeasible"
    assert not found.irreducible
    assert "own cone" in {m["equation"] for m in found.members}
