"""Model ``rsvm-least-norm``: Bi, (12), least norm at a loss."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import numpy as np
import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.blocks import add_classifier, add_margins, new_model, number, squares, vector
from numpy.typing import ArrayLike
from typing import Any


def build_rsvm_least_norm(
    data: Dataset, *, e_cap: float | None = None, scale: ArrayLike | None = None
) -> pyo.ConcreteModel:
    r"""Return the plane of least norm among those whose hinge loss is at most E, a quadratic program.

    .. math::

        \min\ \tfrac12 u'u \quad\text{s.t.}\quad e'\xi \le E,\quad w_j = \sqrt{s_j}\,u_j,\quad
        y_i(w'x_i + b) + \xi_i \ge 1,\ \xi \ge 0

    It answers (13) where the capacity constraint is inactive: (14) then gives the loss E and no direction.

    Parameters
    ----------
    e_cap : E >= 0, at least the least hinge loss of any plane; n, the loss of w = 0, by default.
    scale : (p,) the factors s >= 0 of the kernel x'Sx; ones by default.

    Returns
    -------
    ConcreteModel
        QP. Variables ``w b xi u``, constraints ``margin scaling risk``.

    Raises
    ------
    ParameterError : e_cap < 0, or scale that is not p numbers >= 0.

    Notes
    -----
    Paper 5, the second objective of (12) at the best value of the first.
    """
    e_cap = number("rsvm-least-norm", "e_cap", data.n if e_cap is None else e_cap, low=0.0)
    s = np.ones(data.p) if scale is None else vector("rsvm-least-norm", "scale", scale, data.p, low=0.0)
    root = np.sqrt(s)
    m = new_model("rsvm-least-norm", data)
    add_classifier(m)
    m.u = pyo.Var(m.J, doc="u, weights in the scaled space")
    add_margins(m, data, "(12)")

    def scaling(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] - float(root[j]) * m.u[j] == 0

    m.scaling = pyo.Constraint(m.J, rule=scaling, doc="(12) w_j = sqrt(s_j) u_j")
    m.risk = pyo.Constraint(expr=pyo.quicksum(m.xi.values()) <= e_cap, doc="(12) e'xi <= E")
    m.objective = pyo.Objective(expr=0.5 * squares(list(m.u.values())), doc="(12) 1/2 u'u")
    return m


SPEC = ModelSpec("rsvm-least-norm", build_rsvm_least_norm, "QP", paper="mop", equation="(12)", instance=Instance(params={"e_cap": 12.0}), trial=Instance(n=24, p=5, gap=0.7, seed=7, params={"e_cap": 9.0}))
