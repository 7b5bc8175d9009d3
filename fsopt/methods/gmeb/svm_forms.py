"""The two forms (18) and (19) of the support vector machine in Peleg & Meir, section 5: threshold and conversion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.answers.results import Status
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.errors import ParameterError, SolverError
from fsopt.models.blocks import new_model, signed_features, squares, vector
from fsopt.solvers.base import solve
from fsopt.typing import Vector

ZERO = 1e-7
"""Smallest norm, relative to that of all centred data, up to which it counts as 0."""

FLAT = 1e-3
"""Span of the scores w'x up to which w is 0 up to noise: a w other than 0 has a span of at least 2, see below."""


def norm_threshold(data: Dataset, solver: str | None = None) -> float:
    r"""Return the largest C at which (19) has the solution w = 0.

    .. math::

        C_0 = \frac{1}{2\min_\mu \|X'Y\mu\|} \quad\text{over}\quad 0 \le \mu \le 1,\quad y'\mu = 0,\quad
        \mu_i = 1 \text{ in the smaller class}

    For :math:`C \le C_0` problem (19), :func:`fsopt.models.gmeb.svm_norm.build_svm_norm`, has the optimum
    :math:`2C\min(n_+, n_-)`. For :math:`C < C_0` it has no solution but w = 0, and problem (18),
    :func:`fsopt.models.gmeb.svm_norm.build_svm_margin`, has no minimiser. For :math:`C > C_0` w is not 0, and has
    jumped: while the scores w'x span less than 2, the smallest loss over b is linear in the length of w. Without the
    last condition the minimum would be 0, at mu = 0.

    Parameters
    ----------
    data : used as it is; C_0 does not depend on the means of the features and is inverse to their common unit.
    solver : registry name of a solver of SOCP; None for the preferred one.

    Returns
    -------
    float
        C_0 > 0; infinity where the smallest norm is 0, as for classes with the same mean and size.

    Raises
    ------
    SolverError : the solver gives no certified optimum.

    Notes
    -----
    Our derivation, from the dual of Peleg & Meir, (19).
    """
    centred = data.X - data.X.mean(axis=0)
    size = float(np.linalg.norm(centred))
    if size == 0:
        return np.inf
    result = solve(build_svm_norm_threshold(data.with_X(centred / size)), solver)
    if result.status is not Status.OPTIMAL or result.objective is None:
        raise SolverError(
            f"the smallest norm behind the threshold was not solved: {result.status} ({result.stop}; {result.solver})",
            "try another solver",
        )
    return np.inf if result.objective <= ZERO else 1 / (2 * size * result.objective)


def margin_form(data: Dataset, w: ArrayLike, b: float, xi: ArrayLike) -> tuple[Vector, float, Vector, float]:
    r"""Return the solution (w, b, xi, gamma) of (18) that belongs to a solution of (19).

    .. math:: (w, b, \xi, \gamma) = (w, b, \xi, 1) / \|w\|

    Parameters
    ----------
    data : the data of (19), whose scores decide whether w counts as 0.
    w, b, xi : (p,), scalar and (n,), a solution of (19) for the same C.

    Raises
    ------
    ParameterError : w = 0 up to the solver's noise, in whatever units of the data: (18) has no minimiser.

    Notes
    -----
    Peleg & Meir, Theorem 20.
    """
    weights, slacks = vector("svm-norm", "w", w, data.p), vector("svm-norm", "xi", xi, data.n)
    if np.ptp(data.X @ weights) <= FLAT:
        raise ParameterError(
            "w of (19) is 0, so (18) has no minimiser: its margin grows without bound",
            "take C above norm_threshold(data)",
        )
    gamma = 1 / float(np.linalg.norm(weights))
    return weights * gamma, b * gamma, slacks * gamma, gamma


def build_svm_norm_threshold(data: Dataset) -> pyo.ConcreteModel:
    r"""Return the program whose optimum t decides for which C w = 0 solves (19), a second-order cone program.

    .. math::

        \min\ & t \\
        \text{s.t.}\ & q = X'Y\mu, \quad \|q\| \le t, \quad y'\mu = 0, \quad 0 \le \mu \le 1, \quad
        \mu_i = 1 \text{ in the smaller class}

    :math:`C\mu` are multipliers of the margins at w = 0 and the best b. They are feasible for the dual of (19), and
    w = 0 is optimal, iff :math:`C\|q\| \le 1/2`: the threshold is :math:`C = 1/(2t)`. With classes of equal size every
    mu_i is 1.

    Parameters
    ----------
    data : in any units; the builder does not preprocess.

    Returns
    -------
    ConcreteModel
        SOCP with one cone. Variables ``mu q t``, constraints ``expansion balance norm``.

    Notes
    -----
    Our derivation, from the dual of Peleg & Meir, (19).
    """
    m = new_model("svm-norm-threshold", data)
    smaller = 1.0 if np.sum(data.y > 0) <= np.sum(data.y < 0) else -1.0
    m.mu = pyo.Var(m.I, bounds=(0, 1), doc="mu, multipliers of the margins divided by C")
    for i in np.flatnonzero(data.y == smaller).tolist():
        m.mu[i].setlb(1)
    m.q = pyo.Var(m.J, doc="q = X'Y mu")
    m.t = pyo.Var(within=pyo.NonNegativeReals, doc="t, the norm of q")
    mus, signed = tuple(m.mu.values()), signed_features(data)

    def expansion(m: pyo.ConcreteModel, j: int) -> Any:
        return m.q[j] - dot(signed[j], mus) == 0

    m.objective = pyo.Objective(expr=m.t, doc="(19), dual: ||X'Y mu||")
    m.expansion = pyo.Constraint(m.J, rule=expansion, doc="(19), dual: q = X'Y mu")
    m.balance = pyo.Constraint(expr=dot(data.y, mus) == 0, doc="(19), dual: y'mu = 0")
    m.norm = pyo.Constraint(expr=squares(m.q) <= m.t**2, doc="(19), dual: ||q|| <= t")
    return m
