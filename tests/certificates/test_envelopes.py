"""Relaxations of programs that are not convex: valid at every point of the box, and tight where it shrinks."""

import time
from dataclasses import replace

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo_models import model_of
from support import sampled

import fsopt
from fsopt.certificates.convex import best_bound
from fsopt.certificates.envelopes import Envelopes
from fsopt.certificates.points import minimised
from fsopt.certificates.univariate import Term, term_of
from fsopt.compiler import compile_model
from fsopt.compiler.classes import program_class
from fsopt.errors import SolverError
from fsopt.solvers.connection import Connection
from fsopt.solvers.interface import Settings
from fsopt.solvers.mending import mended
from fsopt.solvers.registry import choose

EXPRESSIONS = {
    "-exp": lambda x: -pyo.exp(-3 * x),
    "exp": lambda x: pyo.exp(2 * x - 1),
    "log": lambda x: pyo.log(x + 0.5),
    "-log": lambda x: -2 * pyo.log(x + 0.5),
    "sqrt": lambda x: pyo.sqrt(x),
    "power": lambda x: -(x**1.5),
    "root": lambda x: 3 * x**0.3,
}


def term(kind) -> Term:
    program = compile_model(model_of(EXPRESSIONS[kind], bounds=[(0, 10)]))
    ((scale, node),) = program.objective_terms
    return term_of(scale, node, program.column)


@pytest.mark.parametrize("kind", EXPRESSIONS)
def test_lines_are_below_the_term_and_close_on_short_intervals(kind):
    found, rng = term(kind), np.random.default_rng(1)
    for _ in range(200):
        low, width = rng.random(), 10.0 ** rng.uniform(-4, 0.5)
        ends = found.interval([low], [low + width])
        line = found.line(*ends, ends[0] + rng.random() * (ends[1] - ends[0]))
        r = np.linspace(*ends, 23)
        gaps = np.array([found.at(t) - line.at - line.slope * t for t in r])
        assert gaps.min() >= -1e-9
        assert found.least(*ends) <= min(map(found.at, r)) + 1e-12
        if low > 0.1:
            assert gaps.max() <= 600 * width**2
        most = found.at(float(rng.choice(r)))
        inside = found.within(most)
        assert all(inside[0] - 1e-9 <= t <= inside[1] + 1e-9 for t in r if found.at(t) < most)


@pytest.mark.parametrize(
    ("kind", "most", "expected"), [("exp", -1.0, -np.inf), ("sqrt", -1.0, 0.0), ("root", 0.0, 0.0)]
)
def test_no_argument_has_a_value_below_the_least_one(kind, most, expected):
    assert term(kind).within(most) == (-np.inf, expected)


def test_a_bounded_concave_term_has_an_envelope_on_a_half_line():
    found = term("-exp")
    line = found.line(*found.interval([0.2], [np.inf]), 0.0)
    assert (line.at, line.slope) == (pytest.approx(-np.exp(-0.6)), 0.0)
    assert term("power").line(*term("power").interval([0.0], [np.inf]), 0.0) is None


def lowest(program) -> float:
    """Return the bound of the multipliers of a convex program."""
    spec = choose(None, program_class(program), "box", program)
    found = Connection(spec, program, Settings()).solve(10).point
    pair = mended(program, found, time.perf_counter() + 10.0)
    return best_bound(program, pair, minimised(program, pair.x)).value


def random_products(seed):
    """Return a program with products in objective and constraint, its box, and its values on a grid as a function."""
    rng = np.random.default_rng(seed)
    units = 10.0 ** rng.uniform(-2, 2, 3)
    low = units * rng.uniform(-2, 0, 3)
    high = low + units * rng.uniform(0.5, 3, 3)
    Q, c = rng.normal(size=(3, 3)), rng.normal(size=3)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=lambda _, j: (low[j], high[j]))

    def objective(z, exp):
        products = sum(Q[i, j] * z[i] * z[j] for i in range(3) for j in range(3))
        return products + sum(c[j] * z[j] for j in range(3)) - exp(-(z[0] + 0.5 * z[1]))

    z = [m.x[j] / units[j] for j in range(3)]
    m.o = pyo.Objective(expr=objective(z, pyo.exp))
    m.row = pyo.Constraint(expr=z[0] * z[1] - z[2] ** 2 <= 0.5)

    def on_grid(low, high, count):
        """Return the values at the feasible points of a grid over a box."""
        axes = [np.linspace(*ends, count) / unit for *ends, unit in zip(low, high, units, strict=True)]
        z = np.stack(np.meshgrid(*axes)).reshape(3, -1)
        return objective(z, np.exp)[z[0] * z[1] - z[2] ** 2 <= 0.5]

    return m, low, high, on_grid


