r"""Newton's method for the one-norm SVM on the exterior penalty of its dual (Fung & Mangasarian), cited by Aytug.

The dual of :math:`\min\ c'|w| + d'\xi,\ Zw + by \ge e - \xi,\ \xi \ge 0`, with the signed samples Z, is
:math:`\max\ e'\alpha` over :math:`|Z'\alpha| \le c,\ y'\alpha = 0,\ 0 \le \alpha \le d`. Its exterior penalty problem

.. math::

    \min_\alpha\ f(\alpha) = -\epsilon e'\alpha + \tfrac12 \|(|Z'\alpha| - c)_+\|^2 + \tfrac12 (y'\alpha)^2
        + \tfrac12 \|(\alpha - d)_+\|^2 + \tfrac12 \|(-\alpha)_+\|^2

is without constraints, convex and piecewise quadratic. At its minimum :math:`w_j = \operatorname{sign}(Z_j'\alpha)
(|Z_j'\alpha| - c_j)_+ / \epsilon` and :math:`b = y'\alpha / \epsilon` are a minimum of the program for every
:math:`\epsilon` below some number, that of smallest norm with its slacks: most w are exactly 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.answers.results import DriverResult
from fsopt.certificates.points import relative_gap
from fsopt.common import clock
from fsopt.data import Dataset
from fsopt.data.weights import loss_weights
from fsopt.drivers.column_generation.l1_hinge_program import L1Hinge, certify_l1_hinge
from fsopt.drivers.loop import Iterate, Loop, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, timed
from fsopt.models.blocks import number
from fsopt.typing import Mask, Matrix, Vector

SOLVER = "fsopt"
"""Name of the solver in results: the loop is this package's own."""
PENALTIES = 10.0 ** -np.arange(1, 12)
"""The values of epsilon, of a program with d <= 1, of which the first with a closed gap is the last."""
STATIONARY = 1e-7
"""Largest entry of the gradient, relative to epsilon, at which Newton's method ends."""
STEPS = 300
"""Most steps for one epsilon."""
HALVINGS = 60
"""Halvings of the interval of the line search, after which its ends are one number."""
CLOSED = 1e-9
"""Relative gap at which the loop ends."""


@timed
def l1_svm_newton(data: Dataset, *, c: float = 1.0, run: Run = DEFAULT_RUN) -> Steps[DriverResult]:
    r"""Solve the one-norm support vector machine by a generalised Newton method on the penalty problem of its dual.

    .. math:: \min_{w, b}\ \|w\|_1 + C \sum_i \max(0,\ 1 - y_i(w'x_i + b))

    Each step solves a linear system in the samples or in the features that are used, the fewer of both:
    :math:`(\partial^2 f + \delta I)\,s = -\nabla f`, with an exact search along s. Epsilon is divided by 10 until the
    bound of the multipliers meets the value of the hyperplane.

    Parameters
    ----------
    data : the samples, preprocessed.
    c : C > 0.
    run : time limit and progress. The loop calls no solver.

    Returns
    -------
    DriverResult
        ``point`` has ``w``, ``b`` and the multipliers ``alpha`` (n,) behind ``bound``, which is valid wherever the
        loop stopped. ``history`` has a record for each epsilon. ``optimal`` where
        :func:`fsopt.drivers.column_generation.l1_hinge_program.certify_l1_hinge` holds, else ``feasible``.

    Raises
    ------
    ParameterError : c <= 0.

    Notes
    -----
    Fung & Mangasarian, *A feature selection Newton method for support vector machine classification*, Computational
    Optimization and Applications 28 (2004). Theirs is one epsilon and an Armijo step; the sequence, the exact search,
    the delta and the last correction of both points by linear equations are ours.
    """
    c = number("l1_svm_newton", "c", c)
    d, costs = np.ones(data.n) * loss_weights(c, data.weights), np.ones(data.p)
    unit = float(d.max())
    program, recorder = L1Hinge.of(data, d / unit, costs / unit), Recorder([], run)
    at, stop = yield from run_loop(_shrink(program), recorder)
    w, b = program.raw(at.point["w"], at.point["b"])
    alpha = unit * at.point["alpha"]
    recorder.count(SOLVER, 0.0)
    certificate = certify_l1_hinge(data, d, costs, w, b, alpha)
    stop = "optimal" if certificate.ok and stop == "iteration-limit" else stop
    return recorder.end_certified(certificate, stop, {"w": w, "b": b, "alpha": alpha})


@dataclass(frozen=True)
class _Penalty:
    """The penalty function at a point: its gradient (n,), |Z'alpha| beyond c (p,), y'alpha, and alpha out of range."""

    gradient: Vector
    beyond: Vector
    balance: float
    outside: Mask

    @classmethod
    def at(cls, program: L1Hinge, alpha: Vector, epsilon: float) -> _Penalty:
        beyond, out = _beyond(program, program.Z.T @ alpha), _outside(program, alpha)
        balance = float(program.y @ alpha)
        gradient = program.Z @ beyond + balance * program.y + out - epsilon
        return cls(gradient, beyond, balance, out != 0.0)


def _beyond(program: L1Hinge, s: Vector) -> Vector:
    """Return sign(s) (|s| - c)_+ (p,) for s = Z'alpha."""
    return np.asarray(np.sign(s) * np.maximum(np.abs(s) - program.c, 0.0))


def _outside(program: L1Hinge, alpha: Vector) -> Vector:
    """Return (alpha - d)_+ - (-alpha)_+ (n,)."""
    return np.asarray(np.maximum(alpha - program.d, 0.0) + np.minimum(alpha, 0.0))


