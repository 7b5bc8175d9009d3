"""Method ``gmeb`` (Peleg & Meir, (15)): by any of four formulations, with one certificate for all.

The classifier of an answer is of smallest norm where the data are separable. The exact claim of a saved fit is program
(15) at its hyperplane, with the multipliers of (16).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate
from fsopt.answers.fits import Fit
from fsopt.certificates.exact.claims import Claim
from fsopt.common import clock
from fsopt.common.arguments import word
from fsopt.data import Dataset
from fsopt.data.hyperplanes import midpoint_intercept, project_multipliers
from fsopt.data.weights import loss_weights
from fsopt.drivers.run import ENDS, OutOfTimeError, Run, Steps, drained, within
from fsopt.drivers.working_set import working_set
from fsopt.errors import SolverError
from fsopt.methods.assembly import certified, make_fit
from fsopt.methods.claims import about_of, dual_point, optimum
from fsopt.methods.gmeb.formulations import ROUTES, RouteSolution, by_cuts, smallest_norm
from fsopt.methods.gmeb.optimality import certify_gmeb, check_gmeb, quotients, saved_gmeb
from fsopt.methods.gmeb.unit_rms import UnitRms, unit_rms
from fsopt.methods.large_programs import by_features
from fsopt.methods.preprocessing import Hyperplane
from fsopt.methods.selection import SelectionRule
from fsopt.methods.spec import MethodSpec, SavedFit, selected_by
from fsopt.methods.verdict import Completed
from fsopt.models.gmeb.norm import GmebNorm, radius
from fsopt.solvers.registry import no_multipliers, solver_spec
from fsopt.typing import Indices, Vector

NAME = "the optimum of (15), on features of unit root mean square"


def of_gmeb(saved: SavedFit) -> list[Claim]:
    r"""Return the claim of ``gmeb``.

    The dual point of (15) follows from :math:`\mu` and :math:`\theta`, which give :math:`\mu_1, \mu_+, \mu_-` of (16).
    Separable data have the bound 0 of all multipliers 0.

    Raises
    ------
    FileError : the saved multipliers are damaged.
    """
    found = saved_gmeb(saved)
    norm, theta = found.norm, found.theta
    mu = 0.0 * found.mu
    if not bool(saved.fit.details["separable"]):
        mu = project_multipliers(found.mu, saved.data.y, loss_weights(1.0, saved.data.weights))
    unit = 0.5 * float(quotients(found.data, norm, mu, theta).max())
    params = {"r_plus": norm.r_plus, "r_minus": norm.r_minus}
    at, _ = Completed.of("gmeb-primal", params, found.data, found.w, saved.b)
    sides = {"moment_plus": -unit * theta / norm.r_plus, "moment_minus": -unit * (1.0 - theta) / norm.r_minus}
    rows = {name: v for name, v in sides.items() if at.model.component(name) is not None}
    point = dual_point(at, {"margin": mu, "unit_norm": -unit, **rows})
    return [optimum(saved, at, point, about=about_of("gmeb-primal", params, units="rms"), name=NAME)]


SEPARABLE = 1e-6
"""Hinge loss, relative to the number of samples, up to which an optimum counts as 0."""


@dataclass(frozen=True)
class Settled:
    """A classifier inside the unit ball of the norm, the answer it came from, and its certificate."""

    w: Vector
    b: float
    answer: RouteSolution
    certificate: Certificate


def settle(
    data: Dataset, norm: GmebNorm, answer: RouteSolution, run: Run, *, cuts: bool = False, repair: bool = True
) -> Steps[tuple[Settled, list[str]]]:
    """Return the certified classifier of an answer, and warnings.

    Parameters
    ----------
    data, norm : in the units of the answer.
    cuts : whether the separating hyperplane of smallest norm is found by cuts in theta, not by cones.
    repair : whether the problem is solved again by cuts in theta if the certificate fails.
    """
    warnings: list[str] = []
    found = _certified(data, norm, answer)
    if not found.certificate.ok and repair:
        warnings.append(f"the answer of {answer.outcome.solver} failed its check: cuts in theta were used instead")
        run, cuts = replace(run, solver=None, options=None), True
        found = _certified(data, norm, (yield from by_cuts(data, norm, run)))
    loss = found.certificate.objective
    if loss is None or loss > SEPARABLE * data.n:
        return found, warnings
    try:
        hard = _certified(data, norm, (yield from smallest_norm(data, norm, run, cuts=cuts)))
    except SolverError:
        return found, warnings
    if not hard.certificate.ok:
        return found, warnings
    return hard, ["the data are separable within the norm: the hyperplane of smallest norm is returned"]


def _certified(data: Dataset, norm: GmebNorm, answer: RouteSolution) -> Settled:
    w = answer.w / max(1.0, norm.at(answer.w)[0])
    b = midpoint_intercept(data.X @ w, data.y, data.weights)
    proof = certify_gmeb(data, norm, w, b, answer.mu, answer.theta, separable=answer.separable)
    return Settled(w, b, answer, proof)


EPSILON = 1e-5
"""The cone programs (15) and (16) end with about 1e-10 of the largest weight in place of its zeros."""
RULE = SelectionRule(units="scaled", epsilon=EPSILON)
EXCESS = 1e-6
"""Relative excess of a quotient that is none within the tolerance of the solvers."""


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
    :func:`fsopt.methods.gmeb.optimality.certify_gmeb`.
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
        certified(found.answer.outcome, found.certificate),
        started=started,
        warnings=(*prepared.warnings, *warnings),
        details=_details(prepared, norm, found),
    )


def classified(data: Dataset, norm: GmebNorm, run: Run, path: str, *, auto: bool) -> Steps[tuple[Settled, list[str]]]:
    """Return the certified classifier of a route, of large data by a working set of features, and warnings.

    Parameters
    ----------
    data, norm : in the same units.
    auto : whether other routes are taken where this one fails.
    """
    solve = _priced if by_features(data, run) else _solved
    return (yield from within(solve(data, norm, run, path, auto=auto)))


def _solved(data: Dataset, norm: GmebNorm, run: Run, path: str, *, auto: bool) -> Steps[tuple[Settled, list[str]]]:
    """Return the certified classifier of a route, or where it is free of that by cuts after another failed; why."""
    cuts, unsolved = path == "theta-cuts", list[str]()
    try:
        answer = yield from within(ROUTES[path](data, norm, run))
    except OutOfTimeError:
        raise
    except SolverError as error:
        if not auto or cuts or run.solver is not None:
            raise
        answer, cuts = (yield from by_cuts(data, norm, run)), True
        unsolved.append(f"{error.message}: cuts in theta were used instead")
    found, warnings = yield from settle(data, norm, answer, run, cuts=cuts, repair=auto and not cuts)
    return found, [*unsolved, *warnings]


def _priced(data: Dataset, norm: GmebNorm, run: Run, path: str, *, auto: bool) -> tuple[Settled, list[str]]:
    """Return the classifier of a working set of features, certified for all of them, and warnings."""

    def solve(places: Indices) -> tuple[Settled, list[str], Indices]:
        part = replace(norm, v_plus=norm.v_plus[places], v_minus=norm.v_minus[places])
        return *drained(_solved(data.columns(places), part, run, path, auto=auto)), places

    def excess(answer: tuple[Settled, list[str], Indices]) -> Vector:
        found, _, places = answer
        sizes = quotients(data, norm, found.answer.mu, found.answer.theta)
        over: Vector = sizes - (1.0 + EXCESS) * sizes[places].max()
        return over

    last: tuple[Settled, list[str], Indices] | None = None
    try:
        for _, answer, _ in working_set(np.abs(data.X.T @ data.y), solve, excess):
            last = answer
            if clock.expired():
                break
    except ENDS:
        if last is None:
            raise
    assert last is not None
    (found, warnings, places), w = last, np.zeros(data.p)
    w[places] = found.w
    return _certified(data, norm, replace(found.answer, w=w)), warnings


def _details(prepared: UnitRms, norm: GmebNorm, found: Settled) -> dict[str, Any]:
    return {
        "sigma": prepared.full(norm.scales(found.w) / prepared.units),
        "norm": norm.at(found.w)[0],
        "separable": found.answer.separable,
        "columns": prepared.kept,
        "units": prepared.units,
        "mu": found.answer.mu,
        "theta": found.answer.theta,
    }


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
    return "dual" if run.solver is None or "SOCP" in solver_spec(run.solver).classes else "theta-cuts"


SPEC = MethodSpec(
    "gmeb",
    fit_gmeb,
    ("gmeb-dual", "gmeb-primal", "gmeb-sdp", "gmeb-cuts", "gmeb-hard-margin"),
    check=check_gmeb,
    program="gmeb-primal",
    paper="gmeb",
    equation="(15)-(17)",
    estimator="GMEB",
    driver="theta-cuts",
    support=partial(selected_by, RULE),
    weights="samples",
    exact=of_gmeb,
    threshold=EPSILON,
    grid=(("r_plus", (1.0, 3.0, 9.0)), ("r_minus", (1.0, 3.0, 9.0))),
)
