"""Model ``gmeb-cuts``: Peleg & Meir, (15) by linear programs that cut out its norm."""

from __future__ import annotations

from fsopt.models.spec import ModelSpec

import numpy as np
import pyomo.environ as pyo
from collections.abc import Sequence
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import add_classifier, add_margins, new_model, vector
from fsopt.models.gmeb.moments import radius
from fsopt.models.gmeb.norm import GmebNorm
from typing import Any


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
    data, r_plus, r_minus : as in :func:`fsopt.models.gmeb.gmeb_primal.build_gmeb_primal`; at most one radius infinite.
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


SPEC = ModelSpec("gmeb-cuts", build_gmeb_cuts, "LP", paper="gmeb", equation="(15), cuts")
