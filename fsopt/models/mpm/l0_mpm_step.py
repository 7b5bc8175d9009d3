"""Model ``l0-mpm-step``: Yang & Ju, (42)-(46), the convex program of one DCA iteration."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import numpy as np
import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.blocks import number, vector
from fsopt.models.mpm.moments import Moments
from fsopt.models.mpm.sparse import new_sparse_model
from numpy.typing import ArrayLike


def build_l0_mpm_step(
    data: Dataset,
    *,
    delta: float = 0.5,
    alpha: float = 5.0,
    v: ArrayLike | None = None,
    unbiased: bool = False,
    ridge: float = 0.0,
) -> pyo.ConcreteModel:
    r"""Return the convex program that DCA solves in each step of L0-MPM: a weighted L1-MPM.

    .. math::

        \min\ \sum_j (\alpha - v_j) w^+_j + (\alpha + v_j) w^-_j \quad\text{s.t. as in L1-MPM},
        \qquad v_j = \operatorname{sign}(w^k_j)\,\alpha(1 - e^{-\alpha|w^k_j|})

    which is :math:`\alpha e'|w| - v'w`, the paper's objective with t = |w|.

    Parameters
    ----------
    data, delta, unbiased, ridge : as in :func:`build_l1_mpm`.
    alpha : > 0, steepness of the approximation :math:`1 - e^{-\alpha|w|}` of the step function; for another
        approximation its slope at 0, see :mod:`fsopt.drivers.penalties.registry`.
    v : (p,) gradient of the concave part at the last iterate, |v_j| <= alpha; zeros by default.

    Returns
    -------
    ConcreteModel
        SOCP; components as in :func:`build_l1_mpm`, and the mutable parameter ``v``: change it and update
        the objective to go to the next step.

    Raises
    ------
    ParameterError : delta outside (0, 1), alpha <= 0, ridge < 0, or v that is not p numbers in [-alpha, alpha].

    Notes
    -----
    Paper 2, problem (42)-(46) of the DCA for (32)-(36).
    """
    alpha = number("l0-mpm-step", "alpha", alpha, low=0.0, strict=True)
    start = np.zeros(data.p) if v is None else vector("l0-mpm-step", "v", v, data.p, low=-alpha, high=alpha)
    moments = Moments.of(data, unbiased=unbiased, ridge=ridge)
    m = new_sparse_model("l0-mpm-step", data, moments, delta, ("(43)", "(44)", "(46)"))
    m.v = pyo.Param(m.J, initialize=dict(enumerate(start.tolist())), mutable=True, doc="v^k, gradient of h")
    m.objective = pyo.Objective(
        expr=pyo.quicksum((alpha - m.v[j]) * m.w_plus[j] + (alpha + m.v[j]) * m.w_minus[j] for j in m.J),
        doc="(42) alpha e't - v'w",
    )
    return m


SPEC = ModelSpec("l0-mpm-step", build_l0_mpm_step, "SOCP", paper="mpm", equation="(42)-(46)", instance=Instance(p=8, params={"alpha": 5.0, "v": [4.5, -4.0, 0.0, 0.0, 2.5, 0.0, 0.0, -1.0]}))
