"""Model ``misclass-lpec``: Mangasarian, (16), misclassified samples counted by complementarities."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.blocks import number
from fsopt.models.sla.hyperplane import new_hyperplane_model
from pyomo.mpec import Complementarity, complements
from typing import Any


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
    m = new_hyperplane_model("misclass-lpec", data, "(16)")
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


SPEC = ModelSpec("misclass-lpec", build_misclass_lpec, "MPEC", paper="sla", equation="(16)", instance=Instance(gap=0.25))
