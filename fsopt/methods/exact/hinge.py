"""Exact claims of support vector machines that carry the multipliers of their samples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.answers.certificate import TOLERANCE
from fsopt.answers.results import Point
from fsopt.certificates.exact.claims import Claim, claim_of_pair, not_shown, pair_of
from fsopt.compiler import Program, compile_model
from fsopt.data import Dataset
from fsopt.errors import NotShownError, reading
from fsopt.methods.exact.programs import (
    OPTIMUM,
    OTHER,
    about_of,
    assembled,
    by_program,
    hinge_values,
    multipliers,
    optimum,
    point_of,
    with_value,
)
from fsopt.methods.spec import SavedFit
from fsopt.methods.verification import finite_vector
from fsopt.models.registry import build
from fsopt.typing import Indices, Vector

KERNEL = "the hyperplane is an expansion in kernel values, for which there is no program in rational numbers"
ROUNDED = 1e-15
"""Relative rounding error of a norm: the number t of (19) is at least the norm."""
VALUE = "the value of the hyperplane"
MACHINE = "the optimum of the last support vector machine, on the selected features"


def by_multipliers(saved: SavedFit) -> list[Claim]:
    """Return the claim of ``svm``, ``onsvm``, ``l1-svm`` and ``svm-norm``: by the program, or by multipliers.

    Raises
    ------
    FileError : the multipliers are damaged.
    """
    if "alpha" not in saved.fit.details:
        return by_program(saved)
    slug = saved.fit.method if saved.fit.method in ("svm", "svm-norm") else "onsvm"
    with reading("multipliers"):
        alpha = finite_vector(saved.fit.details["alpha"], saved.data.n)
    program, x, point = _with_alpha(slug, saved.data, {"c": saved.params["c"]}, (saved.w, saved.b), alpha)
    return [optimum(saved, program, x, point, about=about_of(slug, {"c": float(saved.params["c"])}))]


def of_rsvm(saved: SavedFit) -> list[Claim]:
    """Return the claim of ``rsvm`` on (13); raises FileError where its multipliers are damaged."""
    if saved.fit.kernel is not None:
        return [not_shown(OPTIMUM, KERNEL)]
    with reading("multipliers"):
        alpha, cap = finite_vector(saved.fit.details["alpha"], saved.data.n), float(saved.fit.details["w_cap"])
    if saved.fit.params.get("w_cap") not in (None, cap):
        return [not_shown(OPTIMUM, OTHER)]
    program, x, point = _with_alpha("rsvm", saved.data, {"w_cap": cap}, (saved.w, saved.b), alpha)
    return [optimum(saved, program, x, point, about=about_of("rsvm", {"w_cap": cap}))]


def of_subset(saved: SavedFit) -> list[Claim]:
    """Return the claims of a filter: the value of its hyperplane, and the optimum of its last SVM.

    Raises
    ------
    FileError : its multipliers are damaged.
    """
    fit, data = saved.fit, saved.data
    with reading("multipliers"):
        chosen: Indices = np.array(fit.details["chosen"], dtype=np.intp)
        alpha = finite_vector(fit.details["alpha"], data.n)
        slug, key = ("rsvm", "w_cap") if fit.details["machine"] == "rsvm" else ("svm", "c")
        params = {key: float(fit.details[key])}
    if fit.params.get(key) not in (None, params[key]):
        return [not_shown(VALUE, OTHER)]
    if not len(chosen):
        return [not_shown(VALUE, "no feature is selected")]
    part = data.columns(chosen)
    try:
        pair = pair_of(*_with_alpha(slug, part, params, (saved.w[chosen], saved.b), alpha))
    except NotShownError as error:
        return [not_shown(VALUE, str(error))]
    about = about_of(slug, params, chosen.tolist())
    value = claim_of_pair(VALUE, "feasible", replace(pair, dual=None), TOLERANCE)
    claims = [with_value(value, fit.objective, TOLERANCE), claim_of_pair(MACHINE, "optimal", pair, TOLERANCE)]
    return [replace(claim, about=about) for claim in claims]


def of_value(saved: SavedFit) -> list[Claim]:
    """Return the claim of a heuristic answer whose objective is the hinge loss of its hyperplane."""
    model = build("misclass-step", saved.data, alpha=1.0)
    program = compile_model(model)
    pair = pair_of(program, assembled(model, program, error_values(saved.data, saved.w, saved.b)), None)
    claim = replace(claim_of_pair(VALUE, "feasible", pair, TOLERANCE), about=about_of("misclass-step", {"alpha": 1.0}))
    return [with_value(claim, saved.fit.objective, TOLERANCE)]


def error_values(data: Dataset, w: Vector, b: float) -> dict[str, Vector]:
    """Return component -> value at a hyperplane, for the names of the programs of Mangasarian."""
    excess = np.maximum(1.0 - data.y * (data.X @ w + b), 0.0)
    return {"w": w, "gamma": np.array([-b]), "y": excess[data.y > 0], "z": excess[data.y < 0], "v": np.abs(w)}


def _with_alpha(
    slug: str, data: Dataset, params: dict[str, Any], hyperplane: tuple[Vector, float], alpha: Vector
) -> tuple[Program, Vector, Point]:
    """Return a hinge program, its variables at a hyperplane, and the dual point of multipliers of its margins."""
    model = build(slug, data, **params)
    program = compile_model(model)
    rows = {"margin": alpha}
    q = data.X.T @ (alpha * data.y)
    if model.component("split") is not None:
        rows["split"] = -q
    values, z = hinge_values(data, *hyperplane), np.zeros(len(program.cones.h))
    if slug == "svm-norm":
        values["t"] = np.array([np.nextafter(np.linalg.norm(hyperplane[0]) * (1.0 + ROUNDED), np.inf)])
    x = assembled(model, program, values)
    if len(z):  # of ||w|| <= sqrt(W) or <= t: the head takes the norm of q, or the cost of t, and the tail takes -q
        columns = program.cones.G[1:].tocsr().indices
        place = {id(v): k for k, v in enumerate(model.w.values())}
        z[0] = 0.5 if slug == "svm-norm" else np.linalg.norm(q)
        z[1:] = [-q[place[id(program.variables[j])]] for j in columns]
    return program, x, point_of(program, x, multipliers(model, program, rows), z)
