"""The protocols of Aytug (section 4): methods tuned on validation data and measured on test data.

* :func:`measure`: one method on one drawn instance with a known hyperplane (data sets one and two; Tables 2 and 3);
* :func:`data_set_one`: several methods on several instances; :mod:`fsopt.papers.gbd.tables` has their
  means;
* :func:`real_data`: the protocol of Tables 4 and 5 on any data set.

The penalty weight C is 2^-2, ..., 2^5, as in the paper. No clock ends a fit: GBD ends after the 250 cuts of the paper,
the exact search, ``best-subset``, after :data:`NODES` for each C; both are optimal where their gap is closed before.
FSV is tuned over lambda = 2^-10, ..., 2^-3. The paper has lambda = 1, at which the errors drop out of (21) of
Mangasarian and w = 0 is optimal; the software of the paper states another problem. Of equal validation errors the first
candidate wins: the smallest C or lambda.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.data.drawn import SyntheticInstance, gbd_set_one
from fsopt.data.hyperplanes import error_rate
from fsopt.data.splits import random_parts
from fsopt.errors import ParameterError
from fsopt.methods.registry import METHODS
from fsopt.studies.tuning import Tuned, tune
from fsopt.typing import Vector


@dataclass(frozen=True)
class Average:
    """Means of a method over instances, beside those of a reference, GBD in the paper, over the same instances.

    Attributes
    ----------
    method : registry name.
    n : number of instances.
    test_error, overlap, alignment, n_features, seconds : means; overlap and alignment are None where the true support
        is unknown.
    exact : number of instances on which the selected support is the true one; None where the latter is unknown.
    proved : number of fits that are optimal, within their tolerance, for their problem.
    gap : mean relative optimality gap of the fits with a bound; None where there are none.
    difference : mean of TE(reference) - TE(method), negative where the reference is better (Table 2, Abs).
    percent : the same in percent of TE(reference), over the instances where it is positive (Table 2, Prcnt); None where
        there are none.
    better, worse : number of instances on which the test error of the reference is lower, higher.
    """

    method: str
    n: int
    test_error: float
    overlap: float | None
    exact: int | None
    alignment: float | None
    proved: int
    gap: float | None
    n_features: float
    seconds: float
    difference: float
    percent: float | None
    better: int
    worse: int


def averages(rows: Sequence[Measured], reference: str = "gbd") -> list[Average]:
    """Return the means of each method, in the order in which methods occur.

    Raises
    ------
    ParameterError : a method was not measured on the same instances as the reference.
    """
    beside = {row.instance: row.test_error for row in rows if row.method == reference}
    found = []
    for method in dict.fromkeys(row.method for row in rows):
        own = [row for row in rows if row.method == method]
        if [row.instance for row in own] != list(beside):
            problem = f"'{method}' and '{reference}' were measured on other instances"
            raise ParameterError(problem, "measure both on the same ones")
        found.append(_average(method, own, np.array(list(beside.values()))))
    return found


def _average(method: str, rows: Sequence[Measured], beside: Vector) -> Average:
    errors = np.array([row.test_error for row in rows])
    less, missed = beside - errors, beside > 0
    overlaps = [row.overlap for row in rows if row.overlap is not None]
    return Average(
        method=method,
        n=len(rows),
        test_error=float(errors.mean()),
        overlap=_mean(overlaps),
        exact=sum(row.overlap == row.p for row in rows) if overlaps else None,
        alignment=_mean([row.alignment for row in rows if row.alignment is not None]),
        proved=sum(row.status == "optimal" for row in rows),
        gap=_mean([row.gap for row in rows if row.gap is not None]),
        n_features=float(np.mean([row.n_features for row in rows])),
        seconds=float(np.mean([row.seconds for row in rows])),
        difference=float(less.mean()),
        percent=_mean(100 * less[missed] / beside[missed]),
        better=int(np.sum(less < 0)),
        worse=int(np.sum(less > 0)),
    )


def _mean(values: Sequence[float] | Vector) -> float | None:
    """Return the mean, None of no values."""
    return float(np.mean(values)) if len(values) else None


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
CUTS = 250
"""Cuts of GBD in the paper."""
NODES = 200
"""Nodes of the exact search for each C, about a second of a processor with 50 features and 500 samples."""


@dataclass(frozen=True)
class Measured:
    """Measures of one method on one instance.

    Attributes
    ----------
    instance, method : names.
    params : the candidate of smallest validation error.
    status, gap : of the fit at these parameters; the gap is relative, None without a bound.
    p, n_features : number of features of the data, and of selected features.
    m : number of features that is given to :data:`COUNTED`: the true one where it is known.
    validation_error, test_error : shares of misclassified samples.
    overlap : p minus the Hamming distance of the selected and the true support; None where the latter is unknown.
    alignment : inner product of the normalised weights with the true ones, in raw units; None where these are
        unknown, 0 where w = 0.
    seconds, tuning_seconds : of the fit at ``params``, and of the fits of all candidates.
    """

    instance: str
    method: str
    params: Mapping[str, Any]
    status: str
    gap: float | None
    p: int
    n_features: int
    m: int
    validation_error: float
    test_error: float
    overlap: int | None
    alignment: float | None
    seconds: float
    tuning_seconds: float


def candidates(method: str, m: int, *, max_cuts: int = CUTS, scale: str = "none") -> list[dict[str, Any]]:
    """Return the parameters that a method is tuned over, the smallest C (FSV: lambda) first.

    Parameters
    ----------
    method : one with a penalty weight ``c``, or ``fsv``; for ``gbd-lambda`` each C is with each lambda.
    m : number of features, for :data:`COUNTED`.
    max_cuts : of GBD; the paper has 250.
    scale : of the features; ``none`` for drawn instances, whose samples have norm 1.

    Raises
    ------
    ParameterError : a method without a penalty weight C.
    """
    if method == "fsv":
        return [{"lam": lam, "scale": scale} for lam in LAMBDA_VALUES]
    if "c" not in METHODS[method].parameters:
        raise ParameterError(f"'{method}' has no penalty weight C to tune", f"one of {', '.join(COMPARED)}")
    rest: dict[str, Any] = {"scale": scale}
    if method in COUNTED:
        rest["m"] = m
    if method == "gbd":
        rest |= {"preset": "printed", "max_cuts": max_cuts, "tolerance": TOLERANCE}
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


def measure(method: str, instance: SyntheticInstance, *, max_cuts: int = CUTS, jobs: int = 1) -> Measured:
    """Tune a method on a drawn instance and measure it against the true hyperplane.

    Parameters
    ----------
    method : registry name.
    instance : of :func:`fsopt.data.gbd_set_one` or ``gbd_set_two``; :data:`COUNTED` are given the true
        number of features.
    max_cuts : of GBD; the paper has 250.
    jobs : processes over the candidates.
    """
    train, validation, test, truth, w = instance
    options = candidates(method, len(truth), max_cuts=max_cuts)
    tuned = tune(method, train, options, validation=validation, jobs=jobs)
    found = overlap(tuned.fit.support, truth.tolist(), train.p), alignment(tuned.fit.coef, w)
    return _measured(train.name, tuned, len(truth), test, found)


def data_set_one(
    p: int = 20,
    n: int = 500,
    *,
    instances: Sequence[int] = tuple(range(10)),
    methods: Sequence[str] = COMPARED,
    max_cuts: int = CUTS,
    jobs: int = 1,
) -> list[Measured]:
    """Measure methods on instances of data set one: one cell of Tables 2 and 3.

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
    return [measure(name, one, max_cuts=max_cuts, jobs=jobs) for one in drawn for name in methods]


