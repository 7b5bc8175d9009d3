"""L0-MPM of Yang & Ju: its approximation, the step of DCA, and the number of features itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.common.arguments import with_keywords_of
from fsopt.data import Dataset
from fsopt.models.blocks import add_parameter, mutable, number, total, vector
from fsopt.models.mpm.l1_mpm import add_worst_case, complete_worst_case, new_worst_case_model
from fsopt.models.mpm.moments import Moments
from fsopt.models.spec import TRIAL, Instance, ModelSpec


@with_keywords_of(Moments.of)
def build_l0_mpm(
    data: Dataset,
    *,
    delta: float = 0.5,
    alpha: float = 5.0,
    **options: Any,
) -> pyo.ConcreteModel:
    r"""Return L0-MPM: few features, counted by a smooth concave function, at worst-case accuracy delta.

    .. math::

        \min\ & \sum_j \big(1 - e^{-\alpha(w^+_j + w^-_j)}\big) \\
        \text{s.t.}\ & m_1 = w'\mu_1 - b \ge \kappa(\delta)\|F_1w\|, \quad m_1 \ge 1 \\
        & m_2 = b - w'\mu_2 \ge \kappa(\delta)\|F_2w\|, \quad m_2 \ge 1 \\
        & w = w^+ - w^-, \quad w^+, w^- \ge 0

    with the mean :math:`\mu_k` and the covariance :math:`S_k = F_k'F_k` of class k; class 1 is y = +1, and
    :math:`\kappa(\delta) = \sqrt{\delta/(1-\delta)}`. The objective is that of the paper at
    :math:`|w_j| = w^+_j + w^-_j`. It decreases if both parts of a weight decrease together: one of them is 0 at every
    local optimum, and no absolute value is needed.

    Parameters
    ----------
    data : Standardised features if the selection matters; the objective depends on their units.
    delta : In (0, 1), the worst-case accuracy; feasible iff it is at most the alpha* of ``mpm``.
    alpha : > 0, steepness of the approximation :math:`1 - e^{-\alpha|w|}` of the step function.

    Returns
    -------
    ConcreteModel
        NLP with a concave objective over a convex set, with a local optimum for each of many selections. Components as
        in ``l1-mpm``, and the mutable parameter ``alpha``. Global solvers close the optimality gap for a few features
        only; DCA solves a sequence of ``l0-mpm-step`` instead.

    Raises
    ------
    ParameterError : delta outside (0, 1), alpha <= 0, ridge < 0, or unbiased with a class of one sample.

    Notes
    -----
    Yang & Ju, (32)-(36).
    """
    moments = Moments.of(data, **options)
    m = new_worst_case_model("l0-mpm", data)
    add_parameter(m, "alpha", alpha, "alpha, steepness of the approximation")
    m.objective = pyo.Objective(
        expr=pyo.quicksum(1 - pyo.exp(-m.alpha * (m.w_plus[j] + m.w_minus[j])) for j in m.J),
        doc="(32) sum_j 1 - exp(-alpha |w_j|)",
    )
    add_worst_case(m, moments, delta, ("(33)", "(34)", "(35)", "(32)"))
    return m


@with_keywords_of(Moments.of)
def build_l0_mpm_step(
    data: Dataset,
    *,
    delta: float = 0.5,
    alpha: float = 5.0,
    v: ArrayLike | None = None,
    **options: Any,
) -> pyo.ConcreteModel:
    r"""Return the convex program of one DCA step on L0-MPM: a weighted L1-MPM.

    .. math::

        \min\ & \sum_j (\alpha - v_j) w^+_j + (\alpha + v_j) w^-_j, \qquad
        v_j = \operatorname{sign}(w^k_j)\,\alpha(1 - e^{-\alpha|w^k_j|}) \\
        \text{s.t.}\ & m_1 = w'\mu_1 - b \ge \kappa(\delta)\|F_1w\|, \quad m_1 \ge 1 \\
        & m_2 = b - w'\mu_2 \ge \kappa(\delta)\|F_2w\|, \quad m_2 \ge 1 \\
        & w = w^+ - w^-, \quad w^+, w^- \ge 0

    with the iterate :math:`w^k`, the mean :math:`\mu_k` and the covariance :math:`S_k = F_k'F_k` of class k; class 1 is
    y = +1, and :math:`\kappa(\delta) = \sqrt{\delta/(1-\delta)}`. The objective is :math:`\alpha e'|w| - v'w`, that of
    the paper with t = |w|.

    Parameters
    ----------
    data : Standardised features if the selection matters; the objective depends on their units.
    delta : In (0, 1), the worst-case accuracy; feasible iff it is at most the alpha* of ``mpm``.
    alpha : > 0, steepness of the approximation :math:`1 - e^{-\alpha|w|}` of the step function; for another
        approximation its slope at 0, see :mod:`fsopt.drivers.penalties`.
    v : (p,) gradient of the concave part at the last iterate, |v_j| <= alpha; zeros by default.

    Returns
    -------
    ConcreteModel
        SOCP; components as in ``l1-mpm``, and the mutable parameters ``alpha`` and ``v``: change it and update the
        objective for the next step.

    Raises
    ------
    ParameterError : delta outside (0, 1), alpha <= 0, ridge < 0, unbiased with a class of one sample, or v that is not
        p numbers in [-alpha, alpha].

    Notes
    -----
    Yang & Ju, (42)-(46), with v of (40), in the DCA for (32)-(36).
    """
    alpha = number("l0-mpm-step", "alpha", alpha)
    start = np.zeros(data.p) if v is None else vector("l0-mpm-step", "v", v, data.p, low=-alpha, high=alpha)
    moments = Moments.of(data, **options)
    m = new_worst_case_model("l0-mpm-step", data)
    add_parameter(m, "alpha", alpha, "alpha, steepness of the approximation")
    m.v = mutable(m.J, start, "v^k, gradient of the concave part at the last iterate")
    m.objective = pyo.Objective(
        expr=pyo.quicksum((m.alpha - m.v[j]) * m.w_plus[j] + (m.alpha + m.v[j]) * m.w_minus[j] for j in m.J),
        doc="(42) alpha e't - v'w",
    )
    add_worst_case(m, moments, delta, ("(43)", "(44)", "(45)", "(46)"))
    return m


@with_keywords_of(Moments.of)
def build_l0_mpm_exact(
    data: Dataset,
    *,
    delta: float = 0.5,
    big_m: float = 100.0,
    **options: Any,
) -> pyo.ConcreteModel:
    r"""Return L0-MPM with a binary variable for each feature: fewest features at worst-case accuracy delta.

    .. math::

        \min\ & e't \\
        \text{s.t.}\ & m_1 = w'\mu_1 - b \ge \kappa(\delta)\|F_1w\|, \quad m_1 \ge 1 \\
        & m_2 = b - w'\mu_2 \ge \kappa(\delta)\|F_2w\|, \quad m_2 \ge 1 \\
        & w = w^+ - w^-, \quad 0 \le w^+, w^-, \quad w^+_j + w^-_j \le M t_j, \quad t \in \{0, 1\}^p

    with the mean :math:`\mu_k` and the covariance :math:`S_k = F_k'F_k` of class k; class 1 is y = +1, and
    :math:`\kappa(\delta) = \sqrt{\delta/(1-\delta)}`. The probabilities of (16)-(19) are at least delta for all laws
    with these moments if and only if the cone constraints hold (Lemma 1). A selection is feasible if and only if its
    own alpha* is at least delta, so more features never hurt, and the optimum is the size of the smallest such
    selection. M is an upper bound on the weights of a hyperplane of it; with an M that is too small, the optimum is
    silently larger.

    Parameters
    ----------
    data : Standardised features; M is in units of 1 / feature.
    delta : In (0, 1), the worst-case accuracy; feasible iff it is at most the alpha* of ``mpm``.
    big_m : M > 0, upper bound on the size of a weight.

    Returns
    -------
    ConcreteModel
        MISOCP with p binary variables and two cones, for a few dozen features. Components as in ``l1-mpm``, and the
        variables ``t`` and the constraint ``selected``. The classifier is sign(w'x - b).

    Raises
    ------
    ParameterError : delta outside (0, 1), big_m <= 0, ridge < 0, or unbiased with a class of one sample.

    Notes
    -----
    Yang & Ju, (16)-(19) in the form (24)-(28).
    """
    big_m = number("l0-mpm-exact", "big_m", big_m)
    moments = Moments.of(data, **options)
    m = new_worst_case_model("l0-mpm-exact", data)
    m.t = pyo.Var(m.J, within=pyo.Binary, doc="t, selected features")

    def selected(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w_plus[j] + m.w_minus[j] - big_m * m.t[j] <= 0

    m.objective = pyo.Objective(expr=total(m.t), doc="(24) ||w||_0")
    add_worst_case(m, moments, delta, ("(25)", "(26)", "(27)", "(24)"))
    m.selected = pyo.Constraint(m.J, rule=selected, doc="(24) |w_j| <= M t_j")
    return m


SPECS = (
    ModelSpec(
        "l0-mpm",
        build_l0_mpm,
        "NLP",
        equation="(32)-(36)",
        instance=Instance(n=6, p=3, gap=0.5, params={"delta": 0.6}),
        trial=replace(TRIAL, params={"alpha": 1.0}),
    ),
    ModelSpec(
        "l0-mpm-step",
        build_l0_mpm_step,
        "SOCP",
        equation="(42)-(46)",
        complete=complete_worst_case,
        instance=Instance(p=8, params={"alpha": 5.0, "v": [4.5, -4.0, 0.0, 0.0, 2.5, 0.0, 0.0, -1.0]}),
    ),
    ModelSpec(
        "l0-mpm-exact",
        build_l0_mpm_exact,
        "MISOCP",
        equation="(24)-(28)",
        instance=Instance(n=12, p=4, params={"delta": 0.4}),
        trial=replace(TRIAL, params={"delta": 0.3}),
    ),
)
