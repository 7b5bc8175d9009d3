r"""Interior point for the relaxation of a node whose features form groups, or whose weights have bounds.

The notation is that of :mod:`fsopt.search.branch_and_benders.interior_point`, with a share :math:`\sigma_g` and a
multiplier :math:`\rho_g` of each free group g. A bound :math:`\beta_k` on the weight of a column,
:math:`\epsilon_k (w - \beta_k \sigma_g) \ge 0` with :math:`\epsilon_k` 1 for a lower and -1 for an upper bound, has a
multiplier :math:`s_k \ge 0`, which enters as a sample of that column alone:

.. math::

    q = q^0 + Z'\alpha + E s, \qquad \rho_g \ge \sum_{j \in g} \tfrac12 q_j^2 - \sum_{k \in g} \epsilon_k \beta_k s_k
    - \lambda_g - R_g'\mu.

The smallest :math:`\tfrac12 q_j^2 - \sum_k \epsilon_k \beta_k s_k` over s is :math:`h_j(q_j - (Es)_j)`, of
:mod:`fsopt.search.branch_and_benders.columns`. Newton's step has, with the slacks :math:`a_k` of these bounds and
:math:`S = s/a`, for the weights and the shares

.. math::

    \Big(\frac1\sigma + \sum_k S\Big) dw - \Big(\frac q\sigma + \sum_k S\beta\Big) d\sigma - Z'd\alpha &=
    \ell + \sum_k \epsilon \Big(\frac{\tau^s}{a} - S e\Big) - \frac p\sigma, \\
    H d\sigma - \sum_j \Big(\frac q\sigma + \sum_k S\beta\Big) dw + R'd\mu &= \frac{\tau^\sigma}\sigma - k -
    \frac{\tau^\rho - \rho d}{v} + \sum_j \frac{q p}{\sigma} - \sum_k \epsilon\beta\Big(\frac{\tau^s}{a} - S e\Big), \\
    H &= \frac\rho v + \frac{\text{slack}}{\sigma} + \sum_j \frac{q^2}{\sigma} + \sum_k S \beta^2,

where e is the residual of the slacks. The shares are eliminated: what is left is the system of
:mod:`fsopt.search.branch_and_benders.reduced_system`, whose matrix of the weights has a block for each group.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fsopt.data.losses import dual_gaps, dual_values
from fsopt.errors import OutOfTimeError
from fsopt.search.branch_and_benders.interior_point import BOUNDARY, CENTERING, ITERATIONS, Direction, Goal, Solved
from fsopt.search.branch_and_benders.reduced_system import Reduced, by_features, steps_by_features
from fsopt.search.branch_and_benders.relaxation import InteriorPoint, NodeRelaxation, cold
from fsopt.search.branch_and_benders.stacks import balance, longest, of_sample
from fsopt.typing import Indices, Matrix, Vector


class GroupedInteriorPoint:
    """The steps of a program, from a point without knowledge of another node.

    Attributes
    ----------
    program : of a node, with ``columns``.
    at : the iterate; its x and z have the pairs of s, after those of sigma.
    bound, alpha, mu : the largest dual value so far, and its multipliers.
    """

    def __init__(self, program: NodeRelaxation) -> None:
        assert program.columns is not None
        self.program, self.columns = program, program.columns
        at = cold(program)
        n, d, f, k = program.shape
        column, signs, ends = self.bounds
        x, z = (np.insert(part, [2 * n + 2 * f] * len(ends), 1.0) for part in at[:2])
        self.ends = np.cumsum([n, n, f, f, len(ends)])
        # A bound that is far from w = 0 is as far from active.
        away = self.split(z)[4]
        away[:] = np.maximum(away, -signs * ends * self.each(self.split(x)[3], 1.0)[column])
        self.split(x)[4][:] = x[0] * z[0] / away
        self.at = InteriorPoint(x, z, np.zeros(d), np.zeros(d + 1))
        self.bound = -np.inf
        self.alpha, self.mu = np.zeros(n), np.zeros(k)

    @cached_property
    def bounds(self) -> tuple[Indices, Vector, Vector]:
        """Column, epsilon and beta of each bound."""
        lower, upper = self.columns.bounds.lower, self.columns.bounds.upper
        low, high = np.flatnonzero(np.isfinite(lower)), np.flatnonzero(np.isfinite(upper))
        signs = np.append(np.ones(len(low)), -np.ones(len(high)))
        return np.append(low, high), signs, np.append(lower[low], upper[high])

    def split(self, x: Vector) -> list[Vector]:
        """Return the parts of x: of alpha, of its upper bounds, of rho, sigma, s and mu."""
        return np.split(x, self.ends)

    def of_columns(self, values: Vector) -> Vector:
        """Return the sums (d,) of numbers of the bounds over the bounds of each column."""
        return np.asarray(np.bincount(self.bounds[0], values, minlength=len(self.columns.of)), dtype=float)

    def each(self, values: Vector, selected: float = 0.0) -> Vector:
        """Return the number (d,) of the group of each column, another one for those that are selected."""
        return np.append(values, selected)[self.columns.of]

    def run(self, goal: Goal) -> None:
        """Take steps until the goal is reached or none makes progress."""
        # A bound on the number of steps: numerical trouble ends a run with the best bound so far.
        for k in range(ITERATIONS):
            moved = self.step()
            if moved and k < 2:
                continue
            left = self.open_gap()
            if left <= goal.gap * max(abs(self.bound), 1e-12) or not moved or self.bound >= goal.cutoff:
                return
            if goal.branch > 0.0 and left <= goal.branch * (goal.cutoff - max(self.bound, 0.0)):
                return

    def open_gap(self) -> float:
        """Return the duality gap at the iterate, and keep the largest dual value."""
        p, at = self.program, self.at
        term, columns = p.arrays, self.columns
        x, z = self.split(at.x), self.split(at.z)
        plus = term.A[-1] > 0.0
        alpha = np.clip(x[0], 0.0, term.caps)
        up, down = float(alpha[plus].sum()), float(alpha[~plus].sum())
        on_plus, on_minus, feasible = balance(up, down, p.balance)
        alpha *= np.where(plus, on_plus, on_minus)
        halves = columns.bounds.conjugate(p.q + term.A[:-1] @ alpha)
        selected, mu = columns.of < 0, x[5].copy()
        charged = float(halves[selected].sum())
        charged += float(np.maximum(columns.sums(halves) - p.lam - mu @ p.R, 0.0).sum())
        terms = dual_values(alpha, term.caps, term.gamma, term.entropy)
        value = p.constant + float(terms.sum()) - charged - float(mu @ p.r)
        if feasible and value > self.bound:
            self.bound, self.alpha = value, alpha
            self.mu = mu
        # Far from feasible q is not that of alpha, whose dual value is smaller than that of the iterate.
        excess = charged - float(self._own()[selected].sum()) - float(x[2].sum())
        gap = float(at.x @ at.z) + (max(excess, 0.0) if feasible else 0.0)
        if term.entropy:
            margins = at.hyperplane @ term.A - z[0] + z[1]
            gap += float(dual_gaps(x[0], margins, term.caps, term.gamma, term.entropy).sum())
        return gap

    def _own(self) -> Vector:
        """Return what each column (d,) takes by the q of the iterate and the multipliers of its bounds."""
        _, signs, ends = self.bounds
        return np.asarray(0.5 * self.at.q * self.at.q - self.of_columns(signs * ends * self.split(self.at.x)[4]))

    def step(self) -> bool:
        """Take a predictor-corrector step; return whether there was one."""
        at, of = self.at, self.system()
        if not of.reduced.regular:
            return False
        mean, none = float(at.x @ at.z) / len(at.x), np.zeros_like(at.x)
        d = self.direction(of, 0.0, none, none)
        length = min(d[4], 1.0)
        left = float((at.x + length * d[0]) @ (at.z + length * d[1])) / len(at.x)
        aim = max(mean * min(1.0, left / mean) ** 3, CENTERING * mean)
        d = self.direction(of, aim, d[0], d[1])
        if d[4] < 0.1:  # the second-order term misleads: a plain, well centred step
            d = self.direction(of, 0.3 * mean, none, none)
        length = min(1.0, BOUNDARY * d[4])
        if not 1e-8 < length <= 1.0:
            return False
        for part, change in zip(at, d[:4], strict=True):
            part += length * change
        # C - alpha is a variable of its own in the step, and the difference here: no rounding errors add up.
        alpha, rest, *_ = self.split(at.x)
        rest[:] = np.maximum(self.program.arrays.caps - alpha, 1e-300)
        return True

    def system(self) -> System:
        """Return the system of a step."""
        p, at = self.program, self.at
        term = p.arrays
        alpha, rest, rho, sigma, s, mu = self.split(at.x)
        z, xi, v, slack, a, t = self.split(at.z)
        column, signs, ends = self.bounds
        w, share = at.hyperplane[:-1], self.each(sigma, 1.0)
        q = at.q
        score = at.hyperplane @ term.A
        theta, margin = of_sample(alpha, rest, z, xi, score, term.caps, term.gamma, term.entropy)
        linear = term.A @ alpha
        linear[:-1] += p.q - q + self.of_columns(signs * s)
        linear[-1] += p.balance
        stiff = s / a
        slope = q / share + self.of_columns(stiff * ends)
        curved = q * q / share + self.of_columns(stiff * ends * ends)
        inverse = 1.0 / (rho / v + slack / sigma + self.columns.sums(curved))
        along = slope * self.each(inverse)
        delta = np.diag(1.0 / share + self.of_columns(stiff))
        delta -= np.where(self.columns.of[:, None] == self.columns.of, np.outer(along, slope), 0.0)
        G = np.zeros((len(mu), len(linear)))
        G[:, :-1] = np.pad(p.R, ((0, 0), (0, 1)))[:, self.columns.of] * along
        S = (p.R * inverse) @ p.R.T + np.diag(t / mu)
        cone = rho + mu @ p.R + p.lam - self.columns.sums(self._own()) - slack
        bound = signs * (w[column] - ends * share[column]) - a
        reduced = by_features(term.A, theta, delta, G, S)
        left = p.r - p.R @ sigma - t
        return System(
            margin, linear, w - share * q, cone, 1.0 - sigma - v, left, bound, theta, share, slope, inverse, G, reduced
        )

    def direction(self, of: System, aim: float, d_x: Vector, d_z: Vector) -> Direction:
        """Return the step to complementary products xz + d_x d_z of an aim."""
        p, at = self.program, self.at
        columns = self.columns
        alpha, rest, rho, sigma, s, mu = self.split(at.x)
        v, a = self.split(at.z)[2], self.split(at.z)[4]
        column, signs, ends = self.bounds
        target = aim - at.x * at.z - d_x * d_z
        to_alpha, to_rest, to_rho, to_sigma, to_s, to_mu = self.split(target)
        pull = (to_s - s * of.bound) / a
        lifted = (to_rho - rho * of.box) / v
        weight = of.weight / of.share
        wanted = to_sigma / sigma - of.cone - lifted
        wanted = (wanted + columns.sums(at.q * weight - self.of_columns(signs * ends * pull))) * of.inverse
        right = of.linear.copy()
        right[:-1] += self.of_columns(signs * pull) - weight + of.slope * self.each(wanted)
        shift = of.margin + to_alpha / alpha - to_rest / rest
        missing = of.left - to_mu / mu - p.R @ wanted
        d_alpha, hyperplane, d_mu = steps_by_features(of.reduced, p.arrays.A, of.theta, of.G, shift, right, missing)
        d_w = hyperplane[:-1]
        d_sigma = wanted + (columns.sums(of.slope * d_w) - d_mu @ p.R) * of.inverse
        d_share = self.each(d_sigma)
        d_s = pull - s / a * signs * (d_w[column] - ends * d_share[column])
        step = np.concatenate([d_alpha, -d_alpha, lifted + rho / v * d_sigma, d_sigma, d_s, d_mu])
        relative = step / at.x
        d_z = target / at.x - at.z * relative
        fall = min(float(relative.min()), float((d_z / at.z).min()))
        d_q = (d_w + of.weight - at.q * d_share) / of.share
        return step, d_z, d_q, hyperplane, float(longest(fall))


@dataclass(frozen=True)
class System:
    """The linear system of a step at an iterate, with the residuals of the optimality conditions.

    Attributes
    ----------
    margin, linear, weight, cone, box, left, bound : the residuals m, (l, l_b), p, k, d, f and e of the module.
    theta, share, slope, inverse, G : Theta, sigma and q / sigma + sum S beta of each column, 1 / H, and G.
    reduced : the system that is left.
    """

    margin: Vector
    linear: Vector
    weight: Vector
    cone: Vector
    box: Vector
    left: Vector
    bound: Vector
    theta: Vector
    share: Vector
    slope: Vector
    inverse: Vector
    G: Matrix
    reduced: Reduced


def solve(program: NodeRelaxation, goal: Goal) -> Solved | None:
    """Solve the relaxation of a node as :func:`fsopt.search.branch_and_benders.interior_point.solve` does."""
    run, late = GroupedInteriorPoint(program), False
    try:
        run.run(goal)
    except OutOfTimeError:
        late = True
        run.open_gap()
    if run.bound == -np.inf:
        return None
    hyperplane, sigma = run.at.hyperplane, run.split(run.at.x)[3]
    return Solved(run.alpha, run.mu, hyperplane[:-1], float(hyperplane[-1]), sigma, run.bound, late)
