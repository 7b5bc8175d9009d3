r"""Interior point for support vector machines on all of their features: that of the search, without free features.

With the signed samples :math:`V = Y(X - e\bar x')`, multipliers between 0 and the weights g of the samples, and
:math:`u = \|V\|_F / \sqrt n`, the programs of :mod:`fsopt.search.branch_and_benders.interior_point` are

.. math::

    \min_{w, b}\ \tfrac12 w'w + g'\xi,\ Z = \sqrt C\,V \qquad
    \min_{w, b}\ g'\xi \ \text{s.t.}\ w'w \le u^2 W,\ Z = V/u \qquad
    \min_{w, b}\ \tfrac1{2Cu} \|w\| + g'\xi,\ Z = V/u

of the C-SVM, the rigorous one and that with an unsquared norm, in every unit of the data. Of more features than samples
V is replaced by a factor L of :math:`VV' = LL'`, in a basis of the samples: L has n columns and the same multipliers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
import scipy
from threadpoolctl import threadpool_limits

from fsopt.answers.certificate import Certificate
from fsopt.answers.results import DriverResult
from fsopt.common import clock
from fsopt.data import Dataset
from fsopt.data.hyperplanes import midpoint_intercept
from fsopt.data.losses import HINGE
from fsopt.data.matrices import refuse_sparse
from fsopt.drivers.loop import Iterate, Loop, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.models.blocks import number
from fsopt.search.branch_and_benders.interior_point import Goal, solve
from fsopt.search.branch_and_benders.relaxation import NodeRelaxation, cold
from fsopt.svm.certificate import certify_rsvm, certify_svm, certify_svm_norm
from fsopt.svm.pieces import PIECE, gram
from fsopt.typing import Matrix, Vector

SOLVER = "fsopt"
"""Name of the solver in results: the loop is this package's own."""
GOALS = (np.inf, 1e-3, 1e-6, 1e-9, 1e-11, 1e-13)
"""Relative gaps of the program at which hyperplane and multipliers are looked at: first after the fewest steps."""
THREADED = 1_000
"""Order of the systems from which their factors are shared among the threads of BLAS."""
LARGE_C = 1e3
"""C at which a C-SVM of large data takes the place of the hyperplane of smallest norm among those of smallest loss."""
Certify: TypeAlias = Callable[[Vector, float, Vector], Certificate]
"""Function (w (p,), b, alpha (n,)) -> certificate of the program, with an objective value and a bound."""


@loop
def svm_interior_point(
    data: Dataset, *, c: float = 1.0, tolerance: float = 1e-9, run: Run = DEFAULT_RUN
) -> Steps[DriverResult]:
    r"""Solve the support vector machine of Aytug, (1), by a primal-dual interior-point method in numpy.

    .. math::

        \min_{w, b}\ \tfrac12 w'w + C \sum_i \max(0,\ 1 - y_i(w'x_i + b)) \;=\;
        \max_{0 \le \alpha \le C,\ y'\alpha = 0}\ e'\alpha - \tfrac12 \|X'Y\alpha\|^2

    Each iteration solves a linear system in the smaller of the numbers of samples and features.

    Parameters
    ----------
    data : the samples, preprocessed.
    c : C > 0.
    tolerance : relative gap at which the loop ends.
    run : time limit and progress. The loop calls no solver: a solver and its options do not matter.

    Returns
    -------
    DriverResult
        ``point`` has ``w``, ``b`` and the multipliers ``alpha`` (n,) behind ``bound``, which is valid wherever the
        loop stopped. ``history`` has a record of each gap of :data:`GOALS`. ``optimal`` where
        :func:`fsopt.svm.certificate.certify_svm` holds, else ``feasible``.

    Raises
    ------
    ParameterError : c <= 0.
    """
    c = number("svm_interior_point", "c", c)
    best = _Best(data, partial(certify_svm, data, c))
    return (yield from _minimise(best, partial(_program, data, np.sqrt(c), 0, 0.0), c, tolerance, run))


