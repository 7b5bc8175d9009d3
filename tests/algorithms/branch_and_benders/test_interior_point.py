"""The interior point against a conic solver, on relaxations with every kind of constraint, and with frozen samples."""

import numpy as np
import pytest
from selection_cases import KINDS, allowed_values, drawn, problem_of
from support import blobs, optimum, reference

import fsopt
from fsopt.algorithms.branch_and_benders.cuts import bound, make_cut, on_grid
from fsopt.algorithms.branch_and_benders.interior_point import Goal, _Run, _System
from fsopt.algorithms.branch_and_benders.nodes import NodeSolver
from fsopt.algorithms.branch_and_benders.problem import Partial
from fsopt.algorithms.branch_and_benders.relaxation import Iterate, Relaxation, cold
from fsopt.data.losses import DualTerm


def relaxation(problem, at=None, gap=1e-9, solver=None, hyperplane=None):
    """Return the relaxation of a node and the bound of its cut."""
    at = problem.root() if at is None else at
    found = (solver or NodeSolver(problem)).solve(at, hyperplane, Goal(gap))
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
    sigma = found.hyperplane.sigma
    assert np.all(sigma >= -1e-6)
    assert np.all(sigma <= 1 + 1e-6)
    assert np.all(problem.R @ sigma <= problem.r + 1e-5 * np.maximum(1.0, np.abs(problem.r)))
    # The primal value at the shares and weights: no gap to the bound, in these constraints.
    used = sigma > 1e-9
    scores = data.X @ found.hyperplane.w + found.hyperplane.b
    primal = 0.5 * float((found.hyperplane.w[used] ** 2 / sigma[used]).sum())
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
    at = problem.root().decided(int(np.argmax(parent.hyperplane.sigma)), selected=False)
    _, whole = relaxation(problem, at)
    _, frozen = relaxation(problem, at, solver=solver, hyperplane=parent.hyperplane)
    assert frozen <= whole * (1 + 1e-9)
    assert frozen >= 0.9 * whole


def test_features_left_out_of_the_program_cost_little(monkeypatch):
    data = blobs(60, 40, seed=1)
    problem = problem_of(data, 0.5, {"m": 4})
    _, whole = relaxation(problem)
    monkeypatch.setattr("fsopt.algorithms.branch_and_benders.nodes.WHOLE", 6)
    _, priced = relaxation(problem, gap=1e-7)
    assert priced == pytest.approx(whole, rel=1e-4)
    assert priced <= whole * (1 + 1e-9)


def test_the_step_makes_the_linearised_optimality_conditions_zero():
    rng = np.random.default_rng(0)
    n, s, f, k = 9, 2, 3, 2
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    Zy = np.asfortranarray(np.column_stack([y[:, None] * rng.standard_normal((n, s + f)), y]))
    c, r, R = 3.0, rng.uniform(1, 2, k), rng.uniform(0, 1, (k, f))
    program = Relaxation(Zy, DualTerm(c), s, R, r, rng.uniform(0, 1, f), rng.standard_normal(s + f), balance=0.3)
    alpha, w, b, q = rng.uniform(1, 2, n), rng.standard_normal(s + f), 0.4, rng.standard_normal(s + f)
    rho, sigma, mu = rng.uniform(0.5, 1, f), rng.uniform(0.2, 0.8, f), rng.uniform(0.5, 1, k)
    x = np.concatenate([alpha, c - alpha, rho, sigma, mu])
    z = rng.uniform(0.5, 2.0, len(x))
    run = _Run(program, Iterate(x, z, q, np.append(w, b)))
    system, target = _System(run), rng.standard_normal(len(x))
    dx, dz, hyperplane = system.direction(system.reduced, target)

    def conditions(x, z, q, hyperplane):
        """Return the residuals as the optimality conditions of the program state them, with its products at the end."""
        a, rest, rho, sigma, mu = np.split(x, np.cumsum([n, n, f, f]))
        lower, upper, v, slack, t = np.split(z, np.cumsum([n, n, f, f]))
        shares = np.append(np.ones(s), sigma)
        parts = [
            Zy @ hyperplane - lower + upper - 1.0,
            a @ Zy + np.append(program.q - q, program.balance),
            hyperplane[:-1] - shares * q,
            rho + mu @ R + program.lam - 0.5 * q[s:] ** 2 - slack,
            1.0 - sigma - v,
            r - R @ sigma - t,
            a + rest - c,
        ]
        return np.concatenate([*parts, x * z])

    at, step = (run.at.x, run.at.z, run.at.q, run.at.hyperplane), (dx, dz, system.d_q, hyperplane)
    h = 1e-3  # central differences of quadratic functions are exact
    after, before = (conditions(*(v + e * d for v, d in zip(at, step, strict=True))) for e in (h, -h))
    wanted = np.concatenate([-conditions(*at)[: -len(x)], target])
    np.testing.assert_allclose((after - before) / (2 * h), wanted, atol=1e-9)


@pytest.mark.parametrize("curvature", [0.0, 2.0])
def test_the_cold_start_is_the_best_multiple_of_its_direction(curvature):
    """Where all features are selected, a'e - t |Z'a|^2 / 2 has its largest value over the multiples t a at t = 1."""
    data = blobs(30, 3, seed=2)
    Zy = np.asfortranarray(np.column_stack([data.y[:, None] * data.X, data.y]))
    none = np.zeros(0)
    program = Relaxation(Zy, DualTerm(1.0, curvature), 3, np.zeros((0, 0)), none, none, np.zeros(3))
    start = cold(program)
    alpha = start.x[:30]
    assert alpha.sum() == pytest.approx(start.q @ start.q + curvature * alpha @ alpha, rel=1e-12)
