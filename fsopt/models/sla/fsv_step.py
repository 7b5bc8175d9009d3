"""Model ``fsv-step``: Mangasarian, (23), one linear program of SLA on (21)."""

from __future__ import annotations

from fsopt.models.spec import ModelSpec

import numpy as np
import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.blocks import number, vector
from fsopt.models.sla.hyperplane import add_sizes, average_errors, costs, new_hyperplane_model
from numpy.typing import ArrayLike


def build_fsv_step(
    data: Dataset, *, lam: float = 0.05, alpha: float = 5.0, v: ArrayLike | None = None
) -> pyo.ConcreteModel:
    r"""Return the linear program that SLA solves in each step of concave feature selection (FSV).

    .. math::

        \min\ (1-\lambda)\left(\tfrac1m e'y + \tfrac1k e'z\right)
        + \lambda \sum_j \alpha e^{-\alpha \bar v_j} v_j
        \quad\text{s.t.}\quad & y \ge -Aw + e\gamma + e,\ z \ge Bw - e\gamma + e,\ y, z \ge 0 \\
        & -v \le w \le v

    the linearisation at :math:`\bar v` of the same with :math:`\lambda \sum_j (1 - e^{-\alpha v_j})`.

    Parameters
    ----------
    data : columns in comparable units; the problem is not scale invariant.
    lam : in [0, 1], weight of feature suppression.
    alpha : > 0, steepness of the approximation of the step function; the paper takes 5.
    v : (p,) last iterate, >= 0; zeros by default (the first program is then the 1-norm problem).

    Returns
    -------
    ConcreteModel
        LP with n + 2p rows. Variables ``w gamma y z v``, constraints ``errors_a errors_b above below``,
        mutable parameter ``cost_v``.

    Raises
    ------
    ParameterError : lam outside [0, 1], alpha <= 0, or v of the wrong length or sign.

    Notes
    -----
    Paper 3, problem (21) and its step (23).
    """
    lam = number("fsv-step", "lam", lam, low=0.0, high=1.0)
    alpha = number("fsv-step", "alpha", alpha, low=0.0, strict=True)
    at = np.zeros(data.p) if v is None else vector("fsv-step", "v", v, data.p, low=0.0)
    m = new_hyperplane_model("fsv-step", data, "(21)")
    add_sizes(m)
    m.cost_v = pyo.Param(m.J, initialize=costs(alpha, at), mutable=True, doc="alpha exp(-alpha v)")
    m.objective = pyo.Objective(
        expr=(1 - lam) * average_errors(m) + lam * pyo.quicksum(m.cost_v[j] * m.v[j] for j in m.J),
        doc="(23) linearisation of (21)",
    )
    return m


SPEC = ModelSpec("fsv-step", build_fsv_step, "LP", paper="sla", equation="(21), (23)")
