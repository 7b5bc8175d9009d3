"""Model ``gmeb-weighted-l1``: Peleg & Meir, (10) at a fixed share of its two norm terms."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import numpy as np
import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.blocks import add_classifier, add_margins, new_model, number
from fsopt.models.gmeb.penalty import GmebPenalty
from typing import Any


def build_gmeb_weighted_l1(
    data: Dataset, *, c_plus: float = 4.0, c_minus: float = 4.0, share: float = 0.5, end: float | None = None
) -> pyo.ConcreteModel:
    r"""Return the weighted one-norm machine that GMEB with prices (10) becomes at a fixed share, or bounds it.

    .. math::

        \min\ & \tfrac1n 1'\xi + \sum_j c_j (w_j^+ + w_j^-), \qquad c_j = u_j(\rho) + (e - \rho)\, u_j'(\rho) \\
        \text{s.t.}\ & y_i(w'x_i + b) \ge 1 - \xi_i, \quad \xi \ge 0, \quad w = w^+ - w^-, \quad w^+, w^- \ge 0 \\
        & \sum_j d_j (w_j^+ + w_j^-) \ge 0, \qquad d_j = \operatorname{sign}(\rho - e)\, u_j'(\rho)

    with the weights u of :class:`GmebPenalty`. For e = rho the row is empty and the value is an upper bound on (10),
    equal to its optimum at the best rho. For another e the value is a lower bound, because u is convex: on (10) over
    the planes that satisfy the row and the shares from e on, in [e, 1] for e < rho and in [0, e] for e > rho.

    Parameters
    ----------
    data : centred columns are assumed, nothing is preprocessed here.
    c_plus, c_minus : :math:`C_+, C_- > 0`, prices of the two norm terms.
    share : rho in (0, 1), where the weights are linearised.
    end : e in [0, 1], where the linearised weights are taken; rho by default.

    Returns
    -------
    ConcreteModel
        LP with n + p + 1 rows. Variables ``w w_plus w_minus b xi``, constraints ``margin split side``, mutable
        parameters ``cost slope``: :func:`linearise` moves them.

    Raises
    ------
    ParameterError : a price that is not positive, a share outside (0, 1), an end outside [0, 1].

    Notes
    -----
    Our reformulation of paper 1, problem (10), where w stands for w_j sigma_j.
    """
    name = "gmeb-weighted-l1"
    c_plus, c_minus = price(name, "c_plus", c_plus), price(name, "c_minus", c_minus)
    share = number(name, "share", share, low=0.0, high=1.0, strict=True)
    end = share if end is None else number(name, "end", end, low=0.0, high=1.0)
    m = new_model(name, data)
    add_classifier(m)
    m.w_plus = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="positive part of w")
    m.w_minus = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="negative part of w")
    m.cost = pyo.Param(m.J, initialize=0.0, mutable=True, doc="c, linearised weights of |w|")
    m.slope = pyo.Param(m.J, initialize=0.0, mutable=True, doc="d, their slopes away from the end")
    linearise(m, GmebPenalty.of(data, c_plus, c_minus), share, end)
    add_margins(m, data, "(10)")
    m.objective = pyo.Objective(
        expr=pyo.quicksum(m.xi.values()) / data.n
        + pyo.quicksum(m.cost[j] * part[j] for part in (m.w_plus, m.w_minus) for j in m.J),
        doc="(10) 1'xi / n + c'|w|, the penalty with weights linearised in rho",
    )

    def split(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] - m.w_plus[j] + m.w_minus[j] == 0

    m.split = pyo.Constraint(m.J, rule=split, doc="(10) w = w+ - w-")
    m.side = pyo.Constraint(
        expr=pyo.quicksum(m.slope[j] * part[j] for part in (m.w_plus, m.w_minus) for j in m.J) >= 0,
        doc="(10) d'|w| >= 0: at rho the penalty falls towards the end",
    )
    return m


def price(name: str, parameter: str, value: Any) -> float:
    """Return C+ or C- as a float > 0; else ParameterError."""
    return number(name, parameter, value, low=0.0, high=np.inf, strict=True)


def linearise(model: pyo.ConcreteModel, penalty: GmebPenalty, share: float, end: float) -> None:
    """Move the model of :func:`build_gmeb_weighted_l1` to another share and end; then update objective and side."""
    slopes = penalty.slopes(share)
    cost = penalty.weights(share) + (end - share) * slopes
    model.cost.store_values(dict(enumerate(cost.tolist())))
    model.slope.store_values(dict(enumerate((np.sign(share - end) * slopes).tolist())))


SPEC = ModelSpec("gmeb-weighted-l1", build_gmeb_weighted_l1, "LP", paper="gmeb", equation="(10), fixed share", instance=Instance(params={"c_plus": 0.125, "c_minus": 0.125, "share": 0.5, "end": 0.25}), trial=Instance(n=24, p=5, gap=0.7, seed=7, params={"c_plus": 0.25, "c_minus": 0.25}))
