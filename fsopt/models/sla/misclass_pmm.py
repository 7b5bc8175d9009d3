"""Model ``misclass-pmm``: Mangasarian, the parametric bilinear form of (16)."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.blocks import number
from fsopt.models.sla.smooth import with_start
from typing import Any


def build_misclass_pmm(data: Dataset, *, delta: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the least sum of errors without the delta largest ones, a bilinear program.

    .. math::

        f(\delta) = \min\ e'c + e'd \quad\text{s.t.}\quad
        & y \ge -Aw + e\gamma + e,\ z \ge Bw - e\gamma + e,\ y, z \ge 0 \\
        & e'r + e's = \delta,\quad 0 \le r \le e,\quad 0 \le s \le e \\
        & c_i \ge (1 - r_i) y_i,\quad d_i \ge (1 - s_i) z_i,\quad c, d \ge 0

    that is :math:`\min (e - r)'y + (e - s)'z` over two polyhedra without a common variable. For a given hyperplane the best
    r and s leave out the largest errors. f falls to 0 at the least count of (5): the parametric method looks for the
    least delta with :math:`f(\delta) = 0`.

    Each product has a bound 0 of its own, since nothing bounds the y of a row that is left out: as one sum, r = 1 +
    1e-8 within a solver's tolerance and a y of 1e8 would pay for the errors of other rows.

    Parameters
    ----------
    delta : in [0, n], how many errors are left out; a fraction leaves out part of one.

    Returns
    -------
    ConcreteModel
        NLP with n bilinear rows. Variables ``w gamma y z r s c d``, constraints ``errors_a errors_b left_out kept_a
        kept_b``. It starts at w = 0, gamma = 0, errors of 1 and equal r and s.

    Raises
    ------
    ParameterError : delta outside [0, n].

    Notes
    -----
    Paper 3, the "parametric minimization method" of Table 1, which is cited there and not printed: (16) with its
    objective fixed at delta, and the violation of its complementarities as the objective.
    """
    delta = number("misclass-pmm", "delta", delta, low=0.0, high=float(data.n))
    m = with_start("misclass-pmm", data, "(5)")
    share = delta / data.n
    m.r = pyo.Var(m.IA, bounds=(0, 1), initialize=share, doc="(16) r, rows of A left out")
    m.s = pyo.Var(m.IB, bounds=(0, 1), initialize=share, doc="(16) s, rows of B left out")
    m.c = pyo.Var(m.IA, within=pyo.NonNegativeReals, initialize=1 - share, doc="(16) c, errors of A kept")
    m.d = pyo.Var(m.IB, within=pyo.NonNegativeReals, initialize=1 - share, doc="(16) d, errors of B kept")
    total = pyo.quicksum(m.r.values()) + pyo.quicksum(m.s.values())
    m.left_out = pyo.Constraint(expr=total == delta, doc="(16) e'r + e's = delta")

    def kept_a(m: pyo.ConcreteModel, i: int) -> Any:
        return m.c[i] >= m.y[i] - m.r[i] * m.y[i]

    def kept_b(m: pyo.ConcreteModel, i: int) -> Any:
        return m.d[i] >= m.z[i] - m.s[i] * m.z[i]

    m.kept_a = pyo.Constraint(m.IA, rule=kept_a, doc="(16) c_i >= (1 - r_i) y_i")
    m.kept_b = pyo.Constraint(m.IB, rule=kept_b, doc="(16) d_i >= (1 - s_i) z_i")
    m.objective = pyo.Objective(
        expr=pyo.quicksum(m.c.values()) + pyo.quicksum(m.d.values()), doc="(16) f(delta) = (e - r)'y + (e - s)'z"
    )
    return m


SPEC = ModelSpec("misclass-pmm", build_misclass_pmm, "NLP", paper="sla", equation="(16), PMM", instance=Instance(n=10, p=1, gap=0.25, params={"delta": 1.0}), trial=Instance(n=12, p=2, gap=0.7, seed=7, params={"delta": 0.5}))
