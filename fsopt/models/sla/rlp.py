"""Model ``rlp``: Mangasarian, (17) with lambda = 0, the robust linear program."""

from __future__ import annotations

from fsopt.models.spec import ModelSpec

import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.sla.hyperplane import average_errors, new_hyperplane_model


def build_rlp(data: Dataset) -> pyo.ConcreteModel:
    r"""Return the robust linear program: least average error of a hyperplane.

    .. math::

        \min\ \tfrac1m e'y + \tfrac1k e'z \quad\text{s.t.}\quad
        y \ge -Aw + e\gamma + e,\quad z \ge Bw - e\gamma + e,\quad y, z \ge 0

    Returns
    -------
    ConcreteModel
        LP with n rows and n + p + 1 columns. Variables ``w gamma y z``, constraints ``errors_a errors_b``.

    Notes
    -----
    Paper 3, problem (17) with lambda = 0.
    """
    m = new_hyperplane_model("rlp", data, "(17)")
    m.objective = pyo.Objective(expr=average_errors(m), doc="(17), lambda = 0: e'y/m + e'z/k")
    return m


SPEC = ModelSpec("rlp", build_rlp, "LP", paper="sla", equation="(17), lambda = 0")
