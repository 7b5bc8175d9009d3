r"""LIBSVM, through scikit-learn's SVC: an oracle for support vector machines, and for nothing else.

.. math:: \min\ \tfrac\kappa2 u'u + \sum_i C_i \xi_i \quad\text{s.t.}\quad
          y_i(w'x_i + b) + \xi_i \ge 1,\quad w_j = \sigma_j u_j,\quad \xi \ge 0

is recognised from the arrays of a program, whatever its components are called; :math:`w_j` and the rows that
define it may be missing. Everything else is refused before the call.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from fsopt.compiler import Program
from fsopt.errors import SolverError
from fsopt.results import Point, Status
from fsopt.solvers.interface import Change, Outcome, Settings, refuse_option
from fsopt.typing import Indices, Vector

STATUS_MAP = {0: (Status.OPTIMAL, "optimal"), 1: (Status.FEASIBLE, "iteration-limit")}
"""By SVC's ``fit_status_`` together with whether it met ``max_iter``."""
TOLERANCE = 1e-10
MAX_ITER = 20_000_000
FIRST_RUN = 2_000
"""Iterations after which the speed is measured where there is a time limit, which LIBSVM has not."""
ROUNDS = 30
"""Most rounds of the refinement of an answer."""
MOST_FREE = 1_500
"""Most free multipliers for which the dense system of a round is solved."""
OWN = frozenset({"shrinking", "cache_size", "max_iter"})


@dataclass(frozen=True)
class Machine:
    r"""A program read as a support vector machine with n samples and k weights.

    Attributes
    ----------
    margins : (n,) rows of the program; ``selections`` : rows that define weights w.
    u, w : columns of the weights; ``selected`` : (k',) column of u behind each w; ``b`` : column of the intercept.
    slacks : (n,) columns.
    features : (n, k) signed samples :math:`y_i\sigma_j x_{ij}` over the columns u.
    labels : (n,) y in {-1, 1}.
    sigma : factor of each w; ``pivot`` : coefficient of w in its row.
    kappa, prices : curvature of the objective and C_i.
    """

    margins: Indices
    selections: Indices
    u: Indices
    w: Indices
    selected: Indices
    b: int
    slacks: Indices
    features: Vector
    labels: Vector
    sigma: Vector
    pivot: Vector
    kappa: float
    prices: Vector


def recognise(program: Program) -> Machine:
    """Return a program as a support vector machine; raises SolverError with what is missing."""
    p = program
    diagonal = p.P.diagonal()
    u = np.flatnonzero(diagonal)
    _need(not len(p.cones) and not p.integer.any() and not p.nonconic, "it is no continuous quadratic program")
    _need(len(u) > 0 and np.count_nonzero(p.P.data) == len(u), "its quadratic objective is no sum of squares")
    _need(bool(np.all(diagonal[u] == diagonal[u[0]]) and diagonal[u[0]] > 0), "its squares have different factors")
    slacks = np.flatnonzero(p.c)
    _need(bool(np.all(diagonal[slacks] == 0) and np.all(p.c[slacks] > 0)), "its linear costs are no prices of slacks")
    free = np.setdiff1d(np.arange(p.n), slacks)
    bounded = np.isfinite(p.lb[free]) | np.isfinite(p.ub[free])
    _need(not bounded.any(), "its weights or its intercept are bounded")
    _need(bool(np.all(p.lb[slacks] == 0) and np.all(p.ub[slacks] == np.inf)), "its slacks are not xi >= 0")
    margins = np.flatnonzero(p.lo != p.hi)
    defined = _selections(p, u, slacks)
    b = np.setdiff1d(free, np.concatenate([u, defined[1]]))
    _need(len(b) == 1, "it has not exactly one intercept")
    A = p.A[margins]
    S = sp.coo_matrix(A[:, slacks])
    S.eliminate_zeros()
    single = len(S.data) == len(margins) == len(slacks) == len(set(S.row.tolist())) == len(set(S.col.tolist()))
    _need(single and bool(np.all(S.data == 1)), "its margins have not one slack each")
    _need(bool(np.all(p.lo[margins] == 1) and np.all(p.hi[margins] == np.inf)), "its rows are no margins >= 1")
    labels = A[:, b].toarray().ravel()
    _need(set(labels.tolist()) == {-1.0, 1.0}, "its intercept has not the factors -1 and 1, both")
    rows, w, selected, sigma, pivot = defined
    spread = sp.csr_matrix((sigma, (np.arange(len(w)), np.searchsorted(u, selected))), shape=(len(w), len(u)))
    features = A[:, u] + A[:, w] @ spread
    order = np.empty(len(margins), dtype=int)
    order[S.row] = slacks[S.col]
    return Machine(
        margins, rows, u, w, selected, int(b[0]), order, features.toarray(), labels, sigma, pivot,
        float(diagonal[u[0]]), p.c[order],
    )  # fmt: skip