def _shrink(program: L1Hinge) -> Loop:
    """Yield the best hyperplane and multipliers for smaller and smaller epsilon."""
    n, p = program.Z.shape
    alpha = best = np.zeros(n)
    w, bound = np.zeros(p), 0.0
    b = program.best_intercept(alpha, 0.0)
    value = program.value(w, program.margins(w, b))
    yield Iterate(value, {"w": w, "b": b, "alpha": best}, bound, within=True)
    for epsilon in PENALTIES:
        alpha, steps = _minimise(program, alpha, epsilon)
        here = _Penalty.at(program, alpha, epsilon)
        hyperplane = here.beyond / epsilon, here.balance / epsilon
        for new_w, new_b in (hyperplane, _on_margins(program, alpha, *hyperplane)):
            margins = program.margins(new_w, new_b)
            new_b = program.best_intercept(margins, new_b)
            new_value = program.value(new_w, program.margins(new_w, new_b))
            if new_value < value:
                value, w = new_value, new_w
                b = new_b
        for multipliers in (alpha, _on_costs(program, alpha, here.beyond)):
            feasible, _, new_bound = program.bound(multipliers, np.ones(p, dtype=bool))
            if new_bound > bound:
                bound, best = new_bound, feasible
        gap = relative_gap(value, bound)
        record = {"epsilon": epsilon, "steps": steps, "objective": value, "bound": bound, "gap": gap}
        stop = "optimal" if gap <= CLOSED else ""
        yield Iterate(value, {"w": w, "b": b, "alpha": best}, bound, record=record, stop=stop)
        if stop:
            return


def _minimise(program: L1Hinge, alpha: Vector, epsilon: float) -> tuple[Vector, int]:
    """Return a minimum of the penalty function, and the number of Newton's steps."""
    for k in range(STEPS):
        clock.check()
        here = _Penalty.at(program, alpha, epsilon)
        if np.abs(here.gradient).max() <= STATIONARY * epsilon:
            return alpha, k
        # f has no curvature along multipliers within their range: with this delta a step is no longer than ||d||.
        delta = max(float(np.linalg.norm(here.gradient) / np.linalg.norm(program.d)), 1e-13)
        U = np.column_stack([_columns(program.Z, here.beyond != 0.0), program.y])
        step = -_solved(np.where(here.outside, 1.0 + delta, delta), U, here.gradient)
        length = _search(program, alpha, step, epsilon)
        if length == 0.0:
            return alpha, k
        alpha = alpha + length * step
    return alpha, STEPS


def _solved(diagonal: Vector, U: Matrix, right: Vector) -> Vector:
    """Return x with (D + U U') x = right, with a correction of its residual; of the smaller order of both forms."""
    n, k = U.shape
    if k < n:  # the inverse of Sherman, Morrison & Woodbury
        V = U / diagonal[:, None]
        inner = np.eye(k) + U.T @ V
    else:
        inner = U @ U.T
        inner[np.diag_indices(n)] += diagonal

    def by(r: Vector) -> Vector:
        if k >= n:
            return np.asarray(np.linalg.solve(inner, r))
        x = r / diagonal
        return np.asarray(x - V @ np.linalg.solve(inner, U.T @ x))

    x = by(right)
    return x + by(right - diagonal * x - U @ (U.T @ x))


def _search(program: L1Hinge, alpha: Vector, step: Vector, epsilon: float) -> float:
    """Return the length that minimises the penalty function along a step, 0 where it does not fall."""
    s, ds = program.Z.T @ alpha, program.Z.T @ step
    balance, dt = float(program.y @ alpha), float(program.y @ step)
    total = epsilon * float(step.sum())

    def slope(length: float) -> float:
        beyond, out = _beyond(program, s + length * ds), _outside(program, alpha + length * step)
        return float(beyond @ ds + (balance + length * dt) * dt + out @ step) - total

    low, high = 0.0, 1.0
    if slope(low) >= 0.0:
        return 0.0
    while slope(high) < 0.0 and high < 1e6:
        low, high = high, 2.0 * high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return high


def _on_margins(program: L1Hinge, alpha: Vector, w: Vector, b: float) -> tuple[Vector, float]:
    """Return the nearest hyperplane of the same features on whose margins the samples within their range lie."""
    within, used = (alpha > 0.0) & (alpha < program.d), w != 0.0
    if not within.any():
        return w, b
    A = np.column_stack([_columns(program.Z[within], used), program.y[within]])
    change = np.linalg.lstsq(A, 1.0 - program.margins(w, b)[within], rcond=None)[0]
    w = w.copy()
    w[used] += change[:-1]
    return w, b + float(change[-1])


def _on_costs(program: L1Hinge, alpha: Vector, beyond: Vector) -> Vector:
    """Return the nearest multipliers with Z'alpha at the costs of the features used, y'alpha = 0, and in their range.

    At a small epsilon those of the penalty problem are off by epsilon times the hyperplane and its slacks.
    """
    within, used = (alpha > 0.0) & (alpha < program.d), beyond != 0.0
    near = np.clip(alpha, 0.0, program.d)
    A = np.column_stack([_columns(program.Z, used), program.y])
    short = np.append(np.sign(beyond[used]) * program.c[used], 0.0) - A.T @ near
    if within.any():
        near[within] += np.linalg.lstsq(A[within].T, short, rcond=None)[0]
    return near


def _columns(Z: Matrix, used: Mask) -> Matrix:
    """Return the columns of dense or sparse data, dense."""
    part = Z[:, used]
    return part if isinstance(part, np.ndarray) else part.toarray()
