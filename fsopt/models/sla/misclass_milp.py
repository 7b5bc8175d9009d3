"""Model ``misclass-milp``: Mangasarian, (5), the number of misclassified samples with binary variables."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.models.blocks import number, total
from fsopt.models.sla.hyperplane import add_errors, new_hyperplane_model
from fsopt.models.spec import Instance, ModelSpec


def build_misclass_milp(data: Dataset, *, big_m: float = 1e4) -> pyo.ConcreteModel:
    r"""Return the misclassification minimisation problem with a binary variable for each sample.

    .. math::

        \min\ & e'r + e's \\
        \text{s.t.}\ & y \ge -Aw + e\gamma + e,\quad z \ge Bw - e\gamma + e,\quad y, z \ge 0 \\
        & y \le M r,\quad z \le M s,\quad r, s \in \{0, 1\}

    where A (m, p) and B (k, p) hold the samples with labels +1 and -1. M is an upper bound on the errors
    :math:`1 - y_i(w'x_i - \gamma)` of the samples that the best hyperplane misclassifies. If M is too small, the
    count is still that of the hyperplane, but it is silently not the smallest. No bound is known before the hyperplane
    is: scale the features to about 1, where 1e4 is ample, and in doubt solve again with a larger M. An integer may
    deviate by the solver's tolerance times M: ask for 1e-9, and recount the errors of the hyperplane.

    Parameters
    ----------
    data : Dataset
        Features of comparable size, about 1.
    big_m : float, default 10000.0
        M > 0, upper bound on the error of a sample.

    Returns
    -------
    ConcreteModel
        MILP with n binary variables. Variables ``w gamma y z r s``, constraints ``errors_a errors_b count_a
        count_b``. The classifier is sign(x'w - gamma). A lower bound of a solver holds for all hyperplanes with errors
        up to M.

    Raises
    ------
    ParameterError : big_m <= 0.

    Notes
    -----
    Mangasarian, (5): a sample counts unless it lies beyond its own hyperplane :math:`x'w = \gamma \pm 1`. A hyperplane
    with no sample on it can be scaled up until no sample lies between these two, so the smallest counts are the same.
    """
    big_m = number("misclass-milp", "big_m", big_m)
    m = new_hyperplane_model("misclass-milp", data)
    m.r = pyo.Var(m.IA, within=pyo.Binary, doc="r = step(y), misclassified samples of A")
    m.s = pyo.Var(m.IB, within=pyo.Binary, doc="s = step(z), misclassified samples of B")

    def count_a(m: pyo.ConcreteModel, i: int) -> Any:
        return m.y[i] - big_m * m.r[i] <= 0

    def count_b(m: pyo.ConcreteModel, i: int) -> Any:
        return m.z[i] - big_m * m.s[i] <= 0

    m.objective = pyo.Objective(expr=total(m.r) + total(m.s), doc="(5) e'r + e's")
    add_errors(m, data, "(5)")
    m.count_a = pyo.Constraint(m.IA, rule=count_a, doc="(5) y <= M r")
    m.count_b = pyo.Constraint(m.IB, rule=count_b, doc="(5) z <= M s")
    return m


SPEC = ModelSpec("misclass-milp", build_misclass_milp, "MILP", paper="sla", equation="(5)", instance=Instance(gap=0.25))
