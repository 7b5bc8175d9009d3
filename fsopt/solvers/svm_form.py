r"""A program read as a linear support vector machine, whatever its components are called.

.. math:: \min\ \tfrac\kappa2 u'u + \sum_i C_i \xi_i \quad\text{s.t.}\quad
          y_i(w'x_i + b) + \xi_i \ge 1,\quad w_j = \sigma_j u_j,\quad \xi \ge 0.

The weights :math:`w_j` and the equations that define them may be missing: then the margins hold u itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from fsopt.compiler import Program
from fsopt.errors import SolverError
from fsopt.typing import Indices, Matrix, Vector


@dataclass(frozen=True)
class Selections:
    """The equations ``pivot (w_j - sigma_j u_j) = 0`` of a program.

    Attributes
    ----------
    rows : (k,) places of the equations.
    w : (k,) places of the variables that they define.
    u : (k,) place of the u behind each of them; any u where sigma is 0.
    sigma : (k,) factors.
    pivot : (k,) coefficients of the w.
    """

    rows: Indices
    w: Indices
    u: Indices
    sigma: Vector
    pivot: Vector


@dataclass(frozen=True)
class SvmForm:
    r"""A program as a support vector machine with n samples and k weights.

    Attributes
    ----------
    margins : (n,) places of the constraints of the margins.
    selections : the equations that define w.
    u : (k,) places of the weights u.
    b : place of the intercept.
    slacks : (n,) places of the slacks, in the order of the margins.
    features : (n, k) signed samples :math:`y_i\sigma_j x_{ij}` over the weights u.
    labels : (n,) y in {-1, 1}.
    kappa : curvature of the objective.
    costs : (n,) costs :math:`C_i` of the slacks.
    """

    margins: Indices
    selections: Selections
    u: Indices
    b: int
    slacks: Indices
    features: Matrix
    labels: Vector
    kappa: float
    costs: Vector


def recognise(program: Program) -> SvmForm:
    """Return a program as a support vector machine.

    Raises
    ------
    SolverError : it is none; the message says which part of the form is missing.
    """
    p = program
    u = _weights(p)
    slacks = _slacks(p)
    selections = _selections(p, u, slacks)
    b = np.setdiff1d(np.arange(p.n), np.concatenate([slacks, u, selections.w]))
    _need(len(b) == 1, "it has not exactly one intercept")
    margins = np.flatnonzero(p.lo != p.hi)
    A = p.A[margins]
    own = _slack_of_each_margin(A, slacks)
    _need(bool(np.all(p.lo[margins] == 1) and np.all(p.hi[margins] == np.inf)), "its constraints are no margins >= 1")
    labels = A[:, b].toarray().ravel()
    _need(set(labels.tolist()) == {-1.0, 1.0}, "its intercept has not the factors -1 and 1, both")
    return SvmForm(
        margins=margins,
        selections=selections,
        u=u,
        b=int(b[0]),
        slacks=own,
        features=_features(A, u, selections),
        labels=labels,
        kappa=float(p.P[u[0], u[0]]),
        costs=p.c[own],
    )


def _weights(p: Program) -> Indices:
    """Return the places of the variables u of the quadratic objective."""
    diagonal = p.P.diagonal()
    u = np.flatnonzero(diagonal)
    _need(not len(p.cones) and not p.integer.any() and not p.nonconic, "it is no continuous quadratic program")
    _need(len(u) > 0 and np.count_nonzero(p.P.data) == len(u), "its quadratic objective is no sum of squares")
    _need(bool(np.all(diagonal[u] == diagonal[u[0]]) and diagonal[u[0]] > 0), "its squares have different factors")
    return u


def _slacks(p: Program) -> Indices:
    """Return the places of the slacks, and make sure that nothing else has a bound."""
    slacks = np.flatnonzero(p.c)
    linear = np.all(p.P.diagonal()[slacks] == 0) and np.all(p.c[slacks] > 0)
    _need(bool(linear), "its linear costs are not those of slacks")
    free = np.setdiff1d(np.arange(p.n), slacks)
    bounded = np.isfinite(p.lb[free]) | np.isfinite(p.ub[free])
    _need(not bounded.any(), "its weights or its intercept are bounded")
    _need(bool(np.all(p.lb[slacks] == 0) and np.all(p.ub[slacks] == np.inf)), "its slacks are not xi >= 0")
    return slacks


def _slack_of_each_margin(A: sp.csr_matrix, slacks: Indices) -> Indices:
    """Return the place of the slack of each margin (n,), rows of A: one each, with the coefficient 1."""
    S = sp.coo_matrix(A[:, slacks])
    S.eliminate_zeros()
    n = A.shape[0]
    single = len(S.data) == n == len(slacks) == len(set(S.row.tolist())) == len(set(S.col.tolist()))
    _need(single and bool(np.all(S.data == 1)), "its margins have not one slack each")
    own = np.empty(n, dtype=int)
    own[S.row] = slacks[S.col]
    return own


def _features(A: sp.csr_matrix, u: Indices, selections: Selections) -> Matrix:
    """Return the coefficients of u in the margins after w = sigma u is put in."""
    k = len(selections.w)
    places = np.arange(k), np.searchsorted(u, selections.u)
    spread = sp.csr_matrix((selections.sigma, places), shape=(k, len(u)))
    return np.asarray((A[:, u] + A[:, selections.w] @ spread).toarray())


def _selections(p: Program, u: Indices, slacks: Indices) -> Selections:
    """Return the equations of a program, each of which must define one w by at most one u."""
    rows = np.flatnonzero(p.lo == p.hi)
    is_u = np.isin(np.arange(p.n), u)
    k = len(rows)
    found = Selections(rows, np.zeros(k, dtype=int), np.full(k, u[0]), np.zeros(k), np.zeros(k))
    for at, i in enumerate(rows.tolist()):
        columns, values = (part[p.A.indptr[i] : p.A.indptr[i + 1]] for part in (p.A.indices, p.A.data))
        mine, other = np.flatnonzero(is_u[columns]), np.flatnonzero(~is_u[columns])
        shape = len(other) == 1 and len(mine) <= 1 and p.lo[i] == 0 and values[other[0]] != 0
        _need(bool(shape) and columns[other[0]] not in slacks, "an equation is not w_j = sigma_j u_j")
        found.w[at] = columns[other[0]]
        found.pivot[at] = values[other[0]]
        if len(mine):
            found.u[at] = columns[mine[0]]
            found.sigma[at] = -values[mine[0]] / found.pivot[at]
    _need(len(np.unique(found.w)) == k, "a weight is defined twice")
    return found


def _need(holds: bool, reason: str) -> None:
    if not holds:
        raise SolverError(
            f"solver 'libsvm' solves support vector machines only, and this is none: {reason}",
            "it takes min 1/2 |u|^2 + sum C_i xi_i with margins y_i(w'x_i + b) + xi_i >= 1 (models svm and fsp-sub); "
            "take clarabel",
        )
