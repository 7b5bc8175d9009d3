r"""The program of a node, points to start its interior point from, and marks of the functions that are compiled.

Features that are selected in groups, and weights with bounds, pay for the multipliers of a selection

.. math:: F(\sigma) = \max_{0 \le \alpha \le \bar\alpha,\ y'\alpha = 0} \psi(\alpha)
          - \sum_g \sigma_g \sum_{j \in g} h_j(q_j(\alpha)), \qquad
          h_j(q) = \max_{l_j \le w \le u_j} \Big(w q - \tfrac12 w^2\Big)

with a share :math:`\sigma_g` in [0, 1] in place of a selection, too: the weights are then in
:math:`\sigma_g [l_j, u_j]`, and the largest :math:`w q - w^2 / (2 \sigma_g)` there is :math:`\sigma_g h_j(q)`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from fsopt.models.gbd.feature_lists import Groups, WeightBounds
from fsopt.typing import Indices, Matrix, Vector

Number = Any
"""A number of Python, or of numpy; in a formula also an array of them."""

F = TypeVar("F", bound=Callable[..., Any])
ENTRIES: list[Callable[..., Any]] = []
"""Functions that :func:`fast` compiles."""
INNER: list[Callable[..., Any]] = []
"""Functions that these call."""
COMPILED: dict[Callable[..., Any], Any] = {}
"""Function -> the compiled one, where searches have gone on to that."""
Floats = np.ndarray[tuple[int], np.dtype[np.floating[Any]]]
"""Multipliers (n,), in single or double precision."""
START, FAR = 0.1, 3.0
"""Complementarity of a point to start from: a share of the sum of alpha, and of what a change of w costs at alpha."""
NEAR = 15.0
"""Largest margin, in absolute value, at which multipliers of the logistic loss begin."""
INSIDE = 0.1
"""Largest distance of a value from a bound, as a share of its range."""


def entry(function: F) -> F:
    """Mark a function that :func:`fast` compiles."""
    ENTRIES.append(function)
    return function


def inner(function: F) -> F:
    """Mark a function that compiled functions call."""
    INNER.append(function)
    return function


def fast(function: F) -> F:
    """Return a function compiled where searches have gone on to that, else as it is."""
    found: F = COMPILED.get(function, function)
    return found


def choice(condition: Any, one: Number, other: Number) -> Number:
    """Return numbers where a condition holds, others elsewhere."""
    return np.where(condition, one, other)


def each(formula: Callable[..., tuple[Number, ...]], *given: Number) -> Any:
    """Return the values of a formula for the numbers of arrays, one after another, with others that are the same."""
    return formula(*given)


class InteriorPoint(NamedTuple):
    """An iterate, also a point to start from; ``x`` and ``z`` hold the complementary pairs one after the other.

    Attributes
    ----------
    x : alpha, C - alpha, rho, sigma, multipliers of bounds of weights, mu. ``z`` : their partners, of the bounds of
        alpha, of rho, the slacks of the cones, of the bounds of weights, and of the constraints.
    q : (s + f,); ``hyperplane`` : w and b, (s + f + 1,).
    """

    x: Vector
    z: Vector
    q: Vector
    hyperplane: Vector


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of the samples where they form groups, or their weights have bounds.

    Attributes
    ----------
    of : (d,) group of each column; -1 for one that is selected, in the program of a node.
    count : number of groups.
    bounds : on the weights (d,).
    """

    of: Indices
    count: int
    bounds: WeightBounds

    @classmethod
    def needed(cls, groups: Groups, bounds: WeightBounds) -> Columns | None:
        """Return the columns; None where each is a group of its own, without bounds."""
        return None if groups.single and not bounds else cls(groups.of, len(groups), bounds)

    @cached_property
    def members(self) -> list[Indices]:
        """The columns of each group."""
        return [np.flatnonzero(self.of == g) for g in range(self.count)]

    def places(self, groups: Indices) -> Indices:
        """Return the columns of some groups, one group after another."""
        return np.concatenate([self.members[g] for g in groups.tolist()] or [np.zeros(0, dtype=np.intp)])

    @cached_property
    def ends(self) -> tuple[Indices, Vector, Vector]:
        """The column of each bound, its sign, 1 for a lower and -1 for an upper one, and its value."""
        lower, upper = self.bounds.lower, self.bounds.upper
        low, high = np.flatnonzero(np.isfinite(lower)), np.flatnonzero(np.isfinite(upper))
        signs = np.append(np.ones(len(low)), -np.ones(len(high)))
        return np.append(low, high), signs, np.append(lower[low], upper[high])

    def by_column(self, values: Vector) -> Vector:
        """Return the sums (d,) of numbers of the bounds over those of each column."""
        return np.asarray(np.bincount(self.ends[0], values, minlength=len(self.of)), dtype=float)

    def charges(self, q: Vector, multipliers: Vector) -> Vector:
        """Return half the squares of q (d,), less what the multipliers of the bounds are charged."""
        _, sign, end = self.ends
        return 0.5 * q * q - self.by_column(sign * end * multipliers)

    def each(self, values: Matrix, selected: float) -> Matrix:
        """Return the number (..., count) of the group of each column, another one for those that are selected."""
        others = np.full((*values.shape[:-1], 1), selected)
        return np.concatenate([values, others], axis=-1)[..., self.of]

    def sums(self, values: Matrix) -> Matrix:
        """Return the sums (..., count) over the columns of each group, but for those that are selected."""
        if values.ndim == 1:
            return np.asarray(np.bincount(self.of + 1, values, minlength=self.count + 1)[1:], dtype=float)
        return np.array([self.sums(row) for row in values]).reshape(-1, self.count)

    def at(self, selected: int, groups: Indices) -> Columns:
        """Return the columns of a node: of that many groups that are selected, and of free ones after them."""
        columns = self.places(groups)
        place = np.full(self.count, -1)
        place[groups[selected:]] = np.arange(len(groups) - selected)
        bounds = WeightBounds(self.bounds.lower[columns], self.bounds.upper[columns])
        return Columns(place[self.of[columns]], len(groups) - selected, bounds)


