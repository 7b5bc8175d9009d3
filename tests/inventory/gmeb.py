"""What Peleg & Meir, and computations apart from the package, say of the items of their paper."""

from __future__ import annotations

import math
from unittest.mock import patch

import numpy as np
from gmeb_cases import values as penalised
from scipy.optimize import brentq
from sklearn.feature_selection import RFE
from sklearn.svm import SVC
from truths import (
    CENTRED,
    DATA,
    SCALED,
    SEPARABLE,
    STANDARD,
    X,
    Y,
    gmeb,
    half_square,
    hinge,
    margins,
    minimum,
    norm_of,
    one_norm,
    optimum,
    parts_of,
    placed,
    row,
    sized_margins,
    slack_cost,
    standardised,
)

import fsopt
from fsopt.data.synthetic.gmeb import gmeb_type2
from fsopt.papers.gmeb import figures
from fsopt.papers.reproduction import RunSettings

LOGARITHM = 2 * math.log(2 / 0.05)
"""2 ln(2 / delta) at the confidence of the calls."""


def theorem_9(found):
    """Return the terms of Theorem 9 for the fit of the call, by its formula."""
    fit = fsopt.fit("gmeb", DATA, scale="standard")
    n, r = DATA.n, np.linalg.norm(STANDARD, axis=1).max()
    sigma = np.where(np.abs(fit.coef) > 1e-6, np.sqrt(fit.details["sigma"]), 0.0)
    deltas = 2 * np.maximum(sigma, 1e-6)
    k = (np.linalg.norm(deltas) + 1) * r
    classes = [2 / n * np.sqrt((STANDARD[label == Y] ** 2).sum(axis=0) @ deltas**2) for label in (1, -1)]
    union = k * np.sqrt(2 * np.log(np.log2(deltas / 1e-6)).sum() / n)
    truth = [gmeb("standard")[0] / n, *classes, 2 * r / n**0.5, union, 3 * k * np.sqrt(LOGARITHM / n)]
    return list(found.terms.values()), truth, 1e-4


def by_its_proof(scale, index, q=2.0, factor=1.0):
    """Return the terms of (21) at equal scales, of (22) with the index of their grid point, for w = .5, sigma = .1."""
    n, r, delta = DATA.n, 9.0, 0.05
    loss = np.maximum(1 - Y * (X @ np.full(4, 0.05)), 0).mean()
    roots = [np.sqrt((X[label == Y] ** 2).sum(axis=0)) for label in (1, -1)]
    classes = [2 * factor / n * scale * np.linalg.norm(root, ord=q) for root in roots]
    share = delta if index is None else delta / index / (index + 1)
    return [loss, *classes, 2 * r / n**0.5, 3 * (scale + 1) * r * np.sqrt(2 * math.log(4 / share) / n)]


def by_the_entropy_method():
    """Return the terms of (21) with the root of mean - sqrt(2 L mean) = Z, by bisection, in the confidence."""
    *terms, _ = by_its_proof(1.0, None)
    n, k, log = DATA.n, 18.0, math.log(4 / 0.05)
    z = n * sum(terms[1:]) / 2 / k
    mean = brentq(lambda t: t - math.sqrt(2 * log * t) - z, z, 100 * (z + log))
    return [*terms, 2 * k / n * (mean - z) + k * math.sqrt(2 * log / n)]


GRID = 1e-6 * 2.0**17, 17**4
"""The smallest point 1e-6 2^i that is not below .1, and the product of the four i, in (20) and (22)."""


def theorem_11(found):
    machine = SVC(kernel="linear", C=1.0, tol=1e-10).fit(STANDARD, Y)
    n, r, gamma = DATA.n, np.linalg.norm(STANDARD, axis=1).max(), 1 / np.linalg.norm(machine.coef_)
    root, double = n**0.5, 2 * gamma
    complexity = 4 * np.sqrt((STANDARD**2).sum() / n) / (n * double)
    union = 2 * r / root * math.sqrt(2 * math.log(math.log2(double / 1e-6)))
    confidence = 2 * r * math.sqrt(LOGARITHM)
    loss = hinge(STANDARD, Y, machine.coef_[0], machine.intercept_[0]) / n
    tail = [2 * r / (double * root), union, confidence / root, 2 * confidence / (double * root)]
    return list(found.terms.values()), [loss, complexity, *tail], 1e-4


