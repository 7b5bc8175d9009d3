r"""Interior point for the Boolean relaxation of a node: hinge loss plus half the squared k-support norm, in its dual.

With features :math:`I` selected, :math:`J` free, multipliers :math:`\mu \ge 0` of :math:`R\sigma \le r` and
:math:`\rho_j \ge 0` of :math:`\sigma_j \le 1`:

.. math::

    \max\ & e'\alpha + \lambda_I'e - \tfrac12 \sum_{j \in I} q_j^2 - \mu'(r - R_I e) - \sum_{j \in J} \rho_j \\
    \text{s.t.}\ & \rho_j \ge \tfrac12 q_j^2 - \lambda_j - R_j'\mu,\ \ q = q^0 + Z'\alpha,\ \
    0 \le \alpha \le C,\ \ y'\alpha = -\beta^0,\ \ \mu, \rho \ge 0

For a cardinality alone the last terms are half the sum of the largest :math:`q_j^2` (Aytug's cuts at their best alpha;
for C-SVMs the k-support norm of Argyriou, Foygel and Srebro, 2012). The multipliers are :math:`w_j = \sigma_j q_j` of
the equations of q, :math:`\sigma_j` of the cones and the intercept b of the balance.

A step eliminates everything but (w, b, mu): one matrix of order p + 1, positive definite, and one of order k.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotrs

from fsopt.drivers.branch_and_benders.relaxation import Iterate, Relaxation, balanced, cold, dual_value
from fsopt.typing import Mask, Matrix, Vector

ITERATIONS = 80
"""Largest number of steps."""
BOUNDARY = 0.99
"""Share of the largest step that keeps the variables positive."""
CENTERING = 1e-4
"""Smallest share of the complementarity that a step aims at."""


@dataclass(frozen=True)
class Goal:
    """When the interior point stops.

    Attributes
    ----------
    gap : relative gap.
    cutoff : lower bound at which the node is pruned.
    branch : share of the distance to the cutoff: with a smaller gap, and an optimum below the cutoff, the node is to
        be branched, and its bound needs no more digits. 0 for none.
    """

    gap: float
    cutoff: float = np.inf
    branch: float = 0.0


@dataclass(frozen=True)
class Solved:
    """The best point of a run.

    Attributes
    ----------
    alpha : (n,) multipliers, balanced up to rounding; ``mu`` : (k,).
    w, b, sigma : (s + f,), scalar, (f,) of the last iterate.
    bound : value of the dual, without any margin for rounding.
    steps : iterations.
    """

    alpha: Vector
    mu: Vector
    w: Vector
    b: float
    sigma: Vector
    bound: float
    steps: int


def solve(program: Relaxation, goal: Goal, start: Iterate | None = None) -> Solved | None:
    """Solve the relaxation of a node until the goal is reached, or no step makes progress; None without any bound."""
    at = cold(program) if start is None else start
    run = _Run(program, at)
    steps = 0
    # A bound on the number of steps: numerical trouble ends a run with the best bound so far.
    for steps in range(1, ITERATIONS + 1):
        if not run.step():
            break
        if steps > 2 and run.reached(goal):
            break
    run.reached(goal)
    if run.best is None:
        return None
    alpha, mu = run.best
    return Solved(alpha, mu, at.plane[:-1], float(at.plane[-1]), at.x[run.sigma].copy(), run.bound, steps)


@dataclass
class _Run:
    """The steps of one run, and the best dual value so far."""

    program: Relaxation
    at: Iterate
    bound: float = -np.inf
    best: tuple[Vector, Vector] | None = None
    plus: Mask = field(init=False)

    def __post_init__(self) -> None:
        n, self.features, f, k = self.program.shape
        self.n = n
        self.alpha, self.rest = slice(0, n), slice(n, 2 * n)
        self.rho, self.sigma = slice(2 * n, 2 * n + f), slice(2 * n + f, 2 * n + 2 * f)
        self.mu = slice(2 * n + 2 * f, 2 * n + 2 * f + k)
        self.plus = self.program.Zy[:, -1] > 0

    def reached(self, goal: Goal) -> bool:
        """Return whether the goal is reached; keeps the best dual value."""
        at, program = self.at, self.program
        alpha = balanced(at.x[self.alpha], self.plus, program.c, program.balance)
        mu = at.x[self.mu].copy()
        if alpha is not None and (value := dual_value(program, alpha, mu)) > self.bound:
            self.bound, self.best = value, (alpha, mu)
        gap = float(at.x @ at.z)
        if self.bound >= goal.cutoff or gap <= goal.gap * max(abs(self.bound), 1e-12):
            return True
        to_cutoff = goal.cutoff - self.bound
        return bool(goal.branch and gap <= goal.branch * to_cutoff)

    def step(self) -> bool:
        """Take a predictor-corrector step; False where the system is singular in floating point."""
        at = self.at
        system = _System.of(self)
        if system is None:
            return False
        product = at.x * at.z
        complementarity = float(product.sum()) / len(product)
        dx, dz, _ = system.direction(-product)
        length = min(system.largest_step(dx, dz), 1.0)
        after = float((at.x + length * dx) @ (at.z + length * dz)) / len(product)
        target = max(complementarity * min(1.0, after / complementarity) ** 3, CENTERING * complementarity)
        dx, dz, plane = system.direction(target - product - dx * dz)
        length = system.largest_step(dx, dz)
        if length < 0.1:  # the second-order term misleads: a plain, well centred step
            dx, dz, plane = system.direction(0.3 * complementarity - product)
            length = system.largest_step(dx, dz)
        length = min(1.0, BOUNDARY * length)
        if not 1e-8 < length <= 1.0:
            return False
        at.x += length * dx
        at.z += length * dz
        at.q += length * system.d_q
        at.plane += length * plane
        # C - alpha is a variable of its own in the step, and the difference here: no rounding errors add up.
        rest = at.x[self.rest]
        np.subtract(self.program.c, at.x[self.alpha], out=rest)
        np.maximum(rest, 1e-300, out=rest)
        return True


class _System:
    """The linear system of a step at an iterate, factorised, with the residuals of the optimality conditions.

    Attributes
    ----------
    d_q : the step of q that belongs to the last direction.
    """

    def __init__(self, run: _Run, factor: Matrix, theta: Vector, inverse_d: Vector) -> None:
        program, at = run.program, run.at
        s = program.selected
        self.run = run
        self.factor = factor
        self.theta = theta
        self.inverse_x, self.inverse_z = 1.0 / at.x, 1.0 / at.z
        alpha, rho, sigma, mu = (at.x[part] for part in (run.alpha, run.rho, run.sigma, run.mu))
        z, xi, v, slack, t = (at.z[part] for part in (run.alpha, run.rest, run.rho, run.sigma, run.mu))
        q = at.q[s:]
        self.margin = 1.0 - program.Zy @ at.plane + z - xi
        self.linear = alpha @ program.Zy
        self.linear[:-1] += program.q - at.q
        self.linear[-1] += program.balance
        self.weight = at.plane[:-1] - at.q
        self.weight[s:] = at.plane[s:-1] - sigma * q
        self.cone = rho + mu @ program.R + program.lam - 0.5 * q * q - slack
        self.box = 1.0 - sigma - v
        self.left = program.r - program.R @ sigma - t
        self.d_q = at.q
        sigma, ratio = at.x[run.sigma], at.x[run.rho] / at.z[run.rho]
        self.ratio, self.inverse_h = ratio, 1.0 / (slack + sigma * ratio)
        self.slope = q * sigma * self.inverse_h
        self.inverse_d = inverse_d
        none = np.zeros((0, 0))
        self.border = self.solved_border = self.schur = none

    @classmethod
    def of(cls, run: _Run) -> _System | None:
        """Return the system at the present iterate; None where it is singular in floating point."""
        program, at = run.program, run.at
        s = program.selected
        alpha, rest = at.x[run.alpha], at.x[run.rest]
        z, xi = at.z[run.alpha], at.z[run.rest]
        sigma, q = at.x[run.sigma], at.q[s:]
        theta = alpha * rest / (z * rest + xi * alpha)
        matrix = dsyrk(1.0, program.Zy * np.sqrt(theta)[:, None], trans=1, lower=1)
        h = at.z[run.sigma] + sigma * at.x[run.rho] / at.z[run.rho]
        curved = h + q * q
        inverse_d = np.ones(run.features + 1)
        inverse_d[s:-1] = h / (sigma * curved)
        inverse_d[-1] = 1e-14 * matrix[-1, -1]
        matrix.ravel(order="K")[:: run.features + 2] += inverse_d
        factor, failed = dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
        if failed:
            return None
        system = cls(run, factor, theta, inverse_d[:-1])
        if len(program.r):
            system._factorise_constraints(sigma / curved)
        return system

    def _factorise_constraints(self, curvature: Vector) -> None:
        """Eliminate (w, b) from the equations of mu."""
        run, at = self.run, self.run.at
        program = run.program
        self.border = np.zeros((run.features + 1, len(program.r)), order="F")
        self.border[program.selected : -1] = (program.R * (self.slope * self.inverse_d[program.selected :])).T
        self.solved_border = dpotrs(self.factor, self.border, lower=1)[0]
        schur = (program.R * curvature) @ program.R.T + self.border.T @ self.solved_border
        schur.ravel()[:: len(program.r) + 1] += at.z[run.mu] / at.x[run.mu]
        self.schur = schur

    def direction(self, target: Vector) -> tuple[Vector, Vector, Vector]:
        """Return the step of x, z and (w, b) to complementary products that change by ``target``."""
        run, at = self.run, self.run.at
        program = run.program
        s = program.selected
        sigma, q = at.x[run.sigma], at.q[s:]
        wanted = target * self.inverse_x
        shift = self.margin + wanted[run.alpha] - wanted[run.rest]
        first = target[run.rho] * self.inverse_z[run.rho] - self.ratio * self.box
        second = (target[run.sigma] - sigma * (first + self.cone)) * self.inverse_h
        e = self.weight.copy()
        e[s:] -= q * second
        scaled = e * self.inverse_d
        right = (self.theta * shift) @ program.Zy
        right += self.linear
        right[:-1] -= scaled
        plane = dpotrs(self.factor, right, lower=1, overwrite_b=1)[0]
        d_x = np.empty(len(at.x))
        paid: Vector | float = 0.0
        if len(program.r):
            missing = self.left - wanted[run.mu] - program.R @ (second + self.slope * scaled[s:])
            d_mu = _small_solve(self.schur, self.border.T @ plane - missing)
            plane -= self.solved_border @ d_mu
            d_x[run.mu] = d_mu
            paid = d_mu @ program.R
        d_alpha = self.theta * (shift - program.Zy @ plane)
        d_q = plane[:-1] + e
        d_q[s:] = (d_q[s:] + self.slope * paid) * self.inverse_d[s:]
        d_sigma = second - sigma * self.inverse_h * paid + self.slope * d_q[s:]
        d_x[run.alpha] = d_alpha
        d_x[run.rest] = -d_alpha
        d_x[run.rho] = first + self.ratio * d_sigma
        d_x[run.sigma] = d_sigma
        self.d_q = d_q
        return d_x, wanted - at.z * d_x * self.inverse_x, plane

    def largest_step(self, d_x: Vector, d_z: Vector) -> float:
        """Return the largest step at which x and z are not negative."""
        ratio = min(float((d_x * self.inverse_x).min()), float((d_z * self.inverse_z).min()))
        return np.inf if ratio >= 0.0 else -1.0 / ratio


def _small_solve(matrix: Matrix, right: Vector) -> Vector:
    """Solve with the matrix of the constraints, mostly of order 1."""
    if len(right) == 1:
        return np.asarray(right / matrix[0, 0])
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0], dtype=float)
