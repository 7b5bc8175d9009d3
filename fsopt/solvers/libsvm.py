"""LIBSVM, through scikit-learn's SVC: for support vector machines, and for nothing else.

A program is read as one by :mod:`fsopt.solvers.svm_form`; every other program is refused before the call.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsopt.answers.results import Point, Status
from fsopt.compiler import Program
from fsopt.errors import SolverError
from fsopt.solvers.interface import Change, Outcome, Settings, set_options
from fsopt.solvers.spec import Package, SolverSpec
from fsopt.solvers.svm_form import SvmForm, recognise
from fsopt.typing import Indices, Vector

svm = Package("sklearn.svm")
exceptions = Package("sklearn.exceptions")
STATUS_MAP = {True: (Status.OPTIMAL, "optimal"), False: (Status.FEASIBLE, "iteration-limit")}
"""By whether LIBSVM converged before ``max_iter``."""
TOLERANCE = 1e-10
MAX_ITER = 20_000_000
FIRST_RUN = 2_000
"""Iterations of a first run that measures the speed: LIBSVM itself has no time limit."""
ROUNDS = 30
"""Largest number of rounds of the refinement."""
MAX_FREE = 1_500
"""Largest number of free multipliers for which the dense system of a round is solved."""
EDGE = 1e-9
"""A multiplier is at 0 or C within this fraction of C; a margin is violated from 1 - EDGE on."""
BALANCE = 1e-9
"""Largest |y'alpha|, relative to C sqrt(n), at which multipliers still count as dual feasible."""
RCOND = 1e-13
"""Singular values of the system of a round below this fraction of the largest one are rounding errors of 0."""
OWN = frozenset({"shrinking", "cache_size", "max_iter"})


