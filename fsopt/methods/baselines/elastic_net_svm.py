"""Method ``elastic-net-svm``: the doubly regularised support vector machine of Wang, Zhu & Zou."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate
from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.data.hyperplanes import svm_value
from fsopt.data.weights import loss_weights
from fsopt.drivers.run import Run, Steps
from fsopt.methods.baselines.convex_svm import fit_convex_svm, selected_by
from fsopt.methods.large_programs import certify_generation, interior_order
from fsopt.methods.mop.rsvm_training import to_all_digits
from fsopt.methods.selection import SelectionRule
from fsopt.methods.spec import MethodSpec, SavedFit, Value
from fsopt.methods.verification import check_multipliers
from fsopt.models.blocks import number
from fsopt.models.own.elastic_net_svm import build_elastic_net_svm
from fsopt.svm.certificate import certify_svm
from fsopt.typing import Vector

# An interior point of the quadratic program leaves about 1e-7 of the largest weight in place of zeros.
THRESHOLD = 1e-4
RULE = SelectionRule(units="scaled", epsilon=THRESHOLD)


def fit_elastic_net_svm(
    data: Dataset, run: Run, *, c: float = 1.0, l1_ratio: float = 0.5, scale: str = "standard"
) -> Steps[Fit]:
    r"""Fit the support vector machine with the elastic net as penalty: few features, correlated ones together.

    .. math:: \min\ \rho \|w\|_1 + \tfrac{1 - \rho}{2} w'w + C e'\xi
        \quad\text{s.t.}\quad y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0

    Parameters
    ----------
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    l1_ratio : float, default 0.5
        In [0, 1], the share rho of the 1-norm in the penalty: 1 is ``onsvm``, 0 is ``svm``.
    scale : str, default 'standard'
        Preprocessing of the features: ``standard`` (default), ``center`` or ``none``; the selection depends on it.

    Returns
    -------
    Fit
        ``objective`` is that of the program, in preprocessed units. A model is solved to a tolerance of 1e-10 where no
        solver or option is named. Data of 500,000 entries and more, sparse ones of more than 5 million, have no model:
        they are for :func:`fsopt.svm.augmented_lagrangian.svm_augmented_lagrangian`.

    Raises
    ------
    ParameterError : c <= 0, or l1_ratio outside [0, 1].

    Notes
    -----
    Wang, Zhu & Zou, *The doubly regularized support vector machine*, Statistica Sinica 16 (2006). Aytug cites the
    elastic net among the convex rivals in section 2.
    """
    name, params = "elastic-net-svm", {"l1_ratio": number("elastic-net-svm", "l1_ratio", l1_ratio)}
    # The objective is flat: at the usual 1e-8 the scores have six digits, and repeated samples are told from weights.
    order = interior_order(None, data, run)
    return fit_convex_svm(
        name, build_elastic_net_svm, data, to_all_digits(run), c=c, scale=scale, rule=RULE, order=order, params=params
    )


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return the program's value at a hyperplane."""
    return svm_value(data, w, b, at["c"], at["l1_ratio"]), 0.0


def check(saved: SavedFit) -> Certificate:
    """Certify a saved fit again, by the point of its program or by the multipliers of the augmented Lagrangian.

    Raises
    ------
    FileError : the saved point or multipliers are damaged.
    """
    data, rho = saved.data, float(saved.params["l1_ratio"])
    c = float(saved.params["c"])
    if rho == 1.0 and "alpha" in saved.fit.details:
        return certify_generation(saved, np.ones(data.n) * loss_weights(c, data.weights), np.ones(data.p))
    return check_multipliers(saved, lambda alpha: certify_svm(data, c, saved.w, saved.b, alpha, l1_ratio=rho))


SPEC = MethodSpec(
    "elastic-net-svm",
    fit_elastic_net_svm,
    objective,
    check,
    ("elastic-net-svm",),
    equation="Wang, Zhu & Zou",
    estimator="ElasticNetSVM",
    support=partial(selected_by, RULE),
    weights="samples",
    sparse=True,
    threshold=THRESHOLD,
)