def _selections(p: Program, u: Indices, slacks: Indices) -> tuple[Indices, Indices, Indices, Vector, Vector]:
    """Return (rows, w, u, sigma, pivot) of the equations ``pivot (w_j - sigma_j u_j) = 0``."""
    rows = np.flatnonzero(p.lo == p.hi)
    is_u = np.isin(np.arange(p.n), u)
    found = []
    for i in rows.tolist():
        columns, values = (part[p.A.indptr[i] : p.A.indptr[i + 1]] for part in (p.A.indices, p.A.data))
        mine, other = np.flatnonzero(is_u[columns]), np.flatnonzero(~is_u[columns])
        shape = len(other) == 1 and len(mine) <= 1 and p.lo[i] == 0 and values[other[0]] != 0
        _need(bool(shape) and columns[other[0]] not in slacks, "an equation is not w_j = sigma_j u_j")
        pivot = float(values[other[0]])
        at = (int(columns[mine[0]]), -float(values[mine[0]]) / pivot) if len(mine) else (int(u[0]), 0.0)
        found.append((int(columns[other[0]]), *at, pivot))
    w, selected, sigma, pivots = (np.array(part) for part in zip(*found, strict=True)) if found else (np.zeros(0),) * 4
    _need(len(set(w.tolist())) == len(w), "a weight is defined twice")
    return rows, w.astype(int), selected.astype(int), sigma.astype(float), pivots.astype(float)


def _need(holds: bool, reason: str) -> None:
    if not holds:
        raise SolverError(
            f"solver 'libsvm' solves support vector machines only, and this is none: {reason}",
            "it takes min 1/2 |u|^2 + sum C_i xi_i with margins y_i(w'x_i + b) + xi_i >= 1 (models svm and fsp-sub); "
            "take clarabel",
        )


