"""The program of a node, and points to start its interior point from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.typing import Mask, Matrix, Vector


@dataclass(frozen=True)
class Relaxation:
    r"""The program of a node.

    Attributes
    ----------
    Zy : (n, s + f + 1) signed samples of the selected and then the free features, and the labels, Fortran order.
    c : penalty weight of the hinge loss, or one for each sample (n,).
    selected : s, number of selected features.
    R, r : (k, f) constraints on the free features, and right-hand sides that are left for them (k,).
    lam : (f,) penalty weights of the free features.
    q, constant, balance : :math:`q^0` (s + f,), the sum of alpha and :math:`\beta^0` of the samples whose alpha is
        frozen; the constant includes the penalty weights of the selected features.
    """

    Zy: Matrix
    c: float | Vector
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


@dataclass
class Iterate:
    """An iterate, also a point to start from; ``x`` and ``z`` hold the complementary pairs one after the other.

    Attributes
    ----------
    x : alpha, C - alpha, rho, sigma, mu. ``z`` : their partners, of the bounds of alpha, of rho, the slack of the
        cones, and of the constraints.
    q : (s + f,); ``plane`` : w and b, (s + f + 1,).
    """

    x: Vector
    z: Vector
    q: Vector
    plane: Vector


def cold(program: Relaxation) -> Iterate:
    """Return a point to start from, without knowledge of another node."""
    n, features, f, _ = program.shape
    y = program.Zy[:, -1]
    plus = y > 0
    alpha = np.ones(n) * (0.5 * program.c)
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
    return assembled(program, alpha, (np.ones(n), np.ones(n)), sigma, np.zeros(features + 1))


def assembled(
    program: Relaxation, alpha: Vector, partners: tuple[Vector, Vector], sigma: Vector, plane: Vector
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
    return Iterate(x, z, q, plane.copy())


def dual_value(program: Relaxation, alpha: Vector, mu: Vector) -> float:
    """Return the dual value at balanced multipliers alpha (n,) and mu (k,) >= 0."""
    s = program.selected
    q = (alpha @ program.Zy)[:-1] + program.q
    half = 0.5 * q * q
    excess = np.maximum(half[s:] - program.lam - program.R.T @ mu, 0.0)
    return float(program.constant + alpha.sum() - half[:s].sum() - mu @ program.r - excess.sum())


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
