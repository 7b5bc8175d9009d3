"""Minimax probability machines: classes known by mean and covariance only (Yang and Ju, paper 2).

Inside these models the plane is the paper's ``w'x = b`` and class 1 is y = +1; methods turn the sign of b.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.models.blocks import Vector, new_model, number, squares, vector


@dataclass(frozen=True)
class Moments:
    """Means and covariance factors of the two classes; class 1 is y = +1.

    Attributes
    ----------
    mean1, mean2 : (p,).
    factor1, factor2 : (r, p) with ``S_k = F_k'F_k`` and r <= p; without a ridge, also r <= rows of the class.
    """

    mean1: Vector
    mean2: Vector
    factor1: Vector
    factor2: Vector

    @staticmethod
    def of(data: Dataset, *, unbiased: bool = False, ridge: float = 0.0) -> Moments:
        r"""Return the moments of a data set.

        Parameters
        ----------
        unbiased : divide the covariance of a class of m rows by m - 1 instead of m.
        ridge : :math:`\rho \ge 0`, in squared units of the columns: the covariances are :math:`S_k + \rho I`.

        Raises
        ------
        ParameterError : ridge < 0, unbiased that is not true or false, or unbiased with a class of one row.
        """
        ridge = number("Moments", "ridge", ridge, low=0.0, high=float(np.finfo(float).max))
        if not isinstance(unbiased, bool):
            raise ParameterError(f"unbiased is {unbiased!r}", "true or false")
        parts = [data.X[data.y > 0], data.X[data.y < 0]]
        if unbiased and min(map(len, parts)) < 2:
            raise ParameterError("a class of one row has no unbiased covariance", "leave unbiased at false")
        factors = [_factor(part, len(part) - unbiased, ridge) for part in parts]
        return Moments(parts[0].mean(axis=0), parts[1].mean(axis=0), *factors)


def _factor(rows: Vector, divisor: int, ridge: float) -> Vector:
    """Return F (r, p) with F'F the covariance of the rows; thin, so that a singular one needs no Cholesky."""
    factor: Vector = (rows - rows.mean(axis=0)) / np.sqrt(divisor)
    if ridge > 0:
        factor = np.vstack([factor, np.sqrt(ridge) * np.eye(factor.shape[1])])
    if len(factor) <= factor.shape[1]:
        return factor
    return np.asarray(np.linalg.qr(factor, mode="r"))


def kappa(delta: float) -> float:
    """Return sqrt(delta / (1 - delta)), the number of deviations that a worst-case accuracy delta asks for."""
    return float(np.sqrt(delta / (1.0 - delta)))


def add_deviations(m: pyo.ConcreteModel, moments: Moments) -> None:
    """Add w and the norms t_k >= ||F_k w|| through u_k = F_k w."""
    weights = tuple(m.w.values())
    for k, factor in ((1, moments.factor1), (2, moments.factor2)):
        index = pyo.RangeSet(0, len(factor) - 1)
        u = pyo.Var(index, doc=f"u_{k} = F_{k} w")
        t = pyo.Var(within=pyo.NonNegativeReals, doc=f"t_{k} >= ||F_{k} w||")
        m.add_component(f"u{k}", u)
        m.add_component(f"t{k}", t)

        def spread(_: Any, i: int, u: Any = u, factor: Vector = factor) -> Any:
            return dot(factor[i], weights) - u[i] == 0

        m.add_component(f"spread{k}", pyo.Constraint(index, rule=spread, doc=f"u_{k} = F_{k} w"))
        m.add_component(
            f"deviation{k}",
            pyo.Constraint(expr=squares(list(u.values())) <= t**2, doc=f"||F_{k} w||^2 <= t_{k}^2"),
        )


