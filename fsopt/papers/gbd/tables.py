"""The protocols of Aytug (section 4): methods tuned on validation data and measured on test data.

* :func:`measure`: one method on one drawn instance with a known hyperplane (data sets one and two; Tables 2 and 3);
* :func:`data_set_one`: several methods on several instances, of which :func:`averages` has the means;
* :func:`real_data`: the protocol of Tables 4 and 5 on any data set.

The penalty weight C is 2^-2, ..., 2^5, as in the paper. No clock ends a fit: GBD, the loop as printed, ends after the
250 cuts of the paper at C >= 8 (about ten seconds), and after :data:`FEW_CUTS` at a smaller C, where its masters take
longer; the exact search, ``best-subset``, after :data:`NODES` for each C; both are optimal where their gap is closed
before. FSV is tuned over lambda = 2^-10, ..., 2^-3. The paper has lambda = 1, at which the errors drop out of (21) of
Mangasarian and w = 0 is optimal; the software of the paper states another problem. Of equal validation errors the first
candidate wins: the smallest C or lambda.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from fsopt.data import Dataset
from fsopt.data.drawn import SyntheticInstance, gbd_set_one
from fsopt.data.splits import random_parts
from fsopt.errors import ParameterError
from fsopt.methods.registry import METHODS
from fsopt.papers.reproduction import measures
from fsopt.studies.tuning import Tuned, tune
from fsopt.typing import Vector

COMPARED = ("gbd", "best-subset", "rfe", "fsv", "onsvm", "infogain")
"""The methods of the tables, and the exact search for the problem of GBD."""
C_VALUES = tuple(2.0**k for k in range(-2, 6))
LAMBDA_VALUES = tuple(2.0**k for k in range(-10, -2))
PENALTIES = tuple(4.0**k for k in range(-3, 1))
"""The lambda of GBD-lambda."""
COUNTED = ("gbd", "best-subset", "rfe", "infogain")
"""Methods that are given the number of features."""
TOLERANCE = 1e-4
"""Relative optimality gap at which GBD and the exact search stop."""
CUTS, FEW_CUTS = 250, 60
"""Cuts of GBD in the paper, and those at a C below :data:`LARGE_C`."""
LARGE_C = 8.0
NODES = 200
"""Nodes of the exact search for each C, about a second of a processor with 50 features and 500 samples."""


def averages(rows: pd.DataFrame, reference: str = "gbd") -> pd.DataFrame:
    """Return the means of each method, in the order in which methods occur, beside those of a reference.

    Parameters
    ----------
    rows : of :func:`data_set_one` or :func:`real_data`.
    reference : a method of them, GBD in the paper.

    Returns
    -------
    DataFrame
        A row for each ``method``: the number of instances ``n``, the means of ``test_error``, ``overlap``,
        ``alignment``, ``gap``, ``n_features``, ``seconds`` (nan where unknown), ``exact`` (supports that are the true
        one), ``proved`` (fits that are optimal within their tolerance), ``difference`` (mean of TE(reference) - TE of
        the method, negative where the reference is better: Table 2, Abs), ``percent`` (the same in percent of
        TE(reference), over the instances where it is positive: Table 2, Prcnt), and ``better`` and ``worse``
        (instances on which the test error of the reference is lower, higher).

    Raises
    ------
    ParameterError : a method was not measured on the same instances as the reference.
    """
    errors = rows.pivot(index="instance", columns="method", values="test_error")
    if errors.isna().any(axis=None):
        name = errors.columns[errors.isna().any()][0]
        raise ParameterError(f"'{name}' and others were measured on other instances", "measure all on the same ones")
    base = errors[reference]
    less, missed = errors.rsub(base, axis=0), base > 0
    numbers = ["test_error", "overlap", "alignment", "gap", "n_features", "seconds"]
    rows = rows.astype(dict.fromkeys(numbers, float))
    groups = rows.assign(exact=rows["overlap"] == rows["p"], proved=rows["status"] == "optimal").groupby(
        "method", sort=False
    )
    means = groups[numbers].mean()
    return means.assign(
        n=groups.size(),
        exact=groups["exact"].sum().where(means["overlap"].notna()),
        proved=groups["proved"].sum(),
        difference=less.mean(),
        percent=(100.0 * less[missed].div(base[missed], axis=0)).mean(),
        better=(less < 0).sum(),
        worse=(less > 0).sum(),
    ).reset_index()


def candidates(method: str, m: int, *, max_cuts: int = CUTS, scale: str = "none") -> list[dict[str, Any]]:
    """Return the parameters that a method is tuned over, the smallest C (FSV: lambda) first.

    Parameters
    ----------
    method : one with a penalty weight ``c``, or ``fsv``; for ``gbd-lambda`` each C is with each lambda.
    m : number of features, for :data:`COUNTED`.
    max_cuts : the most of GBD; the paper has 250.
    scale : of the features; ``none`` for drawn instances, whose samples have norm 1.

    Raises
    ------
    ParameterError : a method without a penalty weight C.
    """
    if method == "fsv":
        return [{"lam": lam, "scale": scale} for lam in LAMBDA_VALUES]
    if "c" not in METHODS[method].parameters:
        raise ParameterError(f"'{method}' has no penalty weight C to tune", f"one of {', '.join(COMPARED)}")
    rest: dict[str, Any] = {"scale": scale, **({"m": m} if method in COUNTED else {})}
    if method == "gbd":
        rest |= {"preset": "printed", "tolerance": TOLERANCE}
        few = min(max_cuts, FEW_CUTS)
        return [{"c": c, "max_cuts": max_cuts if c >= LARGE_C else few, **rest} for c in C_VALUES]
    if method == "best-subset":
        rest |= {"max_nodes": NODES, "tolerance": TOLERANCE}
    if method == "gbd-lambda":
        rest |= {"preset": "closed-form", "start": "zero", "max_cuts": max_cuts, "tolerance": TOLERANCE}
        return [{"c": c, "lam": lam, **rest} for c in C_VALUES for lam in PENALTIES]
    return [{"c": c, **rest} for c in C_VALUES]


def overlap(support: Sequence[int], truth: Sequence[int], p: int) -> int:
    """Return p minus the Hamming distance of two supports (Table 3)."""
    return p - len(set(support) ^ {int(j) for j in truth})


def alignment(coef: Vector, w: Vector) -> float:
    """Return the inner product of two weight vectors (p,) after normalisation; 0 where one of them is 0."""
    size = float(np.linalg.norm(coef) * np.linalg.norm(w))
    return float(coef @ w) / size if size > 0 else 0.0


def measure(method: str, instance: SyntheticInstance, *, max_cuts: int = CUTS, jobs: int = 1) -> dict[str, Any]:
    """Tune a method on a drawn instance, given the true number of features, and measure it.

    Parameters
    ----------
    method : registry name.
    instance : of :func:`fsopt.data.gbd_set_one` or ``gbd_set_two``.
    max_cuts : the most of GBD; the paper has 250.
    jobs : processes over the candidates.

    Returns
    -------
    dict
        ``instance``, ``method``, ``params`` (of smallest validation error), ``p``, ``m`` (features that were asked
        for), ``n_features``, ``status`` and relative ``gap`` (None without a bound) of the fit, ``validation_error``
        and ``test_error`` as shares, ``overlap`` and ``alignment`` with the true hyperplane, in raw units,
        ``seconds`` of the fit, and ``tuning_seconds`` of those of all candidates.
    """
    train, validation, test, truth, w = instance
    options = candidates(method, len(truth), max_cuts=max_cuts)
    tuned = tune(method, train, options, validation=validation, jobs=jobs)
    found = {"overlap": overlap(tuned.fit.support, truth.tolist(), train.p), "alignment": alignment(tuned.fit.coef, w)}
    return {**_measured(train, tuned, len(truth), test), **found}


def data_set_one(
    p: int = 20,
    n: int = 500,
    *,
    instances: Sequence[int] = tuple(range(10)),
    methods: Sequence[str] = COMPARED,
    max_cuts: int = CUTS,
    jobs: int = 1,
) -> pd.DataFrame:
    """Measure methods on instances of data set one: one cell of Tables 2 and 3, a row for each :func:`measure`.

    Parameters
    ----------
    p, n : numbers of features, and of samples in each of the three sets.
    instances : numbers k of :func:`fsopt.data.gbd_set_one`; the paper has ten.
    methods : registry names.
    max_cuts : as in :func:`measure`.
    jobs : processes over the candidates of a method; -1 takes all processors. Solvers run on one thread.

    Raises
    ------
    ParameterError, UnknownNameError : before any fit.
    """
    for method in methods:
        candidates(method, 1)
    drawn = [gbd_set_one(p, n, k) for k in instances]
    return pd.DataFrame([measure(name, one, max_cuts=max_cuts, jobs=jobs) for one in drawn for name in methods])


def real_data(
    data: Dataset,
    *,
    methods: Sequence[str] = (*COMPARED, "gbd-lambda"),
    seed: int = 0,
    jobs: int = 1,
) -> pd.DataFrame:
    """Measure methods on a data set by the protocol of Tables 4 and 5, a row for each, as :func:`measure` has it.

    The samples are split into 60 percent for training, 20 for validation and 20 for testing. The one-norm support
    vector machine is tuned first; the number of its features is given to the other methods. GBD-lambda is tuned over
    C and lambda = 2^-6, 2^-4, 2^-2, 1, with the closed form of the paper for sigma; the paper has "trial and error".
    Features are standardised: the paper does not state their scale.

    Parameters
    ----------
    methods : registry names.
    seed : of the split.
    jobs : processes over the candidates of a method.

    Raises
    ------
    ParameterError, UnknownNameError : before any fit.
    DataError : a class has fewer samples than there are parts.
    """
    for method in methods:
        candidates(method, 1)
    train, validation, test = (data.rows(part) for part in random_parts(data, (0.6, 0.2, 0.2), seed))

    def tuned(method: str, m: int) -> Tuned:
        return tune(method, train, candidates(method, m, scale="standard"), validation=validation, jobs=jobs)

    first = tuned("onsvm", 1)
    m = max(1, len(first.fit.support))
    return pd.DataFrame([_measured(data, first if name == "onsvm" else tuned(name, m), m, test) for name in methods])


def _measured(data: Dataset, tuned: Tuned, m: int, test: Dataset) -> dict[str, Any]:
    """Return the measures of a tuned method without those of a true hyperplane."""
    found = measures(tuned, data, test)
    return {
        "instance": data.name,
        "method": tuned.fit.method,
        "params": dict(tuned.fit.params),
        "p": data.p,
        "m": m,
        **{name: found[name] for name in ("n_features", "status", "gap")},
        "validation_error": tuned.error,
        "test_error": found["error"] / 100.0,
        "overlap": None,
        "alignment": None,
        "seconds": tuned.fit.seconds["total"],
        "tuning_seconds": tuned.seconds,
    }
