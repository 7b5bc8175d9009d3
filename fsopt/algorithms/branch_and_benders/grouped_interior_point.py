r"""Interior point for the relaxation of a node whose features form groups, or whose weights have bounds.

The notation is that of :mod:`fsopt.algorithms.branch_and_benders.interior_point`, with a share :math:`\sigma_g` and a
multiplier :math:`\rho_g` of each free group g. A bound :math:`\beta_k` on the weight of a column,
:math:`\epsilon_k (w - \beta_k \sigma_g) \ge 0` with :math:`\epsilon_k` 1 for a lower and -1 for an upper bound, has a
multiplier :math:`s_k \ge 0`, which enters as a sample of that column alone:

.. math::

    q = q^0 + Z'\alpha + E s, \qquad \rho_g \ge \sum_{j \in g} \tfrac12 q_j^2 - \sum_{k \in g} \epsilon_k \beta_k s_k
    - \lambda_g - R_g'\mu, \qquad \tfrac12 q_j^2 - \epsilon\beta s \text{ at its smallest s being } h_j(q_j - (Es)_j).

Newton's step has, with the slacks :math:`a_k` of these bounds and :math:`S = s/a`, for the weights and the shares

.. math::

    \Big(\frac1\sigma + \sum_k S\Big) dw - \Big(\frac q\sigma + \sum_k S\beta\Big) d\sigma - Z'd\alpha &=
    \ell + \sum_k \epsilon \Big(\frac{\tau^s}{a} - S e\Big) - \frac p\sigma, \\
    H d\sigma - \sum_j \Big(\frac q\sigma + \sum_k S\beta\Big) dw + R'd\mu &= \frac{\tau^\sigma}\sigma - k -
    \frac{\tau^\rho - \rho d}{v} + \sum_j \frac{q p}{\sigma} - \sum_k \epsilon\beta\Big(\frac{\tau^s}{a} - S e\Big), \\
    H &= \frac\rho v + \frac{\text{slack}}{\sigma} + \sum_j \frac{q^2}{\sigma} + \sum_k S \beta^2,

where e is the residual of the slacks. The shares are eliminated: what is left is the system of
:mod:`fsopt.algorithms.branch_and_benders.reduced_system`, whose matrix of the weights has a block for each group.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from fsopt.algorithms.branch_and_benders.columns import Columns
from fsopt.algorithms.branch_and_benders.reduced_system import Reduced, by_features, steps_by_features
from fsopt.algorithms.branch_and_benders.relaxation import NodeRelaxation, cold
from fsopt.algorithms.branch_and_benders.step_formulas import balance
from fsopt.data.losses import dual_curvature, dual_gaps, dual_slopes, dual_values
from fsopt.errors import OutOfTimeError
from fsopt.typing import Indices, Matrix, Vector

ITERATIONS = 100
"""Largest number of steps."""
BOUNDARY = 0.99
"""Share of the largest step that keeps the variables positive."""
CENTERING = 1e-4
"""Smallest share of the complementarity that a step aims at."""
PAIRS = ("alpha", "rest", "rho", "sigma", "s", "mu")
"""The variables whose products with their partners go to 0."""


@dataclass
class Iterate:
    """An iterate: variables and the partners of complementary pairs, q, and the hyperplane (w, b)."""

    x: dict[str, Vector]
    z: dict[str, Vector]
    q: Vector
    hyperplane: Vector


@dataclass
class GroupedInteriorPoint:
    """The steps of a program.

    Attributes
    ----------
    program : of a node, with ``columns``.
    at : the iterate.
    bound, alpha, mu : the largest dual value so far, and its multipliers.
    """

    program: NodeRelaxation
    at: Iterate = field(init=False)
    bound: float = -np.inf
    alpha: Vector = field(init=False)
    mu: Vector = field(init=False)

    def __post_init__(self) -> None:
        p, first = self.program, cold(self.program)
        n, d, f, k = p.shape
        parts = dict(zip(PAIRS[:4], np.split(first.x, (n, 2 * n, 2 * n + f, 2 * n + 2 * f))[:4], strict=True))
        partners = dict(zip(PAIRS[:4], np.split(first.z, (n, 2 * n, 2 * n + f, 2 * n + 2 * f))[:4], strict=True))
        product = float(first.x[0] * first.z[0]) if n else 1.0
        parts |= {"s": np.full(len(self.column), product), "mu": first.x[2 * n + 2 * f :]}
        partners |= {"s": np.ones(len(self.column)), "mu": first.z[2 * n + 2 * f :]}
        self.at = Iterate(parts, partners, np.zeros(d), np.zeros(d + 1))
        self.alpha, self.mu = np.zeros(n), np.zeros(k)

    @cached_property
    def columns(self) -> Columns:
        """Groups and bounds of the columns."""
        assert self.program.columns is not None
        return self.program.columns

    @cached_property
    def _bounds(self) -> tuple[Indices, Vector, Vector]:
        lower, upper = self.columns.bounds.lower, self.columns.bounds.upper
        low, high = np.flatnonzero(np.isfinite(lower)), np.flatnonzero(np.isfinite(upper))
        signs = np.append(np.ones(len(low)), -np.ones(len(high)))
        return np.append(low, high), signs, np.append(lower[low], upper[high])

    @property
    def column(self) -> Indices:
        """The column of each bound."""
        return self._bounds[0]

    def of_columns(self, values: Vector) -> Vector:
        """Return the sums (d,) of numbers of the bounds over the bounds of each column."""
        return np.bincount(self.column, values, minlength=len(self.columns.of))

    def each(self, sigma: Vector) -> Vector:
        """Return the share (d,) of each column, 1 of those selected."""
        return np.append(sigma, 1.0)[self.columns.of]

    def run(self, gap: float, cutoff: float, branch: float) -> None:
        """Take steps until the gap is closed, the cutoff reached, or none makes progress."""
        # A bound on the number of steps: numerical trouble ends a run with the best bound so far.
        for k in range(ITERATIONS):
            moved = self.step()
            if moved and k < 2:
                continue
            left = self.open_gap()
            if left <= gap * max(abs(self.bound), 1e-12) or not moved or self.bound >= cutoff:
                return
            if branch > 0.0 and left <= branch * (cutoff - max(self.bound, 0.0)):
                return

    def open_gap(self) -> float:
        """Return the duality gap at the iterate, and keep the largest dual value."""
        p, at, term = self.program, self.at, self.program.arrays
        plus = term.A[-1] > 0.0
        alpha = np.clip(at.x["alpha"], 0.0, term.caps)
        up, down = float(alpha[plus].sum()), float(alpha[~plus].sum())
        on_plus, on_minus, feasible = balance(up, down, p.balance)
        alpha *= np.where(plus, on_plus, on_minus)
        mu = at.x["mu"]
        halves = self.columns.bounds.conjugate(p.q + term.A[:-1] @ alpha)
        selected = self.columns.of < 0
        charged = float(halves[selected].sum())
        charged += float(np.maximum(self.columns.sums(halves) - p.lam - mu @ p.R, 0.0).sum())
        terms = dual_values(alpha, term.caps, term.gamma, term.entropy)
        value = p.constant + float(terms.sum()) - charged - float(mu @ p.r)
        if feasible and value > self.bound:
            self.bound, self.alpha, self.mu = value, alpha, mu.copy()
        # Far from feasible q is not that of alpha, whose dual value is smaller than that of the iterate.
        _, signs, bounds = self._bounds
        own = 0.5 * at.q * at.q - self.of_columns(signs * bounds * at.x["s"])
        excess = charged - float(own[selected].sum()) - float(at.x["rho"].sum())
        gap = sum(float(at.x[name] @ at.z[name]) for name in PAIRS) + (max(excess, 0.0) if feasible else 0.0)
        if term.entropy:
            margins = at.hyperplane @ term.A - at.z["alpha"] + at.z["rest"]
            gap += float(dual_gaps(at.x["alpha"], margins, term.caps, term.gamma, term.entropy).sum())
        return gap

    def step(self) -> bool:
        """Take a predictor-corrector step; return whether there was one."""
        of = _System.of(self)
        if not of.reduced.regular:
            return False
        size = sum(len(self.at.x[name]) for name in PAIRS)
        mean = sum(float(self.at.x[name] @ self.at.z[name]) for name in PAIRS) / size
        zero = {name: np.zeros_like(v) for name, v in self.at.x.items()}
        first = of.direction(self, 0.0, zero, zero)
        left = 0.0
        for name in PAIRS:
            ends = (v[name] + min(first.length, 1.0) * d[name] for v, d in ((self.at.x, first.x), (self.at.z, first.z)))
            left += float(np.dot(*ends)) / size
        aim = max(mean * min(1.0, left / mean) ** 3, CENTERING * mean)
        d = of.direction(self, aim, first.x, first.z)
        if d.length < 0.1:  # the second-order term misleads: a plain, well centred step
            d = of.direction(self, 0.3 * mean, zero, zero)
        length = min(1.0, BOUNDARY * d.length)
        if not 1e-8 < length <= 1.0:
            return False
        for name in PAIRS:
            self.at.x[name] = self.at.x[name] + length * d.x[name]
            self.at.z[name] = self.at.z[name] + length * d.z[name]
        self.at.x["rest"] = np.maximum(self.program.arrays.caps - self.at.x["alpha"], 1e-300)
        self.at.q = self.at.q + length * d.q
        self.at.hyperplane = self.at.hyperplane + length * d.hyperplane
        return True


@dataclass
class _Direction:
    """A step, and the largest length at which nothing is negative."""

    x: dict[str, Vector]
    z: dict[str, Vector]
    q: Vector
    hyperplane: Vector
    length: float


@dataclass
class _System:
    """The linear system of a step at an iterate, with the residuals of the optimality conditions."""

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
    curved: Vector
    G: Matrix
    reduced: Reduced

    @classmethod
    def of(cls, run: GroupedInteriorPoint) -> _System:
        """Return the system at the iterate of a run."""
        p, at, groups, term = run.program, run.at, run.columns, run.program.arrays
        x, z = at.x, at.z
        column, signs, bounds = run._bounds
        w, share, q = at.hyperplane[:-1], run.each(x["sigma"]), at.q
        curvature = dual_curvature(x["alpha"], term.caps, term.gamma, term.entropy)
        theta = 1.0 / (z["alpha"] / x["alpha"] + z["rest"] / x["rest"] + curvature)
        slopes = dual_slopes(x["alpha"], term.caps, term.gamma, term.entropy)
        margin = slopes - at.hyperplane @ term.A + z["alpha"] - z["rest"]
        linear = term.A @ x["alpha"]
        linear[:-1] += p.q - q + run.of_columns(signs * x["s"])
        linear[-1] += p.balance
        own = 0.5 * q * q - run.of_columns(signs * bounds * x["s"])
        stiff = x["s"] / z["s"]
        steep, bend = run.of_columns(stiff), run.of_columns(stiff * bounds)
        slope = q / share + bend
        curved = x["rho"] / z["rho"] + z["sigma"] / x["sigma"]
        curved += groups.sums(q * q / share + run.of_columns(stiff * bounds * bounds))
        free = groups.of >= 0
        delta = np.diag(1.0 / share + steep)
        along = np.where(free, slope / np.append(np.sqrt(curved), 1.0)[groups.of], 0.0)
        delta -= np.where(groups.of[:, None] == groups.of, np.outer(along, along), 0.0)
        G = np.zeros((len(p.r), len(q) + 1))
        if len(p.r):
            G[:, :-1] = np.where(free, np.pad(p.R / curved, ((0, 0), (0, 1)))[:, groups.of] * slope, 0.0)
        S = (p.R / curved) @ p.R.T + np.diag(z["mu"] / x["mu"])
        return cls(
            margin,
            linear,
            w - share * q,
            x["rho"] + x["mu"] @ p.R + p.lam - groups.sums(own) - z["sigma"],
            1.0 - x["sigma"] - z["rho"],
            p.r - p.R @ x["sigma"] - z["mu"],
            signs * (w[column] - bounds * share[column]) - z["s"],
            theta,
            share,
            slope,
            curved,
            G,
            by_features(term.A, theta, delta, G, S),
        )

    def direction(
        self, run: GroupedInteriorPoint, aim: float, d_x: dict[str, Vector], d_z: dict[str, Vector]
    ) -> _Direction:
        """Return the step to complementary products xz + d_x d_z of an aim."""
        p, at, groups = run.program, run.at, run.columns
        x, z = at.x, at.z
        column, signs, bounds = run._bounds
        target = {name: aim - x[name] * z[name] - d_x[name] * d_z[name] for name in PAIRS}
        pull = (target["s"] - x["s"] * self.bound) / z["s"]
        lifted = (target["rho"] - x["rho"] * self.box) / z["rho"]
        wanted = target["sigma"] / x["sigma"] - self.cone - lifted
        wanted += groups.sums(at.q * self.weight / self.share - run.of_columns(signs * bounds * pull))
        right = self.linear.copy()
        push = run.of_columns(signs * pull) - self.weight / self.share
        free = groups.of >= 0
        right[:-1] += push + np.where(free, self.slope * np.append(wanted / self.curved, 0.0)[groups.of], 0.0)
        shift = self.margin + target["alpha"] / x["alpha"] - target["rest"] / x["rest"]
        missing = self.left - target["mu"] / x["mu"] - p.R @ (wanted / self.curved)
        d_alpha, hyperplane, d_mu = steps_by_features(
            self.reduced, p.arrays.A, self.theta, self.G, shift, right, missing
        )
        d_w = hyperplane[:-1]
        d_sigma = (wanted + groups.sums(self.slope * d_w) - d_mu @ p.R) / self.curved
        d_share = np.append(d_sigma, 0.0)[groups.of]
        found: dict[str, Any] = {"alpha": d_alpha, "rest": -d_alpha, "sigma": d_sigma, "mu": d_mu}
        found["rho"] = lifted + x["rho"] / z["rho"] * d_sigma
        found["s"] = pull - x["s"] / z["s"] * signs * (d_w[column] - bounds * d_share[column])
        partners = {name: (target[name] - z[name] * found[name]) / x[name] for name in PAIRS}
        falls = [part / whole for d, v in ((found, x), (partners, z)) for part, whole in zip(d.values(), map(v.get, d))]
        fall = min(float(one.min(initial=0.0)) for one in falls)
        d_q = (d_w + self.weight - at.q * d_share) / self.share
        return _Direction(found, partners, d_q, hyperplane, -1.0 / min(fall, -1e-300))


def solve(program: NodeRelaxation, gap: float, cutoff: float, branch: float) -> tuple[GroupedInteriorPoint, bool]:
    """Solve the relaxation of a node as far as asked; return the run, and whether the time limit ended it."""
    run = GroupedInteriorPoint(program)
    try:
        run.run(gap, cutoff, branch)
    except OutOfTimeError:
        run.open_gap()
        return run, True
    return run, False
