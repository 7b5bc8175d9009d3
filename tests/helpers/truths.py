"""The data of the inventory's calls, and what is true of them by other means than the package.

Linear programs are scipy's, SVMs libsvm's, integer programs are enumerated, and cone programs are solved by cutting
planes: every convex constraint is replaced by its tangents at the points that violate it.
"""

import itertools
from functools import cache

import numpy as np
from scipy.optimize import linprog, minimize_scalar
from support import blobs

import fsopt

DATA = blobs(40, 4, gap=0.6)
SEPARABLE = blobs(30, 4, gap=6.0)
X, Y = DATA.X, DATA.y
CENTRED = X - X.mean(axis=0)
STANDARD = CENTRED / X.std(axis=0)
SHARP = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
UNIT = STANDARD / np.linalg.norm(STANDARD, axis=1, keepdims=True)
SCALED = {"none": X, "center": CENTRED, "standard": STANDARD, "unit-rows": UNIT}


def minimum(cost, A, b, functions=(), box=1e3):
    """Return minimum and minimiser of cost'x over Ax <= b, g(x) <= 0 for convex g; each returns value and gradient."""
    A, b = np.atleast_2d(A), np.atleast_1d(b)
    for _ in range(2000):
        found = linprog(cost, A, b, bounds=(-box, box), options=SHARP)
        tangents = [g(found.x) for g in functions]
        cuts = [(slope, slope @ found.x - value) for value, slope in tangents if value > 1e-8]
        if not cuts:
            return found.fun, found.x
        A, b = np.vstack([A, *(slope for slope, _ in cuts)]), np.append(b, [right for _, right in cuts])
    raise AssertionError("the cutting planes did not converge")


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


def half_square(x):
    """Return w'w / 2 - t and its gradient, w being the first four variables and t the last."""
    return 0.5 * x[:4] @ x[:4] - x[-1], np.append(placed(len(x) - 1, slice(4), x[:4]), -1.0)


def slack_cost(Z, *more, c=1.0):
    """Return the cost c e'xi and further costs, beside 0 for w and the intercept."""
    return np.concatenate([np.zeros(Z.shape[1] + 1), np.full(len(Z), c), more])


def placed(size, places, values):
    """Return a vector (size,) with values at places."""
    found = np.zeros(size)
    found[places] = values
    return found


def norm_of(F, w):
    """Return ||F w|| and its gradient."""
    length = float(np.linalg.norm(F @ w))
    return length, F.T @ (F @ w) / max(length, 1e-300)


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


@cache
def gmeb(name, r_plus=3.0, r_minus=3.0, data=DATA):
    """Return the optimum of (15): the hinge loss over N(w) <= 1, N the largest of the norms of the shares theta."""
    Z = {**SCALED, "raw": data.X, "own centre": data.X - data.X.mean(axis=0)}[name]
    y, p = data.y, Z.shape[1]
    spreads = [(Z[y == label] ** 2).mean(axis=0) / r for label, r in ((1, r_plus), (-1, r_minus))]

    def norm(x):
        def less(theta):
            return -x[-p:] @ np.sqrt(theta * spreads[0] + (1 - theta) * spreads[1])

        ends = [minimize_scalar(less, bounds=(0, 1), method="bounded", options={"xatol": 1e-12}).x, 0.0, 1.0]
        theta = min(ends, key=less)
        return -less(theta) - 1, placed(len(x), slice(-p, None), np.sqrt(theta * spreads[0] + (1 - theta) * spreads[1]))

    value, x = minimum(slack_cost(Z, *np.zeros(p)), *sized_margins(Z, y), [norm])
    return value, x[:p]


