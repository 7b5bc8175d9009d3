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

:mod:`fsopt.search.branch_and_benders.newton` has the conditions of optimality, with groups of columns and bounds on
their weights, and the linear system of a step. Targets are those of the predictor-corrector method (Mehrotra, "On the
implementation of a primal-dual interior point method", SIAM Journal on Optimization 2, 1992). Each step looks at the
clock, and a long one within its factorisation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fsopt.common import clock
from fsopt.data.hyperplanes import dual_curvature, dual_gaps, dual_slopes, dual_values
from fsopt.errors import OutOfTimeError
from fsopt.search.branch_and_benders.newton import direction, system
from fsopt.search.branch_and_benders.relaxation import (
    Floats,
    InteriorPoint,
    NodeRelaxation,
    Number,
    choice,
    cold,
    each,
    entry,
    fast,
    inner,
    sizes,
)
from fsopt.typing import Vector

for _function in (dual_slopes, dual_curvature, dual_gaps, dual_values):
    inner(_function)
LARGEST = 2**24
"""Multiplications of a step up to which it is compiled: larger ones look at the clock, and are BLAS anyway."""
ITERATIONS = 80
"""Largest number of steps."""
BOUNDARY = 0.99
"""Share of the largest step that keeps the variables positive."""
CENTERING = 1e-4
"""Smallest share of the complementarity that a step aims at."""


class Goal(NamedTuple):
    """When the interior point stops: at a relative gap, or at the lower bound, the cutoff, that prunes the node.

    With a gap below a share ``branch`` of the distance to the cutoff, and an optimum below it, the node is to be
    branched, and its bound needs no more digits; 0 for none.
    """

    gap: float
    cutoff: float = np.inf
    branch: float = 0.0


class NodeHyperplane(NamedTuple):
    """A hyperplane w (d,) and b, the shares sigma (p,) of the features and the multipliers alpha (n,), of a parent.

    In single precision alpha, and negative where only the hyperplane is known.
    """

    w: Vector
    b: float
    sigma: Vector
    alpha: Floats


class Solved(NamedTuple):
    """The best multipliers of a run, with their dual value, without a margin for rounding, and the last hyperplane.

    They are alpha (n,), balanced up to rounding, and mu (k,); late where the time limit ended the run.
    """

    alpha: Vector
    mu: Vector
    hyperplane: NodeHyperplane
    bound: float
    late: bool = False


def solve(program: NodeRelaxation, goal: Goal, start: InteriorPoint | None = None) -> Solved | None:
    """Solve the relaxation of a node until the goal is reached or no step makes progress; None without any bound."""
    p, at = program, cold(program) if start is None else start
    n, _, F, f, k = sizes(p)
    best = Best(np.full(1, -np.inf), np.zeros(n), np.zeros(k))
    plain = not p.norm and k <= 1 and p.columns is None
    small = plain and n > F and n * (F + 1) ** 2 <= LARGEST and not clock.expired()
    late = False
    try:
        with np.errstate(all="ignore"):  # a step that is not finite ends the run
            (fast(run) if small else run)(p, at, goal.gap, goal.cutoff, goal.branch, best)
    except OutOfTimeError:
        late = True
        open_gap(p, at, best)
    if best.bound[0] == -np.inf:
        return None
    sigma = at.x[2 * n + f : 2 * n + 2 * f].copy()
    hyperplane = NodeHyperplane(at.hyperplane[:-1], float(at.hyperplane[-1]), sigma, best.alpha)
    return Solved(best.alpha, best.mu, hyperplane, float(best.bound[0]), late)


class Best(NamedTuple):
    """The largest dual values so far (1,), their multipliers alpha (n,) and mu (k,)."""

    bound: Vector
    alpha: Vector
    mu: Vector


@entry
def run(p: NodeRelaxation, at: InteriorPoint, gap: float, cutoff: float, branch: float, best: Best) -> None:
    """Take steps until the goal is reached or none makes progress."""
    # A bound on the number of steps: numerical trouble ends a run with the best bound so far.
    for k in range(ITERATIONS):
        moved = step(p, at)
        if moved and k < 2:
            continue
        left = open_gap(p, at, best)
        bound = best.bound[0]
        if left <= gap * max(abs(bound), 1e-12) or not moved or bound >= cutoff:
            break
        if branch > 0.0 and left <= branch * (cutoff - max(bound, 0.0)):
            break


@inner
def open_gap(p: NodeRelaxation, at: InteriorPoint, best: Best) -> Number:
    """Return the duality gap at an iterate, and keep the largest dual value."""
    n, _, features, f, k = sizes(p)
    mu, classes = at.x[len(at.x) - k :], each(of_class, at.x[:n], p.caps, p.A[features])
    on_plus, on_minus, feasible = balance(classes[0].sum(), classes[1].sum(), p.balance)
    balanced = each(of_balance, classes[0], classes[1], on_plus, on_minus, p.caps, p.gamma, p.entropy)
    value = p.constant + balanced[1].sum() - (0.0 if p.norm else np.dot(mu, p.r))
    charged, own = charges(p, at, (p.A @ balanced[0])[:features] + p.q, value)
    value -= charged
    if feasible and value > best.bound[0]:
        best.bound[0], best.alpha[:] = value, balanced[0]
        best.mu[:] = mu
    # Far from feasible q is not that of alpha, whose dual value is smaller than that of the iterate.
    gap = np.dot(at.x, at.z) + (max(charged - own - at.x[2 * n : 2 * n + f].sum(), 0.0) if feasible else 0.0)
    if p.entropy:
        margins = at.hyperplane @ p.A - at.z[:n] + at.z[n : 2 * n]
        gap += each(of_gap, at.x[:n], margins, p.caps, p.gamma, p.entropy)[0].sum()
    return gap


@inner
def of_class(alpha: Number, caps: Number, label: Number) -> tuple[Number, Number]:
    """Return a multiplier within its bounds, for a sample of the first and of the second class."""
    within = np.minimum(np.maximum(alpha, 0.0), caps)
    return choice(label > 0.0, within, 0.0), choice(label > 0.0, 0.0, within)


@inner
def of_balance(
    plus: Number, minus: Number, on_plus: Number, on_minus: Number, caps: Number, gamma: Number, entropy: bool
) -> tuple[Number, Number]:
    """Return a balanced multiplier and its term."""
    alpha = on_plus * plus + on_minus * minus
    return alpha, dual_values(alpha, caps, gamma, entropy)


@inner
def of_gap(alpha: Number, margin: Number, caps: Number, gamma: Number, entropy: bool) -> tuple[Number]:
    """Return the part of a gap that is that of the loss of a sample."""
    return (dual_gaps(alpha, margin, caps, gamma, entropy),)


def charges(p: NodeRelaxation, at: InteriorPoint, q: Vector, value: float) -> tuple[Number, Number]:
    """Return what multipliers of a dual value pay for their products q, and how much of it the iterate says."""
    if p.norm:
        size, root = float(np.linalg.norm(q)), float(np.sqrt(2.0 * p.r[0]))
        if p.norm > 0:
            return root * size, 0.5 * (at.q @ at.q) / at.x[-1] + at.x[-1] * p.r[0]
        return value * max(1.0 - root / max(size, 1e-300), 0.0), 0.0
    if p.columns is None:
        return charges_alone(p, at, q, value)
    half, s = p.columns.bounds.conjugate(q), p.selected  # the selected columns are the first
    *_, pulls, mu = p.split(at.x)
    free = np.maximum(p.sums(half) - p.lam - mu @ p.R, 0.0)
    return half[:s].sum() + free.sum(), p.columns.charges(at.q, pulls)[:s].sum()


@inner
def charges_alone(p: NodeRelaxation, at: InteriorPoint, q: Vector, value: float) -> tuple[Number, Number]:
    """Return what :func:`charges` does, where each column is a feature of its own."""
    s, mu = p.selected, at.x[len(at.x) - len(p.r) :]
    free = np.maximum(0.5 * q[s:] ** 2 - p.lam - mu @ p.R, 0.0)
    return 0.5 * np.dot(q[:s], q[:s]) + free.sum(), 0.5 * np.dot(at.q[:s], at.q[:s])


@inner
def balance(up: Number, down: Number, balance: Number) -> tuple[Number, Number, bool]:
    """Return factors of the multipliers of both classes, whose sums are up and down, and whether these balance them."""
    least = min(up + balance, down)
    feasible = least >= 0.0 and least >= balance
    on_plus = min(max(least - balance, 0.0) / max(up, 1e-300), 1.0)
    return on_plus, max(least, 0.0) / max(down, 1e-300), feasible


@inner
def step(p: NodeRelaxation, at: InteriorPoint) -> bool:
    """Take a predictor-corrector step; return whether there was one."""
    of, still = system(p, at), np.zeros_like(at.q)
    none = np.zeros_like(at.x)
    if not of.regular:
        return False
    mean = np.dot(at.x, at.z) / len(at.x)
    d = direction(p, at, of, 0.0, none, none, still)
    length = min(d[4], 1.0)
    left = (1.0 - length) * mean + length * length * np.dot(d[0], d[1]) / len(at.x)  # as x d_z + z d_x = -x z
    aim = max(mean * min(1.0, left / mean) ** 3, CENTERING * mean)
    d = direction(p, at, of, aim, d[0], d[1], length * d[2])
    if d[4] < 0.1:  # the second-order term misleads: a plain, well centred step
        d = direction(p, at, of, 0.3 * mean, none, none, still)
    length = min(1.0, BOUNDARY * d[4])
    if not 1e-8 < length <= 1.0:
        return False
    at.x[:] += length * d[0]
    at.z[:] += length * d[1]
    at.q[:] += length * d[2]
    at.hyperplane[:] += length * d[3]
    # C - alpha is a variable of its own in the step, and the difference here: no rounding errors add up.
    n = len(p.caps)
    at.x[n : 2 * n] = np.maximum(p.caps - at.x[:n], 1e-300)
    return True
