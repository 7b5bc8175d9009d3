"""The certificate of generalized Benders: dual feasible cuts, and the gap between the bounds."""

from __future__ import annotations

import numpy as np

from fsopt.answers.certificate import Certificate, Kind
from fsopt.certificates.points import of_bounds
from fsopt.data import Dataset
from fsopt.data.weights import loss_weights
from fsopt.typing import Vector


def certify_gbd(
    data: Dataset, alphas: list[Vector], c: float, upper: float, lower: float, tolerance: float
) -> Certificate:
    """Certify the bounds: every cut is valid because its alpha is dual feasible, and the gap is closed.

    The lower bound is the master's over these cuts, proved by its solver or by the search.
    """
    A = np.array(alphas) if alphas else np.zeros((0, data.n))
    outside = max(float(np.maximum(-A, A - loss_weights(c, data.weights)).max(initial=0.0)), 0.0) / max(1.0, c)
    balance = float(np.abs(A @ data.y).max(initial=0.0)) / max(1.0, c)
    residuals = {"alpha bounds": outside, "alpha balance": balance}
    return of_bounds(Kind.GBD, residuals, upper, lower, tolerance=tolerance, source="master problem")
