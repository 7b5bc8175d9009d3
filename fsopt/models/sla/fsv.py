"""Few features, Mangasarian, (17), in all its forms: concave, its step, exact, complementary, and lambda = 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.data import Dataset
from fsopt.models.blocks import add_parameter, mutable, number, total, vector
from fsopt.models.sla.hyperplane import (
    add_errors,
    add_size_bounds,
    add_sizes,
    add_step_function,
    approximate_count,
    average_errors,
    exponential_costs,
    hyperplane_point,
    new_hyperplane_model,
    set_start,
    without_complementarities,
)
from fsopt.models.spec import Instance, ModelSpec


def build_fsv(data: Dataset, *, lam: float = 0.05, alpha: float = 5.0) -> pyo.ConcreteModel:
    r"""Return the smooth concave feature selection problem (FSV), a concave program over a polyhedron.

    .. math::

        \min\ & (1-\lambda)\left(\tfrac1m e'y + \tfrac1k e'z\right)
        + \lambda \sum_j \left(1 - e^{-\alpha v_j}\right) \\
        \text{s.t.}\ & y \ge -Aw + e\gamma + e,\quad z \ge Bw - e\gamma + e,\quad y, z \ge 0 \\
        & -v \le w \le v

    where A (m, p) and B (k, p) hold the samples with labels +1 and -1.

    Parameters
    ----------
    data : Features in comparable units; the optimum depends on them.
    lam : In [0, 1], penalty weight of the number of features.
    alpha : > 0, steepness of the approximation of the step function; the paper takes 5.

    Returns
    -------
    ConcreteModel
        NLP. Variables ``w gamma y z v``, constraints ``errors_a errors_b above below``, mutable parameters ``lam
        alpha``. The classifier is sign(x'w - gamma). The start is w = v = 0, gamma = 0 and errors of 1. A local solver
        proves stationarity only. The optimum is at most that of (17), because each exponential counts less than 1.

    Raises
    ------
    ParameterError : lam outside [0, 1], or alpha <= 0.

    Notes
    -----
    Mangasarian, (21).
    """
    m = new_hyperplane_model("fsv", data)
    add_parameter(m, "lam", lam, "lambda, penalty weight of a feature")
    add_parameter(m, "alpha", alpha, "alpha, steepness of the approximation")
    set_start(m)
    add_sizes(m)
    for v in m.v.values():
        v.set_value(0.0)
    m.objective = pyo.Objective(
        expr=(1 - m.lam) * average_errors(m, data) + m.lam * approximate_count(m.alpha, m.v),
        doc="(21) (1 - lambda) (e'y/m + e'z/k) + lambda sum_j 1 - exp(-alpha v_j)",
    )
    add_errors(m, data, "(21)")
    add_size_bounds(m)
    return m


def build_rlp(data: Dataset) -> pyo.ConcreteModel:
    r"""Return the robust linear program: the hyperplane of smallest average error.

    .. math::

        \min\ & \tfrac1m e'y + \tfrac1k e'z \\
        \text{s.t.}\ & y \ge -Aw + e\gamma + e,\quad z \ge Bw - e\gamma + e,\quad y, z \ge 0

    where A (m, p) and B (k, p) hold the samples with labels +1 and -1.

    Parameters
    ----------
    data : In any units; the optimum does not depend on them.

    Returns
    -------
    ConcreteModel
        LP with n constraints and n + p + 1 variables. Variables ``w gamma y z``, constraints ``errors_a errors_b``.
        The classifier is sign(x'w - gamma).

    Notes
    -----
    Mangasarian, (17) with lambda = 0.
    """
    m = new_hyperplane_model("rlp", data)
    m.objective = pyo.Objective(expr=average_errors(m, data), doc="(17), lambda = 0: e'y/m + e'z/k")
    add_errors(m, data, "(17)")
    return m


def build_fsv_step(
    data: Dataset, *, lam: float = 0.05, alpha: float = 5.0, v: ArrayLike | None = None
) -> pyo.ConcreteModel:
    r"""Return the linear program of one step of SLA on the feature selection problem (FSV).

    .. math::

        \min\ & (1-\lambda)\left(\tfrac1m e'y + \tfrac1k e'z\right)
        + \lambda \sum_j \alpha e^{-\alpha \bar v_j} v_j \\
        \text{s.t.}\ & y \ge -Aw + e\gamma + e,\quad z \ge Bw - e\gamma + e,\quad y, z \ge 0 \\
        & -v \le w \le v

    where A (m, p) and B (k, p) hold the samples with labels +1 and -1. The last term is the linearisation at
    :math:`\bar v` of :math:`\lambda \sum_j (1 - e^{-\alpha v_j})`, without its constant.

    Parameters
    ----------
    data : Features in comparable units; the optimum depends on them.
    lam : In [0, 1], penalty weight of the number of features.
    alpha : > 0, steepness of the approximation of the step function; the paper takes 5.
    v : (p,) last iterate, >= 0; zeros by default (the first program is then the one-norm problem).

    Returns
    -------
    ConcreteModel
        LP with n + 2p constraints. Variables ``w gamma y z v``, constraints ``errors_a errors_b above below``,
        mutable parameters ``lam`` and ``cost_v``: change ``cost_v`` and update the objective for the next step or
        another alpha.

    Raises
    ------
    ParameterError : lam outside [0, 1], alpha <= 0, or v of the wrong length or with a negative entry.

    Notes
    -----
    Mangasarian, (21) and its step (23).
    """
    alpha = number("fsv-step", "alpha", alpha)
    at = np.zeros(data.p) if v is None else vector("fsv-step", "v", v, data.p, low=0.0)
    m = new_hyperplane_model("fsv-step", data)
    add_parameter(m, "lam", lam, "lambda, penalty weight of a feature")
    add_sizes(m)
    m.cost_v = mutable(m.J, exponential_costs(alpha, at), "alpha exp(-alpha v)")
    m.objective = pyo.Objective(
        expr=(1 - m.lam) * average_errors(m, data) + m.lam * pyo.quicksum(m.cost_v[j] * m.v[j] for j in m.J),
        doc="(23) linearisation of (21)",
    )
    add_errors(m, data, "(21)")
    add_size_bounds(m)
    return m


def build_fsv_exact(data: Dataset, *, lam: float = 0.05, big_m: float = 1e4) -> pyo.ConcreteModel:
    r"""Return the feature selection problem with a binary variable for each feature.

    .. math::

        \min\ & (1-\lambda)\left(\tfrac1m e'y + \tfrac1k e'z\right) + \lambda e't \\
        \text{s.t.}\ & y \ge -Aw + e\gamma + e,\quad z \ge Bw - e\gamma + e,\quad y, z \ge 0 \\
        & -M t \le w \le M t,\quad t \in \{0, 1\}^p

    where A (m, p) and B (k, p) hold the samples with labels +1 and -1. M is an upper bound on the weights of the best
    hyperplane. If M is too small, the optimum is silently larger than that of (17).

    Parameters
    ----------
    data : Features of comparable size, about 1.
    lam : In [0, 1], penalty weight of a feature.
    big_m : M > 0, upper bound on the size of a weight, in units of 1 / feature.

    Returns
    -------
    ConcreteModel
        MILP with p binary variables. Variables ``w gamma y z t``, constraints ``errors_a errors_b above below``,
        mutable parameter ``lam``. The classifier is sign(x'w - gamma). The optimum is an upper bound on that of (21),
        whose exponentials count less than 1 for each feature.

    Raises
    ------
    ParameterError : lam outside [0, 1], or big_m <= 0.

    Notes
    -----
    Mangasarian, (17), with t for the step function of v.
    """
    big_m = number("fsv-exact", "big_m", big_m)
    m = new_hyperplane_model("fsv-exact", data)
    add_parameter(m, "lam", lam, "lambda, penalty weight of a feature")
    m.t = pyo.Var(m.J, within=pyo.Binary, doc="t = step(|w|), selected features")

    def above(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] - big_m * m.t[j] <= 0

    def below(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] + big_m * m.t[j] >= 0

    m.objective = pyo.Objective(
        expr=(1 - m.lam) * average_errors(m, data) + m.lam * total(m.t),
        doc="(17) (1 - lambda) (e'y/m + e'z/k) + lambda e't",
    )
    add_errors(m, data, "(17)")
    m.above = pyo.Constraint(m.J, rule=above, doc="(17) w <= M t")
    m.below = pyo.Constraint(m.J, rule=below, doc="(17) -M t <= w")
    return m


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
    data : In any units; the optimum does not depend on them, unless ``big_m`` is too small.
    lam : In [0, 1], penalty weight of a feature.
    big_m : M > 0: a binary variable for each complementarity, one side of which is 0 and the other at most M, which
        solvers take; None (default) leaves the complementarities. ``fsopt solve`` takes M = 1e4 where it is not given,
        and says so.

    Returns
    -------
    ConcreteModel
        MPEC, which no solver takes as it is: ``big_m`` makes an MILP of it, and Pyomo's transformation
        ``mpec.simple_nonlinear`` an NLP. Variables ``w gamma y z v r u``, constraints ``errors_a errors_b above
        below``, complementarities ``choice price``, mutable parameter ``lam``. The classifier is sign(x'w - gamma).

    Raises
    ------
    ParameterError : lam outside [0, 1], or big_m <= 0.

    Notes
    -----
    Mangasarian, (17), written by Lemma 2.3 as the text after it says; equal to ``fsv-exact`` with M large enough.
    """
    m = new_hyperplane_model("fsv-lpec", data)
    add_parameter(m, "lam", lam, "lambda, penalty weight of a feature")
    add_sizes(m)
    m.r = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="r = step(v), selected features")
    m.u = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="u = v, multipliers of r <= e")
    m.objective = pyo.Objective(
        expr=(1 - m.lam) * average_errors(m, data) + m.lam * total(m.r),
        doc="(17) (1 - lambda) (e'y/m + e'z/k) + lambda e'r",
    )
    add_errors(m, data, "(17)")
    add_size_bounds(m)
    add_step_function(m, "", m.r, m.v, m.u, "(17) r v u")
    return m if big_m is None else without_complementarities(m, big_m=big_m)


SPECS = (
    ModelSpec(
        "fsv",
        build_fsv,
        "NLP",
        equation="(21)",
        instance=Instance(n=12, p=3),
        trial=Instance(n=12, p=2, gap=0.7, seed=7),
        weights="classes",
    ),
    ModelSpec("rlp", build_rlp, "LP", equation="(17), lambda = 0", weights="classes"),
    ModelSpec("fsv-step", build_fsv_step, "LP", equation="(21), (23)", weights="classes", complete=hyperplane_point),
    ModelSpec("fsv-exact", build_fsv_exact, "MILP", equation="(17)", weights="classes"),
    ModelSpec("fsv-lpec", build_fsv_lpec, "MPEC", equation="(17)", instance=Instance(gap=0.25), weights="classes"),
)
