"""Model ``fsv``: Mangasarian, (21), few features."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.blocks import number
from fsopt.models.sla.hyperplane import add_sizes, average_errors
from fsopt.models.sla.smooth import exponentials, with_start


def build_fsv(data: Dataset, *, lam: float = 0.05, alpha: float = 5.0) -> pyo.ConcreteModel:
    r"""Return the smooth concave feature selection problem (FSV), a concave program over a polyhedron.

    .. math::

        \min\ (1-\lambda)\left(\tfrac1m e'y + \tfrac1k e'z\right)
        + \lambda \sum_j \left(1 - e^{-\alpha v_j}\right)
        \quad\text{s.t.}\quad & y \ge -Aw + e\gamma + e,\ z \ge Bw - e\gamma + e,\ y, z \ge 0 \\
        & -v \le w \le v

    Parameters
    ----------
    data : columns in comparable units; the problem is not scale invariant.
    lam : in [0, 1], weight of feature suppression.
    alpha : > 0, steepness of the approximation of the step function; the paper takes 5.

    Returns
    -------
    ConcreteModel
        NLP. Variables ``w gamma y z v``, constraints ``errors_a errors_b above below``. It starts at w = v = 0, gamma
        = 0 and errors of 1. A local solver's answer is stationary, no more; the optimum is at most that of (17).

    Raises
    ------
    ParameterError : lam outside [0, 1], or alpha <= 0.

    Notes
    -----
    Paper 3, problem (21).
    """
    lam = number("fsv", "lam", lam, low=0.0, high=1.0)
    alpha = number("fsv", "alpha", alpha, low=0.0, strict=True)
    m = with_start("fsv", data, "(21)")
    add_sizes(m)
    for v in m.v.values():
        v.set_value(0.0)
    m.objective = pyo.Objective(
        expr=(1 - lam) * average_errors(m) + lam * exponentials(alpha, m.v.values()),
        doc="(21) (1 - lambda) (e'y/m + e'z/k) + lambda sum (1 - exp(-alpha v))",
    )
    return m


SPEC = ModelSpec("fsv", build_fsv, "NLP", paper="sla", equation="(21)", instance=Instance(n=12, p=3), trial=Instance(n=12, p=2, gap=0.7, seed=7))
