"""Model ``misclass-step``: Mangasarian, (23), one linear program of SLA on (20)."""

from __future__ import annotations

from fsopt.models.spec import ModelSpec

import numpy as np
import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.blocks import number, vector
from fsopt.models.sla.hyperplane import costs, new_hyperplane_model
from numpy.typing import ArrayLike


def build_misclass_step(
    data: Dataset, *, alpha: float = 5.0, y: ArrayLike | None = None, z: ArrayLike | None = None
) -> pyo.ConcreteModel:
    r"""Return the linear program that SLA solves in each step of misclassification minimisation.

    .. math::

        \min\ \sum_i \alpha e^{-\alpha \bar y_i} y_i + \sum_i \alpha e^{-\alpha \bar z_i} z_i
        \quad\text{s.t.}\quad y \ge -Aw + e\gamma + e,\ z \ge Bw - e\gamma + e,\ y, z \ge 0

    the linearisation at :math:`(\bar y, \bar z)` of :math:`\sum_i (1 - e^{-\alpha y_i}) + \sum_i (1 -
    e^{-\alpha z_i})`.

    Parameters
    ----------
    alpha : > 0, steepness of the approximation of the step function; the paper takes 5.
    y, z : last iterate, errors >= 0 of the rows with y = +1 and y = -1; zeros by default.

    Returns
    -------
    ConcreteModel
        LP. Variables ``w gamma y z``, constraints ``errors_a errors_b``, mutable parameters ``cost_y
        cost_z``: change them and update the objective to go to the next step.

    Raises
    ------
    ParameterError : alpha <= 0, or an iterate of the wrong length or sign.

    Notes
    -----
    Paper 3, problem (20) and its step (23).
    """
    alpha = number("misclass-step", "alpha", alpha, low=0.0, strict=True)
    m = new_hyperplane_model("misclass-step", data, "(20)")
    for name, index, given in (("y", m.IA, y), ("z", m.IB, z)):
        at = np.zeros(len(index)) if given is None else vector(m.name, name, given, len(index), low=0.0)
        cost = pyo.Param(index, initialize=costs(alpha, at), mutable=True, doc=f"alpha exp(-alpha {name})")
        m.add_component(f"cost_{name}", cost)
    m.objective = pyo.Objective(
        expr=pyo.quicksum(m.cost_y[i] * m.y[i] for i in m.IA) + pyo.quicksum(m.cost_z[i] * m.z[i] for i in m.IB),
        doc="(23) linearisation of (20)",
    )
    return m


SPEC = ModelSpec("misclass-step", build_misclass_step, "LP", paper="sla", equation="(20), (23)")
