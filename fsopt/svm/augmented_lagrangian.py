r"""The augmented Lagrangian of a support vector machine, and its minimum by semismooth Newton steps.

With :math:`v_i = y_i x_i` the program is, for a share :math:`0 \le \rho < 1` of the 1-norm in the penalty,

.. math:: \min_{w, b, s, z}\ \tfrac{1 - \rho}{2} w'w + \rho\|z\|_1 + \sum_i c_i \max(0, s_i)
    \quad\text{s.t.}\quad s_i = 1 - v_i'w - y_i b,\quad z = w

For multipliers a and t and penalties sigma and tau, the augmented Lagrangian minimised over s and z is the smooth
convex function

.. math:: \varphi(w, b) = \tfrac{1 - \rho}{2} w'w + \tfrac1{2\sigma} \alpha'(2u - \alpha)
    + \tfrac1{2\tau} \vartheta'(2v - \vartheta), \quad
    u = \max(0,\ a + \sigma (1 - Vw - yb)), \quad v = t + \tau w

with :math:`\alpha = \min(u, c)` and :math:`\vartheta_j` the nearest number to :math:`v_j` in :math:`[-\rho, \rho]`.
Its gradient is :math:`((1 - \rho)w + \vartheta - V'\alpha,\ -y'\alpha)`. A step of Newton's method has the matrix
:math:`(1 - \rho)I + \tau I_K + \sigma V_J'V_J` and its border of b, with K the features of :math:`|v_j| < \rho` and J
the samples of :math:`0 < u_i < c_i`, and is solved by conjugate gradients: products with the rows J, nothing else. The
minimum gives the next multipliers :math:`a = \alpha` and :math:`t = \vartheta`, and the weights
:math:`z = (v - \vartheta) / \tau`, which are 0 in K.

Without a 1-norm the first hyperplane is that of liblinear, which does not tell its multipliers and whose program has
the penalty :math:`\tfrac12 b^2` beside; the first multipliers are the solution of :math:`w = V'a` by least squares on
the samples near the margin, with the others at their bounds by complementarity. With one it is 0.

Source: Rockafellar (1976) for the method of multipliers; Li, Sun & Toh (2018) for its minimisations by Newton's method.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from fsopt.answers.results import DriverResult
from fsopt.certificates.points import relative_gap
from fsopt.common import clock
from fsopt.data import Dataset
from fsopt.data.hyperplanes import midpoint_intercept, project_multipliers, svm_bound, svm_value
from fsopt.data.matrices import column_squares, divided, row_norms
from fsopt.data.weights import loss_weights
from fsopt.drivers.loop import Iterate, Loop, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, timed
from fsopt.models.blocks import number
from fsopt.svm.certificate import certify_svm
from fsopt.typing import Mask, Matrix, Vector

PENALTY = 30.0
"""First sigma, in units of C, or of the inverse mean square of the samples where this is smaller."""
SHRINKING = 100.0
"""First tau, in units of 1 - rho."""
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
SLOW = 0.3
"""Share of the gap that an iteration may leave without larger penalties, whose next minimum is harder to reach."""
STALLED = 12
"""Iterations without a smaller gap after which rounding has the last word."""


@dataclass
class Lagrangian:
    """The augmented Lagrangian at multipliers, and the best hyperplane and bound so far.

    Attributes
    ----------
    rho : share of the 1-norm in the penalty.
    V, centre : the samples times their labels, dense ones less their mean (p,), which b absorbs.
    a, t, sigma, tau, w, b : multipliers and penalties, and the last hyperplane, in the space of V.
    best : the hyperplane with the smallest objective value so far, and this value.
    alpha, bound : feasible multipliers (n,) with the largest lower bound so far.
    """

    data: Dataset
    c: float
    rho: float = 0.0
    V: Matrix = field(init=False)
    centre: Vector = field(init=False)
    caps: Vector = field(init=False)
    sigma: float = field(init=False)
    tau: float = field(init=False)
    a: Vector = field(init=False)
    t: Vector = field(init=False)
    w: Vector = field(init=False)
    b: float = 0.0
    best: tuple[Vector, float, float] = field(init=False)
    alpha: Vector = field(init=False)
    bound: float = 0.0

    def __post_init__(self) -> None:
        data = self.data
        self.centre = np.zeros(data.p) if data.sparse else data.X.mean(axis=0)
        centred = data.X if data.sparse else data.X - self.centre
        self.V = divided(centred, np.ones(data.p), data.y)
        self.caps = np.ones(data.n) * loss_weights(self.c, data.weights)
        square = float(np.mean(row_norms(centred) ** 2))
        self.sigma = PENALTY * (min(self.c, 1.0 / square) if square > 0.0 else self.c)
        self.tau = SHRINKING * (1.0 - self.rho)
        self.a, self.alpha = np.zeros(data.n), np.zeros(data.n)
        self.w, self.t = np.zeros(data.p), np.zeros(data.p)
        self.best = (self.w, 0.0, np.inf)
        self.learn(self.a)

    def begin(self) -> None:
        """Start without a 1-norm from the hyperplane of liblinear, and from multipliers by the margins there."""
        if self.rho:
            return
        from sklearn.svm import LinearSVC

        machine = LinearSVC(loss="hinge", C=self.c, tol=1e-4, max_iter=200, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a start need not be an optimum
            machine.fit(self.data.X, self.data.y, sample_weight=self.data.weights)
        self.w = np.array(machine.coef_[0], dtype=float)
        self.learn(self.a)
        self.b = self.best[1] + float(self.centre @ self.w)
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
        w = self.w
        if self.rho:
            v = self.t + self.tau * w
            w = (v - np.clip(v, -self.rho, self.rho)) / self.tau
        b = midpoint_intercept(self.data.X @ w, self.data.y, self.data.weights)
        value = svm_value(self.data, w, b, self.c, self.rho)
        if value < self.best[2]:
            self.best = (w, b, value)
        kept = project_multipliers(alpha, self.data.y, self.caps)
        bound = svm_bound(self.data, kept, self.rho)
        if bound > self.bound:
            self.alpha, self.bound = kept, bound

    def value(self, w: Vector, margins: Vector) -> tuple[float, Vector, Vector]:
        """Return phi, u (n,) and v (p,) at weights whose margins Vw + yb (n,) are given."""
        u = np.maximum(self.a + self.sigma * (1.0 - margins), 0.0)
        alpha = np.minimum(u, self.caps)
        v = self.t + self.tau * w
        kept = np.clip(v, -self.rho, self.rho)
        square = (1.0 - self.rho) * float(w @ w)
        terms = float(alpha @ (2.0 * u - alpha)) / self.sigma + float(kept @ (2.0 * v - kept)) / self.tau
        return 0.5 * (square + terms), u, v

    def minimise(self, accuracy: float) -> bool:
        """Move to the minimum over (w, b) and to its multipliers; return whether the gradient came to an accuracy."""
        y = self.data.y
        margins = self.V @ self.w + y * self.b
        phi, u, v = self.value(self.w, margins)
        reached = False
        for _ in range(INNER):
            clock.check()
            alpha, kept = np.minimum(u, self.caps), np.clip(v, -self.rho, self.rho)
            gradient = np.append((1.0 - self.rho) * self.w + kept - self.V.T @ alpha, -float(y @ alpha))
            size = float(np.linalg.norm(gradient))
            reached = size <= accuracy * (1.0 + float(np.linalg.norm(self.w)))
            if reached:
                break
            flat = np.where(np.abs(v) < self.rho, self.tau, 0.0)
            step = self.newton_step(gradient, (u > 0) & (u < self.caps), flat, min(0.1, size))
            slope, length = float(gradient @ step), 1.0
            moved = self.V @ step[:-1] + y * step[-1]
            for _ in range(40):
                w = self.w + length * step[:-1]
                found, u, v = self.value(w, margins + length * moved)
                if found <= phi + ARMIJO * length * slope + ROUNDING * abs(phi):
                    break
                length *= 0.5
            else:
                reached = True  # up to rounding
                break
            self.w, self.b = w, self.b + length * float(step[-1])
            margins, phi = margins + length * moved, found
        self.a, self.t = np.minimum(u, self.caps), np.clip(v, -self.rho, self.rho)
        return reached

    def newton_step(self, gradient: Vector, inside: Mask, flat: Vector, accuracy: float) -> Vector:
        """Return minus the inverse of the generalised Hessian times the gradient, by conjugate gradients.

        They are preconditioned by the diagonal. The curvature of b is raised by a share of the samples.

        Parameters
        ----------
        inside : (n,) the samples J.
        flat : (p,) tau for the features K, else 0.
        """
        rows: Any = self.V[np.flatnonzero(inside)]
        y = self.data.y[inside]
        least = self.sigma * LEAST * self.data.n
        curved = 1.0 - self.rho + flat
        diagonal = np.append(curved + self.sigma * column_squares(rows), self.sigma * len(y) + least)
        x = np.zeros_like(gradient)
        residual = -gradient
        z = residual / diagonal
        direction, product = z, float(residual @ z)
        goal = accuracy * float(np.linalg.norm(gradient))
        for _ in range(CONJUGATE):
            forms = rows @ direction[:-1] + y * direction[-1]
            last = self.sigma * float(y @ forms) + least * direction[-1]
            image = np.append(curved * direction[:-1] + self.sigma * (rows.T @ forms), last)
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


@timed
def svm_augmented_lagrangian(
    data: Dataset,
    *,
    c: float = 1.0,
    l1_ratio: float = 0.0,
    tolerance: float = 5e-7,
    max_iterations: int = 100,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Solve the support vector machine of Aytug, (1), or with the elastic net that of Wang, Zhu & Zou.

    .. math::

        \min_{w, b}\ \rho \|w\|_1 + \tfrac{1 - \rho}{2} w'w + C \sum_i \max(0,\ 1 - y_i(w'x_i + b)) \;=\;
        \max_{0 \le \alpha \le C,\ y'\alpha = 0}\ e'\alpha - \tfrac1{2(1 - \rho)} \sum_j
        \max(0,\ |(X'Y\alpha)_j| - \rho)^2

    Parameters
    ----------
    data : the samples, preprocessed; sparse ones are not made dense.
    c : C > 0.
    l1_ratio : rho in [0, 1).
    tolerance : relative gap at which the loop ends.
    max_iterations : further stopping criterion.
    run : time limit and progress. The loop takes no solver: one that is given does not matter.

    Returns
    -------
    DriverResult
        ``point`` has ``w``, ``b`` and the multipliers ``alpha`` (n,) behind ``bound``, which is valid wherever the
        loop stopped. ``optimal`` where :func:`fsopt.svm.certificate.certify_svm` holds, else
        ``feasible``.

    Raises
    ------
    ParameterError : c <= 0, or l1_ratio outside [0, 1).
    """
    c = number("svm_augmented_lagrangian", "c", c)
    rho = number("svm_augmented_lagrangian", "l1_ratio", l1_ratio, inside="[0, 1)")
    recorder = Recorder([], run)
    at = Lagrangian(data, c, rho)
    _, stop = yield from run_loop(_minimise(at, tolerance, max_iterations), recorder)
    w, b, _ = at.best
    certificate = certify_svm(data, c, w, b, at.alpha, l1_ratio=at.rho)
    return recorder.end_certified(certificate, stop, {"w": w, "b": b, "alpha": at.alpha})


def _minimise(at: Lagrangian, tolerance: float, max_iterations: int) -> Loop:
    """Yield the best hyperplanes, from the first one on, which is w = 0."""
    yield Iterate(np.inf, {"w": at.best[0]}, within=True)
    at.begin()
    accuracy, stale = 1e-2, 0
    for _ in range(max_iterations):
        before = at.gap
        reached = at.minimise(accuracy)
        at.learn(at.a)
        stale = 0 if at.gap < before else stale + 1
        stop = "optimal" if at.gap <= tolerance else "stalled" if stale > STALLED else ""
        record = {"objective": at.best[2], "bound": at.bound, "sigma": at.sigma}
        yield Iterate(at.best[2], {"w": at.best[0]}, at.bound, record=record, stop=stop)
        if stop:
            return
        if not reached:
            continue
        accuracy = max(SLOW * accuracy, 1e-13)
        if at.gap > SLOW * before:
            at.sigma, at.tau = 4.0 * at.sigma, 4.0 * at.tau
