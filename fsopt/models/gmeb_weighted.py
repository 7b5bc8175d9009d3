"""GMEB with prices (10): its penalty as a function of the plane, and the weighted one-norm machines that bound it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from scipy.optimize import minimize_scalar

from fsopt.data import Dataset
from fsopt.models.blocks import Vector, add_classifier, add_margins, new_model, number
from fsopt.models.gmeb import second_moments


@dataclass(frozen=True)
class GmebPenalty:
    r"""The least penalty of (10) over the scales, as a function of the plane :math:`\tilde w_j = w_j\sigma_j`.

    .. math::

        P(\tilde w) = \min_{0 \le \rho \le 1} \sum_j |\tilde w_j| u_j(\rho), \qquad
        u_j(\rho)^2 = \frac{\alpha_j}{\rho} + \frac{\beta_j}{1-\rho}, \qquad
        \alpha_j = \frac{C_+^2 n_+}{n^2} v_j^+, \quad \beta_j = \frac{C_-^2 n_-}{n^2} v_j^-

    by the Cauchy-Schwarz inequality, used twice. Each u_j is convex in rho, but P is not convex in the plane. At the
    minimum rho is the share of the first norm term of (10) in the penalty.

    Attributes
    ----------
    alpha, beta : (p,) coefficients of :math:`\sigma_j^2` in the squares of the two norm terms.
    """

    alpha: Vector
    beta: Vector

    @classmethod
    def of(cls, data: Dataset, c_plus: float, c_minus: float) -> GmebPenalty:
        """Return the penalty of a data set."""
        v_plus, v_minus = second_moments(data)
        positives = int(np.sum(data.y > 0))
        return cls(
            (c_plus / data.n) ** 2 * positives * v_plus, (c_minus / data.n) ** 2 * (data.n - positives) * v_minus
        )

    def weights(self, share: float) -> Vector:
        """Return u (p,) at a share in [0, 1]; infinite at an end that rules a feature out."""
        u: Vector = np.sqrt(_over(self.alpha, share) + _over(self.beta, 1.0 - share))
        return u

    def slopes(self, share: float) -> Vector:
        """Return the derivative u' (p,) at a share in (0, 1)."""
        return _over(self.beta / (1.0 - share) ** 2 - self.alpha / share**2, 2.0 * self.weights(share))

    def at(self, w: Vector) -> tuple[float, float]:
        """Return P(w) and the share at which it is attained."""
        used = np.flatnonzero(w)
        if not len(used):
            return 0.0, 0.5
        size, part = np.abs(w[used]), GmebPenalty(self.alpha[used], self.beta[used])
        own = _over(np.sqrt(part.alpha), np.sqrt(part.alpha) + np.sqrt(part.beta))
        ends = float(own.min()), float(own.max())
        inner = minimize_scalar(
            lambda share: float(size @ part.weights(share)), bounds=ends, method="bounded", options={"xatol": 1e-12}
        )
        return min((float(size @ part.weights(share)), share) for share in (*ends, float(inner.x)))

    def scales(self, w: Vector) -> Vector:
        """Return the sigma (p,) of (10) that is best for a plane; (10)'s own w is then ``w / sigma``, of norm 1."""
        value, share = self.at(w)
        sigma: Vector = np.sqrt(_over(value * np.abs(w), self.weights(share)))
        return sigma


def _over(numerator: Vector, denominator: Any) -> Vector:
    """Return the quotient (p,), 0 wherever the numerator is 0."""
    with np.errstate(divide="ignore"):
        quotient: Vector = np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=numerator != 0)
    return quotient


