"""Counts without an approximation: misclassified rows and selected features by integers (Mangasarian, paper 3)."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo
from pyomo.mpec import Complementarity, complements

from fsopt.data import Dataset
from fsopt.models.blocks import number
from fsopt.models.polyhedral import average_errors, plane


def build_misclass_milp(data: Dataset, *, big_m: float = 1e4) -> pyo.ConcreteModel:
    r"""Return the misclassification minimisation problem with a binary variable for each row.

    .. math::

        \min\ e'r + e's \quad\text{s.t.}\quad & y \ge -Aw + e\gamma + e,\ z \ge Bw - e\gamma + e,\ y, z \ge 0 \\
        & y \le M r,\quad z \le M s,\quad r, s \in \{0, 1\}

    M bounds the errors :math:`1 - y_i(w'x_i - \gamma)` of the rows that the best plane gives up. Too small an M is
    silently worse, never better: the count stays true, but no longer least. No bound is known before the plane is:
    give data whose columns are scaled to about 1, where 1e4 is ample, and solve again with a larger M in doubt.
    An integer may be off by a solver's tolerance times M: ask for 1e-9, and count the rows of the plane again.

    Parameters
    ----------
    data : columns of comparable size, about 1.
    big_m : M > 0, the largest error that a row can have.

    Returns
    -------
    ConcreteModel
        MILP with n binary variables. Variables ``w gamma y z r s``, constraints ``errors_a errors_b count_a
        count_b``. A solver's bound proves that no plane with errors up to M is better.

    Raises
    ------
    ParameterError : big_m <= 0.

    Notes
    -----
    Paper 3, problem (5): a row counts unless it is beyond its own plane :math:`x'w = \gamma \pm 1`. Scaled up, a plane
    that has no row on itself has none between these two either, so the least counts are the same.
    """
    big_m = number("misclass-milp", "big_m", big_m, low=0.0, strict=True)
    m = plane("misclass-milp", data, "(5)")
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


def build_misclass_lpec(data: Dataset) -> pyo.ConcreteModel:
    r"""Return the misclassification minimisation problem as a linear program with equilibrium constraints.

    .. math::

        \min\ e'r + e's \quad\text{s.t.}\quad & y \ge -Aw + e\gamma + e,\ z \ge Bw - e\gamma + e,\ y, z \ge 0 \\
        & 0 \le r \perp u - y \ge 0,\quad 0 \le u \perp -r + e \ge 0 \\
        & 0 \le s \perp v - z \ge 0,\quad 0 \le v \perp -s + e \ge 0

    where :math:`a \perp b` means :math:`a'b = 0`. They say that r maximises :math:`r'y` over [0, 1] and that u are
    its multipliers; the least such r is the step function of y.

    Returns
    -------
    ConcreteModel
        MPEC, which no solver takes as it is: :func:`without_complementarities` makes an MILP of it, and Pyomo's
        transformation ``mpec.simple_nonlinear`` an NLP. Variables ``w gamma y z r s u v``, constraints ``errors_a
        errors_b``, complementarities ``choice_a price_a choice_b price_b``.

    Notes
    -----
    Paper 3, problem (16).
    """
    m = plane("misclass-lpec", data, "(16)")
    m.r = pyo.Var(m.IA, within=pyo.NonNegativeReals, doc="(16) r = step(y), misclassified rows of A")
    m.s = pyo.Var(m.IB, within=pyo.NonNegativeReals, doc="(16) s = step(z), misclassified rows of B")
    m.u = pyo.Var(m.IA, within=pyo.NonNegativeReals, doc="(16) u = y, multipliers of r <= e")
    m.v = pyo.Var(m.IB, within=pyo.NonNegativeReals, doc="(16) v = z, multipliers of s <= e")

    def choice_a(m: pyo.ConcreteModel, i: int) -> Any:
        return complements(m.r[i] >= 0, m.u[i] - m.y[i] >= 0)

    def price_a(m: pyo.ConcreteModel, i: int) -> Any:
        return complements(m.u[i] >= 0, 1 - m.r[i] >= 0)

    def choice_b(m: pyo.ConcreteModel, i: int) -> Any:
        return complements(m.s[i] >= 0, m.v[i] - m.z[i] >= 0)

    def price_b(m: pyo.ConcreteModel, i: int) -> Any:
        return complements(m.v[i] >= 0, 1 - m.s[i] >= 0)

    m.choice_a = Complementarity(m.IA, rule=choice_a, doc="(16) 0 <= r complements u - y >= 0")
    m.price_a = Complementarity(m.IA, rule=price_a, doc="(16) 0 <= u complements -r + e >= 0")
    m.choice_b = Complementarity(m.IB, rule=choice_b, doc="(16) 0 <= s complements v - z >= 0")
    m.price_b = Complementarity(m.IB, rule=price_b, doc="(16) 0 <= v complements -s + e >= 0")
    m.objective = pyo.Objective(expr=pyo.quicksum(m.r.values()) + pyo.quicksum(m.s.values()), doc="(16) e'r + e's")
    return m


def without_complementarities(model: pyo.ConcreteModel, *, big_m: float = 1e4) -> pyo.ConcreteModel:
    """Return a copy of a model with binary variables in the place of its complementarities.

    Parameters
    ----------
    model : with complementarities of Pyomo's ``mpec`` between linear expressions.
    big_m : M > 0, a bound on each of these expressions; one that is too small cuts points off.

    Returns
    -------
    ConcreteModel
        Of 0 <= a _|_ b >= 0, one side is 0 and the other one at most M. The components keep their names.

    Raises
    ------
    ParameterError : big_m <= 0.
    """
    big_m = number(str(model.name), "big_m", big_m, low=0.0, strict=True)
    copy = pyo.TransformationFactory("mpec.simple_disjunction").create_using(model)
    pyo.TransformationFactory("gdp.bigm").apply_to(copy, bigM=big_m)
    return copy


def build_fsv_exact(data: Dataset, *, lam: float = 0.05, big_m: float = 1e4) -> pyo.ConcreteModel:
    r"""Return the feature selection problem with a binary variable for each feature.

    .. math::

        \min\ (1-\lambda)\left(\tfrac1m e'y + \tfrac1k e'z\right) + \lambda e't \quad\text{s.t.}\quad
        & y \ge -Aw + e\gamma + e,\ z \ge Bw - e\gamma + e,\ y, z \ge 0 \\
        & -M t \le w \le M t,\quad t \in \{0, 1\}^n

    M bounds the weights of the best plane. Too small an M is silently worse, as in :func:`build_misclass_milp`.

    Parameters
    ----------
    data : columns of comparable size, about 1.
    lam : in [0, 1], price of a feature.
    big_m : M > 0, the largest weight, in 1 / units of the features.

    Returns
    -------
    ConcreteModel
        MILP with p binary variables. Variables ``w gamma y z t``, constraints ``errors_a errors_b above below``. Its
        optimum is an upper bound of the optimum of (21), whose exponentials count less than 1 for each feature.

    Raises
    ------
    ParameterError : lam outside [0, 1], or big_m <= 0.

    Notes
    -----
    Paper 3, problem (17), with t for the step function of v.
    """
    lam = number("fsv-exact", "lam", lam, low=0.0, high=1.0)
    big_m = number("fsv-exact", "big_m", big_m, low=0.0, strict=True)
    m = plane("fsv-exact", data, "(17)")
    m.t = pyo.Var(m.J, within=pyo.Binary, doc="(17) t = step(|w|), selected features")

    def above(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] - big_m * m.t[j] <= 0

    def below(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] + big_m * m.t[j] >= 0

    m.above = pyo.Constraint(m.J, rule=above, doc="(17) w <= M t")
    m.below = pyo.Constraint(m.J, rule=below, doc="(17) -M t <= w")
    m.objective = pyo.Objective(
        expr=(1 - lam) * average_errors(m) + lam * pyo.quicksum(m.t.values()),
        doc="(17) (1 - lambda) (e'y/m + e'z/k) + lambda e't",
    )
    return m
