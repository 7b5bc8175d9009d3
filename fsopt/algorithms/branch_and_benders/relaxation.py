"""The program of a node, and points to start its interior point from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fsopt.data.losses import DualTerm
from fsopt.typing import Mask, Matrix, Vector

Floats = np.ndarray[tuple[int], np.dtype[np.floating[Any]]]
"""Multipliers (n,), in single or double precision."""
START, FAR = 0.1, 3.0
"""Complementarity of a point to start from: a share of the sum of alpha, and of what a change of w costs at alpha."""
NEAR = 15.0
"""Largest margin, in absolute value, at which multipliers of the logistic loss begin."""
INSIDE = 0.1
"""Largest distance of a value from a bound, as a share of its range."""


@dataclass(frozen=True, eq=False)
class NodeRelaxation:
    r"""The program of a node.

    Attributes
    ----------
    Zy : (n, s + f + 1) signed samples of the selected and then the free features, and the labels, Fortran order.
    term : of the multipliers alpha in the objective, with their upper bounds.
    selected : s, number of selected features.
    R, r : (k, f) constraints on the free features, and right-hand sides that are left for them (k,).
    lam : (f,) penalty weights of the free features.
    q, constant, balance : :math:`q^0` (s + f,), the sum of alpha and :math:`\beta^0` of the samples whose alpha is
        frozen; the constant includes the penalty weights of the selected features.
    norm : 0; without free features 1 or -1 for another term of w than half its square, with r of length 1: the
        constraint :math:`\tfrac12 w'w \le r`, or the penalty :math:`\sqrt{2r}\,\|w\|`.
    """

    Zy: Matrix
    term: DualTerm
    selected: int
    R: Matrix
    r: Vector
    lam: Vector
    q: Vector
    constant: float = 0.0
    balance: float = 0.0
    norm: int = 0

    @property
    def c(self) -> float | Vector:
        """The upper bound of the multipliers, or one for each sample (n,)."""
        return self.term.caps

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Numbers n of samples, of features, f of free features, and k of constraints."""
        features = self.Zy.shape[1] - 1
        return len(self.Zy), features, features - self.selected, len(self.r)


@dataclass
class InteriorPoint:
    """An iterate, also a point to start from; ``x`` and ``z`` hold the complementary pairs one after the other.

    Attributes
    ----------
    x : alpha, C - alpha, rho, sigma, mu. ``z`` : their partners, of the bounds of alpha, of rho, the slack of the
        cones, and of the constraints.
    q : (s + f,); ``hyperplane`` : w and b, (s + f + 1,).
    """

    x: Vector
    z: Vector
    q: Vector
    hyperplane: Vector


def cold(program: NodeRelaxation) -> InteriorPoint:
    """Return a point to start from, without knowledge of another node and without frozen samples.

    The multipliers are balanced, half of their bounds or of what the margin 0 asks for, and w is 0. All complementary
    products are equal; that q is not that of the multipliers is left to the first step.
    """
    _, features, f, _ = program.shape
    plus = program.Zy[:, -1] > 0
    alpha = np.minimum(0.5 * program.c, 1.0 / np.maximum(program.term.gamma, 1e-300)) * np.ones(len(plus))
    up, down = float(alpha[plus].sum()), float(alpha[~plus].sum())
    # Close to balanced: the class with the larger sum of multipliers is scaled down.
    alpha[plus if up > down else ~plus] *= max(min(up, down) / max(up, down, 1e-300), 0.05)
    share = program.r / np.maximum(np.abs(program.R).sum(axis=1), 1e-300) if f else program.R[:, 0:0]
    sigma = np.full(f, np.clip(share.min(initial=0.95), 0.05, 0.95))
    left = program.r if program.norm else np.maximum(program.r - program.R @ sigma, 0.1)
    x = np.concatenate([alpha, program.c - alpha, np.zeros(f), sigma, np.zeros(len(left))])
    z = np.concatenate([np.zeros(2 * len(alpha)), 1.0 - sigma, np.zeros(f), left])
    product = float(alpha.max(initial=0.0))
    known, partners = (x > 0.0), (z > 0.0)
    x[~known], z[~partners] = product / z[~known], product / x[~partners]
    if program.norm < 0:
        x[-1] = 1.0 / np.sqrt(2.0 * program.r[0])
    return InteriorPoint(x, z, np.zeros(features), np.zeros(features + 1))


def _even_multipliers(program: NodeRelaxation, size: float) -> Vector:
    """Return mu (k,) of the same order for all constraints, for gains of a size."""
    largest = np.maximum(np.abs(program.R).max(axis=1, initial=0.0), 1e-12)
    return np.asarray(size / largest / max(len(program.r), 1))


