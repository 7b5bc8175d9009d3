"""Peleg & Meir, section 6.2: GMEB by each reading of what decides among equal errors, and of what is counted."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from fsopt.common.teams import side_by_side
from fsopt.data import Dataset
from fsopt.data.hyperplanes import error_rate
from fsopt.methods.selection import RULES, UNITS, SelectionRule
from fsopt.papers.gmeb.protocol import candidates
from fsopt.papers.reproduction import Settings
from fsopt.studies.tuning import TIE, cross_validate, fit_candidate

CHOICES: Mapping[str, tuple[Any, ...]] = {
    "radii": ("smallest", "largest", "fewest features", "1, 1"),
    "rule": ("absolute", "relative", "either"),
    "units": UNITS,
}
"""The choices of Table 3 that the paper leaves open for GMEB, and their values, the nearest to its print first.

Of radii with the same smallest error in cross-validation the smallest R+ and then R-, the largest, or those of the
fewest features, the smallest of these; ``1, 1`` is no cross-validation. The rule and the units of
:class:`fsopt.methods.selection.SelectionRule` decide which features are counted."""


def tied_fits(train: Dataset, test: Dataset, points: int, folds: int, settings: Settings) -> dict[str, Any]:
    """Return what every choice needs: the candidates of smallest error, and the scores of these and of the first.

    ``tied`` has the places of the former among all candidates; ``fits`` has, by its place as text, the error rate of
    each fit on the test samples and its number of features by each rule and unit.
    """
    options = candidates("gmeb", train.p, points=points)
    means = cross_validate("gmeb", train, options, folds=folds, seed=settings.seed, jobs=settings.jobs).mean(axis=1)
    tied = np.flatnonzero(means <= means.min() + TIE).tolist()
    deviation = train.X.std(axis=0)

    def scores(place: int) -> tuple[float, dict[str, int]]:
        found = fit_candidate("gmeb", train, options[place])
        counted = {_key(*how): len(SelectionRule(*how).select(found.coef, deviation)) for how in product(RULES, UNITS)}
        return error_rate(found.decision_function(test.X), test.y), counted

    places = sorted({0, *tied})
    fits = dict(zip(map(str, places), side_by_side(scores, zip(places), settings.jobs), strict=True))
    return {"tied": tied, "fits": fits}


def chosen_scores(found: Mapping[str, Any], chosen: Mapping[str, Any]) -> tuple[float, int]:
    """Return error rate and number of selected features by a value of each choice."""
    key, tied = _key(chosen["rule"], chosen["units"]), found["tied"]

    def count(place: int) -> int:
        return int(found["fits"][str(place)][1][key])

    places = {"smallest": tied[0], "largest": tied[-1], "fewest features": min(tied, key=count), "1, 1": 0}
    place = places[chosen["radii"]]
    return float(found["fits"][str(place)][0]), count(place)


def _key(rule: str, units: str) -> str:
    """Return the name of a way to count features."""
    return f"{rule} {units}"
