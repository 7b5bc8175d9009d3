"""Model ``fsv-step``: Mangasarian, (23), one linear program of SLA on (21)."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.data import Dataset
from fsopt.models.blocks import mutable, number, vector
from fsopt.models.sla.hyperplane import add_errors, add_size_bounds, add_sizes, average_errors, new_hyperplane_model
from fsopt.models.sla.step_function import step_costs
from fsopt.models.spec import ModelSpec


def build_fsv_step(
    data: Dataset, *, lam: float = 0.05, alpha: float = 5.0, v: ArrayLike | None = None
) -> pyo.ConcreteModel:
    r"""Return the linear program of one step of SLA on the feature selection problem (FSV).

    .. math::

        \min\ & (1-\lambda)\left(\tfrac1m e'y + \tfrac1k e'z\right)
        + \lambda \sum_j \alpha e^{-\alpha \bar v_j} v_j \\
        \text{s.t.}\ & y \ge -Aw + e\gamma + e,\quad z \ge Bw - e\gamma + e,\quad y, z \ge 0 \\
        & -v \le w \le v

    where A (m, p) and B (k, p) hold the samples with labels +1 and -1. The last term is the linearisation at
    :math:`\bar v` of :math:`\lambda \sum_j (1 - e^{-\alpha v_j})`, without its constant.

    Parameters
    ----------
    data : Dataset
        Features in comparable units; the optimum depends on them.
    lam : float, default 0.05
        In [0, 1], penalty weight of the number of features.
    alpha : float, default 5.0
        > 0, steepness of the approximation of the step function; the paper takes 5.
    v : array, optional
        (p,) last iterate, >= 0; zeros by default (the first program is then the one-norm problem).

    Returns
    -------
    ConcreteModel
        LP with n + 2p constraints. Variables ``w gamma y z v``, constraints ``errors_a errors_b above below``,
        mutable parameter ``cost_v``: change it and update the objective for the next step.

    Raises
    ------
    ParameterError : lam outside [0, 1], alpha <= 0, or v of the wrong length or with a negative entry.

    Notes
    -----
    Mangasarian, (21) and its step (23).
    """
    lam = number("fsv-step", "lam", lam)
    alpha = number("fsv-step", "alpha", alpha)
    at = np.zeros(data.p) if v is None else vector("fsv-step", "v", v, data.p, low=0.0)
    m = new_hyperplane_model("fsv-step", data)
    add_sizes(m)
    m.cost_v = mutable(m.J, step_costs(alpha, at), "alpha exp(-alpha v)")
    m.objective = pyo.Objective(
        expr=(1 - lam) * average_errors(m, data) + lam * pyo.quicksum(m.cost_v[j] * m.v[j] for j in m.J),
        doc="(23) linearisation of (21)",
    )
    add_errors(m, data, "(21)")
    add_size_bounds(m)
    return m


SPEC = ModelSpec("fsv-step", build_fsv_step, "LP", paper="sla", equation="(21), (23)", weights="classes")
