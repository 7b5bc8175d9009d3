"""Certificates of support vector machines by their multipliers, in numpy alone."""

from __future__ import annotations

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.certificates.points import relative_gap
from fsopt.data import Dataset
from fsopt.data.hyperplanes import combination, hinge, kernel_svm_value, project_multipliers, svm_bound, svm_value
from fsopt.data.weights import loss_weights
from fsopt.typing import Vector


def certify_svm(data: Dataset, c: float, w: Vector, b: float, alpha: Vector, *, gram: bool = False) -> Certificate:
    r"""Certify a hyperplane as the optimum of the support vector machine (1) of Aytug, in numpy alone.

    Every :math:`\alpha \in [0, C]^n` with :math:`y'\alpha = 0` gives the lower bound
    :math:`e'\alpha - \tfrac12\|X'Y\alpha\|^2`.

    Parameters
    ----------
    data : the samples; their Gram matrix where ``gram``, and w (n,) is then the expansion of the hyperplane in them.
    c : penalty weight of the hinge loss, times the weights of the samples where they have some: C_i for C.
    alpha : (n,) multipliers; the nearest feasible ones are taken.
    """
    kept = project_multipliers(alpha, data.y, loss_weights(c, data.weights))
    if gram:
        turned = kept * data.y
        value, bound = kernel_svm_value(data, w, b, c), float(kept.sum() - 0.5 * turned @ data.X @ turned)
    else:
        value, bound = svm_value(data, w, b, c), svm_bound(data, kept)
    gap = {"gap": relative_gap(value, bound)}
    return make(Kind.CONVEX, gap, objective=value, bound=bound, bound_source="dual point")


def certify_svm_norm(data: Dataset, c: float, w: Vector, b: float, alpha: Vector) -> Certificate:
    r"""Certify a hyperplane as the optimum of (19) of Peleg & Meir, the unsquared norm, in numpy alone.

    Every :math:`\alpha \in [0, C]^n` with :math:`y'\alpha = 0` and :math:`\|X'Y\alpha\| \le \tfrac12` gives the lower
    bound :math:`e'\alpha`. Multipliers that are too long are divided by twice that norm.

    Parameters
    ----------
    data, c : the samples, and the penalty weight of the hinge loss.
    alpha : (n,) multipliers; the nearest feasible ones are taken.
    """
    kept = project_multipliers(alpha, data.y, loss_weights(c, data.weights))
    length = float(np.linalg.norm(combination(data, kept)))
    bound = float(kept.sum()) * min(1.0, 0.5 / max(length, 1e-300))
    value = 0.5 * float(np.linalg.norm(w)) + c * hinge(data.X @ w + b, data.y, data.weights)
    gap = {"gap": relative_gap(value, bound)}
    return make(Kind.CONVEX, gap, objective=value, bound=bound, bound_source="dual point")


def certify_rsvm(data: Dataset, w_cap: float, w: Vector, b: float, alpha: Vector, *, gram: bool = False) -> Certificate:
    r"""Certify a hyperplane as the optimum of (13), in numpy alone.

    Every :math:`\alpha \in [0, 1]^n` with :math:`y'\alpha = 0` gives the lower bound
    :math:`e'\alpha - \sqrt W\,\|X'Y\alpha\|` on the hinge loss. A Gram matrix K gives the norm as
    :math:`(\alpha'YKY\alpha)^{1/2}`, whose rounding errors are about 1e-8 where it is 0: from W = 1e4, in
    units of 1 / K, they can keep the gap above 1e-6.

    Parameters
    ----------
    data : the samples; their Gram matrix where ``gram``, and w (n,) is then the expansion of the hyperplane in them.
    w_cap : W > 0.
    alpha : (n,) multipliers; the nearest feasible ones are taken.

    Returns
    -------
    Certificate
        Kind ``convex``, residuals ``capacity`` (excess of w'w over W, relative to W) and ``gap``.
    """
    scores = data.X @ w
    kept = project_multipliers(alpha, data.y, loss_weights(1.0, data.weights))
    turned = kept * data.y
    square = float(w @ scores) if gram else float(w @ w)
    length = float(turned @ data.X @ turned) if gram else float((combination(data, kept) ** 2).sum())
    bound = max(float(turned @ data.y) - float(np.sqrt(w_cap * max(length, 0.0))), 0.0)
    loss = hinge(scores + b, data.y, data.weights)
    residuals = {"capacity": max(square / w_cap - 1.0, 0.0), "gap": relative_gap(loss, bound)}
    return make(Kind.CONVEX, residuals, objective=loss, bound=bound, bound_source="dual point")
