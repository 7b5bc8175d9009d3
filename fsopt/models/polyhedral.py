"""Concave minimisation over polyhedra: misclassification and feature selection (Mangasarian, paper 3).

A holds the rows with y = +1, B those with y = -1; the plane is the paper's ``x'w = gamma``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import Vector, number, vector


def plane(name: str, data: Dataset, equation: str) -> pyo.ConcreteModel:
    """Return the polyhedron that all problems of the paper share, without an objective."""
    A, B = data.X[data.y > 0], data.X[data.y < 0]
    m = pyo.ConcreteModel(name=name)
    m.IA, m.IB = pyo.RangeSet(0, len(A) - 1), pyo.RangeSet(0, len(B) - 1)
    m.J = pyo.RangeSet(0, data.p - 1)
    m.w = pyo.Var(m.J, doc="w, weights")
    m.gamma = pyo.Var(doc="gamma, the plane is x'w = gamma")
    m.y = pyo.Var(m.IA, within=pyo.NonNegativeReals, doc="y, errors of the rows of A")
    m.z = pyo.Var(m.IB, within=pyo.NonNegativeReals, doc="z, errors of the rows of B")
    weights = tuple(m.w.values())

    def errors_a(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(A[i], weights) - m.gamma + m.y[i] >= 1

    def errors_b(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(-B[i], weights) + m.gamma + m.z[i] >= 1

    m.errors_a = pyo.Constraint(m.IA, rule=errors_a, doc=f"{equation} y >= -Aw + e gamma + e")
    m.errors_b = pyo.Constraint(m.IB, rule=errors_b, doc=f"{equation} z >= Bw - e gamma + e")
    return m


def average_errors(m: pyo.ConcreteModel) -> Any:
    """Return e'y/m + e'z/k."""
    return pyo.quicksum(m.y.values()) / len(m.IA) + pyo.quicksum(m.z.values()) / len(m.IB)


def add_sizes(m: pyo.ConcreteModel) -> None:
    """Add v and the rows -v <= w <= v."""
    m.v = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="v >= |w|")

    def above(m: pyo.ConcreteModel, j: int) -> Any:
        return m.v[j] - m.w[j] >= 0

    def below(m: pyo.ConcreteModel, j: int) -> Any:
        return m.v[j] + m.w[j] >= 0

    m.above = pyo.Constraint(m.J, rule=above, doc="(21) w <= v")
    m.below = pyo.Constraint(m.J, rule=below, doc="(21) -v <= w")


def build_rlp(data: Dataset) -> pyo.ConcreteModel:
    r"""Return the robust linear program: least average error of a plane.

    .. math::

        \min\ \tfrac1m e'y + \tfrac1k e'z \quad\text{s.t.}\quad
        y \ge -Aw + e\gamma + e,\quad z \ge Bw - e\gamma + e,\quad y, z \ge 0

    Returns
    -------
    ConcreteModel
        LP with n rows and n + p + 1 columns. Variables ``w gamma y z``, constraints ``errors_a errors_b``.

    Notes
    -----
    Paper 3, problem (17) with lambda = 0.
    """
    m = plane("rlp", data, "(17)")
    m.objective = pyo.Objective(expr=average_errors(m), doc="(17), lambda = 0: e'y/m + e'z/k")
    return m


def build_misclass_step(
    data: Dataset, *, alpha: float = 5.0, y: ArrayLike | None = None, z: ArrayLike | None = None
) -> pyo.ConcreteModel:
    r"""Return the linear program that SLA solves in each step of misclassification minimisation.

    .. math::

        \min\ \sum_i \alpha e^{-\alpha \bar y_i} y_i + \sum_i \alpha e^{-\alpha \bar z_i} z_i
        \quad\text{s.t.}\quad y \ge -Aw + e\gamma + e,\ z \ge Bw - e\gamma + e,\ y, z \ge 0

    the linearisation at :math:`(\bar y, \bar z)` of :math:`\sum_i (1 - e^{-\alpha y_i}) + \sum_i (1 -
    e^{-\alpha z_i})`.

    Parameters
    ----------
    alpha : > 0, steepness of the approximation of the step function; the paper takes 5.
    y, z : last iterate, errors >= 0 of the rows with y = +1 and y = -1; zeros by default.

    Returns
    -------
    ConcreteModel
        LP. Variables ``w gamma y z``, constraints ``errors_a errors_b``, mutable parameters ``cost_y
        cost_z``: change them and update the objective to go to the next step.

    Raises
    ------
    ParameterError : alpha <= 0, or an iterate of the wrong length or sign.

    Notes
    -----
    Paper 3, problem (20) and its step (23).
    """
    alpha = number("misclass-step", "alpha", alpha, low=0.0, strict=True)
    m = plane("misclass-step", data, "(20)")
    for name, index, given in (("y", m.IA, y), ("z", m.IB, z)):
        at = np.zeros(len(index)) if given is None else vector(m.name, name, given, len(index), low=0.0)
        cost = pyo.Param(index, initialize=_costs(alpha, at), mutable=True, doc=f"alpha exp(-alpha {name})")
        m.add_component(f"cost_{name}", cost)
    m.objective = pyo.Objective(
        expr=pyo.quicksum(m.cost_y[i] * m.y[i] for i in m.IA) + pyo.quicksum(m.cost_z[i] * m.z[i] for i in m.IB),
        doc="(23) linearisation of (20)",
    )
    return m


def build_fsv_step(
    data: Dataset, *, lam: float = 0.05, alpha: float = 5.0, v: ArrayLike | None = None
) -> pyo.ConcreteModel:
    r"""Return the linear program that SLA solves in each step of concave feature selection (FSV).

    .. math::

        \min\ (1-\lambda)\left(\tfrac1m e'y + \tfrac1k e'z\right)
        + \lambda \sum_j \alpha e^{-\alpha \bar v_j} v_j
        \quad\text{s.t.}\quad & y \ge -Aw + e\gamma + e,\ z \ge Bw - e\gamma + e,\ y, z \ge 0 \\
        & -v \le w \le v

    the linearisation at :math:`\bar v` of the same with :math:`\lambda \sum_j (1 - e^{-\alpha v_j})`.

    Parameters
    ----------
    data : columns in comparable units; the problem is not scale invariant.
    lam : in [0, 1], weight of feature suppression.
    alpha : > 0, steepness of the approximation of the step function; the paper takes 5.
    v : (p,) last iterate, >= 0; zeros by default (the first program is then the 1-norm problem).

    Returns
    -------
    ConcreteModel
        LP with n + 2p rows. Variables ``w gamma y z v``, constraints ``errors_a errors_b above below``,
        mutable parameter ``cost_v``.

    Raises
    ------
    ParameterError : lam outside [0, 1], alpha <= 0, or v of the wrong length or sign.

    Notes
    -----
    Paper 3, problem (21) and its step (23).
    """
    lam = number("fsv-step", "lam", lam, low=0.0, high=1.0)
    alpha = number("fsv-step", "alpha", alpha, low=0.0, strict=True)
    at = np.zeros(data.p) if v is None else vector("fsv-step", "v", v, data.p, low=0.0)
    m = plane("fsv-step", data, "(21)")
    add_sizes(m)
    m.cost_v = pyo.Param(m.J, initialize=_costs(alpha, at), mutable=True, doc="alpha exp(-alpha v)")
    m.objective = pyo.Objective(
        expr=(1 - lam) * average_errors(m) + lam * pyo.quicksum(m.cost_v[j] * m.v[j] for j in m.J),
        doc="(23) linearisation of (21)",
    )
    return m


def step_costs(alpha: float, at: Vector) -> Vector:
    """Return alpha exp(-alpha x), the gradient of the concave approximation 1 - exp(-alpha x)."""
    costs: Vector = alpha * np.exp(-alpha * at)
    return costs


def _costs(alpha: float, at: Vector) -> dict[int, float]:
    return dict(enumerate(step_costs(alpha, at).tolist()))
