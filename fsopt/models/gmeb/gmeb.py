"""Peleg & Meir, (15), in all its forms: primal, dual, linear with cuts, semidefinite, and without slacks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler import dot, lmi
from fsopt.data import Dataset
from fsopt.models.blocks import (
    add_classifier,
    add_margins,
    add_slacks,
    add_weight_parts,
    hinge_cost,
    hinge_point,
    multiplier_bounds,
    new_model,
    perspective_constraint,
    signed_features,
    signed_samples,
    split_constraint,
    total,
)
from fsopt.models.gmeb.norm import GmebNorm, add_moment_bounds, new_scaled_model, radius, second_moments
from fsopt.models.spec import Instance, ModelSpec
from fsopt.typing import Vector


def build_gmeb_primal(data: Dataset, *, r_plus: float = 3.0, r_minus: float = 3.0) -> pyo.ConcreteModel:
    r"""Return the convex GMEB problem, a second-order cone program.

    .. math::

        \min\ & 1'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) \ge 1 - \xi_i, \quad \xi \ge 0 \\
        & w_j^2 \le \sigma_j t_j, \quad 1't \le 1, \quad \sigma, t \ge 0 \\
        & v^{+\prime}\sigma \le R_+, \quad v^{-\prime}\sigma \le R_-

    with the second moments :math:`v_j^\pm` of feature j over each class. The paper writes
    :math:`\sum_j w_j^2/\sigma_j \le 1`. The cones are the closure of this constraint: :math:`\sigma_j = 0` forces
    :math:`w_j = 0`.

    Parameters
    ----------
    data : Features centred by their training mean; the builder does not preprocess.
    r_plus, r_minus : :math:`R_+, R_- > 0`, without unit, as sigma has the inverse squared units of the features;
        infinity omits the constraint.

    Returns
    -------
    ConcreteModel
        SOCP with n + 3p + 1 variables and p rotated cones. Variables ``w b sigma t xi``, constraints ``margin
        perspective unit_norm moment_plus moment_minus``, mutable parameters ``r_plus r_minus``. The classifier is
        sign(w'x + b). An optimum is a global optimum of the nonconvex (11), whose scales are the roots of sigma.

    Raises
    ------
    ParameterError : a radius that is not a positive number.

    Notes
    -----
    Peleg & Meir, (15) by the transformation (14), Theorem 15.
    """
    m = new_scaled_model("gmeb-primal", data)
    m.t = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="t_j >= w_j^2 / sigma_j")
    add_slacks(m)
    m.objective = pyo.Objective(expr=hinge_cost(m, data), doc="(15) 1'xi")
    add_margins(m, data, "(15)")
    m.perspective = perspective_constraint(m, m.sigma, "(15) w_j^2 <= sigma_j t_j")
    m.unit_norm = pyo.Constraint(expr=total(m.t) <= 1, doc="(15) sum_j w_j^2 / sigma_j <= 1")
    add_moment_bounds(m, data, r_plus, r_minus)
    return m


def complete_gmeb_primal(
    data: Dataset, w: Vector, b: float, *, r_plus: float = 3.0, r_minus: float = 3.0
) -> dict[str, Any]:
    """Return the variables of ``gmeb-primal`` at a hyperplane, with the scales of its norm."""
    sigma = GmebNorm.of(data, r_plus, r_minus).sigma_of(w)
    return {
        **hinge_point(data, w, b),
        "sigma": sigma,
        "t": np.divide(w**2, sigma, out=np.zeros_like(w), where=sigma > 0),
    }


def build_gmeb_dual(data: Dataset, *, r_plus: float = 3.0, r_minus: float = 3.0) -> pyo.ConcreteModel:
    r"""Return the dual of GMEB, a second-order cone program whose multipliers are the classifier.

    .. math::

        \max\ & 1'\mu - \mu_1 - R_+\mu_+ - R_-\mu_- \\
        \text{s.t.}\ & s = X'Y\mu, \qquad y'\mu = 0, \qquad 0 \le \mu \le 1 \\
        & s_j^2 \le 4\mu_1(\mu_+ v_j^+ + \mu_- v_j^-), \qquad \mu_1, \mu_+, \mu_- \ge 0

    with the second moments :math:`v_j^\pm` of feature j over each class.

    Parameters
    ----------
    data : Features centred by their training mean; the builder does not preprocess.
    r_plus, r_minus : :math:`R_+, R_- > 0`, without unit, as sigma of (15) has the inverse squared units of the
        features; infinity fixes the multiplier of the constraint at 0.

    Returns
    -------
    ConcreteModel
        SOCP with n + p + 3 variables and p rotated cones. Variables ``mu mu1 mu_plus mu_minus s``,
        constraints ``expansion balance cone``, mutable parameters ``r_plus r_minus`` (finite ones may change). In
        Pyomo's convention of shadow prices ``dual[expansion[j]]`` is :math:`w_j`, ``dual[balance]`` is b (Theorem 19).

    Raises
    ------
    ParameterError : a radius that is not a positive number.

    Notes
    -----
    Peleg & Meir, (16) with the variables s of (17). If the optimum is 0 (data separable within the norm), all
    multipliers are 0 and Theorem 19 does not determine w: see ``gmeb-hard-margin``.
    """
    r_plus, r_minus = radius("gmeb-dual", "r_plus", r_plus), radius("gmeb-dual", "r_minus", r_minus)
    v_plus, v_minus = second_moments(data)
    m = new_model("gmeb-dual", data)
    m.mu = pyo.Var(m.I, bounds=multiplier_bounds(data, 1), doc="mu, multipliers of the margins")
    m.mu1 = pyo.Var(within=pyo.NonNegativeReals, doc="mu_1, multiplier of the unit norm")
    m.mu_plus = pyo.Var(within=pyo.NonNegativeReals, doc="mu_+, multiplier of v+'sigma <= R+")
    m.mu_minus = pyo.Var(within=pyo.NonNegativeReals, doc="mu_-, multiplier of v-'sigma <= R-")
    m.s = pyo.Var(m.J, doc="s = X'Y mu")
    m.r_plus = pyo.Param(initialize=r_plus, mutable=True, doc="R+")
    m.r_minus = pyo.Param(initialize=r_minus, mutable=True, doc="R-")
    penalty = m.mu1
    for multiplier, r in ((m.mu_plus, m.r_plus), (m.mu_minus, m.r_minus)):
        if np.isfinite(r.value):
            penalty = penalty + r * multiplier
        else:
            multiplier.fix(0.0)
    mus, signed = tuple(m.mu.values()), signed_features(data)
    plus, minus = (4 * v_plus).tolist(), (4 * v_minus).tolist()

    def expansion(m: pyo.ConcreteModel, j: int) -> Any:
        return dot(signed[j], mus) == m.s[j]

    def cone(m: pyo.ConcreteModel, j: int) -> Any:
        return m.s[j] ** 2 <= m.mu1 * (plus[j] * m.mu_plus + minus[j] * m.mu_minus)

    m.objective = pyo.Objective(
        expr=total(m.mu) - penalty, sense=pyo.maximize, doc="(16) 1'mu - mu_1 - R+ mu_+ - R- mu_-"
    )
    m.expansion = pyo.Constraint(m.J, rule=expansion, doc="(17) s = X'Y mu; its multiplier is w")
    m.balance = pyo.Constraint(expr=dot(data.y, mus) == 0, doc="(16) y'mu = 0; its multiplier is b")
    m.cone = pyo.Constraint(m.J, rule=cone, doc="(16) s_j^2 <= 4 mu_1 (mu_+ v+_j + mu_- v-_j)")
    return m


def build_gmeb_cuts(
    data: Dataset,
    *,
    r_plus: float = 3.0,
    r_minus: float = 3.0,
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
    data : Features centred by their training mean; the builder does not preprocess.
    r_plus, r_minus : :math:`R_+, R_- > 0`, without unit; at most one infinite, which omits its moments.
    hard : Minimise :math:`\tau` with :math:`\xi = 0` instead, for the hyperplane of smallest norm of separable data.

    Returns
    -------
    ConcreteModel
        LP with n + p constraints and one for each cut. Variables ``w b w_plus w_minus norm xi`` (``norm`` is tau),
        constraints ``margin split cuts``, those of both ends of [0, 1], or of the one that a finite radius leaves;
        :func:`add_theta` adds more. ``dual[margin[i]]`` is mu_i of (16). Other radii have other cuts.

    Raises
    ------
    ParameterError : a radius that is not positive, or both radii infinite.

    Notes
    -----
    Our reformulation of Peleg & Meir, (15), by the norm of :class:`fsopt.models.gmeb.norm.GmebNorm`.
    """
    r_plus, r_minus = radius("gmeb-cuts", "r_plus", r_plus), radius("gmeb-cuts", "r_minus", r_minus)
    norm = GmebNorm.of(data, r_plus, r_minus)
    m = new_model("gmeb-cuts", data)
    m.of_gmeb = norm
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
    for theta in norm.ends:
        add_theta(m, theta)
    return m


def add_theta(model: pyo.ConcreteModel, theta: float) -> Any:
    """Add the cut of one theta to the model of :func:`build_gmeb_cuts` and return its constraint."""
    u = model.of_gmeb.weights(theta)
    parts = (*model.w_plus.values(), *model.w_minus.values())
    return model.cuts.add(dot(np.concatenate([u, u]), parts) - model.norm <= 0)


def build_gmeb_sdp(data: Dataset, *, r_plus: float = 3.0, r_minus: float = 3.0) -> pyo.ConcreteModel:
    r"""Return the convex GMEB problem with its linear matrix inequality, a semidefinite program.

    .. math::

        \min\ & 1'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) \ge 1 - \xi_i, \quad \xi \ge 0 \\
        & \begin{bmatrix} \mathrm{diag}(\sigma) & w \\ w' & 1 \end{bmatrix} \succeq 0 \\
        & v^{+\prime}\sigma \le R_+, \quad v^{-\prime}\sigma \le R_-

    The inequality is the closure of :math:`\sum_j w_j^2/\sigma_j \le 1` by Schur's complement. Its dense cone of order
    p + 1 takes seconds at p = 200: prefer the rotated cones of ``gmeb-primal`` beyond p = 100.

    Parameters
    ----------
    data : Features centred by their training mean; the builder does not preprocess.
    r_plus, r_minus : :math:`R_+, R_- > 0`, without unit, as sigma has the inverse squared units of the features;
        infinity omits the constraint.

    Returns
    -------
    ConcreteModel
        SDP, one semidefinite cone of order p + 1. Variables ``w b sigma xi`` and the upper triangle ``lmi.S`` of the
        matrix, constraints ``margin lmi.entry moment_plus moment_minus``, mutable parameters ``r_plus r_minus``. It has
        the optimum of ``gmeb-primal``.

    Raises
    ------
    ParameterError : a radius that is not a positive number.

    Notes
    -----
    Peleg & Meir, (15) in the form that section 4.1 derives from Lemma 6.
    """
    m = new_scaled_model("gmeb-sdp", data)
    add_slacks(m)
    m.objective = pyo.Objective(expr=hinge_cost(m, data), doc="(15) 1'xi")
    add_margins(m, data, "(15)")
    w = tuple(m.w.values())
    diagonal = [[m.sigma[i] if i == j else 0.0 for j in m.J] + [w[i]] for i in m.J]
    m.lmi = lmi([*diagonal, [*w, 1.0]], doc="(15) [[diag(sigma), w], [w', 1]] >= 0, entry by entry")
    add_moment_bounds(m, data, r_plus, r_minus)
    return m


def build_gmeb_hard_margin(data: Dataset, *, r_plus: float = 3.0, r_minus: float = 3.0) -> pyo.ConcreteModel:
    r"""Return the separating hyperplane of smallest norm, in the norm of GMEB, for data that (15) separates.

    .. math::

        \min\ & 1't \\
        \text{s.t.}\ & y_i(w'x_i + b) \ge 1 \\
        & w_j^2 \le \sigma_j t_j, \quad \sigma, t \ge 0 \\
        & v^{+\prime}\sigma \le R_+, \quad v^{-\prime}\sigma \le R_-

    Its optimum is :math:`N(w)^2`, the square of the norm whose unit ball is the feasible set of (15). (15) has
    optimum 0 iff this optimum is at most 1. The multipliers of (16) are 0 then and do not determine w; the w of this
    problem is well defined.

    Parameters
    ----------
    data : Features centred by their training mean; the builder does not preprocess.
    r_plus, r_minus : :math:`R_+, R_- > 0`, without unit, as sigma has the inverse squared units of the features;
        infinity omits the constraint.

    Returns
    -------
    ConcreteModel
        SOCP with n + 2p + 1 variables and p rotated cones, infeasible iff the data are not separable. Variables
        ``w b sigma t``, constraints ``margin perspective moment_plus moment_minus``, mutable parameters ``r_plus
        r_minus``.

    Raises
    ------
    ParameterError : a radius that is not a positive number.

    Notes
    -----
    Our addition to Peleg & Meir, (15).
    """
    m = new_scaled_model("gmeb-hard-margin", data)
    m.t = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="t_j >= w_j^2 / sigma_j")
    weights, signed = tuple(m.w.values()), signed_samples(data)

    def margin(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(signed[i], weights) + data.y[i] * m.b >= 1

    m.objective = pyo.Objective(expr=total(m.t), doc="(15), xi = 0: 1't = N(w)^2")
    m.margin = pyo.Constraint(m.I, rule=margin, doc="(15), xi = 0: y_i (w'x_i + b) >= 1")
    m.perspective = perspective_constraint(m, m.sigma, "(15) w_j^2 <= sigma_j t_j")
    add_moment_bounds(m, data, r_plus, r_minus)
    return m


SPECS = (
    ModelSpec(
        "gmeb-primal", build_gmeb_primal, "SOCP", equation="(15)", weights="samples", complete=complete_gmeb_primal
    ),
    ModelSpec("gmeb-dual", build_gmeb_dual, "SOCP", equation="(16)/(17)", weights="samples"),
    ModelSpec("gmeb-cuts", build_gmeb_cuts, "LP", equation="(15), cuts", weights="samples"),
    ModelSpec("gmeb-sdp", build_gmeb_sdp, "SDP", equation="(15), LMI", weights="samples"),
    ModelSpec(
        "gmeb-hard-margin",
        build_gmeb_hard_margin,
        "SOCP",
        equation="(15), xi = 0",
        instance=Instance(gap=2.0),
        weights="samples",
    ),
)
