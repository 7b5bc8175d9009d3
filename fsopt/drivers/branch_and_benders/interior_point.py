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

from fsopt.typing import Mask, Matrix, Vector

ITERATIONS = 80
"""Largest number of steps."""
BOUNDARY = 0.99
"""Share of the largest step that keeps the variables positive."""
CENTERING = 1e-4
"""Smallest share of the complementarity that a step aims at."""


@dataclass(frozen=True)
class Relaxation:
    r"""The program of a node.

    Attributes
    ----------
    Zy : (n, s + f + 1) signed samples of the selected and then the free features, and the labels, Fortran order.
    c : penalty weight of the hinge loss.
    selected : s, number of selected features.
    R, r : (k, f) constraints on the free features, and right-hand sides that are left for them (k,).
    lam : (f,) penalty weights of the free features.
    q, constant, balance : :math:`q^0` (s + f,), the sum of alpha and :math:`\beta^0` of the samples whose alpha is
        frozen; the constant includes the penalty weights of the selected features.
    """

    Zy: Matrix
    c: float
    selected: int
    R: Matrix
    r: Vector
    lam: Vector
    q: Vector
    constant: float = 0.0
    balance: float = 0.0

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Numbers n of samples, of features, f of free features, and k of constraints."""
        features = self.Zy.shape[1] - 1
        return len(self.Zy), features, features - self.selected, len(self.r)


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


@dataclass
class Iterate:
    """An iterate, also a point to start from; ``x`` and ``z`` hold the complementary pairs one after the other.

    Attributes
    ----------
    x : alpha, C - alpha, rho, sigma, mu. ``z`` : their partners, of the bounds of alpha, of rho, the slack of the
        cones, and of the constraints.
    q, w : (s + f,); ``b`` : intercept.
    """

    x: Vector
    z: Vector
    q: Vector
    w: Vector
    b: float


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
    return Solved(alpha, mu, at.w, at.b, at.x[run.sigma].copy(), run.bound, steps)


def cold(program: Relaxation) -> Iterate:
    """Return a point to start from, without knowledge of another node."""
    n, features, f, k = program.shape
    y = program.Zy[:, -1]
    plus = y > 0
    alpha = np.full(n, 0.5 * program.c)
    up, down = float(alpha[plus].sum()) + program.balance, float(alpha[~plus].sum())
    # Close to balanced: the class with the larger sum of multipliers is scaled down.
    heavy, excess = (plus, up - down) if up > down else (~plus, down - up)
    alpha[heavy] *= max(1.0 - excess / max(float(alpha[heavy].sum()), 1e-300), 0.05)
    alpha = np.clip(alpha, 1e-3 * program.c, 0.9 * program.c)
    share = np.clip(program.r / np.maximum(np.abs(program.R).sum(axis=1), 1e-300), 0.05, 0.95)
    sigma = np.full(f, share.min(initial=0.95))
    q = (alpha @ program.Zy)[:-1]
    if not program.q.any():
        size = float((q[: program.selected] ** 2).sum() + sigma @ q[program.selected :] ** 2)
        alpha *= np.clip(alpha.sum() / max(size, 1e-300), 1e-3, 1.0)
        q = (alpha @ program.Zy)[:-1]
    return assembled(program, alpha, (np.ones(n), np.ones(n)), sigma, (np.zeros(features), 0.0))


def assembled(
    program: Relaxation, alpha: Vector, partners: tuple[Vector, Vector], sigma: Vector, plane: tuple[Vector, float]
) -> Iterate:
    """Return an iterate around multipliers alpha strictly inside their bounds, shares sigma and a hyperplane."""
    q = (alpha @ program.Zy)[:-1] + program.q
    gain = 0.5 * q[program.selected :] ** 2 - program.lam
    size = max(float(np.median(gain)), 1e-3 * float(np.abs(gain).max(initial=0.0)), 1e-8) if len(gain) else 1.0
    mu = np.full(len(program.r), size) / np.maximum(np.abs(program.R).max(axis=1, initial=0.0), 1e-12)
    mu /= max(len(mu), 1)
    paid = program.R.T @ mu
    rho = np.maximum(gain - paid, 0.0) + 0.1 * size
    slack = np.maximum(rho + paid - gain, 0.1 * size)
    left = np.maximum(program.r - program.R @ sigma, 0.1)
    x = np.concatenate([alpha, program.c - alpha, rho, sigma, mu])
    z = np.concatenate([*partners, 1.0 - sigma, slack, left])
    return Iterate(x, z, q, plane[0], plane[1])


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
        alpha = _balanced(at.x[self.alpha], self.plus, program.c, program.balance)
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
        complementarity = product.mean()
        dx, dz, dq, dv = system.direction(-product)
        length = min(_largest_step(at.x, dx), _largest_step(at.z, dz), 1.0)
        after = float((at.x + length * dx) @ (at.z + length * dz)) / len(product)
        target = max(complementarity * min(1.0, after / complementarity) ** 3, CENTERING * complementarity)
        dx, dz, dq, dv = system.direction(target - product - dx * dz)
        length = min(_largest_step(at.x, dx), _largest_step(at.z, dz))
        if length < 0.1:  # the second-order term misleads: a plain, well centred step
            dx, dz, dq, dv = system.direction(0.3 * complementarity - product)
            length = min(_largest_step(at.x, dx), _largest_step(at.z, dz))
        length = min(1.0, BOUNDARY * length)
        if not np.isfinite(length) or length < 1e-8:
            return False
        at.x += length * dx
        at.z += length * dz
        at.q += length * dq
        at.w += length * dv[:-1]
        at.b += length * float(dv[-1])
        # C - alpha is a variable of its own in the step, and the difference here: no rounding errors add up.
        np.subtract(self.program.c, at.x[self.alpha], out=at.x[self.rest])
        np.maximum(at.x[self.rest], 1e-300, out=at.x[self.rest])
        return True


@dataclass
class _System:
    """The linear system of a step, factorised."""

    run: _Run
    factor: Matrix
    theta: Vector
    residuals: tuple[Vector, Vector, Vector, Vector, Vector, Vector]
    curvature: tuple[Vector, Vector, Vector]
    border: Matrix
    solved_border: Matrix
    schur: Matrix

    @classmethod
    def of(cls, run: _Run) -> _System | None:
        """Return the system at the present iterate; None where it is singular in floating point."""
        program, at, s = run.program, run.at, run.program.selected
        alpha, rest = at.x[run.alpha], at.x[run.rest]
        z, xi, v, slack = (at.z[part] for part in (run.alpha, run.rest, run.rho, run.sigma))
        sigma, q = at.x[run.sigma], at.q[s:]
        theta = alpha * rest / (z * rest + xi * alpha)
        matrix = dsyrk(1.0, program.Zy * np.sqrt(theta)[:, None], trans=1, lower=1)
        h = slack + sigma * at.x[run.rho] / v
        d = np.ones(run.features)
        d[s:] = sigma * (1.0 + q * q / h)
        diagonal = np.arange(run.features)
        matrix[diagonal, diagonal] += 1.0 / d
        matrix[-1, -1] += 1e-14 * matrix[-1, -1]
        factor, failed = dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
        if failed:
            return None
        slope = q * sigma / h
        border = np.zeros((run.features + 1, len(program.r)), order="F")
        border[s:-1] = (program.R * (slope / d[s:])).T
        solved = dpotrs(factor, border, lower=1)[0] if len(program.r) else border
        mu = at.x[run.mu]
        schur = (program.R * (sigma / (h + q * q))) @ program.R.T + border.T @ solved
        schur[np.arange(len(mu)), np.arange(len(mu))] += at.z[run.mu] / mu
        return cls(run, factor, theta, _residuals(run), (h, d, slope), border, solved, schur)

    def direction(self, target: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        """Return the step of x, z, q and (w, b) to complementary products that change by ``target``."""
        run, at, program = self.run, self.run.at, self.run.program
        s = program.selected
        alpha, rest, rho, sigma, mu = (at.x[part] for part in (run.alpha, run.rest, run.rho, run.sigma, run.mu))
        z, xi, v, _, t = (at.z[part] for part in (run.alpha, run.rest, run.rho, run.sigma, run.mu))
        margin, linear, weight, cone, box, left = self.residuals
        h, d, slope = self.curvature
        q = at.q[s:]
        shift = margin + target[run.alpha] / alpha - target[run.rest] / rest
        first = (target[run.rho] - rho * box) / v
        second = target[run.sigma] - sigma * (first + cone)
        e = weight.copy()
        e[s:] -= q * second / h
        right = (self.theta * shift) @ program.Zy
        right += linear
        right[:-1] -= e / d
        v_w = dpotrs(self.factor, right, lower=1)[0]
        d_mu = np.zeros(len(mu))
        if len(mu):
            wanted = left - target[run.mu] / mu - program.R @ (second / h + slope * e[s:] / d[s:])
            d_mu = np.linalg.solve(self.schur, self.border.T @ v_w - wanted)
            v_w = v_w - self.solved_border @ d_mu
        d_alpha = self.theta * (shift - program.Zy @ v_w)
        paid = program.R.T @ d_mu
        dq = v_w[:-1] + e
        dq[s:] = (dq[s:] + slope * paid) / d[s:]
        d_sigma = (second - sigma * paid + sigma * q * dq[s:]) / h
        d_rho = first + rho / v * d_sigma
        d_slack = d_rho + paid - q * dq[s:] + cone
        dx = np.concatenate([d_alpha, -d_alpha, d_rho, d_sigma, d_mu])
        dz = np.concatenate(
            [
                (target[run.alpha] - z * d_alpha) / alpha,
                (target[run.rest] + xi * d_alpha) / rest,
                box - d_sigma,
                d_slack,
                (target[run.mu] - t * d_mu) / mu,
            ]
        )
        return dx, dz, dq, v_w


def _residuals(run: _Run) -> tuple[Vector, Vector, Vector, Vector, Vector, Vector]:
    """Return the residuals of the optimality conditions: margins, q and balance, weights, cones, boxes, constraints."""
    program, at, s = run.program, run.at, run.program.selected
    alpha, rho, sigma, mu = (at.x[part] for part in (run.alpha, run.rho, run.sigma, run.mu))
    z, xi, v, slack, t = (at.z[part] for part in (run.alpha, run.rest, run.rho, run.sigma, run.mu))
    q = at.q[s:]
    margin = 1.0 - program.Zy @ np.append(at.w, at.b) + z - xi
    linear = alpha @ program.Zy
    linear[:-1] += program.q - at.q
    linear[-1] += program.balance
    weight = at.w - at.q
    weight[s:] = at.w[s:] - sigma * q
    cone = rho + program.R.T @ mu + program.lam - 0.5 * q * q - slack
    return margin, linear, weight, cone, 1.0 - sigma - v, program.r - program.R @ sigma - t


def dual_value(program: Relaxation, alpha: Vector, mu: Vector) -> float:
    """Return the dual value at balanced multipliers alpha (n,) and mu (k,) >= 0."""
    s = program.selected
    q = (alpha @ program.Zy)[:-1] + program.q
    half = 0.5 * q * q
    excess = np.maximum(half[s:] - program.lam - program.R.T @ mu, 0.0)
    return float(program.constant + alpha.sum() - half[:s].sum() - mu @ program.r - excess.sum())


def _balanced(alpha: Vector, plus: Mask, c: float, balance: float) -> Vector | None:
    """Return alpha with y'alpha = -balance, one class scaled down; None where that is impossible."""
    alpha = np.clip(alpha, 0.0, c)
    up, down = float(alpha[plus].sum()), float(alpha[~plus].sum())
    heavy, sum_, target = (plus, up, down - balance) if up + balance > down else (~plus, down, up + balance)
    if target < 0.0:
        return None
    if sum_ > 0.0:
        alpha[heavy] *= target / sum_
    return alpha


def _largest_step(x: Vector, dx: Vector) -> float:
    """Return the largest t with x + t dx >= 0 for x > 0."""
    ratio = float((dx / x).min())
    return np.inf if ratio >= 0.0 else -1.0 / ratio
