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

import numpy as np
import scipy
from threadpoolctl import threadpool_limits

from fsopt.answers.results import DriverResult
from fsopt.common import clock
from fsopt.data import Dataset
from fsopt.data.hyperplanes import HINGE
from fsopt.data.matrices import refuse_sparse
from fsopt.drivers.loop import Iterate, Loop, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.linear.certificate import Best
from fsopt.linear.penalties import SQUARES, Ball, Norm, Penalty
from fsopt.linear.pieces import PIECE, gram
from fsopt.models.blocks import number
from fsopt.search.branch_and_benders.interior_point import Goal, solve
from fsopt.search.branch_and_benders.relaxation import NodeRelaxation, cold
from fsopt.typing import Matrix, Vector

SOLVER = "fsopt"
"""Name of the solver in results: the loop is this package's own."""
GOALS = (np.inf, 1e-3, 1e-6, 1e-9, 1e-11, 1e-13)
"""Relative gaps of the program at which hyperplane and multipliers are looked at: first after the fewest steps."""
CLOSED = 1e-10
"""Relative gap at which the loop ends: hyperplanes of equal data in another form then agree to 1e-5."""
THREADED = 1_000
"""Order of the systems from which their factors are shared among the threads of BLAS."""


@loop
def minimise(
    data: Dataset, penalty: Penalty = SQUARES, *, c: float = 1.0, run: Run = DEFAULT_RUN
) -> Steps[DriverResult]:
    r"""Solve a support vector machine by a primal-dual interior-point method in numpy.

    .. math::

        \min_{w, b}\ \Omega(w) + C \sum_i \max(0,\ 1 - y_i(w'x_i + b)) \;=\;
        \max_{0 \le \alpha \le C,\ y'\alpha = 0}\ e'\alpha - \Omega^*(X'Y\alpha)

    That of Aytug, (1), has the penalty ``Squares()``; the rigorous one of Bi, (13), ``Ball(Euclid(), sqrt(W))`` at
    C = 1; (19) of Peleg & Meir ``Norm(Euclid(), 1/2)``. Each iteration solves a linear system in the smaller of the
    numbers of samples and features.

    Parameters
    ----------
    data : the samples, preprocessed.
    penalty : one of these, without a Gram matrix.
    c : C > 0.
    run : time limit and progress. The loop calls no solver: a solver and its options do not matter.

    Returns
    -------
    DriverResult
        ``point`` has ``w``, ``b`` and the multipliers ``alpha`` (n,) behind ``bound``, which is valid wherever the
        loop stopped. ``history`` has a record of each gap of :data:`GOALS`. ``optimal`` where
        :func:`fsopt.linear.certificate.certify` holds, else ``feasible``.

    Raises
    ------
    ParameterError : c <= 0, or sparse data.
    """
    c = number("interior_point", "c", c)
    best, recorder = Best(data, penalty, c), Recorder([], run)
    # Small systems on one thread: two would wait for each other most of the time.
    with threadpool_limits(1 if min(data.X.shape) < THREADED else None):
        _, stop = yield from run_loop(_goals(best, recorder), recorder)
    return recorder.end_certified(best.certificate, stop, best.point)


def _program(data: Dataset, penalty: Penalty, c: float) -> tuple[NodeRelaxation, Callable[[Vector], Vector]]:
    """Return the program of a penalty, and the map from its weights to those of the samples."""
    refuse_sparse("the interior point", data.X)
    # b absorbs the mean of the samples, whose size would cost digits.
    V = (data.X - data.X.mean(axis=0)) * data.y[:, None]
    unit = float(np.linalg.norm(V)) / np.sqrt(data.n) or 1.0
    scale, norm = 1.0 / unit, 0
    r = np.zeros(0)
    match penalty:
        case Ball(_, radius):
            norm, r = 1, np.array([0.5 * (radius * unit) ** 2])
        case Norm(_, size):
            norm, r = -1, np.array([0.5 * (size / (c * unit)) ** 2])
        case _:
            scale = float(np.sqrt(c))
    L, weights = in_a_basis(V * scale)
    term, q = HINGE.term(1.0, data.y, data.weights).each(data.n), np.zeros(L.shape[1])
    A, none = np.vstack([L.T, data.y]), np.zeros(0)
    node = NodeRelaxation(A, *term, L.shape[1], np.zeros((len(r), 0)), r, none, q, norm=norm)
    return node, lambda w: weights(w) * scale


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
    return L, lambda w: scipy.linalg.solve_triangular(factor[:rank, :rank], w, lower=True, trans=1) @ V[first]


def _goals(best: Best, recorder: Recorder) -> Loop:
    """Yield the best hyperplane at w = 0, and at one relative gap of the program after the other."""
    clock.found()
    yield Iterate(best.value, {"w": best.w}, stop="optimal" if best.gap <= CLOSED else "")
    if best.gap <= CLOSED:
        return
    started = time.perf_counter()
    node, weights = _program(best.data, best.penalty, best.c)
    at = cold(node)
    for goal in GOALS:
        solved = solve(node, Goal(goal), at)
        if solved is not None:
            best.look(weights(solved.hyperplane.w), best.c * solved.alpha)
        recorder.count(SOLVER, time.perf_counter() - started)
        started = time.perf_counter()
        last = goal == GOALS[-1]
        closed = best.gap <= CLOSED or (last and best.certificate.ok)
        stop = "optimal" if closed else "stalled" if last else ""
        record = {"objective": best.value, "bound": best.bound}
        yield Iterate(best.value, {"w": best.w}, record=record, stop=stop)
        if stop:
            return
