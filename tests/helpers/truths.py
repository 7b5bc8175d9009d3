"""Optima by other means than the package: linear programs are scipy's, and integer programs are enumerated."""

import itertools

import numpy as np
from scipy.optimize import linprog

SHARP = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def minimum(cost, A, b, box=1e3):
    """Return minimum and minimiser of cost'x over Ax <= b."""
    found = linprog(cost, A, b, bounds=(-box, box), options=SHARP)
    return found.fun, found.x


def margins(Z, y, more=0):
    """Return A, b of y (Zw + v) >= 1 - xi, xi >= 0 with the variables w, v, xi and some more."""
    n, p = Z.shape
    rows = np.hstack([-y[:, None] * Z, -y[:, None], -np.eye(n), np.zeros((n, more))])
    return np.vstack([rows, np.eye(n, p + 1 + n + more, p + 1) * -1.0]), np.append(-np.ones(n), np.zeros(n))


def sized_margins(Z, y, more=0):
    """Return A, b of the margins and of -u <= w <= u, with the variables u before some more."""
    n, p = Z.shape
    A, b = margins(Z, y, p + more)
    sizes = [np.hstack([s * np.eye(p), np.zeros((p, 1 + n)), -np.eye(p), np.zeros((p, more))]) for s in (1, -1)]
    return np.vstack([A, *sizes]), np.append(b, np.zeros(2 * p))


def slack_cost(Z, *more, c=1.0):
    """Return the cost c e'xi and further costs, beside 0 for w and the intercept."""
    return np.concatenate([np.zeros(Z.shape[1] + 1), np.full(len(Z), c), more])


def placed(size, places, values):
    """Return a vector (size,) with values at places."""
    found = np.zeros(size)
    found[places] = values
    return found


def hinge(Z, y, w, b):
    """Return the hinge loss of a hyperplane."""
    return float(np.maximum(1.0 - y * (Z @ w + b), 0.0).sum())


def fewest_errors(Z, y):
    """Return the smallest number of errors of a hyperplane: p samples on it go to whichever side they like."""
    p = Z.shape[1]
    chosen = np.array(list(itertools.combinations(range(len(Z)), p)))
    points = np.concatenate([Z[chosen], np.ones((len(chosen), p, 1))], axis=2)
    planes = np.stack([(-1) ** j * np.linalg.det(np.delete(points, j, axis=2)) for j in range(p + 1)], axis=1)
    scores = np.column_stack([Z, np.ones(len(Z))]) @ planes.T * y[:, None]
    np.put_along_axis(scores, chosen.T, np.nan, axis=0)
    return int(min((scores < 0).sum(axis=0).min(), (scores > 0).sum(axis=0).min()))


def one_norm(Z, y, c=1.0, weights=None, loss=None):
    """Return minimum, w and b of weights'|w| + c times the hinge loss (or a loss of each sample's error)."""
    n, p = Z.shape
    cost = np.concatenate([*(2 * [np.ones(p) if weights is None else weights]), [0.0], np.full(n, c)])
    cost[2 * p + 1 :] *= 1.0 if loss is None else loss
    rows = -np.hstack([y[:, None] * Z, -y[:, None] * Z, y[:, None], np.eye(n)])
    found = linprog(cost, rows, -np.ones(n), bounds=[(0, None)] * (2 * p) + [(None, None)] + [(0, None)] * n)
    return found.fun, found.x[:p] - found.x[p : 2 * p], found.x[2 * p]


def fewest_features(Z, y, lam):
    """Return the minimum of (17) by linear programs over all subsets of the features."""
    p, shares = Z.shape[1], np.where(y > 0, 1 / np.sum(y > 0), 1 / np.sum(y < 0))
    subsets = [list(one) for k in range(p + 1) for one in itertools.combinations(range(p), k)]
    weights = [np.zeros(len(one)) for one in subsets]
    losses = [one_norm(Z[:, one], y, weights=w, loss=shares)[0] for one, w in zip(subsets, weights, strict=True)]
    return min((1 - lam) * loss + lam * len(one) for loss, one in zip(losses, subsets, strict=True))


def smallest_product(Z, y, w, b, e_cap):
    """Return the minimum of R W over the scales s of (15) of Bi: a vertex of the frontier, which weighted sums find."""
    n, p = Z.shape
    signed = Z * (y[:, None] * w)
    margins_ = [-signed, -np.eye(n), np.zeros((n, 1))]
    risk = [np.zeros((1, p)), np.ones((1, n)), np.zeros((1, 1))]
    within = [Z**2, np.zeros((n, n)), -np.ones((n, 1))]
    right = np.concatenate([y * b - 1, [e_cap], np.zeros(n)])

    def vertex(cost):
        answer = linprog(np.concatenate([w**2, np.zeros(n), [cost]]), np.block([margins_, risk, within]), right)
        assert answer.status == 0
        return answer.x[-1], answer.x[:p] @ w**2

    def between(left, other):
        (R1, W1), (R2, W2) = left, other
        if R2 - R1 <= 1e-9 or W1 - W2 <= 1e-9:
            return []
        middle = vertex((W1 - W2) / (R2 - R1))
        gain = (W1 - W2) * (middle[0] - R1) + (R2 - R1) * (middle[1] - W1)
        return [] if gain >= -1e-8 else [*between(left, middle), middle, *between(middle, other)]

    ends = vertex(1e6), vertex(1e-6)
    return min(R * W for R, W in [*ends, *between(*ends)])
