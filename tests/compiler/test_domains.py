"""Domains of variables: each is its own set of values for all solvers, certificates, proofs and files, or refused."""

from __future__ import annotations

import itertools
import math

import pyomo.environ as pyo
import pytest
from pyomo.core.base.range import NumericRange

import fsopt
from fsopt.compiler import compile_model
from fsopt.compiler.domains import with_explicit_domains
from fsopt.errors import ParameterError

PLAIN = {
    "whole": ([2, 3, 4], (2, 4, True)),
    "one": ([4], (4, 4, False)),
    "binary": (pyo.Binary, (0, 1, True)),
    "unit": (pyo.UnitInterval, (0, 1, False)),
    "positive": (pyo.PositiveIntegers, (1, math.inf, True)),
    "negative": (pyo.NegativeIntegers, (-math.inf, -1, True)),
}


def ranges(*listed):
    return pyo.RangeSet(ranges=tuple(NumericRange(*one) for one in listed))


def model(domain, low=None, high=None, sense=1):
    """Return min or max x, low <= x <= high, over a domain."""
    m = pyo.ConcreteModel()
    m.D = pyo.Set(initialize=domain if isinstance(domain, list) else [])
    m.x = pyo.Var(domain=m.D if isinstance(domain, list) else domain)
    m.c = pyo.Constraint(expr=(low, m.x, high))
    m.o = pyo.Objective(expr=m.x, sense=sense)
    return m


@pytest.mark.parametrize("name", PLAIN)
def test_intervals_and_their_whole_numbers_are_columns_alone(name):
    domain, expected = PLAIN[name]
    p = compile_model(model(domain, 1.2))
    assert (p.n, p.lb[0], p.ub[0], bool(p.integer[0])) == (1, *expected)


# -- values --------------------------------------------------------------------------------------------------

EVEN = pyo.RangeSet(0, None, 2)
SEMICONTINUOUS = ranges((0, 0, 0), (5, 10, 0))
AROUND = ranges((-10, -4, 0), (0, 0, 0), (4, 10, 0))
SEMI_INTEGER = ranges((0, 0, 0), (3, 9, 1))
HOLES = {
    "every second": ([1, 3, 5], 1.2, None, 3, 5),
    "irregular": ([1, 3, 7], 3.5, None, 7, 7),
    "halves": ([0.5, 1.5, 2.5], 0.7, 2, 1.5, 1.5),
    "halves without end": (ranges((0.5, None, 1)), 3, 4, 3.5, 3.5),
    "halves in both directions": (ranges((0.5, 20, 1), (-0.5, -20, -1)), -1, 1.2, -0.5, 0.5),
    "a step": (pyo.RangeSet(0, 10, 2), 2.5, 7, 4, 6),
    "a step without end": (EVEN, 2.5, 7, 4, 6),
    "a step downwards without end": (pyo.RangeSet(1, None, -3), -9, -3, -8, -5),
    "two steps": (ranges((0, 10, 4), (1, 13, 6)), 3, 7.5, 4, 7),
    "far apart": ([0, 1000], 0.5, None, 1000, 1000),
    "tenths": ([0.1, 0.2, 0.30000000000000004], 0.15, 0.25, 0.2, 0.2),
    "runs": ([1, 2, 3, 4, 9, 11, 13, 20], 4.5, 19, 9, 13),
    "without 0": ([-2, -1, 1, 2], -0.5, 0.5, None, None),
    "semicontinuous": (SEMICONTINUOUS, 1, 7, 5, 7),
    "semicontinuous at 0": (SEMICONTINUOUS, -1, 4, 0, 0),
    "semicontinuous in the gap": (SEMICONTINUOUS, 1, 4, None, None),
    "semi-integer": (SEMI_INTEGER, 0.5, 4.5, 3, 4),
    "semi-integer at 0": (SEMI_INTEGER, -1, 2.5, 0, 0),
    "three parts": (AROUND, -3, 5.5, 0, 5.5),
    "three parts, the lowest": (AROUND, -20, -5, -10, -5),
    "an interval with a whole number": (ranges((0, 1, 0), (3, 3, 0)), 0.5, None, 0.5, 3),
}


