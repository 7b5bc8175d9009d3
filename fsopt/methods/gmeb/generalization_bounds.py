"""The generalization bounds of paper 1, term by term: Theorem 9 (scaled features) and Theorem 11 (none scaled)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.methods.preprocessing import scaled_hyperplane
from fsopt.models.blocks import number
from fsopt.results import Fit
from fsopt.typing import Matrix, Vector

ROUNDING = 1e-9
"""Relative excess at which a condition of a theorem still counts as met."""


@dataclass(frozen=True)
class Bound:
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


def scaled_bound_terms(
    X: Matrix,
    y: Vector,
    w: Vector,
    sigma: Vector,
    b: float,
    *,
    r: float,
    gamma: float = 1.0,
    sigma0: float = 1e-6,
    delta: float = 0.05,
    norm: float = 1.0,
) -> Bound:
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
    w : (p,) weights; ``sigma`` : (p,) scales >= 0 (not squared); ``b`` : intercept.
    r : > 0, with :math:`\|x\| \le r` for every x that can occur and :math:`|b| \le r`.
    gamma : > 0, margin at which the loss :math:`\phi_\gamma` is 0.
    sigma0 : > 0, smallest step of the grid of scales behind the theorem, in the units of ``sigma``.
    delta : in (0, 1).
    norm : B > 0, with :math:`\|w\| \le B`.

    Returns
    -------
    Bound
        Terms ``margin loss``, ``class +1``, ``class -1``, ``intercept``, ``union bound``, ``confidence``, in
        the order of the formula. The condition on x is checked on the rows of X only.

    Raises
    ------
    ParameterError : a number outside its range, or a negative scale.

    Notes
    -----
    Paper 1, Theorem 9, as printed. r, B, gamma and sigma0 must be fixed before the sample is seen.
    """
    who = "scaled_bound"
    _check(who, gamma=gamma, r=r, sigma0=sigma0, norm=norm, delta=delta)
    if np.any(sigma < 0):
        raise ParameterError("a scale sigma is negative", "give sigma >= 0, not squared")
    n, root = len(y), float(np.sqrt(len(y)))
    deltas = 2.0 * np.maximum(sigma, sigma0)
    k = (norm * float(np.linalg.norm(deltas)) + 1.0) * r
    classes = {
        f"class {label:+d}": 2.0 * norm / gamma / n * float(np.sqrt((X[y == label] ** 2).sum(axis=0) @ deltas**2))
        for label in (1, -1)
    }
    terms = {
        "margin loss": margin_loss(y * (X @ (w * sigma) + b), gamma),
        **classes,
        "intercept": 2.0 * r / (gamma * root),
        "union bound": k / root * float(np.sqrt(2.0 * np.log(np.log2(deltas / sigma0)).sum())),
        "confidence": k / root * (2.0 / gamma + 1.0) * float(np.sqrt(2.0 * np.log(2.0 / delta))),
    }
    return Bound(terms, _conditions(X, w, b, r=r, norm=norm))


