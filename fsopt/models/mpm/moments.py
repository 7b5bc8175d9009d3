"""Shared by the models of Yang & Ju: means and covariance factors of the classes, kappa, the deviation cones."""

from __future__ import annotations

from fsopt.typing import Vector

import numpy as np
import pyomo.environ as pyo
from dataclasses import dataclass
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.models.blocks import number, squares
from typing import Any


@dataclass(frozen=True)
class Moments:
    """Means and covariance factors of the two classes; class 1 is y = +1.

    Attributes
    ----------
    mean1, mean2 : (p,).
    factor1, factor2 : (r, p) with ``S_k = F_k'F_k`` and r <= p; without a ridge, also r <= rows of the class.
    """

    mean1: Vector
    mean2: Vector
    factor1: Vector
    factor2: Vector

    @staticmethod
    def of(data: Dataset, *, unbiased: bool = False, ridge: float = 0.0) -> Moments:
        r"""Return the moments of a data set.

        Parameters
        ----------
        unbiased : divide the covariance of a class of m rows by m - 1 instead of m.
        ridge : :math:`\rho \ge 0`, in squared units of the columns: the covariances are :math:`S_k + \rho I`.

        Raises
        ------
        ParameterError : ridge < 0, unbiased that is not true or false, or unbiased with a class of one row.
        """
        ridge = number("Moments", "ridge", ridge, low=0.0, high=float(np.finfo(float).max))
        if not isinstance(unbiased, bool):
            raise ParameterError(f"unbiased is {unbiased!r}", "true or false")
        parts = [data.X[data.y > 0], data.X[data.y < 0]]
        if unbiased and min(map(len, parts)) < 2:
            raise ParameterError("a class of one row has no unbiased covariance", "leave unbiased at false")
        factors = [factor(part, len(part) - unbiased, ridge) for part in parts]
        return Moments(parts[0].mean(axis=0), parts[1].mean(axis=0), *factors)


def factor(rows: Vector, divisor: int, ridge: float) -> Vector:
    """Return F (r, p) with F'F the covariance of the rows; thin, so that a singular one needs no Cholesky."""
    factor: Vector = (rows - rows.mean(axis=0)) / np.sqrt(divisor)
    if ridge > 0:
        factor = np.vstack([factor, np.sqrt(ridge) * np.eye(factor.shape[1])])
    if len(factor) <= factor.shape[1]:
        return factor
    return np.asarray(np.linalg.qr(factor, mode="r"))


def kappa(delta: float) -> float:
    """Return sqrt(delta / (1 - delta)), the number of deviations that a worst-case accuracy delta asks for."""
    return float(np.sqrt(delta / (1.0 - delta)))


def add_deviations(m: pyo.ConcreteModel, moments: Moments) -> None:
    """Add w and the norms t_k >= ||F_k w|| through u_k = F_k w."""
    weights = tuple(m.w.values())
    for k, factor in ((1, moments.factor1), (2, moments.factor2)):
        index = pyo.RangeSet(0, len(factor) - 1)
        u = pyo.Var(index, doc=f"u_{k} = F_{k} w")
        t = pyo.Var(within=pyo.NonNegativeReals, doc=f"t_{k} >= ||F_{k} w||")
        m.add_component(f"u{k}", u)
        m.add_component(f"t{k}", t)

        def spread(_: Any, i: int, u: Any = u, factor: Vector = factor) -> Any:
            return dot(factor[i], weights) - u[i] == 0

        m.add_component(f"spread{k}", pyo.Constraint(index, rule=spread, doc=f"u_{k} = F_{k} w"))
        m.add_component(
            f"deviation{k}",
            pyo.Constraint(expr=squares(list(u.values())) <= t**2, doc=f"||F_{k} w||^2 <= t_{k}^2"),
        )
