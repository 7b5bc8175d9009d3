r"""The minimax probability machine of Yang & Ju, and its forms with one accuracy given: BMPM and S-MPM.

The ratio that BMPM and S-MPM maximise, as a model with its denominator normalised to 1.

.. math:: \frac{w'(\mu_1 - \mu_2) - \kappa(\beta)\|F_2w\| - \lambda\|w\|_1}{\|F_1w\|}

with :math:`\lambda = 0` in BMPM.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.common.arguments import with_keywords_of
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import (
    add_parameter,
    add_weight_parts,
    new_model,
    number,
    one_norm,
    split_constraint,
    weight_parts,
)
from fsopt.models.mpm.moments import Moments, add_deviations, deviations_at, kappa
from fsopt.models.spec import Instance, ModelSpec
from fsopt.typing import Vector


@with_keywords_of(Moments.of)
def build_mpm(data: Dataset, **options: Any) -> pyo.ConcreteModel:
    r"""Return the minimax probability machine, a second-order cone program.

    .. math::

        \min\ & \|F_1w\| + \|F_2w\| \\
        \text{s.t.}\ & w'(\mu_1 - \mu_2) = 1

    with the mean :math:`\mu_k` and the covariance :math:`S_k = F_k'F_k` of class k; class 1 is y = +1. The optimum is
    :math:`1/\kappa^*`. Among all hyperplanes :math:`\alpha^* = \kappa^{*2}/(1 + \kappa^{*2})` is the largest accuracy
    on both classes that holds for every distribution with these moments. Optimum 0 means that the covariances are
    singular along a direction that separates the means, and :math:`\alpha^* = 1`.

    Parameters
    ----------
    data : Features in any units; :math:`\kappa^*` does not depend on them.

    Returns
    -------
    ConcreteModel
        SOCP, two cones. Variables ``w u1 t1 u2 t2``, constraints ``spread1 deviation1 spread2 deviation2
        normal``. The hyperplane is w'x = b with :math:`b = w'\mu_1 - \kappa^*\|F_1w\|`.

    Raises
    ------
    ParameterError : ridge < 0, or unbiased with a class of one sample.

    Notes
    -----
    Yang & Ju, (3)-(5), after the Chebyshev-Cantelli inequality (20).
    """
    moments = Moments.of(data, **options)
    m = new_model("mpm", data)
    m.w = pyo.Var(m.J, doc="w, weights")
    add_deviations(m, moments, ("(4)", "(5)"))
    difference = dot(moments.mean1 - moments.mean2, tuple(m.w.values()))
    m.objective = pyo.Objective(expr=m.t1 + m.t2, doc="(3) ||F_1 w|| + ||F_2 w||")
    m.normal = pyo.Constraint(expr=difference == 1, doc="(3) w'(mu_1 - mu_2) = 1")
    return m


@with_keywords_of(Moments.of)
def build_bmpm(data: Dataset, *, beta: float = 0.5, **options: Any) -> pyo.ConcreteModel:
    r"""Return the biased minimax probability machine, a second-order cone program.

    .. math::

        \max\ & w'(\mu_1 - \mu_2) - \kappa(\beta)\|F_2w\| \\
        \text{s.t.}\ & \|F_1w\| \le 1

    with the mean :math:`\mu_k` and the covariance :math:`S_k = F_k'F_k` of class k; class 1 is y = +1. It finds the
    largest worst-case accuracy alpha on class 1 among the hyperplanes with worst-case accuracy at least beta on class
    2: the ratio :math:`(w'(\mu_1 - \mu_2) - \kappa(\beta)\|F_2w\|)/\|F_1w\|` does not depend on the length of w, and
    its maximum is :math:`\kappa(\alpha)`.

    The optimum is 0, at w = 0, if no hyperplane has accuracy beta on class 2 and the mean of class 1 on its positive
    side. It is unbounded, and alpha = 1, if a direction with :math:`F_1w = 0` has a positive objective: always
    possible with fewer samples than features, never with a ridge.

    Parameters
    ----------
    data : Features in any units; the optimum does not depend on them.
    beta : In (0, 1), the worst-case accuracy of class 2 (y = -1); :math:`\kappa(\beta) = \sqrt{\beta/(1-\beta)}`.

    Returns
    -------
    ConcreteModel
        SOCP, two cones. Variables ``w u1 t1 u2 t2``, constraints ``spread1 deviation1 spread2 deviation2 length``,
        mutable parameter ``kappa``: change it and update the objective for another beta. The optimum v gives
        :math:`\alpha = v^2/(1 + v^2)`, and the hyperplane is w'x = b with :math:`b = w'\mu_2 + \kappa(\beta)\|F_2w\|`.

    Raises
    ------
    ParameterError : beta outside (0, 1), ridge < 0, or unbiased with a class of one sample.

    Notes
    -----
    Yang & Ju, (3)-(5), with the accuracy of (5) given (Huang et al., 2004).
    """
    moments = Moments.of(data, **options)
    m = new_biased_model("bmpm", data, beta, moments)
    m.objective = pyo.Objective(expr=m.ratio, sense=pyo.maximize, doc="(3) w'(mu_1 - mu_2) - kappa(beta) ||F_2 w||")
    return m


@with_keywords_of(Moments.of)
def build_s_mpm(
    data: Dataset,
    *,
    beta: float = 0.5,
    lam: float = 0.1,
    **options: Any,
) -> pyo.ConcreteModel:
    r"""Return the inner problem of S-MPM: the biased minimax probability machine with a penalised one-norm.

    .. math::

        \max\ & w'(\mu_1 - \mu_2) - \kappa(\beta)\|F_2w\| - \lambda e'(w^+ + w^-) \\
        \text{s.t.}\ & \|F_1w\| \le 1, \quad w = w^+ - w^-, \quad w^+, w^- \ge 0

    with the mean :math:`\mu_k` and the covariance :math:`S_k = F_k'F_k` of class k; class 1 is y = +1. By homogeneity
    it is :math:`\max (w'(\mu_1 - \mu_2) - \kappa(\beta)\|F_2w\| - \lambda\|w\|_1)/\|F_1w\|`. The optimum is 0, at
    w = 0, for :math:`\lambda \ge \max_j |\mu_{1j} - \mu_{2j}|`, and unbounded under the same conditions as ``bmpm``.

    Parameters
    ----------
    data : Standardised features if the selection matters; the one-norm depends on their units.
    beta : In (0, 1), the worst-case accuracy of class 2 (y = -1); :math:`\kappa(\beta) = \sqrt{\beta/(1-\beta)}`.
    lam : >= 0, penalty weight of the one-norm, in units of the features; 0 gives ``bmpm``.

    Returns
    -------
    ConcreteModel
        SOCP, two cones. Variables ``w u1 t1 u2 t2 w_plus w_minus``, constraints ``spread1 deviation1 spread2
        deviation2 length split``, mutable parameters ``lam`` and ``kappa``: change it for another beta.

    Raises
    ------
    ParameterError : beta outside (0, 1), lam < 0, ridge < 0, or unbiased with a class of one sample.

    Notes
    -----
    A reconstruction: Yang & Ju, section 1, only state that S-MPM has the one-norm in its objective and is a fractional
    program. Their source (reference 2) is not available.
    """
    moments = Moments.of(data, **options)
    m = new_biased_model("s-mpm", data, beta, moments)
    add_parameter(m, "lam", lam, "lambda, penalty weight of the one-norm")
    add_weight_parts(m)
    m.objective = pyo.Objective(
        expr=m.ratio - m.lam * one_norm(m),
        sense=pyo.maximize,
        doc="(3) w'(mu_1 - mu_2) - kappa(beta) ||F_2 w|| - lambda ||w||_1",
    )
    m.split = split_constraint(m, "(3)")
    return m


def new_biased_model(name: str, data: Dataset, beta: float, moments: Moments) -> pyo.ConcreteModel:
    """Return a model with w, t_1 <= 1, t_2, ``kappa``, and the ``ratio`` w'(mu_1 - mu_2) - kappa(beta) t_2."""
    beta = number(name, "beta", beta)
    m = new_model(name, data)
    m.kappa = pyo.Param(initialize=kappa(beta), mutable=True, doc="kappa(beta) = sqrt(beta / (1 - beta))")
    m.w = pyo.Var(m.J, doc="w, weights")
    add_deviations(m, moments, ("(4)", "(5)"))
    difference = dot(moments.mean1 - moments.mean2, tuple(m.w.values()))
    m.ratio = pyo.Expression(expr=difference - m.kappa * m.t2, doc="w'(mu_1 - mu_2) - kappa(beta) t_2")
    # Without loss of generality: multiples of w have the same ratio.
    m.length = pyo.Constraint(expr=m.t1 <= 1, doc="(4) ||F_1 w|| <= 1")
    return m


