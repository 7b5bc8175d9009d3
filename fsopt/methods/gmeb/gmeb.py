"""Method ``gmeb``: the classifier of paper 1 by any of four routes, with one certificate for all."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fsopt.certificates.certificate import Certificate
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, midpoint_intercept
from fsopt.drivers.run import Run
from fsopt.errors import ParameterError, SolverError
from fsopt.methods.assembly import make_fit
from fsopt.methods.gmeb.optimality import certify_gmeb, check_gmeb, polish
from fsopt.methods.gmeb.formulations import ROUTES, Answer, least_norm
from fsopt.methods.gmeb.unit_rms import UnitColumns, unit_columns
from fsopt.methods.preprocessing import Hyperplane
from fsopt.methods.selection import check_rule, select_by_size
from fsopt.methods.spec import MethodSpec, Value
from fsopt.models.gmeb.moments import radius
from fsopt.models.gmeb.norm import GmebNorm
from fsopt.results import Fit, Status
from fsopt.solvers.registry import no_multipliers, spec
from fsopt.typing import Vector

SEPARABLE = 1e-6
"""An optimum below this (relative to the number of rows) counts as 0."""


def fit_gmeb(
    data: Dataset,
    run: Run,
    *,
    r_plus: float = 3.0,
    r_minus: float = 3.0,
    route: str = "auto",
    scale: str = "center",
    rule: str = "relative",
    units: str = "scaled",
    epsilon: float = 1e-5,
) -> Fit:
    r"""Fit the classifier of least generalization error bound (GMEB).

    .. math:: \min_{w,b} \sum_i \max(0, 1 - y_i(w'x_i + b)) \quad\text{s.t.}\quad
        N(w) = \max_{\theta \in [0,1]} \sum_j |w_j| \sqrt{\theta v_j^+/R_+ + (1-\theta) v_j^-/R_-} \le 1

    is (15) without its sigma. Columns are centred by the training mean (the bound needs moments about 0 of centred
    columns). Their units are irrelevant: the problem is invariant to them, and is solved with columns of unit root
    mean square. Every route ends in a plane and multipliers, from which the same certificate is recomputed.

    Parameters
    ----------
    r_plus, r_minus : R+ and R- > 0; infinity drops the constraint, not both.
    route : ``dual``: (16), with (w, b) its multipliers (Theorem 19); ``primal``: (15) with rotated cones; ``sdp``:
        (15) with its matrix inequality, for p up to about 100; ``theta-cuts``: linear programs alone, exact zeros;
        ``auto`` (default): the dual where the solver takes cones, and cuts where not or where the dual fails
        its check.
    scale : ``center`` (default), ``standard`` or ``none``.
    rule, units, epsilon : which weights count as selected, see :func:`fsopt.methods.selection.select_by_size`; the paper has
        epsilon 0.01, and raw units reproduce its counts.

    Returns
    -------
    Fit
        ``objective`` is that of (15), the hinge loss; ``details`` has ``sigma`` (p,) of (15), in preprocessed units,
        ``norm`` = N(w), the multipliers, and ``separable``. Data that are separable within N(w) <= 1 have optimum 0
        and many optimal planes: the one of least N is returned, flagged, with a warning.

    Raises
    ------
    ParameterError : a bad radius, route or rule.
    SolverError : a solver that gives no multipliers, or does not take the route's class.

    Notes
    -----
    Paper 1, (15)-(17) and section 4.3. The certificate is that of :func:`fsopt.methods.gmeb.optimality.certify_gmeb`.
    """
    started = time.perf_counter()
    r_plus, r_minus = radius("gmeb", "r_plus", r_plus), radius("gmeb", "r_minus", r_minus)
    check_rule(rule, units, epsilon)
    path = choose_route(route, run)
    columns = unit_columns(data, scale)
    norm = GmebNorm.of(columns.work, r_plus, r_minus)
    answer = ROUTES[path](columns.work, norm, run)
    found, warnings = settle(columns.work, norm, answer, run, cuts=path == "theta-cuts", repair=route == "auto")
    assert found.certificate.objective is not None
    coef = columns.full(found.w) / columns.map_.scale
    support = select_by_size(coef, data.X.std(axis=0), rule=rule, units=units, epsilon=epsilon)
    return make_fit(
        data, columns.map_, Hyperplane(columns.full(found.w), found.b, support),
        objective=found.certificate.objective, outcome=found.answer.outcome, started=started,
        bound=found.certificate.bound, certificate=found.certificate, warnings=(*columns.warnings, *warnings),
        status=Status.OPTIMAL if found.certificate.ok else Status.FEASIBLE, details=_details(columns, norm, found),
    )  # fmt: skip


def _details(columns: UnitColumns, norm: GmebNorm, found: Settled) -> dict[str, Any]:
    return {
        "sigma": columns.full(norm.scales(found.w) / columns.units),
        "norm": norm.at(found.w)[0],
        "separable": found.answer.separable,
        "columns": columns.alive,
        "units": columns.units,
        "multipliers": vars(found.answer.dual),
    }


def choose_route(route: str, run: Run) -> str:
    """Return the route to take, the chosen solver's abilities considered."""
    if route != "auto" and route not in ROUTES:
        raise ParameterError(f"route is {route!r}", f"one of auto, {', '.join(ROUTES)}")
    if run.solver is not None and not spec(run.solver).duals:
        raise no_multipliers(run.solver, "SOCP")
    if route != "auto":
        return route
    return "dual" if run.solver is None or "SOCP" in spec(run.solver).classes else "theta-cuts"


@dataclass(frozen=True)
class Settled:
    """A classifier inside the unit ball of the norm, the answer it came from, and its certificate."""

    w: Vector
    b: float
    answer: Answer
    certificate: Certificate


def settle(
    data: Dataset, norm: GmebNorm, answer: Answer, run: Run, *, cuts: bool = False, repair: bool = True
) -> tuple[Settled, list[str]]:
    """Return the classifier of an answer, and what had to be done about it.

    With ``repair`` a failed certificate gets a second try by cuts in theta. Separable data get the plane of least
    norm, found by cuts or by cones.
    """
    warnings: list[str] = []
    found = _certified(data, norm, answer)
    if not found.certificate.ok and repair:
        warnings.append(f"the answer of {answer.outcome.solver} failed its check: cuts in theta were used instead")
        run, cuts = replace(run, solver=None, options=None), True
        found = _certified(data, norm, ROUTES["theta-cuts"](data, norm, run))
    loss = found.certificate.objective
    if loss is None or loss > SEPARABLE * data.n:
        return found, warnings
    try:
        hard = _certified(data, norm, least_norm(data, norm, run, cuts=cuts))
    except SolverError:
        return found, warnings
    if not hard.certificate.ok:
        return found, warnings
    return hard, ["the data are separable within the norm: the plane of least norm is returned"]


def _certified(data: Dataset, norm: GmebNorm, answer: Answer) -> Settled:
    w = answer.w / max(1.0, norm.at(answer.w)[0])
    b = midpoint_intercept(data.X @ w, data.y)
    if not answer.separable:
        answer = replace(answer, dual=polish(data, norm, answer.dual))
    return Settled(w, b, answer, certify_gmeb(data, norm, w, b, answer.dual, separable=answer.separable))


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return the hinge loss of (15), and the excess of N(w) over 1."""
    radii = [np.inf if at[k] is None else float(at[k]) for k in ("r_plus", "r_minus")]
    norm, _ = GmebNorm.of(data, *radii).at(w)
    return hinge(data.X @ w + b, data.y), max(norm - 1.0, 0.0)


SPEC = MethodSpec(
    "gmeb",
    fit_gmeb,
    objective,
    check_gmeb,
    ("gmeb-dual", "gmeb-primal", "gmeb-sdp", "gmeb-cuts", "gmeb-hard-margin"),
    paper="gmeb",
    equation="(15)-(17)",
    driver="theta-cuts",
)
