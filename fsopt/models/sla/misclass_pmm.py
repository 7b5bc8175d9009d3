"""Model ``misclass-pmm``: Mangasarian, the parametric bilinear form of (16)."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.models.blocks import number, total
from fsopt.models.sla.hyperplane import add_errors, new_hyperplane_model, set_start
from fsopt.models.spec import Instance, ModelSpec


def build_misclass_pmm(data: Dataset, *, delta: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the smallest sum of errors without the delta largest ones, a bilinear program.

    .. math::

        f(\delta) = \min\ & e'c + e'd \\
        \text{s.t.}\ & y \ge -Aw + e\gamma + e,\quad z \ge Bw - e\gamma + e,\quad y, z \ge 0 \\
        & e'r + e's = \delta,\quad 0 \le r \le e,\quad 0 \le s \le e \\
        & c_i \ge (1 - r_i) y_i,\quad d_i \ge (1 - s_i) z_i,\quad c, d \ge 0

    where A (m, p) and B (k, p) hold the samples with labels +1 and -1. It is :math:`\min (e - r)'y + (e - s)'z` over
    two polyhedra without a common variable. For a given hyperplane the best r and s omit its largest errors. The
    smallest delta with :math:`f(\delta) = 0` is the smallest number of errors, (5); the parametric method searches for
    it.

    Each product has its own lower bound 0, because no bound is known for the error of an omitted sample: in a single
    sum, r = 1 + 1e-8, within a solver's tolerance, and an error of 1e8 would cancel the errors of other samples.

    Parameters
    ----------
    data : Dataset
        In any units; the optimum does not depend on them.
    delta : float, default 1.0
        In [0, n], the number of omitted errors; a fraction omits part of one.

    Returns
    -------
    ConcreteModel
        NLP with n bilinear constraints. Variables ``w gamma y z r s c d``, constraints ``errors_a errors_b left_out
        kept_a kept_b``. The classifier is sign(x'w - gamma). The start is w = 0, gamma = 0, errors of 1 and equal r
        and s.

    Raises
    ------
    ParameterError : delta outside [0, n].

    Notes
    -----
    Mangasarian, Table 1, compares with this parametric minimization method without printing it. Here it is (16) with
    its objective fixed at delta and the violation of its complementarities as the objective.
    """
    delta = number("misclass-pmm", "delta", delta, inside=f"[0, {data.n}]")
    m = new_hyperplane_model("misclass-pmm", data)
    set_start(m)
    share = delta / data.n
    m.r = pyo.Var(m.IA, bounds=(0, 1), initialize=share, doc="r, omitted samples of A")
    m.s = pyo.Var(m.IB, bounds=(0, 1), initialize=share, doc="s, omitted samples of B")
    m.c = pyo.Var(m.IA, within=pyo.NonNegativeReals, initialize=1 - share, doc="c, remaining errors of A")
    m.d = pyo.Var(m.IB, within=pyo.NonNegativeReals, initialize=1 - share, doc="d, remaining errors of B")

    def kept_a(m: pyo.ConcreteModel, i: int) -> Any:
        return m.c[i] >= m.y[i] - m.r[i] * m.y[i]

    def kept_b(m: pyo.ConcreteModel, i: int) -> Any:
        return m.d[i] >= m.z[i] - m.s[i] * m.z[i]

    m.objective = pyo.Objective(expr=total(m.c) + total(m.d), doc="(16) f(delta) = (e - r)'y + (e - s)'z")
    add_errors(m, data, "(5)")
    m.left_out = pyo.Constraint(expr=total(m.r) + total(m.s) == delta, doc="(16) e'r + e's = delta")
    m.kept_a = pyo.Constraint(m.IA, rule=kept_a, doc="(16) c_i >= (1 - r_i) y_i")
    m.kept_b = pyo.Constraint(m.IB, rule=kept_b, doc="(16) d_i >= (1 - s_i) z_i")
    return m


SPEC = ModelSpec(
    "misclass-pmm",
    build_misclass_pmm,
    "NLP",
    paper="sla",
    equation="(16), PMM",
    instance=Instance(n=10, p=1, gap=0.25, params={"delta": 1.0}),
    trial=Instance(n=12, p=2, gap=0.7, seed=7, params={"delta": 0.5}),
)
