"""What Peleg & Meir, and computations apart from the package, say of the items of their paper."""

import math
from unittest.mock import patch

import numpy as np
from gmeb_cases import values as penalised
from sklearn.feature_selection import RFE
from sklearn.svm import SVC
from truths import (
    CENTRED,
    DATA,
    SCALED,
    SEPARABLE,
    X,
    Y,
    gmeb,
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

from fsopt.data.drawn import gmeb_type2
from fsopt.papers.gmeb import experiments
from fsopt.papers.reproduction import RunSettings

LOGARITHM = 2 * math.log(2 / 0.05)
"""2 ln(2 / delta) at the confidence of the calls."""


def best_ratio():
    """Return 1'(VDV')^{-1}1 of the second synthetic data at seed 0, by a solve."""
    V, triangle = np.linalg.qr(np.random.default_rng(0).standard_normal((10, 10)))
    V = V * np.sign(np.diag(triangle))
    return np.linalg.solve(V @ np.diag(np.arange(1.0, 11.0)) @ V.T, np.ones(10)).sum()


def constant_c(Z, r):
    n = len(Z)
    return 1 / (4 * np.sqrt((Z**2).sum() / n) + 2 * r * n**0.5 + 4 * r * math.sqrt(n * LOGARITHM))


def norm_machine(c=1.0):
    """Return the optimum of (19), ||w|| / 2 and the hinge loss."""

    def above(x):
        length, slope = norm_of(np.eye(4), x[:4])
        return length - x[-1], np.append(placed(len(x) - 1, slice(4), slope), -1.0)

    return minimum(slack_cost(X, 0.5, c=c), *margins(X, Y, 1), [above])[0]


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

    with patch.object(experiments, "gmeb_type2", drawn):
        outcome = found.function(RunSettings(quick=True))
    return [*asked, len(outcome.figures)], [100, 2, 100, 10, 100, 20, 3]


RAW = gmeb("none")[0]
VALUES = {
    "(9), constant C of Theorem 11, section 5 classifier as a method": lambda found: (
        found,
        [constant_c(Z, np.linalg.norm(Z, axis=1).max()) for Z in (X, CENTRED)],
    ),
    "(6)/(7)/(10) penalised bound, C+=C-=4": lambda found: (optimum(found), penalised(DATA, 4.0, 4.0).min()),
    "Remark 12 closure": lambda found: (optimum(found), RAW),
    "(11) nonconvex": lambda found: (optimum(found), RAW),
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
    "Bayes errors": lambda found: (found, math.erfc(math.sqrt(best_ratio() / 2)) / 2),
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