def constant_c(Z, r):
    n = len(Z)
    return 1 / (4 * np.sqrt((Z**2).sum() / n) + 2 * r * n**0.5 + 4 * r * math.sqrt(n * LOGARITHM))


def norm_machine(c=1.0):
    """Return the optimum of (19), ||w|| / 2 and the hinge loss."""

    def above(x):
        length, slope = norm_of(np.eye(4), x[:4])
        return length - x[-1], np.append(placed(len(x) - 1, slice(4), slope), -1.0)

    return minimum(slack_cost(X, 0.5, c=c), *margins(X, Y, 1), [above])[0]


def least_ratio():
    """Return the smallest ratio of the SVM's objective to 2 + b, by Dinkelbach's method."""

    found, before = 0.0, np.inf
    while before - found > 1e-8:
        value, x = minimum(slack_cost(X, 1.0) - placed(46, 4, found), *margins(X, Y, 1), [half_square])
        before, found = found or np.inf, (value + found * x[4]) / (2 + x[4])
    return found


def eliminated():
    """Return the error rates of recursive feature elimination by scikit-learn and libsvm."""
    found = np.empty((4, 3))
    for k, (m, c) in enumerate((m, c) for m in (1, 3) for c in (0.1, 1.0)):
        for fold, (train, test) in enumerate(parts_of(3)):
            known, new = standardised(X[train], X[test])
            machine = RFE(SVC(kernel="linear", C=c, tol=1e-9), n_features_to_select=m).fit(known, Y[train])
            found[k, fold] = np.mean(machine.predict(new) != Y[test])
    return found.ravel()


def radii(step, points):
    """Return all pairs of radii from 1 to 10."""
    values = [1 + step * k for k in range(points)]
    return [v for plus in values for minus in values for v in (plus, minus)]


def same_loss(found):
    """Return the loss of a fit of (10) and the optimum of (15) at its radii: Lemma 13."""
    fit = fsopt.fit("gmeb-penalised", DATA, c_plus=0.25, c_minus=0.25)
    return gmeb("center", *found)[0], hinge(X, Y, fit.coef, fit.intercept), 1e-4


def extraction(found):
    value, w = gmeb("center")
    return [found.objective, hinge(X, Y, found.coef, found.intercept), *found.coef], [value, value, *w], 1e-4


def unscaled():
    """Return the optimum of Remark 16: the hinge loss over |w'| <= 1, features divided by sqrt(v+ / R+)."""
    Z = CENTRED / np.sqrt((CENTRED[Y > 0] ** 2).mean(axis=0) / 3.0)
    A, b = sized_margins(Z, Y)
    A = np.vstack([A, placed(49, slice(-4, None), 1.0)])
    return minimum(slack_cost(Z, *np.zeros(4)), A, np.append(b, 1.0))[0]


def surfaces(found):
    """Return the sizes of the three data sets of Figure 1, whose surfaces are drawn of four features here."""
    asked = []

    def drawn(n, seed, *, p, n_informative):
        asked.extend([p, n_informative])
        return gmeb_type2(n, seed, p=4, n_informative=2)

    with patch.object(figures, "gmeb_type2", drawn):
        outcome = found.function(RunSettings(quick=True))
    return [*asked, len(outcome.figures)], [100, 2, 100, 10, 100, 20, 3]