def build_mpm(data: Dataset, *, unbiased: bool = False, ridge: float = 0.0) -> pyo.ConcreteModel:
    r"""Return the minimax probability machine, a second-order cone program.

    .. math:: \min\ \|F_1w\| + \|F_2w\| \quad\text{s.t.}\quad w'(\mu_1 - \mu_2) = 1

    With optimum v, :math:`\kappa^* = 1/v` and :math:`\alpha^* = \kappa^{*2}/(1 + \kappa^{*2})` is the largest
    worst-case accuracy that any plane has for all distributions with these moments; 0 as optimum means that
    the covariances are singular along a direction that separates the means, and :math:`\alpha^* = 1`.

    Parameters
    ----------
    data : columns as given; :math:`\kappa^*` does not depend on their scale.
    unbiased : divide the covariance of a class of m rows by m - 1 instead of m.
    ridge : >= 0, added to the diagonals of both covariances, in squared units of the columns.

    Returns
    -------
    ConcreteModel
        SOCP, two cones. Variables ``w u1 t1 u2 t2``, constraints ``spread1 deviation1 spread2 deviation2
        normal``. The paper's offset is :math:`b = w'\mu_1 - \kappa^*\|F_1w\|`.

    Raises
    ------
    ParameterError : ridge < 0, or unbiased with a class of one row.

    Notes
    -----
    Paper 2, section 2.1, problem (3)-(5) after the Chebyshev-Cantelli bound.
    """
    moments = Moments.of(data, unbiased=unbiased, ridge=ridge)
    m = new_model("mpm", data)
    m.w = pyo.Var(m.J, doc="w, weights")
    add_deviations(m, moments)
    m.objective = pyo.Objective(expr=m.t1 + m.t2, doc="(3) ||F_1 w|| + ||F_2 w||")
    m.normal = pyo.Constraint(
        expr=dot(moments.mean1 - moments.mean2, tuple(m.w.values())) == 1, doc="(3) w'(mu_1 - mu_2) = 1"
    )
    return m


def _sparse_machine(
    name: str, data: Dataset, moments: Moments, delta: Any, equations: tuple[str, str, str]
) -> pyo.ConcreteModel:
    """Return the feasible set shared by L1-MPM and the steps of L0-MPM, without an objective."""
    delta = number(name, "delta", delta, low=0.0, high=1.0, strict=True)
    first, second, third = equations
    m = new_model(name, data)
    m.w = pyo.Var(m.J, doc="w = w_plus - w_minus, weights")
    m.w_plus = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="positive part of w")
    m.w_minus = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="negative part of w")
    m.b = pyo.Var(doc="b, the plane is w'x = b")
    m.m1 = pyo.Var(bounds=(1, None), doc="m_1 = w'mu_1 - b, at least 1")
    m.m2 = pyo.Var(bounds=(1, None), doc="m_2 = b - w'mu_2, at least 1")
    add_deviations(m, moments)
    weights = tuple(m.w.values())

    def split(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] - m.w_plus[j] + m.w_minus[j] == 0

    m.split = pyo.Constraint(m.J, rule=split, doc=f"{third} w = w_plus - w_minus")
    m.mean1 = pyo.Constraint(expr=dot(moments.mean1, weights) - m.b - m.m1 == 0, doc="m_1 = w'mu_1 - b")
    m.mean2 = pyo.Constraint(expr=m.b - dot(moments.mean2, weights) - m.m2 == 0, doc="m_2 = b - w'mu_2")
    m.accuracy1 = pyo.Constraint(expr=m.m1 - kappa(delta) * m.t1 >= 0, doc=f"{first} m_1 >= kappa ||F_1 w||")
    m.accuracy2 = pyo.Constraint(expr=m.m2 - kappa(delta) * m.t2 >= 0, doc=f"{second} m_2 >= kappa ||F_2 w||")
    return m


def build_l1_mpm(data: Dataset, *, delta: float = 0.5, unbiased: bool = False, ridge: float = 0.0) -> pyo.ConcreteModel:
    r"""Return L1-MPM: the plane of least 1-norm with worst-case accuracy delta on both classes.

    .. math::

        \min\ \|w\|_1 \quad\text{s.t.}\quad & m_1 = w'\mu_1 - b \ge \kappa(\delta)\|F_1w\|, \quad m_1 \ge 1 \\
        & m_2 = b - w'\mu_2 \ge \kappa(\delta)\|F_2w\|, \quad m_2 \ge 1

    Parameters
    ----------
    data : standardise the columns first where the support matters; the 1-norm is not scale invariant.
    delta : in (0, 1), the worst-case accuracy; feasible iff delta <= alpha* of :func:`build_mpm`.
    unbiased : divide the covariance of a class of m rows by m - 1 instead of m.
    ridge : >= 0, added to the diagonals of both covariances, in squared units of the columns.

    Returns
    -------
    ConcreteModel
        SOCP, two cones. Variables ``w w_plus w_minus b m1 m2 u1 t1 u2 t2``, constraints ``split mean1 mean2
        accuracy1 accuracy2 spread1 deviation1 spread2 deviation2``.

    Raises
    ------
    ParameterError : delta outside (0, 1), ridge < 0. An infeasible delta is the method's error, not the builder's.

    Notes
    -----
    Paper 2, problem (12)-(15).
    """
    moments = Moments.of(data, unbiased=unbiased, ridge=ridge)
    m = _sparse_machine("l1-mpm", data, moments, delta, ("(13)", "(14)", "(12)"))
    m.objective = pyo.Objective(expr=pyo.quicksum([*m.w_plus.values(), *m.w_minus.values()]), doc="(12) ||w||_1")
    return m


