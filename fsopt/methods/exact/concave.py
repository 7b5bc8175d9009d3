"""Exact claims of the methods that linearise a concave objective: the minimum principle at their answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import TOLERANCE
from fsopt.answers.results import Point, Status
from fsopt.answers.saved import point_from
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
from fsopt.certificates.exact.proofs import Slope
from fsopt.compiler import Program, compile_model
from fsopt.drivers.penalties.registry import approximation
from fsopt.errors import NotShownError, reading
from fsopt.methods.exact.hinge import error_values
from fsopt.methods.exact.programs import NO_EVIDENCE, about_of, assembled, multipliers, point_of
from fsopt.methods.spec import SavedFit
from fsopt.methods.verification import LOCAL_TOLERANCE, finite_vector, has_program
from fsopt.models.registry import build
from fsopt.typing import Vector

PRINCIPLE = "no feasible step improves the linearised objective"
ZERO_VALUE = "the optimum, which is 0"
NO_ERRORS = "no sample is misclassified: the hinge loss is below 1"


def of_misclass(saved: SavedFit) -> list[Claim]:
    """Return the claim of ``misclass``: the minimum principle of (20), or the optimum 0."""
    return _of_sla(saved, "misclass-step", {"alpha": saved.params["alpha"]})


def of_fsv(saved: SavedFit) -> list[Claim]:
    """Return the claim of ``fsv``: the minimum principle of (21), or the optimum 0."""
    at = saved.params
    if at["approx"] != "exp" and saved.fit.status is not Status.OPTIMAL:
        return [not_shown(PRINCIPLE, f"the slopes of the approximation '{at['approx']}' are not enclosed")]
    slope = approximation(at["approx"], at["alpha"]).slope
    return _of_sla(saved, "fsv-step", {"alpha": slope, "lam": at["lam"]})


def of_pmm(saved: SavedFit) -> list[Claim]:
    """Return the claim of ``pmm`` that no sample is misclassified; with errors left its search is not repeated."""
    if saved.fit.status is not Status.OPTIMAL or saved.fit.objective != 0:
        return [not_shown("the smallest number of errors", "the end of a search for one error less is a local one")]
    claim = _zero(saved, "misclass-step", {"alpha": 1.0}, NO_ERRORS)
    return [claim]


CONCAVE: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "misclass-step": (("y",), ("z",)),
    "fsv-step": (("v",),),
    "l0-mpm-step": (("w_plus", "w_minus"),),
}
"""Linearised program -> its components under an exponential; of two components it is that of their difference."""


def concave_terms(slug: str, model: pyo.ConcreteModel, program: Program, params: Mapping[str, Any]) -> list[Slope]:
    """Return the terms f (1 - exp(-k t)) behind the costs of a linearised program."""
    weight, steepness = (Fraction(float(params.get(name, 1.0))) for name in ("lam", "alpha"))
    groups = [zip(*(columns_of(program, model, name) for name in names), strict=True) for names in CONCAVE[slug]]
    return [(weight, steepness, columns) for group in groups for columns in group]


def _of_sla(saved: SavedFit, slug: str, params: dict[str, float]) -> list[Claim]:
    """Return the claim of a fit by SLA, whose linear program is linearised at 0."""
    if saved.fit.status is Status.OPTIMAL:
        return [_zero(saved, slug, params, ZERO_VALUE)]
    generated = "alpha" in saved.fit.details
    if not generated and not has_program(saved):
        return [not_shown(PRINCIPLE, NO_EVIDENCE)]
    model = build(slug, saved.data, **params)
    program = compile_model(model)
    x = assembled(model, program, error_values(saved.data, saved.w, saved.b))
    with reading("step"):
        if generated:
            alpha = finite_vector(saved.fit.details["alpha"], saved.data.n)
            plus = saved.data.y > 0
            rows = {"errors_a": alpha[plus], "errors_b": alpha[~plus]}
            if slug == "fsv-step":
                q = saved.data.X.T @ (alpha * saved.data.y)
                rows |= {"above": np.maximum(q, 0.0), "below": np.maximum(-q, 0.0)}
            point = point_of(program, x, multipliers(model, program, rows))
        else:
            point = point_from(saved.fit.details["point"], program)
    slopes = concave_terms(slug, model, program, params)
    about = about_of(slug.removesuffix("-step"), params)
    return [replace(principle(program, x, point, slopes), about=about)]


def principle(program: Program, x: Vector, point: Point, slopes: Sequence[Slope]) -> Claim:
    """Return the claim of the minimum principle at x (n,), by the multipliers of a point."""
    try:
        exact = exact_program(program)
        return claim_of_stationary(
            PRINCIPLE, exact, primal_point(exact, x), slopes, dual_start(program, exact, point), LOCAL_TOLERANCE
        )
    except NotShownError as error:
        return not_shown(PRINCIPLE, str(error))


def _zero(saved: SavedFit, slug: str, params: dict[str, float], name: str) -> Claim:
    """Return the claim that the optimum is 0: the objective is at least 0, and at most its linearisation at 0."""
    model = build(slug, saved.data, **params)
    program = compile_model(model)
    x = assembled(model, program, error_values(saved.data, saved.w, saved.b))
    try:
        pair = pair_of(program, x, np.zeros(exact_program(program).dual_size))
    except NotShownError as error:
        return not_shown(name, str(error))
    claim = replace(claim_of_pair(name, "optimal", pair, TOLERANCE), about=about_of(slug, params))
    return with_statement(claim, saved.fit.objective, saved.fit.bound, TOLERANCE)


def columns_of(program: Program, model: pyo.ConcreteModel, name: str) -> list[int]:
    """Return the columns of a component of the model in the order of its members."""
    return [program.column[id(v)] for v in model.component(name).values()]
