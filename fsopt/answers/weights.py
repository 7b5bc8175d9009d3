"""The weights of a fit as tables list them: with the intercept they are its classifier on raw samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fsopt.typing import Mask, Vector

ZERO = 1e-6
"""Share of the largest standardised weight up to which one that is not selected is a rounded 0 of a solver."""
DIGITS = 6
"""Significant digits of printed weights; there are more where the terms of a score cancel."""
OF_UNIT_ROWS = (
    "score = sum of weight * (x - shift) / norm + intercept, norm = root of the sum of ((x - shift) / scale)^2, "
    "both over all features"
)
"""The classifier of samples that are divided by their norm."""


class Weight(NamedTuple):
    """A row of a table of weights, of a feature or of a pattern.

    Attributes
    ----------
    name : of the feature.
    weight, standardised : for one unit, and for one standard deviation of the feature.
    selected : false for a feature that the rule of selection leaves out although the score depends on it.
    shift, scale : of the preprocessing.
    """

    name: str
    weight: float
    standardised: float
    selected: bool
    shift: float
    scale: float


def weights_of(fit: Any) -> list[Weight]:
    """Return all weights that make up the score of a :class:`fsopt.Fit`, in the order of the features.

    Where samples are divided by their norm, these are the weights of all features, as the norm depends on all.
    """
    standardised, listed = _standardised(fit), _listed(fit)
    names = _names(fit) | dict(zip(fit.support, fit.features, strict=True))
    map_, chosen = fit.preprocessing, set(fit.support)
    shift, scale = (map_.shift, map_.scale) if fit.kernel is None else (0.0 * listed, 1.0 * listed)
    columns = (fit.coef.tolist(), standardised.tolist(), [j in chosen for j in range(len(listed))])
    rows = list(zip(*columns, shift.tolist(), scale.tolist(), strict=True))
    return [Weight(names[j], *rows[j]) for j in np.flatnonzero(listed).tolist()]


def by_size(rows: list[Weight]) -> list[Weight]:
    """Return weights in the order of the standardised size, the largest first."""
    return sorted(rows, key=lambda row: -abs(row.standardised))


def weight_texts(fit: Any, *, standardised: bool) -> tuple[list[list[str]], str]:
    """Return the texts of a table of :func:`weights_of`, its heads first, and the intercept as a text.

    With the column ``standardised`` the rows are in the order of its size, else in that of the features.

    The column ``selected`` is there where a listed feature is not selected, ``shift`` and ``scale`` where the score
    depends on them. A sum of the printed terms has an error of about 1e-3 of the largest standardised weight at most.
    """
    rows, digits = weights_of(fit), _digits(fit)
    heads = {"name": "feature", "weight": "weight"} if fit.kernel is None else {"name": "pattern", "weight": "weight"}
    if standardised:
        rows, heads["standardised"] = by_size(rows), "standardised"
    elif fit.kernel is None:
        heads["weight"] = "weight (raw units)"
    if not all(row.selected for row in rows):
        heads["selected"] = "selected"
    if _of_unit_rows(fit):
        heads |= {"shift": "shift", "scale": "scale"}
    number = f"{{:.{digits}g}}".format
    form: dict[str, Callable[[Any], str]] = {
        "name": str,
        "selected": lambda value: "yes" if value else "no",
        "standardised": "{:.5g}".format,
    }
    cells = [[form.get(name, number)(getattr(row, name)) for name in heads] for row in rows]
    return [[*heads.values()], *cells], number(_intercept(fit))


def _listed(fit: Any) -> Mask:
    """Return which weights (p,) are more than rounded zeros, or selected."""
    standardised, weights = np.abs(_standardised(fit)), np.abs(fit.coef)
    counts = (standardised > 0.0) & (standardised > ZERO * standardised.max(initial=0.0))
    constant = (standardised == 0.0) & (weights > ZERO * weights.max(initial=0.0))
    listed: Mask = counts | constant | _of_unit_rows(fit)
    listed[list(fit.support)] = True
    return listed


def _intercept(fit: Any) -> float:
    """Return the intercept beside the listed weights: far from 0 the mean times a rounded zero counts, too."""
    if fit.kernel is not None or fit.preprocessing.unit_rows:
        return float(fit.intercept)
    left_out = ~_listed(fit)
    return float(fit.intercept + fit.coef[left_out] @ fit.preprocessing.shift[left_out])


def _of_unit_rows(fit: Any) -> bool:
    return fit.kernel is None and fit.preprocessing.unit_rows


def _standardised(fit: Any) -> Vector:
    """Return weight times standard deviation (p,); the weights themselves where no deviations are known."""
    known = fit.trained.deviation if fit.trained is not None and fit.kernel is None else ()
    standardised: Vector = fit.coef * (np.asarray(known) if len(known) == len(fit.coef) else 1.0)
    return standardised


def _names(fit: Any) -> dict[int, str]:
    known = () if fit.kernel is not None or fit.trained is None else fit.trained.features
    stem = "x" if fit.kernel is None else "row "
    return dict(enumerate(known or [f"{stem}{j}" for j in range(1, len(fit.coef) + 1)]))


def _digits(fit: Any) -> int:
    """Return the significant digits with which the error of a printed score is small beside its largest weight."""
    size = float(np.abs(_standardised(fit)).max(initial=0.0))
    terms = [abs(fit.intercept)]
    if fit.kernel is None:
        terms += np.abs(fit.coef * fit.preprocessing.shift).tolist()
    lost = max(terms) / size if size > 0 else 1.0
    return min(17, max(DIGITS, math.ceil(4 + math.log10(lost)))) if 0 < lost < math.inf else DIGITS
