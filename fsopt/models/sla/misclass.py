"""Few misclassified samples, Mangasarian, (5), in all its forms: concave, its step, bilinear, exact, complementary."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.data import Dataset
from fsopt.models.blocks import add_parameter, mutable, number, total, vector
from fsopt.models.sla.hyperplane import (
    add_errors,
    add_step_function,
    approximate_count,
    exponential_costs,
    hyperplane_point,
    new_hyperplane_model,
    set_start,
    without_complementarities,
)
from fsopt.models.spec import Instance, ModelSpec


def build_misclass(data: Dataset, *, alpha: float = 5.0) -> pyo.ConcreteModel:
    r"""Return the smooth concave misclassification problem, a concave program over a polyhedron.

    .. math::

        \min\ & \sum_i \left(1 - e^{-\alpha y_i}\right) + \sum_i \left(1 - e^{-\alpha z_i}\right) \\
        \text{s.t.}\ & y \ge -Aw + e\gamma + e,\quad z \ge Bw - e\gamma + e,\quad y, z \ge 0

    where A (m, p) and B (k, p) hold the samples with labels +1 and -1.

    Parameters
    ----------
    data : In any units; the optimum does not depend on them.
    alpha : > 0, steepness of the approximation of the step function; the paper takes 5.

    Returns
    -------
    ConcreteModel
        NLP. Variables ``w gamma y z``, constraints ``errors_a errors_b``, mutable parameter ``alpha``. The classifier
        is sign(x'w - gamma). The start is w = 0, gamma = 0 and errors of 1. A local solver proves stationarity only.
        The optimum is at most the smallest number of misclassified samples, (5): an exponential counts less than 1.

    Raises
    ------
    ParameterError : alpha <= 0.

    Notes
    -----
    Mangasarian, (20).
    """
    m = new_hyperplane_model("misclass", data)
    add_parameter(m, "alpha", alpha, "alpha, steepness of the approximation")
    set_start(m)
    m.objective = pyo.Objective(
        expr=approximate_count(m.alpha, m.y, m.z), doc="(20) sum_i 1 - exp(-alpha y_i) + sum_i 1 - exp(-alpha z_i)"
    )
    add_errors(m, data, "(20)")
    return m


def build_misclass_step(
    data: Dataset, *, alpha: float = 5.0, y: ArrayLike | None = None, z: ArrayLike | None = None
) -> pyo.ConcreteModel:
    r"""Return the linear program of one step of SLA on the misclassification problem.

    .. math::

        \min\ & \sum_i \alpha e^{-\alpha \bar y_i} y_i + \sum_i \alpha e^{-\alpha \bar z_i} z_i \\
        \text{s.t.}\ & y \ge -Aw + e\gamma + e,\quad z \ge Bw - e\gamma + e,\quad y, z \ge 0

    where A (m, p) and B (k, p) hold the samples with labels +1 and -1. The objective is the linearisation at
    :math:`(\bar y, \bar z)` of :math:`\sum_i (1 - e^{-\alpha y_i}) + \sum_i (1 - e^{-\alpha z_i})`, without its
    constant.

    Parameters
    ----------
    data : In any units; the optimum does not depend on them.
    alpha : > 0, steepness of the approximation of the step function; the paper takes 5.
    y, z : Last iterate, errors >= 0 (m,) and (k,) of the samples in A and in B; zeros by default.

    Returns
    -------
    ConcreteModel
        LP. Variables ``w gamma y z``, constraints ``errors_a errors_b``, mutable parameters ``cost_y
        cost_z``: change them and update the objective for the next step.

    Raises
    ------
    ParameterError : alpha <= 0, or an iterate of the wrong length or with a negative entry.

    Notes
    -----
    Mangasarian, (20) and its step (23).
    """
    alpha = number("misclass-step", "alpha", alpha)
    m = new_hyperplane_model("misclass-step", data)
    for name, index, given in (("y", m.IA, y), ("z", m.IB, z)):
        at = np.zeros(len(index)) if given is None else vector(m.name, name, given, len(index), low=0.0)
        m.add_component(f"cost_{name}", mutable(index, exponential_costs(alpha, at), f"alpha exp(-alpha {name})"))
    m.objective = pyo.Objective(
        expr=pyo.quicksum(m.cost_y[i] * m.y[i] for i in m.IA) + pyo.quicksum(m.cost_z[i] * m.z[i] for i in m.IB),
        doc="(23) linearisation of (20)",
    )
    add_errors(m, data, "(20)")
    return m


def build_misclass_pmm(data: Dataset, *, delta: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the smallest sum of errors without the delta largest ones, a bilinear program.

    .. math::

        f(\delta) = \min\ & e'c + e'd \\
        \text{s.t.}\ & y \ge -Aw + e\gamma + e,\quad z \ge Bw - e\gamma + e,\quad y, z \ge 0 \\
        & e'r + e's = \delta,\quad 0 \le r \le e,\quad 0 \le s \le e \\
        & c_i \ge (1 - r_i) y_i,\quad d_i \ge (1 - s_i) z_i,\quad c, d \ge 0

    where A (m, p) and B (k, p) hold the samples with labels +1 and -1. It is :math:`\min (e - r)'y + (e - s)'z` over
    two polyhedra without a common variable. For a given hyperplane the best r and s omit its largest errors. The
    smallest delta with :math:`f(\delta) = 0` is the smallest number of misclassified samples, (5), which the parametric
    method searches for.

    Each product has its own lower bound 0, because no bound is known for the error of an omitted sample: in a single
    sum, r = 1 + 1e-8, within a solver's tolerance, and an error of 1e8 would cancel the errors of other samples.

    Parameters
    ----------
    data : In any units; the optimum does not depend on them.
    delta : In [0, n], the number of omitted errors; a fraction omits part of one.

    Returns
    -------
    ConcreteModel
        NLP with n bilinear constraints. Variables ``w gamma y z r s c d``, constraints ``errors_a errors_b left_out
        kept_a kept_b``, mutable parameter ``delta``. The classifier is sign(x'w - gamma). The start is w = 0,
        gamma = 0, errors of 1 and equal r and s.

    Raises
    ------
    ParameterError : delta outside [0, n].

    Notes
    -----
    Mangasarian, Table 1, compares with this parametric minimization method without printing it. Here it is (16) with
    its objective fixed at delta and the violation of its complementarities as the objective.
    """
    m = new_hyperplane_model("misclass-pmm", data)
    set_start(m)
    add_parameter(m, "delta", delta, "delta, number of omitted errors", inside=f"[0, {data.n}]")
    share = m.delta.value / data.n
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
    m.left_out = pyo.Constraint(expr=total(m.r) + total(m.s) == m.delta, doc="(16) e'r + e's = delta")
    m.kept_a = pyo.Constraint(m.IA, rule=kept_a, doc="(16) c_i >= (1 - r_i) y_i")
    m.kept_b = pyo.Constraint(m.IB, rule=kept_b, doc="(16) d_i >= (1 - s_i) z_i")
    return m


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
    data : Features of comparable size, about 1.
    big_m : M > 0, upper bound on the error of a sample.

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
    data : In any units; the optimum does not depend on them.
    big_m : M > 0: a binary variable for each complementarity, one side of which is 0 and the other at most M, which
        solvers take; None (default) leaves the complementarities. ``fsopt solve`` takes M = 1e4 where it is not given,
        and says so.

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
    add_step_function(m, "_a", m.r, m.y, m.u, "(16) r y u")
    add_step_function(m, "_b", m.s, m.z, m.v, "(16) s z v")
    return m if big_m is None else without_complementarities(m, big_m=big_m)


SPECS = (
    ModelSpec(
        "misclass",
        build_misclass,
        "NLP",
        equation="(20)",
        instance=Instance(n=10, p=2, gap=0.25, params={"alpha": 1.0}),
        trial=Instance(n=12, p=2, gap=0.7, seed=7),
    ),
    ModelSpec("misclass-step", build_misclass_step, "LP", equation="(20), (23)", complete=hyperplane_point),
    ModelSpec(
        "misclass-pmm",
        build_misclass_pmm,
        "NLP",
        equation="(16), PMM",
        instance=Instance(n=10, p=1, gap=0.25, params={"delta": 1.0}),
        trial=Instance(n=12, p=2, gap=0.7, seed=7, params={"delta": 0.5}),
    ),
    ModelSpec("misclass-milp", build_misclass_milp, "MILP", equation="(5)", instance=Instance(gap=0.25)),
    ModelSpec("misclass-lpec", build_misclass_lpec, "MPEC", equation="(16)", instance=Instance(gap=0.25)),
)
