r"""Method ``gmeb`` (Peleg & Meir, (15)): by any of four formulations, with one certificate for all.

The data are centred, without constant features, in units of unit root mean square. Every formulation ends in weights
and in multipliers mu of the margins. With :math:`s = X'Y\mu`, every :math:`\mu \in [0,1]^n` with :math:`y'\mu = 0`
gives the lower bound

.. math:: 1'\mu - \min_{\theta \in [0,1]} \max_j \frac{|s_j|}{u_j(\theta)}

on (15), whatever the solver: the second term is the norm of s dual to N, at each theta an upper bound on it. It is the
smallest :math:`2\mu_1 = 2(R_+\mu_+ + R_-\mu_-)` with which the cones of (16) hold, at :math:`\mu_\pm` of the share
:math:`\theta = \mu_+R_+/\mu_1`. For the separating hyperplane of smallest norm it gives
:math:`N(w) \ge 1'\mu / \max_j (|s_j|/u_j(\theta))`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.answers.fits import Fit
from fsopt.answers.results import DriverResult, SolveResult, Status
from fsopt.certificates.exact.claims import Claim
from fsopt.certificates.points import relative_gap
from fsopt.common.registry import changes_in_force
from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, loss_weights, midpoint_intercept, project_multipliers
from fsopt.drivers.loop import Iterate, Loop, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import Run, Steps, drained, usable
from fsopt.drivers.theta_cuts import theta_cuts
from fsopt.drivers.working_set import spread, working_set
from fsopt.errors import SolverError
from fsopt.methods.claims import about_of, claim_on_program, dual_point
from fsopt.methods.large_programs import by_features, first_certified
from fsopt.methods.preprocessing import make_fit, unit_rms, with_certificate
from fsopt.methods.spec import MethodSpec, SavedFit
from fsopt.methods.verdict import Completed, finite_vector
from fsopt.models.gmeb.gmeb import (
    build_gmeb_cuts,
    build_gmeb_dual,
    build_gmeb_hard_margin,
    build_gmeb_primal,
    build_gmeb_sdp,
)
from fsopt.models.gmeb.norm import GmebNorm, minimum
from fsopt.solvers.base import Session
from fsopt.solvers.registry import no_multipliers, solver_spec
from fsopt.typing import Indices, Mask, Vector

NAME = "the optimum of (15), on features of unit root mean square"
EPSILON = 1e-5
"""The cone programs (15) and (16) end with about 1e-10 of the largest weight in place of its zeros."""
SEPARABLE = 1e-6
"""Hinge loss, relative to the number of samples, up to which an optimum counts as 0."""
EXCESS = 1e-6
"""Relative excess of a quotient that is none within the tolerance of the solvers."""
CUTS = "theta-cuts"
BUILDERS: Mapping[str, Callable[..., pyo.ConcreteModel]] = {
    "dual": build_gmeb_dual,
    "primal": build_gmeb_primal,
    "sdp": build_gmeb_sdp,
    CUTS: build_gmeb_cuts,
}
ROUTES = tuple(BUILDERS)
"""Words of the parameter ``route``: a formulation each; all end at the same value of (15)."""


@dataclass(frozen=True)
class Classifier:
    """A hyperplane in the unit ball, its multipliers mu (n,) and outcome; of smallest norm for ``separable`` data."""

    w: Vector
    b: float
    mu: Vector
    outcome: SolveResult | DriverResult
    separable: bool
    warnings: tuple[str, ...] = ()


def inside_the_ball(
    data: Dataset, norm: GmebNorm, w: Vector, mu: Vector, outcome: SolveResult | DriverResult, *, separable: bool
) -> Classifier:
    """Return weights (p,), scaled into the unit ball, with their best intercept and certificate."""
    w = w / max(1.0, norm.at(w)[0])
    b = midpoint_intercept(data.X @ w, data.y, data.weights)
    proof = certify_gmeb(data, norm, w, b, mu, separable=separable)
    return Classifier(w, b, mu, with_certificate(outcome, proof), separable)


def certify_gmeb(
    data: Dataset, norm: GmebNorm, w: Vector, b: float, mu: Vector, *, separable: bool = False
) -> Certificate:
    """Certify a classifier as the optimum of (15), or as the separating hyperplane of smallest norm.

    The residuals, each at most 1e-6, are ``norm`` (N(w) <= 1) and ``gap``, between the hinge loss and the bound of the
    nearest feasible multipliers; for separable data, whose optimum 0 has no dual information, the loss is a residual
    ``hinge``, and the gap is that of the smallest norm.
    """
    size, loss = norm.at(w)[0], hinge(data.X @ w + b, data.y, data.weights)
    residuals = {"norm": max(0.0, size - 1.0)}
    mu = project_multipliers(mu, data.y, np.inf if separable else loss_weights(1.0, data.weights))
    largest = float(dual_norm_terms(data, norm, mu)[0].max())
    bound = 0.0 if separable else max(float(mu.sum()) - largest, 0.0)
    if separable:
        residuals |= {"hinge": loss, "gap": relative_gap(size, float(mu.sum()) / largest if mu.any() else 0.0)}
    else:
        residuals["gap"] = relative_gap(loss, bound)
    return make(Kind.CONVEX, residuals, objective=loss, bound=bound, bound_source="dual point")


def dual_norm_terms(data: Dataset, norm: GmebNorm, mu: Vector, among: Mask | None = None) -> tuple[Vector, float]:
    """Return |s_j| / u_j(theta) (p,), and theta, at which their maximum among some features (p,) is smallest."""
    s = np.abs(data.X.T @ (mu * data.y))
    places = np.arange(data.p) if among is None else np.flatnonzero(among)

    def at(theta: float) -> Vector:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(s > 0, s / norm.weights(theta), 0.0)

    def largest(theta: float) -> float:
        return float(at(theta)[places].max(initial=0.0))

    # u is concave: the terms and their maximum are convex in theta.
    theta = minimum(largest, (0.0, 1.0))[1] if len(norm.ends) == 2 else norm.ends[0]
    return at(theta), theta


def by_model(session: Session, data: Dataset, norm: GmebNorm, *, hard: bool = False) -> Classifier:
    """Solve (16) or a primal form, which is loaded in a session, and return the classifier of its point."""
    m = session.model
    dual = m.component("expansion") is not None  # w is the multiplier of s = X'Y mu (Theorem 19)
    # The certificate of (w, b) and mu is fsopt's own; a primal form that is not certified may count as not solved.
    result = usable(session.solve(certify=not dual), "the dual (16)" if dual else f"'{m.name}'")
    multipliers = np.array([m.dual[row] for row in (m.expansion if dual else m.margin).values()])
    w, mu = (multipliers, values_of(m.mu)) if dual else (values_of(m.w), multipliers)
    return inside_the_ball(data, norm, w, mu, result, separable=hard)


def by_route(route: str, data: Dataset, norm: GmebNorm, run: Run, *, hard: bool = False) -> Steps[Classifier]:
    """Solve (15) by a formulation, or for the separating hyperplane of smallest norm, by cuts or by cones."""
    radii: dict[str, Any] = {"r_plus": norm.r_plus, "r_minus": norm.r_minus}
    if route != CUTS:
        build = build_gmeb_hard_margin if hard else BUILDERS[route]
        return by_model(run.open(build(data, **radii)), data, norm, hard=hard)
    result = yield from theta_cuts.steps(data, build_gmeb_cuts(data, **radii, hard=hard), run=run)
    return inside_the_ball(data, norm, result.point["w"], result.point["mu"], result, separable=hard)


def _whole(data: Dataset, norm: GmebNorm, run: Run, route: str) -> Steps[Classifier]:
    """Return the certified classifier of a route by models of all features."""
    paths = ("dual", CUTS) if route == "auto" else (route,)

    def solved(*, hard: bool) -> Steps[Classifier]:
        ways: list[Callable[[], Classifier | Steps[Classifier]]]
        ways = [partial(by_route, path, data, norm, run, hard=hard) for path in paths]
        found, warnings = yield from first_certified(ways, lambda found: found.outcome)
        return replace(found, warnings=warnings)

    found = yield from solved(hard=False)
    if changes_in_force():
        outcome = replace(found.outcome, status=Status.FEASIBLE, bound=None, certificate=None)
        return replace(found, outcome=outcome, warnings=("the certificate is that of (15), not of a changed model",))
    loss = found.outcome.objective
    if loss is None or loss > SEPARABLE * data.n:
        return found
    try:
        hard = yield from solved(hard=True)
    except SolverError:
        return found
    if hard.outcome.status is not Status.OPTIMAL:
        return found
    told = "the data are separable within the norm: the hyperplane of smallest norm is returned"
    return replace(hard, warnings=(*found.warnings, told))


def _priced(data: Dataset, norm: GmebNorm, run: Run, route: str) -> Steps[Classifier]:
    """Return the classifier of a working set of features, certified for all of them."""

    def solve(places: Indices) -> Classifier:
        part = replace(norm, v_plus=norm.v_plus[places], v_minus=norm.v_minus[places])
        found = drained(_whole(data.columns(places), part, run, route))
        return replace(found, w=spread(found.w, places, data.p))

    def excess(found: Classifier) -> Vector:
        kept = found.w != 0.0
        sizes, _ = dual_norm_terms(data, norm, found.mu, kept)
        over: Vector = sizes - (1.0 + EXCESS) * sizes[kept].max(initial=0.0)
        return over

    def answers() -> Loop:
        for _, found, last in working_set(np.abs(data.X.T @ data.y), solve, excess):
            yield Iterate(np.nan, {"found": found}, stop="optimal" if last else "")

    at, _ = yield from run_loop(answers(), Recorder([], run))
    found = at.point["found"]
    whole = inside_the_ball(data, norm, found.w, found.mu, found.outcome, separable=found.separable)
    return replace(whole, warnings=found.warnings)


def choose_route(route: str, run: Run) -> str:
    """Return the route to take with the solver of a run; raise SolverError for one that gives no multipliers."""
    if run.solver is None:
        return route
    spec = solver_spec(run.solver)
    if not spec.duals:
        raise no_multipliers(run.solver, "SOCP")
    return ("dual" if "SOCP" in spec.classes else CUTS) if route == "auto" else route


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
    :func:`fsopt.methods.gmeb.gmeb.certify_gmeb`.
    """
    prepared, path = unit_rms(data, scale), choose_route(route, run)
    norm = GmebNorm.of(prepared.work, r_plus, r_minus)
    solve = _priced if by_features(prepared.work, run) else _whole
    found = yield from solve(prepared.work, norm, run, path)
    w, details = prepared.full(found.w), {"separable": found.separable, "mu": found.mu}
    return make_fit(prepared.map_, w, found.b, found.outcome, warnings=found.warnings, details=details)


