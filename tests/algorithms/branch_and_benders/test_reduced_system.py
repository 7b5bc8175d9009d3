"""The two eliminations of a step solve the same linear system, which is written out here as one dense matrix."""

import numpy as np
import pytest

from fsopt.algorithms.branch_and_benders import reduced_system


def drawn(n, p, k, seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.standard_normal(n) > 0, 1.0, -1.0)
    Zy = np.asfortranarray(np.column_stack([rng.standard_normal((n, p)), y]))
    theta, delta = 10.0 ** rng.uniform(-3, 3, n), 10.0 ** rng.uniform(-2, 2, p)
    border = np.asfortranarray(np.vstack([rng.standard_normal((p, k)), np.zeros((1, k))]))
    corner = np.eye(k) + 0.1
    return Zy, theta, delta, border, corner, rng


@pytest.mark.parametrize("elimination", ["_by_features", "_by_samples"])
@pytest.mark.parametrize(("n", "p", "k"), [(12, 40, 1), (12, 40, 0), (40, 12, 1), (15, 15, 3), (3, 200, 2)])
def test_a_step_satisfies_its_equations(elimination, n, p, k):
    Zy, theta, delta, border, corner, rng = drawn(n, p, k, seed=n + p + k)
    s, g, h = rng.standard_normal(n), rng.standard_normal(p + 1), rng.standard_normal(k)
    solve = getattr(reduced_system, elimination)(Zy, theta, delta, border, corner)
    alpha, hyperplane, mu = solve(s, g, h)
    diagonal = np.append(delta, reduced_system.EPSILON * theta.sum())
    assert alpha / theta + Zy @ hyperplane == pytest.approx(s, abs=1e-7)
    assert diagonal * hyperplane - Zy.T @ alpha + border @ mu == pytest.approx(g, abs=1e-7)
    assert border.T @ hyperplane - corner @ mu == pytest.approx(h, abs=1e-7)


@pytest.mark.parametrize(("n", "p"), [(5, 2000), (2000, 5)])
def test_the_matrix_has_the_smaller_order(n, p, monkeypatch):
    orders = []
    monkeypatch.setattr(reduced_system, "cholesky", lambda matrix: orders.append(len(matrix)))
    Zy, theta, delta, border, corner, _ = drawn(n, p, 1, seed=0)
    assert reduced_system.reduced_system(Zy, theta, delta, border, corner) is None
    assert orders[0] <= min(n, p) + 1