def warm(
    program: NodeRelaxation, hyperplane: Vector, sigma: Vector, margins: Vector, alpha: Floats | None
) -> InteriorPoint:
    """Return a point to start from, close to a parent's optimum and to the central path.

    Multipliers and shares keep the parent's values, but for a distance from their bounds: at a margin of 1 + d it is
    mu / d, where the product of the pair is the complementarity mu. The partners then satisfy ``z - xi = d``, with the
    slope of the quadratic term, ``z - xi = d + gamma alpha``.

    Parameters
    ----------
    hyperplane : (s + f + 1,) the parent's w and b, of the features in this program.
    sigma : (f,) its shares.
    margins : (n,) of its hyperplane with all of its features: what is lost of them measures how far this program is.
    alpha : (n,) its multipliers; None for those of the central path at its margins.
    """
    c, s = program.c, program.selected
    pairs = 2 * len(margins) + 2 * len(program.lam) + len(program.r)
    away = margins - 1.0
    # Without multipliers 0.3 C for each, the usual mean.
    known = np.full(len(away), 0.3 * c) if alpha is None else alpha.astype(float)
    lost = np.abs(program.Zy @ hyperplane - margins)
    mu = max(float(known @ (START + FAR * lost)), 1e-3 * float(np.max(c))) / pairs
    if program.term.entropy:
        known = c / (1.0 + np.exp(np.clip(margins, -NEAR, NEAR)))
        z, xi = mu / known, mu / (c - known)
    else:
        if alpha is None:
            known = 0.5 * c * (1.0 - away / np.sqrt(away**2 + (2.0 * mu / c) ** 2))
        known, z, xi = _pairs(known, away + program.term.gamma * known, c, mu)
    q = (known @ program.Zy)[:-1] + program.q
    gain = 0.5 * q[s:] ** 2 - program.lam
    multipliers = _multipliers(program, gain, mu)
    sigma, slack, rho = _pairs(sigma, multipliers @ program.R - gain, 1.0, mu)
    x = np.concatenate([known, c - known, rho, sigma, multipliers])
    partners = np.concatenate([z, xi, 1.0 - sigma, slack, mu / multipliers])
    return InteriorPoint(x, partners, q, hyperplane)


def _pairs(value: Vector, away: Vector, most: float | Vector, mu: float) -> tuple[Vector, Vector, Vector]:
    """Return values strictly within [0, most], and partners of both bounds whose difference is ``away``."""
    distance = np.minimum(mu / np.maximum(np.abs(away), 1e-300), INSIDE * most)
    smallest = np.minimum(2.0 * mu / most, INSIDE * most)
    above = away >= 0.0
    value = np.clip(value, np.where(above, distance, smallest), most - np.where(above, smallest, distance))
    upper = np.where(above, mu / (most - value), mu / value - away)
    return value, upper + away, upper


def _multipliers(program: NodeRelaxation, gain: Vector, mu: float) -> Vector:
    """Return multipliers (k,) of the constraints: of one, the gain for weight of the last feature that fits."""
    if len(program.r) != 1 or not len(gain):
        return _even_multipliers(program, max(float(np.abs(gain).max(initial=0.0)), 1e-8))
    weight = program.R[0]
    ratio = gain / np.maximum(weight, 1e-300)
    order = np.argsort(-ratio, kind="stable")
    last = int(np.searchsorted(np.cumsum(weight[order]), program.r[0]))
    return np.array([max(float(ratio[order[min(last, len(order) - 1)]]), mu)])


def dual_value(program: NodeRelaxation, alpha: Vector, mu: Vector) -> tuple[float, float]:
    """Return the dual value at balanced multipliers alpha (n,) and mu (k,) >= 0, and what the features charge in it."""
    s = program.selected
    q = (alpha @ program.Zy)[:-1] + program.q
    half = 0.5 * q * q
    excess = np.maximum(half[s:] - program.lam - program.R.T @ mu, 0.0)
    charged = float(half[:s].sum() + excess.sum())
    value = program.constant + float(program.term.values(alpha).sum())
    if program.norm:
        size, root = float(np.linalg.norm(q)), float(np.sqrt(2.0 * program.r[0]))
        charged = root * size if program.norm > 0 else value * max(1.0 - root / max(size, 1e-300), 0.0)
        return value - charged, charged
    return float(value - charged - mu @ program.r), charged


def balanced(alpha: Vector, plus: Mask, c: float | Vector, balance: float) -> Vector | None:
    """Return alpha with y'alpha = -balance, one class scaled down; None where that is impossible."""
    alpha = np.clip(alpha, 0.0, c)
    up, down = float(alpha[plus].sum()), float(alpha[~plus].sum())
    heavy, sum_, target = (plus, up, down - balance) if up + balance > down else (~plus, down, up + balance)
    if target < 0.0:
        return None
    if sum_ > 0.0:
        alpha[heavy] *= target / sum_
    return alpha
