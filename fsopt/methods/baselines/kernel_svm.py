"""The C-SVM on kernel values: the program ``svm`` on a factor of the centred Gram matrix, its proof by multipliers."""

from __future__ import annotations

import time

from fsopt.algorithms.interior_point.certificate import certify_svm
from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.data.hyperplanes import midpoint_intercept, project_multipliers
from fsopt.data.weights import loss_weights
from fsopt.drivers.run import Run, multipliers
from fsopt.methods.assembly import certified, make_fit
from fsopt.methods.kernel_values import centred_factor, kernel_values
from fsopt.methods.preprocessing import Hyperplane, preprocess
from fsopt.methods.selection import support_vectors
from fsopt.models.blocks import number
from fsopt.models.gbd.svm import build_svm


def fit_kernel_svm(
    data: Dataset, run: Run, kernel: str, *, c: float, scale: str, width: float | None, degree: int
) -> Fit:
    r"""Fit the C-SVM with a kernel.

    .. math:: \min\ \tfrac12 w'w + C e'\xi \quad\text{s.t.}\quad y_i(w'\Phi(x_i) + b) \ge 1 - \xi_i,\ \xi \ge 0,
        \qquad w = \sum_i \alpha_i y_i \Phi(x_i)

    Parameters
    ----------
    kernel, c, scale, width, degree : as in :func:`fsopt.methods.baselines.svm.fit_svm`.
    """
    started = time.perf_counter()
    c = number("svm", "c", c)
    work, map_ = preprocess(data, scale)
    function, values, warnings = kernel_values(work, kernel, width, degree)
    # The images less their mean: with y'alpha = 0 neither w nor the loss depends on it.
    model = build_svm(centred_factor(values), c=c)
    session, result = run.solve(model, "'svm'")
    found = multipliers(session, result, model.margin)
    alpha = project_multipliers(found, data.y, loss_weights(c, data.weights))
    beta = alpha * data.y
    b = midpoint_intercept(values.X @ beta, data.y, data.weights)
    certificate = certify_svm(values, c, beta, b, alpha, gram=True)
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
