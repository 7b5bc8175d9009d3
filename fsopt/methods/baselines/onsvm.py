"""Method ``onsvm``: the one-norm support vector machine of the comparisons in Aytug, section 4."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate
from fsopt.answers.fits import Fit
from fsopt.common.arguments import with_keywords_of
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge
from fsopt.data.weights import loss_weights
from fsopt.drivers.run import Run, Steps
from fsopt.methods.baselines.convex_svm import fit_convex_svm, selected_by
from fsopt.methods.exact.hinge import by_multipliers
from fsopt.methods.large_programs import certify_generation, generation_order
from fsopt.methods.selection import THRESHOLD, SelectionRule
from fsopt.methods.spec import MethodSpec, SavedFit, Value
from fsopt.methods.verification import check_program
from fsopt.models.gbd.feature_lists import WeightBounds, weight_bounds
from fsopt.models.gbd.onsvm import build_onsvm
from fsopt.typing import Vector

RULE = SelectionRule(units="scaled", epsilon=THRESHOLD)


@with_keywords_of(weight_bounds, without=("positive", "negative"))
def fit_onsvm(data: Dataset, run: Run, *, c: float = 1.0, scale: str = "standard", **bounds: Any) -> Steps[Fit]:
    r"""Fit the one-norm support vector machine, a linear program whose vertices are sparse.

    .. math:: \min\ \|w\|_1 + C e'\xi \ \text{s.t.}\ y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0,\ l \le w \le u

    Of large data restricted programs of some samples and features are solved (:func:`fsopt.drivers.column_generation`)
    instead of the whole one, with the same objective value and a proof for all samples and features.

    Parameters
    ----------
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    scale : str, default 'standard'
        Preprocessing of the features: ``standard`` (default), ``center`` or ``none``; the selection depends on it.

    Returns
    -------
    Fit
        ``objective`` is that of the program, in preprocessed units.

    Raises
    ------
    ParameterError : c <= 0.

    Notes
    -----
    Aytug, (ONSVM).
    """
    order = generation_order(data, run)
    return fit_convex_svm("onsvm", build_onsvm, data, run, c=c, scale=scale, rule=RULE, order=order, bounds=bounds)


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return (ONSVM) at a hyperplane."""
    value = float(np.abs(w).sum()) + at["c"] * hinge(data.X @ w + b, data.y, data.weights)
    return value, WeightBounds.of("onsvm", data, at).violation(w)


def check(saved: SavedFit) -> Certificate:
    """Certify the linear program again, whole or by the multipliers of column generation."""
    if "alpha" not in saved.fit.details:
        return check_program(saved)
    return certify_generation(
        saved, np.ones(saved.data.n) * loss_weights(float(saved.params["c"]), saved.data.weights), np.ones(saved.data.p)
    )


SPEC = MethodSpec(
    "onsvm",
    fit_onsvm,
    objective,
    check,
    ("onsvm",),
    equation="Aytug, (ONSVM)",
    estimator="ONSVM",
    support=partial(selected_by, RULE),
    weights="samples",
    sparse=True,
    exact=by_multipliers,
)
