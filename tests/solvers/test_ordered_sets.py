"""Special ordered sets: solvers that take them against enumeration, certificates, files, and refusals."""

from dataclasses import replace
from itertools import product

import numpy as np
import pyomo.environ as pyo
import pytest

import fsopt
from fsopt.certificates.model import fixed_program
from fsopt.compiler import compile_model
from fsopt.compiler.ordered_sets import OrderedSet, outside
from fsopt.errors import SolverError
from fsopt.solvers.registry import SOLVERS

TAKERS = [name for name, spec in SOLVERS.items() if spec.ordered and spec.available]
SIZE = 7


def random_model(seed: int, *, curved: bool = False, integer: bool = False) -> pyo.ConcreteModel:
    """Return a program with a set of type 1 and one of type 2 that share a variable, in units from 1e-3 to 1e3."""
    rng = np.random.default_rng(seed)
    m = pyo.ConcreteModel()
    unit = 10.0 ** rng.uniform(-3, 3, SIZE)
    m.x = pyo.Var(range(SIZE))
    for j, variable in m.x.items():
        variable.setlb(0.0 if rng.random() < 0.7 else -2.0 * unit[j])
        variable.setub(3.0 * unit[j])
    if integer:
        m.x[0].setlb(0)
        m.x[0].setub(3)
        m.x[0].domain, unit[0] = pyo.Integers, 1.0
    z = [m.x[j] / unit[j] for j in range(SIZE)]
    a, c = rng.uniform(0.5, 2.0, SIZE), rng.uniform(-1.0, 2.0, SIZE)
    m.row = pyo.Constraint(expr=sum(a[j] * z[j] for j in range(SIZE)) <= 5.0)
    square = sum(v**2 for v in z) / 3 if curved else 0.0
    m.o = pyo.Objective(expr=sum(c[j] * z[j] for j in range(SIZE)) - square, sense=pyo.maximize)
    order = rng.permutation(SIZE).tolist()
    weights = sorted(rng.uniform(0, 9, SIZE).tolist())
    m.one = pyo.SOSConstraint(var=m.x, index=order[:4], weights=dict(zip(order, weights, strict=True)), sos=1)
    m.two = pyo.SOSConstraint(var=m.x, index=order[3:], weights=dict(zip(order, weights[::-1], strict=True)), sos=2)
    return m


def enumerated(build) -> float:
    """Return the best value over all choices of neighbours, each a program without sets."""
    best = -np.inf
    program = compile_model(build())
    starts = [range(len(one.columns) - one.kind + 1) for one in program.ordered]
    for choice in product(*starts):
        m = build()
        variables = list(m.x.values())
        for one, first in zip(program.ordered, choice, strict=True):
            for k, j in enumerate(one.columns.tolist()):
                if not first <= k < first + one.kind:
                    variables[j].setlb(0)
                    variables[j].setub(0)
        m.del_component("one")
        m.del_component("two")
        best = max(best, fsopt.solve(m, options={"mip_gap": 0.0}).objective)
    return best


@pytest.mark.parametrize(("seed", "kind"), [(0, {}), (1, {"curved": True}), (2, {"integer": True})])
def test_solvers_find_the_optimum_of_the_enumeration(seed, kind):
    truth = enumerated(lambda: random_model(seed, **kind))
    for name in TAKERS:
        m = random_model(seed, **kind)
        result = fsopt.solve(m, name)
        assert (name, result.status) == (name, "optimal")
        assert result.objective == pytest.approx(truth, rel=1e-6, abs=1e-6)
        assert result.certificate.kind == "mixed-integer"
        assert fsopt.verify(result, m).verified


def test_the_first_taker_is_chosen_and_the_others_refuse_in_one_line():
    assert fsopt.solve(random_model(0)).solver in TAKERS
    for name in ("highs", "pyomo:glpk", "pyomo:cbc"):
        with pytest.raises(SolverError, match=r"special ordered sets \('one'\).*scip") as error:
            fsopt.solve(random_model(0), name)
        assert "\n" not in str(error.value)


def test_a_point_outside_a_set_is_not_certified():
    m = random_model(1)
    result = fsopt.solve(m, "scip")
    program = compile_model(m)
    one = program.ordered[0].columns
    assert fsopt.certify(m, result).ok
    x = result.point.x.copy()
    x[one] += program.scaling.columns[one] * 1e-4
    other = replace(result, point=replace(result.point, x=x))
    assert fsopt.certify(m, other).residuals["integrality"] >= 0.9e-4
    assert not fsopt.certify(m, other).ok
    assert not fsopt.verify(other, m).verified


def test_the_closest_member_of_a_set_is_that_of_the_enumeration():
    rng = np.random.default_rng(0)
    for _ in range(20):
        columns, kind = rng.permutation(8)[:5], int(rng.integers(1, 3))
        sizes = np.abs(rng.normal(size=8)) * (rng.random(8) < 0.6)
        zero = outside([OrderedSet("s", kind, columns)], sizes)
        left = [np.delete(columns, np.arange(first, first + kind)) for first in range(len(columns) - kind + 1)]
        assert (sizes[zero] ** 2).sum() == pytest.approx(min((sizes[part] ** 2).sum() for part in left))
        assert zero.sum() == len(columns) - kind
    assert not outside([OrderedSet("s", 2, columns[:1])], sizes).any()


def test_what_is_left_at_a_point_of_the_sets_is_a_continuous_program():
    program = compile_model(random_model(3))
    x = np.zeros(program.n)
    rest = fixed_program(program, x)
    assert not rest.discrete
    assert not rest.unsupported
    held = (rest.lb == 0.0) & (rest.ub == 0.0)
    for one in program.ordered:
        free = np.flatnonzero(~held[one.columns])
        assert len(free) <= one.kind
        assert np.ptp(free) < one.kind if len(free) else True
    assert not held.all()
