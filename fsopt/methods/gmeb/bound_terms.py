"""The terms of the generalization error bounds of Peleg & Meir: Theorem 9 (scaled features), Theorem 11 (unscaled)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fsopt.errors import ParameterError
from fsopt.models.blocks import number
from fsopt.typing import Matrix, Vector

ROUNDING = 1e-9
"""Relative excess at which a condition of a theorem still counts as met."""


@dataclass(frozen=True)
class RiskBound:
    """A bound on the probability of error, with probability 1 - delta over the training sample.

    Attributes
    ----------
    terms : name -> value; the bound is their sum. Above 1 it says nothing.
    conditions : condition of the theorem -> whether it holds; the bound is void where one does not.
    """

    terms: Mapping[str, float]
    conditions: Mapping[str, bool]

    @property
    def total(self) -> float:
        """The bound."""
        return sum(self.terms.values())

    @property
    def applies(self) -> bool:
        """Whether all conditions hold."""
        return all(self.conditions.values())


def margin_loss(margins: Vector, gamma: float) -> float:
    r"""Return the mean of :math:`\phi_\gamma(z) = \max(0, 1 - z/\gamma)` over margins :math:`z_i = y_i f(x_i)` (n,)."""
    return float(np.maximum(1.0 - margins / gamma, 0.0).mean())


@dataclass(frozen=True)
class ScaledClassifier:
    r"""The classifier :math:`f(x) = \sum_j w_j \sigma_j x_j + b`.

    Attributes
    ----------
    w : (p,) weights; ``sigma`` : (p,) scales >= 0 (not squared); ``b`` : intercept.
    """

    w: Vector
    sigma: Vector
    b: float

    def scores(self, X: Matrix) -> Vector:
        """Return f of the samples X (n, p)."""
        found: Vector = X @ (self.w * self.sigma) + self.b
        return found


def scaled_bound_terms(
    X: Matrix,
    y: Vector,
    classifier: ScaledClassifier,
    *,
    r: float,
    gamma: float = 1.0,
    sigma0: float = 1e-6,
    delta: float = 0.05,
    norm: float = 1.0,
) -> RiskBound:
    r"""Return the bound of Theorem 9 for the classifier :math:`f(x) = \sum_j w_j \sigma_j x_j + b`.

    .. math::

        P(y f(x) \le 0) \le\ & \hat E_n \phi_\gamma(y f(x)) + \frac{2B}{\gamma}\Bigl(
            \frac{\sqrt{n_+}}{n}\sqrt{\textstyle\sum_j v_j^+ \delta_j^2} +
            \frac{\sqrt{n_-}}{n}\sqrt{\textstyle\sum_j v_j^- \delta_j^2}\Bigr) + \frac{2r}{\gamma\sqrt n} \\
        & + \frac{K}{\sqrt n}\sqrt{2\textstyle\sum_j \ln\log_2(\delta_j/\sigma_0)}
          + \frac{K}{\sqrt n}\Bigl(\frac2\gamma + 1\Bigr)\sqrt{2\ln(2/\delta)}, \\
        \delta_j =\ & 2\max(\sigma_j, \sigma_0), \qquad K = (B\|(\delta_j)\| + 1)\, r

    Parameters
    ----------
    X : (n, p) training samples; ``y`` : (n,) labels.
    classifier : w, sigma and b.
    r : > 0, with :math:`\|x\| \le r` for every x that can occur and :math:`|b| \le r`.
    gamma : > 0, margin at which the loss :math:`\phi_\gamma` is 0.
    sigma0 : > 0, smallest step of the grid of scales behind the theorem, in the units of sigma.
    delta : in (0, 1).
    norm : B > 0, with :math:`\|w\| \le B`.

    Returns
    -------
    Bound
        Terms ``margin loss``, ``class +1``, ``class -1``, ``intercept``, ``union bound``, ``confidence``, in
        the order of the formula. The condition on x is checked on the samples X only.

    Raises
    ------
    ParameterError : a number outside its range, or a negative scale.

    Notes
    -----
    Peleg & Meir, Theorem 9, as printed. r, B, gamma and sigma0 must be fixed before the sample is seen.
    """
    who = "scaled_bound"
    check_numbers(who, gamma=gamma, r=r, sigma0=sigma0, norm=norm, delta=delta)
    if np.any(classifier.sigma < 0):
        raise ParameterError("a scale sigma is negative", "give sigma >= 0, not squared")
    n, root = len(y), float(np.sqrt(len(y)))
    deltas = 2.0 * np.maximum(classifier.sigma, sigma0)
    k = (norm * float(np.linalg.norm(deltas)) + 1.0) * r
    classes = {
        f"class {label:+d}": 2.0 * norm / gamma / n * float(np.sqrt((X[y == label] ** 2).sum(axis=0) @ deltas**2))
        for label in (1, -1)
    }
    terms = {
        "margin loss": margin_loss(y * classifier.scores(X), gamma),
        **classes,
        "intercept": 2.0 * r / (gamma * root),
        "union bound": k / root * float(np.sqrt(2.0 * np.log(np.log2(deltas / sigma0)).sum())),
        "confidence": k / root * (2.0 / gamma + 1.0) * float(np.sqrt(2.0 * np.log(2.0 / delta))),
    }
    return RiskBound(terms, conditions(X, classifier.w, classifier.b, r=r, norm=norm))


def margin_bound_terms(
    X: Matrix,
    y: Vector,
    w: Vector,
    b: float,
    *,
    r: float,
    gamma: float,
    gamma0: float = 1e-6,
    delta: float = 0.05,
    norm: float = 1.0,
) -> RiskBound:
    r"""Return the bound of Theorem 11 for the classifier :math:`f(x) = w'x + b`, features not scaled.

    .. math::

        P(y f(x) \le 0) \le\ & \hat E_n \phi_\gamma(y f(x)) + \frac{1}{n C \hat\gamma} + \frac{K}{\sqrt n}\Bigl(
            \sqrt{2\ln\log_2(\hat\gamma/\gamma_0)} + \sqrt{2\ln(2/\delta)}\Bigr), \\
        1/C =\ & 4B\sqrt{\textstyle\sum_j v_j} + 2r\sqrt n + 2K\sqrt{2n\ln(2/\delta)}, \qquad
        \hat\gamma = 2\max(\gamma, \gamma_0), \quad K = (B + 1)\, r

    Parameters
    ----------
    X, y : as in :func:`scaled_bound_terms`.
    w, b : (p,) weights and the intercept.
    r, delta, norm : as in :func:`scaled_bound_terms`.
    gamma : > 0, margin; the theorem holds for all :math:`\gamma \ge \gamma_0` at once.
    gamma0 : > 0, fixed before the sample is seen.

    Returns
    -------
    Bound
        Terms ``margin loss``, ``complexity``, ``intercept``, ``union bound``, ``confidence``, ``margin
        confidence``; the three parts of 1/C are ``complexity``, ``intercept`` and ``margin confidence``.

    Raises
    ------
    ParameterError : a number outside its range.

    Notes
    -----
    Peleg & Meir, Theorem 11 (8), as printed.
    """
    check_numbers("margin_bound", gamma=gamma, r=r, gamma0=gamma0, norm=norm, delta=delta)
    n, root = len(y), float(np.sqrt(len(y)))
    k, double = (norm + 1.0) * r, 2.0 * max(gamma, gamma0)
    tail = float(np.sqrt(2.0 * np.log(2.0 / delta)))
    terms = {
        "margin loss": margin_loss(y * (X @ w + b), gamma),
        "complexity": 4.0 * norm * float(np.sqrt((X**2).sum() / n)) / (n * double),
        "intercept": 2.0 * r / (double * root),
        "union bound": k / root * float(np.sqrt(2.0 * np.log(np.log2(double / gamma0)))),
        "confidence": k / root * tail,
        "margin confidence": 2.0 * k * tail / (double * root),
    }
    return RiskBound(terms, {**conditions(X, w, b, r=r, norm=norm), "gamma >= gamma0": bool(gamma >= gamma0)})


def theorem_c(X: Matrix, *, r: float, delta: float = 0.05, norm: float = 1.0) -> float:
    r"""Return the constant C of Theorem 11, the penalty weight of (9) that the bound itself asks for.

    .. math:: C = \Big(4B\sqrt{\textstyle\sum_j v_j} + 2r\sqrt n + 2K\sqrt{2n\ln(2/\delta)}\Big)^{-1},
        \qquad K = (B + 1)\, r

    Parameters
    ----------
    X : (n, p) training samples, preprocessed.
    r, delta, norm : as in :func:`margin_bound_terms`.

    Raises
    ------
    ParameterError : a number outside its range.

    Notes
    -----
    Peleg & Meir, Theorem 11.
    """
    check_numbers("theorem_c", r=r, norm=norm, delta=delta)
    n, k = len(X), (norm + 1.0) * r
    spread = 4.0 * norm * float(np.sqrt((X**2).sum() / n))
    return 1.0 / (spread + 2.0 * r * float(np.sqrt(n)) + 2.0 * k * float(np.sqrt(2.0 * n * np.log(2.0 / delta))))


def largest_norm(X: Matrix) -> float:
    """Return the largest norm of a sample."""
    return float(np.linalg.norm(X, axis=1).max())


def conditions(X: Matrix, w: Vector, b: float, *, r: float, norm: float, exponent: float = 2.0) -> dict[str, bool]:
    """Return the conditions of the theorems: condition -> whether the samples and the classifier meet it."""
    slack = 1.0 + ROUNDING
    return {
        "||x|| <= r": largest_norm(X) <= r * slack,
        "|b| <= r": abs(b) <= r * slack,
        "||w|| <= B": float(np.linalg.norm(w, ord=exponent)) <= norm * slack,
    }


def check_numbers(who: str, *, delta: float, **positive: float) -> None:
    """Raise ParameterError for delta outside (0, 1), and for other numbers that are not positive."""
    number(who, "delta", delta)
    for name, value in positive.items():
        number(who, name, value, inside="(0, inf)")
