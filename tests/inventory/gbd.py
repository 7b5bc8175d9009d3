"""What Aytug, and computations apart from the package, say of the items of his paper."""

from contextlib import suppress
from functools import cache
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pandas as pd
from inventory.sla import steps
from sklearn.svm import SVC
from support import all_values, keeps
from truths import DATA, SCALED, STANDARD, Y, one_norm, optimum, row

from fsopt.data import Dataset
from fsopt.papers.gbd import experiments, tables
from fsopt.papers.reproduction import RunSettings


@cache
def values(name):
    """Return selection -> F(selection) at C = 1, by libsvm, of all sixteen selections."""
    return all_values(Dataset(SCALED[name], Y), 1.0)


def best(name, lam=(0.0, 0.0, 0.0, 0.0), **limits):
    """Return the smallest F and penalty of the allowed selections, by enumeration."""
    every = ((np.array(s), value) for s, value in values(name).items())
    return min(value + s @ np.array(lam) for s, value in every if keeps(s, **limits))


def weight_of_svm():
    """Return half the mean squared weight of the machine on all features, by libsvm."""
    return np.mean(SVC(kernel="linear", C=1.0, tol=1e-9).fit(STANDARD, Y).coef_ ** 2) / 2


def informative(found):
    """Return value and selection of a fit, and F of the machine on it: the first two features alone have a mean."""
    value = values("standard")[tuple(np.isin(range(4), found.support).astype(int))]
    return [found.objective, *found.support[:2], len(found.support)], [value, 0, 1, found.params["m"]], 1e-5


def priced(found):
    """Return F and penalty of the selection of a fit, and whether its bound is below the smallest of all."""
    selection = tuple(np.isin(range(4), found.support).astype(int))
    below = found.bound <= best("standard", np.ones(4)) * (1 + 1e-6)
    return [found.objective, below], [values("standard")[selection] + sum(selection), True]


def drawn(found):
    """Return the sizes of the three parts of an instance, and the labels that its weights give them."""
    parts = [found.train, found.validation, found.test]
    labels = [np.sign(part.X @ found.w) for part in parts]
    return np.hstack([[*part.X.shape, *part.y] for part in parts]), np.hstack([[20, 6, *signs] for signs in labels])


def asked(found):
    """Return the numbers of instances and samples that an experiment asks for, without its computations."""
    seen = []

    def kept(experiment, arguments, compute):
        seen.append(arguments)
        raise InterruptedError

    with suppress(InterruptedError):
        found.function(RunSettings(store=SimpleNamespace(part=kept)))
    return seen[0]


def bins(found):
    """Return the differences of test errors over the five bins of M / p."""
    known = {"p": 20, "overlap": 20, "status": "optimal"}
    rows = [
        {"instance": k, "method": method, "test_error": 0.1 * k if method == "gbd" else 0.0, "m": m, **known}
        for k, m in enumerate((1, 4, 5, 12, 13, 20))
        for method in tables.COMPARED
    ]
    with patch.object(experiments, "_measured", lambda settings: {"20 x 500": pd.DataFrame(rows)}):
        cells = found.function(RunSettings()).cells
    return [c.ours for c in cells if c.row.startswith("rfe")], [0.05, 0.2, 0.3, 0.4, 0.5]


def shares(found):
    """Return the sizes of the parts of a data set that methods are tuned on, and the number of features they get."""
    parts = []

    def tune(method, train, options, *, validation, jobs):
        parts.append([train.n, validation.n, options[0].get("m", 2)])
        return tables_tune(method, train, options[:1], validation=validation, jobs=jobs)

    tables_tune = tables.tune
    with patch.object(tables, "tune", tune):
        rows = tables.real_data(DATA, methods=("onsvm", "rfe"))
    first = rows.loc[rows["method"] == "onsvm", "n_features"].iloc[0]
    return np.ravel(parts), [24, 8, 2, 24, 8, first]


VALUES = {
    "(1) SVM and dual": lambda found: (optimum(found), best("none")),
    "FSP-M": lambda found: (optimum(found), best("none", m=2)),
    "FSP-lambda": lambda found: (optimum(found), best("none", np.ones(4))),
    "lambda_j": lambda found: (found.objective, best("standard", (1.0, 2.0, 1.0, 2.0))),
    "penalty weight from the SVM's own weights (outlook)": lambda found: (
        [found.params["lam"], found.objective],
        [weight_of_svm(), best("standard", np.full(4, weight_of_svm()))],
        1e-5,
    ),
    "budget": lambda found: (found.objective, best("standard", costs=(1.0, 2.0, 1.0, 2.0), budget=3.0)),
    "implications, exclusions, must-include": lambda found: (
        found.objective,
        best("standard", m=2, include=[0], conflicts=[[1, 2]], implies=[[2, 3]]),
    ),
    "(5)-(6) SUB-M and dual": lambda found: (optimum(found), values("none")[1, 1, 1, 1]),
    "(7)-(11) RMP-M, cuts": lambda found: (optimum(found), 0.0),
    "(12)-(15) RMP-lambda": lambda found: (optimum(found), 0.0),
    "closed form for sigma": priced,
    "concave minimisation for the subspace (outlook)": lambda found: (found.objective, best("standard", m=2)),
    "Table 1 algorithm": lambda found: (found.objective, best("standard", m=2)),
    "250 cuts cap, first sigma": lambda found: (found.objective, best("standard", m=2)),
    "RFE": informative,
    "FSV": steps,
    "ONSVM": lambda found: (found.objective, one_norm(SCALED[found.params["scale"]], Y)[0]),
    "InfoGain": informative,
    "data set one": drawn,
    "data set two": drawn,
    "overlap, inner product, Abs, Prcnt, better/worse": lambda found: (found[:2], [2, 0.8]),
    "C grid, 60/20/20": lambda found: (
        [value for one in found for value in (one["c"], one["m"], one["max_cuts"])],
        [value for k in range(-2, 6) for value in (2.0**k, 2, 250 if k >= 3 else tables.FEW_CUTS)],
    ),
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
