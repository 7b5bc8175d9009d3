"""The interior point against a conic solver, on relaxations with every kind of constraint, and with frozen samples."""

import numpy as np
import pytest
from selection_cases import KINDS, allowed_values, drawn, problem_of
from support import blobs, optimum, reference

import fsopt
from fsopt.algorithms.branch_and_benders.cuts import bound, make_cut, on_grid
from fsopt.algorithms.branch_and_benders.interior_point import Goal
from fsopt.algorithms.branch_and_benders.nodes import NodeSolver
from fsopt.algorithms.branch_and_benders.problem import Partial


def relaxation(problem, at=None, gap=1e-9, solver=None, plane=None):
    """Return the relaxation of a node and the bound of its cut."""
    at = problem.root() if at is None else at
    found = (solver or NodeSolver(problem)).solve(at, plane, Goal(gap))
    cut = make_cut(problem, 0, on_grid(found.alpha, problem.y, problem.c), found.mu)
    return found, bound(problem, cut, at).value


@pytest.mark.parametrize("c", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("m", [1, 2, 4, 6])
def test_the_root_has_the_value_of_the_perspective_relaxation(m, c):
    data = reference("gbd_n6")
    model = fsopt.build("fsp-m-perspective", data, m=m, c=c, relax=True)
    expected = fsopt.solve(model, "clarabel").objective
    assert relaxation(problem_of(data, c, {"m": m}))[1] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_the_relaxation_is_below_all_selections_and_its_shares_satisfy_the_constraints(kind, seed):
    data, c, limits = drawn(kind, seed)
    problem = problem_of(data, c, limits)
    found, value = relaxation(problem)
    assert value <= min(allowed_values(data, c, limits).values()) * (1 + 1e-9)
    sigma = found.plane.sigma
    assert np.all(sigma >= -1e-6)
    assert np.all(sigma <= 1 + 1e-6)
    assert np.all(problem.R @ sigma <= problem.r + 1e-5 * np.maximum(1.0, np.abs(problem.r)))
    # The primal value at the shares and weights: no gap to the bound, in these constraints.
    used = sigma > 1e-9
    scores = data.X @ found.plane.w + found.plane.b
    primal = 0.5 * float((found.plane.w[used] ** 2 / sigma[used]).sum())
    primal += c * float(np.maximum(1.0 - data.y * scores, 0.0).sum()) + float(problem.lam @ sigma)
    assert primal == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_without_free_features_it_is_the_support_vector_machine(seed):
    data = blobs(50, 5, seed=seed)
    problem = problem_of(data, 2.0, {"m": 3})
    chosen = np.array([True, False, True, True, False])
    _, value = relaxation(problem, Partial(chosen, ~chosen))
    assert value == pytest.approx(optimum("svm", data.columns(np.flatnonzero(chosen)), c=2.0)[1], rel=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_frozen_samples_lower_the_bound_a_little_and_never_raise_it(seed):
    data = blobs(400, 8, seed=seed, gap=0.3)
    problem = problem_of(data, 2.0, {"m": 3})
    solver = NodeSolver(problem)
    parent, _ = relaxation(problem, solver=solver)
    at = problem.root().decided(int(np.argmax(parent.plane.sigma)), selected=False)
    _, whole = relaxation(problem, at)
    _, frozen = relaxation(problem, at, solver=solver, plane=parent.plane)
    assert frozen <= whole * (1 + 1e-9)
    assert frozen >= 0.9 * whole


def test_features_left_out_of_the_program_cost_little(monkeypatch):
    data = blobs(60, 40, seed=1)
    problem = problem_of(data, 0.5, {"m": 4})
    _, whole = relaxation(problem)
    monkeypatch.setattr("fsopt.algorithms.branch_and_benders.nodes.PRICED", 6)
    _, priced = relaxation(problem, gap=1e-7)
    assert priced == pytest.approx(whole, rel=1e-4)
    assert priced <= whole * (1 + 1e-9)
