"""Model ``misclass-lpec``: Mangasarian, (16), the number of misclassified samples by complementarities."""

from __future__ import annotations

import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.models.blocks import total
from fsopt.models.sla.hyperplane import add_errors, new_hyperplane_model
from fsopt.models.sla.step_function import add_step, without_complementarities
from fsopt.models.spec import Instance, ModelSpec


def build_misclass_lpec(data: Dataset, *, big_m: float | None = None) -> pyo.ConcreteModel:
    r"""Return the misclassification minimisation problem as a linear program with equilibrium constraints.

    .. math::

        \min\ & e'r + e's \\
        \text{s.t.}\ & y \ge -Aw + e\gamma + e,\quad z \ge Bw - e\gamma + e,\quad y, z \ge 0 \\
        & 0 \le r \perp u - y \ge 0,\quad 0 \le u \perp -r + e \ge 0 \\
        & 0 \le s \perp v - z \ge 0,\quad 0 \le v \perp -s + e \ge 0

    where A (m, p) and B (k, p) hold the samples with labels +1 and -1, and :math:`a \perp b` means :math:`a'b = 0`.
    The complementarities are the optimality conditions for r to maximise :math:`r'y` over [0, 1], with multipliers u.
    The smallest such r is the step function of y. The feasible region is a union of finitely many polyhedra, on each of
    which the objective is linear and bounded below: a solution exists (Proposition 2.4).

    Parameters
    ----------
    data : Dataset
        In any units; the optimum does not depend on them.
    big_m : float, optional
        M > 0: a binary variable for each complementarity, one side of which is 0 and the other at most M, which solvers
        take; None (default) leaves the complementarities. ``fsopt solve`` takes M = 1e4 where it is not given, and says
        so.

    Returns
    -------
    ConcreteModel
        MPEC, which no solver takes as it is: ``big_m`` makes an MILP of it, and Pyomo's transformation
        ``mpec.simple_nonlinear`` an NLP. Variables ``w gamma y z r s u v``, constraints ``errors_a errors_b``,
        complementarities ``choice_a price_a choice_b price_b``. The classifier is sign(x'w - gamma).

    Raises
    ------
    ParameterError : big_m <= 0.

    Notes
    -----
    Mangasarian, (16), equivalent to (5) by Lemma 2.3.
    """
    m = new_hyperplane_model("misclass-lpec", data)
    m.r = pyo.Var(m.IA, within=pyo.NonNegativeReals, doc="r = step(y), misclassified samples of A")
    m.s = pyo.Var(m.IB, within=pyo.NonNegativeReals, doc="s = step(z), misclassified samples of B")
    m.u = pyo.Var(m.IA, within=pyo.NonNegativeReals, doc="u = y, multipliers of r <= e")
    m.v = pyo.Var(m.IB, within=pyo.NonNegativeReals, doc="v = z, multipliers of s <= e")

    m.objective = pyo.Objective(expr=total(m.r) + total(m.s), doc="(16) e'r + e's")
    add_errors(m, data, "(16)")
    add_step(m, "_a", m.r, m.y, m.u, "(16) r y u")
    add_step(m, "_b", m.s, m.z, m.v, "(16) s z v")
    return m if big_m is None else without_complementarities(m, big_m=big_m)


SPEC = ModelSpec(
    "misclass-lpec", build_misclass_lpec, "MPEC", paper="sla", equation="(16)", instance=Instance(gap=0.25)
)
