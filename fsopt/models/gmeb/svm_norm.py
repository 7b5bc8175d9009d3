"""Model ``svm-norm``: Peleg & Meir, (19), the SVM with the unsquared norm."""

from __future__ import annotations

import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.models.blocks import add_classifier, add_margins, add_slacks, new_model, number, squares, total
from fsopt.models.spec import Instance, ModelSpec


def build_svm_norm(data: Dataset, *, c: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the SVM with the norm of its weights not squared, a second-order cone program.

    .. math::

        \min\ & \tfrac12 t + C\,1'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) \ge 1 - \xi_i, \quad \xi \ge 0, \quad \|w\| \le t

    Its hyperplane is that of the ordinary SVM, with :math:`\tfrac12\|w\|^2`, at the penalty weight :math:`2\|w\|C`. A
    norm has no slope 0 at 0: w = 0 is optimal for every C up to a threshold, and then w jumps. By the dual the
    threshold is :math:`1/(2\min_\mu \|X'Y\mu\|)` over :math:`\mu \in [0, 1]^n` with :math:`y'\mu = 0` and
    :math:`\mu_i = 1` in the smaller class.

    Parameters
    ----------
    data : Dataset
        In any units; the builder does not preprocess.
    c : float, default 1.0
        C > 0, penalty weight of the hinge loss.

    Returns
    -------
    ConcreteModel
        SOCP with one cone. Variables ``w b t xi``, constraints ``margin norm``. The classifier is sign(w'x + b).

    Raises
    ------
    ParameterError : C that is not a positive number.

    Notes
    -----
    Peleg & Meir, (19). The threshold is our derivation.
    """
    c = number("svm-norm", "c", c)
    m = new_model("svm-norm", data)
    add_classifier(m)
    m.t = pyo.Var(within=pyo.NonNegativeReals, doc="t, the norm of w")
    add_slacks(m)
    m.objective = pyo.Objective(expr=0.5 * m.t + c * total(m.xi), doc="(19) 1/2 ||w|| + C 1'xi")
    add_margins(m, data, "(19)")
    m.norm = pyo.Constraint(expr=squares(m.w) <= m.t**2, doc="(19) ||w|| <= t")
    return m


SPEC = ModelSpec(
    "svm-norm",
    build_svm_norm,
    "SOCP",
    paper="gmeb",
    equation="(19)",
    trial=Instance(n=24, p=5, gap=0.7, seed=7, params={"c": 0.3}),
)
