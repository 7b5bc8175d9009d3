"""Model ``gmeb-weighted-l1``: Peleg & Meir, (10) at a fixed share of its two norm terms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler.values import store
from fsopt.data import Dataset
from fsopt.models.blocks import (
    add_classifier,
    add_margins,
    add_slacks,
    add_weight_parts,
    new_model,
    number,
    split_constraint,
    total,
)
from fsopt.models.gmeb.penalty import GmebPenalty
from fsopt.models.spec import Instance, ModelSpec


def build_gmeb_weighted_l1(
    data: Dataset, *, c_plus: float = 4.0, c_minus: float = 4.0, share: float = 0.5, end: float | None = None
) -> pyo.ConcreteModel:
    r"""Return the weighted one-norm SVM that equals penalised GMEB (10) at a fixed share rho, or bounds it from below.

    .. math::

        \min\ & \tfrac1n 1'\xi + \sum_j c_j (w_j^+ + w_j^-), \qquad c_j = u_j(\rho) + (e - \rho)\, u_j'(\rho) \\
        \text{s.t.}\ & y_i(w'x_i + b) \ge 1 - \xi_i, \quad \xi \ge 0, \quad w = w^+ - w^-, \quad w^+, w^- \ge 0 \\
        & \sum_j d_j (w_j^+ + w_j^-) \ge 0, \qquad d_j = \operatorname{sign}(\rho - e)\, u_j'(\rho)

    with :math:`u_j(\rho)^2 = C_+^2 n_+ v_j^+/(n^2\rho) + C_-^2 n_- v_j^-/(n^2(1-\rho))`, where w stands for the
    products :math:`w_j\sigma_j` of (10). For e = rho all d are 0 and the optimum is an upper bound on (10), equal to
    its optimum at the best rho. For another e the optimum is a lower bound, because u is convex: on the part of (10)
    whose hyperplanes satisfy the last constraint and whose shares lie in [e, 1] if e < rho, in [0, e] if e > rho.

    Parameters
    ----------
    data : Dataset
        Features centred by their training mean; the builder does not preprocess.
    c_plus, c_minus : float, default 4.0
        :math:`C_+, C_- > 0`, penalty weights of the two norm terms.
    share : float, default 0.5
        Point rho in (0, 1) of the linearisation.
    end : float, optional
        Share e in [0, 1] at which the linearised weights are taken; rho by default.

    Returns
    -------
    ConcreteModel
        LP with n + p + 1 constraints. Variables ``w b w_plus w_minus xi``, constraints ``margin split side``, mutable
        parameters ``cost slope``: :func:`linearise` changes them.

    Raises
    ------
    ParameterError : a penalty weight that is not positive, a share outside (0, 1), an end outside [0, 1].

    Notes
    -----
    Our reformulation of Peleg & Meir, (10), with the weights of :class:`fsopt.models.gmeb.penalty.GmebPenalty`.
    """
    name = "gmeb-weighted-l1"
    c_plus = number(name, "c_plus", c_plus)
    c_minus = number(name, "c_minus", c_minus)
    share = number(name, "share", share, inside="(0, 1)")
    end = share if end is None else number(name, "end", end, inside="[0, 1]")
    m = new_model(name, data)
    add_classifier(m)
    add_weight_parts(m)
    m.cost = pyo.Param(m.J, initialize=0.0, mutable=True, doc="c, linearised weights of |w|")
    m.slope = pyo.Param(m.J, initialize=0.0, mutable=True, doc="d, slopes of the weights away from the end e")
    linearise(m, GmebPenalty.of(data, c_plus, c_minus), share, end)
    add_slacks(m)
    m.objective = pyo.Objective(
        expr=total(m.xi) / data.n + _weighted_norm(m, m.cost), doc="(10) 1'xi / n + c'|w|, linearised in rho"
    )
    add_margins(m, data, "(10)")
    m.split = split_constraint(m, "(10)")
    m.side = pyo.Constraint(
        expr=_weighted_norm(m, m.slope) >= 0, doc="(10) d'|w| >= 0: at rho the penalty falls towards the end e"
    )
    return m


def _weighted_norm(m: pyo.ConcreteModel, weights: pyo.Param) -> Any:
    """Return sum_j weights_j (w+_j + w-_j)."""
    return pyo.quicksum(weights[j] * part[j] for part in (m.w_plus, m.w_minus) for j in m.J)


def linearise(model: pyo.ConcreteModel, penalty: GmebPenalty, share: float, end: float) -> None:
    """Set the parameters of the model to another share and end; then update its ``objective`` and ``side``."""
    slopes = penalty.slopes(share)
    store(model.cost, penalty.weights(share) + (end - share) * slopes)
    store(model.slope, np.sign(share - end) * slopes)


SPEC = ModelSpec(
    "gmeb-weighted-l1",
    build_gmeb_weighted_l1,
    "LP",
    paper="gmeb",
    equation="(10), fixed share",
    instance=Instance(params={"c_plus": 0.125, "c_minus": 0.125, "share": 0.5, "end": 0.25}),
    trial=Instance(n=24, p=5, gap=0.7, seed=7, params={"c_plus": 0.25, "c_minus": 0.25}),
)
