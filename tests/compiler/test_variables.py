"""Domains of variables: intervals and their whole numbers are read, every other one is refused by name."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest
from pyomo.core.base.range import NumericRange

import fsopt
from fsopt.compiler import compile_model
from fsopt.errors import ParameterError

READ = {
    "whole": ([2, 3, 4], (2, 4, True)),
    "one": ([4], (4, 4, False)),
    "binary": (pyo.Binary, (0, 1, True)),
    "unit": (pyo.UnitInterval, (0, 1, False)),
    "positive": (pyo.PositiveIntegers, (1, float("inf"), True)),
}
REFUSED = {
    "every second": [1, 3, 5],
    "irregular": [1, 3, 7],
    "halves": [0.5, 1.5, 2.5],
    "empty": [],
    "words": ["a", "b"],
    "two parts": pyo.RangeSet(ranges=(NumericRange(0, 0, 0), NumericRange(5, 10, 0))),
}


def model(domain):
    m = pyo.ConcreteModel()
    m.D = pyo.Set(initialize=domain if isinstance(domain, list) else [])
    m.x = pyo.Var(domain=m.D if isinstance(domain, list) else domain)
    m.c = pyo.Constraint(expr=m.x >= 1.2)
    m.o = pyo.Objective(expr=m.x)
    return m


def test_intervals_and_their_whole_numbers_are_read():
    for name, (domain, expected) in READ.items():
        p = compile_model(model(domain))
        assert (p.lb[0], p.ub[0], bool(p.integer[0])) == expected, name


@pytest.mark.parametrize("name", REFUSED)
def test_other_domains_are_refused_by_name(name, tmp_path):
    m = model(REFUSED[name])
    with pytest.raises(ParameterError, match="the domain of 'x' is empty or has holes"):
        fsopt.solve(m)
    for suffix in (".mps", ".lp", ".nl"):
        with pytest.raises(ParameterError, match="the domain of 'x' is empty or has holes"):
            fsopt.export(m, tmp_path / f"model{suffix}")


def test_an_intersection_without_elements_is_empty():
    m = pyo.ConcreteModel()
    m.S = pyo.Set(initialize=[2, 3])
    m.x = pyo.Var(domain=pyo.Binary & m.S)
    m.o = pyo.Objective(expr=m.x)
    with pytest.raises(ParameterError, match="the domain of 'x' is empty"):
        fsopt.solve(m)


def test_a_fixed_variable_may_have_any_domain():
    m = model([1, 3, 5])
    m.x.fix(3)
    assert fsopt.solve(m).objective == pytest.approx(3.0)
