r"""The concave approximation of the step function, Mangasarian, (19), and its slopes.

.. math:: t(x) = 1 - e^{-\alpha x}, \qquad t'(x) = \alpha e^{-\alpha x}, \qquad x \ge 0
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.typing import Vector


def approximate_count(alpha: float, *variables: pyo.Var) -> Any:
    """Return the expression sum_x 1 - exp(-alpha x) over the elements x of indexed variables."""
    return pyo.quicksum(1 - pyo.exp(-alpha * x) for variable in variables for x in variable.values())


def step_costs(alpha: float, at: Vector) -> Vector:
    """Return alpha exp(-alpha x) (k,) at x (k,): the slopes, which are the costs of the linear program of one step."""
    costs: Vector = alpha * np.exp(-alpha * at)
    return costs


def iterate_of_costs(alpha: float, costs: Vector) -> Vector:
    """Return the x >= 0 (k,) at which :func:`step_costs` are the costs (k,), of (0, alpha]: -log(cost / alpha) / alpha.

    Costs of 0, of which no x has any, count as the smallest positive number.
    """
    smallest = np.finfo(float).tiny
    x: Vector = np.maximum(-np.log(np.maximum(costs / alpha, smallest)) / alpha, 0.0)
    return x


def sigmoid(alpha: float, at: Vector) -> Vector:
    """Return 1 / (1 + exp(-alpha x)) at x (k,), the approximation (18) of the step function.

    It is neither convex nor concave, the reason for which the paper takes (19) on nonnegative variables instead; no
    model of this package uses it.
    """
    from scipy.special import expit

    values: Vector = expit(alpha * np.asarray(at, dtype=float))
    return values
