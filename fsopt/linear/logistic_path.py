r"""Ridge logistic regression on few variables: a path over their number, by greedy steps and exchanges.

.. math::

    F(S) = \min_{w, b}\ \tfrac12 \|w\|^2 + C \sum_i g_i \ln\big(1 + e^{-y_i (w'z_i + b)}\big)
    \quad\text{s.t.}\quad w_j = 0 \text{ for the columns } j \text{ of variables outside of } S

A variable is one column of Z or several that enter together, such as the 0/1 columns of a category. With the Hessian H
of F in the weights of S, and for another variable with columns G, the negative gradient :math:`q_G`, the second
derivatives :math:`D_G` and the mixed ones :math:`B_G`, a quadratic model of F falls by

.. math:: \tfrac12 q_G' (D_G - B_G' H^{-1} B_G)^{-1} q_G

when G enters, and rises by :math:`\tfrac12 w_R' ([H^{-1}]_{RR})^{-1} w_R` when R leaves.

Labels that do not depend on the d columns of a variable make F fall as well, by half of :math:`C (d - \mathrm{tr}\,
D^{-1})` as a mean, with its second derivatives D where no variable is selected. Each variable is charged twice that
mean, its price, so that one of many columns has to tell more than one of a single column:

.. math:: F(S) + \sum_{v \in S} \pi_v, \qquad \pi_v = C\,\big(d_v - \mathrm{tr}\, D_v^{-1}\big)

A greedy step takes the largest fall above the price; an exchange takes the pair of largest difference, and is kept
where F and the prices themselves fall.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit

from fsopt.common import clock
from fsopt.typing import Indices, Matrix, Vector

EXCHANGES, WEAKEST = 3, 4
"""Exchanges for each number of variables, and selected variables of smallest rise that are tried to leave."""
FALL = 1e-6
"""Share of F by which an exchange has to lower it."""
STEPS, HALVINGS = 25, 12
"""Newton steps at most, and halvings of one."""
PRECISION = 1e-5
"""Expected fall, as a share of F, at which Newton's method ends."""
TINY = 1e-12
"""Curvature of the intercept where every sample is told without doubt."""
NEVER = -np.inf
"""Fall of a variable that cannot enter."""


class LogisticPath:
    """The program for all selections of variables: samples Z (n, p), labels y, weights g (n,), columns of each."""

    def __init__(self, Z: Matrix, y: Vector, g: Vector, groups: Sequence[Indices]) -> None:
        self.Z, self.y = Z, y
        self.g, self.groups = g, groups
        self.squares, self.first = Z * Z, np.array([group[0] for group in groups])
        # Variables of as many columns are looked at together: number of columns -> variables (k,), columns (k, d).
        sizes = np.array([len(group) for group in groups])
        alike = {d: np.flatnonzero(sizes == d) for d in np.unique(sizes[sizes > 1]).tolist()}
        self.several = {d: (some, np.array([groups[v] for v in some.tolist()])) for d, some in alike.items()}

    def columns(self, chosen: Sequence[int]) -> Indices:
        """Return the columns of variables, one variable after another."""
        return np.concatenate([np.empty(0, dtype=int), *(self.groups[v] for v in chosen)]).astype(int)

    def fit(self, columns: Indices, cs: Vector, start: Vector | None = None) -> tuple[Matrix, Vector]:
        """Return the hyperplanes (k, s + 1) on some columns, intercepts last, for k penalty weights; and values F."""
        A = np.column_stack([self.Z[:, columns], np.ones(len(self.y))])
        ridge = np.append(np.ones(len(columns)), 0.0)
        theta = np.zeros((len(cs), len(ridge))) if start is None else np.tile(start, (len(cs), 1))
        value, active = self._value(A, theta, cs), np.arange(len(cs))
        for _ in range(STEPS):
            at, c = theta[active], cs[active]
            away = expit(-self.y * (at @ A.T)) * self.g
            gradient = at * ridge - c[:, None] * ((away * self.y) @ A)
            curved = c[:, None] * away * (1.0 - np.minimum(away / self.g, 1.0))
            hessian = (A.T[None] * curved[:, None, :]) @ A + np.diag(ridge + TINY)
            step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
            expected = np.einsum("ij,ij->i", gradient, step)
            theta[active], value[active] = self._shortened(A, at, step, c, value[active])
            active = active[expected > PRECISION * value[active]]
            if not len(active):
                break
        return theta, value

    def path(self, c: float, largest: int, least: int = 0) -> list[tuple[int, ...]]:
        """Return the selections of 0, 1, ... variables, from the least number on while a fall is above its price."""
        model = _Model(self, (), self.fit(self.columns(()), np.array([c])), c)
        found, prices = [model.chosen], model.prices()
        while len(found) <= min(largest, len(self.groups)):
            clock.check()
            gains = model.falls(model.inverse, model.gradient) - prices
            entering = int(np.argmax(gains))
            if gains[entering] <= (NEVER if len(model.chosen) < least else 0.0):
                break
            chosen = (*model.chosen, entering)
            start = np.insert(model.theta, -1, np.zeros(len(self.groups[entering])))
            model = _Model(self, chosen, self.fit(self.columns(chosen), np.array([c]), start), c)
            for _ in range(EXCHANGES):
                other = model.exchanged(prices)
                if other is None:
                    break
                fitted = self.fit(self.columns(other), np.array([c]))
                dearer = prices[list(other)].sum() - prices[list(model.chosen)].sum()
                if fitted[1][0] + dearer >= (1.0 - FALL) * model.value:
                    break
                model = _Model(self, other, fitted, c)
            found.append(model.chosen)
        return found

    def prices(self, c: float) -> Vector:
        """Return the price (v,) of each variable."""
        return _Model(self, (), self.fit(self.columns(()), np.array([c])), c).prices()

    def _value(self, A: Matrix, theta: Matrix, cs: Vector) -> Vector:
        losses = cs * (np.logaddexp(0.0, -self.y * (theta @ A.T)) @ self.g)
        return np.asarray(losses + 0.5 * np.einsum("ij,ij->i", theta[:, :-1], theta[:, :-1]))

    def _shortened(self, A: Matrix, at: Matrix, step: Matrix, cs: Vector, value: Vector) -> tuple[Matrix, Vector]:
        """Return the points after steps, halved until no value rises, and their values."""
        length = np.ones(len(cs))
        for _ in range(HALVINGS):
            new = at - length[:, None] * step
            values = self._value(A, new, cs)
            risen = values > value * (1.0 + 1e-12)
            if not risen.any():
                return new, values
            length[risen] *= 0.5
        return np.where(risen[:, None], at, new), np.where(risen, value, values)


