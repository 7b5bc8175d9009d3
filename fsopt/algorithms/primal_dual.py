r"""Algorithm of primal-dual hybrid gradients: l1-hinge programs of large sparse data, by products with the samples.

An l1-hinge program is the saddle point problem

.. math:: \min_{w, b}\ \max_{0 \le \alpha \le d}\ \sum_j c_j |w_j| + \alpha'(1 - Zw - yb)

A step moves weights and multipliers by proximal gradients, with :math:`\tau\sigma \|(Z, y)\|^2 < 1`:

.. math::

    w^+ = S_{\tau c}(w + \tau Z'\alpha), \quad b^+ = b + \tau y'\alpha, \quad
    \alpha^+ = \Pi_{[0, d]}\big(\alpha + \sigma(1 - Z(2w^+ - w) - y(2b^+ - b))\big)

where S shrinks each entry towards 0 by its threshold. The means of the steps since the last restart converge, too; the
better point of the two, by its duality gap, is the next start as soon as it has a fraction of the gap of the last one.
A restart sets :math:`\sqrt{\tau/\sigma}` to the ratio of the distances that weights and multipliers went.

Source: Chambolle & Pock (2011) for the steps; Applegate et al. (2021) for restarts and the ratio.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fsopt.drivers.column_generation.l1_hinge_program import L1Hinge
from fsopt.typing import Vector

STEPS = 40
"""Steps between two looks at the gap, which cost as much as three of them."""
LESS = 0.4
"""Share of the gap at the last restart at which the next one comes."""
LONG = 0.36
"""Share of all steps since the last restart from which one comes anyway."""
LEAST = 200
"""Steps of such a restart at least."""
POWER = 30
"""Steps of the power method for the norm of (Z, y): it is found from below, for which the steps have a margin."""
MARGIN = 0.98
"""Share of the longest steps that are taken."""


@dataclass(frozen=True)
class Saddle:
    """A pair of a hyperplane and multipliers.

    Attributes
    ----------
    x : (p + 1,) the weights, then the intercept.
    alpha : (n,), between 0 and the weights d.
    """

    x: Vector
    alpha: Vector

    @property
    def w(self) -> Vector:
        """The weights (p,)."""
        return self.x[:-1]

    @property
    def b(self) -> float:
        """The intercept."""
        return float(self.x[-1])


@dataclass
class PrimalDual:
    """The steps of a program from w = 0.

    Attributes
    ----------
    at, mean : the last pair, and the mean of those since the restart.
    norm : of (Z, y).
    ratio : the square root of tau / sigma.
    """

    program: L1Hinge
    at: Saddle = field(init=False)
    mean: Saddle = field(init=False)
    norm: float = field(init=False)
    ratio: float = 1.0
    _start: Saddle = field(init=False)
    _gap: float = np.inf
    _steps: int = 0
    _since: int = 0

    def __post_init__(self) -> None:
        n, p = self.program.Z.shape
        self.at = self.mean = self._start = Saddle(np.zeros(p + 1), np.zeros(n))
        at = np.ones(n)
        for _ in range(POWER):
            self.norm = float(np.linalg.norm(at)) ** 0.5
            at = self._forms(self._pull(at / np.linalg.norm(at)))

    def sweep(self) -> Saddle:
        """Take steps, and return the better of the last pair and the mean, from which the next ones may start."""
        d = self.program.d
        tau = MARGIN * self.ratio / self.norm
        sigma = MARGIN / (self.ratio * self.norm)
        shrink = tau * np.append(self.program.c, 0.0)
        x, alpha = self.at.x, self.at.alpha
        forms = self._forms(x)
        points, multipliers = self._since * self.mean.x, self._since * self.mean.alpha
        for _ in range(STEPS):
            x = x + tau * self._pull(alpha)
            x = np.sign(x) * np.maximum(np.abs(x) - shrink, 0.0)
            before, forms = forms, self._forms(x)
            alpha = np.clip(alpha + sigma * (1.0 - 2.0 * forms + before), 0.0, d)
            points += x
            multipliers += alpha
        self._steps += STEPS
        self._since += STEPS
        self.at = Saddle(x, alpha)
        self.mean = Saddle(points / self._since, multipliers / self._since)
        gap, better = min(((self.gap(pair), pair) for pair in (self.at, self.mean)), key=lambda found: found[0])
        if gap <= LESS * self._gap or self._since >= max(LONG * self._steps, LEAST):
            self._restart(better, gap)
        return better

    def gap(self, pair: Saddle) -> float:
        """Return the duality gap of a pair, of the best intercept and of multipliers made feasible."""
        program = self.program
        margins = program.margins(pair.w, pair.b)
        b = program.best_intercept(margins, pair.b)
        value = program.value(pair.w, margins + (b - pair.b) * program.y)
        return value - program.bound(pair.alpha, program.free)[2]

    def _restart(self, at: Saddle, gap: float) -> None:
        """Start anew from a pair, with the ratio of the distances from the last start, halfway on logarithms."""
        far = float(np.linalg.norm(at.x - self._start.x))
        deep = float(np.linalg.norm(at.alpha - self._start.alpha))
        if min(far, deep) > 0.0:
            self.ratio = float(np.sqrt(self.ratio * far / deep))
        self.at = self.mean = self._start = at
        self._gap, self._since = gap, 0

    def _forms(self, x: Vector) -> Vector:
        return np.asarray(self.program.Z @ x[:-1] + x[-1] * self.program.y, dtype=float)

    def _pull(self, alpha: Vector) -> Vector:
        return np.append(self.program.Z.T @ alpha, self.program.y @ alpha)
