"""Model ``fsv``: Mangasarian, (21), few features by a concave approximation of their number."""

from __future__ import annotations

import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.models.blocks import number
from fsopt.models.sla.hyperplane import (
    add_errors,
    add_size_bounds,
    add_sizes,
    average_errors,
    new_hyperplane_model,
    set_start,
)
from fsopt.models.sla.step_function import approximate_count
from fsopt.models.spec import Instance, ModelSpec


def build_fsv(data: Dataset, *, lam: float = 0.05, alpha: float = 5.0) -> pyo.ConcreteModel:
    r"""Return the smooth concave feature selection problem (FSV), a concave program over a polyhedron.

    .. math::

        \min\ & (1-\lambda)\left(\tfrac1m e'y + \tfrac1k e'z\right)
        + \lambda \sum_j \left(1 - e^{-\alpha v_j}\right) \\
        \text{s.t.}\ & y \ge -Aw + e\gamma + e,\quad z \ge Bw - e\gamma + e,\quad y, z \ge 0 \\
        & -v \le w \le v

    where A (m, p) and B (k, p) hold the samples with labels +1 and -1.

    Parameters
    ----------
    data : Dataset
        Features in comparable units; the optimum depends on them.
    lam : float, default 0.05
        In [0, 1], penalty weight of the number of features.
    alpha : float, default 5.0
        > 0, steepness of the approximation of the step function; the paper takes 5.

    Returns
    -------
    ConcreteModel
        NLP. Variables ``w gamma y z v``, constraints ``errors_a errors_b above below``. The classifier is
        sign(x'w - gamma). The start is w = v = 0, gamma = 0 and errors of 1. A local solver proves stationarity only.
        The optimum is at most that of (17), because each exponential counts less than 1.

    Raises
    ------
    ParameterError : lam outside [0, 1], or alpha <= 0.

    Notes
    -----
    Mangasarian, (21).
    """
    lam = number("fsv", "lam", lam)
    alpha = number("fsv", "alpha", alpha)
    m = new_hyperplane_model("fsv", data)
    set_start(m)
    add_sizes(m)
    for v in m.v.values():
        v.set_value(0.0)
    m.objective = pyo.Objective(
        expr=(1 - lam) * average_errors(m, data) + lam * approximate_count(alpha, m.v),
        doc="(21) (1 - lambda) (e'y/m + e'z/k) + lambda sum_j 1 - exp(-alpha v_j)",
    )
    add_errors(m, data, "(21)")
    add_size_bounds(m)
    return m


SPEC = ModelSpec(
    "fsv",
    build_fsv,
    "NLP",
    paper="sla",
    equation="(21)",
    instance=Instance(n=12, p=3),
    trial=Instance(n=12, p=2, gap=0.7, seed=7),
    weights="classes",
)
