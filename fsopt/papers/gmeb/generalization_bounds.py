"""The generalization error bounds of Peleg & Meir for fits: Theorem 9 for ``gmeb``, Theorem 11 for any linear one."""

from __future__ import annotations

import numpy as np

from fsopt.answers.fits import Fit
from fsopt.common.arguments import word
from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.methods.gmeb.bound_terms import (
    RiskBound,
    ScaledClassifier,
    largest_norm,
    margin_bound_terms,
    scaled_bound_terms,
)
from fsopt.methods.gmeb.grid_bound import grid_bound_terms
from fsopt.methods.preprocessing import scaled_hyperplane
from fsopt.methods.registry import METHODS
from fsopt.methods.selection import select_by_size
from fsopt.typing import Matrix, Vector


def scaled_bound(
    fit: Fit,
    data: Dataset,
    *,
    gamma: float = 1.0,
    r: float | None = None,
    sigma0: float = 1e-6,
    delta: float = 0.05,
    form: str = "theorem",
) -> RiskBound:
    r"""Return the bound of Theorem 9 for a fit of ``gmeb`` or ``gmeb-penalised``.

    In the preprocessed space :math:`\tilde w = w \sigma` is the fit's weight vector, and B = 1 is the constraint
    of (10) and (11). The bound depends on the units of the features, through :math:`r \|(\delta_j)\|`, although
    the classifier of GMEB does not: ``scale="standard"`` gives far smaller values than raw units.

    Parameters
    ----------
    fit : ``gmeb`` or ``gmeb-penalised``; ``data`` : the data it was fitted to, raw.
    r : as in :func:`fsopt.methods.gmeb.bound_terms.scaled_bound_terms`; None takes the largest norm of a training
        sample, which is an estimate: the theorem wants a number that is known beforehand.
    gamma, sigma0, delta : as in :func:`fsopt.methods.gmeb.bound_terms.scaled_bound_terms`.
    form : ``theorem`` (default): as printed; ``proof``: (22) of its proof, before the last rounding of the scales, see
        :func:`fsopt.methods.gmeb.grid_bound.grid_bound_terms`; ``entropy``: the same with the entropy method, which the
        paper leaves to future work, in the place of McDiarmid's inequality.

    Raises
    ------
    ParameterError : another word for form, another method, data with other features, a number outside its range.

    Notes
    -----
    Peleg & Meir, Theorem 9, with (14): :math:`\sigma_j = \sqrt{\tilde\sigma_j}`, :math:`w_j = \tilde w_j/\sigma_j`.
    """
    word("form", form, ("theorem", "proof", "entropy"))
    if fit.method not in ("gmeb", "gmeb-penalised"):
        raise ParameterError(
            f"Theorem 9 needs the scales sigma, which method '{fit.method}' does not have",
            "fit gmeb or gmeb-penalised, or take margin_bound",
        )
    X, weights, b = _preprocessed(fit, data)
    sigma = np.asarray(fit.details["sigma"], dtype=float)
    if fit.method == "gmeb":  # (15) has the squares
        sigma = np.sqrt(sigma)
    # A cone program leaves weights of 1e-10 in place of zeros. Their sigma, a square root, is above sigma0, and each
    # would add ln log2(2 sigma / sigma0) to the union bound. The threshold is that of noise, not the user's rule: a
    # small weight that the classifier has counts.
    noise_free = select_by_size(fit.coef, data.X.std(axis=0), units="scaled", epsilon=METHODS[fit.method].threshold)
    used = np.isin(np.arange(data.p), noise_free)
    sigma = np.where(used, sigma, 0.0)
    w = np.divide(weights, sigma, out=np.zeros(data.p), where=sigma > 0)
    r = largest_norm(X) if r is None else r
    classifier = ScaledClassifier(w, sigma, b)
    numbers = {"r": r, "gamma": gamma, "sigma0": sigma0, "delta": delta}
    if form == "theorem":
        return scaled_bound_terms(X, data.y, classifier, **numbers)
    concentration = "entropy" if form == "entropy" else "mcdiarmid"
    return grid_bound_terms(X, data.y, classifier, concentration=concentration, **numbers)


def margin_bound(
    fit: Fit,
    data: Dataset,
    *,
    gamma: float | None = None,
    gamma0: float = 1e-6,
    r: float | None = None,
    delta: float = 0.05,
) -> RiskBound:
    r"""Return the bound of Theorem 11 for a linear classifier, divided by its norm.

    In the preprocessed space, with B = 1: :math:`f(x) = (w'x + b)/\|w\|`.

    Parameters
    ----------
    fit : of any method; ``data`` : the data it was fitted to, raw.
    gamma : margin; None takes :math:`1/\|w\|`, at which the loss is the hinge loss of the fit.
    gamma0, delta : as in :func:`fsopt.methods.gmeb.bound_terms.margin_bound_terms`.
    r : as in :func:`scaled_bound`.

    Raises
    ------
    ParameterError : w = 0, data with other features, a number outside its range.

    Notes
    -----
    Peleg & Meir, Theorem 11.
    """
    X, w, b = _preprocessed(fit, data)
    size = float(np.linalg.norm(w))
    if size == 0:
        raise ParameterError("the classifier has w = 0, and no margin", "fit with other parameters")
    r = largest_norm(X) if r is None else r
    gamma = 1.0 / size if gamma is None else gamma
    return margin_bound_terms(X, data.y, w / size, b / size, r=r, gamma=gamma, gamma0=gamma0, delta=delta)


def _preprocessed(fit: Fit, data: Dataset) -> tuple[Matrix, Vector, float]:
    """Return the samples, weights and intercept in the space that the fit was found in."""
    if len(fit.coef) != data.p:
        raise ParameterError(f"the fit has {len(fit.coef)} features, the data {data.p}", "give its own training data")
    return fit.preprocessing.apply(data.X), *scaled_hyperplane(fit.coef, fit.intercept, fit.preprocessing)
