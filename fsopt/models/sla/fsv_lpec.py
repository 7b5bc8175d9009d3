"""Model ``fsv-lpec``: Mangasarian, (17), the number of features by complementarities."""

from __future__ import annotations

import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.models.blocks import number, total
from fsopt.models.sla.hyperplane import add_errors, add_size_bounds, add_sizes, average_errors, new_hyperplane_model
from fsopt.models.sla.step_function import add_step, without_complementarities
from fsopt.models.spec import Instance, ModelSpec


def build_fsv_lpec(data: Dataset, *, lam: float = 0.05, big_m: float | None = None) -> pyo.ConcreteModel:
    r"""Return the feature selection problem as a linear program with equilibrium constraints.

    .. math::

        \min\ & (1-\lambda)\left(\tfrac1m e'y + \tfrac1k e'z\right) + \lambda e'r \\
        \text{s.t.}\ & y \ge -Aw + e\gamma + e,\quad z \ge Bw - e\gamma + e,\quad y, z \ge 0 \\
        & -v \le w \le v,\quad 0 \le r \perp u - v \ge 0,\quad 0 \le u \perp -r + e \ge 0

    where A (m, p) and B (k, p) hold the samples with labels +1 and -1, and :math:`a \perp b` means :math:`a'b = 0`.
    The complementarities are those of ``misclass-lpec``: the smallest r is the step function of v, so that e'r is the
    number of features. The feasible region is a union of finitely many polyhedra, on each of which the objective is
    linear and bounded below by 0: a solution exists for each lambda (Proposition 2.5).

    Parameters
    ----------
    data : Dataset
        In any units; the optimum does not depend on them, unless ``big_m`` is too small.
    lam : float, default 0.05
        In [0, 1], penalty weight of a feature.
    big_m : float, optional
        M > 0: a binary variable for each complementarity, one side of which is 0 and the other at most M, which solvers
        take; None (default) leaves the complementarities. ``fsopt solve`` takes M = 1e4 where it is not given, and says
        so.

    Returns
    -------
    ConcreteModel
        MPEC, which no solver takes as it is: ``big_m`` makes an MILP of it, and Pyomo's transformation
        ``mpec.simple_nonlinear`` an NLP. Variables ``w gamma y z v r u``, constraints ``errors_a errors_b above
        below``, complementarities ``choice price``. The classifier is sign(x'w - gamma).

    Raises
    ------
    ParameterError : lam outside [0, 1], or big_m <= 0.

    Notes
    -----
    Mangasarian, (17), written by Lemma 2.3 as the text after it says; equal to ``fsv-exact`` with M large enough.
    """
    lam = number("fsv-lpec", "lam", lam)
    m = new_hyperplane_model("fsv-lpec", data)
    add_sizes(m)
    m.r = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="r = step(v), selected features")
    m.u = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="u = v, multipliers of r <= e")
    m.objective = pyo.Objective(
        expr=(1 - lam) * average_errors(m, data) + lam * total(m.r),
        doc="(17) (1 - lambda) (e'y/m + e'z/k) + lambda e'r",
    )
    add_errors(m, data, "(17)")
    add_size_bounds(m)
    add_step(m, "", m.r, m.v, m.u, "(17) r v u")
    return m if big_m is None else without_complementarities(m, big_m=big_m)


SPEC = ModelSpec(
    "fsv-lpec", build_fsv_lpec, "MPEC", paper="sla", equation="(17)", instance=Instance(gap=0.25), weights="classes"
)