@loop
def rsvm_interior_point(
    data: Dataset, *, w_cap: float, tolerance: float = 1e-9, run: Run = DEFAULT_RUN
) -> Steps[DriverResult]:
    r"""Solve the rigorous support vector machine of Bi, (13), by the same method.

    .. math::

        \min_{w, b}\ \sum_i \max(0,\ 1 - y_i(w'x_i + b)) \quad\text{s.t.}\quad w'w \le W

    Parameters
    ----------
    data, tolerance, run : as in :func:`svm_interior_point`.
    w_cap : W > 0.

    Returns
    -------
    DriverResult
        As in :func:`svm_interior_point`; ``optimal`` where :func:`fsopt.svm.certificate.certify_rsvm` holds.

    Raises
    ------
    ParameterError : w_cap <= 0.
    """
    w_cap = number("rsvm_interior_point", "w_cap", w_cap)
    best = _Best(data, partial(certify_rsvm, data, w_cap), w_cap, bound=-np.inf)
    return (yield from _minimise(best, partial(_program, data, None, 1, np.sqrt(w_cap)), 1.0, tolerance, run))


@loop
def svm_norm_interior_point(
    data: Dataset, *, c: float = 1.0, tolerance: float = 1e-9, run: Run = DEFAULT_RUN
) -> Steps[DriverResult]:
    r"""Solve the support vector machine with an unsquared norm, (19) of Peleg & Meir, by the same method.

    .. math::

        \min_{w, b}\ \tfrac12 \|w\| + C \sum_i \max(0,\ 1 - y_i(w'x_i + b)) \;=\;
        \max_{0 \le \alpha \le C,\ y'\alpha = 0}\ \{e'\alpha : \|X'Y\alpha\| \le \tfrac12\}

    Parameters
    ----------
    data, c, tolerance, run : as in :func:`svm_interior_point`.

    Returns
    -------
    DriverResult
        As in :func:`svm_interior_point`; ``optimal`` where
        :func:`fsopt.svm.certificate.certify_svm_norm` holds.

    Raises
    ------
    ParameterError : c <= 0.
    """
    c = number("svm_norm_interior_point", "c", c)
    best = _Best(data, partial(certify_svm_norm, data, c))
    return (yield from _minimise(best, partial(_program, data, None, -1, 0.5 / c), c, tolerance, run))


@dataclass
class _Best:
    """The best hyperplane and the best multipliers so far, each on its own, and their certificate."""

    # At a capacity the multipliers of a bound below 0 are kept, too: their refinement may be the evidence.

    data: Dataset
    certify: Certify
    capacity: float = np.inf
    bound: float = 0.0
    value: float = np.inf

    def __post_init__(self) -> None:
        self.w, self.b = np.zeros(self.data.p), 0.0
        self.alpha = np.zeros(self.data.n)
        self.look(self.w, self.alpha, -np.inf)

    def look(self, w: Vector, alpha: Vector, bound: float) -> None:
        """Take over weights, with their best intercept, and multipliers of a bound, where they are better."""
        square = float(w @ w)
        if square > self.capacity:
            w = w * np.sqrt(self.capacity / square)
        b = midpoint_intercept(self.data.X @ w, self.data.y, self.data.weights)
        value = self.certify(w, b, alpha).objective
        assert value is not None
        if value < self.value:
            self.w, self.b = w, b
            self.value = value
        if bound > self.bound:
            self.alpha, self.bound = alpha, bound
        self.certificate = self.certify(self.w, self.b, self.alpha)
        self.gap = self.certificate.residuals["gap"]


@dataclass(frozen=True)
class _Program:
    """A program of nodes, the map from its weights to those of the samples, and their unit."""

    node: NodeRelaxation
    weights: Callable[[Vector], Vector]
    unit: float