class _Model:
    """The quadratic model of F at the optimum for the chosen variables."""

    def __init__(self, problem: LogisticPath, chosen: tuple[int, ...], fitted: tuple[Matrix, Vector], c: float) -> None:
        self.problem, self.chosen = problem, chosen
        self.theta, self.value = fitted[0][0], float(fitted[1][0])
        self.c = c
        A = np.column_stack([problem.Z[:, problem.columns(chosen)], np.ones(len(problem.y))])
        away = expit(-problem.y * (A @ self.theta))
        self.curved = c * problem.g * away * (1.0 - away)
        weighted = A * self.curved[:, None]
        ridge = np.append(np.ones(len(self.theta) - 1), TINY)
        self.inverse = np.linalg.inv(weighted.T @ A + np.diag(ridge))
        self.gradient = c * ((problem.g * away * problem.y) @ problem.Z)
        self.cross = weighted.T @ problem.Z
        self.diagonal = 1.0 + self.curved @ problem.squares
        parts = {d: problem.Z.T[columns] for d, (_, columns) in problem.several.items()}
        self.own = {d: np.eye(d) + (Z * self.curved) @ Z.transpose(0, 2, 1) for d, Z in parts.items()}

    def prices(self) -> Vector:
        """Return the price (v,) of each variable; the model is that of no variable."""
        left, blocks = self._left(self.inverse)
        shares: Vector = (1.0 - 1.0 / left)[self.problem.first]
        for d, (some, _) in self.problem.several.items():
            shares[some] = d - np.trace(np.linalg.inv(blocks[d]), axis1=1, axis2=2)
        return self.c * shares

    def falls(self, inverse: Matrix, gradient: Vector) -> Vector:
        """Return the fall (v,) of F when each variable enters, by an inverse Hessian and the negative gradient."""
        left, blocks = self._left(inverse)
        falls: Vector = (0.5 * gradient**2 / left)[self.problem.first]
        for d, (some, columns) in self.problem.several.items():
            q = gradient[columns]
            falls[some] = 0.5 * (q * np.linalg.solve(blocks[d], q[:, :, None])[:, :, 0]).sum(axis=1)
        falls[list(self.chosen)] = NEVER
        return falls

    def exchanged(self, prices: Vector) -> tuple[int, ...] | None:
        """Return the variables after the exchange of largest fall; None where no fall exceeds its least share of F."""
        best, found = FALL * self.value, None
        ends = np.cumsum([len(self.problem.groups[v]) for v in self.chosen])
        parts = np.split(np.arange(ends[-1]), ends[:-1])
        blocks = [np.linalg.inv(self.inverse[np.ix_(part, part)]) for part in parts]
        own = [0.5 * self.theta[part] @ block @ self.theta[part] for part, block in zip(parts, blocks, strict=True)]
        rises = np.array(own) - prices[list(self.chosen)]
        for k in np.argsort(rises, kind="stable")[:WEAKEST]:
            reach = self.inverse[:, parts[k]] @ blocks[k]
            inverse = self.inverse - reach @ self.inverse[parts[k]]
            falls = self.falls(inverse, self.gradient + (reach @ self.theta[parts[k]]) @ self.cross) - prices
            entering = int(np.argmax(falls))
            if falls[entering] - rises[k] > best:
                best = falls[entering] - rises[k]
                found = (*self.chosen[:k], *self.chosen[k + 1 :], entering)
        return found

    def _left(self, inverse: Matrix) -> tuple[Vector, dict[int, Matrix]]:
        """Return the second derivatives less what others explain, at least the ridge: of each column, and in blocks."""
        reached = inverse @ self.cross
        left = np.maximum(self.diagonal - np.einsum("ij,ij->j", self.cross, reached), 1.0)
        shares = {d: self.cross.T[at] @ reached.T[at].transpose(0, 2, 1) for d, (_, at) in self.problem.several.items()}
        return left, {d: self.own[d] - share for d, share in shares.items()}
