"""The certificate of a linear machine by its multipliers, in numpy alone."""

from __future__ import annotations

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.certificates.points import relative_gap
from fsopt.data import Dataset
from fsopt.data.hyperplanes import combination, project_multipliers
from fsopt.data.losses import HINGE
from fsopt.linear.penalties import Penalty
from fsopt.typing import Vector


def certify(
    data: Dataset,
    penalty: Penalty,
    c: float,
    w: Vector,
    b: float,
    alpha: Vector,
    *,
    gram: bool = False,
) -> Certificate:
    r"""Certify a hyperplane as the optimum of a machine of a penalty and the hinge loss, in numpy alone.

    .. math:: \min_{w, b}\ \Omega(w) + \sum_i C g_i\max(0,\ 1 - y_i (w'x_i + b))

    Every :math:`\alpha` within its bounds with :math:`y'\alpha = 0` gives the lower bound
    :math:`t e'\alpha - \Omega^*(tX'Y\alpha)`, with the factor t of the conjugate, and 0 is one.

    Parameters
    ----------
    data : the samples, with their weights g; their Gram matrix where ``gram``, which the penalty has, too: w (n,) is
        then the expansion of the hyperplane in them. Rounding errors of a Gram matrix are about 1e-8 of a length.
    penalty, c : of the machine; C is 1 for a penalty that is a capacity.
    w, b : (p,) and scalar.
    alpha : (n,) multipliers; the nearest feasible ones are taken.

    Returns
    -------
    Certificate
        Kind ``convex``, residuals ``gap`` and those of the constraints of the penalty, such as ``capacity``.
    """
    term = HINGE.term(c, data.y, data.weights)
    kept = project_multipliers(alpha, data.y, term.caps)
    conjugate, factor = penalty.conjugate(kept * data.y if gram else combination(data, kept))
    bound = max(float(np.sum(term.values(factor * kept))) - conjugate, 0.0)
    value = penalty.value(w) + c * HINGE.total(data.X @ w + b, data.y, data.weights)
    residuals = {**penalty.violations(w), "gap": relative_gap(value, bound)}
    return make(Kind.CONVEX, residuals, objective=value, bound=bound, bound_source="dual point")