def _program(data: Dataset, scale: float | None, norm: int, root: float) -> _Program:
    """Return the program of samples times a scale, or divided by u for None, for a norm of w and its constant."""
    refuse_sparse("the interior point", data.X)
    # b absorbs the mean of the samples, whose size would cost digits.
    V = (data.X - data.X.mean(axis=0)) * data.y[:, None]
    if scale is None:
        unit = float(np.linalg.norm(V)) / np.sqrt(data.n) or 1.0
        scale, root = 1.0 / unit, root * unit**norm
    L, weights = in_a_basis(V * scale)
    none, k = np.zeros(0), abs(norm)
    Ly = np.asfortranarray(np.column_stack([L, data.y]))
    term, r = HINGE.term(1.0, data.y, data.weights), np.full(k, 0.5 * root**2)
    node = NodeRelaxation(Ly, term, L.shape[1], np.zeros((k, 0)), r, none, np.zeros(L.shape[1]), norm=norm)
    return _Program(node, weights, scale)


def in_a_basis(V: Matrix) -> tuple[Matrix, Callable[[Vector], Vector]]:
    """Return L (n, r) with LL' = VV' of samples V (n, p), and the map from its weights (r,) to those of V.

    Of fewer samples than features L is a triangular factor of V', with r < n, the rank of centred samples. Its columns,
    graded by pivots, are features that a step can eliminate by in every unit. LAPACK's is slow for large data, and
    looks at no clock: a Cholesky factor of VV' has half of its digits, which has to do there.
    """
    n, p = V.shape
    if n >= p:
        return V, np.asarray
    if n * V.size <= PIECE:
        basis, upper, order = scipy.linalg.qr(V.T, mode="economic", pivoting=True, check_finite=False)
        return upper[: n - 1].T[np.argsort(order)], basis[:, : n - 1].dot
    factor, order, rank, _ = scipy.linalg.lapack.dpstrf(gram(V.T), lower=1, overwrite_a=1)
    rank = min(int(rank), n - 1)
    L, first = np.tril(factor)[np.argsort(order)][:, :rank], order[:rank] - 1

    def weights(w: Vector) -> Vector:
        return np.asarray(scipy.linalg.solve_triangular(factor[:rank, :rank], w, lower=True, trans=1) @ V[first])

    return L, weights


def _minimise(best: _Best, build: Callable[[], _Program], c: float, tolerance: float, run: Run) -> Steps[DriverResult]:
    """Run the loop, small systems on one thread: two would wait for each other most of the time."""
    recorder = Recorder([], run)
    with threadpool_limits(1 if min(best.data.X.shape) < THREADED else None):
        _, stop = yield from run_loop(_goals(best, build, c, tolerance, recorder), recorder)
    if best.bound <= 0.0 and best.gap <= tolerance:
        best.look(best.w, np.zeros(best.data.n), 0.0)  # the bound 0 is theirs
    point = {"w": best.w, "b": best.b, "alpha": best.alpha}
    return recorder.end_certified(best.certificate, stop, point)


def _goals(best: _Best, build: Callable[[], _Program], c: float, tolerance: float, recorder: Recorder) -> Loop:
    """Yield the best hyperplane at w = 0, and at one relative gap of the program after the other."""
    clock.found()
    yield Iterate(best.value, {"w": best.w}, stop="optimal" if best.gap <= tolerance else "")
    if best.gap <= tolerance:
        return
    started = time.perf_counter()
    program = build()
    at = cold(program.node)
    for goal in GOALS:
        solved = solve(program.node, Goal(goal), at)
        if solved is not None:
            best.look(program.weights(solved.w) * program.unit, c * solved.alpha, c * solved.bound)
        recorder.count(SOLVER, time.perf_counter() - started)
        started = time.perf_counter()
        stop = "optimal" if best.gap <= tolerance else "stalled" if goal == GOALS[-1] else ""
        record = {"objective": best.value, "bound": best.certificate.bound}
        yield Iterate(best.value, {"w": best.w}, record=record, stop=stop)
        if stop:
            return
