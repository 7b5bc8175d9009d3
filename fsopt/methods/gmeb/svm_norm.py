"""Method ``svm-norm`` (Peleg & Meir, section 5): the classifier of the bound without feature scaling."""

from __future__ import annotations

import time
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from fsopt.answers.fits import Fit
from fsopt.answers.results import DriverResult, SolveResult, Status
from fsopt.common.customising import changes_in_force
from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.drivers.run import Run, Steps, multipliers
from fsopt.linear.certificate import certify
from fsopt.linear.interior_point import minimise
from fsopt.linear.penalties import HALF_NORM
from fsopt.methods.assembly import certified, make_fit
from fsopt.methods.large_programs import first_certified, interior_order
from fsopt.methods.preprocessing import Hyperplane, preprocess
from fsopt.methods.spec import MethodSpec
from fsopt.methods.verdict import evidence
from fsopt.models.blocks import number
from fsopt.models.gmeb.svm_norm import build_svm_norm
from fsopt.typing import Matrix, Vector

_Found: TypeAlias = tuple[Vector, float, SolveResult | DriverResult, dict[str, Any]]
"""Hyperplane w, b, the outcome of its solver or driver, and the evidence for the details of the fit."""

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
    started = time.perf_counter()
    c = number("svm-norm", "c", c)
    work, map_ = preprocess(data, scale)
    order = interior_order(work, run)
    (w, b, result, proof), warnings = yield from first_certified(
        [partial(_by_driver if own else _by_model, work, run, c) for own in order], lambda found: found[2]
    )
    flat = float(np.ptp(work.X @ w)) <= FLAT
    if flat:
        warnings = ("w is 0: C is below its threshold, and (18) has no minimiser", *warnings)
    return make_fit(
        data,
        map_,
        Hyperplane(w, b, SPEC.select(w)),
        result,
        started=started,
        warnings=warnings,
        details={**proof, "theorem_c": theorem_c(work.X)},
    )


def theorem_c(X: Matrix, *, delta: float = 0.05) -> float:
    r"""Return the constant C of Theorem 11 of Peleg & Meir at B = 1, with r the largest norm of a sample of X (n, p).

    .. math:: C = \Big(4\sqrt{\textstyle\sum_j v_j} + 2r\sqrt n + 4r\sqrt{2n\ln(2/\delta)}\Big)^{-1}
    """
    n, r = len(X), max(float(np.linalg.norm(X, axis=1).max()), 1e-300)
    roots = 2.0 * r * np.sqrt(n) + 4.0 * r * np.sqrt(2.0 * n * np.log(2.0 / delta))
    return float(1.0 / (4.0 * np.sqrt((X**2).sum() / n) + roots))


def _by_model(work: Dataset, run: Run, c: float) -> _Found:
    """Return the answer of the model; that of the model as it is built is certified by its multipliers in numpy."""
    # In units over many orders the residuals of the cone's arrays are too coarse for the objective value.
    model = build_svm_norm(work, c=c)
    session, result = run.solve(model, "'svm-norm'")
    w, b = values_of(model.w), model.b.value
    if changes_in_force() or result.status is not Status.OPTIMAL:
        return w, b, result, evidence("svm-norm", {"c": c}, result.supported)
    alpha = multipliers(session, result, model.margin)
    proof = certify(work, HALF_NORM, c, w, b, alpha)
    return w, b, certified(result, proof), {"alpha": alpha}


def _by_driver(work: Dataset, run: Run, c: float) -> Steps[_Found]:
    """Return the answer of the interior point."""
    result = yield from minimise.steps(work, HALF_NORM, c=c, run=run)
    return result.point["w"], result.point["b"], result, {"alpha": result.point["alpha"]}


SPEC = MethodSpec(
    "svm-norm",
    fit_svm_norm,
    ("svm-norm",),
    paper="gmeb",
    equation="(9), (19), section 5",
    estimator="NormSVM",
    driver="interior-point",
)
