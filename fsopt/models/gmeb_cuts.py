"""GMEB without cones: the norm whose unit ball (15) searches, and the linear programs that cut it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from scipy.optimize import minimize_scalar

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.models.blocks import Vector, add_classifier, add_margins, new_model, vector
from fsopt.models.gmeb import radius, second_moments


@dataclass(frozen=True)
class GmebNorm:
    r"""The norm of GMEB: (15) is :math:`\min 1'\xi` over the planes with :math:`N(w) \le 1`.

    .. math::

        N(w) = \max_{\theta \in [0,1]} \sum_j |w_j| u_j(\theta), \qquad
        u_j(\theta)^2 = \theta v_j^+/R_+ + (1-\theta) v_j^-/R_-

    The sum is concave in theta. An infinite radius fixes theta at the other end.

    Attributes
    ----------
    v_plus, v_minus : (p,) second moments of the columns over the two classes.
    r_plus, r_minus : R+ and R-, at most one of them infinite.
    """

    v_plus: Vector
    v_minus: Vector
    r_plus: float
    r_minus: float

    @classmethod
    def of(cls, data: Dataset, r_plus: float, r_minus: float) -> GmebNorm:
        """Return the norm of a data set; raises ParameterError where both radii are infinite."""
        if np.isinf(r_plus) and np.isinf(r_minus):
            raise ParameterError("both r_plus and r_minus are infinite, nothing limits w", "give a finite one")
        return cls(*second_moments(data), r_plus, r_minus)

    @property
    def ends(self) -> tuple[float, ...]:
        """The ends of the range of theta."""
        return tuple(t for t, r in ((0.0, self.r_minus), (1.0, self.r_plus)) if np.isfinite(r))

    def weights(self, theta: float) -> Vector:
        """Return u(theta) (p,)."""
        u: Vector = np.sqrt(theta * self.v_plus / self.r_plus + (1.0 - theta) * self.v_minus / self.r_minus)
        return u

    def at(self, w: Vector) -> tuple[float, float]:
        """Return N(w) and the theta at which it is attained."""
        size = np.abs(w)
        candidates = list(self.ends)
        if len(candidates) == 2:
            used = np.flatnonzero(size)
            plus, minus = self.v_plus[used] / self.r_plus, self.v_minus[used] / self.r_minus
            inner = minimize_scalar(
                lambda t: -float(size[used] @ np.sqrt(t * plus + (1.0 - t) * minus)),
                bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-12},
            )  # fmt: skip
            candidates.append(float(inner.x))
        values = [float(size @ self.weights(t)) for t in candidates]
        best = int(np.argmax(values))
        return values[best], candidates[best]

    def scales(self, w: Vector) -> Vector:
        r"""Return the sigma (p,) of (15) that belongs to w: within the radii, with :math:`\sum_j w_j^2/\sigma_j = N^2`."""
        norm, theta = self.at(w)
        u = norm * self.weights(theta)
        sigma: Vector = np.where(u > 0, np.abs(w) / np.where(u > 0, u, 1.0), 0.0)
        return sigma

    def price_shares(self, price_plus: float, price_minus: float) -> float:
        """Return theta from the prices of the two radii, ``mu_+ R_+ / (mu_+ R_+ + mu_- R_-)``."""
        plus = max(price_plus, 0.0) * self.r_plus if np.isfinite(self.r_plus) else 0.0
        minus = max(price_minus, 0.0) * self.r_minus if np.isfinite(self.r_minus) else 0.0
        return plus / (plus + minus) if plus + minus > 0 else self.ends[0]


def build_gmeb_cuts(
    data: Dataset,
    *,
    r_plus: float = 3.0,
    r_minus: float = 3.0,
    thetas: Sequence[float] | None = None,
    hard: bool = False,
) -> pyo.ConcreteModel:
    r"""Return the linear relaxation of GMEB that cuts in theta describe, for solvers without cones.

    .. math::

        \min\ & 1'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) \ge 1 - \xi_i, \quad \xi \ge 0, \quad w = w^+ - w^-, \quad w^+, w^- \ge 0 \\
        & \sum_j u_j(\theta_k)(w_j^+ + w_j^-) \le \tau, \quad k = 1, \dots, \qquad 0 \le \tau \le 1

    with the weights u of :class:`GmebNorm`. All theta in [0, 1] together give (15); a finite list bounds it from
    below. Each row is valid for every classifier of (15).

    Parameters
    ----------
    data, r_plus, r_minus : as in :func:`fsopt.models.gmeb.build_gmeb_primal`; at most one radius infinite.
    thetas : in [0, 1], one cut for each; both ends by default (one end if a radius is infinite).
    hard : minimise :math:`\tau` with :math:`\xi = 0` instead: the least-norm plane of separable data.

    Returns
    -------
    ConcreteModel
        LP with n + p rows and one for each cut. Variables ``w w_plus w_minus b xi norm`` (norm is tau),
        constraints ``margin split cuts``; more cuts by :func:`add_theta`.

    Raises
    ------
    ParameterError : a radius that is not positive, both infinite, theta outside [0, 1].

    Notes
    -----
    Our reformulation of paper 1, problem (15). The multipliers of ``margin`` are mu of (16).
    """
    r_plus, r_minus = radius("gmeb-cuts", "r_plus", r_plus), radius("gmeb-cuts", "r_minus", r_minus)
    norm = GmebNorm.of(data, r_plus, r_minus)
    listed = norm.ends if thetas is None else thetas
    chosen = vector("gmeb-cuts", "thetas", listed, len(listed), low=0.0, high=1.0)
    m = new_model("gmeb-cuts", data)
    add_classifier(m)
    m.w_plus = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="positive part of w")
    m.w_minus = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="negative part of w")
    m.norm = pyo.Var(bounds=(0, None if hard else 1), doc="tau >= N(w) as far as the cuts know")
    add_margins(m, data, "(15)")
    if hard:
        m.xi.fix(0.0)

    def split(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] - m.w_plus[j] + m.w_minus[j] == 0

    m.split = pyo.Constraint(m.J, rule=split, doc="(15) w = w+ - w-")
    m.objective = pyo.Objective(
        expr=m.norm + 0.0 if hard else pyo.quicksum(m.xi.values()), doc="(15) 1'xi, or tau for separable data"
    )
    m.cuts = pyo.ConstraintList(doc="(15) sum_j |w_j| u_j(theta) <= tau")
    for theta in chosen:
        add_theta(m, norm, float(theta))
    return m


def add_theta(model: pyo.ConcreteModel, norm: GmebNorm, theta: float) -> Any:
    """Add the cut of one theta to the model of :func:`build_gmeb_cuts` and return its constraint."""
    u = norm.weights(theta)
    parts = (*model.w_plus.values(), *model.w_minus.values())
    return model.cuts.add(dot(np.concatenate([u, u]), parts) - model.norm <= 0)