class Libsvm:
    """One support vector machine; LIBSVM starts cold each time.

    Attributes
    ----------
    program : the arrays; ``form`` : the same as a support vector machine.
    settings : the keywords of SVC.
    """

    def __init__(self, program: Program, settings: Settings) -> None:
        self.program = program
        self.settings = _settings(settings)
        self.form = recognise(program)

    def update(self, change: Change) -> str | None:
        """Read the arrays again, which is all that LIBSVM needs."""
        try:
            self.form = recognise(self.program)
        except SolverError as error:
            return error.message
        return None

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Run LIBSVM; under a time limit a first run measures how many iterations fit into it."""
        started = time.perf_counter()
        max_iter = int(self.settings["max_iter"])
        fitted = self._fit(max_iter if time_limit is None else FIRST_RUN)
        late = False
        if time_limit is not None and not _done(fitted):
            spent = time.perf_counter() - started
            fit_in = FIRST_RUN * (time_limit - spent) / max(spent, 1e-9)
            if fit_in > FIRST_RUN:
                fitted = self._fit(int(min(max_iter, fit_in)))
            late = fit_in < max_iter and not _done(fitted)
        status, stop = STATUS_MAP[_done(fitted)]
        return Outcome(
            status=status,
            stop="time-limit" if late else stop,
            point=self._point(fitted),
            bound=None,
            iterations=int(np.sum(fitted.n_iter_)),
            seconds=time.perf_counter() - started,
            message="converged" if _done(fitted) else "not converged",
        )

    def _fit(self, max_iter: int) -> Any:
        s = self.form
        samples = s.features * s.labels[:, None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", exceptions.ConvergenceWarning)
            svc = svm.SVC(kernel="linear", C=1.0, **{**self.settings, "max_iter": max_iter})
            return svc.fit(samples, s.labels, sample_weight=s.costs / s.kappa)

    def _point(self, fitted: Any) -> Point:
        r"""Return the primal-dual point: everything follows from alpha and b.

        Stationarity in u is :math:`\kappa u = Z'\alpha` with the signed samples Z; LIBSVM solves the program divided by
        kappa. Stationarity in :math:`w_j` makes the multiplier of ``pivot (w_j - sigma_j u_j) = 0`` the sum of
        :math:`-\alpha_i` times the coefficients of :math:`w_j`, divided by the pivot.
        """
        p, s = self.program, self.form
        alpha = np.zeros(len(s.margins))
        alpha[fitted.support_] = s.kappa * np.abs(fitted.dual_coef_[0])
        b = float(fitted.intercept_[0])
        if _done(fitted):
            alpha, b = refine(s, alpha, b)
        x, y = np.zeros(p.n), np.zeros(p.A.shape[0])
        y[s.margins] = alpha
        y[s.selections.rows] = -(p.A[s.margins][:, s.selections.w].T @ alpha) / s.selections.pivot
        x[s.u] = s.features.T @ alpha / s.kappa
        x[s.selections.w] = s.selections.sigma * x[s.selections.u]
        x[s.b] = b
        x[s.slacks] = np.maximum(0.0, 1.0 - _margins(s, alpha, b))
        return Point(x, y, np.zeros(0))


# -- refinement -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Answer:
    """Multipliers alpha (n,), the intercept b and their duality gap."""

    alpha: Vector
    b: float
    gap: float


def refine(form: SvmForm, alpha: Vector, b: float) -> tuple[Vector, float]:
    r"""Solve the optimality conditions again on the active set; return the alpha and b of the smallest duality gap.

    LIBSVM keeps its kernel matrix in single precision, which costs 1e-7 to 1e-3 in the objective however small its
    tolerance is; but it finds which multipliers are at 0, at C and free. A round takes these sets as they are, and
    solves for the free multipliers :math:`\alpha_F` and b, with the others fixed at :math:`\bar\alpha`, in double
    precision: every free sample lies on its margin, and the multipliers balance,

    .. math:: \tfrac1\kappa Z_F Z_F' \alpha_F + b\, y_F = e - \tfrac1\kappa Z_F Z' \bar\alpha, \qquad
              y_F'\alpha_F = -y'\bar\alpha.

    Multipliers that leave [0, C] are put to that bound. A sample whose bound contradicts its margin (at 0 but inside
    the margin, at C but outside it) becomes free for the next round. The gap decides, so a round can do no harm.
    """
    best = _Answer(alpha, b, _gap(form, alpha, b))
    edge = EDGE * form.costs
    for _ in range(ROUNDS):
        free = np.flatnonzero((alpha > edge) & (alpha < form.costs - edge))
        if len(free) > MAX_FREE:
            break
        alpha, b = _solve_free(form, free, np.where(alpha >= form.costs - edge, form.costs, 0.0), b)
        answer = _Answer(alpha, b, _gap(form, alpha, b))
        if answer.gap < best.gap:
            best = answer
        margin = _margins(form, alpha, b)
        wrong = (alpha <= edge) & (margin < 1 - EDGE) | (alpha >= form.costs - edge) & (margin > 1 + EDGE)
        if not wrong.any() and answer.gap < np.inf:
            break
        # The middle of [0, C]: any value strictly between the bounds makes a multiplier free.
        alpha = np.where(wrong, 0.5 * form.costs, alpha)
    return best.alpha, best.b


def _solve_free(form: SvmForm, free: Indices, fixed: Vector, b: float) -> tuple[Vector, float]:
    """Return all multipliers and the intercept after a round; b stays where there is no free multiplier.

    The matrix is singular where there are more free samples than features and an intercept, and the system has many
    solutions then: least squares takes the shortest one.
    """
    Z, y = form.features[free], form.labels[free]
    matrix = np.block([[Z @ Z.T / form.kappa, y[:, None]], [y[None, :], np.zeros((1, 1))]])
    right = np.append(1.0 - Z @ (form.features.T @ fixed) / form.kappa, -(form.labels @ fixed))
    solved = np.linalg.lstsq(matrix, right, rcond=RCOND)[0]
    alpha = fixed.copy()
    alpha[free] = np.clip(solved[:-1], 0.0, form.costs[free])
    return alpha, float(solved[-1]) if len(free) else b


def _margins(form: SvmForm, alpha: Vector, b: float) -> Vector:
    """Return y_i (w'x_i + b) (n,) of the weights that alpha gives."""
    margins: Vector = form.features @ (form.features.T @ alpha) / form.kappa + form.labels * b
    return margins


def _gap(form: SvmForm, alpha: Vector, b: float) -> float:
    r"""Return the primal minus the dual value; infinite where alpha is not dual feasible.

    With :math:`u = Z'\alpha/\kappa` it is :math:`\tfrac\kappa2 u'u + C'\xi - (e'\alpha - \tfrac\kappa2 u'u)`.
    """
    unbalanced = abs(form.labels @ alpha) > BALANCE * form.costs.max() * np.sqrt(len(alpha))
    if unbalanced or np.any(alpha < 0) or np.any(alpha > form.costs):
        return np.inf
    slacks = np.maximum(0.0, 1.0 - _margins(form, alpha, b))
    u = form.features.T @ alpha
    return float(u @ u / form.kappa + form.costs @ slacks - alpha.sum())


# -- settings ---------------------------------------------------------------------------------------------


def _done(fitted: Any) -> bool:
    return int(fitted.fit_status_) == 0 and int(np.sum(fitted.n_iter_)) < fitted.max_iter


def _settings(settings: Settings) -> dict[str, Any]:
    """Return the keywords of SVC; bad values are refused by name on two samples."""
    keywords: dict[str, Any] = {
        "tol": TOLERANCE if settings.tolerance is None else max(settings.tolerance, 1e-12),
        "shrinking": False,
        "cache_size": 500.0,
        "max_iter": MAX_ITER,
        "verbose": settings.tee,
    }

    def put(name: str, value: Any) -> None:
        if name not in OWN:
            raise ValueError("there is no such option")
        svm.SVC(kernel="linear", **{name: value}).fit([[0.0], [1.0]], [0, 1])
        keywords[name] = value

    set_options("libsvm", settings.own, put, (TypeError, ValueError, OverflowError))
    if keywords["max_iter"] < 1:
        keywords["max_iter"] = MAX_ITER
    return keywords


SPEC = SolverSpec(
    name="libsvm",
    connect=Libsvm,
    package="sklearn",
    ranks={"QP": None},
    proves="global",
    duals=True,
    vertex=False,
    in_place=True,
    tolerance=1e-6,
    pip="pip install scikit-learn",
    licence="BSD-3-Clause, in the core install; support vector machines only (svm, fsp-sub)",
)
