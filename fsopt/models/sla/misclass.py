"""Model ``misclass``: Mangasarian, (20), few misclassified samples by a concave approximation of their number."""

from __future__ import annotations

import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.models.blocks import number
from fsopt.models.sla.hyperplane import add_errors, new_hyperplane_model, set_start
from fsopt.models.sla.step_function import approximate_count
from fsopt.models.spec import Instance, ModelSpec


def build_misclass(data: Dataset, *, alpha: float = 5.0) -> pyo.ConcreteModel:
    r"""Return the smooth concave misclassification problem, a concave program over a polyhedron.

    .. math::

        \min\ & \sum_i \left(1 - e^{-\alpha y_i}\right) + \sum_i \left(1 - e^{-\alpha z_i}\right) \\
        \text{s.t.}\ & y \ge -Aw + e\gamma + e,\quad z \ge Bw - e\gamma + e,\quad y, z \ge 0

    where A (m, p) and B (k, p) hold the samples with labels +1 and -1.

    Parameters
    ----------
    data : Dataset
        In any units; the optimum does not depend on them.
    alpha : float, default 5.0
        > 0, steepness of the approximation of the step function; the paper takes 5.

    Returns
    -------
    ConcreteModel
        NLP. Variables ``w gamma y z``, constraints ``errors_a errors_b``. The classifier is sign(x'w - gamma). The
        start is w = 0, gamma = 0 and errors of 1. A local solver proves stationarity only. The optimum is at most the
        smallest number of errors, (5), because each exponential counts less than 1.

    Raises
    ------
    ParameterError : alpha <= 0.

    Notes
    -----
    Mangasarian, (20).
    """
    alpha = number("misclass", "alpha", alpha)
    m = new_hyperplane_model("misclass", data)
    set_start(m)
    m.objective = pyo.Objective(
        expr=approximate_count(alpha, m.y, m.z), doc="(20) sum_i 1 - exp(-alpha y_i) + sum_i 1 - exp(-alpha z_i)"
    )
    add_errors(m, data, "(20)")
    return m


SPEC = ModelSpec(
    "misclass",
    build_misclass,
    "NLP",
    paper="sla",
    equation="(20)",
    instance=Instance(n=10, p=2, gap=0.25, params={"alpha": 1.0}),
    trial=Instance(n=12, p=2, gap=0.7, seed=7),
)