@pytest.mark.parametrize("name", HOLES)
def test_the_minimum_and_the_maximum_over_a_domain_with_holes(name):
    domain, low, high, smallest, largest = HOLES[name]
    for sense, expected in ((pyo.minimize, smallest), (pyo.maximize, largest)):
        m = model(domain, low, high, sense)
        if expected is None:
            assert fsopt.solve(m, "highs").status in ("infeasible", "none")
            continue
        answer = fsopt.solve(m, "highs")
        assert (answer.status, answer.certificate.ok) == ("optimal", True)
        assert (answer.objective, m.x.value) == (pytest.approx(expected), pytest.approx(expected))


def test_values_of_a_user_are_certified_by_the_domain():
    m = model([1, 3, 7], 0, 9)
    for value, ok in ((3, True), (3.5, False), (7, True)):
        m.x.value = value
        assert fsopt.certify(m).ok is ok


def test_a_value_that_is_no_number_is_no_obstacle():
    m = model([1, 3, 7], 2)
    m.x.set_value(math.nan, skip_validation=True)
    assert fsopt.solve(m, "highs").objective == pytest.approx(3)


def test_an_infinite_bound_of_a_variable_with_holes_is_refused():
    m = model(ranges((0, 0, 0), (5, None, 0)), 1)
    m.x.setlb(math.inf)
    with pytest.raises(ParameterError, match="'x' has no bounds that can be read"):
        fsopt.solve(m)


def test_a_domain_takes_one_whole_number_or_a_binary_for_each_part():
    for name, columns in (("every second", 2), ("irregular", 4), ("runs", 6), ("semicontinuous", 4)):
        assert compile_model(model(*HOLES[name][:3])).n == columns, name
    p = compile_model(model([1, 3, 7], 2))
    assert [v.name for v in p.variables] == ["x", "domains.takes[x,0]", "domains.takes[x,1]", "domains.takes[x,2]"]
    assert p.integer.all()  # all values are whole, x too


def test_a_model_keeps_its_components_and_has_the_same_columns_at_each_compilation():
    m = model([1, 3, 7], 2)
    before = [c.name for c in m.component_objects()]
    first, second = compile_model(m), compile_model(m)
    assert all(a is b for a, b in zip(first.variables, second.variables, strict=True))
    assert [c.name for c in m.component_objects()] == before
    assert m.x.domain is m.D


def test_a_component_named_as_the_block_of_the_domains_is_no_obstacle(tmp_path):
    m = model([1, 3, 7], 2)
    m.domains = pyo.Var(bounds=(0, 1))
    m.d = pyo.Constraint(expr=m.domains + m.x >= 3.5)
    assert fsopt.solve(m, "highs").objective == pytest.approx(3)
    assert fsopt.solve(fsopt.read_model(fsopt.export(m, tmp_path / "m.nl")[0])).objective == pytest.approx(3)


