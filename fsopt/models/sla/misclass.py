"""Model ``misclass``: Mangasarian, (20), few misclassified samples."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.blocks import number
from fsopt.models.sla.smooth import exponentials, with_start


def build_misclass(data: Dataset, *, alpha: float = 5.0) -> pyo.ConcreteModel:
    r"""Return the smooth concave misclassification problem, a concave program over a polyhedron.

    .. math::

        \min\ \sum_i \left(1 - e^{-\alpha y_i}\right) + \sum_i \left(1 - e^{-\alpha z_i}\right)
        \quad\text{s.t.}\quad y \ge -Aw + e\gamma + e,\ z \ge Bw - e\gamma + e,\ y, z \ge 0

    Parameters
    ----------
    alpha : > 0, steepness of the approximation of the step function; the paper takes 5.

    Returns
    -------
    ConcreteModel
        NLP. Variables ``w gamma y z``, constraints ``errors_a errors_b``. It starts at w = 0, gamma = 0 and errors of
        1. A local solver's answer is stationary, no more; the optimum is at most the least count of (5).

    Raises
    ------
    ParameterError : alpha <= 0.

    Notes
    -----
    Paper 3, problem (20).
    """
    alpha = number("misclass", "alpha", alpha, low=0.0, strict=True)
    m = with_start("misclass", data, "(20)")
    m.objective = pyo.Objective(
        expr=exponentials(alpha, [*m.y.values(), *m.z.values()]), doc="(20) sum (1 - exp(-alpha y)) + sum (1 - exp(-alpha z))"
    )
    return m


SPEC = ModelSpec("misclass", build_misclass, "NLP", paper="sla", equation="(20)", instance=Instance(n=10, p=2, gap=0.25, params={"alpha": 1.0}), trial=Instance(n=12, p=2, gap=0.7, seed=7))
