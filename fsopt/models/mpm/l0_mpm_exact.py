"""Model ``l0-mpm-exact``: Yang & Ju, (24)-(28), the number of features itself at a worst-case accuracy."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from fsopt.common.docstrings import with_keywords_of
from fsopt.data import Dataset
from fsopt.models.blocks import number, total
from fsopt.models.mpm.moments import Moments
from fsopt.models.mpm.worst_case import Equations, add_worst_case, new_worst_case_model
from fsopt.models.spec import Instance, ModelSpec


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
    data : Dataset
        Standardised features; M is in units of 1 / feature.
    delta : float, default 0.5
        In (0, 1), the worst-case accuracy; feasible iff it is at most the alpha* of ``mpm``.
    big_m : float, default 100.0
        M > 0, upper bound on the size of a weight.

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
    add_worst_case(m, moments, delta, Equations("(25)", "(26)", means="(27)", split="(24)"))
    m.selected = pyo.Constraint(m.J, rule=selected, doc="(24) |w_j| <= M t_j")
    return m


SPEC = ModelSpec(
    "l0-mpm-exact",
    build_l0_mpm_exact,
    "MISOCP",
    paper="mpm",
    equation="(24)-(28)",
    instance=Instance(n=12, p=4, params={"delta": 0.4}),
    trial=Instance(n=24, p=5, gap=0.7, seed=7, params={"delta": 0.3}),
)
