r"""Algorithm ``svm_augmented_lagrangian``: support vector machines of sparse data, by semismooth Newton steps.

With :math:`v_i = y_i x_i` the program is

.. math:: \min_{w, b, s}\ \tfrac12 w'w + \sum_i c_i \max(0, s_i) \quad\text{s.t.}\quad s_i = 1 - v_i'w - y_i b

For multipliers a and a penalty sigma, the augmented Lagrangian minimised over s is the smooth convex function

.. math:: \varphi(w, b) = \tfrac12 w'w + \tfrac1{2\sigma} \sum_i \left(u_i^2 - (u_i - c_i)_+^2\right), \qquad
    u = \max(0,\ a + \sigma (1 - Vw - yb))

whose gradient is :math:`(w - V'\alpha,\ -y'\alpha)` at :math:`\alpha = \min(u, c)`. A step of Newton's method has the
matrix :math:`I + \sigma V_J'V_J` and its border of b, with J the samples of :math:`0 < u_i < c_i`, and is solved by
conjugate gradients: products with the rows J, nothing else. The minimum gives the next multipliers
:math:`a = \alpha`. The first hyperplane is that of liblinear, which does not tell its multipliers and whose program has
the penalty :math:`\tfrac12 b^2` beside; the first multipliers are the solution of :math:`w = V'a` by least squares on
the samples near the margin, with the others at their bounds by complementarity.

Source: Rockafellar (1976) for the method of multipliers; Li, Sun & Toh (2018) for its minimisations by Newton's method.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from fsopt.algorithms.interior_point.certificate import certify_svm
from fsopt.answers.results import DriverResult, Status
from fsopt.certificates.residuals import relative_gap
from fsopt.common import clock
from fsopt.data import Dataset
from fsopt.data.hyperplanes import best_intercepts, combination, project_multipliers, svm_value
from fsopt.data.matrices import divided, row_norms
from fsopt.data.weights import loss_weights
from fsopt.drivers.recorder import Recorder, stop_word
from fsopt.drivers.run import DEFAULT_RUN, OutOfTimeError, Run, timed
from fsopt.models.blocks import number
from fsopt.typing import Mask, Matrix, Vector

PENALTY = 30.0
"""First sigma, in units of C, or of the inverse mean square of the samples where this is smaller."""
SLOW = 0.3
"""Share of the gap that an iteration may leave without a larger sigma."""
STALLED = 12
"""Iterations without a smaller gap after which rounding has the last word."""
INNER = 30
"""Newton steps of a minimisation at most; 1 to 10 are usual."""
CONJUGATE = 500
"""Steps of conjugate gradients at most: a direction of descent at any of them."""
LEAST = 1e-3
"""Share of the samples that the curvature of b is raised by: it is 0 where no sample is on the quadratic piece."""
ARMIJO = 1e-4
"""Share of the predicted decrease that a step has to reach."""
ROUNDING = 1e-14
"""Relative error of phi: near the minimum the decrease is smaller, and the step still makes the multipliers better."""
BAND = 0.02
"""Distance of a margin from 1 within which the first multiplier is between its bounds."""
LEAST_SQUARES = 100
"""Steps of the least squares for these multipliers at most; 20 to 60 are usual."""


@timed
def svm_augmented_lagrangian(
    data: Dataset, *, c: float = 1.0, tolerance: float = 5e-7, max_iterations: int = 100, run: Run = DEFAULT_RUN
) -> DriverResult:
    r"""Solve the support vector machine of Aytug, (1), on sparse data.

    .. math::

        \min_{w, b}\ \tfrac12 w'w + C \sum_i \max(0,\ 1 - y_i(w'x_i + b)) \;=\;
        \max_{0 \le \alpha \le C,\ y'\alpha = 0}\ e'\alpha - \tfrac12 \|X'Y\alpha\|^2

    Parameters
    ----------
    data : the samples, preprocessed and sparse.
    c : C > 0.
    tolerance : relative gap at which the loop ends.
    max_iterations : further stopping criterion.
    run : time limit and progress. The loop takes no solver: one that is given does not matter.

    Returns
    -------
    DriverResult
        ``point`` has ``w``, ``b`` and the multipliers ``alpha`` (n,) behind ``bound``, which is valid wherever the
        loop stopped. ``optimal`` where :func:`fsopt.algorithms.interior_point.certificate.certify_svm` holds, else
        ``feasible``.

    Raises
    ------
    ParameterError : c <= 0.
    """
    c = number("svm_augmented_lagrangian", "c", c)
    recorder = Recorder([], run)
    at = _Lagrangian(data, c)
    stop = "iteration-limit"
    accuracy, stale = 1e-2, 0
    try:
        at.begin()
        # Each pass records an iteration, of which there are at most max_iterations.
        for _ in range(max_iterations):
            before = at.gap
            at.a = at.minimise(accuracy)
            at.learn(at.a)
            recorder.record(objective=at.best[2], bound=at.bound, sigma=at.sigma)
            stale = 0 if at.gap < before else stale + 1
            if at.gap <= tolerance or stale > STALLED:
                stop = "optimal" if at.gap <= tolerance else "stalled"
                break
            at.sigma *= 4.0 if at.gap > SLOW * before else 1.0
            accuracy = max(SLOW * accuracy, 1e-13)
    except (KeyboardInterrupt, OutOfTimeError) as reason:
        stop = stop_word(reason)
    w, b, _ = at.best
    certificate = certify_svm(data, c, w, b, at.alpha)
    assert certificate.objective is not None
    return recorder.end(
        Status.OPTIMAL if certificate.ok else Status.FEASIBLE,
        stop,
        objective=certificate.objective,
        bound=certificate.bound,
        point={"w": w, "b": b, "alpha": at.alpha},
        certificate=certificate,
    )


@dataclass
class _Lagrangian:
    """The augmented Lagrangian at multipliers, and the best hyperplane and bound so far.

    Attributes
    ----------
    a, sigma, w, b : multipliers and penalty, and the last hyperplane.
    best : the hyperplane with the smallest objective value so far, and this value.
    alpha, bound : feasible multipliers (n,) with the largest lower bound so far.
    """

    data: Dataset
    c: float
    V: Matrix = field(init=False)
    caps: Vector = field(init=False)
    sigma: float = field(init=False)
    a: Vector = field(init=False)
    w: Vector = field(init=False)
    b: float = 0.0
    best: tuple[Vector, float, float] = field(init=False)
    alpha: Vector = field(init=False)
    bound: float = 0.0

    def __post_init__(self) -> None:
        data = self.data
        self.V = divided(data.X, np.ones(data.p), data.y)
        self.caps = np.ones(data.n) * loss_weights(self.c, data.weights)
        square = float(np.mean(row_norms(data.X) ** 2))
        self.sigma = PENALTY * (min(self.c, 1.0 / square) if square > 0.0 else self.c)
        self.a, self.alpha = np.zeros(data.n), np.zeros(data.n)
        self.w = np.zeros(data.p)
        self.best = (self.w, 0.0, np.inf)
        self.learn(self.a)

    def begin(self) -> None:
        """Start from the hyperplane of liblinear, and from multipliers by the margins there."""
        from sklearn.svm import LinearSVC

        machine = LinearSVC(loss="hinge", C=self.c, tol=1e-4, max_iter=200, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a start need not be an optimum
            machine.fit(self.data.X, self.data.y, sample_weight=self.data.weights)
        self.w = np.array(machine.coef_[0], dtype=float)
        self.learn(self.a)
        self.b = self.best[1]
        self.a = self.recovered()
        self.learn(self.a)
        if self.bound == 0.0:  # the multipliers are far too large: the hyperplane is not yet near the optimum
            self.a = np.zeros(self.data.n)

    def recovered(self) -> Vector:
        """Return multipliers (n,) of the hyperplane: by its margins at a bound, or between them near the margin 1.

        Those between are the solution of V'a = w and y'a = 0 by least squares.
        """
        from scipy.sparse.linalg import lsqr

        margins = self.V @ self.w + self.data.y * self.b
        a = np.where(margins < 1.0 - BAND, self.caps, 0.0)
        near = np.flatnonzero(np.abs(margins - 1.0) <= BAND)
        if not len(near):
            return a
        forms = sp.vstack([self.V[near].T, self.data.y[None, near]], format="csr")
        rest = np.append(self.w - self.V.T @ a, -float(self.data.y @ a))
        a[near] = lsqr(forms, rest, atol=1e-6, btol=1e-6, iter_lim=LEAST_SQUARES)[0]
        return np.clip(a, 0.0, self.caps)

    @property
    def gap(self) -> float:
        """The relative gap between the best value and the best bound."""
        return relative_gap(self.best[2], self.bound)

    def learn(self, alpha: Vector) -> None:
        """Take over hyperplane and bound where they are better than those so far."""
        low, high = best_intercepts(self.data.X @ self.w, self.data.y, self.data.weights)
        b = 0.5 * (low + high)
        value = svm_value(self.data, self.w, b, self.c)
        if value < self.best[2]:
            self.best = (self.w, b, value)
        kept = project_multipliers(alpha, self.data.y, self.caps)
        bound = float(kept.sum()) - 0.5 * float((combination(self.data, kept) ** 2).sum())
        if bound > self.bound:
            self.alpha, self.bound = kept, bound

    def value(self, w: Vector, margins: Vector) -> tuple[float, Vector]:
        """Return phi and u (n,) at weights whose margins Vw + yb (n,) are given."""
        u = np.maximum(self.a + self.sigma * (1.0 - margins), 0.0)
        alpha = np.minimum(u, self.caps)
        terms = alpha @ (2.0 * u - alpha)  # the two squares of the docstring, without their cancellation
        return 0.5 * float(w @ w) + float(terms) / (2.0 * self.sigma), u

    def minimise(self, accuracy: float) -> Vector:
        """Move to the minimum over (w, b), to an accuracy of the gradient next to the multipliers; return these."""
        y = self.data.y
        margins = self.V @ self.w + y * self.b
        phi, u = self.value(self.w, margins)
        for _ in range(INNER):
            clock.check()
            alpha = np.minimum(u, self.caps)
            gradient = np.append(self.w - self.V.T @ alpha, -float(y @ alpha))
            size = float(np.linalg.norm(gradient))
            if size <= accuracy * (1.0 + float(np.linalg.norm(self.w))):
                break
            step = self.newton_step(gradient, (u > 0) & (u < self.caps), min(0.1, size))
            slope, length = float(gradient @ step), 1.0
            moved = self.V @ step[:-1] + y * step[-1]
            for _ in range(40):
                w = self.w + length * step[:-1]
                found, u = self.value(w, margins + length * moved)
                if found <= phi + ARMIJO * length * slope + ROUNDING * abs(phi):
                    break
                length *= 0.5
            else:
                break  # the decrease is within rounding
            self.w, self.b = w, self.b + length * float(step[-1])
            margins, phi = margins + length * moved, found
        return np.minimum(u, self.caps)

    def newton_step(self, gradient: Vector, inside: Mask, accuracy: float) -> Vector:
        """Return minus the inverse of the generalised Hessian times the gradient, by conjugate gradients.

        They are preconditioned by the diagonal. The curvature of b is raised by a share of the samples.
        """
        rows: Any = self.V[np.flatnonzero(inside)]
        y = self.data.y[inside]
        least = self.sigma * LEAST * self.data.n
        squares = np.bincount(rows.indices, rows.data**2, minlength=self.data.p)
        diagonal = np.append(1.0 + self.sigma * squares, self.sigma * len(y) + least)
        x = np.zeros_like(gradient)
        residual = -gradient
        z = residual / diagonal
        direction, product = z, float(residual @ z)
        goal = accuracy * float(np.linalg.norm(gradient))
        for _ in range(CONJUGATE):
            forms = rows @ direction[:-1] + y * direction[-1]
            last = self.sigma * float(y @ forms) + least * direction[-1]
            image = np.append(direction[:-1] + self.sigma * (rows.T @ forms), last)
            curvature = float(direction @ image)
            if not curvature > 0.0:
                break  # the residual is 0
            length = product / curvature
            x = x + length * direction
            residual = residual - length * image
            if float(np.linalg.norm(residual)) <= goal:
                break
            z = residual / diagonal
            following = float(residual @ z)
            direction, product = z + following / product * direction, following
        return x
