"""Method ``svm``: the support vector machine, a baseline that selects nothing, linear or with a kernel."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from fsopt.answers.fits import Fit
from fsopt.common.arguments import with_keywords_of
from fsopt.data import Dataset
from fsopt.data.hyperplanes import midpoint_intercept, project_multipliers
from fsopt.data.weights import loss_weights
from fsopt.drivers.run import Run, Steps, multipliers
from fsopt.errors import ParameterError
from fsopt.linear.certificate import certify
from fsopt.linear.penalties import Squares
from fsopt.methods.baselines.machines import fit_machine, selected_by
from fsopt.methods.preprocessing import (
    THRESHOLD,
    Hyperplane,
    SelectionRule,
    centred_factor,
    certified,
    kernel_values,
    make_fit,
    preprocess,
    support_vectors,
)
from fsopt.methods.spec import MethodSpec, SavedFit
from fsopt.models.blocks import number
from fsopt.models.gbd.feature_lists import weight_bounds
from fsopt.models.gbd.svm import build_svm

RULE = SelectionRule(units="scaled", epsilon=THRESHOLD)


@with_keywords_of(weight_bounds, without=("positive", "negative"))
def fit_svm(
    data: Dataset,
    run: Run,
    *,
    c: float = 1.0,
    scale: str = "standard",
    kernel: str | None = None,
    width: float | None = None,
    **bounds: Any,
) -> Fit | Steps[Fit]:
    r"""Fit the support vector machine (C-SVM), the baseline that selects nothing.

    .. math:: \min\ \tfrac12 w'w + C e'\xi \ \text{s.t.}\ y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0,\ l \le w \le u

    Of data of 500,000 entries and more fsopt's own interior point solves the program, without a model, where no solver
    is named (:func:`fsopt.linear.interior_point.minimise`), of sparse data of more than 5 million entries
    first-order steps, :func:`fsopt.linear.first_order.minimise`.

    Parameters
    ----------
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    scale : str, default 'standard'
        Preprocessing of the features: ``standard`` (default), ``center`` or ``none``.
    kernel : str, optional
        ``gaussian``, ``polynomial`` of degree 2, or ``linear``: a classifier on the kernel values of the preprocessed
        samples, whose features are the training samples; None for a hyperplane in the space of the features.
    width : float, optional
        > 0, of the Gaussian kernel, in the units of the preprocessed features; None takes sqrt(p v / 2), with v the
        variance of all entries of the preprocessed samples.

    Returns
    -------
    Fit
        ``objective`` is that of the program, in preprocessed units. With a kernel the support vectors are selected.

    Raises
    ------
    ParameterError : c <= 0, an unknown kernel, or bounds with a kernel.

    Notes
    -----
    Aytug, (1); with a kernel Bi, (4) and section 4.1.
    """
    if kernel is not None:
        if any(bounds.values()):
            raise ParameterError("bounds on weights are of features, and a kernel is named", "leave one of them out")
        return fit_kernel_svm(data, run, kernel, c=c, scale=scale, width=width)
    return fit_machine("svm", data, run, c=c, scale=scale, rule=RULE, bounds=bounds)


def selected(saved: SavedFit) -> tuple[int, ...]:
    """Return the features that the rule selects, with a kernel the support vectors."""
    if saved.fit.kernel is None:
        return selected_by(RULE, saved)
    return support_vectors(np.abs(saved.w))


def fit_kernel_svm(data: Dataset, run: Run, kernel: str, *, c: float, scale: str, width: float | None) -> Fit:
    r"""Fit the C-SVM with a kernel.

    .. math:: \min\ \tfrac12 w'w + C e'\xi \quad\text{s.t.}\quad y_i(w'\Phi(x_i) + b) \ge 1 - \xi_i,\ \xi \ge 0,
        \qquad w = \sum_i \alpha_i y_i \Phi(x_i)

    Parameters
    ----------
    kernel, c, scale, width : as in :func:`fsopt.methods.baselines.svm.fit_svm`.
    """
    started = time.perf_counter()
    c = number("svm", "c", c)
    work, map_ = preprocess(data, scale)
    function, values, warnings = kernel_values(work, kernel, width)
    # The images less their mean: with y'alpha = 0 neither w nor the loss depends on it.
    model = build_svm(centred_factor(values), c=c)
    session, result = run.solve(model, "'svm'")
    found = multipliers(session, result, model.margin)
    alpha = project_multipliers(found, data.y, loss_weights(c, data.weights))
    beta = alpha * data.y
    b = midpoint_intercept(values.X @ beta, data.y, data.weights)
    certificate = certify(values, Squares(values.X), c, beta, b, alpha, gram=True)
    return make_fit(
        values,
        map_,
        Hyperplane(beta, b, support_vectors(alpha)),
        certified(result, certificate),
        started=started,
        warnings=warnings,
        details={"alpha": alpha},
        kernel=function,
    )


SPEC = MethodSpec(
    "svm",
    fit_svm,
    ("svm",),
    equation="Aytug, (1)",
    estimator="SVM",
    driver="interior-point",
    support=selected,
    weights="samples",
    sparse=True,
)
