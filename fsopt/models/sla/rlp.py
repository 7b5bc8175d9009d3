"""Model ``rlp``: Mangasarian, (17) with lambda = 0, the robust linear program."""

from __future__ import annotations

import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.models.sla.hyperplane import add_errors, average_errors, new_hyperplane_model
from fsopt.models.spec import ModelSpec


def build_rlp(data: Dataset) -> pyo.ConcreteModel:
    r"""Return the robust linear program: the hyperplane of smallest average error.

    .. math::

        \min\ & \tfrac1m e'y + \tfrac1k e'z \\
        \text{s.t.}\ & y \ge -Aw + e\gamma + e,\quad z \ge Bw - e\gamma + e,\quad y, z \ge 0

    where A (m, p) and B (k, p) hold the samples with labels +1 and -1.

    Parameters
    ----------
    data : Dataset
        In any units; the optimum does not depend on them.

    Returns
    -------
    ConcreteModel
        LP with n constraints and n + p + 1 variables. Variables ``w gamma y z``, constraints ``errors_a errors_b``.
        The classifier is sign(x'w - gamma).

    Notes
    -----
    Mangasarian, (17) with lambda = 0.
    """
    m = new_hyperplane_model("rlp", data)
    m.objective = pyo.Objective(expr=average_errors(m, data), doc="(17), lambda = 0: e'y/m + e'z/k")
    add_errors(m, data, "(17)")
    return m


SPEC = ModelSpec("rlp", build_rlp, "LP", paper="sla", equation="(17), lambda = 0", weights="classes")
