"""Model ``rsvm-least-norm``: Bi, (12), smallest norm at a given hinge loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.data import Dataset
from fsopt.models.blocks import (
    add_classifier,
    add_margins,
    add_slacks,
    hinge_cost,
    new_model,
    number,
    squares,
    vector,
)
from fsopt.models.spec import Instance, ModelSpec


def build_rsvm_least_norm(
    data: Dataset, *, e_cap: float | None = None, scale: ArrayLike | None = None
) -> pyo.ConcreteModel:
    r"""Return the hyperplane of smallest norm among those with hinge loss at most E, a quadratic program.

    .. math::

        \min\ & \tfrac12 u'u \\
        \text{s.t.}\ & y_i(w'x_i + b) \ge 1 - \xi_i,\quad \xi \ge 0,\quad w_j = \sqrt{s_j}\,u_j,\quad e'\xi \le E

    It answers (13) if the capacity constraint is inactive: (14) then gives the loss E and no hyperplane.

    Parameters
    ----------
    data : Dataset
        Features in comparable units; the optimum depends on them.
    e_cap : float, optional
        E >= 0, at least the smallest hinge loss of any hyperplane; n, the loss of w = 0 and b = 0, by default.
    scale : array, optional
        (p,) the factors s >= 0 of the kernel x'Sx; ones by default.

    Returns
    -------
    ConcreteModel
        QP. Variables ``w b u xi``, constraints ``margin scaling risk``. The classifier is sign(w'x + b).

    Raises
    ------
    ParameterError : e_cap < 0, or scale that is not p numbers >= 0.

    Notes
    -----
    The second objective of Bi, (12), at a given value of the first.
    """
    e_cap = number("rsvm-least-norm", "e_cap", data.total if e_cap is None else e_cap)
    s = np.ones(data.p) if scale is None else vector("rsvm-least-norm", "scale", scale, data.p, low=0.0)
    root = np.sqrt(s)
    m = new_model("rsvm-least-norm", data)
    add_classifier(m)
    m.u = pyo.Var(m.J, doc="u, weights in the scaled space")
    add_slacks(m)

    def scaling(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] - float(root[j]) * m.u[j] == 0

    m.objective = pyo.Objective(expr=0.5 * squares(m.u), doc="(12) 1/2 u'u")
    add_margins(m, data, "(12)")
    m.scaling = pyo.Constraint(m.J, rule=scaling, doc="(12) w_j = sqrt(s_j) u_j")
    m.risk = pyo.Constraint(expr=hinge_cost(m, data) <= e_cap, doc="(12) e'xi <= E")
    return m


SPEC = ModelSpec(
    "rsvm-least-norm",
    build_rsvm_least_norm,
    "QP",
    paper="mop",
    equation="(12)",
    instance=Instance(params={"e_cap": 12.0}),
    trial=Instance(n=24, p=5, gap=0.7, seed=7, params={"e_cap": 9.0}),
    weights="samples",
)
