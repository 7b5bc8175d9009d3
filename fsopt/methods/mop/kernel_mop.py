"""Algorithm 1 of Bi for any kernel: the RSVM at fixed feature scales, and scales of smaller capacity, in turns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import scipy

from fsopt.common.arguments import word
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge
from fsopt.data.kernels import KERNELS, Kernel
from fsopt.data.scaling import Preprocessing
from fsopt.data.validation import as_matrix
from fsopt.drivers.run import DEFAULT_RUN, Run, drained
from fsopt.methods.kernel_values import centred_factor, expansion
from fsopt.methods.mop.rsvm_training import default_capacity, solve_rsvm, squared_radius
from fsopt.methods.preprocessing import preprocess
from fsopt.models.blocks import number, whole
from fsopt.typing import Matrix, Vector

STEPS = 200
"""Iterations of the local solver of (15)."""
TOLERANCE = 1e-4
"""Relative decrease of E and H below which the loop ends."""
SLACK = 1e-7
"""Excess of the loss that (15) may have by rounding."""
ZERO = 1e-6
"""Scales below this, relative to the largest one, are zeros of the local solver."""


@dataclass(frozen=True)
class KernelMop:
    r"""A classifier :math:`\operatorname{sign}(\sum_i \beta_i k_s(x_i, x) + b)` with feature scales s.

    Attributes
    ----------
    scales : (p,) s >= 0 of the preprocessed features.
    coef, intercept : beta (n,) and b.
    E, H : hinge loss and RW of each iteration; neither ever rises for c = 0.
    kernel, preprocessing : the kernel on the preprocessed training samples, and the map of raw samples.
    """

    scales: Vector
    coef: Vector
    intercept: float
    E: tuple[float, ...]
    H: tuple[float, ...]
    kernel: Kernel = field(repr=False)
    preprocessing: Preprocessing = field(repr=False)

    def decision_function(self, X: Matrix) -> Vector:
        """Return the scores (n,) of raw samples."""
        root = np.sqrt(self.scales)
        scaled = replace(self.kernel, patterns=self.kernel.patterns * root)
        scores: Vector = scaled.matrix(self.preprocessing.apply(as_matrix(X)) * root) @ self.coef + self.intercept
        return scores


@dataclass
class _Scaling:
    """Problem (15) at an expansion beta and an intercept: scales of smaller RW + c e's, with a loss of at most E."""

    work: Dataset
    kernel: Kernel
    c: float

    def gram(self, s: Vector) -> Matrix:
        """Return the kernel matrix of the samples at scales s."""
        X = self.work.X * np.sqrt(s)
        return replace(self.kernel, patterns=X).matrix(X)

    def size(self, K: Matrix, beta: Vector) -> tuple[float, float]:
        """Return R, the largest squared norm of a centred image, and W = w'w."""
        return float(self.radii(K).max()), float(beta @ K @ beta)

    def descend(self, s: Vector, beta: Vector, b: float, loss: float) -> Vector:
        r"""Return a local solution of (15) from s; s itself where none is better and feasible.

        .. math:: \min\ \rho W(s) + c e's \quad\text{s.t.}\quad \rho \ge R_i(s),\ e'\xi \le E,\
            \xi_i \ge 1 - y_i((K_s\beta)_i + b),\ s, \xi \ge 0
        """
        n, p = self.work.X.shape
        y = self.work.y

        def slack(x: Vector) -> Vector:
            K = self.gram(x[:p])
            xi = x[p:-1]
            return np.concatenate([xi - 1.0 + y * (K @ beta + b), [loss - xi.sum()], x[-1] - self.radii(K)])

        def slack_slopes(x: Vector) -> Matrix:
            of_scores = y[:, None] * self.slopes(x[:p], beta)
            top = np.hstack([of_scores, np.eye(n), np.zeros((n, 1))])
            middle = np.concatenate([np.zeros(p), -np.ones(n), [0.0]])
            return np.vstack([top, middle, np.hstack([-self.radius_slopes(x[:p]), np.zeros((n, n)), np.ones((n, 1))])])

        def value(x: Vector) -> tuple[float, Vector]:
            capacity = float(beta @ self.gram(x[:p]) @ beta)
            slopes = np.concatenate([x[-1] * (beta @ self.slopes(x[:p], beta)) + self.c, np.zeros(n), [capacity]])
            return x[-1] * capacity + self.c * float(x[:p].sum()), slopes

        K = self.gram(s)
        start = np.concatenate([s, np.maximum(1.0 - y * (K @ beta + b), 0.0), [float(self.radii(K).max())]])
        rule = {"type": "ineq", "fun": slack, "jac": slack_slopes}
        at = [(0.0, None)] * (p + n + 1)
        settings = {"maxiter": STEPS, "ftol": 1e-10}
        found = scipy.optimize.minimize(
            value, start, jac=True, bounds=at, constraints=[rule], method="SLSQP", options=settings
        )
        new = np.maximum(found.x[:p], 0.0)
        new[new < ZERO * new.max(initial=0.0)] = 0.0
        feasible = hinge(self.gram(new) @ beta + b, y) <= loss * (1.0 + SLACK) + SLACK
        return new if new.any() and feasible and self.value(new, beta) < self.value(s, beta) else s

    def value(self, s: Vector, beta: Vector) -> float:
        """Return RW + c e's."""
        return float(np.prod(self.size(self.gram(s), beta))) + self.c * float(s.sum())

    def radii(self, K: Matrix) -> Vector:
        """Return the squared norms (n,) of the centred images."""
        squares: Vector = np.diag(K) - 2.0 * K.mean(axis=1) + K.mean()
        return squares

    def slopes(self, s: Vector, weights: Vector) -> Matrix:
        """Return the derivatives (n, p) of K_s times weights by the scales."""
        X = self.work.X
        if self.kernel.name == "gaussian":
            B = self.gram(s) * weights
            differences: Matrix = X**2 * B.sum(axis=1)[:, None] - 2.0 * X * (B @ X) + B @ X**2
            return -differences / (2.0 * self.kernel.width**2)
        result: Matrix = X * ((self._outer(s) * weights) @ X)
        return result

    def radius_slopes(self, s: Vector) -> Matrix:
        """Return the derivatives (n, p) of the squared norms of the centred images."""
        n = self.work.n
        of_sums = self.slopes(s, np.ones(n))
        own = 0.0 if self.kernel.name == "gaussian" else self.work.X**2 * np.diag(self._outer(s))[:, None]
        result: Matrix = own - 2.0 / n * of_sums + of_sums.sum(axis=0) / n**2
        return result

    def _outer(self, s: Vector) -> Matrix:
        """Return the derivative (n, n) of a polynomial kernel by x'Sz."""
        name, degree = self.kernel.name, self.kernel.degree
        products = (self.work.X * s) @ self.work.X.T
        return np.ones_like(products) if name == "linear" else degree * (products + 1.0) ** (degree - 1)


