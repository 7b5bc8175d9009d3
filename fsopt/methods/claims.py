"""Claims of saved fits with exact intervals: the programs of their verdicts in rational numbers.

A program at the hyperplane of a fit gives the upper end, its multipliers the lower one. Where a fit carries multipliers
of a few constraints alone, those of the margins, the other ones follow from reduced costs, which are 0 at an optimum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import TOLERANCE, gap_allowed
from fsopt.answers.records import plain
from fsopt.answers.results import Point, Status
from fsopt.certificates.exact.claims import (
    Claim,
    claim_of_pair,
    claim_of_stationary,
    not_shown,
    pair_of,
    primal_point,
    with_statement,
)
from fsopt.certificates.exact.program import dual_start, exact_program
from fsopt.certificates.exact.proofs import About, Slope
from fsopt.compiler import Program
from fsopt.data import Dataset
from fsopt.drivers.penalties import approximation
from fsopt.errors import NotShownError
from fsopt.linear.penalties import HINGE_MODELS
from fsopt.methods.mpm.space import lifted, moments_of
from fsopt.methods.spec import SavedFit
from fsopt.methods.verdict import (
    LOCAL_TOLERANCE,
    Completed,
    columns_of,
    has_point,
    program_params,
    rows_of,
    saved_alpha,
    saved_columns,
    saved_program,
)
from fsopt.models.gbd.feature_lists import BOUNDS
from fsopt.models.registry import MODELS
from fsopt.typing import Vector

OPTIMUM = "the optimum of the program"
VALUE = "the value of the hyperplane"
MACHINE = "the optimum of the last support vector machine, on the selected features"
PRINCIPLE = "no feasible step improves the linearised objective by more than 1e-5 of it"
NO_EVIDENCE = "the fit carries no multipliers of a program that rational arithmetic could look at"
KERNEL = "the hyperplane is an expansion in kernel values, for which there is no program in rational numbers"
CONCAVE: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "misclass-step": (("y",), ("z",)),
    "fsv-step": (("v",),),
    "l0-mpm-step": (("w_plus", "w_minus"),),
}
"""Linearised program -> its components under an exponential; of two components it is that of their difference."""


def about_of(slug: str, params: Mapping[str, Any], columns: Sequence[int] | None = None, units: str = "given") -> About:
    """Return the origin of a program of a model: its parameters or their defaults, bounds where there are any."""
    stated = {**MODELS[slug].parameters, **params}
    return About(slug, plain({k: v for k, v in stated.items() if k not in BOUNDS or v}), columns, units)


def claims_of(saved: SavedFit) -> list[Claim]:
    """Return the claim of a saved fit on the optimum of its convex program, at its own hyperplane."""
    if saved.fit.kernel is not None and saved.spec.program in HINGE_MODELS:
        return [not_shown(OPTIMUM, KERNEL)]
    if not (has_point(saved) or "alpha" in saved.fit.details):
        return [not_shown(OPTIMUM, NO_EVIDENCE)]
    return [claim_on_program(saved, *at_all(saved, program_params(saved)))]


def at_all(saved: SavedFit, params: Mapping[str, Any]) -> tuple[Completed, Point]:
    """Return the program of a saved fit with parameters, of all features, at its hyperplane, and its multipliers."""
    details = saved.fit.details
    given = None if details.get("columns") is not None else details.get("point")
    at, point = Completed.of(saved.spec.program, params, saved.data, saved.w, saved.b, given)
    if point is not None:
        return at, point
    if "alpha" in details:
        return at, dual_point(at, margins(at.model, saved.data, saved_alpha(saved)))
    part, own = saved_program(saved)
    moments = moments_of(saved.data, part.params)
    assert own is not None
    return at, dual_point(at, lifted(moments, part.model, part.program, own.multipliers[0], saved_columns(saved)))


def of_inner(saved: SavedFit) -> list[Claim]:
    """Return the claims of ``s-mpm``: the optimum of its inner program, and the outer search, which is not shown."""
    found = claims_of(replace(saved, fit=replace(saved.fit, status=Status.OPTIMAL, objective=None, bound=None)))
    outer = not_shown("a stationary point of the outer function", "its slope is verified numerically alone")
    return [replace(claim, name=f"{claim.name} inside") for claim in found] + [outer]


def of_pmm(saved: SavedFit) -> list[Claim]:
    """Return the claim of ``pmm`` that no sample is misclassified; where some are its search is not repeated."""
    if saved.fit.status is not Status.OPTIMAL or saved.fit.objective != 0:
        return [not_shown("the smallest number of misclassified samples", "the search for one less is a local one")]
    at, name = hinge_program(saved), "no sample is misclassified: the hinge loss is below 1"
    return [claim_on_program(saved, at, dual_point(at, {}), name=name)]


def of_value(saved: SavedFit) -> list[Claim]:
    """Return the claim that a heuristic's hyperplane has its stated hinge loss; nothing is claimed of an optimum."""
    return [claim_on_program(saved, hinge_program(saved), None, name=VALUE)]


def hinge_program(saved: SavedFit) -> Completed:
    """Return ``misclass-step`` at errors 0 with alpha = 1, whose objective is the hinge loss, at a saved hyperplane."""
    return Completed.of("misclass-step", {"alpha": 1.0}, saved.data, saved.w, saved.b)[0]


def margins(model: pyo.ConcreteModel, data: Dataset, alpha: Vector) -> dict[str, Any]:
    """Return component -> multipliers of the margins, by class where the errors of the classes are apart."""
    if model.component("margin") is not None:
        return {"margin": alpha}
    return {"errors_a": alpha[data.y > 0], "errors_b": alpha[data.y < 0]}


