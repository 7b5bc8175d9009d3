"""Model ``l1-mpm``: Yang & Ju, (12)-(15), smallest one-norm at a worst-case accuracy."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from fsopt.common.docstrings import with_keywords_of
from fsopt.data import Dataset
from fsopt.models.blocks import one_norm
from fsopt.models.mpm.moments import Moments
from fsopt.models.mpm.worst_case import Equations, add_worst_case, new_worst_case_model
from fsopt.models.spec import Instance, ModelSpec


@with_keywords_of(Moments.of)
def build_l1_mpm(data: Dataset, *, delta: float = 0.5, **options: Any) -> pyo.ConcreteModel:
    r"""Return L1-MPM: the hyperplane of smallest one-norm with worst-case accuracy delta on both classes.

    .. math::

        \min\ & e'(w^+ + w^-) \\
        \text{s.t.}\ & m_1 = w'\mu_1 - b \ge \kappa(\delta)\|F_1w\|, \quad m_1 \ge 1 \\
        & m_2 = b - w'\mu_2 \ge \kappa(\delta)\|F_2w\|, \quad m_2 \ge 1 \\
        & w = w^+ - w^-, \quad w^+, w^- \ge 0

    with the mean :math:`\mu_k` and the covariance :math:`S_k = F_k'F_k` of class k; class 1 is y = +1, and
    :math:`\kappa(\delta) = \sqrt{\delta/(1-\delta)}`.

    Parameters
    ----------
    data : Dataset
        Standardised features if the selection matters; the one-norm depends on their units.
    delta : float, default 0.5
        In (0, 1), the worst-case accuracy; feasible iff it is at most the alpha* of ``mpm``.

    Returns
    -------
    ConcreteModel
        SOCP, two cones. Variables ``w w_plus w_minus b m1 m2 u1 t1 u2 t2``, constraints ``spread1 deviation1 spread2
        deviation2 split mean1 mean2 accuracy1 accuracy2``. The hyperplane is w'x = b: the classifier is sign(w'x - b).

    Raises
    ------
    ParameterError : delta outside (0, 1), ridge < 0, or unbiased with a class of one sample. The builder does not
        check that delta is feasible; the method does.

    Notes
    -----
    Yang & Ju, (12)-(15), with the accuracies in the form (22)-(23).
    """
    moments = Moments.of(data, **options)
    m = new_worst_case_model("l1-mpm", data)
    m.objective = pyo.Objective(expr=one_norm(m), doc="(12) ||w||_1")
    add_worst_case(m, moments, delta, Equations("(13)", "(14)", means="(23)", split="(12)"))
    return m


SPEC = ModelSpec(
    "l1-mpm", build_l1_mpm, "SOCP", paper="mpm", equation="(12)-(15)", instance=Instance(p=8, params={"delta": 0.6})
)