def build_l0_mpm(
    data: Dataset, *, delta: float = 0.5, alpha: float = 5.0, unbiased: bool = False, ridge: float = 0.0
) -> pyo.ConcreteModel:
    r"""Return L0-MPM: the plane with the fewest features, smoothly counted, and worst-case accuracy delta.

    .. math:: \min\ \sum_j \big(1 - e^{-\alpha(w^+_j + w^-_j)}\big) \quad\text{s.t. as in L1-MPM}

    which is the paper's objective with :math:`|w_j| = w^+_j + w^-_j`: it falls where both parts of a weight shrink
    together, so one of them is 0 at every local optimum, and no absolute value is needed.

    Parameters
    ----------
    data, delta, unbiased, ridge : as in :func:`build_l1_mpm`.
    alpha : > 0, steepness of the approximation :math:`1 - e^{-\alpha|w|}` of the step function.

    Returns
    -------
    ConcreteModel
        NLP with a concave objective over a convex set: it has local optima, one for each of many sets of features.
        Components as in :func:`build_l1_mpm`. Global solvers close the gap for a few features only; DCA solves
        :func:`build_l0_mpm_step` again and again instead.

    Raises
    ------
    ParameterError : delta outside (0, 1), alpha <= 0, ridge < 0.

    Notes
    -----
    Paper 2, problem (32)-(36).
    """
    alpha = number("l0-mpm", "alpha", alpha, low=0.0, strict=True)
    moments = Moments.of(data, unbiased=unbiased, ridge=ridge)
    m = _sparse_machine("l0-mpm", data, moments, delta, ("(33)", "(34)", "(32)"))
    m.objective = pyo.Objective(
        expr=pyo.quicksum(1 - pyo.exp(-alpha * (m.w_plus[j] + m.w_minus[j])) for j in m.J),
        doc="(32) sum_j 1 - exp(-alpha |w_j|)",
    )
    return m


def build_l0_mpm_step(
    data: Dataset,
    *,
    delta: float = 0.5,
    alpha: float = 5.0,
    v: ArrayLike | None = None,
    unbiased: bool = False,
    ridge: float = 0.0,
) -> pyo.ConcreteModel:
    r"""Return the convex program that DCA solves in each step of L0-MPM: a weighted L1-MPM.

    .. math::

        \min\ \sum_j (\alpha - v_j) w^+_j + (\alpha + v_j) w^-_j \quad\text{s.t. as in L1-MPM},
        \qquad v_j = \operatorname{sign}(w^k_j)\,\alpha(1 - e^{-\alpha|w^k_j|})

    which is :math:`\alpha e'|w| - v'w`, the paper's objective with t = |w|.

    Parameters
    ----------
    data, delta, unbiased, ridge : as in :func:`build_l1_mpm`.
    alpha : > 0, steepness of the approximation :math:`1 - e^{-\alpha|w|}` of the step function; for another
        approximation its slope at 0, see :mod:`fsopt.drivers.penalties`.
    v : (p,) gradient of the concave part at the last iterate, |v_j| <= alpha; zeros by default.

    Returns
    -------
    ConcreteModel
        SOCP; components as in :func:`build_l1_mpm`, and the mutable parameter ``v``: change it and update
        the objective to go to the next step.

    Raises
    ------
    ParameterError : delta outside (0, 1), alpha <= 0, ridge < 0, or v that is not p numbers in [-alpha, alpha].

    Notes
    -----
    Paper 2, problem (42)-(46) of the DCA for (32)-(36).
    """
    alpha = number("l0-mpm-step", "alpha", alpha, low=0.0, strict=True)
    start = np.zeros(data.p) if v is None else vector("l0-mpm-step", "v", v, data.p, low=-alpha, high=alpha)
    moments = Moments.of(data, unbiased=unbiased, ridge=ridge)
    m = _sparse_machine("l0-mpm-step", data, moments, delta, ("(43)", "(44)", "(46)"))
    m.v = pyo.Param(m.J, initialize=dict(enumerate(start.tolist())), mutable=True, doc="v^k, gradient of h")
    m.objective = pyo.Objective(
        expr=pyo.quicksum((alpha - m.v[j]) * m.w_plus[j] + (alpha + m.v[j]) * m.w_minus[j] for j in m.J),
        doc="(42) alpha e't - v'w",
    )
    return m
