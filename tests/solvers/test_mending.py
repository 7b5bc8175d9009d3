"""Mended answers: the least change that meets every constraint; noise that becomes 0; false optima stay false."""

import time

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo_models import FREE, POSITIVE, model_of
from support import blobs

import fsopt
from fsopt.answers.certificate import FEASIBLE
from fsopt.answers.results import Point
from fsopt.certificates.convex import certify_convex
from fsopt.certificates.model import StatedBound, certify_point
from fsopt.certificates.near import defined, moved
from fsopt.certificates.points import infeasibility, minimised
from fsopt.compiler import compile_model, lmi
from fsopt.data import Dataset
from fsopt.data.dataset import stratified_folds, train_and_test
from fsopt.solvers.base import Session
from fsopt.solvers.mending import mended
from tools.conformance import build_realistic


def move(program, x):
    return moved(program, np.asarray(x, dtype=float), time.perf_counter() + 10.0)


SUM, PRODUCT, CONE = (lambda x, k: x + k >= 1), (lambda w, u, v, s: u == w * s), (lambda w, f, g, v: w**2 <= f * g)
SIX, APEX = (lambda w, u, v, s: u + v >= 6), (lambda w, f, g, v: 1e-3 * (w + f + g) + 1000 * v)
MOVES = {  # objective, rows, bounds, integers, the point before and after
    "to the cheaper variable": (lambda x, k: x + 10 * k, [SUM], [POSITIVE] * 2, (), [0.5, 0], [1, 0]),
    "to the continuous variable": (lambda x, k: x + 0.1 * k, [SUM], [POSITIVE] * 2, (1,), [0.5, 0], [1, 0]),
    "nowhere": (lambda x, k: x + 10 * k, [SUM], [POSITIVE] * 2, (), [1, 0], [1, 0]),
    "through a product": (
        *(lambda w, u, v, s: 4 * w + 3 * v, [PRODUCT, SIX], [(0, 9), FREE, POSITIVE, (0, 2)], ()),
        *([3 - 1e-3, 6, 0, 2], [3, 6, 0, 2]),
    ),
    **{
        f"from {start} to a {name} of a cone that is 0": (APEX, [CONE, row], [FREE] + [POSITIVE] * 3, (), start, end)
        for name, row, start, end in (
            ("tail", lambda w, f, g, v: w + v >= 1e-9, [0, 1, 1, 0], [1e-9, 1, 1, 0]),
            ("factor", lambda w, f, g, v: f + v >= 1e-9, [0, 0, 1, 0], [0, 1e-9, 1, 0]),
            ("factor", lambda w, f, g, v: f + v >= 1e-9, [0, 0, 0, 0], [0, 1e-9, 0, 0]),
        )
    },
}


