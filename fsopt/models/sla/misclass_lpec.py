"""Model ``misclass-lpec``: Mangasarian, (16), the number of misclassified samples by complementarities."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo
from pyomo.mpec import Complementarity, complements

from fsopt.data import Dataset
from fsopt.models.blocks import number, total
from fsopt.models.sla.hyperplane import add_errors, new_hyperplane_model
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
    The smallest such r is the step function of y.

    Parameters
    ----------
    data : Dataset
        In any units; the optimum does not depend on them.
    big_m : float, optional
        M > 0: the program after :func:`without_complementarities`, which solvers take; None (default) leaves the
        complementarities. ``fsopt solve`` takes M = 1e4 where it is not given, and says so.

    Returns
    -------
    ConcreteModel
        MPEC, which no solver takes as it is: :func:`without_complementarities` makes an MILP of it, and Pyomo's
        transformation ``mpec.simple_nonlinear`` an NLP. Variables ``w gamma y z r s u v``, constraints ``errors_a
        errors_b``, complementarities ``choice_a price_a choice_b price_b``. The classifier is sign(x'w - gamma).

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

    def choice_a(m: pyo.ConcreteModel, i: int) -> Any:
        return complements(m.r[i] >= 0, m.u[i] - m.y[i] >= 0)

    def price_a(m: pyo.ConcreteModel, i: int) -> Any:
        return complements(m.u[i] >= 0, 1 - m.r[i] >= 0)

    def choice_b(m: pyo.ConcreteModel, i: int) -> Any:
        return complements(m.s[i] >= 0, m.v[i] - m.z[i] >= 0)

    def price_b(m: pyo.ConcreteModel, i: int) -> Any:
        return complements(m.v[i] >= 0, 1 - m.s[i] >= 0)

    m.objective = pyo.Objective(expr=total(m.r) + total(m.s), doc="(16) e'r + e's")
    add_errors(m, data, "(16)")
    m.choice_a = Complementarity(m.IA, rule=choice_a, doc="(16) 0 <= r complements u - y >= 0")
    m.price_a = Complementarity(m.IA, rule=price_a, doc="(16) 0 <= u complements -r + e >= 0")
    m.choice_b = Complementarity(m.IB, rule=choice_b, doc="(16) 0 <= s complements v - z >= 0")
    m.price_b = Complementarity(m.IB, rule=price_b, doc="(16) 0 <= v complements -s + e >= 0")
    return m if big_m is None else without_complementarities(m, big_m=big_m)


BIG_M = 1e4
"""M of the transformation, where none is given."""


def without_complementarities(model: pyo.ConcreteModel, *, big_m: float = BIG_M) -> pyo.ConcreteModel:
    """Return a copy of a model with binary variables instead of its complementarities.

    Parameters
    ----------
    model : with complementarities of Pyomo's ``mpec`` between linear expressions.
    big_m : M > 0, an upper bound on each of these expressions; one that is too small cuts points off.

    Returns
    -------
    ConcreteModel
        Of the two expressions in 0 <= a _|_ b >= 0 one is 0 and the other at most M. The components keep their names.

    Raises
    ------
    ParameterError : big_m <= 0.
    """
    big_m = number(str(model.name), "big_m", big_m)
    copy = pyo.TransformationFactory("mpec.simple_disjunction").create_using(model)
    pyo.TransformationFactory("gdp.bigm").apply_to(copy, bigM=big_m)
    return copy


SPEC = ModelSpec(
    "misclass-lpec", build_misclass_lpec, "MPEC", paper="sla", equation="(16)", instance=Instance(gap=0.25)
)
