"""Model ``fsv-exact``: Mangasarian, (17), the number of features with binary variables."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.models.blocks import number, total
from fsopt.models.sla.hyperplane import add_errors, average_errors, new_hyperplane_model
from fsopt.models.spec import ModelSpec


def build_fsv_exact(data: Dataset, *, lam: float = 0.05, big_m: float = 1e4) -> pyo.ConcreteModel:
    r"""Return the feature selection problem with a binary variable for each feature.

    .. math::

        \min\ & (1-\lambda)\left(\tfrac1m e'y + \tfrac1k e'z\right) + \lambda e't \\
        \text{s.t.}\ & y \ge -Aw + e\gamma + e,\quad z \ge Bw - e\gamma + e,\quad y, z \ge 0 \\
        & -M t \le w \le M t,\quad t \in \{0, 1\}^p

    where A (m, p) and B (k, p) hold the samples with labels +1 and -1. M is an upper bound on the weights of the best
    hyperplane. If M is too small, the optimum is silently larger than that of (17).

    Parameters
    ----------
    data : Dataset
        Features of comparable size, about 1.
    lam : float, default 0.05
        In [0, 1], penalty weight of a feature.
    big_m : float, default 10000.0
        M > 0, upper bound on the size of a weight, in units of 1 / feature.

    Returns
    -------
    ConcreteModel
        MILP with p binary variables. Variables ``w gamma y z t``, constraints ``errors_a errors_b above below``. The
        classifier is sign(x'w - gamma). The optimum is an upper bound on that of (21), whose exponentials count less
        than 1 for each feature.

    Raises
    ------
    ParameterError : lam outside [0, 1], or big_m <= 0.

    Notes
    -----
    Mangasarian, (17), with t for the step function of v.
    """
    lam = number("fsv-exact", "lam", lam)
    big_m = number("fsv-exact", "big_m", big_m)
    m = new_hyperplane_model("fsv-exact", data)
    m.t = pyo.Var(m.J, within=pyo.Binary, doc="t = step(|w|), selected features")

    def above(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] - big_m * m.t[j] <= 0

    def below(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] + big_m * m.t[j] >= 0

    m.objective = pyo.Objective(
        expr=(1 - lam) * average_errors(m, data) + lam * total(m.t),
        doc="(17) (1 - lambda) (e'y/m + e'z/k) + lambda e't",
    )
    add_errors(m, data, "(17)")
    m.above = pyo.Constraint(m.J, rule=above, doc="(17) w <= M t")
    m.below = pyo.Constraint(m.J, rule=below, doc="(17) -M t <= w")
    return m


SPEC = ModelSpec("fsv-exact", build_fsv_exact, "MILP", paper="sla", equation="(17)", weights="classes")
