"""What Aytug, and computations apart from the package, say of the items of his paper."""

from __future__ import annotations

import itertools
from functools import cache
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
from inventory.sla import steps
from scipy.optimize import minimize
from sklearn.feature_selection import RFE
from sklearn.svm import SVC
from support import all_values, exact_value, keeps
from truths import (
    DATA,
    SCALED,
    STANDARD,
    X,
    Y,
    half_square,
    minimum,
    one_norm,
    optimum,
    row,
    sized_margins,
    slack_cost,
    standardised,
)

from fsopt.data import Dataset
from fsopt.methods.gbd.parameters import split
from fsopt.papers.gbd import experiments, tables
from fsopt.papers.reproduction import Settings


@cache
def values(name):
    """Return selection -> F(selection) at C = 1, by libsvm, of all sixteen selections."""
    return all_values(Dataset(SCALED[name], Y), 1.0)


def best(name, lam=(0.0, 0.0, 0.0, 0.0), **limits):
    """Return the smallest F and penalty of the allowed selections, by enumeration."""
    every = ((np.array(s), value) for s, value in values(name).items())
    return min(value + s @ np.array(lam) for s, value in every if keeps(s, **limits))


def held_out(found):
    """Return F of a fit to three quarters of each class, drawn by its seed: the smallest of two features on them."""
    train, _ = split(DATA, 0.25, 0)
    known, _ = standardised(X[train], X[train])
    part = Dataset(known, Y[train])
    pairs = [s for s in itertools.product((0, 1), repeat=4) if sum(s) <= 2]
    return [found.objective, len(train)], [min(exact_value(part, np.array(s), 1.0) for s in pairs), 30]


def eliminated(found):
    support = RFE(SVC(kernel="linear", C=1.0, tol=1e-9), n_features_to_select=2).fit(STANDARD, Y).support_
    return [found.objective, *found.support], [values("standard")[tuple(support.astype(int))], *np.flatnonzero(support)]


def descended(found):
    """Return the features but that along whose scaling factor the radius/margin bound falls least, by differences."""

    def bound(sigma):
        Z = STANDARD * sigma
        rows = {"type": "ineq", "fun": lambda x: x[-1] - ((Z - x[:-1]) ** 2).sum(axis=1)}
        start = np.append(np.zeros(4), (Z**2).sum(axis=1).max())
        ball = minimize(lambda x: x[-1], start, constraints=[rows], method="SLSQP", options={"ftol": 1e-12})
        return np.log(ball.fun) + np.log(2.0 * exact_value(Dataset(Z, Y), np.ones(4), 1.0))

    slopes = [bound(np.ones(4) + h) - bound(np.ones(4) - h) for h in 1e-2 * np.eye(4)]
    kept = np.arange(4) != np.argmax(slopes)
    return [found.objective, *found.support], [values("standard")[tuple(kept.astype(int))], *np.flatnonzero(kept)], 1e-5


def informative(found):
    """Return the two features of largest information gain, for the best single threshold of each."""
    return best_two(found, [max(gain(column, t) for t in column) for column in X.T])


def elastic_net():
    """Return the optimum of |w| / 2 + w'w / 4 + e'xi, by cutting planes."""
    cost = slack_cost(STANDARD, *np.full(5, 0.5))
    return minimum(cost, *sized_margins(STANDARD, Y, 1), [half_square])[0]


def nearest(found):
    """Return the two features of largest RELIEF weight, sample by sample: nearest miss less nearest hit."""
    z = X / (X.max(axis=0) - X.min(axis=0))
    weights = np.zeros(4)
    for i, one in enumerate(z):
        apart = np.abs(z - one)
        away = np.where(np.arange(len(z)) == i, np.inf, apart.sum(axis=1))
        for sign, same in ((1, False), (-1, True)):
            weights += sign * apart[np.argmin(np.where((Y[i] == Y) == same, away, np.inf))] / len(z)
    chosen, truth, tolerance = best_two(found, weights)
    return [*chosen, *found.details["scores"]], [*truth, *weights], tolerance