@pytest.mark.parametrize("seed", range(2))
def test_no_feasible_point_of_a_box_is_below_its_relaxation(seed):
    m, low, high, on_grid = random_products(seed)
    relaxation, rng = Envelopes(compile_model(m)), np.random.default_rng(seed)
    for shrink in (1.0, 0.3, 0.01):
        start = low + (1 - shrink) * rng.random(3) * (high - low)
        end = start + shrink * (high - low)
        a, b = relaxation.low.copy(), relaxation.high.copy()
        a[:3], b[:3] = start, end
        values = on_grid(start, end, 15)
        if not len(values):
            continue
        bound = lowest(relaxation.at(a, b))
        assert bound <= values.min() + 1e-6 * max(1.0, abs(values.min()))
        if shrink == 0.01:
            assert values.min() - bound <= 1e-2


@pytest.mark.slow
def test_products_are_proved_as_the_grid_says():
    m, low, high, on_grid = random_products(0)
    found = fsopt.prove(m, fsopt.solve(m, solver="scip"), time_limit=20)
    assert found.status == "optimal", found.certificate
    assert found.certificate.bound_source.startswith("proved by fsopt")
    best = on_grid(low, high, 25).min()
    assert found.bound <= best + 1e-9
    assert best - found.bound <= 0.3
    assert fsopt.verify(found, m).verified


def small_data(units=1.0):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(14) % 2, 1.0, -1.0)
    return fsopt.Dataset((rng.normal(size=(14, 2)) + 0.6 * y[:, None]) * units, y)


SMALL = {
    "mmop": {},
    "misclass": {"alpha": 1.0},
    "fsv": {"lam": 0.3},
    "l0-mpm": {"delta": 0.3, "alpha": 1.0},
    "gmeb-penalised": {"c_plus": 0.25, "c_minus": 0.25},
}


@pytest.mark.parametrize("slug", sampled(SMALL, 4))
def test_the_nonconvex_models_are_proved_as_scip_says_and_not_beyond(slug):
    model = fsopt.build(slug, small_data(), **SMALL[slug])
    answer = fsopt.solve(model, solver="scip")
    assert answer.status == "optimal"
    found = fsopt.prove(model, answer, time_limit=100)
    assert found.status == "optimal"
    assert found.bound == pytest.approx(answer.bound, rel=1e-5, abs=1e-6)
    assert found.certificate.bound_source.startswith("proved by fsopt")
    assert fsopt.verify(found, model).verified
    for tree in forged(found.tree) if len(found.tree.column) > 1 else ():
        assert not fsopt.certify(model, replace(found, tree=tree)).ok


def test_a_product_is_proved_at_its_optimum_by_hand():
    """min xy with x = 1 + 2y: y + 2 y^2 is -1/8 at y = -1/4."""
    model = model_of(lambda x, y: x * y, lambda x, y: x - 2 * y == 1, bounds=[(-1, 1)] * 2)
    found = fsopt.prove(model, fsopt.solve(model, solver="scip"), time_limit=100)
    assert found.status == "optimal"
    assert -0.125 - 1e-5 <= found.bound <= -0.125 + 1e-9
    for tree in forged(found.tree):
        assert not fsopt.certify(model, replace(found, tree=tree)).ok


def forged(tree):
    """Yield the tree without a leaf, with half of its multipliers, and branched at other points."""
    inner = tree.column != -1
    without, points = tree.value.copy(), tree.value.copy()
    without[np.flatnonzero(~inner)[0]] = -1
    yield replace(tree, value=without)
    yield replace(tree, multipliers=0.5 * tree.multipliers)
    points[inner] *= 1.3
    yield replace(tree, value=points)


@pytest.mark.parametrize(("slug", "twin"), [("gmeb-nonconvex", "gmeb-primal"), ("mmop", "mmop-convex")])
def test_the_root_is_the_optimum_of_the_convex_twin_in_any_units(slug, twin):
    for units in (1.0, np.array([1e-3, 1e3])):
        data = small_data(units)
        truth = fsopt.solve(fsopt.build(twin, data), solver="clarabel").objective
        relaxation = Envelopes(compile_model(fsopt.build(slug, data)))
        bound = lowest(relaxation.at(relaxation.low, relaxation.high))
        assert truth * (1 - 1e-4) <= bound <= truth * (1 + 1e-6)


def test_what_has_no_envelope_is_refused():
    with pytest.raises(SolverError, match="no envelope"):
        fsopt.prove(model_of(lambda x, y: pyo.sin(x) + y, bounds=[(0, 1)] * 2), time_limit=5)
    with pytest.raises(SolverError, match="neither linear nor quadratic"):
        Envelopes(compile_model(model_of(lambda x, y: x, lambda x, y: pyo.exp(x) * y >= 1, bounds=[(0, 1)] * 2)))