class Libsvm:
    """One support vector machine; LIBSVM starts cold each time."""

    def __init__(self, program: Program, settings: Settings) -> None:
        self.program = program
        self.settings = _settings(settings)
        self.machine = recognise(program)

    def update(self, change: Change) -> str | None:
        """Read the arrays again, which is all that LIBSVM needs."""
        try:
            self.machine = recognise(self.program)
        except SolverError as error:
            return error.message
        return None

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Run LIBSVM; under a time limit a first run measures how many iterations fit into it."""
        started = time.perf_counter()
        most = int(self.settings["max_iter"])
        fitted = self._fit(most if time_limit is None else FIRST_RUN)
        stop_word = None
        if time_limit is not None and not _done(fitted):
            spent = time.perf_counter() - started
            fit_in = FIRST_RUN * (time_limit - spent) / max(spent, 1e-9)
            if fit_in > FIRST_RUN:
                fitted = self._fit(int(min(most, fit_in)))
            stop_word = "time-limit" if fit_in < most else None
        claim, stop = STATUS_MAP[0 if _done(fitted) else 1]
        return Outcome(
            claim=claim,
            stop=stop_word if stop_word and claim is not Status.OPTIMAL else stop,
            point=self._point(fitted),
            bound=None,
            iterations=int(np.sum(fitted.n_iter_)),
            seconds=time.perf_counter() - started,
            message="converged" if _done(fitted) else "not converged",
        )

    def _fit(self, max_iter: int) -> Any:
        s = self.machine
        samples = s.features * s.labels[:, None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine = SVC(kernel="linear", C=1.0, **{**self.settings, "max_iter": max_iter})
            return machine.fit(samples, s.labels, sample_weight=s.prices / s.kappa)

    def _point(self, fitted: Any) -> Point:
        """Return the primal-dual point: u and the multipliers of the rows follow from alpha."""
        p, s = self.program, self.machine
        alpha = np.zeros(len(s.margins))
        alpha[fitted.support_] = s.kappa * np.abs(fitted.dual_coef_[0])
        b = float(fitted.intercept_[0])
        if _done(fitted):
            alpha, b = _refine(s, alpha, b)
        x, y = np.zeros(p.n), np.zeros(p.A.shape[0])
        y[s.margins] = alpha
        y[s.selections] = -(p.A[s.margins][:, s.w].T @ alpha) / s.pivot
        x[s.u] = s.features.T @ alpha / s.kappa
        x[s.w] = s.sigma * x[s.selected]
        x[s.b] = b
        x[s.slacks] = _slacks(s, alpha, b)
        return Point(x, y, np.zeros(0))


def _slacks(s: Machine, alpha: Vector, b: float) -> Vector:
    slacks: Vector = np.maximum(0.0, 1.0 - s.features @ (s.features.T @ alpha) / s.kappa - s.labels * b)
    return slacks


def _gap(s: Machine, alpha: Vector, b: float) -> float:
    """Return primal minus dual value; infinite where alpha is not feasible."""
    unbalanced = abs(s.labels @ alpha) > 1e-9 * s.prices.max() * np.sqrt(len(alpha))
    if unbalanced or np.any(alpha < 0) or np.any(alpha > s.prices):
        return np.inf
    u = s.features.T @ alpha
    return float(u @ u / s.kappa + s.prices @ _slacks(s, alpha, b) - alpha.sum())


def _refine(s: Machine, alpha: Vector, b: float) -> tuple[Vector, float]:
    """Solve the optimality conditions again on the active set; keep the answer with the smallest gap.

    LIBSVM holds its kernel in single precision, which is 1e-7 to 1e-3 in the objective however small its
    tolerance is. Multipliers that leave [0, C] go to that bound and samples inside the margin to C.
    """
    best = alpha, b, _gap(s, alpha, b)
    edge = 1e-9 * s.prices
    for _ in range(ROUNDS):
        free = np.flatnonzero((alpha > edge) & (alpha < s.prices - edge))
        if len(free) > MOST_FREE:
            break
        fixed = np.where(alpha >= s.prices - edge, s.prices, 0.0)
        Z, y = s.features[free], s.labels[free]
        matrix = np.block([[Z @ Z.T / s.kappa, y[:, None]], [y[None, :], np.zeros((1, 1))]])
        right = np.append(1.0 - Z @ (s.features.T @ fixed) / s.kappa, -(s.labels @ fixed))
        solved = np.linalg.lstsq(matrix, right, rcond=1e-13)[0]
        alpha, b = fixed.copy(), float(solved[-1]) if len(free) else b
        alpha[free] = np.clip(solved[:-1], 0.0, s.prices[free])
        gap = _gap(s, alpha, b)
        if gap < best[2]:
            best = alpha.copy(), b, gap
        margin = s.features @ (s.features.T @ alpha) / s.kappa + s.labels * b
        outside, inside = (alpha <= edge) & (margin < 1 - 1e-9), (alpha >= s.prices - edge) & (margin > 1 + 1e-9)
        alpha = np.where(outside | inside, 0.5 * s.prices, alpha)
        if not (outside | inside).any() and gap < np.inf:
            break
    return best[0], best[1]


def _done(fitted: Any) -> bool:
    return int(fitted.fit_status_) == 0 and int(np.sum(fitted.n_iter_)) < fitted.max_iter


def _settings(settings: Settings) -> dict[str, Any]:
    """Return SVC's settings; bad values are refused by name on a machine with two samples."""
    chosen: dict[str, Any] = {
        "tol": TOLERANCE if settings.tolerance is None else max(settings.tolerance, 1e-12),
        "shrinking": False,
        "cache_size": 500.0,
        "max_iter": MAX_ITER,
        "verbose": settings.tee,
    }
    for name, value in settings.own.items():
        if name not in OWN:
            raise refuse_option("libsvm", name, "unknown name")
        try:
            SVC(kernel="linear", **{name: value}).fit([[0.0], [1.0]], [0, 1])
        except (TypeError, ValueError, OverflowError) as error:
            raise refuse_option("libsvm", name, f"bad value {value!r}") from error
        chosen[name] = value
    if chosen["max_iter"] < 1:
        chosen["max_iter"] = MAX_ITER
    return chosen


def connect(program: Program, settings: Settings) -> Libsvm:
    """Load a program into LIBSVM; raises SolverError where it is no support vector machine."""
    return Libsvm(program, settings)
