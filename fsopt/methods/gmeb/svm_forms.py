"""Section 5 of paper 1: where its SVM has weights, and the way from (19) to (18)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fsopt.data import Dataset
from fsopt.errors import ParameterError, SolverError
from fsopt.models.blocks import vector
from fsopt.models.gmeb.svm_norm_threshold import build_svm_norm_threshold
from fsopt.results import Status
from fsopt.solvers.base import solve
from fsopt.typing import Vector

ZERO = 1e-7
"""Least norm, next to that of all centred data, that is told from 0."""


FLAT = 1e-3
"""Span of the scores w'x below which w is 0 up to noise: where w is not 0 it is 2 at least, see below."""


def norm_threshold(data: Dataset, solver: str | None = None) -> float:
    r"""Return the largest C at which (19) has the solution w = 0.

    .. math::

        C_0 = \frac{1}{2\min_\mu \|X'Y\mu\|} \quad\text{over}\quad 0 \le \mu \le 1,\quad y'\mu = 0,\quad
        \mu_i = 1 \text{ in the smaller class}

    For :math:`C \le C_0` :func:`fsopt.models.gmeb.svm_norm.build_svm_norm` has the value :math:`2C\min(n_+, n_-)`; below
    :math:`C_0` it has no other solution, and :func:`fsopt.models.gmeb.svm_margin.build_svm_margin` none at all. Above, w is
    not 0 and has jumped: while the scores w'x span less than 2, the least loss over b is linear in the length of w.
    Without the last condition mu = 0 would be the least.

    Parameters
    ----------
    data : used as it is; C_0 does not depend on the columns' means and is inverse to their common unit.
    solver : registry name of a solver of SOCP; None for the preferred one.

    Returns
    -------
    float
        C_0 > 0; infinity where the least norm is 0, as for classes with the same mean and size.

    Raises
    ------
    SolverError : the solver gives no certified optimum.

    Notes
    -----
    Our derivation, from the dual of paper 1, problem (19).
    """
    centred = data.X - data.X.mean(axis=0)
    size = float(np.linalg.norm(centred))
    if size == 0:
        return np.inf
    result = solve(build_svm_norm_threshold(data.with_X(centred / size)), solver)
    if result.status is not Status.OPTIMAL or result.objective is None:
        raise SolverError(
            f"the least norm behind the threshold was not solved: {result.status} ({result.stop}; {result.solver})",
            "try another solver",
        )
    return np.inf if result.objective <= ZERO else 1 / (2 * size * result.objective)


def margin_form(data: Dataset, w: ArrayLike, b: float, xi: ArrayLike) -> tuple[Vector, float, Vector, float]:
    r"""Return the solution (w, b, xi, gamma) of (18) that belongs to a solution of (19).

    .. math:: (w, b, \xi, \gamma) = (w, b, \xi, 1) / \|w\|

    Parameters
    ----------
    data : the data of (19), which decide whether w counts as 0.
    w, b, xi : (p,), scalar and (n,), a solution of (19) for the same C.

    Raises
    ------
    ParameterError : w = 0 up to the solver's noise, whatever the units of the data: (18) has no minimiser.

    Notes
    -----
    Paper 1, Theorem 20.
    """
    weights, slacks = vector("svm-norm", "w", w, data.p), vector("svm-norm", "xi", xi, data.n)
    if np.ptp(data.X @ weights) <= FLAT:
        raise ParameterError(
            "w of (19) is 0, so (18) has no minimiser: its margin grows without end",
            "take C above norm_threshold(data)",
        )
    gamma = 1 / float(np.linalg.norm(weights))
    return weights * gamma, b * gamma, slacks * gamma, gamma