def best_two(found, scores):
    """Return value and selection of a fit, and those of the two features of largest score."""
    best_ = np.sort(np.argsort(scores)[-2:])
    return (
        [found.objective, *found.support],
        [values("standard")[tuple(np.isin(range(4), best_).astype(int))], *best_],
        1e-5,
    )


def gain(column, threshold):
    """Return the entropy of the label less that given on which side of a threshold the feature is."""
    sides = [Y[column <= threshold], Y[column > threshold]]
    return entropy(Y) - sum(len(side) / len(Y) * entropy(side) for side in sides)


def entropy(y):
    shares = np.array([np.mean(y > 0), np.mean(y < 0)]) if len(y) else np.ones(1)
    shares = shares[shares > 0]
    return -np.sum(shares * np.log2(shares))


def drawn(found, m):
    """Return whether an instance is as the paper draws it: samples of norm 1, labelled by M nonzero weights."""
    parts = [found.train, found.validation, found.test]
    lengths = np.hstack([np.linalg.norm(part.X, axis=1) for part in parts])
    right = [np.array_equal(np.sign(part.X @ found.w), part.y) for part in parts]
    nonzero = np.flatnonzero(found.w)
    count = len(nonzero) if m is None else m
    return [*lengths, *right, *nonzero, len(nonzero)], [*np.ones(60), True, True, True, *found.support, count]


def measures(found):
    """Return overlap, inner product, Abs, Prcnt, better and worse of two methods on three instances."""
    overlap, alignment, averages = found
    rates = {"gbd": (0.1, 0.2, 0.3), "rfe": (0.2, 0.1, 0.3)}
    rest = dict.fromkeys(("overlap", "alignment"), 0.0) | {"p": 4, "n_features": 2, "seconds": 0.0}
    rows = [
        SimpleNamespace(method=method, instance=k, test_error=rate, **rest)
        for method, of in rates.items()
        for k, rate in enumerate(of)
    ]
    rfe = averages(rows)[1]
    ours = [overlap, alignment, rfe.test_error, rfe.difference, rfe.percent, rfe.better, rfe.worse]
    return ours, [2, 0.8, 0.2, 0.0, (-100 + 50 + 0) / 3, 1, 1]


def thresholded(found):
    """Return the best value that selections of features with q_j^2 / 2 > 1 meet, until one comes back, by libsvm."""
    selection, met = (1, 1, 1, 1), {}
    while selection not in met:
        met[selection] = values("standard")[selection] + sum(selection)
        machine = SVC(kernel="linear", C=1.0, tol=1e-9).fit(STANDARD[:, np.flatnonzero(selection)], Y)
        q = STANDARD[machine.support_].T @ machine.dual_coef_[0]
        selection = tuple((0.5 * q**2 > 1.0).astype(int).tolist())
    return found.objective, min(met.values())


def fewest(found):
    """Return the smallest number of features whose training error is within .05 of that of all, by libsvm."""
    rates = []
    for m in range(1, 5):
        machine = RFE(SVC(kernel="linear", C=1.0, tol=1e-9), n_features_to_select=m).fit(STANDARD, Y)
        rates.append(np.mean(machine.predict(STANDARD) != Y))
    return found.value, 1 + int(np.argmax(np.array(rates) <= rates[-1] + 0.05))


def chosen(found):
    """Return the number of features that are best at the lambda that was found."""
    lam = found.value
    selection = min(values("standard"), key=lambda s: values("standard")[s] + lam * sum(s))
    return [sum(selection), *np.flatnonzero(selection)], [2, *found.fit.support]


def rounded(found):
    """Return F at the rounded selection, and at the relaxed one: with features scaled by the roots of sigma."""
    relaxed = Dataset(STANDARD * np.sqrt(np.maximum(found.sigma, 0)), Y)
    truth = [values("standard")[1, 1, 0, 0], exact_value(relaxed, np.ones(4), 1.0), 2.0]
    return [found.objective, found.bound, found.sigma.sum()], truth, 1e-5


def asked(found):
    """Return the numbers of instances and samples that an experiment asks for, without its computations."""
    seen = []

    def kept(experiment, arguments, compute):
        seen.append(arguments)
        raise InterruptedError

    try:
        found.function(Settings(store=SimpleNamespace(part=kept)))
    except InterruptedError:
        return seen[0]