def test_a_product_of_variables_with_holes():
    """Nonconvex: the integers are fixed by a compilation of its own."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(domain=[-3, -1, 2]), pyo.Var(domain=ranges((-2, -1, 0), (1, 2, 0)))
    m.o = pyo.Objective(expr=m.x * m.y + m.y)
    answer = fsopt.solve(m, "scip")
    best = min(x * y + y for x, y in itertools.product([-3, -1, 2], [-2, -1, 1, 2]))
    assert (answer.status, answer.objective) == ("optimal", pytest.approx(best))


def test_two_variables_of_the_same_name_have_domains_of_their_own():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, "1"], domain=[1, 4])
    m.c = pyo.Constraint([1, "1"], rule=lambda m, i: m.x[i] >= 2)
    m.o = pyo.Objective(expr=m.x[1] + m.x["1"])
    assert fsopt.solve(m, "highs").objective == pytest.approx(8)


def test_a_block_has_domains_of_the_variables_around_it():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(domain=[1, 4])
    m.b = pyo.Block()
    m.b.o = pyo.Objective(expr=m.x)
    m.b.c = pyo.Constraint(expr=m.x >= 2)
    assert fsopt.solve(m.b, "highs").objective == pytest.approx(4)


# -- changes -------------------------------------------------------------------------------------------------


def test_a_fixed_variable_may_have_any_domain():
    m = model([1, 3, 5], 1.2)
    m.x.fix(2)
    assert fsopt.solve(m).objective == pytest.approx(2.0)


def test_a_session_follows_a_changed_bound_domain_and_fixed_value():
    m = model([1, 3, 7], 0)
    session = fsopt.Session(m, "highs")
    assert session.solve().objective == pytest.approx(1)
    m.x.setlb(2)
    session.update(m.x)
    assert session.solve().objective == pytest.approx(3)
    m.x.fix(2)  # a constant, that no binary contradicts
    session.update(m.x)
    assert session.solve().objective == pytest.approx(2)
    m.x.unfix()
    m.x.domain = pyo.Reals
    session.update(m.x)
    assert session.solve().objective == pytest.approx(2)
    m.x.domain = ranges((0, 0, 0), (6, None, 0))
    m.x.setub(8)
    session.refresh()
    assert session.solve().objective == pytest.approx(6)


# -- refused -------------------------------------------------------------------------------------------------

REFUSED = {
    "empty": ([], "'x' is empty"),
    "empty set": (pyo.EmptySet, "'x' is empty"),
    "words": (["a", "b"], "'x' has '.a.', which is no finite number"),
    "a word": ([1, "b"], "'x' has '.b.', which is no finite number"),
    "any": (pyo.Any, "which is no finite number"),
    "truths": ([True, False], "which is no finite number"),
    "pairs": ([(1, 2), (3, 4)], "which is no finite number"),
    "infinite": ([1, math.inf], "'.inf.', which is no finite number"),
    "below all": ([1, -math.inf], "'.-inf.', which is no finite number"),
    "no number": ([1, math.nan], "which is no finite number"),
    "half without end": (ranges((0, 0, 0), (5, None, 0)), "'x' has holes and no end"),
    "evens": (ranges((0, None, 2), (0, None, -2)), "'x' has holes and no end"),
    "a missing point": (ranges((-9, 0, 0, "[)"), (0, 9, 0, "(]")), "ends before 0, which it does not contain"),
    "an open gap": (ranges((0, 0, 0), (5, 10, 0, "(]")), "ends before 5, which it does not contain"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_domains_are_refused_by_name(name, tmp_path):
    domain, words = REFUSED[name]
    m = model(domain, 1.2)
    with pytest.raises(ParameterError, match=f"the domain of the variable .*{words}") as error:
        fsopt.solve(m)
    assert error.value.hint
    assert "\n" not in str(error.value)
    for suffix in (".mps", ".lp", ".nl", ".cbf"):
        with pytest.raises(ParameterError, match=words):
            fsopt.export(m, tmp_path / f"model{suffix}")


def test_an_intersection_without_elements_is_empty():
    m = pyo.ConcreteModel()
    m.S = pyo.Set(initialize=[2, 3])
    m.x = pyo.Var(domain=pyo.Binary & m.S)
    m.o = pyo.Objective(expr=m.x)
    with pytest.raises(ParameterError, match="the domain of the variable 'x' is empty"):
        fsopt.solve(m)


def test_infinite_parts_end_at_the_bounds_of_the_variable():
    m = model(ranges((0, 0, 0), (5, None, 0)), 1)
    m.x.setub(8)
    assert fsopt.solve(m, "highs").objective == pytest.approx(5)
    m.x.setub(4)  # the interval from 5 on has no value left
    assert fsopt.solve(m, "highs").status in ("infeasible", "none")


# -- files ---------------------------------------------------------------------------------------------------


def test_a_copy_with_explicit_domains_is_the_compiled_program():
    for domain, low, high, *_ in HOLES.values():
        m = model(domain, low, high)
        first, second = compile_model(m), compile_model(with_explicit_domains(m))
        assert [v.name for v in first.variables] == [v.name for v in second.variables]
        assert [c.name for c in first.constraints] == [c.name for c in second.constraints]
        for name in ("lb", "ub", "lo", "hi", "integer"):
            assert getattr(first, name).tolist() == getattr(second, name).tolist()
        assert abs(first.A - second.A).nnz == 0
