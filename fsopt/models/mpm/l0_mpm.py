"""Model ``l0-mpm``: Yang & Ju, (32)-(36), few features at a worst-case accuracy."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from fsopt.common.docstrings import with_keywords_of
from fsopt.data import Dataset
from fsopt.models.blocks import number
from fsopt.models.mpm.moments import Moments
from fsopt.models.mpm.worst_case import Equations, add_worst_case, new_worst_case_model
from fsopt.models.spec import Instance, ModelSpec


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
    data : Dataset
        Standardised features if the selection matters; the objective depends on their units.
    delta : float, default 0.5
        In (0, 1), the worst-case accuracy; feasible iff it is at most the alpha* of ``mpm``.
    alpha : float, default 5.0
        > 0, steepness of the approximation :math:`1 - e^{-\alpha|w|}` of the step function.

    Returns
    -------
    ConcreteModel
        NLP with a concave objective over a convex set, with a local optimum for each of many selections. Components as
        in ``l1-mpm``. Global solvers close the optimality gap for a few features only; DCA solves a sequence of
        ``l0-mpm-step`` instead.

    Raises
    ------
    ParameterError : delta outside (0, 1), alpha <= 0, ridge < 0, or unbiased with a class of one sample.

    Notes
    -----
    Yang & Ju, (32)-(36).
    """
    alpha = number("l0-mpm", "alpha", alpha)
    moments = Moments.of(data, **options)
    m = new_worst_case_model("l0-mpm", data)
    m.objective = pyo.Objective(
        expr=pyo.quicksum(1 - pyo.exp(-alpha * (m.w_plus[j] + m.w_minus[j])) for j in m.J),
        doc="(32) sum_j 1 - exp(-alpha |w_j|)",
    )
    add_worst_case(m, moments, delta, Equations("(33)", "(34)", means="(35)", split="(32)"))
    return m


SPEC = ModelSpec(
    "l0-mpm",
    build_l0_mpm,
    "NLP",
    paper="mpm",
    equation="(32)-(36)",
    instance=Instance(n=6, p=3, gap=0.5, params={"delta": 0.6}),
    trial=Instance(n=24, p=5, gap=0.7, seed=7, params={"alpha": 1.0}),
)
