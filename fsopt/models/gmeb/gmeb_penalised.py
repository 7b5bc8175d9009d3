"""The bound (7) of Peleg & Meir before and after its convexification, and its norm terms alone.

``GmebPenalty`` is the penalty of (10) as a function of the classifier alone, once its scales are minimised out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import add_parameter, hinge_cost, margin_constraint, new_model, squares
from fsopt.models.gmeb.norm import add_moment_bounds, minimum, radius, second_moments
from fsopt.models.spec import Instance, ModelSpec
from fsopt.typing import Vector


def build_gmeb_penalised(data: Dataset, *, c_plus: float = 4.0, c_minus: float = 4.0) -> pyo.ConcreteModel:
    r"""Return the generalization error bound itself, with the scales penalised instead of bounded.

    .. math::

        \min\ & \tfrac1n 1'\xi + \tfrac{C_+\sqrt{n_+}}{n} t_+ + \tfrac{C_-\sqrt{n_-}}{n} t_- \\
        \text{s.t.}\ & w'w \le 1, \qquad u_j = w_j \sigma_j \\
        & y_i(u'x_i + b) \ge 1 - \xi_i, \quad \xi, \sigma \ge 0 \\
        & \textstyle\sum_j v_j^+ \sigma_j^2 \le t_+^2, \quad \sum_j v_j^- \sigma_j^2 \le t_-^2, \quad t_+, t_- \ge 0

    with the second moments :math:`v_j^\pm` of feature j over each class of size :math:`n_\pm`. The paper has
    :math:`\sqrt{\sum_j v_j^{\pm} \sigma_j^2}` in the objective. At sigma = 0, which is optimal for large penalty
    weights, this root has no derivative, and solvers of nonconvex quadratics do not accept it: here t is an upper
    bound on the root by a second-order cone, equal to it at an optimum. A variable for each product keeps the margins
    linear.

    Unlike (11), this problem does not become convex by (14), and it has local optima. A solution is also a solution
    of (11) for :math:`R_\pm = t_\pm^2`; not every solution of (11) is one of this problem.

    Parameters
    ----------
    data : Features centred by their training mean; the builder does not preprocess.
    c_plus, c_minus : :math:`C_+, C_- > 0`, penalty weights of the scales over each class; the bound itself has 4.

    Returns
    -------
    ConcreteModel
        NLP, a nonconvex quadratic program with two cones and n + 3p + 3 variables. Variables ``w sigma u b xi t_plus
        t_minus``, constraints ``unit_norm product margin moment_plus moment_minus``, mutable parameters ``c_plus
        c_minus``. The classifier is sign(u'x + b).
        The start has equal weights and scales of 1, where all constraints have a slope.

    Raises
    ------
    ParameterError : a penalty weight that is not a positive number.

    Notes
    -----
    Peleg & Meir, (10), the minimisation of (7).
    """
    v_plus, v_minus = second_moments(data)
    m = new_product_model("gmeb-penalised", data, 1.0)
    add_parameter(m, "c_plus", c_plus, "C+, penalty weight of t+")
    add_parameter(m, "c_minus", c_minus, "C-, penalty weight of t-")
    m.t_plus = pyo.Var(within=pyo.NonNegativeReals, initialize=np.sqrt(v_plus.sum()), doc="t+, root of v+'sigma^2")
    m.t_minus = pyo.Var(within=pyo.NonNegativeReals, initialize=np.sqrt(v_minus.sum()), doc="t-, root of v-'sigma^2")
    n_plus = int(np.sum(data.y > 0))
    roots = math.sqrt(n_plus), math.sqrt(data.n - n_plus)
    risk = dot(np.full(data.n, 1 / data.n), tuple(m.xi.values()))
    m.objective = pyo.Objective(
        expr=risk + m.c_plus * roots[0] / data.n * m.t_plus + m.c_minus * roots[1] / data.n * m.t_minus,
        doc="(10) 1'xi/n + C+ sqrt(n+)/n t+ + C- sqrt(n-)/n t-",
    )
    add_products(m, data, "(10)")
    m.moment_plus = pyo.Constraint(
        expr=scaled_moment(m, v_plus) <= m.t_plus**2, doc="(10) sum_j v+_j sigma_j^2 <= t+^2"
    )
    m.moment_minus = pyo.Constraint(
        expr=scaled_moment(m, v_minus) <= m.t_minus**2, doc="(10) sum_j v-_j sigma_j^2 <= t-^2"
    )
    return m


def build_gmeb_nonconvex(data: Dataset, *, r_plus: float = 3.0, r_minus: float = 3.0) -> pyo.ConcreteModel:
    r"""Return the GMEB problem before its convexification, with the weights of the classifier as products.

    .. math::

        \min\ & 1'\xi \\
        \text{s.t.}\ & w'w \le 1, \qquad u_j = w_j \sigma_j \\
        & y_i(u'x_i + b) \ge 1 - \xi_i, \quad \xi, \sigma \ge 0 \\
        & \textstyle\sum_j v_j^+ \sigma_j^2 \le R_+, \quad \sum_j v_j^- \sigma_j^2 \le R_-

    with the second moments :math:`v_j^\pm` of feature j over each class. A variable for each product keeps the n dense
    margins linear: a global solver meets p bilinear terms, not np.

    Parameters
    ----------
    data : Features centred by their training mean; the builder does not preprocess.
    r_plus, r_minus : :math:`R_+, R_- > 0`, without unit, as sigma has the inverse units of the features; infinity omits
        the constraint.

    Returns
    -------
    ConcreteModel
        NLP, a nonconvex quadratic program with n + 3p + 1 variables. Variables ``w sigma u b xi``, constraints
        ``unit_norm product margin moment_plus moment_minus``, mutable parameters ``r_plus r_minus``. The classifier is
        sign(u'x + b). It has the optimum of the convex ``gmeb-primal``, whose w is this u and whose sigma is this sigma
        squared (Theorem 15); a stationary point of a local solver may miss it. The start has equal weights and the
        scales of Lemma 18: w = sigma = 0 is stationary, because all products have slope 0 there, but not optimal.

    Raises
    ------
    ParameterError : a radius that is not a positive number.

    Notes
    -----
    Peleg & Meir, (11).
    """
    r_plus, r_minus = radius("gmeb-nonconvex", "r_plus", r_plus), radius("gmeb-nonconvex", "r_minus", r_minus)
    v_plus, v_minus = second_moments(data)
    # Lemma 18: half the largest common scale is strictly inside both radii.
    sums = ((r_plus, float(v_plus.sum())), (r_minus, float(v_minus.sum())))
    largest = min((r / moments for r, moments in sums if moments > 0), default=np.inf)
    m = new_product_model("gmeb-nonconvex", data, np.sqrt(largest / 2) if np.isfinite(largest) else 1.0)
    m.objective = pyo.Objective(expr=hinge_cost(m, data), doc="(11) 1'xi")
    add_products(m, data, "(11)")
    moment = partial(scaled_moment, m)
    add_moment_bounds(m, data, r_plus, r_minus, moment=moment, doc="(11) sum_j v+_j sigma_j^2 <= R+")
    return m


def new_product_model(name: str, data: Dataset, scale: float) -> pyo.ConcreteModel:
    """Return a model with w, sigma >= 0, u for the products w_j sigma_j (J), b and xi >= 0 (I), at equal weights."""
    m = new_model(name, data)
    start = 1 / np.sqrt(data.p)
    m.w = pyo.Var(m.J, initialize=start, doc="w, weights of the scaled features")
    m.sigma = pyo.Var(m.J, within=pyo.NonNegativeReals, initialize=scale, doc="sigma, feature scales")
    m.u = pyo.Var(m.J, initialize=start * scale, doc="u_j = w_j sigma_j, weights of the hyperplane")
    m.b = pyo.Var(initialize=0.0, doc="b, intercept")
    m.xi = pyo.Var(m.I, within=pyo.NonNegativeReals, initialize=1.0, doc="xi, hinge slacks")
    return m


def add_products(m: pyo.ConcreteModel, data: Dataset, equation: str) -> None:
    """Add the constraints ``unit_norm``, ``product`` (J) and ``margin`` (I), the last with the weights u."""

    def product(m: pyo.ConcreteModel, j: int) -> Any:
        return m.u[j] - m.w[j] * m.sigma[j] == 0

    m.unit_norm = pyo.Constraint(expr=squares(m.w) <= 1, doc=f"{equation} w'w <= 1")
    m.product = pyo.Constraint(m.J, rule=product, doc=f"{equation} u_j = w_j sigma_j")
    m.margin = margin_constraint(m, data, m.u, f"{equation} y_i (u'x_i + b) >= 1 - xi_i")


def scaled_moment(m: pyo.ConcreteModel, v: Vector) -> Any:
    """Return the expression sum_j v_j sigma_j^2 for second moments v (p,)."""
    return pyo.quicksum(float(v[j]) * m.sigma[j] ** 2 for j in m.J)


@dataclass(frozen=True)
class GmebPenalty:
    r"""The smallest penalty of (10) over the scales, as a function of the weights :math:`\tilde w_j = w_j\sigma_j`.

    .. math::

        P(\tilde w) = \min_{0 \le \rho \le 1} \sum_j |\tilde w_j| u_j(\rho), \qquad
        u_j(\rho)^2 = \frac{\alpha_j}{\rho} + \frac{\beta_j}{1-\rho}, \qquad
        \alpha_j = \frac{C_+^2 n_+}{n^2} v_j^+, \quad \beta_j = \frac{C_-^2 n_-}{n^2} v_j^-

    by the Cauchy-Schwarz inequality, used twice. Each u_j is convex in rho, but P is not convex in the weights. At the
    minimum rho is the share of the first norm term of (10) in the penalty.

    Attributes
    ----------
    alpha, beta : (p,) coefficients of :math:`\sigma_j^2` in the squares of the two norm terms.
    """

    alpha: Vector
    beta: Vector

    @classmethod
    def of(cls, data: Dataset, c_plus: float, c_minus: float) -> GmebPenalty:
        """Return the penalty of a data set with the penalty weights C+ and C-."""
        v_plus, v_minus = second_moments(data)
        positives = int(np.sum(data.y > 0))
        return cls(
            (c_plus / data.n) ** 2 * positives * v_plus, (c_minus / data.n) ** 2 * (data.n - positives) * v_minus
        )

    def weights(self, share: float) -> Vector:
        """Return u (p,) at a share rho in [0, 1]; an entry is infinite at an end that excludes its feature."""
        u: Vector = np.sqrt(_quotient(self.alpha, share) + _quotient(self.beta, 1.0 - share))
        return u

    def slopes(self, share: float) -> Vector:
        """Return the derivative u' (p,) at a share rho in (0, 1)."""
        return _quotient(self.beta / (1.0 - share) ** 2 - self.alpha / share**2, 2.0 * self.weights(share))

    def at(self, w: Vector) -> tuple[float, float]:
        """Return P(w) and the share rho that attains it."""
        used = np.flatnonzero(w)
        if not len(used):
            return 0.0, 0.5
        size, part = np.abs(w[used]), GmebPenalty(self.alpha[used], self.beta[used])

        # u_j is smallest at sqrt(alpha_j) / (sqrt(alpha_j) + sqrt(beta_j)): the minimiser of the convex sum lies
        # between the smallest and the largest of these shares.
        minimisers = _quotient(np.sqrt(part.alpha), np.sqrt(part.alpha) + np.sqrt(part.beta))
        ends = float(minimisers.min()), float(minimisers.max())
        return minimum(lambda share: float(size @ part.weights(share)), ends)

    def scales(self, w: Vector) -> Vector:
        """Return the sigma (p,) of (10) that is best for the weights w; the w of (10) is then ``w / sigma``."""
        value, share = self.at(w)
        sigma: Vector = np.sqrt(_quotient(value * np.abs(w), self.weights(share)))
        return sigma


def _quotient(numerator: Vector, denominator: Vector | float) -> Vector:
    """Return the quotient (p,), 0 wherever the numerator is 0."""
    with np.errstate(divide="ignore"):
        quotient: Vector = np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=numerator != 0)
    return quotient


SPECS = (
    ModelSpec(
        "gmeb-penalised",
        build_gmeb_penalised,
        "NLP",
        equation="(7)/(10)",
        instance=Instance(n=12, p=2, params={"c_plus": 0.25, "c_minus": 0.25}),
        trial=Instance(n=12, p=2, gap=0.7, seed=7, params={"c_plus": 0.25, "c_minus": 0.25}),
    ),
    ModelSpec(
        "gmeb-nonconvex",
        build_gmeb_nonconvex,
        "NLP",
        equation="(11)",
        instance=Instance(n=12, p=2, params={"r_plus": 0.5, "r_minus": 0.5}),
        trial=Instance(n=12, p=2, gap=0.7, seed=7),
        weights="samples",
    ),
)
