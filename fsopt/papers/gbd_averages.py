"""The averages of paper 4's Tables 2 and 3: methods beside GBD over the same instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fsopt.errors import ParameterError
from fsopt.papers.gbd import Measured


@dataclass(frozen=True)
class Average:
    """Means of a method over instances, beside GBD's on the same ones.

    Attributes
    ----------
    method : name. ``n`` : number of instances.
    test_error, overlap, alignment, n_features, seconds : means; None where there is no truth. ``exact`` : instances on
        which the true support was found.
    difference : mean of TE(gbd) - TE(method), negative where GBD is better (Table 2, Abs).
    percent : the same in percent of TE(gbd), over the instances where that is not 0 (Table 2, Prcnt);
        None where there are none.
    better, worse : instances on which GBD's test error is lower, higher.
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
    errors, other = np.array([row.test_error for row in rows]), np.array(list(reference.values()))
    less, missed = other - errors, other > 0
    overlaps = [row.overlap for row in rows if row.overlap is not None]
    aligned = [row.alignment for row in rows if row.alignment is not None]
    return Average(
        method, len(rows), float(errors.mean()),
        float(np.mean(overlaps)) if overlaps else None,
        sum(row.overlap == row.p for row in rows) if overlaps else None,
        float(np.mean(aligned)) if aligned else None,
        float(np.mean([row.n_features for row in rows])), float(np.mean([row.seconds for row in rows])),
        float(less.mean()), float(np.mean(100 * less[missed] / other[missed])) if missed.any() else None,
        int(np.sum(less < 0)), int(np.sum(less > 0)),
    )  # fmt: skip
