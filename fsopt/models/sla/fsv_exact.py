"""Model ``fsv-exact``: Mangasarian, (17), features counted by integers."""

from __future__ import annotations

from fsopt.models.spec import ModelSpec

import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.blocks import number
from fsopt.models.sla.hyperplane import average_errors, new_hyperplane_model
from typing import Any


def build_fsv_exact(data: Dataset, *, lam: float = 0.05, big_m: float = 1e4) -> pyo.ConcreteModel:
    r"""Return the feature selection problem with a binary variable for each feature.

    .. math::

        \min\ (1-\lambda)\left(\tfrac1m e'y + \tfrac1k e'z\right) + \lambda e't \quad\text{s.t.}\quad
        & y \ge -Aw + e\gamma + e,\ z \ge Bw - e\gamma + e,\ y, z \ge 0 \\
        & -M t \le w \le M t,\quad t \in \{0, 1\}^n

    M bounds the weights of the best hyperplane. Too small an M is silently worse, as in :func:`build_misclass_milp`.

    Parameters
    ----------
    data : columns of comparable size, about 1.
    lam : in [0, 1], price of a feature.
    big_m : M > 0, the largest weight, in 1 / units of the features.

    Returns
    -------
    ConcreteModel
        MILP with p binary variables. Variables ``w gamma y z t``, constraints ``errors_a errors_b above below``. Its
        optimum is an upper bound of the optimum of (21), whose exponentials count less than 1 for each feature.

    Raises
    ------
    ParameterError : lam outside [0, 1], or big_m <= 0.

    Notes
    -----
    Paper 3, problem (17), with t for the step function of v.
    """
    lam = number("fsv-exact", "lam", lam, low=0.0, high=1.0)
    big_m = number("fsv-exact", "big_m", big_m, low=0.0, strict=True)
    m = new_hyperplane_model("fsv-exact", data, "(17)")
    m.t = pyo.Var(m.J, within=pyo.Binary, doc="(17) t = step(|w|), selected features")

    def above(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] - big_m * m.t[j] <= 0

    def below(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] + big_m * m.t[j] >= 0

    m.above = pyo.Constraint(m.J, rule=above, doc="(17) w <= M t")
    m.below = pyo.Constraint(m.J, rule=below, doc="(17) -M t <= w")
    m.objective = pyo.Objective(
        expr=(1 - lam) * average_errors(m) + lam * pyo.quicksum(m.t.values()),
        doc="(17) (1 - lambda) (e'y/m + e'z/k) + lambda e't",
    )
    return m


SPEC = ModelSpec("fsv-exact", build_fsv_exact, "MILP", paper="sla", equation="(17)")
