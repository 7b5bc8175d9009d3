"""Model ``l1-mpm``: Yang & Ju, (12)-(15), least one-norm at a worst-case accuracy."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.mpm.moments import Moments
from fsopt.models.mpm.sparse import new_sparse_model


def build_l1_mpm(data: Dataset, *, delta: float = 0.5, unbiased: bool = False, ridge: float = 0.0) -> pyo.ConcreteModel:
    r"""Return L1-MPM: the plane of least 1-norm with worst-case accuracy delta on both classes.

    .. math::

        \min\ \|w\|_1 \quad\text{s.t.}\quad & m_1 = w'\mu_1 - b \ge \kappa(\delta)\|F_1w\|, \quad m_1 \ge 1 \\
        & m_2 = b - w'\mu_2 \ge \kappa(\delta)\|F_2w\|, \quad m_2 \ge 1

    Parameters
    ----------
    data : standardise the columns first where the support matters; the 1-norm is not scale invariant.
    delta : in (0, 1), the worst-case accuracy; feasible iff delta <= alpha* of :func:`build_mpm`.
    unbiased : divide the covariance of a class of m rows by m - 1 instead of m.
    ridge : >= 0, added to the diagonals of both covariances, in squared units of the columns.

    Returns
    -------
    ConcreteModel
        SOCP, two cones. Variables ``w w_plus w_minus b m1 m2 u1 t1 u2 t2``, constraints ``split mean1 mean2
        accuracy1 accuracy2 spread1 deviation1 spread2 deviation2``.

    Raises
    ------
    ParameterError : delta outside (0, 1), ridge < 0. An infeasible delta is the method's error, not the builder's.

    Notes
    -----
    Paper 2, problem (12)-(15).
    """
    moments = Moments.of(data, unbiased=unbiased, ridge=ridge)
    m = new_sparse_model("l1-mpm", data, moments, delta, ("(13)", "(14)", "(12)"))
    m.objective = pyo.Objective(expr=pyo.quicksum([*m.w_plus.values(), *m.w_minus.values()]), doc="(12) ||w||_1")
    return m


SPEC = ModelSpec("l1-mpm", build_l1_mpm, "SOCP", paper="mpm", equation="(12)-(15)", instance=Instance(p=8, params={"delta": 0.6}))