def real_data(
    data: Dataset,
    *,
    methods: Sequence[str] = (*COMPARED, "gbd-lambda"),
    seed: int = 0,
    jobs: int = 1,
) -> list[Measured]:
    """Measure methods on a data set by the protocol of Tables 4 and 5.

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
    options = candidates("onsvm", 1, scale="standard")
    first = tune("onsvm", train, options, validation=validation, jobs=jobs)
    m = max(1, len(first.fit.support))

    def measured(method: str) -> Measured:
        tuned = first
        if method != "onsvm":
            options = candidates(method, m, scale="standard")
            tuned = tune(method, train, options, validation=validation, jobs=jobs)
        return _measured(data.name, tuned, m, test, None)

    return [measured(method) for method in methods]


def _measured(name: str, tuned: Tuned, m: int, test: Dataset, found: tuple[int, float] | None) -> Measured:
    """Return the measures of a tuned method; ``found`` are overlap and alignment, None without a true hyperplane."""
    fitted = tuned.fit
    return Measured(
        instance=name,
        method=fitted.method,
        params=fitted.params,
        status=str(fitted.status),
        gap=_gap(fitted),
        p=test.p,
        n_features=len(fitted.support),
        m=m,
        validation_error=tuned.error,
        test_error=error_rate(fitted.decision_function(test.X), test.y),
        overlap=None if found is None else found[0],
        alignment=None if found is None else found[1],
        seconds=fitted.seconds["total"],
        tuning_seconds=tuned.seconds,
    )


def _gap(fitted: Fit) -> float | None:
    """Return the relative optimality gap of a fit, None without a bound."""
    if fitted.bound is None or fitted.objective is None:
        return None
    return abs(fitted.objective - fitted.bound) / max(1.0, abs(fitted.objective))
