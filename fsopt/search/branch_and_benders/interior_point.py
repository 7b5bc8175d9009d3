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

:mod:`fsopt.search.branch_and_benders.reduced_system` solves this system in the smaller of
the numbers of samples and features. Targets are those of the predictor-corrector method (Mehrotra, "On the
implementation of a primal-dual interior point method", SIAM Journal on Optimization 2, 1992). Each step looks at the
clock, and a long one within its factorisation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fsopt.common import clock
from fsopt.data.losses import dual_curvature, dual_gaps, dual_slopes, dual_values
from fsopt.errors import OutOfTimeError
from fsopt.search.branch_and_benders.reduced_system import reduced_system, steps
from fsopt.search.branch_and_benders.relaxation import (
    InteriorPoint,
    NodeArrays,
    NodeRelaxation,
    cold,
    sizes,
)
from fsopt.search.branch_and_benders.stacks import (
    Number,
    across,
    after,
    balance,
    before,
    entry,
    fast,
    inner,
    keep,
    longest,
    lowest,
    of_feature,
    of_sample,
    times,
    total,
)
from fsopt.typing import Matrix, Vector

for _function in (dual_slopes, dual_curvature, dual_gaps):
    inner(_function)
LARGEST = 2**24
"""Multiplications of a step up to which it is compiled: larger ones look at the clock, and are BLAS anyway."""
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
    at, arrays = cold(program) if start is None else start, program.arrays
    n, F, f, k = program.shape
    best = Best(np.full(1, -np.inf), np.zeros(n), np.zeros(k))
    small = not program.norm and k <= 1 and n > F and n * (F + 1) ** 2 <= LARGEST and not clock.expired()
    late = False
    try:
        with np.errstate(all="ignore"):  # a step that is not finite ends the run
            (fast(run) if small else run)(arrays, at, goal.gap, goal.cutoff, goal.branch, best)
    except OutOfTimeError:
        late = True
        open_gap(arrays, at, best)
    if best.bound[0] == -np.inf:
        return None
    sigma = at.x[2 * n + f : 2 * n + 2 * f].copy()
    w, b = at.hyperplane[:-1], float(at.hyperplane[-1])
    return Solved(best.alpha, best.mu, w, b, sigma, float(best.bound[0]), late)


class Best(NamedTuple):
    """The largest dual values so far (1,), their multipliers alpha (n,) and mu (k,)."""

    bound: Vector
    alpha: Vector
    mu: Vector


@entry
@inner
def run(p: NodeArrays, at: InteriorPoint, gap: float, cutoff: float, branch: float, best: Best) -> bool:
    """Take steps until the goal is reached or none makes progress; return whether the gap is closed."""
    # A bound on the number of steps: numerical trouble ends a run with the best bound so far.
    for k in range(ITERATIONS):
        moved = step(p, at)
        if moved and k < 2:
            continue
        left = open_gap(p, at, best)
        bound = best.bound[0]
        closed = left <= gap * max(abs(bound), 1e-12)
        if closed or not moved or bound >= cutoff:
            return bool(moved and closed)
        if branch > 0.0 and left <= branch * (cutoff - max(bound, 0.0)):
            break
    return False


def open_gap(p: NodeArrays, at: InteriorPoint, best: Best) -> Number:
    """Return the duality gap at an iterate, and keep the largest dual value."""
    n, s, F, f, _ = sizes(p)
    x = at.x[..., :n]
    plus = p.A[..., -1, :] > 0.0
    alpha = np.minimum(np.maximum(x, 0.0), p.caps)
    up, down = total(np.where(plus, alpha, 0.0)), total(np.where(plus, 0.0, alpha))
    on_plus, on_minus, feasible = balance(up, down, p.balance)
    alpha *= np.where(plus, on_plus, on_minus)
    mu = at.x[..., 2 * n + 2 * f :]
    q = times(p.A, alpha)[..., :F] + p.q
    half = 0.5 * q * q
    charged = total(half[..., :s]) + total(np.maximum(half[..., s:] - p.lam - mu @ p.R, 0.0))
    value = p.constant + total(dual_values(alpha, p.caps, p.gamma, p.entropy))
    selected = at.q[..., :s]
    own = 0.5 * total(selected * selected)
    if p.norm:
        size, root = float(np.linalg.norm(q)), float(np.sqrt(2.0 * p.r[0]))
        charged = root * size if p.norm > 0 else value * max(1.0 - root / max(size, 1e-300), 0.0)
        value -= charged
        own = own / mu[0] + mu[0] * p.r[0] if p.norm > 0 else 0.0
    else:
        value = value - charged - total(mu * p.r)
    keep(best, feasible, value, alpha, mu)
    # Far from feasible q is not that of alpha, whose dual value is smaller than that of the iterate.
    charged = charged - own - total(at.x[..., 2 * n : 2 * n + f])
    gap: Number = total(at.x * at.z) + np.where(feasible, np.maximum(charged, 0.0), 0.0)
    if p.entropy:
        margins = across(at.hyperplane, p.A) - at.z[..., :n] + at.z[..., n : 2 * n]
        gap = gap + total(dual_gaps(x, margins, p.caps, p.gamma, p.entropy))
    return gap


class System(NamedTuple):
    """The linear system of a step at an iterate, with the residuals of the optimality conditions.

    Attributes
    ----------
    margin, linear, weight, cone, box, left : the residuals m, (l, l_b), p, k, d and f of the module.
    ratio, inverse_h, slope, delta, theta, G : rho / v, 1 / h, sigma q / h, Delta, Theta and G.
    reduced : the system that is left.
    """

    margin: Vector
    linear: Vector
    weight: Vector
    cone: Vector
    box: Vector
    left: Vector
    ratio: Vector
    inverse_h: Vector
    slope: Vector
    delta: Vector
    theta: Vector
    G: Matrix
    reduced: Any


def system(p: NodeArrays, at: InteriorPoint) -> System:
    """Return the system of a step."""
    n, s, F, f, k = sizes(p)
    alpha, rest, rho, sigma, mu = split(at.x, n, f)
    z, xi, v, slack, t = split(at.z, n, f)
    q, w = at.q[..., s:], at.hyperplane[..., :F]
    score = across(at.hyperplane, p.A)
    theta, margin = of_sample(alpha, rest, z, xi, score, p.caps, p.gamma, p.entropy)
    linear = times(p.A, alpha)
    linear[..., :F] += p.q - at.q
    linear[..., F:] += p.balance
    weight, delta = w - at.q, np.ones_like(at.q)
    G, S = np.zeros((k, F + 1)), np.zeros((k, k))
    cone = box = ratio = inverse_h = slope = share = rho
    if f:
        weight[..., s:] = w[..., s:] - sigma * q
        cone, box = rho + mu @ p.R + p.lam - 0.5 * q * q - slack, 1.0 - sigma - v
        ratio, inverse_h, slope, delta[..., s:], share = of_feature(rho, sigma, v, slack, q)
    if k:
        G[:, s:F] = p.R * (slope * delta[s:])
        S = (p.R * share) @ p.R.T + np.diag(t / mu)
    left = p.r - sigma @ p.R.T - t
    if p.norm:
        delta[:], weight, G[0, :F], S, left = of_norm(p, at, float(mu[0]), float(t[0]))
    reduced = reduced_system(p.A, theta, delta, G, S)
    if p.norm and not reduced.regular:
        # Features that depend on each other, and gamma next to 0. Of samples of norm 1 the trace is theta's sum.
        reduced = reduced_system(p.A, theta, np.maximum(delta, RIDGE * float(theta.sum())), G, S)
    return System(margin, linear, weight, cone, box, left, ratio, inverse_h, slope, delta, theta, G, reduced)


def of_norm(p: NodeArrays, at: InteriorPoint, m: float, t: float) -> tuple[float, Vector, Vector, Matrix, Vector]:
    """Return Delta, residual of w, G, S and residual of mu, for gamma w = q of a ball (gamma = m) or a norm (1 / m)."""
    w = at.hyperplane[:-1]
    if p.norm > 0:
        return m, w - at.q / m, w, np.full((1, 1), t / m), p.r - 0.5 * float(w @ w) - t
    square, weight = float(at.q @ at.q), w - m * at.q
    left = 0.5 * square + t - p.r + float(at.q @ weight) / m
    return 1.0 / m, weight, -at.q / m, np.full((1, 1), -(t + square) / m), left


def split(x: Vector, n: int, f: int) -> tuple[Vector, Vector, Vector, Vector, Vector]:
    """Return the parts of x: of the bounds of alpha, of rho, of sigma and of mu."""
    m = 2 * n + 2 * f
    return x[..., :n], x[..., n : 2 * n], x[..., 2 * n : 2 * n + f], x[..., 2 * n + f : m], x[..., m:]


Direction = tuple[Vector, Vector, Vector, Vector, Number]
"""Steps of x, z, q and (w, b), and the largest length at which x and z are not negative."""


def direction(p: NodeArrays, at: InteriorPoint, of: System, aim: Number, d_x: Vector, d_z: Vector) -> Direction:
    """Return the step to complementary products xz + d_x d_z of an aim, as :data:`Direction` says."""
    n, s, F, f, _ = sizes(p)
    target = aim - at.x * at.z - d_x * d_z
    wanted = target / at.x
    e, right = of.weight.copy(), of.linear.copy()
    missing = of.left - (-1.0 if p.norm < 0 else 1.0) * wanted[..., 2 * n + 2 * f :]
    if f:
        sigma, v = at.x[..., 2 * n + f : 2 * n + 2 * f], at.z[..., 2 * n : 2 * n + f]
        _, _, to_rho, to_sigma, _ = split(target, n, f)
        first, second = before(to_rho, to_sigma, v, sigma, of.ratio, of.box, of.cone, of.inverse_h)
        e[..., s:] -= at.q[..., s:] * second
        missing = missing - (second + of.slope * e[..., s:] * of.delta[..., s:]) @ p.R.T
    right[..., :F] -= e * of.delta
    shift = of.margin + wanted[..., :n] - wanted[..., n : 2 * n]
    d_alpha, hyperplane, d_mu = steps(of.reduced, p.A, of.theta, of.G, shift, right, missing)
    d_q, parts = hyperplane[..., :F] + e, [d_alpha, -d_alpha]
    if p.norm:
        d_q = of.delta * d_q + d_mu @ of.G[:, :-1]
    if f:
        d_q[..., s:], d_sigma, d_rho = after(
            d_q[..., s:], d_mu @ p.R, first, second, sigma, of.ratio, of.inverse_h, of.slope, of.delta[..., s:]
        )
        parts += [d_rho, d_sigma]
    d_x = np.concatenate([*parts, d_mu], axis=-1)
    relative = d_x / at.x
    d_z = wanted - at.z * relative
    fall = np.minimum(lowest(relative), lowest(d_z / at.z))
    return d_x, d_z, d_q, hyperplane, longest(fall)


@inner
def step(p: NodeArrays, at: InteriorPoint) -> Any:
    """Take a predictor-corrector step; return whether there was one."""
    of, none = system(p, at), np.zeros_like(at.x)
    if not of.reduced.regular:
        return False
    mean = total(at.x * at.z) / at.x.shape[-1]
    d = direction(p, at, of, 0.0, none, none)
    left = after_step(at, d[0], d[1], np.minimum(d[4], 1.0))
    aim = np.maximum(mean * np.minimum(1.0, left / mean) ** 3, CENTERING * mean)
    d = direction(p, at, of, aim, d[0], d[1])
    if d[4] < 0.1:  # the second-order term misleads: a plain, well centred step
        d = direction(p, at, of, 0.3 * mean, none, none)
    length = np.minimum(1.0, BOUNDARY * d[4])
    return advance(at, d, length, (length > 1e-8) & (length <= 1.0), p.caps)


def after_step(at: InteriorPoint, d_x: Vector, d_z: Vector, length: Number) -> Number:
    """Return the mean of the complementary products after a step of a length."""
    return total((at.x + length * d_x) * (at.z + length * d_z)) / at.x.shape[-1]


def advance(at: InteriorPoint, d: Direction, length: Number, moved: Any, caps: Vector) -> Any:
    """Take a step of a length where the iterate is to move; return whether it is."""
    if moved:
        for x, d_x in zip(at, d, strict=False):
            x += length * d_x
        # C - alpha is a variable of its own in the step, and the difference here: no rounding errors add up.
        n = len(caps)
        at.x[..., n : 2 * n] = np.maximum(caps - at.x[..., :n], 1e-300)
    return moved