def bins(found):
    """Return the differences of test errors over the five bins of M / n."""
    rows = [
        SimpleNamespace(instance=k, method=method, test_error=0.1 * k if method == "gbd" else 0.0, m=m, p=20)
        for k, m in enumerate((1, 4, 5, 12, 13, 20))
        for method in experiments.COMPARED
    ]
    with patch.object(experiments, "_measured", lambda settings: {"20 x 500": rows}):
        cells = found.function(Settings()).cells
    return [c.ours for c in cells if c.row.startswith("rfe")], [0.05, 0.2, 0.3, 0.4, 0.5]


def shares(found):
    """Return the sizes of the parts of a data set that methods are tuned on, and the number of features they get."""
    parts = []

    def tune(method, train, options, *, validation, time_limit):
        parts.append([train.n, validation.n, options[0].get("m", 2)])
        return tables_tune(method, train, options[:1], validation=validation, time_limit=time_limit)

    tables_tune = tables.tune
    with patch.object(tables, "tune", tune):
        rows = tables.real_data(DATA, methods=("onsvm", "rfe"))
    first = next(r for r in rows if r.method == "onsvm")
    return np.ravel(parts), [24, 8, 2, 24, 8, first.n_features]


VALUES = {
    "(1) SVM and dual": lambda found: (optimum(found), best("none")),
    "FSP-M": lambda found: (optimum(found), best("none", m=2)),
    "FSP-lambda": lambda found: (optimum(found), best("none", np.ones(4))),
    "lambda_j": lambda found: (found.objective, best("standard", (1.0, 2.0, 1.0, 2.0))),
    "budget": lambda found: (found.objective, best("standard", costs=(1.0, 2.0, 1.0, 2.0), budget=3.0)),
    "implications, exclusions, must-include": lambda found: (
        found.objective,
        best("standard", m=2, include=[0], conflicts=[[1, 2]], implies=[[2, 3]]),
    ),
    "(5)-(6) SUB-M and dual": lambda found: (optimum(found), values("none")[1, 1, 1, 1]),
    "(7)-(11) RMP-M, cuts": lambda found: (optimum(found), 0.0),
    "(12)-(15) RMP-lambda": lambda found: (optimum(found), 0.0),
    "closed form for sigma": thresholded,
    "previous solution as a starting seed (outlook)": lambda found: (found.objective, best("standard", m=2)),
    "Table 1 algorithm": lambda found: (found.objective, best("standard", m=2)),
    "250 cuts cap, first sigma": lambda found: (found.objective, best("standard", m=2)),
    "stop on validation, best of k": held_out,
    "RFE": eliminated,
    "R2W2 (Weston et al.), (2)-(3), cited in section 2": descended,
    "FSV": steps,
    "ONSVM": lambda found: (found.objective, one_norm(SCALED[found.params["scale"]], Y)[0]),
    "InfoGain": informative,
    "elastic net (Wang, Zhu & Zou), cited in section 2": lambda found: (
        found.objective,
        elastic_net(),
        1e-5,
    ),
    "RELIEF (Kira & Rendell), cited in section 1": nearest,
    "data set one": lambda found: drawn(found, None),
    "data set two": lambda found: drawn(found, 2),
    "overlap, inner product, Abs, Prcnt, better/worse": measures,
    "C grid, 60/20/20": lambda found: (
        [value for one in found for value in (one["c"], one["m"], one["max_cuts"])],
        [value for k in range(-2, 6) for value in (2.0**k, 2, 250)],
    ),
    "binary search over M": fewest,
    "choice of lambda / GBD-lambda column": chosen,
    "rounding of relaxed master": rounded,
    "Tables 2, 3": lambda found: (
        row(found.name, "gbd") + row(found.name, "rfe") + row(found.name, "fsv"),
        [0.9966, 0.9959, 32, 23, 0.9928, 45, 39],
    ),
    "Fig 1": bins,
    "Fig 2, 3": lambda found: (
        [asked(found)["n"] / asked(found)["p"], asked(found)["m"] / asked(found)["p"]],
        [1000 / 800, 20 / 800],
    ),
    "Table 4": shares,
    "Table 5": shares,
}