def penalised_ratio(moments: Moments, w: Vector, beta: float, lam: float = 0.0) -> float:
    r"""Return :math:`(w'(\mu_1 - \mu_2) - \kappa(\beta)\|F_2w\| - \lambda\|w\|_1)/\|F_1w\|` at w (p,), nonzero."""
    penalty = kappa(beta) * np.linalg.norm(moments.factor2 @ w) + lam * np.abs(w).sum()
    return float(((moments.mean1 - moments.mean2) @ w - penalty) / np.linalg.norm(moments.factor1 @ w))


def complete_mpm(data: Dataset, w: Vector, b: float, **options: Any) -> dict[str, Any]:
    """Return the variables of ``mpm`` at a hyperplane."""
    return deviations_at(data, w, **options)


def complete_s_mpm(
    data: Dataset, w: Vector, b: float, *, beta: float = 0.5, lam: float = 0.1, **options: Any
) -> dict[str, Any]:
    """Return the variables of ``s-mpm`` at a hyperplane, whose weights are scaled to ||F_1 w|| = 1."""
    unit = w / max(float(deviations_at(data, w, **options)["t1"]), 1e-300)
    return {**deviations_at(data, unit, **options), **weight_parts(unit)}


SPECS = (
    ModelSpec("mpm", build_mpm, "SOCP", equation="(3)-(5)", instance=Instance(p=8), complete=complete_mpm),
    ModelSpec("bmpm", build_bmpm, "SOCP", equation="(3)-(5), biased", instance=Instance(n=8, p=4, gap=0.5)),
    ModelSpec(
        "s-mpm",
        build_s_mpm,
        "SOCP",
        equation="S-MPM, section 1",
        instance=Instance(n=8, p=4, gap=0.5),
        complete=complete_s_mpm,
    ),
)
