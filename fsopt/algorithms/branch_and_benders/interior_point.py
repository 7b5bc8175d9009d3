r"""Interior point for the Boolean relaxation of a node: a loss plus half the squared k-support norm, in its dual.

With features :math:`I` selected, :math:`J` free, multipliers :math:`\mu \ge 0` of :math:`R\sigma \le r` and
:math:`\rho_j \ge 0` of :math:`\sigma_j \le 1`:

.. math::

    \max\ & e'\alpha - \tfrac12 \alpha'\Gamma\alpha + \lambda_I'e - \tfrac12 \sum_{j \in I} q_j^2
    - \mu'(r - R_I e) - \sum_{j \in J} \rho_j \\
    \text{s.t.}\ & \rho_j \ge \tfrac12 q_j^2 - \lambda_j - R_j'\mu,\ \ q = q^0 + Z'\alpha,\ \
    0 \le \alpha \le C,\ \ y'\alpha = -\beta^0,\ \ \mu, \rho \ge 0

For a cardinality alone the last terms are half the sum of the largest :math:`q_j^2` (Aytug's cuts at their best alpha;
for C-SVMs the k-support norm of Argyriou, Foygel and Srebro, 2012). The multipliers are :math:`w_j = \sigma_j q_j` of
the equations of q, :math:`\sigma_j` of the cones and the intercept b of the balance.

With the multipliers z and :math:`\xi` of the bounds of alpha, and the slacks v of :math:`\sigma \le 1`, s of the cones
and t of :math:`R\sigma \le r`, the residuals of the optimality conditions at an iterate are

.. math::

    m &= e - \Gamma\alpha - Zw - yb + z - \xi, & \ell &= q^0 + Z'\alpha - q, & \ell_b &= \beta^0 + y'\alpha, \\
    p_j &= w_j - \sigma_j q_j \ (\sigma_I = 1), & d &= 1 - \sigma - v, & f &= r - R_I e - R\sigma - t, \\
    k_j &= \rho_j + R_j'\mu + \lambda_j - \tfrac12 q_j^2 - s_j,

and the products :math:`\alpha z,\ (C - \alpha)\xi,\ \rho v,\ \sigma s,\ \mu t` are to change by
:math:`\tau^\alpha, \tau^\xi, \tau^\rho, \tau^\sigma, \tau^\mu`. Newton's step makes the linearised residuals 0. The
complementary products give dz, dxi, ds and dt, the box gives dv, and what is left of the free features J is

.. math::

    d\rho &= \frac{\tau^\rho - \rho d}{v} + \frac{\rho}{v}\,d\sigma, \qquad h = s + \sigma\,\frac{\rho}{v}, \\
    d\sigma &= u - \frac{\sigma}{h} R'd\mu + \frac{\sigma q}{h}\,dq, \qquad
    u = \frac1h \Big(\tau^\sigma - \sigma\Big(\frac{\tau^\rho - \rho d}{v} + k\Big)\Big), \\
    dq &= \Delta\Big(dw + p - qu + \frac{\sigma q}{h} R'd\mu\Big), \qquad
    \Delta_j = \frac{h_j}{\sigma_j (h_j + q_j^2)} ,

with :math:`dq = dw + p` and :math:`\Delta_j = 1` for the selected features I. There remain alpha, (w, b) and mu:

.. math::

    \Theta^{-1} d\alpha + Z\,dw + y\,db &= m + \frac{\tau^\alpha}{\alpha} - \frac{\tau^\xi}{C - \alpha}, \qquad
    \Theta^{-1} = \Gamma + \frac{z}{\alpha} + \frac{\xi}{C - \alpha}, \\
    \Delta\,dw - Z'd\alpha + G\,d\mu &= \ell - \Delta(p - qu), \qquad
    G = \mathrm{diag}\Big(\frac{q}{h + q^2}\Big) R', \qquad -y'd\alpha = \ell_b, \\
    G'dw - S\,d\mu &= f - \frac{\tau^\mu}{\mu} - R\Big(u + \frac{\sigma q}{h} \Delta (p - qu)\Big), \qquad
    S = R\,\mathrm{diag}\Big(\frac{\sigma}{h + q^2}\Big) R' + \mathrm{diag}\Big(\frac{t}{\mu}\Big),

where u and G are 0 in I. With a norm of w in place of its squares, and no free features, it is :math:`\gamma w = q`:
gamma is the multiplier of :math:`\tfrac12 w'w + t = r`, or :math:`1/\mu` for the penalty :math:`\sqrt{2r}\,\|w\| =
\min_{\mu > 0} w'w/(2\mu) + \mu r` and its slack :math:`t = r - \tfrac12 \|w/\mu\|^2`. Then :math:`\Delta = \gamma`,
:math:`G = \gamma'(\mu) w`, :math:`S = t/\mu`, or :math:`-t/\mu - w'w/\mu^3`, where the last equation is negative.

:mod:`fsopt.algorithms.branch_and_benders.reduced_system` solves this system in the smaller of
the numbers of samples and features. Targets are those of the predictor-corrector method (Mehrotra, "On the
implementation of a primal-dual interior point method", SIAM Journal on Optimization 2, 1992). Each step looks at the
clock, and a long one within its factorisation.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fsopt.algorithms.branch_and_benders.reduced_system import Solve, reduced_system
from fsopt.algorithms.branch_and_benders.relaxation import InteriorPoint, NodeRelaxation, balanced, cold, dual_value
from fsopt.common import clock
from fsopt.errors import OutOfTimeError
from fsopt.typing import Mask, Matrix, Vector

ITERATIONS = 80
"""Largest number of steps."""
BOUNDARY = 0.99
"""Share of the largest step that keeps the variables positive."""
CENTERING = 1e-4
"""Smallest share of the complementarity that a step aims at."""
RIDGE = 1e-15
"""Smallest diagonal of the features with a norm of w, as a share of the trace of the matrix that it is added to."""


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
    late : whether the time limit ended the run.
    """

    alpha: Vector
    mu: Vector
    w: Vector
    b: float
    sigma: Vector
    bound: float
    late: bool = False


