"""Means and covariance factors of the classes, and the deviations ||F_k w|| in the models of Yang & Ju."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from fsopt.common.clock import NUMBER, require
from fsopt.data import Dataset
from fsopt.data.matrices import column_means, refuse_sparse
from fsopt.errors import ParameterError, shown
from fsopt.models.blocks import number, row_form, squares
from fsopt.typing import Matrix, Vector

WIDE = 500
"""Number of features beyond which a model takes a sparse factor as it is."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Means mu_k and covariance factors of the two classes; class 1 is y = +1, class 2 is y = -1.

    A factor (r, p) has ``S_k = F_k'F_k``; r is at most p without a ridge, and at most the number of samples of the
    class. With a ridge and fewer samples than features they are sparse: the samples' rows, then the diagonal of the
    ridge.
    """

    mean1: Vector
    mean2: Vector
    factor1: Matrix | sp.csr_array
    factor2: Matrix | sp.csr_array

    @staticmethod
    def of(data: Dataset, *, unbiased: bool = False, ridge: float = 0.0) -> Moments:
        r"""Return the moments of a data set.

        Parameters
        ----------
        data : Dataset
            Dense samples of both classes.
        unbiased : bool, default False
            Divide the covariance of a class of m samples by m - 1 instead of m.
        ridge : float, default 0.0
            >= 0, added to the diagonals of both covariances, in squared units of the features.
        """
        ridge = number("Moments", "ridge", ridge)
        if not isinstance(unbiased, bool):
            raise ParameterError(f"unbiased is {shown(unbiased)}", "true or false")
        refuse_sparse("the factor of a covariance matrix", data.X)
        known = _KNOWN.setdefault(data, {})
        if (unbiased, ridge) in known:
            return known[unbiased, ridge]
        classes = [data.X[data.y > 0], data.X[data.y < 0]]
        if unbiased and min(map(len, classes)) < 2:
            raise ParameterError("a class of one sample has no unbiased covariance", "leave unbiased at false")
        factors = [covariance_factor(samples, len(samples) - unbiased, ridge) for samples in classes]
        return known.setdefault((unbiased, ridge), Moments(*map(column_means, classes), *factors))


_KNOWN: WeakKeyDictionary[Dataset, dict[tuple[bool, float], Moments]] = WeakKeyDictionary()
"""The moments of each data set in use, by ``unbiased`` and ``ridge``: a method, its model and its check share them."""


def covariance_factor(samples: Matrix, divisor: int, ridge: float) -> Matrix | sp.csr_array:
    """Return F (r, p) with F'F the covariance of samples (m, p) plus ``ridge`` times the identity, never formed."""
    factor: Matrix = (samples - column_means(samples)) / np.sqrt(divisor)
    m, p = factor.shape
    if ridge > 0:
        diagonal = sp.identity(p, format="csr") * np.sqrt(ridge)
        if m < p:
            return sp.csr_array(sp.vstack([sp.csr_array(factor), diagonal]))
        factor = np.vstack([factor, diagonal.toarray()])
    return triangular(factor)


def triangular(factor: Any) -> Matrix:
    """Return a dense factor with the same F'F of at most p rows; raise MemoryLimitError where it does not fit."""
    rows, p = factor.shape
    if sp.issparse(factor):
        require(2.0 * NUMBER * rows * p, f"covariance matrices with a ridge of {p} features")
        factor = factor.toarray()
    return factor if rows <= p else _triangle(np.array(factor, order="C"))


def _triangle(R: Matrix) -> Matrix:
    """Return the triangular factor of a matrix (m, p), m > p, which is overwritten."""
    # Householder's reflections by products and sums of numpy alone are, unlike those of LAPACK, the same on every
    # processor.
    p = R.shape[1]
    for k in range(p):
        part = R[k:, k:]
        v = part[:, 0].copy()
        v[0] += math.copysign(math.sqrt(math.fsum(v * v)), v[0])
        square = math.fsum(v * v)
        if square > 0:
            part -= v[:, None] * ((2.0 / square) * (v[:, None] * part).sum(axis=0))
    return np.triu(R[:p])


def model_factor(factor: Matrix | sp.csr_array) -> Matrix | sp.csr_array:
    """Return the factor that models take: a triangular one up to :data:`WIDE` features, beyond that a sparse one."""
    return triangular(factor) if factor.shape[1] <= WIDE else factor


def kappa(delta: float) -> float:
    """Return sqrt(delta / (1 - delta)), the number of deviations that a worst-case accuracy delta requires."""
    return float(np.sqrt(delta / (1.0 - delta)))


def deviations_at(data: Dataset, w: Vector, *, unbiased: bool = False, ridge: float = 0.0) -> dict[str, Any]:
    """Return the variables of :func:`add_deviations` at weights w (p,), and these."""
    moments = Moments.of(data, unbiased=unbiased, ridge=ridge)
    u1, u2 = (model_factor(factor) @ w for factor in (moments.factor1, moments.factor2))
    return {"w": w, "u1": u1, "t1": np.linalg.norm(u1), "u2": u2, "t2": np.linalg.norm(u2)}


def add_deviations(m: pyo.ConcreteModel, moments: Moments, equations: tuple[str, str]) -> None:
    """Add u_k = F_k w and t_k >= ||F_k w|| for the classes k = 1, 2, by their equations of the paper."""
    weights = tuple(m.w.values())
    factors = model_factor(moments.factor1), model_factor(moments.factor2)
    for k, factor, equation in zip((1, 2), factors, equations, strict=True):
        index = pyo.RangeSet(0, factor.shape[0] - 1)
        u = pyo.Var(index, doc=f"u_{k} = F_{k} w")
        t = pyo.Var(within=pyo.NonNegativeReals, doc=f"t_{k} >= ||F_{k} w||")
        m.add_component(f"u{k}", u)
        m.add_component(f"t{k}", t)

        def spread(_: Any, i: int, u: pyo.Var = u, factor: Matrix | sp.csr_array = factor) -> Any:
            return row_form(factor, i, weights) == u[i]

        spreads = pyo.Constraint(index, rule=spread, doc=f"{equation} u_{k} = F_{k} w")
        deviation = pyo.Constraint(expr=squares(u) <= t**2, doc=f"{equation} ||u_{k}|| <= t_{k}")
        m.add_component(f"spread{k}", spreads)
        m.add_component(f"deviation{k}", deviation)
