"""Model ``gmeb-cuts``: Peleg & Meir, (15) as a linear program with cuts for its norm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import (
    add_classifier,
    add_margins,
    add_slacks,
    add_weight_parts,
    hinge_cost,
    new_model,
    split_constraint,
    vector,
)
from fsopt.models.gmeb.moments import radius
from fsopt.models.gmeb.norm import GmebNorm
from fsopt.models.spec import ModelSpec


def build_gmeb_cuts(
    data: Dataset,
    *,
    r_plus: float = 3.0,
    r_minus: float = 3.0,
    thetas: Sequence[float] | None = None,
    hard: bool = False,
) -> pyo.ConcreteModel:
    r"""Return the linear relaxation of GMEB by cuts at finitely many theta, for solvers without cones.

    .. math::

        \min\ & 1'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) \ge 1 - \xi_i, \quad \xi \ge 0, \quad w = w^+ - w^-, \quad w^+, w^- \ge 0 \\
        & \sum_j u_j(\theta_k)(w_j^+ + w_j^-) \le \tau, \quad k = 1, 2, \dots, \qquad 0 \le \tau \le 1 \\
        & u_j(\theta)^2 = \theta v_j^+/R_+ + (1-\theta) v_j^-/R_-

    with the second moments :math:`v_j^\pm` of feature j over each class. The cuts of all theta in [0, 1] together are
    equivalent to the constraint :math:`N(w) \le 1` of (15). Finitely many of them give a lower bound, because each
    cut holds for every classifier that is feasible for (15).

    Parameters
    ----------
    data : Dataset
        Features centred by their training mean; the builder does not preprocess.
    r_plus, r_minus : float, default 3.0
        :math:`R_+, R_- > 0`, without unit; at most one infinite, which omits its moments.
    thetas : Sequence[float], optional
        In [0, 1], one cut for each; by default both ends of [0, 1], or the one end that a finite radius leaves.
    hard : bool, default False
        Minimise :math:`\tau` with :math:`\xi = 0` instead, for the hyperplane of smallest norm of separable data.

    Returns
    -------
    ConcreteModel
        LP with n + p constraints and one for each cut. Variables ``w b w_plus w_minus norm xi`` (``norm`` is tau),
        constraints ``margin split cuts``; :func:`add_theta` adds more cuts. ``dual[margin[i]]`` is mu_i of (16).

    Raises
    ------
    ParameterError : a radius that is not positive, both radii infinite, or a theta outside [0, 1].

    Notes
    -----
    Our reformulation of Peleg & Meir, (15), by the norm of :class:`fsopt.models.gmeb.norm.GmebNorm`.
    """
    r_plus, r_minus = radius("gmeb-cuts", "r_plus", r_plus), radius("gmeb-cuts", "r_minus", r_minus)
    norm = GmebNorm.of(data, r_plus, r_minus)
    given = norm.ends if thetas is None else thetas
    first_cuts = vector("gmeb-cuts", "thetas", given, len(given) if np.iterable(given) else 1, low=0.0, high=1.0)
    m = new_model("gmeb-cuts", data)
    add_classifier(m)
    add_weight_parts(m)
    m.norm = pyo.Var(bounds=(0, None if hard else 1), doc="tau, upper bound on N(w) by the cuts so far")
    add_slacks(m)
    m.objective = pyo.Objective(expr=m.norm + 0.0 if hard else hinge_cost(m, data), doc="(15) 1'xi, or tau with xi = 0")
    add_margins(m, data, "(15)")
    if hard:
        m.xi.fix(0.0)
    m.split = split_constraint(m, "(15)")
    m.cuts = pyo.ConstraintList(doc="(15) sum_j |w_j| u_j(theta) <= tau")
    for theta in first_cuts:
        add_theta(m, norm, float(theta))
    return m


def add_theta(model: pyo.ConcreteModel, norm: GmebNorm, theta: float) -> Any:
    """Add the cut of one theta to the model of :func:`build_gmeb_cuts` and return its constraint."""
    u = norm.weights(theta)
    parts = (*model.w_plus.values(), *model.w_minus.values())
    return model.cuts.add(dot(np.concatenate([u, u]), parts) - model.norm <= 0)


SPEC = ModelSpec("gmeb-cuts", build_gmeb_cuts, "LP", paper="gmeb", equation="(15), cuts", weights="samples")