def solve(program: NodeRelaxation, goal: Goal, start: InteriorPoint | None = None) -> Solved | None:
    """Solve the relaxation of a node until the goal is reached, no step makes progress, or the time is over.

    Returns
    -------
    Solved or None
        None without any bound.
    """
    at = cold(program) if start is None else start
    run = _Run(program, at)
    late = False
    # A bound on the number of steps: numerical trouble ends a run with the best bound so far.
    for steps in range(1, ITERATIONS + 1):
        try:
            clock.check()
            moved = run.step()
        except OutOfTimeError:
            late = True
            break
        if not moved:
            break
        if steps > 2 and run.reached(goal):
            break
    run.reached(goal)
    if run.best is None:
        return None
    alpha, mu = run.best
    return Solved(alpha, mu, at.hyperplane[:-1], float(at.hyperplane[-1]), at.x[run.sigma].copy(), run.bound, late)


@dataclass
class _Run:
    """The steps of one run, and the best dual value so far."""

    program: NodeRelaxation
    at: InteriorPoint
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
        gap = float(at.x @ at.z)
        if alpha is not None:
            value, charged = dual_value(program, alpha, mu)
            if value > self.bound:
                self.bound, self.best = value, (alpha, mu)
            # Far from feasible q is not that of alpha, whose dual value is smaller than that of the iterate.
            selected = at.q[: program.selected]
            own = 0.5 * float(selected @ selected)
            if program.norm:
                own = own / mu[0] + mu[0] * program.r[0] if program.norm > 0 else 0.0
            gap += max(charged - own - float(at.x[self.rho].sum()), 0.0)
        if program.term.entropy:
            margins = program.Zy @ at.hyperplane - at.z[self.alpha] + at.z[self.rest]
            gap += float(program.term.open_gap(at.x[self.alpha], margins))
        if self.bound >= goal.cutoff or gap <= goal.gap * max(abs(self.bound), 1e-12):
            return True
        to_cutoff = goal.cutoff - max(self.bound, 0.0)
        return bool(goal.branch and gap <= goal.branch * to_cutoff)

    def step(self) -> bool:
        """Take a predictor-corrector step; False where the system is singular in floating point."""
        at = self.at
        system = _System(self)
        reduced = system.reduced
        if reduced is None:
            return False
        product = at.x * at.z
        complementarity = float(product.sum()) / len(product)
        dx, dz, _ = system.direction(reduced, -product)
        length = min(system.largest_step(dx, dz), 1.0)
        after = float((at.x + length * dx) @ (at.z + length * dz)) / len(product)
        target = max(complementarity * min(1.0, after / complementarity) ** 3, CENTERING * complementarity)
        dx, dz, hyperplane = system.direction(reduced, target - product - dx * dz)
        length = system.largest_step(dx, dz)
        if length < 0.1:  # the second-order term misleads: a plain, well centred step
            dx, dz, hyperplane = system.direction(reduced, 0.3 * complementarity - product)
            length = system.largest_step(dx, dz)
        length = min(1.0, BOUNDARY * length)
        if not 1e-8 < length <= 1.0:
            return False
        at.x += length * dx
        at.z += length * dz
        at.q += length * system.d_q
        at.hyperplane += length * hyperplane
        # C - alpha is a variable of its own in the step, and the difference here: no rounding errors add up.
        rest = at.x[self.rest]
        np.subtract(self.program.c, at.x[self.alpha], out=rest)
        np.maximum(rest, 1e-300, out=rest)
        return True