def scaled_bound(
    fit: Fit,
    data: Dataset,
    *,
    gamma: float = 1.0,
    r: float | None = None,
    sigma0: float = 1e-6,
    delta: float = 0.05,
) -> Bound:
    r"""Return the bound of Theorem 9 for a fit of ``gmeb`` or ``gmeb-penalised``.

    In the preprocessed space :math:`\tilde w = w \sigma` is the fit's weight vector, and B = 1 is the constraint
    of (10) and (11). The bound depends on the units of the columns, through :math:`r \|(\delta_j)\|`, although
    the classifier of GMEB does not: ``scale="standard"`` gives far smaller values than raw units.

    Parameters
    ----------
    fit : ``gmeb`` or ``gmeb-penalised``; ``data`` : the data it was fitted to, raw.
    r : as in :func:`scaled_bound_terms`; None takes the largest norm of a training sample, which is an estimate:
        the theorem wants a number that is known beforehand.
    gamma, sigma0, delta : as in :func:`scaled_bound_terms`.

    Raises
    ------
    ParameterError : another method, data with other columns, a number outside its range.

    Notes
    -----
    Paper 1, Theorem 9, with (14): :math:`\sigma_j = \sqrt{\tilde\sigma_j}`, :math:`w_j = \tilde w_j/\sigma_j`.
    """
    if fit.method not in ("gmeb", "gmeb-penalised"):
        raise ParameterError(
            f"Theorem 9 needs the scales sigma, which method '{fit.method}' does not have",
            "fit gmeb or gmeb-penalised, or take margin_bound",
        )
    X, weights, b = _preprocessed(fit, data)
    sigma = np.asarray(fit.details["sigma"], dtype=float)
    if fit.method == "gmeb":  # (15) has the squares
        sigma = np.sqrt(sigma)
    w = np.divide(weights, sigma, out=np.zeros(data.p), where=sigma > 0)
    r = _radius(X) if r is None else r
    return scaled_bound_terms(X, data.y, w, sigma, b, r=r, gamma=gamma, sigma0=sigma0, delta=delta)


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
) -> Bound:
    r"""Return the bound of Theorem 11 for the classifier :math:`f(x) = w'x + b`, features not scaled.

    .. math::

        P(y f(x) \le 0) \le\ & \hat E_n \phi_\gamma(y f(x)) + \frac{1}{n C \hat\gamma} + \frac{K}{\sqrt n}\Bigl(
            \sqrt{2\ln\log_2(\hat\gamma/\gamma_0)} + \sqrt{2\ln(2/\delta)}\Bigr), \\
        1/C =\ & 4B\sqrt{\textstyle\sum_j v_j} + 2r\sqrt n + 2K\sqrt{2n\ln(2/\delta)}, \qquad
        \hat\gamma = 2\max(\gamma, \gamma_0), \quad K = (B + 1)\, r

    Parameters
    ----------
    X, y, w, b, r, delta, norm : as in :func:`scaled_bound_terms`.
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
    Paper 1, Theorem 11 (8), as printed.
    """
    _check("margin_bound", gamma=gamma, r=r, gamma0=gamma0, norm=norm, delta=delta)
    n, root, k = len(y), float(np.sqrt(len(y))), (norm + 1.0) * r
    double = 2.0 * max(gamma, gamma0)
    tail = float(np.sqrt(2.0 * np.log(2.0 / delta)))
    terms = {
        "margin loss": margin_loss(y * (X @ w + b), gamma),
        "complexity": 4.0 * norm * float(np.sqrt((X**2).sum() / n)) / (n * double),
        "intercept": 2.0 * r / (double * root),
        "union bound": k / root * float(np.sqrt(2.0 * np.log(np.log2(double / gamma0)))),
        "confidence": k / root * tail,
        "margin confidence": 2.0 * k * tail / (double * root),
    }
    return Bound(terms, {**_conditions(X, w, b, r=r, norm=norm), "gamma >= gamma0": bool(gamma >= gamma0)})


def margin_bound(
    fit: Fit,
    data: Dataset,
    *,
    gamma: float | None = None,
    gamma0: float = 1e-6,
    r: float | None = None,
    delta: float = 0.05,
) -> Bound:
    r"""Return the bound of Theorem 11 for a linear classifier, divided by its norm.

    In the preprocessed space, with B = 1: :math:`f(x) = (w'x + b)/\|w\|`.

    Parameters
    ----------
    fit : of any method; ``data`` : the data it was fitted to, raw.
    gamma : margin; None takes :math:`1/\|w\|`, at which the loss is the hinge loss of the fit.
    gamma0, delta : as in :func:`margin_bound_terms`.
    r : as in :func:`scaled_bound`.

    Raises
    ------
    ParameterError : w = 0, data with other columns, a number outside its range.

    Notes
    -----
    Paper 1, Theorem 11.
    """
    X, w, b = _preprocessed(fit, data)
    size = float(np.linalg.norm(w))
    if size == 0:
        raise ParameterError("the classifier has w = 0, and no margin", "fit with other parameters")
    r = _radius(X) if r is None else r
    gamma = 1.0 / size if gamma is None else gamma
    return margin_bound_terms(X, data.y, w / size, b / size, r=r, gamma=gamma, gamma0=gamma0, delta=delta)


def _preprocessed(fit: Fit, data: Dataset) -> tuple[Matrix, Vector, float]:
    """Return the samples, weights and intercept in the space that the fit was found in."""
    if len(fit.coef) != data.p:
        raise ParameterError(f"the fit has {len(fit.coef)} features, the data {data.p}", "give its own training data")
    return fit.preprocessing.apply(data.X), *scaled_hyperplane(fit.coef, fit.intercept, fit.preprocessing)


def _radius(X: Matrix) -> float:
    return float(np.linalg.norm(X, axis=1).max())


def _conditions(X: Matrix, w: Vector, b: float, *, r: float, norm: float) -> dict[str, bool]:
    slack = 1.0 + ROUNDING
    return {
        "||x|| <= r": _radius(X) <= r * slack,
        "|b| <= r": abs(b) <= r * slack,
        "||w|| <= B": float(np.linalg.norm(w)) <= norm * slack,
    }


def _check(who: str, *, delta: float, **positive: float) -> None:
    number(who, "delta", delta, low=0.0, high=1.0, strict=True)
    for name, value in positive.items():
        number(who, name, value, low=0.0, strict=True)