class NodeRelaxation(NamedTuple):
    r"""The program of a node.

    Attributes
    ----------
    A : (s + f + 1, n) signed samples of the selected and then the free features, and the labels, one row after another.
    caps, gamma, entropy : (n,), (n,) and scalar, of the term of alpha, see :class:`fsopt.data.hyperplanes.DualTerm`.
    selected : s, number of selected features.
    R, r : (k, f) constraints on the free features, and right-hand sides that are left for them (k,).
    lam : (f,) penalty weights of the free features.
    q, constant, balance : :math:`q^0` (s + f,), the sum of alpha and :math:`\beta^0` of the samples whose alpha is
        frozen; the constant includes the penalty weights of the selected features.
    norm : 0; without free features 1 or -1 for another term of w than half its square, with r of length 1: the
        constraint :math:`\tfrac12 w'w \le r`, or the penalty :math:`\sqrt{2r}\,\|w\|`.
    columns : groups of the columns, of which f are free, and bounds on their weights; None where there are none.
    """

    A: Matrix
    caps: Vector
    gamma: Vector
    entropy: bool
    selected: int
    R: Matrix
    r: Vector
    lam: Vector
    q: Vector
    constant: float = 0.0
    balance: Number = 0.0
    norm: int = 0
    columns: Columns | None = None

    def split(self, x: Vector) -> tuple[Vector, Vector, Vector, Vector, Vector, Vector]:
        """Return the parts of x or z: of both bounds of alpha, of rho, of sigma, of bounds of weights, and of mu."""
        n, m = 2 * len(self.caps), len(x) - len(self.r)
        f = n + len(self.lam)
        g = f + len(self.lam)
        return x[: n // 2], x[n // 2 : n], x[n:f], x[f:g], x[g:m], x[m:]

    def sums(self, values: Vector) -> Vector:
        """Return the sums (f,) of numbers of the columns over those of each free feature."""
        return values[self.selected :] if self.columns is None else self.columns.sums(values)

    def each(self, values: Vector, selected: float) -> Vector:
        """Return for each column the number (..., f) of its feature, another one for those that are selected."""
        if self.columns is not None:
            return self.columns.each(values, selected)
        found = np.full((*values.shape[:-1], len(self.q)), selected)
        found[..., self.selected :] = values
        return found


@inner
def sizes(p: NodeRelaxation) -> tuple[int, int, int, int, int]:
    """Return the numbers of samples, of features selected, of all, of free ones, and of constraints."""
    return len(p.caps), p.selected, len(p.q), len(p.lam), len(p.r)


def cold(p: NodeRelaxation) -> InteriorPoint:
    """Return a point to start from, without knowledge of another node and without frozen samples.

    The multipliers are balanced, half of their bounds or of what the margin 0 asks for, and w is 0. All complementary
    products are equal; that q is not that of the multipliers is left to the first step.
    """
    features, f = len(p.q), len(p.lam)
    plus = p.A[-1] > 0.0
    alpha = np.minimum(0.5 * p.caps, 1.0 / np.maximum(p.gamma, 1e-300))
    up, down = float(alpha[plus].sum()), float(alpha[~plus].sum())
    # Close to balanced: the class with the larger sum of multipliers is scaled down.
    alpha[plus if up > down else ~plus] *= max(min(up, down) / max(up, down, 1e-300), 0.05)
    product = float(alpha.max(initial=0.0))
    share = p.r / np.maximum(np.abs(p.R).sum(axis=1), 1e-300) if f else np.zeros(0)
    sigma = np.full(f, np.clip(share.min(initial=0.95), 0.05, 0.95))
    left = p.r if p.norm else np.maximum(p.r - p.R @ sigma, 0.1)
    away = np.zeros(0)
    if p.columns is not None:
        column, sign, end = p.columns.ends  # a bound that is far from w = 0 is as far from active
        away = np.maximum(1.0, -sign * end * p.each(sigma, 1.0)[column])
    v, rest = 1.0 - sigma, p.caps - alpha
    x = np.concatenate([alpha, rest, product / v, sigma, product / away, product / left])
    z = np.concatenate([product / alpha, product / rest, v, product / sigma, away, left])
    if p.norm < 0:
        x[-1] = 1.0 / np.sqrt(2.0 * p.r[0])
    return InteriorPoint(x, z, np.zeros(features), np.zeros(features + 1))


@entry
def warm_start(p: NodeRelaxation, hyperplane: Vector, sigma: Vector, margins: Vector, alpha: Vector) -> InteriorPoint:
    """Return a point to start from, close to a parent's optimum and to the central path.

    Multipliers and shares keep the parent's values, but for a distance from their bounds: at a margin of 1 + d it is
    mu / d, where the product of the pair is the complementarity mu. The partners then satisfy ``z - xi = d``, with the
    slope of the quadratic term, ``z - xi = d + gamma alpha``.

    Parameters
    ----------
    hyperplane, sigma : (s + f + 1,) and (f,), the parent's, of the features in this program.
    margins : (n,) of its hyperplane with all of its features: what is lost of them measures how far this program is.
    alpha : (n,) its multipliers; negative for those of the central path at its margins.
    """
    n, s, features, f, k = sizes(p)
    mean = each(mean_of, alpha, hyperplane @ p.A, margins, p.caps)
    mu = mean[1].sum()
    if not f:  # a feature that comes has weight 0, and a q that may be far from it
        apart = hyperplane[:features] - (p.A @ mean[0])[:features] - p.q
        mu += np.dot(apart, apart) + mean[0].sum()
    mu = max(mu, 1e-3 * p.caps.max()) / (2 * n + 2 * f + k)
    known = each(begun, margins, mean[0], p.caps, p.gamma, p.entropy, mu)
    q = (p.A @ known[0])[:features] + p.q
    gain = 0.5 * q[s:] ** 2 - p.lam
    multipliers = multipliers_of(p.R, p.r, gain, mu)
    shares = each(pairs, sigma, multipliers @ p.R - gain, 1.0, mu)
    x = np.concatenate((known[0], known[1], shares[2], shares[0], multipliers))
    z = np.concatenate((known[2], known[3], 1.0 - shares[0], shares[1], mu / multipliers))
    return InteriorPoint(x, z, q, hyperplane)


@inner
def mean_of(alpha: Number, score: Number, margins: Number, caps: Number) -> tuple[Number, Number]:
    """Return multipliers, those not known the usual mean, and what a change of their margins costs."""
    known, lost = choice(alpha < 0.0, 0.3 * caps, alpha), np.abs(score - margins)
    wrong = np.minimum(lost, np.maximum(1.0 - score, 0.0))  # by the change alone
    return known, known * (START + FAR * lost) + (caps - known) * wrong


@inner
def begun(
    margin: Number, alpha: Number, caps: Number, gamma: Number, entropy: bool, mu: Number
) -> tuple[Number, Number, Number, Number]:
    """Return multipliers strictly within their bounds, their distances from C, and the partners of both."""
    if entropy:
        known = caps / (1.0 + np.exp(np.minimum(np.maximum(margin, -NEAR), NEAR)))
        return known, caps - known, mu / known, mu / (caps - known)
    away, scale = margin - 1.0, 2.0 * mu / caps
    known = choice(alpha < 0.0, 0.5 * caps * (1.0 - away / np.sqrt(away * away + scale * scale)), alpha)
    value, z, xi = pairs(known, away + gamma * known, caps, mu)
    return value, caps - value, z, xi


@inner
def pairs(value: Number, away: Number, most: Number, mu: Number) -> tuple[Number, Number, Number]:
    """Return values strictly within [0, most], and partners of both bounds whose difference is ``away``."""
    distance = mu / np.maximum(np.abs(away), mu / (INSIDE * most))
    smallest = np.minimum(2.0 * mu / most, INSIDE * most)
    above = away >= 0.0
    low, high = choice(above, distance, smallest), most - choice(above, smallest, distance)
    value = np.minimum(np.maximum(value, low), high)
    upper = choice(above, mu / (most - value), mu / value - away)
    return value, upper + away, upper


@inner
def multipliers_of(R: Matrix, r: Vector, gain: Vector, mu: float) -> Vector:
    """Return multipliers (k,) of the constraints: of one, the gain for weight of the first that does not fit."""
    k, f = R.shape
    found = np.full(k, mu)
    if k == 1 and f:
        found[0] = max(multipliers(gain, R[0], r[0])[1], mu)
    else:  # of the same order for all constraints, for gains of a size
        for i in range(k):
            size, largest = (np.abs(gain).max(), np.abs(R[i]).max()) if f else (0.0, 0.0)
            found[i] = max(size, 1e-8) / max(largest, 1e-12) / k
    return found


@inner
def multipliers(gains: Vector, weights: Vector, left: float) -> tuple[float, float]:
    """Return the best multipliers of a knapsack constraint: gain for weight of its last feature, and of the next."""
    paying = np.flatnonzero((weights > 0.0) & (gains > 0.0))
    units = weights[paying]
    ratio = gains[paying] / units
    order = np.argsort(-ratio, kind="mergesort")
    filled = np.cumsum(units[order])
    last = np.searchsorted(filled, left, side="right")  # features that fit as a whole
    if last >= len(order):
        return 0.0, 0.0
    after = ratio[order[last]]
    fits = last > 0 and filled[last - 1] >= left - 0.5 * units[order[last]]
    return ratio[order[last - 1]] if fits else after, after
