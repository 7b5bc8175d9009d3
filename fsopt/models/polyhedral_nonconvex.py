"""Concave and bilinear programs over the polyhedron of a plane, for solvers of nonconvex programs (paper 3)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.models.blocks import number
from fsopt.models.polyhedral import add_sizes, average_errors, plane


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
    m = _started("misclass", data, "(20)")
    m.objective = pyo.Objective(
        expr=_steps(alpha, [*m.y.values(), *m.z.values()]), doc="(20) sum (1 - exp(-alpha y)) + sum (1 - exp(-alpha z))"
    )
    return m


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
    m = _started("fsv", data, "(21)")
    add_sizes(m)
    for v in m.v.values():
        v.set_value(0.0)
    m.objective = pyo.Objective(
        expr=(1 - lam) * average_errors(m) + lam * _steps(alpha, m.v.values()),
        doc="(21) (1 - lambda) (e'y/m + e'z/k) + lambda sum (1 - exp(-alpha v))",
    )
    return m


def build_misclass_pmm(data: Dataset, *, delta: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the least sum of errors without the delta largest ones, a bilinear program.

    .. math::

        f(\delta) = \min\ e'c + e'd \quad\text{s.t.}\quad
        & y \ge -Aw + e\gamma + e,\ z \ge Bw - e\gamma + e,\ y, z \ge 0 \\
        & e'r + e's = \delta,\quad 0 \le r \le e,\quad 0 \le s \le e \\
        & c_i \ge (1 - r_i) y_i,\quad d_i \ge (1 - s_i) z_i,\quad c, d \ge 0

    that is :math:`\min (e - r)'y + (e - s)'z` over two polyhedra without a common variable. For a given plane the best
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
    m = _started("misclass-pmm", data, "(5)")
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


def _started(name: str, data: Dataset, equation: str) -> pyo.ConcreteModel:
    """Return the polyhedron with values: the plane w = 0, gamma = 0 and its errors."""
    m = plane(name, data, equation)
    for component, value in ((m.w, 0.0), (m.gamma, 0.0), (m.y, 1.0), (m.z, 1.0)):
        for v in component.values():
            v.set_value(value)
    return m


def _steps(alpha: float, variables: Iterable[Any]) -> Any:
    """Return the sum of 1 - exp(-alpha x), the concave approximation of the step function."""
    return pyo.quicksum(1 - pyo.exp(-alpha * x) for x in variables)
