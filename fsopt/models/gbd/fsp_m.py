"""Model ``fsp-m``: Aytug, (FSP-M) as printed, nonconvex."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import pyomo.environ as pyo
from collections.abc import Sequence
from fsopt.data import Dataset
from fsopt.models.gbd.limits import Feature, Limits
from fsopt.models.gbd.printed import loss, new_printed_model
from numpy.typing import ArrayLike


def build_fsp_m(
    data: Dataset,
    *,
    c: float = 1.0,
    m: int | None = None,
    costs: ArrayLike | None = None,
    budget: float | None = None,
    include: Sequence[Feature] = (),
    exclude: Sequence[Feature] = (),
    implies: Sequence[Sequence[Feature]] = (),
    conflicts: Sequence[Sequence[Feature]] = (),
) -> pyo.ConcreteModel:
    r"""Return the feature selection problem with a limit on the selection, as printed: not convex.

    .. math::

        \min\ \tfrac12 \sum_j \sigma_j w_j^2 + C e'\xi \quad\text{s.t.}\quad
        & y_i\Big(\sum_j \sigma_j w_j x_{ij} + b\Big) + \xi_i \ge 1,\quad \xi \ge 0 \\
        & e'\sigma \le M \ \text{or}\ \beta'\sigma \le B,\quad \sigma \in \{0,1\}^p

    and the rules between features of ``fsp-master``. The p products :math:`v_j = \sigma_j w_j` have a name, so that
    the objective, :math:`\tfrac12 v'w + Ce'\xi`, is quadratic and not cubic. Weights are bounded by
    :math:`|w_j| \le \sqrt{2C\min(n_+, n_-)}`, which branch and bound needs: an optimum keeps it, since the best
    weights of a selection do and a weight that is not selected is free of charge.

    Parameters
    ----------
    c : > 0, price of a unit of hinge loss.
    m : largest number of features, 1..p; by default 5, or p where that is less, or as many as ``include`` asks for
        where that is more.
    costs, budget : (p,) prices beta >= 0 of the features and the budget B >= 0, instead of m.
    include : features that must be selected, by place (from 0) or name.
    exclude : features that must not be selected.
    implies : pairs [j, k]: where j is selected, so is k.
    conflicts : groups of features, at most one of each.

    Returns
    -------
    ConcreteModel
        MINLP with p binaries and bilinear terms, for the record and for tiny data: ``fsp-m-bigm`` and the method
        ``gbd`` solve the same problem. Variables ``w b xi sigma v``, constraints ``margin product``, and of
        ``cardinality budget include exclude implies conflicts`` those that are asked for.

    Raises
    ------
    ParameterError : c <= 0, m > p, m with a budget, negative prices, no such feature, limits that no selection
        keeps.

    Notes
    -----
    Paper 4, problem (FSP-M). The classifier is (v, b), not (w, b).
    """
    limits = Limits.of(
        "fsp-m", data, m=m, costs=costs, budget=budget,
        include=include, exclude=exclude, implies=implies, conflicts=conflicts,
    ).or_few()  # fmt: skip
    model = new_printed_model("fsp-m", data, c, limits, "(FSP-M)")
    model.objective = pyo.Objective(expr=loss(model, c), doc="(FSP-M) 1/2 sum_j sigma_j w_j^2 + C e'xi")
    return model


SPEC = ModelSpec("fsp-m", build_fsp_m, "MINLP", paper="gbd", equation="(FSP-M)", instance=Instance(n=12, p=3, params={"m": 2}))
