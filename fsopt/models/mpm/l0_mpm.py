"""Model ``l0-mpm``: Yang & Ju, (32)-(36), few features at a worst-case accuracy."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.blocks import number
from fsopt.models.mpm.moments import Moments
from fsopt.models.mpm.sparse import new_sparse_model


def build_l0_mpm(
    data: Dataset, *, delta: float = 0.5, alpha: float = 5.0, unbiased: bool = False, ridge: float = 0.0
) -> pyo.ConcreteModel:
    r"""Return L0-MPM: the plane with the fewest features, smoothly counted, and worst-case accuracy delta.

    .. math:: \min\ \sum_j \big(1 - e^{-\alpha(w^+_j + w^-_j)}\big) \quad\text{s.t. as in L1-MPM}

    which is the paper's objective with :math:`|w_j| = w^+_j + w^-_j`: it falls where both parts of a weight shrink
    together, so one of them is 0 at every local optimum, and no absolute value is needed.

    Parameters
    ----------
    data, delta, unbiased, ridge : as in :func:`build_l1_mpm`.
    alpha : > 0, steepness of the approximation :math:`1 - e^{-\alpha|w|}` of the step function.

    Returns
    -------
    ConcreteModel
        NLP with a concave objective over a convex set: it has local optima, one for each of many sets of features.
        Components as in :func:`build_l1_mpm`. Global solvers close the gap for a few features only; DCA solves
        :func:`build_l0_mpm_step` again and again instead.

    Raises
    ------
    ParameterError : delta outside (0, 1), alpha <= 0, ridge < 0.

    Notes
    -----
    Paper 2, problem (32)-(36).
    """
    alpha = number("l0-mpm", "alpha", alpha, low=0.0, strict=True)
    moments = Moments.of(data, unbiased=unbiased, ridge=ridge)
    m = new_sparse_model("l0-mpm", data, moments, delta, ("(33)", "(34)", "(32)"))
    m.objective = pyo.Objective(
        expr=pyo.quicksum(1 - pyo.exp(-alpha * (m.w_plus[j] + m.w_minus[j])) for j in m.J),
        doc="(32) sum_j 1 - exp(-alpha |w_j|)",
    )
    return m


SPEC = ModelSpec("l0-mpm", build_l0_mpm, "NLP", paper="mpm", equation="(32)-(36)", instance=Instance(n=6, p=3, gap=0.5, params={"delta": 0.6}), trial=Instance(n=24, p=5, gap=0.7, seed=7, params={"alpha": 1.0}))
