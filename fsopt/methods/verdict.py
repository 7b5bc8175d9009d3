r"""Checks that methods share: the convex program behind a fit, at its hyperplane, beside the multipliers it carries.

A model completes a hyperplane (:attr:`fsopt.models.spec.ModelSpec.complete`): the objective value of a convex method is
that of its compiled program at the completed point, and the check compares it with the bound of the saved dual point.
Large data have no model: there the multipliers of the margins are certified in numpy. The answer of a loop need not be
an optimum of its problem, but its last program may not improve it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import Certificate, Kind, bound_residual, make, merged, valid
from fsopt.answers.fits import Fit
from fsopt.answers.results import Point, SolveResult, Status
from fsopt.answers.saved import point_from
from fsopt.certificates.bounds import lower_bound
from fsopt.certificates.convex import best_bound
from fsopt.certificates.model import certify_point
from fsopt.certificates.points import infeasibility, judged_point, minimised, relative_gap
from fsopt.compiler import Program, compile_model
from fsopt.data import Dataset
from fsopt.data.matrices import apart
from fsopt.errors import FileError
from fsopt.linear.certificate import certify
from fsopt.linear.penalties import HINGE_MODELS, machine_of
from fsopt.methods.spec import SavedFit
from fsopt.models.registry import MODELS, build
from fsopt.solvers.outcome import supporting
from fsopt.typing import Indices, Vector

WIDE = 100.0
"""How far from their values, relative to the largest one, variables may be where bounds of some features hold."""
LOCAL_TOLERANCE = 1e-5
"""Largest residual with which a first-order condition holds that a loop met to its own stopping criterion."""


@dataclass(frozen=True)
class Completed:
    """A convex program of a model, built and compiled, and its variables x (n,) at a hyperplane."""

    slug: str
    params: Mapping[str, Any]
    model: pyo.ConcreteModel
    program: Program
    x: Vector

    @classmethod
    def of(
        cls, slug: str, params: Mapping[str, Any], data: Dataset, w: Vector, b: float, point: Any = None
    ) -> tuple[Completed, Point | None]:
        """Return a program at a hyperplane, and a saved point, whose values other variables than the completed take."""
        model = build(slug, data, **params)
        program = compile_model(model)
        known = None if point is None else point_from(point, program)
        complete = MODELS[slug].complete
        values = {} if complete is None else complete(data, w, b, **params)
        start = np.zeros(program.n) if known is None else known.x
        return cls(slug, params, model, program, assembled(model, program, values, start)), known

    @property
    def value(self) -> float:
        """The objective value, in the sense of the model."""
        return float(self.program.sign * minimised(self.program, self.x))

    @property
    def violation(self) -> float:
        """The largest violation of a constraint relative to its terms, or of a bound relative to it or the variable."""
        outside = apart(self.x, np.clip(self.x, self.program.lb, self.program.ub))
        return max(infeasibility(self.program, judged_point(self.program, self.x)), float(outside.max(initial=0.0)))


def columns_of(program: Program, model: pyo.ConcreteModel, name: str) -> list[int]:
    """Return the columns of a component of the model in the order of its members."""
    return [program.column[id(v)] for v in model.component(name).values()]


def rows_of(program: Program, model: pyo.ConcreteModel, name: str) -> list[int]:
    """Return the rows of a component of the model in the order of its members."""
    return [program.row_of[id(c)] for c in model.component(name).values()]


def assembled(model: pyo.ConcreteModel, program: Program, values: Mapping[str, Any], start: Vector) -> Vector:
    """Return the variables (n,) of a program with the values of its components; the others keep their start (n,)."""
    x = start.copy()
    for name, value in values.items():
        if model.component(name) is not None:
            x[columns_of(program, model, name)] = value
    return x


def has_point(saved: SavedFit) -> bool:
    """Return whether a saved fit carries a point of its program."""
    return saved.fit.details.get("point") is not None


def saved_program(saved: SavedFit, at: Mapping[str, Any] = MappingProxyType({})) -> tuple[Completed, Point | None]:
    """Return the program of a saved fit at its hyperplane, ``at`` some other parameters, and its point if any."""
    places = saved_columns(saved)
    data = saved.data if len(places) == saved.data.p else saved.data.columns(places)
    params, point = program_params(saved, at), saved.fit.details.get("point")
    return Completed.of(saved.spec.program, params, data, saved.w[places], saved.b, point)


def program_params(saved: SavedFit, at: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """Return the parameters of the program of a saved fit, with others in their place."""
    own = {**saved.params, **at}
    return {name: own[name] for name in MODELS[saved.spec.program].parameters if own.get(name) is not None}


def saved_columns(saved: SavedFit) -> Indices:
    """Return the features of the program of a saved fit; raises ValueError where they are no increasing places."""
    given, p = saved.fit.details.get("columns"), saved.data.p
    places = np.arange(p) if given is None else np.array(given, dtype=np.intp)
    if places.ndim != 1 or (np.diff(places, prepend=-1, append=p) < 1).any():
        raise ValueError(f"columns are increasing places of {p} features")
    return places


def restriction(saved: SavedFit, at: Completed, point: Point | None) -> dict[str, float]:
    """Return how far features without a place in a saved program are from 0, and their reduced costs from feasible."""
    others = np.setdiff1d(np.arange(saved.data.p), places := saved_columns(saved))
    if not len(others):
        return {}
    found, price = {"other weights": float(saved.w[others].any())}, saved.spec.price
    if point is not None:
        found["reduced costs"] = float("inf")
        if price is not None:
            excess = price(saved.data, at.params, at.model, at.program, point.multipliers[0], places)
            found["reduced costs"] = max(float(excess[others].max()), 0.0)
        # Ranges that follow from some features alone hold for no others: the multipliers have to do with wide ones.
        here, wide = minimised(at.program, at.x), WIDE * np.abs(at.x).max()
        box = np.maximum(at.program.lb, at.x - wide), np.minimum(at.program.ub, at.x + wide)
        lost = best_bound(at.program, point, here).value - lower_bound(at.program, point, box).value
        found["bound of some features"] = max(lost, 0.0) / max(at.program.unit, abs(here))
    return found


def check(saved: SavedFit) -> Certificate:
    """Certify a saved fit again: by the point of its program, or by the multipliers of its margins in numpy alone."""
    slug, gram = saved.spec.program, saved.fit.kernel is not None
    if not slug:
        return make(Kind.FEASIBLE, {})
    if not ("alpha" in saved.fit.details or (gram and slug in HINGE_MODELS)):
        return check_program(saved)
    at, alpha = saved.params, saved_alpha(saved)
    if slug not in HINGE_MODELS or slug in saved.fit.details.get("customised", ()):
        raise FileError(f"multipliers of margins alone prove nothing of this '{slug}'", "fit again and save it")
    penalty, c = machine_of(slug, at, saved.data.X if gram else None)
    return certify(saved.data, penalty, c, saved.w, saved.b, alpha, gram=gram)


def check_program(saved: SavedFit) -> Certificate:
    """Certify the convex program of a saved fit again; the gap of a feasible one may be open."""
    at, point = saved_program(saved)
    value, stated = at.value, {"constraints": at.violation} | restriction(saved, at, point)
    if point is None:
        return make(Kind.FEASIBLE, stated, objective=value)
    fit, program = saved.fit, at.program
    certificate = supporting(program, certify_point(program, point), fit.status, bounded=fit.bound is not None)
    bound = certificate.bound
    if closed := fit.status is not Status.FEASIBLE:
        stated["bound"] = relative_gap(value, float("nan") if bound is None else bound)
    kind = Kind.CONVEX if closed else Kind.FEASIBLE
    return make(kind, merged(certificate.residuals, stated), objective=value, bound=bound, bound_source="dual point")


def check_first_order(saved: SavedFit, kind: Kind, at: Mapping[str, Any] = MappingProxyType({})) -> Certificate:
    """Certify that the last program of a loop, with parameters ``at`` the answer, does not go below its value there."""
    completed, point = saved_program(saved, at)
    if point is None:
        return make(Kind.FEASIBLE, {})
    here = minimised(completed.program, completed.x)
    lower = best_bound(completed.program, point, here)
    found = {
        "remainder": lower.remainder,
        "first order": max(here - lower.value, 0.0) / (1.0 + abs(here)),
        **restriction(saved, completed, point),
    }
    return make(kind, found, tolerance=LOCAL_TOLERANCE)


def saved_alpha(saved: SavedFit) -> Vector:
    """Return the multipliers (n,) of the margins from the details of a saved fit, which are finite."""
    return finite_vector(saved.fit.details["alpha"], saved.data.n)


def finite_vector(value: Any, length: int) -> Vector:
    """Return plain data as a vector (length,) of finite numbers; raises ValueError where they are none."""
    vector = np.array(value, dtype=float)
    if vector.shape != (length,) or not np.isfinite(vector).all():
        raise ValueError(f"{length} finite numbers are needed")
    return vector


def extend(certificate: Certificate, *residuals: Mapping[str, float]) -> Certificate:
    """Return a certificate with further residuals, which must hold too."""
    more = merged(*residuals)
    ok = certificate.ok and all(valid(name, v, certificate.tolerance) for name, v in more.items())
    return replace(certificate, ok=ok, residuals=merged(certificate.residuals, more))


def stated_residuals(
    answer: Fit | SolveResult, found: Certificate, *, sign: float = 1.0, allowed: float = 0.0
) -> dict[str, float]:
    """Return the residuals of the stated objective value and bound, for a maximum with the sign -1, up to a gap."""
    status, bound = answer.status, answer.bound
    value, objective = (np.nan if number is None else float(number) for number in (found.objective, answer.objective))
    stated = {"objective": relative_gap(value, objective)}
    if status is Status.OPTIMAL or bound is not None:
        stated["stated bound"] = bound_residual(bound, found.bound, sign)
    if bound is not None and found.objective is not None:
        stated["order"] = max(sign * (float(bound) - value), 0.0) / max(1.0, abs(value))
        if status is Status.OPTIMAL:
            stated["stated gap"] = max(relative_gap(objective, float(bound)) - allowed, 0.0)
    return stated
