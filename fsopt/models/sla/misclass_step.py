"""Model ``misclass-step``: Mangasarian, (23), one linear program of SLA on (20)."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.data import Dataset
from fsopt.models.blocks import mutable, number, vector
from fsopt.models.sla.hyperplane import add_errors, new_hyperplane_model
from fsopt.models.sla.step_function import step_costs
from fsopt.models.spec import ModelSpec


def build_misclass_step(
    data: Dataset, *, alpha: float = 5.0, y: ArrayLike | None = None, z: ArrayLike | None = None
) -> pyo.ConcreteModel:
    r"""Return the linear program of one step of SLA on the misclassification problem.

    .. math::

        \min\ & \sum_i \alpha e^{-\alpha \bar y_i} y_i + \sum_i \alpha e^{-\alpha \bar z_i} z_i \\
        \text{s.t.}\ & y \ge -Aw + e\gamma + e,\quad z \ge Bw - e\gamma + e,\quad y, z \ge 0

    where A (m, p) and B (k, p) hold the samples with labels +1 and -1. The objective is the linearisation at
    :math:`(\bar y, \bar z)` of :math:`\sum_i (1 - e^{-\alpha y_i}) + \sum_i (1 - e^{-\alpha z_i})`, without its
    constant.

    Parameters
    ----------
    data : Dataset
        In any units; the optimum does not depend on them.
    alpha : float, default 5.0
        > 0, steepness of the approximation of the step function; the paper takes 5.
    y, z : array, optional
        Last iterate, errors >= 0 (m,) and (k,) of the samples in A and in B; zeros by default.

    Returns
    -------
    ConcreteModel
        LP. Variables ``w gamma y z``, constraints ``errors_a errors_b``, mutable parameters ``cost_y
        cost_z``: change them and update the objective for the next step.

    Raises
    ------
    ParameterError : alpha <= 0, or an iterate of the wrong length or with a negative entry.

    Notes
    -----
    Mangasarian, (20) and its step (23).
    """
    alpha = number("misclass-step", "alpha", alpha)
    m = new_hyperplane_model("misclass-step", data)
    for name, index, given in (("y", m.IA, y), ("z", m.IB, z)):
        at = np.zeros(len(index)) if given is None else vector(m.name, name, given, len(index), low=0.0)
        m.add_component(f"cost_{name}", mutable(index, step_costs(alpha, at), f"alpha exp(-alpha {name})"))
    m.objective = pyo.Objective(
        expr=pyo.quicksum(m.cost_y[i] * m.y[i] for i in m.IA) + pyo.quicksum(m.cost_z[i] * m.z[i] for i in m.IB),
        doc="(23) linearisation of (20)",
    )
    add_errors(m, data, "(20)")
    return m


SPEC = ModelSpec("misclass-step", build_misclass_step, "LP", paper="sla", equation="(20), (23)")