@pytest.mark.parametrize("name", MOVES)
def test_a_violation_is_repaired_where_it_is_cheapest(name):
    goal, rows, bounds, whole, start, end = MOVES[name]
    program = compile_model(model_of(goal, *rows, bounds=bounds, whole=whole))
    found = move(program, start)
    assert infeasibility(program, found) <= 1e-9
    assert found == pytest.approx(np.array(end, dtype=float), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_weights_that_are_next_to_nothing_do_not_pay_for_what_a_row_misses(seed):
    """30 of 33 cones w_j^2 <= f_j g_j have sizes from 1e-17 to 1e-11, and miss a tenth; some are 0."""
    rng, count = np.random.default_rng(seed), 33
    size = np.where(np.arange(count) < 30, 10.0 ** rng.uniform(-17, -11, count), 1.0)
    small = size < 1.0
    ratio = 10.0 ** rng.uniform(-5, 5, count)
    w = rng.choice([-1.0, 1.0], count) * size
    at = np.concatenate([w, np.where(small, 0.95, 1.0) * size * ratio, np.where(small, 0.95, 1.0) * size / ratio])
    at[10:20] = 0.0
    signs = rng.normal(size=(2, count))
    sides = signs @ at[:count] + 1e-10 * rng.uniform(1, 2, 2)
    rows = [lambda *x, i=i: x[i] ** 2 <= x[i + count] * x[i + 2 * count] for i in range(count)]
    rows += [lambda *x, i=i: float(sides[i]) <= sum(float(signs[i, j]) * x[j] for j in range(count)) for i in range(2)]
    program = compile_model(model_of(lambda *x: sum(x[count:]), *rows, bounds=[FREE] * count + [POSITIVE] * 2 * count))
    found = move(program, at)
    assert infeasibility(program, found) <= 1e-12
    assert np.abs(found - at).max() <= 1e-8


def test_the_tail_of_a_cone_with_a_factor_that_is_0_by_its_bounds_becomes_0():
    """w^2 <= f g with g = 0, and a row in which w = 4e-10 is more than the tolerance: no f pays for this w."""
    rows = (lambda w, f, g, v: w**2 <= f * g), (lambda w, f, g, v: 60 * w + v >= 1)
    program = compile_model(model_of(lambda w, f, g, v: f + v, *rows, bounds=[FREE, POSITIVE, (0, 0), POSITIVE]))
    at = np.array([4e-10, 5e-9, 0.0, 1.0 - 2.4e-8])
    found = mended(program, Point(at), time.perf_counter() + 10.0).x
    assert found == pytest.approx([0.0, 0.0, 0.0, 1.0], abs=1e-8)
    assert infeasibility(program, found) <= 1e-12


@pytest.mark.parametrize("seed", [0, 9, 17])
def test_cones_at_0_do_not_keep_a_point_from_its_mend(seed):
    """25 of 30 cones w^2 <= f g are at 0, where the tangent leaves w free: changes of these w went on for ever."""
    m = build_realistic("gmeb-primal")
    program, best = compile_model(m), fsopt.solve(m, "clarabel").point.x
    error = 1e-8 * np.random.default_rng(seed).standard_normal(program.n)
    found = mended(program, Point(np.where(abs(best) < 1e-7, 0.0, best) * (1.0 + error)), time.perf_counter() + 10.0).x
    assert infeasibility(program, found) <= FEASIBLE
    assert minimised(program, found) == pytest.approx(minimised(program, best), rel=1e-6)


def test_rounding_beside_0_does_not_keep_a_vertex_from_its_mend():
    data = fsopt.load_dataset("wdbc")
    assert not fsopt.fit("l1-svm", train_and_test(data, stratified_folds(data, 3, 0)[0])[0]).warnings


@pytest.mark.parametrize("noise", [1e-16, 1e-12, 1e-9])
def test_the_answer_of_an_interior_point_is_mended_to_a_certified_one(noise):
    """A vertex of a linear program with errors in each number, beside a free variable and a loose bound."""
    rows = (lambda x, y, z: x + y + z >= 4), (lambda x, y, z: x - y <= 1), (lambda x, y, z: x + 0.5 * z == 2.5)
    m = model_of(lambda x, y, z: x + 2 * y + 3 * z, *rows, bounds=[FREE, (0, 1e12), POSITIVE])
    program = compile_model(m)
    truth, rng = fsopt.solve(m, "highs"), np.random.default_rng(0)
    for _ in range(10):
        x, y = (v + noise * rng.standard_normal(len(v)) for v in (truth.point.x, truth.point.y))
        found = mended(program, Point(x, y, np.zeros(0)), time.perf_counter() + 10.0)
        assert certify_convex(program, found.x, found, "").ok


def matrix_program():
    """Return min s1 + s2 - 2 w1 with [[s1, 0, w1], [0, s2, w2], [w1, w2, 1]] >= 0, and its optimum (n,) of value -1."""
    m = pyo.ConcreteModel()
    m.s, m.w = pyo.Var([1, 2], bounds=(0, None)), pyo.Var([1, 2])
    m.lmi = lmi([[m.s[1], 0.0, m.w[1]], [0.0, m.s[2], m.w[2]], [m.w[1], m.w[2], 1.0]])
    m.row = pyo.Constraint(expr=m.w[1] + m.w[2] <= 9)
    m.cost = pyo.Objective(expr=m.s[1] + m.s[2] - 2 * m.w[1])
    program = compile_model(m)
    x = np.zeros(program.n)
    x[[program.column[id(m.s[1])], program.column[id(m.w[1])]]] = 1.0
    return program, defined(program, x)


@pytest.mark.parametrize("noise", [1e-9, 1e-11, 1e-13])
def test_entries_of_a_matrix_follow_from_their_equations(noise):
    """Noise beside entries that are 0 is an error of 1 that no absolute tolerance of a linear program sees."""
    program, best = matrix_program()
    assert infeasibility(program, best) == 0.0
    for seed in range(10):
        x = best + noise * np.random.default_rng(seed).standard_normal(program.n)
        assert infeasibility(program, x) > 0.1
        found = move(program, x)
        assert infeasibility(program, found) <= 1e-9
        assert minimised(program, found) == pytest.approx(-1.0, rel=1e-8)


@pytest.mark.parametrize("seed", range(12))
def test_noise_in_the_data_does_not_cost_the_proof_that_there_is_no_point(seed):
    """Multipliers that vanish, computed as a difference, left 1e-27 of each other where only 0 has a bound."""
    data = blobs(24, 3, seed=1)
    noise = np.random.default_rng(seed).uniform(-1.0, 1.0, data.X.shape) * 2.0**-50
    result = fsopt.solve(fsopt.build("l1-mpm", Dataset(data.X * (1.0 + noise), data.y), delta=0.999))
    assert result.status == "infeasible"
    assert result.certificate.ok


@pytest.mark.parametrize("tolerance", [None, 1e-4])
def test_an_answer_without_evidence_meets_the_constraints_and_claims_what_its_multipliers_show(tolerance):
    model = fsopt.build("s-mpm", blobs(24, 4), lam=0.1, beta=0.5)
    session = Session(model, "scs" if tolerance else "clarabel", options={"tolerance": tolerance} if tolerance else {})
    rough, proved = (session.solve(load=False, certify=certify) for certify in (False, True))
    assert infeasibility(session.program, rough.point.x) <= FEASIBLE
    assert rough.objective == pytest.approx(proved.objective, rel=4 * tolerance if tolerance else 1e-6)
    for found in (rough, proved):
        certificate = certify_point(session.program, found.point, StatedBound(None, "", found.evidence, ""))
        assert (found.status == "optimal") == certificate.ok
        assert found.bound is None or session.program.sign * (found.objective - found.bound) >= -1e-9
    assert proved.status == "optimal" or tolerance
