"""Model ``fsp-sub``: Aytug, (SUB-M) (5)-(6), the subproblem at a selection."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import numpy as np
import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.blocks import add_classifier, add_margins, new_model, number, squares, vector
from numpy.typing import ArrayLike
from typing import Any


def build_fsp_sub(data: Dataset, *, sigma: ArrayLike | None = None, c: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the subproblem of generalized Benders: the SVM on the features that sigma selects.

    .. math::

        F(\sigma) = \min\ \tfrac12 u'u + C e'\xi \quad\text{s.t.}\quad
        y_i(w'x_i + b) + \xi_i \ge 1,\quad w_j = \sigma_j u_j,\quad \xi \ge 0

    which has the value of (SUB-M) for binary sigma (there :math:`u_j` is called :math:`w_j` and is free of
    charge where :math:`\sigma_j = 0`), and keeps sigma in p coefficients, where an update can reach it.

    Parameters
    ----------
    sigma : (p,) entries in [0, 1]; ones by default.
    c : > 0, price of a unit of hinge loss.

    Returns
    -------
    ConcreteModel
        QP with n + p rows. Variables ``w b xi u``, constraints ``margin selection``, mutable parameter
        ``sigma``. ``dual[margin[i]]`` is the alpha_i of the Benders cut.

    Raises
    ------
    ParameterError : c <= 0, or sigma that is not p numbers in [0, 1].

    Notes
    -----
    Paper 4, problem (SUB-M), (5)-(6).
    """
    c = number("fsp-sub", "c", c, low=0.0, strict=True)
    chosen = np.ones(data.p) if sigma is None else vector("fsp-sub", "sigma", sigma, data.p, low=0.0, high=1.0)
    m = new_model("fsp-sub", data)
    m.sigma = pyo.Param(m.J, initialize=dict(enumerate(chosen.tolist())), mutable=True, doc="sigma, selection")
    add_classifier(m)
    m.u = pyo.Var(m.J, doc="u, weights before selection")
    add_margins(m, data, "(5)")

    def selection(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] - m.sigma[j] * m.u[j] == 0

    m.selection = pyo.Constraint(m.J, rule=selection, doc="(5) w_j = sigma_j u_j")
    m.objective = pyo.Objective(
        expr=0.5 * squares(list(m.u.values())) + c * pyo.quicksum(m.xi.values()),
        doc="(SUB-M) 1/2 u'u + C e'xi",
    )
    return m


SPEC = ModelSpec("fsp-sub", build_fsp_sub, "QP", paper="gbd", equation="(SUB-M) (5)-(6)", instance=Instance(params={"sigma": [1.0, 0.0, 1.0, 0.5]}))
