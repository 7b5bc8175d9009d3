"""The certificate of a linear machine by its multipliers, in numpy alone, and the best ones that an algorithm has."""

from __future__ import annotations

from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.certificates.points import relative_gap
from fsopt.data import Dataset
from fsopt.data.hyperplanes import HINGE, combination, dual_values, midpoint_intercept, project_multipliers
from fsopt.linear.penalties import Ball, Penalty
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
    bound = max(float(np.sum(dual_values(factor * kept, *term.each(data.n)))) - conjugate, 0.0)
    value = penalty.value(w) + c * HINGE.total(data.X @ w + b, data.y, data.weights)
    residuals = {**penalty.violations(w), "gap": relative_gap(value, bound)}
    return make(Kind.CONVEX, residuals, objective=value, bound=bound, bound_source="dual point")


class Best:
    """The best hyperplane and the best multipliers that an algorithm has found, each on its own, from 0 on."""

    def __init__(self, data: Dataset, penalty: Penalty, c: float) -> None:
        self.data, self.penalty = data, penalty
        self.c, self.b = c, 0.0
        self.w, self.alpha = np.zeros(data.p), np.zeros(data.n)
        self.value, self.bound = np.inf, 0.0
        self.look(self.w, self.alpha)

    def look(self, w: Vector, alpha: Vector) -> tuple[float, float]:
        """Take over weights, with their best intercept, and multipliers where they are better; return value, bound."""
        if isinstance(self.penalty, Ball):
            w = self.penalty.nearest(w)
        b = midpoint_intercept(self.data.X @ w, self.data.y, self.data.weights)
        found = certify(self.data, self.penalty, self.c, w, b, alpha)
        value, bound = found.objective or 0.0, found.bound or 0.0
        if value < self.value:
            self.w, self.b = w, b
            self.value = value
        if bound > self.bound:
            self.alpha, self.bound = alpha, bound
        return value, bound

    @property
    def gap(self) -> float:
        """The relative gap of value and bound."""
        return relative_gap(self.value, self.bound)

    @property
    def certificate(self) -> Certificate:
        """The certificate of both."""
        return certify(self.data, self.penalty, self.c, self.w, self.b, self.alpha)

    @property
    def point(self) -> dict[str, Any]:
        """Both, as they are in a result."""
        return {"w": self.w, "b": self.b, "alpha": self.alpha}