class _System:
    """The linear system of a step at an iterate, with the residuals of the optimality conditions."""

    # margin, linear, weight, cone, box and left are the residuals m, (l, l_b), p, k, d and f of the module; ratio,
    # inverse_h, slope and delta are rho / v, 1 / h, sigma q / h and Delta; d_q is the step of q that belongs to the
    # last direction.

    def __init__(self, run: _Run) -> None:
        program, at = run.program, run.at
        s = program.selected
        self.run = run
        self.inverse_x, self.inverse_z = 1.0 / at.x, 1.0 / at.z
        alpha, rho, sigma, mu = (at.x[part] for part in (run.alpha, run.rho, run.sigma, run.mu))
        z, xi, v, slack, t = (at.z[part] for part in (run.alpha, run.rest, run.rho, run.sigma, run.mu))
        q = at.q[s:]
        self.margin = program.term.slopes(alpha) - program.Zy @ at.hyperplane + z - xi
        self.linear = alpha @ program.Zy
        self.linear[:-1] += program.q - at.q
        self.linear[-1] += program.balance
        self.weight = at.hyperplane[:-1] - at.q
        self.weight[s:] = at.hyperplane[s:-1] - sigma * q
        self.cone = rho + mu @ program.R + program.lam - 0.5 * q * q - slack
        self.box = 1.0 - sigma - v
        self.left = program.r - program.R @ sigma - t
        self.d_q, self.sign = at.q, 1.0
        self.ratio = rho / v
        h = slack + sigma * self.ratio
        self.inverse_h = 1.0 / h
        self.slope = q * sigma * self.inverse_h
        curved = h + q * q
        self.delta = np.ones(run.features)
        self.delta[s:] = h / (sigma * curved)
        rest = at.x[run.rest]
        theta = alpha * rest / (z * rest + xi * alpha + program.term.curvature(alpha) * alpha * rest)
        self.border = border = np.zeros((run.features + 1, len(program.r)), order="F")
        border[s:-1] = (program.R * (self.slope * self.delta[s:])).T
        corner = (program.R * (sigma / curved)) @ program.R.T + np.diag(t / mu)
        if program.norm:
            self._of_norm(float(mu[0]), float(t[0]), corner)
        self.reduced = reduced_system(program.Zy, theta, self.delta, self.border, corner)
        if program.norm and self.reduced is None:
            # Features that depend on each other, and gamma next to 0. Of samples of norm 1 the trace is theta's sum.
            delta = np.maximum(self.delta, RIDGE * float(theta.sum()))
            self.reduced = reduced_system(program.Zy, theta, delta, self.border, corner)

    def _of_norm(self, m: float, t: float, corner: Matrix) -> None:
        """Put gamma w = q in place of w = q, with gamma the multiplier m of the ball or, of the penalty, 1 / m."""
        program, at = self.run.program, self.run.at
        w = at.hyperplane[:-1]
        if program.norm > 0:
            self.delta[:], self.weight = m, w - at.q / m
            self.border[:-1, 0], corner[:] = w, t / m
            self.left = program.r - 0.5 * float(w @ w) - t
        else:
            square, self.sign = float(at.q @ at.q), -1.0
            self.delta[:], self.weight = 1.0 / m, w - m * at.q
            self.border[:-1, 0], corner[:] = -at.q / m, -(t + square) / m
            self.left = 0.5 * square + t - program.r - self.border[:-1].T @ self.weight

    def direction(self, reduced: Solve, target: Vector) -> tuple[Vector, Vector, Vector]:
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
        scaled = e * self.delta
        right = self.linear.copy()
        right[:-1] -= scaled
        missing = self.left - self.sign * wanted[run.mu] - program.R @ (second + self.slope * scaled[s:])
        d_alpha, hyperplane, d_mu = reduced(shift, right, missing)
        across = d_mu @ program.R
        d_q = hyperplane[:-1] + e
        if program.norm:
            d_q = self.delta * d_q + self.border[:-1] @ d_mu
        d_q[s:] = (d_q[s:] + self.slope * across) * self.delta[s:]
        d_sigma = second - sigma * self.inverse_h * across + self.slope * d_q[s:]
        d_x = np.empty(len(at.x))
        d_x[run.alpha] = d_alpha
        d_x[run.rest] = -d_alpha
        d_x[run.rho] = first + self.ratio * d_sigma
        d_x[run.sigma] = d_sigma
        d_x[run.mu] = d_mu
        self.d_q = d_q
        return d_x, wanted - at.z * d_x * self.inverse_x, hyperplane

    def largest_step(self, d_x: Vector, d_z: Vector) -> float:
        """Return the largest step at which x and z are not negative."""
        ratio = min(float((d_x * self.inverse_x).min()), float((d_z * self.inverse_z).min()))
        return np.inf if ratio >= 0.0 else -1.0 / ratio
