"""Model ``l0-mpm-step``: Yang & Ju, (42)-(46), the convex program of one DCA iteration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.common.docstrings import with_keywords_of
from fsopt.data import Dataset
from fsopt.models.blocks import mutable, number, vector
from fsopt.models.mpm.moments import Moments
from fsopt.models.mpm.worst_case import Equations, add_worst_case, new_worst_case_model
from fsopt.models.spec import Instance, ModelSpec


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
    data : Dataset
        Standardised features if the selection matters; the objective depends on their units.
    delta : float, default 0.5
        In (0, 1), the worst-case accuracy; feasible iff it is at most the alpha* of ``mpm``.
    alpha : float, default 5.0
        > 0, steepness of the approximation :math:`1 - e^{-\alpha|w|}` of the step function; for another approximation
        its slope at 0, see :mod:`fsopt.drivers.penalties.registry`.
    v : array, optional
        (p,) gradient of the concave part at the last iterate, |v_j| <= alpha; zeros by default.

    Returns
    -------
    ConcreteModel
        SOCP; components as in ``l1-mpm``, and the mutable parameter ``v``: change it and update the objective for the
        next step.

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
    m.v = mutable(m.J, start, "v^k, gradient of the concave part at the last iterate")
    m.objective = pyo.Objective(
        expr=pyo.quicksum((alpha - m.v[j]) * m.w_plus[j] + (alpha + m.v[j]) * m.w_minus[j] for j in m.J),
        doc="(42) alpha e't - v'w",
    )
    add_worst_case(m, moments, delta, Equations("(43)", "(44)", means="(45)", split="(46)"))
    return m


SPEC = ModelSpec(
    "l0-mpm-step",
    build_l0_mpm_step,
    "SOCP",
    paper="mpm",
    equation="(42)-(46)",
    instance=Instance(p=8, params={"alpha": 5.0, "v": [4.5, -4.0, 0.0, 0.0, 2.5, 0.0, 0.0, -1.0]}),
)