def saved_gmeb(saved: SavedFit) -> tuple[GmebNorm, Vector, bool]:
    """Return the norm of a saved fit, its multipliers (n,), and whether its data are separable."""
    radii = [float(saved.fit.params[k]) for k in ("r_plus", "r_minus")]
    mu, separable = finite_vector(saved.fit.details["mu"], saved.data.n), bool(saved.fit.details["separable"])
    return GmebNorm.of(saved.data, *radii), mu, separable


def check(saved: SavedFit) -> Certificate:
    """Certify a saved fit again: neither the norm nor its dual depends on the units of the features."""
    norm, mu, separable = saved_gmeb(saved)
    return certify_gmeb(saved.data, norm, saved.w, saved.b, mu, separable=separable)


def numbers(saved: SavedFit) -> Mapping[str, Any]:
    """Return sigma (p,) of (15), and N(w)."""
    norm, _, _ = saved_gmeb(saved)
    return {"sigma": norm.sigma_of(saved.w), "norm": norm.at(saved.w)[0]}


def exact_claims(saved: SavedFit) -> list[Claim]:
    """Return the claim of a fit on (15) in units of root mean squares; the dual point follows from mu."""
    prepared, (norm, mu, separable) = unit_rms(saved.raw, saved.fit.params["scale"]), saved_gmeb(saved)
    part = saved.data.columns(prepared.kept)
    part, w = part.with_X(part.X / prepared.units), saved.w[prepared.kept] * prepared.units
    params = {"r_plus": norm.r_plus, "r_minus": norm.r_minus}
    mu = project_multipliers(0.0 * mu if separable else mu, part.y, loss_weights(1.0, part.weights))
    sizes, theta = dual_norm_terms(part, GmebNorm.of(part, **params), mu)
    mu_1 = 0.5 * float(sizes.max())
    at, _ = Completed.of("gmeb-primal", params, part, w, saved.b)
    sides = {"moment_plus": -mu_1 * theta / norm.r_plus, "moment_minus": -mu_1 * (1.0 - theta) / norm.r_minus}
    rows = {name: v for name, v in sides.items() if at.model.component(name) is not None}
    point = dual_point(at, {"margin": mu, "unit_norm": -mu_1, **rows})
    return [claim_on_program(saved, at, point, about=about_of("gmeb-primal", params, units="rms"), name=NAME)]


SPEC = MethodSpec(
    "gmeb",
    fit_gmeb,
    ("gmeb-dual", "gmeb-primal", "gmeb-sdp", "gmeb-cuts", "gmeb-hard-margin"),
    check=check,
    numbers=numbers,
    program="gmeb-primal",
    equation="(15)-(17)",
    estimator="GMEB",
    driver="theta-cuts",
    weights="samples",
    exact=exact_claims,
    threshold=EPSILON,
    grid=(("r_plus", (1.0, 3.0, 9.0)), ("r_minus", (1.0, 3.0, 9.0))),
)