def kernel_mop(
    data: Dataset,
    *,
    kernel: str = "gaussian",
    width: float | None = None,
    degree: int = 2,
    w_cap: float | None = None,
    c: float = 0.0,
    scale: str = "unit-rows",
    max_iterations: int = 20,
    run: Run = DEFAULT_RUN,
) -> KernelMop:
    r"""Alternate the RSVM (14) in the feature space of a kernel and the kernel scaling problem (15).

    .. math::

        k_s(x, z) = e^{-\sum_j s_j(x_j - z_j)^2/(2\sigma^2)},\quad (x'Sz + 1)^d \quad\text{or}\quad x'Sz

    For a kernel that is not linear (15) is nonlinear in s without the structure of ``kernel-scaling``. It is solved
    locally, by sequential quadratic programming over s and the n slacks, for a few hundred samples at most. An answer
    is taken only where the loss is at most E and RW + c e's falls: with c = 0 Proposition 1 holds, and nothing is
    claimed about optimality. With c = 0 the scales 1 are often stationary already, the trap that the paper mentions.

    Parameters
    ----------
    data : raw training data.
    kernel, width, degree : as in :class:`fsopt.data.kernels.Kernel`; the width None is sqrt(p v / 2), v the variance of
        all preprocessed entries.
    w_cap : W^0 > 0; None takes (RW + 1) / n = 0.1, with RW at least 1.
    c : >= 0, cost of the scales.
    scale : ``unit-rows`` (default), ``standard``, ``center`` or ``none``.
    max_iterations : the loop also ends where neither E nor H falls by 1e-4, relative.
    run : solver of (14).

    Raises
    ------
    ParameterError : an unknown kernel, or a number outside its range.
    SolverError : (14) was not solved.

    Notes
    -----
    Bi, Algorithm 1 and (15).
    """
    word("kernel", kernel, KERNELS)
    c = number("kernel_mop", "c", c)
    most = whole("kernel_mop", "max_iterations", max_iterations, low=1, high=10_000)
    work, map_ = preprocess(data, scale)
    width = float(np.sqrt(work.p * work.X.var() / 2.0)) or 1.0 if width is None else width
    scaling = _Scaling(work, Kernel(kernel, work.X, width, degree), c)
    s = np.ones(work.p)
    cap = w_cap
    losses: list[float] = []
    capacities: list[float] = []
    while True:
        K = scaling.gram(s)
        factor = centred_factor(Dataset(K, work.y))
        if cap is None:
            cap = default_capacity(work.n, squared_radius(factor))
        found = drained(solve_rsvm(factor, run, w_cap=number("kernel_mop", "w_cap", cap)))
        beta = expansion(factor, found.w) if found.beta is None else found.beta
        b = found.b - float(beta @ K.mean(axis=1))
        losses.append(hinge(K @ beta + b, work.y))
        trained = (s, beta, b)
        if len(losses) >= most or (len(losses) > 1 and not (_fell(losses) or _fell(capacities))):
            break
        s = scaling.descend(s, beta, b, losses[-1])
        radius, square = scaling.size(scaling.gram(s), beta)
        capacities.append(radius * square)
        cap = max(square, 1e-12)
    return KernelMop(*trained, tuple(losses), tuple(capacities), scaling.kernel, map_)


def _fell(values: list[float]) -> bool:
    return len(values) < 2 or values[-1] < values[-2] - TOLERANCE * max(abs(values[-2]), 1e-12)
