"""Model ``misclass-milp``: Mangasarian, (5), misclassified samples counted by integers."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.blocks import number
from fsopt.models.sla.hyperplane import new_hyperplane_model
from typing import Any


def build_misclass_milp(data: Dataset, *, big_m: float = 1e4) -> pyo.ConcreteModel:
    r"""Return the misclassification minimisation problem with a binary variable for each row.

    .. math::

        \min\ e'r + e's \quad\text{s.t.}\quad & y \ge -Aw + e\gamma + e,\ z \ge Bw - e\gamma + e,\ y, z \ge 0 \\
        & y \le M r,\quad z \le M s,\quad r, s \in \{0, 1\}

    M bounds the errors :math:`1 - y_i(w'x_i - \gamma)` of the rows that the best hyperplane gives up. Too small an M is
    silently worse, never better: the count stays true, but no longer least. No bound is known before the hyperplane is:
    give data whose columns are scaled to about 1, where 1e4 is ample, and solve again with a larger M in doubt.
    An integer may be off by a solver's tolerance times M: ask for 1e-9, and count the rows of the hyperplane again.

    Parameters
    ----------
    data : columns of comparable size, about 1.
    big_m : M > 0, the largest error that a row can have.

    Returns
    -------
    ConcreteModel
        MILP with n binary variables. Variables ``w gamma y z r s``, constraints ``errors_a errors_b count_a
        count_b``. A solver's bound proves that no hyperplane with errors up to M is better.

    Raises
    ------
    ParameterError : big_m <= 0.

    Notes
    -----
    Paper 3, problem (5): a row counts unless it is beyond its own hyperplane :math:`x'w = \gamma \pm 1`. Scaled up, a hyperplane
    that has no row on itself has none between these two either, so the least counts are the same.
    """
    big_m = number("misclass-milp", "big_m", big_m, low=0.0, strict=True)
    m = new_hyperplane_model("misclass-milp", data, "(5)")
    m.r = pyo.Var(m.IA, within=pyo.Binary, doc="(5) r = step(y), misclassified rows of A")
    m.s = pyo.Var(m.IB, within=pyo.Binary, doc="(5) s = step(z), misclassified rows of B")

    def count_a(m: pyo.ConcreteModel, i: int) -> Any:
        return m.y[i] - big_m * m.r[i] <= 0

    def count_b(m: pyo.ConcreteModel, i: int) -> Any:
        return m.z[i] - big_m * m.s[i] <= 0

    m.count_a = pyo.Constraint(m.IA, rule=count_a, doc="(5) y <= M r")
    m.count_b = pyo.Constraint(m.IB, rule=count_b, doc="(5) z <= M s")
    m.objective = pyo.Objective(expr=pyo.quicksum(m.r.values()) + pyo.quicksum(m.s.values()), doc="(5) e'r + e's")
    return m


SPEC = ModelSpec("misclass-milp", build_misclass_milp, "MILP", paper="sla", equation="(5)", instance=Instance(gap=0.25))