def dual_point(at: Completed, rows: Mapping[str, Any]) -> Point:
    """Return the primal-dual point of a completed program from the multipliers of some components.

    Those of w = w+ - w-, or of -v <= w <= v, and of the cones follow: the reduced costs of the weights, and of the
    variables of the cones, of which each is in one cone, are 0. A constant head has the norm of the tail.
    """
    model, program = at.model, at.program
    y, G = np.zeros(program.A.shape[0]), program.cones.G.tocsr()
    for name, value in rows.items():
        y[rows_of(program, model, name)] = value
    A, slope = program.A.tocsr(), program.c + program.P @ at.x
    w, costs = columns_of(program, model, "w"), slope - A.T @ y
    if model.component("split") is not None:
        split = rows_of(program, model, "split")
        y[split] = costs[w] / np.asarray(A[split, w]).ravel()
    elif model.component("above") is not None:
        y[rows_of(program, model, "above")] = np.maximum(-costs[w], 0.0)
        y[rows_of(program, model, "below")] = np.maximum(costs[w], 0.0)
    squares = np.asarray(G.multiply(G).sum(axis=1)).ravel()
    z = np.divide(G @ (slope - A.T @ y), squares, out=np.zeros(len(squares)), where=squares > 0)
    for start, end in zip(program.cones.starts[:-1].tolist(), program.cones.starts[1:].tolist(), strict=True):
        if squares[start] == 0:
            z[start] = np.linalg.norm(z[start + 1 : end])
    return Point(at.x, y, z)


def claim_on_program(
    saved: SavedFit,
    at: Completed,
    point: Point | None,
    *,
    about: About | None = None,
    name: str = OPTIMUM,
) -> Claim:
    """Return the claim of a saved fit on the optimum of a program, or on the value of a heuristic answer."""
    fit = saved.fit
    gap = max(gap_allowed(fit.params.get("tolerance", 0.0)), TOLERANCE)
    optimal = fit.status is Status.OPTIMAL
    found = claim_at(at, point, name, "optimal" if optimal else "feasible", gap, about)
    if optimal or found.upper is None:
        return with_statement(found, fit.objective, fit.bound, gap) if optimal else found
    # The objective of a heuristic answer is the upper end of its interval, and need not be near the lower one.
    return with_statement(found, fit.objective if found.lower is None else None, None, gap)


def claim_at(
    at: Completed, point: Point | None, name: str, status: str, gap: float = TOLERANCE, about: About | None = None
) -> Claim:
    """Return the claim of a status by the interval of a completed program and its multipliers, if there is one."""
    try:
        claim = claim_of_pair(name, status, pair_of(at.program, at.x, point), gap)
    except NotShownError as error:
        return not_shown(name, str(error))
    return replace(claim, about=about_of(at.slug, at.params) if about is None else about)


def of_subset(saved: SavedFit) -> list[Claim]:
    """Return the claims of a filter: the value of its hyperplane, and the optimum of its last SVM."""
    chosen, slug = np.flatnonzero(saved.w), saved.spec.program
    params = {name: float(saved.params[name]) for name in MODELS[slug].parameters if name in ("c", "w_cap")}
    if not len(chosen):
        return [not_shown(VALUE, "no feature is selected")]
    part = saved.data.columns(chosen)
    at, _ = Completed.of(slug, params, part, saved.w[chosen], saved.b)
    point = dual_point(at, margins(at.model, part, saved_alpha(saved)))
    about = about_of(slug, params, chosen.tolist())
    value = claim_on_program(saved, at, None, about=about, name=VALUE)
    return [value, claim_at(at, point, MACHINE, "optimal", about=about)]


def concave_terms(slug: str, model: pyo.ConcreteModel, program: Program, params: Mapping[str, Any]) -> list[Slope]:
    """Return the terms f (1 - exp(-k t)) behind the costs of a linearised program."""
    weight, steepness = (Fraction(float(params.get(name, 1.0))) for name in ("lam", "alpha"))
    groups = [zip(*(columns_of(program, model, name) for name in names), strict=True) for names in CONCAVE[slug]]
    return [(weight, steepness, columns) for group in groups for columns in group]


def of_step(saved: SavedFit) -> list[Claim]:
    """Return the claim of SLA or DCA: the minimum principle with exact costs, not those at v = 0, or the optimum 0."""
    slug, at = saved.spec.program, saved.params
    zero, approx = saved.fit.status is Status.OPTIMAL, at.get("approx", "exp")
    if not (zero or has_point(saved) or "alpha" in saved.fit.details):
        return [not_shown(PRINCIPLE, NO_EVIDENCE)]
    if not zero and approx != "exp":
        return [not_shown(PRINCIPLE, f"the slopes of the approximation '{approx}' are not enclosed")]
    params = program_params(saved, {"alpha": approximation(approx, at["alpha"]).slope, "v": None})
    if zero:
        completed, _ = Completed.of(slug, params, saved.data, saved.w, saved.b)
        return [claim_on_program(saved, completed, dual_point(completed, {}), name="the optimum, which is 0")]
    completed, found = at_all(saved, params)
    slopes = concave_terms(slug, completed.model, completed.program, params)
    try:
        exact = exact_program(completed.program)
        start = dual_start(completed.program, exact, found)
        claim = claim_of_stationary(PRINCIPLE, exact, primal_point(exact, completed.x), slopes, start, LOCAL_TOLERANCE)
    except NotShownError as error:
        return [not_shown(PRINCIPLE, str(error))]
    return [replace(claim, about=about_of(slug.removesuffix("-step"), params))]
