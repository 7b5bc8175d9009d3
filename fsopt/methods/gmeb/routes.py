r"""The routes to a classifier of GMEB (15), each certified by a lower bound of its multipliers, in numpy alone.

With multipliers :math:`\mu_+, \mu_-` of the radii, :math:`\theta = \mu_+R_+/(\mu_+R_+ + \mu_-R_-)` and
:math:`s = X'Y\mu`, every :math:`\mu \in [0,1]^n` with :math:`y'\mu = 0` gives the lower bound

.. math:: 1'\mu - \max_j \frac{|s_j|}{u_j(\theta)}

on (15): the second term is the smallest :math:`2\mu_1` with which the cones of (16) hold. For the separating hyperplane
of smallest norm the same quotient gives :math:`N(w) \ge 1'\mu / \max_j (|s_j|/u_j(\theta))`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.answers.results import DriverResult, SolveResult
from fsopt.certificates.points import relative_gap
from fsopt.common import clock
from fsopt.common.arguments import word
from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, midpoint_intercept, project_multipliers
from fsopt.data.weights import loss_weights
from fsopt.drivers.run import ENDS, OutOfTimeError, Run, Steps, drained, usable, within
from fsopt.drivers.theta_cuts import theta_cuts
from fsopt.drivers.working_set import working_set
from fsopt.errors import SolverError
from fsopt.methods.large_programs import by_features
from fsopt.methods.preprocessing import certified
from fsopt.models.gmeb.gmeb import (
    build_gmeb_cuts,
    build_gmeb_dual,
    build_gmeb_hard_margin,
    build_gmeb_primal,
    build_gmeb_sdp,
)
from fsopt.models.gmeb.norm import GmebNorm
from fsopt.solvers.base import Session
from fsopt.solvers.registry import no_multipliers, solver_spec
from fsopt.typing import Indices, Vector

SEPARABLE = 1e-6
"""Hinge loss, relative to the number of samples, up to which an optimum counts as 0."""
EXCESS = 1e-6
"""Relative excess of a quotient that is none within the tolerance of the solvers."""
CUTS = "theta-cuts"
BUILDERS: Mapping[str, Callable[..., pyo.ConcreteModel]] = MappingProxyType(
    {"dual": build_gmeb_dual, "primal": build_gmeb_primal, "sdp": build_gmeb_sdp}
)
ROUTES = (*BUILDERS, CUTS)
"""Words of the parameter ``route``: a formulation each; all end at the same value of (15)."""


@dataclass(frozen=True)
class Classifier:
    """A hyperplane inside the unit ball of the norm, and how it was found.

    Attributes
    ----------
    w, b : (p,) weights and the intercept.
    mu, theta : (n,) multipliers of the margins, and the share of those of the radii.
    outcome : of the solve or loop behind it, with objective value, bound and certificate of the hyperplane.
    separable : whether it is a separating hyperplane of smallest norm.
    """

    w: Vector
    b: float
    mu: Vector
    theta: float
    outcome: SolveResult | DriverResult
    separable: bool

    @property
    def certificate(self) -> Certificate:
        """The certificate of the hyperplane."""
        assert self.outcome.certificate is not None
        return self.outcome.certificate


Answer = tuple[Classifier, list[str]]
"""A classifier, and warnings."""


def classifier(
    data: Dataset,
    norm: GmebNorm,
    w: Vector,
    mu: Vector,
    theta: float,
    outcome: SolveResult | DriverResult,
    *,
    separable: bool = False,
) -> Classifier:
    """Return weights (p,), scaled into the unit ball, with their best intercept and certificate."""
    w = w / max(1.0, norm.at(w)[0])
    b = midpoint_intercept(data.X @ w, data.y, data.weights)
    proof = certify_gmeb(data, norm, w, b, mu, theta, separable=separable)
    return Classifier(w, b, mu, theta, certified(outcome, proof), separable)


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
    value, _ = norm.at(w)
    loss = hinge(data.X @ w + b, data.y, data.weights)
    residuals = {"norm": max(0.0, value - 1.0)}
    kept = project_multipliers(mu, data.y, np.inf if separable else loss_weights(1.0, data.weights))
    largest = float(quotients(data, norm, kept, theta).max())
    if separable:
        lower, bound = float(kept.sum()) / largest if kept.any() else 0.0, 0.0
        residuals["hinge"] = loss
    else:
        lower = bound = max(float(kept.sum()) - largest, 0.0)
        value = loss
    residuals["gap"] = relative_gap(value, lower)
    return make(Kind.CONVEX, residuals, objective=loss, bound=bound, bound_source="dual point")


def quotients(data: Dataset, norm: GmebNorm, mu: Vector, theta: float) -> Vector:
    """Return |s_j| / u_j(theta) (p,), infinite where only u_j vanishes."""
    s, u = np.abs(data.X.T @ (mu * data.y)), norm.weights(theta)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(s > 0, s / u, 0.0)


def by_model(session: Session, data: Dataset, norm: GmebNorm, *, hard: bool = False) -> Classifier:
    """Solve (16) or a primal form, which is loaded in a session, and return the classifier of its point."""
    m = session.model
    dual = m.component("moment") is not None  # w is the multiplier of s = X'Y mu (Theorem 19)
    # The certificate of a classifier is its own, but without evidence a primal form may count as not solved.
    result = usable(session.solve(evidence=not dual), "the dual (16)" if dual else f"'{m.name}'")
    if dual:
        w, mu = _multipliers(m, "moment"), values_of(m.mu)
        sides = [m.mu_plus.value, m.mu_minus.value]
    else:
        w, mu = values_of(m.w), _multipliers(m, "margin")
        sides = [-float(_multipliers(m, f"moment_{side}").sum()) for side in ("plus", "minus")]
    return classifier(data, norm, w, mu, norm.theta_of(*sides), result, separable=hard)


def _multipliers(m: pyo.ConcreteModel, name: str) -> Vector:
    """Return the multipliers of a constraint; none where the model has no such constraint."""
    rows = m.component(name)
    return np.array([] if rows is None else [m.dual[row] for row in rows.values()])


def by_route(route: str, data: Dataset, norm: GmebNorm, run: Run, *, hard: bool = False) -> Steps[Classifier]:
    """Solve (15) by a formulation, or for the separating hyperplane of smallest norm, by cuts or by cones.

    Raises
    ------
    SolverError : it was not solved, or there is no separating hyperplane.
    """
    radii = {"r_plus": norm.r_plus, "r_minus": norm.r_minus}
    if route != CUTS:
        build = build_gmeb_hard_margin if hard else BUILDERS[route]
        return by_model(run.open(build(data, **radii)), data, norm, hard=hard)
    model = build_gmeb_cuts(data, r_plus=norm.r_plus, r_minus=norm.r_minus, hard=hard)
    result = yield from theta_cuts.steps(data, model, norm, run=run)
    at = result.point
    return classifier(data, norm, at["w"], at["mu"], at["theta"], result, separable=hard)


def settle(
    data: Dataset, norm: GmebNorm, found: Classifier, run: Run, *, route: str = "dual", repair: bool = True
) -> Steps[Answer]:
    """Return a classifier, or in its place the separating one of smallest norm where the data have it, and warnings.

    Parameters
    ----------
    data, norm : in the units of the classifier.
    route : by which the separating hyperplane of smallest norm is found: by cuts in theta, or by cones.
    repair : whether the problem is solved again by cuts in theta if the certificate fails.
    """
    warnings: list[str] = []
    if not found.certificate.ok and repair:
        warnings.append(f"the answer of {found.outcome.solver} failed its check: cuts in theta were used instead")
        run, route = replace(run, solver=None, options=None), CUTS
        found = yield from by_route(CUTS, data, norm, run)
    loss = found.certificate.objective
    if loss is None or loss > SEPARABLE * data.n:
        return found, warnings
    try:
        hard = yield from by_route(route, data, norm, run, hard=True)
    except SolverError:
        return found, warnings
    if not hard.certificate.ok:
        return found, warnings
    return hard, ["the data are separable within the norm: the hyperplane of smallest norm is returned"]


def classified(data: Dataset, norm: GmebNorm, run: Run, route: str, *, auto: bool) -> Steps[Answer]:
    """Return the certified classifier of a route, of large data by a working set of features, and warnings.

    Parameters
    ----------
    data, norm : in the same units.
    auto : whether other routes are taken where this one fails.
    """
    solve = _priced if by_features(data, run) else _solved
    return (yield from within(solve(data, norm, run, route, auto=auto)))


def _solved(data: Dataset, norm: GmebNorm, run: Run, route: str, *, auto: bool) -> Steps[Answer]:
    """Return the certified classifier of a route, or where it is free of that by cuts after another failed; why."""
    unsolved = list[str]()
    try:
        found = yield from by_route(route, data, norm, run)
    except OutOfTimeError:
        raise
    except SolverError as error:
        if not auto or route == CUTS or run.solver is not None:
            raise
        route = CUTS
        found = yield from by_route(route, data, norm, run)
        unsolved.append(f"{error.message}: cuts in theta were used instead")
    found, warnings = yield from settle(data, norm, found, run, route=route, repair=auto and route != CUTS)
    return found, [*unsolved, *warnings]


def _priced(data: Dataset, norm: GmebNorm, run: Run, route: str, *, auto: bool) -> Answer:
    """Return the classifier of a working set of features, certified for all of them, and warnings."""

    def solve(places: Indices) -> tuple[Answer, Indices]:
        part = replace(norm, v_plus=norm.v_plus[places], v_minus=norm.v_minus[places])
        return drained(_solved(data.columns(places), part, run, route, auto=auto)), places

    def excess(answer: tuple[Answer, Indices]) -> Vector:
        (found, _), places = answer
        sizes = quotients(data, norm, found.mu, found.theta)
        over: Vector = sizes - (1.0 + EXCESS) * sizes[places].max()
        return over

    last: tuple[Answer, Indices] | None = None
    try:
        for _, answer, _ in working_set(np.abs(data.X.T @ data.y), solve, excess):
            last = answer
            if clock.expired():
                break
    except ENDS:
        if last is None:
            raise
    assert last is not None
    ((found, warnings), places), w = last, np.zeros(data.p)
    w[places] = found.w
    whole = classifier(data, norm, w, found.mu, found.theta, found.outcome, separable=found.separable)
    return whole, warnings


def choose_route(route: str, run: Run) -> str:
    """Return the route to take with the solver of a run.

    Raises
    ------
    ParameterError : an unknown route.
    SolverError : a solver that gives no multipliers.
    """
    word("route", route, ("auto", *ROUTES))
    if run.solver is not None and not solver_spec(run.solver).duals:
        raise no_multipliers(run.solver, "SOCP")
    if route != "auto":
        return route
    return "dual" if run.solver is None or "SOCP" in solver_spec(run.solver).classes else CUTS
