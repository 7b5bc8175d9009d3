"""Saved fits as a compiled program and a primal-dual point of it, from components and their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import TOLERANCE, gap_allowed
from fsopt.answers.records import plain
from fsopt.answers.results import Point, Status
from fsopt.answers.saved import point_from
from fsopt.certificates.exact.claims import Claim, claim_of_pair, not_shown, pair_of, with_statement
from fsopt.certificates.exact.proofs import About
from fsopt.compiler import Program, compile_model
from fsopt.data import Dataset
from fsopt.errors import NotShownError, reading
from fsopt.methods.spec import SavedFit
from fsopt.models.gbd.feature_lists import BOUNDS, WeightBounds
from fsopt.models.registry import MODELS, build
from fsopt.typing import Vector

OPTIMUM = "the optimum of the program"
OTHER = "the parameters of the saved program are not exactly those of the fit"
NO_EVIDENCE = "the fit carries neither multipliers nor a program that rational arithmetic could look at"


def of_inner(saved: SavedFit) -> list[Claim]:
    """Return the claims of ``s-mpm``: the optimum of its inner program, and the outer search, which is not shown."""
    found = by_program(replace(saved, fit=replace(saved.fit, status=Status.OPTIMAL, objective=None, bound=None)))
    outer = not_shown("a stationary point of the outer function", "its slope is verified numerically alone")
    return [replace(claim, name=f"{claim.name} inside") for claim in found] + [outer]


def by_program(saved: SavedFit) -> list[Claim]:
    """Return the claim of a saved fit that carries a convex program and a point of it.

    Variables of the program with the names ``w`` and ``b`` take the hyperplane of the fit, and the hinge variables
    what it costs, so that the upper end is the value of the fitted classifier itself.

    Raises
    ------
    FileError : the saved program or point is damaged.
    """
    details = saved.fit.details
    if details.get("program") is None or details.get("point") is None:
        return [not_shown(OPTIMUM, NO_EVIDENCE)]
    with reading("program"):
        model = build(details["program"], saved.data, **details["program_params"])
        if not own_parameters(saved, details["program"], details["program_params"]):
            return [not_shown(OPTIMUM, OTHER)]
    program = compile_model(model)
    point = point_from(details["point"], program)
    x = point.x
    if details["program"] in HINGE:
        x = assembled(model, program, hinge_values(saved.data, saved.w, saved.b), x)
    about = about_of(details["program"], details["program_params"])
    return [optimum(saved, program, x, point, about=about)]


def about_of(slug: str, params: Mapping[str, Any], columns: Sequence[int] | None = None, units: str = "given") -> About:
    """Return the origin of a program of a model with some of its parameters, its defaults for the others.

    Bounds on weights are stated where there are any, signs as bounds of 0.
    """
    stated = {**MODELS[slug].parameters, **params}
    return About(slug, plain({k: v for k, v in stated.items() if k not in BOUNDS or v}), columns, units)


def own_parameters(saved: SavedFit, slug: str, stated: Mapping[str, Any]) -> bool:
    """Return whether the parameters of a saved program are exactly those of the fit with the same names."""
    known = MODELS[slug].parameters
    own = saved.params
    shared = [name for name in known if own.get(name) is not None and name not in BOUNDS]
    bounds = [WeightBounds.of(slug, saved.data, at) for at in (own, stated)]
    same = all(np.array_equal({**known, **stated}[name], own[name]) for name in shared)
    return same and bounds[0].distance(bounds[1]) == 0.0


HINGE = ("svm", "onsvm", "fsp-sub")
"""Programs whose w, b and xi are the hyperplane of a fit in its own sign, and its hinge loss."""


def hinge_values(data: Dataset, w: Vector, b: float) -> dict[str, Vector]:
    """Return component -> value at a hyperplane, for the names that the hinge programs share."""
    excess = np.maximum(1.0 - data.y * (data.X @ w + b), 0.0)
    plus, minus = np.maximum(w, 0.0), np.maximum(-w, 0.0)
    return {"w": w, "u": w, "b": np.array([b]), "xi": excess, "w_plus": plus, "w_minus": minus}


def assembled(
    model: pyo.ConcreteModel, program: Program, values: Mapping[str, Vector], start: Vector | None = None
) -> Vector:
    """Return the variables (n,) of a program with the values of some components; the others keep their start, or 0."""
    x = np.zeros(program.n) if start is None else start.copy()
    for name, value in values.items():
        component = model.component(name)
        if component is not None:
            columns = [program.column[id(v)] for v in component.values()]
            x[columns] = value
    return x


def multipliers(model: pyo.ConcreteModel, program: Program, values: Mapping[str, Vector]) -> Vector:
    """Return the multipliers (m,) of the rows of a program, 0 for components without values."""
    y = np.zeros(program.A.shape[0])
    for name, value in values.items():
        y[[program.row_of[id(c)] for c in model.component(name).values()]] = value
    return y


def optimum(
    saved: SavedFit, program: Program, x: Vector, point: Point | Vector | None, *, about: About, name: str = OPTIMUM
) -> Claim:
    """Return the claim of a saved fit on the optimum of a program, or on the value of a heuristic answer.

    Parameters
    ----------
    x : (n,) its answer. ``point`` : with the multipliers of the program, or its dual variables.
    about : the program, for a statement.
    """
    fit = saved.fit
    gap = max(gap_allowed(fit.params.get("tolerance", 0.0)), TOLERANCE)
    status = "optimal" if fit.status is Status.OPTIMAL else "feasible"
    try:
        pair = pair_of(program, x, point)
    except NotShownError as error:
        return not_shown(name, str(error))
    claim = replace(claim_of_pair(name, status, pair, gap), about=about)
    if status == "optimal":
        return with_statement(claim, fit.objective, fit.bound, gap)
    return with_value(claim, fit.objective, gap)


def with_value(claim: Claim, objective: float | None, gap: float) -> Claim:
    """Return the claim of a heuristic answer: the stated objective is the value of its point, the upper end."""
    if claim.upper is None:
        return claim
    return with_statement(claim, objective if claim.lower is None else None, None, gap)


def point_of(program: Program, x: Vector, y: Vector, z: Vector | None = None) -> Point:
    """Return a primal-dual point; without z the multipliers of the cones are zeros."""
    return Point(x, y, np.zeros(len(program.cones.h)) if z is None else z)