@cache
def scaled_ball(name, h_cap):
    """Return the optimum of (7)-(11) of Bi: the hinge loss over sum u^2 / s <= H, x'Sx <= 1."""
    Z = SCALED[name]
    n, p = Z.shape
    within = Z**2
    A, b = margins(Z, Y, 2 * p)  # the last variables are s and t >= u^2 / s
    left = p + 1 + n
    A = np.vstack([A, np.hstack([np.zeros((len(within), left)), within, np.zeros((len(within), p))])])
    A = np.vstack([A, placed(left + 2 * p, slice(-p, None), 1.0), -np.eye(2 * p, left + 2 * p, left)])
    b = np.concatenate([b, np.ones(len(within)), [h_cap], np.zeros(2 * p)])

    def cone(j):
        def outside(x):
            u, s, t = x[j], x[left + j], x[left + p + j]
            length = np.hypot(2 * u, s - t)
            slope = np.array([4 * u, s - t, t - s]) / max(length, 1e-300) - [0, 1, 1]
            return length - s - t, placed(len(x), [j, left + j, left + p + j], slope)

        return outside

    return minimum(slack_cost(Z, *np.zeros(2 * p)), A, b, [cone(j) for j in range(p)])[0]


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


def moments(Z, y):
    """Return mean and centred samples / sqrt(m) of each class."""
    parts = [Z[y > 0], Z[y < 0]]
    return [part.mean(axis=0) for part in parts], [(q - q.mean(axis=0)) / np.sqrt(len(q)) for q in parts]


def kappa(delta):
    return np.sqrt(delta / (1 - delta))


def accuracies(Z, y, w, b):
    """Return the worst-case accuracies of Lemma 1."""
    (one, two), factors = moments(Z, y)
    d = [max(0.0, m) ** 2 / np.sum((F @ w) ** 2) for m, F in zip((w @ one + b, -b - w @ two), factors, strict=True)]
    return tuple(value / (1 + value) for value in d)


def largest_accuracy(Z, y):
    """Return kappa* and alpha* of the minimax probability machine."""
    (one, two), (F, G) = moments(Z, y)
    p = Z.shape[1]
    equal = np.append(one - two, 0.0)

    def above(x):
        (f, df), (g, dg) = norm_of(F, x[:p]), norm_of(G, x[:p])
        return f + g - x[p], np.append(df + dg, -1.0)

    value, _ = minimum(placed(p + 1, p, 1.0), [equal, -equal], [1.0, -1.0], [above])
    return 1 / value, 1 / value**2 / (1 + 1 / value**2)


def sparse_machine(Z, y, delta, weights=None):
    """Return minimum, w and b of (12)-(15): weights'|w| over accuracies of at least delta and margins of at least 1."""
    means, factors = moments(Z, y)
    p = Z.shape[1]
    A = [np.concatenate([s * e, [0.0], -e]) for s in (1, -1) for e in np.eye(p)]  # w, b, |w| with x'w >= b
    signed = [s * np.concatenate([m, [-1.0], np.zeros(p)]) for s, m in zip((1, -1), means, strict=True)]

    def short(k):
        def outside(x):
            length, slope = norm_of(factors[k], x[:p])
            return kappa(delta) * length - signed[k] @ x, placed(2 * p + 1, slice(p), kappa(delta) * slope) - signed[k]

        return outside

    cost = np.concatenate([np.zeros(p + 1), np.ones(p) if weights is None else weights])
    rows = np.vstack([A, *(-s for s in signed)])
    value, x = minimum(cost, rows, np.append(np.zeros(2 * p), [-1, -1]), [short(0), short(1)])
    return value, x[:p], -x[p]


def ratio(Z, y, beta, lam=0.0):
    """Return the optimum of the biased machine: w'(mu1 - mu2) - kappa(beta) ||F2 w|| - lam |w| over ||F1 w|| <= 1."""
    (one, two), (F, G) = moments(Z, y)
    p = Z.shape[1]
    A = [np.concatenate([s * e, -e, [0.0]]) for s in (1, -1) for e in np.eye(p)]  # w, |w|, ||G w||

    def longer(x):
        length, slope = norm_of(F, x[:p])
        return length - 1, placed(2 * p + 1, slice(p), slope)

    def above(x):
        length, slope = norm_of(G, x[:p])
        return length - x[-1], np.append(placed(2 * p, slice(p), slope), -1.0)

    cost = np.concatenate([two - one, np.full(p, lam), [kappa(beta)]])
    return -minimum(cost, A, np.zeros(2 * p), [longer, above])[0]


def optimum(model):
    """Return the certified optimum of a model."""
    result = fsopt.solve(model)
    assert result.status == "optimal"
    return result.objective
