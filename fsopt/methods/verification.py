"""Evidence of a Fit by a convex program and a primal-dual point of it, and the verification of a saved Fit by both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make, merged, valid
from fsopt.answers.fits import Fit
from fsopt.answers.results import Point, Status
from fsopt.answers.saved import point_from
from fsopt.certificates.convex import best_bound
from fsopt.certificates.model import certify_point
from fsopt.certificates.points import relative_gap
from fsopt.compiler import Program, compile_model
from fsopt.drivers.recorder import EARLY
from fsopt.errors import reading
from fsopt.methods.spec import SavedFit
from fsopt.models.gbd.feature_lists import BOUNDS, WeightBounds
from fsopt.models.registry import MODELS, build
from fsopt.solvers.outcome import supporting
from fsopt.typing import Vector

LOCAL_TOLERANCE = 1e-5
"""Largest residual with which a first-order condition holds that a loop met to its own stopping criterion."""


def evidence(program: str, params: Mapping[str, Any], point: Point | None, **rest: Any) -> dict[str, Any]:
    """Return details of a Fit by which it can be verified later.

    Parameters
    ----------
    program, params : slug and parameters of the convex model behind the answer.
    point : a primal-dual point of it.
    rest : further details of the method.
    """
    return {"program": program, "program_params": dict(params), "point": point, **rest}


def check_program(saved: SavedFit) -> Certificate:
    """Certify the convex program of a saved fit again, and compare its bound with the objective of the hyperplane.

    The gap of a feasible fit may be open: its bound is compared with what it states.

    The parameters of the program have to be those of the fit. A check that gets here by a program with parameters of
    other names looks at these itself.

    Raises
    ------
    FileError : the saved point is damaged.
    """
    found = _program(saved)
    if found is None:
        return make(Kind.FEASIBLE, saved.residuals, objective=saved.value)
    fit = saved.fit
    certificate = supporting(found[0], certify_point(*found), fit.status, bounded=fit.bound is not None)
    bound, stated = certificate.bound, {"program's parameters": _parameters_residual(saved)}
    if closed := fit.status is not Status.FEASIBLE:
        stated["bound"] = relative_gap(saved.value, float("nan") if bound is None else bound)
    residuals, kind = merged(saved.residuals, certificate.residuals, stated), Kind.CONVEX if closed else Kind.FEASIBLE
    return make(kind, residuals, objective=saved.value, bound=bound, bound_source="dual point")


def check_multipliers(saved: SavedFit, certify: Callable[[Vector], Certificate]) -> Certificate:
    """Certify a saved fit again, by the point of its program or by the multipliers of a driver without a model.

    Parameters
    ----------
    certify : returns the certificate of the saved hyperplane from multipliers (n,) of the margins.

    Raises
    ------
    FileError : the saved point or multipliers are damaged.
    """
    if "alpha" not in saved.fit.details:
        return check_program(saved)
    return extend(certify(saved_alpha(saved)), saved.residuals)


def check_first_order(saved: SavedFit, kind: Kind, here: float, residuals: Mapping[str, float]) -> Certificate:
    r"""Certify a first-order condition: the last convex program of a loop does not go below its value at the answer.

    Parameters
    ----------
    kind : of the certificate.
    here : objective value of the last program at the saved hyperplane; its dual point bounds it from below.
    residuals : of the method's own, such as the distance of the saved program from the one of the fit's parameters.

    Raises
    ------
    FileError : the saved point is damaged.
    """
    found = _program(saved)
    if found is None:
        return make(Kind.FEASIBLE, saved.residuals, objective=saved.value)
    lower = best_bound(*found, here)
    first_order = {"remainder": lower.remainder, "first order": max(here - lower.value, 0.0) / (1.0 + abs(here))}
    all_residuals = merged(saved.residuals, first_order, residuals)
    return make(kind, all_residuals, objective=saved.value, tolerance=LOCAL_TOLERANCE)


def _parameters_residual(saved: SavedFit) -> float:
    """Return the largest difference of the parameters of a saved program from those of the fit with the same name."""
    details, own = saved.fit.details, saved.params
    with reading("program"):
        known = MODELS[details["program"]].parameters
        stated = {**known, **details["program_params"]}
        shared = [name for name in known if own.get(name) is not None and name not in BOUNDS]
        differences = [np.abs(np.subtract(stated[name], own[name], dtype=float)) for name in shared]
        bounds = [WeightBounds.of(saved.fit.method, saved.data, at) for at in (own, details["program_params"])]
        differences.append(np.array(bounds[0].distance(bounds[1])))
    return max((float(np.max(d, initial=0.0)) for d in differences), default=0.0)


def has_program(saved: SavedFit) -> bool:
    """Return whether a saved fit carries a program and a point of it."""
    return saved.fit.details.get("program") is not None and saved.fit.details.get("point") is not None


def _program(saved: SavedFit) -> tuple[Program, Point] | None:
    """Return the saved program, built again from the data, and its point."""
    if not has_program(saved):
        return None
    details = saved.fit.details
    with reading("program"):
        program = compile_model(build(details["program"], saved.data, **details["program_params"]))
    return program, point_from(details["point"], program)


def starts_residual(fit: Fit) -> dict[str, float]:
    """Return the number of random starts that a saved fit was asked for and has no value of, unless it was stopped."""
    with reading("starts"):
        missing = int(fit.params.get("n_starts", 1)) - len(fit.details["starts"])
    return {"starts": 0.0 if fit.stop in EARLY else float(max(missing, 0))}


def saved_alpha(saved: SavedFit) -> Vector:
    """Return the multipliers (n,) of the margins from the details of a saved fit, which are finite.

    Raises
    ------
    FileError : they are missing, or are none.
    """
    with reading("alpha"):
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