RAW = gmeb("none")[0]
VALUES = {
    "Theorem 9 bound evaluated": theorem_9,
    "Theorem 9 by its proof (21)-(22)": lambda found: (
        [value for bound in found for value in bound.terms.values()],
        by_its_proof(1.0, None) + by_its_proof(*GRID),
    ),
    r"Remark 10 $\ell_p$-norm bounds": lambda found: (
        list(found.terms.values()),
        by_its_proof(*GRID, q=np.inf, factor=math.sqrt(2 * math.log(2 * 4))),
    ),
    "entropy method in place of McDiarmid's inequality (remark 3 of appendix A)": lambda found: (
        list(found.terms.values()),
        by_the_entropy_method(),
    ),
    "Theorem 11 (8)": theorem_11,
    "(9), constant C of Theorem 11, section 5 classifier as a method": lambda found: (
        found,
        [constant_c(X, 9.0), constant_c(CENTRED, np.linalg.norm(CENTRED, axis=1).max())],
    ),
    "(6)/(7)/(10) penalised bound, C+=C-=4": lambda found: (optimum(found), penalised(DATA, 4.0, 4.0).min()),
    "Remark 12 closure": lambda found: (optimum(found), RAW),
    "(11) nonconvex": lambda found: (optimum(found), RAW),
    "Lemma 13 (penalised -> radii)": same_loss,
    "(14)/Theorem 15": lambda found: (optimum(found), RAW),
    "(15) primal": extraction,
    "(15) LMI / Lemma 6": lambda found: (optimum(found), RAW),
    "Remark 16 l1-SVM": lambda found: (found.objective, unscaled()),
    "(16)/(17)/(23)/(24) dual": lambda found: (optimum(found), RAW),
    "Lemma 18 strong duality (gap certified)": lambda found: (
        [found.ok, found.objective, found.bound],
        [True, RAW, RAW],
    ),
    "Theorem 19 extraction": extraction,
    "(25)/(26) dual of the dual": lambda found: (found, 0.0),
    "App. B mu1=0": lambda found: (
        [found.ok, found.objective, found.bound],
        [True, gmeb("center")[0], gmeb("center")[0]],
    ),
    "(18) svm-margin": lambda found: (optimum(found), norm_machine()),
    "(19) svm-norm": lambda found: (optimum(found), norm_machine()),
    "Theorem 20 transformation": lambda found: (np.hstack(found), [*np.full(4, 0.5), 0.0, *np.zeros(40), 0.5]),
    "Lemma 23 (27)-(28) general": lambda found: (optimum(found), least_ratio()),
    "4.3 algorithm, both steps 2a/2b": extraction,
    "separable data": lambda found: ([found, gmeb("own centre", data=SEPARABLE)[0]], [True, 0.0]),
    "selection rules 6.2": lambda found: (found, (0, 1, 2)),
    "baselines SVM, l1-SVM": lambda found: (found.objective, one_norm(SCALED[found.params["scale"]], Y)[0]),
    "baseline RFE (2 hyperparameters)": lambda found: (found.ravel(), eliminated()),
    "protocol: 49 candidates, 5-fold, 10 splits, a-priori split, Lambda sets": lambda found: (
        [value for one in found for value in (one["r_plus"], one["r_minus"])],
        radii(1.5, 7),
    ),
    "10x10 grid": lambda found: ([value for one in found for value in (one["r_plus"], one["r_minus"])], radii(1.0, 10)),
    "synthetic 1 (Table 1)": lambda found: (found.X.shape, (20, 202)),
    "synthetic 2": lambda found: (found.X.shape, (20, 100)),
    "Bayes errors": lambda found: (found[::2], [0.004, math.erfc(math.sqrt(5)) / 2], 0.1),
    "8 data sets (Table 2)": lambda found: ([found.p, found.n], [30, 569]),
    "Table 3": lambda found: (row(found.name, "50", "gmeb"), [3.1, 2.7, 5.1, 1.8]),
    "type-2 paragraph": lambda found: (row(found.name, "gmeb") + row(found.name, "bayes"), [11.3, 2.3, 2.8, 1.3, 9.6]),
    "Table 4": lambda found: (row(found.name, "wdbc", "gmeb"), [4.2, 0.9, 6.0, 0.3]),
    "Figure 1": surfaces,
    "Figure 2": lambda found: (
        [row("gmeb-table4", name, "rfe")[2] / p for name, p in (("wdbc", 30), ("pima", 8), ("ionosphere", 34))],
        [17.6 / 30, 6.7 / 8, 18.8 / 34],
    ),
}
