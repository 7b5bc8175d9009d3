"""What Mangasarian, and computations apart from the package, say of the items of his paper."""

import math
from functools import partial

import numpy as np
import pyomo.environ as pyo
from truths import (
    DATA,
    EXPONENTIAL,
    FRACTION,
    STANDARD,
    X,
    Y,
    errors,
    fewest_errors,
    fewest_features,
    one_norm,
    optimum,
    parts_of,
    polyhedral_steps,
    row,
    standardised,
)

SHARES = np.full(DATA.n, 1 / 20)
"""1/m and 1/k of the two classes."""


def separation():
    """Return the optimum of (17) with lambda = 0."""
    return one_norm(X, Y, weights=np.zeros(4), loss=SHARES)[0]


def at(model, w, v):
    """Return errors, objective and feasibility of a model at a hyperplane w'x = 0."""
    short = np.maximum(1 - Y * (X @ w), 0)
    model.gamma.set_value(0.0)
    for name, values in (("w", w), ("v", v)):
        if hasattr(model, name):
            getattr(model, name).set_values(dict(enumerate(values)))
    for name, side in (("y", Y > 0), ("z", Y < 0)):
        errors_ = getattr(model, name)
        errors_.set_values(dict(zip(errors_, short[side], strict=True)))
    slacks = [one.slack() for one in model.component_data_objects(pyo.Constraint, active=True)]
    return short, pyo.value(model.objective), min(slacks) >= -1e-9


def smooth_count(found):
    """Return (20) at w = (1, .5, 0, 0), and the bound that the fewest errors are on it: 1 - exp(-5 y) < 1."""
    short, *ours = at(found, np.array([1.0, 0.5, 0.0, 0.0]), ())
    return [*ours, ours[0] > (1 - math.exp(-5)) * np.sum(short >= 1)], [np.sum(1 - np.exp(-5 * short)), True, True]


def smooth_features(found):
    w = np.array([1.0, 0.5, 0.0, 0.0])
    short, *ours = at(found, w, w)
    return ours, [0.95 * SHARES @ short + 0.05 * np.sum(1 - np.exp(-5 * w)), True]


def steps(found, approximation=EXPONENTIAL):
    """Return value and minimum principle of a fit of (21): no feasible direction lowers the linearised objective."""
    value, *_ = polyhedral_steps(STANDARD, Y, 0.05, approximation)
    w = found.coef * X.std(axis=0)
    slopes = 0.05 * approximation[1](np.abs(w))
    lowest, *_ = one_norm(STANDARD, Y, weights=slopes, loss=0.95 * SHARES)
    loss = np.maximum(1 - Y * (X @ found.coef + found.intercept), 0)
    return [found.objective, 0.95 * SHARES @ loss + slopes @ np.abs(w)], [value, lowest]


def separated_but_for_some(found):
    """Return the errors of a fit of PMM: as many as its objective, and no loss without those samples."""
    losses = np.sort(np.maximum(1 - Y * (X @ found.coef + found.intercept), 0))
    count = errors(X, Y, found.coef, found.intercept)
    rest = losses[: DATA.n - count].sum()
    return [found.objective, count >= fewest_errors(X, Y), rest], [count, True, 0.0]


def tuned(found):
    """Return the error rates of FSV in three folds, and the lambda of the smallest mean."""
    truth = np.empty((2, 3))
    for k, lam in enumerate((0.05, 0.2)):
        for fold, (train, test) in enumerate(parts_of(3)):
            known, new = standardised(X[train], X[test])
            _, w, b = polyhedral_steps(known, Y[train], lam)
            truth[k, fold] = errors(new, Y[test], w, b) / len(test)
    best = (0.05, 0.2)[int(truth.mean(axis=1).argmin())]
    return [*found.errors.ravel(), found.params["lam"]], [*truth.ravel(), best]


def counted(found):
    return found, errors(X, Y, np.ones(4), 0.0)


VALUES = {
    "(1)-(2) separation, rlp": lambda found: (optimum(found), separation()),
    "(5) misclass-milp": lambda found: (optimum(found), fewest_errors(X, Y)),
    "(7), (9), counting rule": counted,
    "LPEC (16)": lambda found: (
        [found["objective"], found["status"] == "optimal"],
        [fewest_errors(X[:12], Y[:12]), True],
    ),
    "LPEC of (17), Proposition 2.5": lambda found: (
        [found["objective"], found["status"] == "optimal"],
        [fewest_features(X[:12], Y[:12], 0.1), True],
    ),
    "(17) fsv-exact, lambda=0": lambda found: (optimum(found), separation()),
    "(19) alpha": lambda found: (found, np.full(4, 5 * math.exp(-5))),
    "(20)": smooth_count,
    "(21)": smooth_features,
    "(23) Algorithm 4.1, stop": steps,
    "random / many starts": steps,
    "other concave functions (Rinaldi & Sciandrone)": partial(steps, approximation=FRACTION),
    "Theorem 4.2 minimum principle": lambda found: ([found.ok, *found.residuals.values()], [True, 0.0]),
    "PMM": separated_but_for_some,
    "lambda by cross-validation": tuned,
    "Table 1 (8 sets)": lambda found: (row(found.name, "wbcd"), [239, 443, 9, 98.57, 97.6, 5.7]),
    "times SLA v PMM": lambda found: (row(found.name, "votes")[3:], [98.82, 96.9, 3.4]),
    "WBCD+2 example": lambda found: (row(found.name, "wbcd"), [97.1, 6, 4]),
}
