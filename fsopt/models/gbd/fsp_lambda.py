"""Model ``fsp-lambda``: Aytug, (FSP-lambda) as printed, nonconvex."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import pyomo.environ as pyo
from collections.abc import Sequence
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.gbd.limits import Feature, Limits, penalties
from fsopt.models.gbd.printed import loss, new_printed_model
from numpy.typing import ArrayLike


def build_fsp_lambda(
    data: Dataset,
    *,
    c: float = 1.0,
    lam: ArrayLike = 1.0,
    include: Sequence[Feature] = (),
    exclude: Sequence[Feature] = (),
    implies: Sequence[Sequence[Feature]] = (),
    conflicts: Sequence[Sequence[Feature]] = (),
) -> pyo.ConcreteModel:
    r"""Return the feature selection problem with a price on each feature, as printed: not convex.

    .. math::

        \min\ \tfrac12 \sum_j \sigma_j w_j^2 + C e'\xi + \lambda'\sigma \quad\text{s.t.}\quad
        y_i\Big(\sum_j \sigma_j w_j x_{ij} + b\Big) + \xi_i \ge 1,\quad \xi \ge 0,\quad \sigma \in \{0,1\}^p

    and the rules between features of ``fsp-master``. The products :math:`v_j = \sigma_j w_j` have a name, and weights
    are bounded, as in ``fsp-m``. Some numbers of features are reached by no lambda.

    Parameters
    ----------
    c : > 0, price of a unit of hinge loss.
    lam : >= 0, price of each feature, or p prices.
    include : features that must be selected, by place (from 0) or name.
    exclude : features that must not be selected.
    implies : pairs [j, k]: where j is selected, so is k.
    conflicts : groups of features, at most one of each.

    Returns
    -------
    ConcreteModel
        MINLP with p binaries and bilinear terms, for the record and for tiny data. Variables ``w b xi sigma v``,
        constraints ``margin product``, and of ``include exclude implies conflicts`` those that are asked for.

    Raises
    ------
    ParameterError : c <= 0, a negative price, no such feature, limits that no selection keeps.

    Notes
    -----
    Paper 4, problem (FSP-lambda). The classifier is (v, b), not (w, b).
    """
    prices = penalties("fsp-lambda", data, lam)
    limits = Limits.of(
        "fsp-lambda", data, include=include, exclude=exclude, implies=implies, conflicts=conflicts
    )  # fmt: skip
    model = new_printed_model("fsp-lambda", data, c, limits, "(FSP-lambda)")
    model.objective = pyo.Objective(
        expr=loss(model, c) + dot(prices, tuple(model.sigma.values())),
        doc="(FSP-lambda) 1/2 sum_j sigma_j w_j^2 + C e'xi + lambda'sigma",
    )
    return model


SPEC = ModelSpec("fsp-lambda", build_fsp_lambda, "MINLP", paper="gbd", equation="(FSP-lambda)", instance=Instance(n=12, p=3, params={"lam": [0.5, 0.25, 0.125]}))
