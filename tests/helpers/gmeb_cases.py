"""Data and brute force for the tests of GMEB with prices (10)."""

import numpy as np
from truths import one_norm

import fsopt

SHARES = np.linspace(0.02, 0.98, 49)


def skewed(seed):
    """Return data whose features spread differently in the two classes, and prices."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(10, 40)), int(rng.integers(2, 7))
    y = np.where(np.arange(n) < 2 + n // 4, 1.0, -1.0)
    spread = np.exp(rng.standard_normal((2, p)))[(y > 0).astype(int)]
    X = spread * rng.standard_normal((n, p)) + np.outer(y, rng.standard_normal(p))
    return fsopt.Dataset(X, y), 10 ** rng.uniform(-2, 0), 10 ** rng.uniform(-2, 0)


def mirrored(seed=1):
    """Return data with a symmetry that swaps both the classes and the two features."""
    half = 0.5 + np.random.default_rng(seed).standard_normal((12, 2)) * [3.0, 0.1]
    return fsopt.Dataset(np.vstack([half, -half[:, ::-1]]), np.repeat([1.0, -1.0], 12))


def moments(data):
    """Return v+, v- and sqrt(n+)/n, sqrt(n-)/n, columns centred."""
    Z = data.X - data.X.mean(axis=0)
    plus, minus = Z[data.y > 0], Z[data.y < 0]
    return (plus**2).mean(axis=0), (minus**2).mean(axis=0), np.sqrt(len(plus)) / data.n, np.sqrt(len(minus)) / data.n


def values(data, c_plus, c_minus, shares=SHARES):
    """Return the optima of (10) at fixed shares, by scipy and the formula of the problem's statement."""
    v_plus, v_minus, root_plus, root_minus = moments(data)
    a, c = c_plus * root_plus, c_minus * root_minus
    out = []
    for q in shares:
        # With r the ratio of the two norms of (10) and q = a r / (a r + c).
        r = c * q / (a * (1 - q))
        cost = np.sqrt(a * a * v_plus + c * c * v_minus + a * c * (v_plus / r + v_minus * r))
        out.append(one_norm(data.X, data.y, weights=cost, loss=np.full(data.n, 1 / data.n))[0])
    return np.array(out)