def build_gmeb_weighted_l1(
    data: Dataset, *, c_plus: float = 4.0, c_minus: float = 4.0, share: float = 0.5, end: float | None = None
) -> pyo.ConcreteModel:
    r"""Return the weighted one-norm machine that GMEB with prices (10) becomes at a fixed share, or bounds it.

    .. math::

        \min\ & \tfrac1n 1'\xi + \sum_j c_j (w_j^+ + w_j^-), \qquad c_j = u_j(\rho) + (e - \rho)\, u_j'(\rho) \\
        \text{s.t.}\ & y_i(w'x_i + b) \ge 1 - \xi_i, \quad \xi \ge 0, \quad w = w^+ - w^-, \quad w^+, w^- \ge 0 \\
        & \sum_j d_j (w_j^+ + w_j^-) \ge 0, \qquad d_j = \operatorname{sign}(\rho - e)\, u_j'(\rho)

    with the weights u of :class:`GmebPenalty`. For e = rho the row is empty and the value is an upper bound on (10),
    equal to its optimum at the best rho. For another e the value is a lower bound, because u is convex: on (10) over
    the planes that satisfy the row and the shares from e on, in [e, 1] for e < rho and in [0, e] for e > rho.

    Parameters
    ----------
    data : centred columns are assumed, nothing is preprocessed here.
    c_plus, c_minus : :math:`C_+, C_- > 0`, prices of the two norm terms.
    share : rho in (0, 1), where the weights are linearised.
    end : e in [0, 1], where the linearised weights are taken; rho by default.

    Returns
    -------
    ConcreteModel
        LP with n + p + 1 rows. Variables ``w w_plus w_minus b xi``, constraints ``margin split side``, mutable
        parameters ``cost slope``: :func:`linearise` moves them.

    Raises
    ------
    ParameterError : a price that is not positive, a share outside (0, 1), an end outside [0, 1].

    Notes
    -----
    Our reformulation of paper 1, problem (10), where w stands for w_j sigma_j.
    """
    name = "gmeb-weighted-l1"
    c_plus, c_minus = price(name, "c_plus", c_plus), price(name, "c_minus", c_minus)
    share = number(name, "share", share, low=0.0, high=1.0, strict=True)
    end = share if end is None else number(name, "end", end, low=0.0, high=1.0)
    m = new_model(name, data)
    add_classifier(m)
    m.w_plus = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="positive part of w")
    m.w_minus = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="negative part of w")
    m.cost = pyo.Param(m.J, initialize=0.0, mutable=True, doc="c, linearised weights of |w|")
    m.slope = pyo.Param(m.J, initialize=0.0, mutable=True, doc="d, their slopes away from the end")
    linearise(m, GmebPenalty.of(data, c_plus, c_minus), share, end)
    add_margins(m, data, "(10)")
    m.objective = pyo.Objective(
        expr=pyo.quicksum(m.xi.values()) / data.n
        + pyo.quicksum(m.cost[j] * part[j] for part in (m.w_plus, m.w_minus) for j in m.J),
        doc="(10) 1'xi / n + c'|w|, the penalty with weights linearised in rho",
    )

    def split(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] - m.w_plus[j] + m.w_minus[j] == 0

    m.split = pyo.Constraint(m.J, rule=split, doc="(10) w = w+ - w-")
    m.side = pyo.Constraint(
        expr=pyo.quicksum(m.slope[j] * part[j] for part in (m.w_plus, m.w_minus) for j in m.J) >= 0,
        doc="(10) d'|w| >= 0: at rho the penalty falls towards the end",
    )
    return m


def price(name: str, parameter: str, value: Any) -> float:
    """Return C+ or C- as a float > 0; else ParameterError."""
    return number(name, parameter, value, low=0.0, high=np.inf, strict=True)


def linearise(model: pyo.ConcreteModel, penalty: GmebPenalty, share: float, end: float) -> None:
    """Move the model of :func:`build_gmeb_weighted_l1` to another share and end; then update objective and side."""
    slopes = penalty.slopes(share)
    cost = penalty.weights(share) + (end - share) * slopes
    model.cost.store_values(dict(enumerate(cost.tolist())))
    model.slope.store_values(dict(enumerate((np.sign(share - end) * slopes).tolist())))
