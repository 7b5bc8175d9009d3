"""Method ``gmeb`` (Peleg & Meir, (15)): by any of four formulations, with one certificate for all.

The data are centred, without constant features, in units of unit root mean square. The classifier of an answer is of
smallest norm where they are separable. The exact claim of a saved fit is program (15) at its hyperplane, with the
multipliers of (16).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fsopt.answers.certificate import Certificate
from fsopt.answers.fits import Fit
from fsopt.certificates.exact.claims import Claim
from fsopt.common.texts import counted
from fsopt.data import Dataset
from fsopt.data.hyperplanes import project_multipliers
from fsopt.data.matrices import Preprocessing, constant_columns, exact_sums
from fsopt.data.weights import loss_weights
from fsopt.drivers.run import Run, Steps
from fsopt.errors import ParameterError, reading
from fsopt.methods.claims import about_of, dual_point, optimum
from fsopt.methods.gmeb.routes import certify_gmeb, choose_route, classified, quotients
from fsopt.methods.preprocessing import Hyperplane, SelectionRule, make_fit, preprocess
from fsopt.methods.spec import MethodSpec, SavedFit, selected_by
from fsopt.methods.verdict import Completed, extend, finite_vector
from fsopt.models.gmeb.norm import GmebNorm, radius
from fsopt.typing import Indices, Vector

NAME = "the optimum of (15), on features of unit root mean square"
EPSILON = 1e-5
"""The cone programs (15) and (16) end with about 1e-10 of the largest weight in place of its zeros."""
RULE = SelectionRule(units="scaled", epsilon=EPSILON)


@dataclass(frozen=True)
class UnitRms:
    """The data that a GMEB problem is solved on, and the way back.

    Attributes
    ----------
    work : the preprocessed features that are not constant, each divided by its root mean square.
    map_ : the preprocessing of all features, before that division.
    kept : (q,) places of the features that are not constant.
    units : (q,) their root mean squares after preprocessing.
    warnings : a warning about the constant features, if there are any.
    """

    work: Dataset
    map_: Preprocessing
    kept: Indices
    units: Vector
    warnings: tuple[str, ...]

    def full(self, w: Vector) -> Vector:
        """Return the weights (p,) of all preprocessed features from those (q,) of ``work``."""
        weights = np.zeros(len(self.map_.scale))
        weights[self.kept] = w / self.units
        return weights


def unit_rms(data: Dataset, scale: str) -> UnitRms:
    """Return the data in units of unit root mean square.

    The problems are invariant to the units of the features, the arithmetic of solvers is not: on WDBC in raw units
    one solver stops at 84.45, another at 79.79, instead of 97.01.

    Parameters
    ----------
    scale : preprocessing before that, see :func:`fsopt.methods.preprocessing.preprocess`.

    Raises
    ------
    ParameterError : all features are constant.
    """
    centred, map_ = preprocess(data, scale)
    kept = np.flatnonzero(~constant_columns(data.X))
    if not len(kept):
        raise ParameterError("all features are constant, nothing can be learned", "give data that vary")
    warnings: tuple[str, ...] = ()
    if len(kept) < data.p:
        names = ", ".join(data.features[j] for j in np.setdiff1d(np.arange(data.p), kept)[:5])
        warnings = (f"dropped {counted(data.p - len(kept), 'constant feature')} ({names})",)
    units = np.sqrt(exact_sums(centred.X[:, kept] ** 2) / data.n)
    return UnitRms(centred.columns(kept).with_X(centred.X[:, kept] / units), map_, kept, units, warnings)


def fit_gmeb(
    data: Dataset,
    run: Run,
    *,
    r_plus: float = 3.0,
    r_minus: float = 3.0,
    route: str = "auto",
    scale: str = "center",
) -> Steps[Fit]:
    r"""Fit the classifier of smallest generalization error bound (GMEB).

    .. math:: \min_{w,b} \sum_i \max(0, 1 - y_i(w'x_i + b)) \quad\text{s.t.}\quad
        N(w) = \max_{\theta \in [0,1]} \sum_j |w_j| \sqrt{\theta v_j^+/R_+ + (1-\theta) v_j^-/R_-} \le 1

    is (15) without its sigma. Features are centred by the training mean, because the bound needs moments about 0 of
    centred features. The problem is invariant to their units, and is solved with features of unit root mean square.
    Every formulation ends in a hyperplane and multipliers, from which the same certificate is recomputed.

    Parameters
    ----------
    r_plus : float, default 3.0
        R+ > 0, radius of class +1; infinity drops its constraint, for at most one of the classes.
    r_minus : float, default 3.0
        R- > 0, radius of class -1; infinity drops its constraint, for at most one of the classes.
    route : str, default 'auto'
        ``dual``: (16), with (w, b) its multipliers (Theorem 19); ``primal``: (15) with rotated cones; ``sdp``: (15)
        with its matrix inequality, for p up to about 100; ``theta-cuts``: linear programs alone, exact zeros;
        ``auto`` (default): the dual if the solver takes cones, and cuts if not, or if the dual is not solved or fails
        its check. From 3,000 features on each takes a working set of them (:mod:`fsopt.drivers.working_set`).
    scale : str, default 'center'
        Preprocessing of the features: ``center`` (default), ``standard`` or ``none``.

    Returns
    -------
    Fit
        ``objective`` is that of (15), the hinge loss; ``details`` has ``sigma`` (p,) of (15), in preprocessed units,
        ``norm`` = N(w), the multipliers, and ``separable``. Data that are separable within N(w) <= 1 have optimum 0
        and many optimal hyperplanes: the one of smallest N is returned, with a warning.

    Raises
    ------
    ParameterError : a bad radius or route.
    SolverError : a solver that gives no multipliers, or does not take the problem class of the route.

    Notes
    -----
    Peleg & Meir, (15)-(17) and section 4.3. The certificate is that of
    :func:`fsopt.methods.gmeb.routes.certify_gmeb`.
    """
    started = time.perf_counter()
    r_plus, r_minus = radius("gmeb", "r_plus", r_plus), radius("gmeb", "r_minus", r_minus)
    prepared = unit_rms(data, scale)
    path = choose_route(route, run)
    norm = GmebNorm.of(prepared.work, r_plus, r_minus)
    found, warnings = yield from classified(prepared.work, norm, run, path, auto=route == "auto")
    w = prepared.full(found.w)
    return make_fit(
        data,
        prepared.map_,
        Hyperplane(w, found.b, RULE.select(w / prepared.map_.scale, data.X.std(axis=0))),
        found.outcome,
        started=started,
        warnings=(*prepared.warnings, *warnings),
        details={
            "sigma": prepared.full(norm.scales(found.w) / prepared.units),
            "norm": norm.at(found.w)[0],
            "separable": found.separable,
            "mu": found.mu,
            "theta": found.theta,
        },
    )


def saved_gmeb(saved: SavedFit) -> tuple[UnitRms, GmebNorm, Vector, Vector, float]:
    """Return a saved fit in the units that it was solved in: its data, norm, weights (q,), multipliers (n,) and theta.

    Raises
    ------
    FileError : its multipliers are damaged.
    """
    fit = saved.fit
    with reading("multipliers"):
        prepared = unit_rms(saved.raw, fit.params["scale"])
        part = saved.data.columns(prepared.kept)
        prepared = replace(prepared, work=part.with_X(part.X / prepared.units))
        mu, theta = finite_vector(fit.details["mu"], saved.data.n), float(fit.details["theta"])
        if not 0.0 <= theta <= 1.0:
            raise ValueError("theta in [0, 1] is needed")
        radii = [np.inf if fit.params[k] is None else float(fit.params[k]) for k in ("r_plus", "r_minus")]
    return prepared, GmebNorm.of(prepared.work, *radii), saved.w[prepared.kept] * prepared.units, mu, theta


def check(saved: SavedFit) -> Certificate:
    """Certify a saved fit again, on the features that are not constant and in the units that it was solved in.

    Raises
    ------
    FileError : the saved multipliers are damaged.
    """
    prepared, norm, w, mu, theta = saved_gmeb(saved)
    details = saved.fit.details
    proof = certify_gmeb(prepared.work, norm, w, saved.b, mu, theta, separable=bool(details["separable"]))
    scales = prepared.full(norm.scales(w) / prepared.units)
    with reading("proof"):
        off = np.abs(finite_vector(details["sigma"], saved.data.p) - scales)
        size = abs(float(details["norm"]) - norm.at(w)[0])
    return extend(proof, {"stated norm": size, "scales": float(off.max() / max(1.0, scales.max()))})


def exact_claims(saved: SavedFit) -> list[Claim]:
    r"""Return the claim of a fit.

    The dual point of (15) follows from :math:`\mu` and :math:`\theta`, which give :math:`\mu_1, \mu_+, \mu_-` of (16).
    Separable data have the bound 0 of all multipliers 0.

    Raises
    ------
    FileError : the saved multipliers are damaged.
    """
    prepared, norm, w, mu, theta = saved_gmeb(saved)
    if bool(saved.fit.details["separable"]):
        mu = 0.0 * mu
    mu = project_multipliers(mu, saved.data.y, loss_weights(1.0, saved.data.weights))
    unit = 0.5 * float(quotients(prepared.work, norm, mu, theta).max())
    params = {"r_plus": norm.r_plus, "r_minus": norm.r_minus}
    at, _ = Completed.of("gmeb-primal", params, prepared.work, w, saved.b)
    sides = {"moment_plus": -unit * theta / norm.r_plus, "moment_minus": -unit * (1.0 - theta) / norm.r_minus}
    rows = {name: v for name, v in sides.items() if at.model.component(name) is not None}
    point = dual_point(at, {"margin": mu, "unit_norm": -unit, **rows})
    return [optimum(saved, at, point, about=about_of("gmeb-primal", params, units="rms"), name=NAME)]


SPEC = MethodSpec(
    "gmeb",
    fit_gmeb,
    ("gmeb-dual", "gmeb-primal", "gmeb-sdp", "gmeb-cuts", "gmeb-hard-margin"),
    check=check,
    program="gmeb-primal",
    paper="gmeb",
    equation="(15)-(17)",
    estimator="GMEB",
    driver="theta-cuts",
    support=partial(selected_by, RULE),
    weights="samples",
    exact=exact_claims,
    threshold=EPSILON,
    grid=(("r_plus", (1.0, 3.0, 9.0)), ("r_minus", (1.0, 3.0, 9.0))),
)
