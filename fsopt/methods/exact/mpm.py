"""Exact claims of ``l1-mpm`` and ``l0-mpm``, by their program or by the multipliers of column generation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.results import Point
from fsopt.answers.saved import point_from
from fsopt.certificates.exact.claims import Claim, not_shown
from fsopt.compiler import Program, compile_model
from fsopt.errors import reading
from fsopt.methods.exact.concave import PRINCIPLE, columns_of, concave_terms, principle
from fsopt.methods.exact.programs import (
    NO_EVIDENCE,
    OPTIMUM,
    OTHER,
    about_of,
    assembled,
    by_program,
    multipliers,
    optimum,
    point_of,
)
from fsopt.methods.large_programs import MODELLED
from fsopt.methods.mpm.many_features import saved_multipliers
from fsopt.methods.mpm.worst_case import moments_of
from fsopt.methods.spec import SavedFit
from fsopt.methods.verification import finite_vector, has_program
from fsopt.models.mpm.moments import kappa, model_factor
from fsopt.models.registry import build
from fsopt.typing import Vector

MOMENTS = ("delta", "ridge")
"""Parameters of a fit that its programs have, too."""
TOO_LARGE = f"a program of more than {MODELLED:,} numbers is too large to be exact"


def of_l1_mpm(saved: SavedFit) -> list[Claim]:
    """Return the claim of ``l1-mpm``: by the program, or by the multipliers of column generation for all features.

    Raises
    ------
    FileError : the multipliers are damaged.
    """
    own = saved.params
    if "u1" not in saved.fit.details:
        return by_program(saved)
    if saved.data.X.size > MODELLED:
        return [not_shown(OPTIMUM, TOO_LARGE)]
    params = {name: own[name] for name in MOMENTS}
    model = build("l1-mpm", saved.data, **params)
    program = compile_model(model)
    point = _generated(saved, model, program)
    x = _with_moments(model, program, saved, np.zeros(program.n))
    return [optimum(saved, program, x, point, about=about_of("l1-mpm", params))]


def of_l0_mpm(saved: SavedFit) -> list[Claim]:
    """Return the claim of ``l0-mpm``: the step of DCA, linearised at the answer, does not improve it."""
    generated = "u1" in saved.fit.details
    if not generated and not has_program(saved):
        return [not_shown(PRINCIPLE, NO_EVIDENCE)]
    if generated and saved.data.X.size > MODELLED:
        return [not_shown(PRINCIPLE, TOO_LARGE)]
    if saved.params["approx"] != "exp":
        return [not_shown(PRINCIPLE, f"the slopes of the approximation '{saved.params['approx']}' are not enclosed")]
    with reading("step"):
        known = {k: saved.params[k] for k in MOMENTS} if generated else saved.fit.details["program_params"]
        stated = {k: v for k, v in known.items() if k not in ("alpha", "v")}
        own = {k: v for k, v in saved.params.items() if k != "alpha"}
        if any(stated[k] != own[k] for k in stated if own.get(k) is not None):
            return [not_shown(PRINCIPLE, OTHER)]
        model = build("l0-mpm-step", saved.data, **stated, alpha=saved.params["alpha"])
        program = compile_model(model)
        point = _generated(saved, model, program) if generated else point_from(saved.fit.details["point"], program)
    slopes = concave_terms("l0-mpm-step", model, program, {"alpha": saved.params["alpha"]})
    about = about_of("l0-mpm", {**stated, "alpha": saved.params["alpha"]})
    found = principle(program, _with_moments(model, program, saved, point.x), point, slopes)
    return [replace(found, about=about)]


def _generated(saved: SavedFit, model: pyo.ConcreteModel, program: Program) -> Point:
    """Return the dual point of a model of all features from lambda, u_1 and u_2 of column generation."""
    # It has lambda at both means, -u_k at u_k = F_k w and ||u_k|| / kappa at the accuracies; the multipliers of
    # w = w+ - w- and of the cones follow, because the reduced costs of w, u_k and t_k are 0.
    details = saved.fit.details
    with reading("multipliers"):
        mean = finite_vector([details["lambda"]], 1)
        u = _spreads(saved)
    rows = {"mean1": mean, "mean2": mean}
    for k, vector in enumerate(u, 1):
        heads = np.array([np.linalg.norm(vector) / kappa(saved.params["delta"])])
        rows |= {f"spread{k}": -vector, f"accuracy{k}": heads}
    y = multipliers(model, program, rows)
    # A constraint of the split has a coefficient of 1 or -1 at w_j; a row of the cones has one variable.
    split = [program.row_of[id(c)] for c in model.split.values()]
    w = columns_of(program, model, "w")
    y[split] = (program.c - program.A.T @ y)[w] / program.A.tocsr()[split, w]
    G = program.cones.G.tocsr()
    return point_of(program, np.zeros(program.n), y, (program.c - program.A.T @ y)[G.indices] / G.data)


def _spreads(saved: SavedFit) -> list[Vector]:
    """Return u_1 and u_2 of a saved fit for the factors of a model, which may be triangular ones."""
    # With R'R = F'F there is v with R'v = F'u and a norm of at most ||u||.
    moments = moments_of(saved.data, saved.params)
    found: list[Vector] = []
    for u, factor in zip(saved_multipliers(saved, moments), (moments.factor1, moments.factor2), strict=True):
        rows = model_factor(factor)
        found.append(
            u
            if rows.shape[0] == len(u)
            else np.asarray(np.linalg.lstsq(rows.T, u @ factor, rcond=None)[0], dtype=float)
        )
    return found


DEFINED = (("spread1", "u1"), ("spread2", "u2"), ("mean1", "m1"), ("mean2", "m2"))
"""Equations of the program of Yang & Ju, and the variable that each of them defines."""


def _with_moments(model: pyo.ConcreteModel, program: Program, saved: SavedFit, start: Vector) -> Vector:
    """Return the variables (n,) at the hyperplane of a fit: means and deviations follow from it."""
    w = saved.w
    values = {"w": w, "w_plus": np.maximum(w, 0.0), "w_minus": np.maximum(-w, 0.0), "b": np.array([-saved.b])}
    x = assembled(model, program, values, start)
    A = program.A.tocsr()
    for equation, name in DEFINED:
        rows = [program.row_of[id(c)] for c in model.component(equation).values()]
        for row, column in zip(rows, columns_of(program, model, name), strict=True):
            x[column] += (program.lo[row] - float((A[row] @ x)[0])) / A[row, column]
    for name, deviation in (("u1", "t1"), ("u2", "t2")):
        x[columns_of(program, model, deviation)] = np.linalg.norm(x[columns_of(program, model, name)])
    return x
