r"""Optimality of a GMEB classifier: a lower bound, and the optimality conditions of (15) and (16), in numpy alone.

With multipliers :math:`\mu_+, \mu_-` of the radii, :math:`\theta = \mu_+R_+/(\mu_+R_+ + \mu_-R_-)` and
:math:`s = X'Y\mu`, every :math:`\mu \in [0,1]^n` with :math:`y'\mu = 0` gives the lower bound

.. math:: 1'\mu - \max_j \frac{|s_j|}{u_j(\theta)}

on (15): the second term is the smallest :math:`2\mu_1` with which the cones of (16) hold. For the separating hyperplane
of smallest norm the same quotient gives :math:`N(w) \ge 1'\mu / \max_j (|s_j|/u_j(\theta))`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.certificates.points import relative_gap
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, project_multipliers
from fsopt.data.weights import loss_weights
from fsopt.errors import reading
from fsopt.methods.gmeb.unit_rms import unit_rms
from fsopt.methods.spec import SavedFit
from fsopt.methods.verdict import extend, finite_vector
from fsopt.models.gmeb.norm import GmebNorm
from fsopt.typing import Vector


@dataclass(frozen=True)
class GmebDual:
    """A dual point of GMEB.

    Attributes
    ----------
    mu : (n,) multipliers of the margins.
    unit, plus, minus : mu_1, mu_+ and mu_-, of the unit norm and of the two radii.
    """

    mu: Vector
    unit: float
    plus: float
    minus: float


def polish(data: Dataset, norm: GmebNorm, dual: GmebDual) -> GmebDual:
    r"""Return the best multipliers of (16) with nearly the same mu and the same share theta of the two radii.

    mu is projected on :math:`y'\mu = 0`; :math:`\mu_1` is the smallest that the cones allow, and
    :math:`\mu_+R_+ + \mu_-R_- = \mu_1`. The objective depends on a solver's error in :math:`\mu_1, \mu_+, \mu_-` to
    second order only, so that solvers stop far from both.
    """
    mu = project_multipliers(dual.mu, data.y, loss_weights(1.0, data.weights))
    theta = norm.theta_of(dual.plus, dual.minus)
    unit = 0.5 * _largest_quotient(data, norm, mu, theta)
    return GmebDual(mu, unit, unit * theta / norm.r_plus, unit * (1.0 - theta) / norm.r_minus)


def certify_gmeb(
    data: Dataset, norm: GmebNorm, w: Vector, b: float, dual: GmebDual, *, separable: bool = False
) -> Certificate:
    r"""Certify a classifier as the optimum of (15), or as the separating hyperplane of smallest norm.

    Parameters
    ----------
    data, norm : in the units of w.
    w, b : (p,) weights and the intercept.
    dual : multipliers, from which the bound is recomputed.
    separable : whether the classifier is the separating hyperplane of smallest norm.

    Returns
    -------
    Certificate
        Kind ``convex``. Residuals ``norm`` (N(w) <= 1) and ``gap`` (between the hinge loss and the bound above)
        prove optimality. The others are the identities of an optimal pair, each in units of the objective:
        ``prices`` :math:`\mu_+R_+ + \mu_-R_- = \mu_1`; ``value`` :math:`1'\xi = 1'\mu - 2\mu_1`; ``cone``
        :math:`|s_j| \le 2\sqrt{\mu_1 q_j}` with :math:`q = \mu_+v^+ + \mu_-v^-`; ``support`` equality where
        :math:`w_j \ne 0`; ``perspective`` :math:`\sum_j w_j^2/\sigma_j = 1` where :math:`\mu_1 > 0`; ``intercept``
        :math:`b = y_i - w'x_i` where :math:`0 < \mu_i < 1`. For separable data (optimum 0, no dual information)
        ``gap`` is that of the smallest norm, and there are no identities.
    """
    size, _ = norm.at(w)
    scores = data.X @ w + b
    loss = hinge(scores, data.y, data.weights)
    if separable:
        lower = _lower_bound_on_norm(data, norm, dual)
        residuals = {"norm": max(0.0, size - 1.0), "hinge": loss, "gap": relative_gap(size, lower)}
        return make(Kind.CONVEX, residuals, objective=loss, bound=0.0, bound_source="dual point")
    mu = project_multipliers(dual.mu, data.y, loss_weights(1.0, data.weights))
    theta = norm.theta_of(dual.plus, dual.minus)
    bound = max(float(mu.sum()) - _largest_quotient(data, norm, mu, theta), 0.0)
    unit = max(1.0, loss)
    plus = dual.plus * norm.r_plus if np.isfinite(norm.r_plus) else 0.0
    minus = dual.minus * norm.r_minus if np.isfinite(norm.r_minus) else 0.0
    s = np.abs(data.X.T @ (mu * data.y))
    # mu_1 q_j; multipliers of a damaged file may be negative.
    product = np.maximum(dual.unit * (dual.plus * norm.v_plus + dual.minus * norm.v_minus), 0.0)
    edge = 2.0 * np.sqrt(product)
    residuals = {
        "norm": max(0.0, size - 1.0),
        "gap": relative_gap(loss, bound),
        "prices": abs(plus + minus - dual.unit) / unit,
        "value": abs(loss - float(mu.sum()) + 2.0 * dual.unit) / unit,
        "cone": float(np.maximum(s - edge, 0.0).max() / max(1.0, s.max())),
        "support": float(np.abs(w) @ np.abs(s - edge)) / unit,
        "perspective": dual.unit * abs(size - 1.0) / unit,
        "intercept": float(np.minimum(mu, loss_weights(1.0, data.weights) - mu) @ np.abs(1.0 - data.y * scores)) / unit,
    }
    return make(Kind.CONVEX, residuals, objective=loss, bound=bound, bound_source="dual point")


def _lower_bound_on_norm(data: Dataset, norm: GmebNorm, dual: GmebDual) -> float:
    """Return the lower bound that multipliers prove on N(w) of the separating hyperplanes."""
    mu = project_multipliers(dual.mu, data.y, np.inf)
    if not mu.any():
        return 0.0
    return float(mu.sum()) / _largest_quotient(data, norm, mu, norm.theta_of(dual.plus, dual.minus))


def _largest_quotient(data: Dataset, norm: GmebNorm, mu: Vector, theta: float) -> float:
    """Return the largest |s_j| / u_j(theta)."""
    return float(quotients(data, norm, mu, theta).max())


def quotients(data: Dataset, norm: GmebNorm, mu: Vector, theta: float) -> Vector:
    """Return |s_j| / u_j(theta) (p,), infinite where only u_j vanishes."""
    s, u = np.abs(data.X.T @ (mu * data.y)), norm.weights(theta)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(s > 0, s / u, 0.0)


def check_gmeb(saved: SavedFit) -> Certificate:
    """Certify a saved fit again, on the features that are not constant and in the units that it was solved in.

    Raises
    ------
    FileError : the saved multipliers or units are damaged.
    """
    fit, details = saved.fit, saved.fit.details
    with reading("proof"):
        prepared = unit_rms(saved.raw, fit.params["scale"])
        kept, units = prepared.kept, prepared.units
        stated_units = finite_vector(details["units"], len(kept))
        same = np.array_equal(np.array(details["columns"], dtype=float), kept)
        stated = details["multipliers"]
        mu = finite_vector(stated["mu"], saved.data.n)
        dual = GmebDual(mu, *(float(stated[k]) for k in ("unit", "plus", "minus")))
        radii = [np.inf if fit.params[k] is None else float(fit.params[k]) for k in ("r_plus", "r_minus")]
        part = saved.data.columns(kept)
        work = part.with_X(part.X / units)
        norm, w = GmebNorm.of(work, *radii), saved.w[kept] * units
        proof = certify_gmeb(work, norm, w, saved.b, dual, separable=bool(details["separable"]))
        size = norm.at(w)[0]
        scales = prepared.full(norm.scales(w) / units)
        wrong = {
            "columns": 0.0 if same else np.inf,
            "units": float(np.abs(stated_units / units - 1.0).max()),
            "stated norm": abs(float(details["norm"]) - size),
            "scales": float(
                np.abs(finite_vector(details["sigma"], saved.data.p) - scales).max() / max(1.0, scales.max())
            ),
        }
    return extend(proof, wrong)
