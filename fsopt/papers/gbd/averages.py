"""The means in Tables 2 and 3 of Aytug: methods beside GBD over the same instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fsopt.errors import ParameterError
from fsopt.papers.gbd.tables import Measured
from fsopt.typing import Vector


@dataclass(frozen=True)
class Average:
    """Means of a method over instances, beside those of GBD over the same instances.

    Attributes
    ----------
    method : registry name.
    n : number of instances.
    test_error, overlap, alignment, n_features, seconds : means; overlap and alignment are None where the true support
        is unknown.
    exact : number of instances on which the selected support is the true one; None where the latter is unknown.
    difference : mean of TE(gbd) - TE(method), negative where GBD is better (Table 2, Abs).
    percent : the same in percent of TE(gbd), over the instances with TE(gbd) > 0 (Table 2, Prcnt); None where there
        are none.
    better, worse : number of instances on which the test error of GBD is lower, higher.
    """

    method: str
    n: int
    test_error: float
    overlap: float | None
    exact: int | None
    alignment: float | None
    n_features: float
    seconds: float
    difference: float
    percent: float | None
    better: int
    worse: int


def averages(rows: Sequence[Measured]) -> list[Average]:
    """Return the means of each method, in the order in which methods occur.

    Raises
    ------
    ParameterError : a method was not measured on the same instances as GBD.
    """
    reference = {row.instance: row.test_error for row in rows if row.method == "gbd"}
    names = [row.method for row in rows]
    return [_average(name, [r for r in rows if r.method == name], reference) for name in dict.fromkeys(names)]


def _average(method: str, rows: Sequence[Measured], reference: Mapping[str, float]) -> Average:
    if [row.instance for row in rows] != list(reference):
        raise ParameterError(f"'{method}' and 'gbd' were measured on other instances", "measure both on the same ones")
    errors = np.array([row.test_error for row in rows])
    errors_gbd = np.array(list(reference.values()))
    less, missed = errors_gbd - errors, errors_gbd > 0
    overlaps = [row.overlap for row in rows if row.overlap is not None]
    return Average(
        method=method,
        n=len(rows),
        test_error=float(errors.mean()),
        overlap=_mean(overlaps),
        exact=sum(row.overlap == row.p for row in rows) if overlaps else None,
        alignment=_mean([row.alignment for row in rows if row.alignment is not None]),
        n_features=float(np.mean([row.n_features for row in rows])),
        seconds=float(np.mean([row.seconds for row in rows])),
        difference=float(less.mean()),
        percent=_mean(100 * less[missed] / errors_gbd[missed]),
        better=int(np.sum(less < 0)),
        worse=int(np.sum(less > 0)),
    )


def _mean(values: Sequence[float] | Vector) -> float | None:
    """Return the mean, None of no values."""
    return float(np.mean(values)) if len(values) else None
