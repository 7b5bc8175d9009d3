"""Method ``svm-norm`` (Peleg & Meir, section 5): the classifier of the bound without feature scaling."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.drivers.run import Run, Steps
from fsopt.methods.baselines.machines import RULE, fit_machine, selected_by
from fsopt.methods.preprocessing import preprocess
from fsopt.methods.spec import MethodSpec
from fsopt.typing import Matrix

FLAT = 1e-3
"""Span of the scores up to which w is 0 up to the noise of a solver: that of another w is at least 2."""


def fit_svm_norm(data: Dataset, run: Run, *, c: float = 1.0, scale: str = "center") -> Steps[Fit]:
    r"""Fit the support vector machine with an unsquared norm: GMEB without feature scaling.

    .. math:: \min\ \tfrac12\|w\| + C e'\xi \quad\text{s.t.}\quad y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0

    Divided by :math:`\|w\|` its hyperplane minimises (9), the bound of Theorem 11. It selects nothing.

    Parameters
    ----------
    c : float, default 1.0
        > 0, penalty weight of the hinge loss. Up to a threshold, see :func:`fsopt.models.gmeb.svm_norm.build_svm_norm`,
        w is 0, with a warning.
    scale : str, default 'center'
        Preprocessing of the features: ``center`` (default), ``standard`` or ``none``.

    Returns
    -------
    Fit
        ``objective`` is (19), in preprocessed units. ``details`` has ``theorem_c``, the C that Theorem 11 itself asks
        for (delta = 0.05, B = 1, r the largest norm of a sample); it is usually below the threshold.

    Raises
    ------
    ParameterError : c <= 0.

    Notes
    -----
    Peleg & Meir, (9), (18), (19) and Theorem 20.
    """
    fit = yield from fit_machine("svm-norm", data, run, c, scale=scale)
    warnings = fit.warnings
    if float(np.ptp((data.X - data.X.mean(axis=0)) @ fit.coef)) <= FLAT:
        warnings = ("w is 0: C is below its threshold, and (18) has no minimiser", *warnings)
    constant = theorem_c(preprocess(data, scale)[0].X)
    return replace(fit, warnings=warnings, details={**fit.details, "theorem_c": constant})


def theorem_c(X: Matrix, *, delta: float = 0.05) -> float:
    r"""Return the constant C of Theorem 11 of Peleg & Meir at B = 1, with r the largest norm of a sample of X (n, p).

    .. math:: C = \Big(4\sqrt{\textstyle\sum_j v_j} + 2r\sqrt n + 4r\sqrt{2n\ln(2/\delta)}\Big)^{-1}
    """
    n, r = len(X), max(float(np.linalg.norm(X, axis=1).max()), 1e-300)
    roots = 2.0 * r * np.sqrt(n) + 4.0 * r * np.sqrt(2.0 * n * np.log(2.0 / delta))
    return float(1.0 / (4.0 * np.sqrt((X**2).sum() / n) + roots))


SPEC = MethodSpec(
    "svm-norm",
    fit_svm_norm,
    ("svm-norm",),
    paper="gmeb",
    equation="(9), (19), section 5",
    estimator="NormSVM",
    driver="interior-point",
    support=partial(selected_by, RULE),
)
