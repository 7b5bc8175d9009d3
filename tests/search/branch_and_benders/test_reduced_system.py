"""The two eliminations of a step solve the same linear system, which is written out here as one dense matrix."""

import numpy as np
import pytest

from fsopt.search.branch_and_benders import reduced_system, stacks


def drawn(n, p, k, seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.standard_normal(n) > 0, 1.0, -1.0)
    A = np.vstack([rng.standard_normal((p, n)), y])
    theta, delta = 10.0 ** rng.uniform(-3, 3, n), 10.0 ** rng.uniform(-2, 2, p)
    border = np.hstack([rng.standard_normal((k, p)), np.zeros((k, 1))])
    return A, theta, delta, border, np.eye(k) + 0.1, rng


@pytest.mark.parametrize("elimination", ["by_features", "by_samples"])
@pytest.mark.parametrize(("n", "p", "k"), [(12, 40, 1), (12, 40, 0), (40, 12, 1), (15, 15, 3), (3, 200, 2)])
def test_a_step_satisfies_its_equations(elimination, n, p, k):
    A, theta, delta, border, corner, rng = drawn(n, p, k, seed=n + p + k)
    s, g, h = rng.standard_normal(n), rng.standard_normal(p + 1), rng.standard_normal(k)
    reduced = getattr(reduced_system, elimination)(A, theta, delta, border, corner)
    assert reduced.regular
    alpha, hyperplane, mu = reduced_system.steps(reduced, A, theta, border, s, g, h)
    diagonal = np.append(delta, stacks.EPSILON * theta.sum())
    assert alpha / theta + hyperplane @ A == pytest.approx(s, abs=1e-7)
    assert diagonal * hyperplane - A @ alpha + mu @ border == pytest.approx(g, abs=1e-7)
    assert border @ hyperplane - corner @ mu == pytest.approx(h, abs=1e-7)


@pytest.mark.parametrize(("n", "p"), [(5, 2000), (2000, 5)])
def test_the_matrix_has_the_smaller_order(n, p, monkeypatch):
    orders = []
    for module in (reduced_system, stacks):
        monkeypatch.setattr(module, "cholesky", lambda matrix: orders.append(len(matrix)))
    A, theta, delta, border, corner, _ = drawn(n, p, 1, seed=0)
    assert not reduced_system.reduced_system(A, theta, delta, border, corner).regular
    assert orders[0] <= min(n, p) + 1
