"""Model ``svm-norm``: Peleg & Meir, (19), the SVM with the unsquared norm."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.blocks import add_classifier, add_margins, new_model, number, squares


def build_svm_norm(data: Dataset, *, c: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the SVM with the norm of its weights not squared, a second-order cone program.

    .. math::

        \min\ \tfrac12 t + C\,1'\xi \quad\text{s.t.}\quad \|w\| \le t, \quad
        y_i(w'x_i + b) \ge 1 - \xi_i, \quad \xi \ge 0

    Its plane is that of the ordinary SVM, with :math:`\tfrac12\|w\|^2`, at the price :math:`2\|w\|C`. A norm is not
    flat at 0: w = 0 is optimal for every C up to :func:`fsopt.methods.gmeb.svm_forms.norm_threshold`, then w jumps.

    Parameters
    ----------
    c : C > 0, price of the slacks.

    Returns
    -------
    ConcreteModel
        SOCP with one cone. Variables ``w b t xi``, constraints ``norm margin``.

    Raises
    ------
    ParameterError : C that is not a positive number.

    Notes
    -----
    Paper 1, problem (19).
    """
    c = number("svm-norm", "c", c, low=0.0, strict=True)
    m = new_model("svm-norm", data)
    add_classifier(m)
    m.t = pyo.Var(within=pyo.NonNegativeReals, doc="(19) t, the norm of w")
    add_margins(m, data, "(19)")
    m.objective = pyo.Objective(expr=0.5 * m.t + c * pyo.quicksum(m.xi.values()), doc="(19) 1/2 ||w|| + C 1'xi")
    m.norm = pyo.Constraint(expr=squares(list(m.w.values())) <= m.t**2, doc="(19) ||w|| <= t")
    return m


SPEC = ModelSpec("svm-norm", build_svm_norm, "SOCP", paper="gmeb", equation="(19)", trial=Instance(n=24, p=5, gap=0.7, seed=7, params={"c": 0.3}))
