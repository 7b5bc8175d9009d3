"""The means in Tables 2 and 3 of Aytug: methods beside GBD, or beside another one, over the same instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fsopt.errors import ParameterError
from fsopt.papers.gbd.tables import Measured
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
