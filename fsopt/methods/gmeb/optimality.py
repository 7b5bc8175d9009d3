r"""Optimality of a GMEB classifier by a lower bound, in numpy alone.

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
from fsopt.methods.gmeb.unit_rms import UnitRms, unit_rms
from fsopt.methods.spec import SavedFit
from fsopt.methods.verdict import extend, finite_vector
from fsopt.models.gmeb.norm import GmebNorm
from fsopt.typing import Vector


def certify_gmeb(
    data: Dataset, norm: GmebNorm, w: Vector, b: float, mu: Vector, theta: float, *, separable: bool = False
) -> Certificate:
    r"""Certify a classifier as the optimum of (15), or as the separating hyperplane of smallest norm.

    Parameters
    ----------
    data, norm : in the units of w.
    w, b : (p,) weights and the intercept.
    mu, theta : (n,) multipliers of the margins and the share of the radii, from which the bound is recomputed; the
        nearest feasible mu is taken.
    separable : whether the classifier is the separating hyperplane of smallest norm.

    Returns
    -------
    Certificate
        Kind ``convex``. Residuals ``norm`` (N(w) <= 1) and ``gap`` (between the hinge loss and the bound above) prove
        optimality. For separable data (optimum 0, no dual information) ``gap`` is that of the smallest norm.
    """
    size, _ = norm.at(w)
    loss = hinge(data.X @ w + b, data.y, data.weights)
    residuals = {"norm": max(0.0, size - 1.0)}
    kept = project_multipliers(mu, data.y, np.inf if separable else loss_weights(1.0, data.weights))
    largest = float(quotients(data, norm, kept, theta).max())
    if separable:
        lower = float(kept.sum()) / largest if kept.any() else 0.0
        residuals |= {"hinge": loss, "gap": relative_gap(size, lower)}
        return make(Kind.CONVEX, residuals, objective=loss, bound=0.0, bound_source="dual point")
    bound = max(float(kept.sum()) - largest, 0.0)
    residuals["gap"] = relative_gap(loss, bound)
    return make(Kind.CONVEX, residuals, objective=loss, bound=bound, bound_source="dual point")


def quotients(data: Dataset, norm: GmebNorm, mu: Vector, theta: float) -> Vector:
    """Return |s_j| / u_j(theta) (p,), infinite where only u_j vanishes."""
    s, u = np.abs(data.X.T @ (mu * data.y)), norm.weights(theta)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(s > 0, s / u, 0.0)


def check_gmeb(saved: SavedFit) -> Certificate:
    """Certify a saved fit again, on the features that are not constant and in the units that it was solved in.

    Raises
    ------
    FileError : the saved multipliers are damaged.
    """
    at = saved_gmeb(saved)
    separable = bool(saved.fit.details["separable"])
    proof = certify_gmeb(at.data, at.norm, at.w, saved.b, at.mu, at.theta, separable=separable)
    return extend(proof, _stated(saved, at))


@dataclass(frozen=True)
class SavedGmeb:
    """A saved fit in the units that it was solved in: its data, norm, weights and multipliers."""

    prepared: UnitRms
    data: Dataset
    norm: GmebNorm
    w: Vector
    mu: Vector
    theta: float


def saved_gmeb(saved: SavedFit) -> SavedGmeb:
    """Return a saved fit in the units that it was solved in; raises FileError where it is damaged."""
    fit = saved.fit
    with reading("multipliers"):
        prepared = unit_rms(saved.raw, fit.params["scale"])
        part = saved.data.columns(prepared.kept)
        work = part.with_X(part.X / prepared.units)
        mu, theta = finite_vector(fit.details["mu"], saved.data.n), float(fit.details["theta"])
        if not 0.0 <= theta <= 1.0:
            raise ValueError("theta in [0, 1] is needed")
        radii = [np.inf if fit.params[k] is None else float(fit.params[k]) for k in ("r_plus", "r_minus")]
    w = saved.w[prepared.kept] * prepared.units
    return SavedGmeb(prepared, work, GmebNorm.of(work, *radii), w, mu, theta)


def _stated(saved: SavedFit, at: SavedGmeb) -> dict[str, float]:
    """Return the distances of the features, units, norm and scales that a saved fit states."""
    details = saved.fit.details
    kept, units = at.prepared.kept, at.prepared.units
    scales = at.prepared.full(at.norm.scales(at.w) / units)
    with reading("proof"):
        same = np.array_equal(np.array(details["columns"], dtype=float), kept)
        stated_units, sigma = finite_vector(details["units"], len(kept)), finite_vector(details["sigma"], saved.data.p)
        return {
            "columns": 0.0 if same else np.inf,
            "units": float(np.abs(stated_units / units - 1.0).max()),
            "stated norm": abs(float(details["norm"]) - at.norm.at(at.w)[0]),
            "scales": float(np.abs(sigma - scales).max() / max(1.0, scales.max())),
        }
