"""Residuals of what a saved rigorous support vector machine states beside its hyperplane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fsopt.data import Dataset
from fsopt.data.hyperplanes import best_intercepts, project_multipliers
from fsopt.data.weights import loss_weights
from fsopt.methods.mop.rsvm_training import INACTIVE
from fsopt.methods.selection import support_vectors
from fsopt.methods.verification import finite_vector
from fsopt.typing import Vector


def stated_residuals(
    data: Dataset, w: Vector, alpha: Vector, details: Mapping[str, Any], *, gram: bool = False
) -> dict[str, float]:
    """Return the relative differences of the stated numbers from those of a hyperplane and its multipliers.

    Parameters
    ----------
    data : the samples; their Gram matrix where ``gram``, and w (n,) is then the expansion of the hyperplane in them.
    w : (p,) or (n,) weights.
    alpha : (n,) multipliers.
    details : with ``w_cap``, ``gamma``, ``capacity``, ``n_support_vectors`` and ``b_interval``.

    Raises
    ------
    KeyError, TypeError, ValueError : the details are damaged.
    """
    turned = project_multipliers(alpha, data.y, loss_weights(1.0, data.weights)) * data.y
    square = float(turned @ data.X @ turned) if gram else float(((data.X.T @ turned) ** 2).sum())
    gamma, stated = float(np.sqrt(max(square, 0.0) / float(details["w_cap"]))), float(details["gamma"])
    # gamma is set to 0 where the capacity constraint is inactive, and no larger one may be.
    off = max(gamma - INACTIVE * data.n, 0.0) if stated == 0 else abs(stated - gamma) / max(data.n, gamma)
    scores = data.X @ w
    capacity = float(w @ scores) if gram else float(w @ w)
    vectors = support_vectors(finite_vector(details["shortest_alpha" if stated == 0 else "alpha"], data.n))
    ends = np.abs(finite_vector(details["b_interval"], 2) - best_intercepts(scores, data.y, data.weights))
    return {
        "capacity": abs(capacity - float(details["capacity"])) / max(capacity, 1e-300),
        "gamma": off,
        "n_support_vectors": float(details["n_support_vectors"] != len(vectors)),
        "b_interval": float(ends.max()) / max(1.0, float(np.abs(scores).max())),
    }


def shortest_residuals(gram: Dataset, w: Vector, b: float, alpha: Vector) -> dict[str, float]:
    r"""Return the residuals of the first-order conditions of (12), the shortest hyperplane of its loss.

    The hyperplane is :math:`w = \sum_i \alpha_i y_i z_i` with :math:`y'\alpha = 0`, :math:`0 \le \alpha \le \nu`.
    Samples beyond the margin have :math:`\alpha_i = 0`, those with a loss :math:`\alpha_i = \nu`.

    Parameters
    ----------
    gram : Gram matrix (n, n) of the samples.
    w : (n,) the expansion of the hyperplane in the samples.
    alpha : (n,) multipliers of the margins.

    Returns
    -------
    dict
        ``expansion``, the squared distance of w from that sum; ``complementarity``, the products of multipliers and
        distances; both relative to w'w. ``multipliers``, the violation of their sign and sum, relative to the largest.
    """
    square = max(float(w @ gram.X @ w), 1e-300)
    rest = w - alpha * gram.y
    margins = gram.y * (gram.X @ w + b) - 1.0
    largest = max(float(alpha.max()), 1e-300)
    excess = float(np.maximum(alpha, 0.0) @ np.maximum(margins, 0.0))
    within = float((largest - alpha) @ np.maximum(-margins, 0.0))
    wrong = max(float(-alpha.min()), abs(float(gram.y @ alpha))) / largest
    return {
        "expansion": max(float(rest @ gram.X @ rest), 0.0) / square,
        "complementarity": (excess + within) / square,
        "multipliers": max(wrong, 0.0),
    }
