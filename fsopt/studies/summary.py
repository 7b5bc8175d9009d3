"""Means of the rows of a study over folds and seeds: one line for each data set, method and parameters."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fsopt.studies.row_checking import WAITING
from fsopt.studies.units import DONE

MEASURES = ("accuracy", "balanced_accuracy", "mcc", "recall", "auc", "n_features", "seconds", "cpu_seconds")
"""Columns of rows that have means."""


@dataclass(frozen=True)
class Spread:
    """Mean, standard deviation (of a sample; 0 of one value) and number of values."""

    mean: float
    deviation: float
    count: int


@dataclass(frozen=True)
class MethodSummary:
    """One data set, method and parameters.

    Attributes
    ----------
    data, method, params : of the rows.
    units, finished, failed : numbers of units; ``failed`` counts time-outs, too.
    measures : name in :data:`MEASURES` -> spread over the units with test samples; None where a unit has no result,
        whose mean would be one over the easier folds, or where no row has the number.
    rows : of the line, in the order of the study.
    """

    data: str
    method: str
    params: Mapping[str, Any]
    units: int
    finished: int
    failed: int
    measures: Mapping[str, Spread | None]
    rows: tuple[Mapping[str, Any], ...]

    @property
    def title(self) -> str:
        """The method with its parameters."""
        shown = ", ".join(f"{k}={json.dumps(v)}" for k, v in self.params.items() if k != "tuned")
        tuned = ", ".join(next(iter(self.params.get("tuned", [{}])), {}))
        parts = [part for part in (shown, f"tuned {tuned}" if tuned else "") if part]
        return f"{self.method} ({'; '.join(parts)})" if parts else self.method


def spread(values: Sequence[float | None]) -> Spread | None:
    """Return the spread of numbers, None of no values or where one of them is unknown."""
    if not values or any(v is None for v in values):
        return None
    numbers = np.array(values, dtype=float)
    return Spread(float(numbers.mean()), float(numbers.std(ddof=1)) if len(numbers) > 1 else 0.0, len(numbers))


def summarised(rows: Iterable[Mapping[str, Any]]) -> list[MethodSummary]:
    """Return a line for each data set, method and parameters, in the order of the rows."""
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        asked = json.dumps([row["params"], row["solver_asked"]], sort_keys=True)
        groups.setdefault((row["data"], row["method"], asked), []).append(row)
    return [_line(group) for group in groups.values()]


def told_apart(lines: Sequence[MethodSummary]) -> list[MethodSummary]:
    """Return lines with those parameters alone in which the lines of one method differ, for short titles."""
    same: dict[str, dict[str, Any]] = {}
    for line in lines:
        params = same.setdefault(line.method, dict(line.params))
        same[line.method] = {k: v for k, v in params.items() if k in line.params and line.params[k] == v}
    return [
        replace(line, params={k: v for k, v in line.params.items() if k not in same[line.method]}) for line in lines
    ]


def _line(rows: Sequence[Mapping[str, Any]]) -> MethodSummary:
    folds = [row for row in rows if row["fold"] is not None] or list(rows)
    complete = all(row["state"] == DONE for row in folds)
    first = rows[0]
    solver = {"solver": first["solver_asked"]} if first["solver_asked"] else {}
    return MethodSummary(
        data=first["data"],
        method=first["method"],
        params={**first["params"], **solver},
        units=len(rows),
        finished=sum(row["state"] == DONE for row in rows),
        failed=sum(row["state"] not in (DONE, WAITING) for row in rows),
        measures={name: spread([row[name] for row in folds]) if complete else None for name in MEASURES},
        rows=tuple(rows),
    )
