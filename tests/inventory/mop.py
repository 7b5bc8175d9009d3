"""What Bi, and computations apart from the package, say of the items of their paper."""

import math

import numpy as np
from scipy.optimize import brentq
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC
from support import exact_value
from truths import (
    DATA,
    STANDARD,
    UNIT,
    X,
    Y,
    ball,
    errors,
    half_square,
    margins,
    minimum,
    optimum,
    placed,
    row,
    scaled_ball,
    slack_cost,
    smallest_product,
)

from fsopt.data import Dataset
from fsopt.papers.mop import table as digits
from fsopt.papers.reproduction import RunSettings

W0 = 0.1 * DATA.n - 1
"""The default capacity: (R W + 1) / l = .1 with R = 1."""
LOSS = ball("unit-rows", W0)[0]


def machine(c, K=None):
    """Return loss, squared norm of w and value of an SVM by libsvm, on unit rows or with a kernel matrix."""
    K = UNIT @ UNIT.T if K is None else K
    found = SVC(kernel="precomputed", C=c, tol=1e-10).fit(K, Y)
    signed = placed(DATA.n, found.support_, found.dual_coef_[0])
    scores = K @ signed
    loss = min(np.maximum(1 - Y * (scores + b), 0).sum() for b in Y - scores)
    return loss, signed @ K @ signed, 0.5 * signed @ K @ signed + c * loss


def centred(K):
    """Return the kernel matrix of centred images."""
    H = np.eye(DATA.n) - 1 / DATA.n
    return H @ K @ H


def gaussian(Z):
    """Return the Gaussian kernel at the default width, for which 2 sigma^2 is p times the variance of all entries."""
    return rbf_kernel(Z, gamma=1 / (Z.shape[1] * Z.var()))


def kernel_ball():
    """Return the loss of (13) in the space of the centred kernel, whose capacity is W0 / R, and its capacity."""
    K = centred(gaussian(UNIT))
    w_cap = W0 / K.diagonal().max()
    exponent = brentq(lambda e: machine(10**e, K)[1] - w_cap, -2, 2, xtol=1e-12)
    return machine(10**exponent, K)[0], w_cap


def bounds(found):
    """Return the bounds (1) at W = 1 and 4, and the W of the smaller one."""
    truth = []
    for w_cap in (1.0, 4.0):
        _, w, b = ball("unit-rows", w_cap)
        h, n = math.floor(w_cap) + 1, DATA.n
        deviation = math.sqrt((h * (math.log(2 * n / h) + 1) + math.log(4 / 0.05)) / n)
        truth.append(errors(UNIT, Y, w, b) / n + deviation)
    return found, [*truth, (1.0, 4.0)[int(np.argmin(truth))]]


def least_norm(found):
    """Return half the smallest squared norm of w at a loss of at most 15."""

    A, b = margins(X, Y, 1)
    A = np.vstack([A, slack_cost(X, 0.0)])
    return optimum(found), minimum(placed(A.shape[1], -1, 1.0), A, np.append(b, 15.0), [half_square])[0]


def prepared(found):
    data, map_ = found
    return np.hstack([data.X.ravel(), map_.shift, map_.scale]), np.hstack([UNIT.ravel(), X.mean(axis=0), X.std(axis=0)])


def front(found):
    """Return the ends of the Pareto-optimal set of two parabolas whose minima are at 0 and 2."""
    return [cell.ours for cell in found.function(RunSettings()).cells], [0.0, 2.0]


def by_validation(found):
    return found["accuracy"], 1 - errors(UNIT, Y, *ball("unit-rows", 4.0)[1:]) / DATA.n


def correlated(found):
    """Return the two features of largest correlation, and the loss of the machine on these alone."""
    ranking = np.argsort(-np.abs([np.corrcoef(column, Y)[0, 1] for column in X.T]))[:2]
    return found.support, tuple(sorted(ranking.tolist()))


def sparse_union(found):
    return [len(found.support), found.objective], [4, LOSS]


def pixels(found):
    """Return the side of a digit, and where validation and test digits are: after the 10,000th, and the last 10,000."""
    places = [digits.VALIDATION.start, digits.VALIDATION.stop, -digits.TEST.start]
    return [digits.SIDE, *places, *row("mop-table1", "500", "mopfs")[:2]], [28, 10_000, 11_000, 10_000, 0.10, 114]


VALUES = {
    "(4) weighted sum": lambda found: (found.objective, machine(1.0)[2], 1e-5),
    "(5) constraint method": lambda found: (found.objective, ball("unit-rows", 4.0)[0], 1e-5),
    "(6) h <= RW+1": lambda found: (found, (W0 + 1) / DATA.n),
    "(7)-(11) mmop": lambda found: (optimum(found), scaled_ball("none", 2.0)),
    "MMOP with R(w'w)": lambda found: (optimum(found), scaled_ball("none", 2.0)),
    "transductive": lambda found: (optimum(found), scaled_ball("none", 2.0, ((3.0, 0.0, 1.0, 0.0),))),
    "centred kernel": lambda found: (
        (found.X @ found.X.T).ravel(),
        centred(rbf_kernel(X, gamma=0.5)).ravel(),
    ),
    "(12)": least_norm,
    "C-SVM linear": lambda found: (found.objective, exact_value(Dataset(STANDARD, Y), np.ones(4), 1.0)),
    "C-SVM with kernel": lambda found: (found.objective, machine(1.0, gaussian(STANDARD))[2]),
    "(13) RSVM, kernels": lambda found: ([found.objective, found.details["capacity"]], kernel_ball(), 1e-5),
    "(14) dual, gamma, b": lambda found: (machine(1 / found)[1], W0, 1e-5),
    "(15) linear kernel": lambda found: (optimum(found), smallest_product(X, Y, np.ones(4), 0.0, 30.0)),
    "Algorithm 1 / MOPFS": lambda found: ([found.objective, found.details["H"][-1]], [LOSS, W0]),
    "penalty weight c": lambda found: ([found.objective, found.details["H"][-1]], [LOSS, W0]),
    "Proposition 1": lambda found: (found, [W0] * len(found)),
    "trap s = 1": lambda found: ([len(found), "s = 1 is already stationary" in found[0]], [1, True]),
    "preprocessing, digits": prepared,
    "W0 by validation": by_validation,
    "filters": correlated,
    "VS-SSVM": sparse_union,
    "Table 1": lambda found: (row(found.name, "100", "mopfs"), [0.10, 43, 35, 0.05, 0.1687]),
    "Fig 1": front,
    "Fig 2 left": pixels,
    "Fig 2 middle": pixels,
    "Fig 2 right": pixels,
}
