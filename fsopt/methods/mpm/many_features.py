"""Minimax probability machines of many more features than samples, solved by column generation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsopt.answers.results import DriverResult, SolveResult
from fsopt.common.customising import changes_in_force
from fsopt.drivers.column_generation.worst_case import Multipliers, WorstCaseData, WorstCaseProgram
from fsopt.drivers.run import Run
from fsopt.errors import reading
from fsopt.methods import large_programs
from fsopt.methods.mpm.feature_space import FeatureSpace
from fsopt.methods.mpm.worst_case import moments_of
from fsopt.methods.spec import SavedFit
from fsopt.methods.verdict import finite_vector
from fsopt.models.mpm.moments import Moments, kappa, model_factor
from fsopt.typing import Vector


@dataclass(frozen=True)
class RouteResult:
    """The hyperplane w'x + b of a route, its outcome, and the evidence for the details of the fit."""

    w: Vector
    b: float
    result: SolveResult | DriverResult
    details: Mapping[str, Any]


def many_features_order(space: FeatureSpace, run: Run) -> tuple[bool, ...]:
    """Return the routes to a program of these features, true for column generation, false for the whole model.

    Features are priced where they are many and no kernel values, and where no model is changed by the user. The model
    is the second route up to 5 million entries, unless the user names a solver.
    """
    work = space.work
    priced = work.p >= large_programs.LONG and work.X.size >= large_programs.LARGE and not changes_in_force()
    if not priced or space.kernel is not None:
        return (False,)
    if not large_programs.uses_generation(work, run):
        return (False,)
    return (True, False) if run.solver is None and work.X.size <= large_programs.MODELLED else (True,)


def worst_case_data(space: FeatureSpace, delta: float) -> WorstCaseData:
    """Return the data of the restricted problems at a worst-case accuracy."""
    return WorstCaseData(space.work, space.moments, delta, **space.moment_options)


def multiplier_details(at: Multipliers) -> dict[str, Any]:
    """Return the multipliers as details of a fit."""
    return {"lambda": at.mean, "u1": at.u1, "u2": at.u2}


def has_multipliers(saved: SavedFit) -> bool:
    """Return whether a saved fit carries the multipliers of column generation."""
    return "u1" in saved.fit.details


def saved_program(saved: SavedFit, alpha: float, v: Vector) -> tuple[WorstCaseProgram, Multipliers]:
    """Return the program of all features of a saved fit with the costs alpha - v and alpha + v, and its multipliers.

    Raises
    ------
    FileError : the multipliers are damaged.
    """
    details, own = saved.fit.details, saved.params
    moments = moments_of(saved.data, own)
    with reading("multipliers"):
        mean = float(finite_vector([details["lambda"]], 1)[0])
    program = WorstCaseProgram.of(moments, kappa(own["delta"]), alpha - v, alpha + v)
    return program, Multipliers(mean, *saved_multipliers(saved, moments))


def saved_multipliers(saved: SavedFit, moments: Moments) -> tuple[Vector, Vector]:
    """Return the multipliers u1 and u2 of a saved fit; raises FileError where they are damaged."""
    with reading("multipliers"):
        u1 = finite_vector(saved.fit.details["u1"], moments.factor1.shape[0])
        return u1, finite_vector(saved.fit.details["u2"], moments.factor2.shape[0])


def multiplier_rows(saved: SavedFit) -> dict[str, Any]:
    """Return component -> multipliers of the program of all features: lambda, -u_k and ||u_k|| / kappa."""
    moments, level = moments_of(saved.data, saved.params), kappa(saved.params["delta"])
    with reading("multipliers"):
        mean = float(saved.fit.details["lambda"])
    rows: dict[str, Any] = {"mean1": mean, "mean2": mean}
    factors = (moments.factor1, moments.factor2)
    for k, u, factor in zip((1, 2), saved_multipliers(saved, moments), factors, strict=True):
        own = model_factor(factor)
        # With R'R = F'F of the triangular factor R there is v with R'v = F'u and a norm of at most ||u||.
        v = u if own.shape[0] == len(u) else np.linalg.lstsq(own.T, u @ factor, rcond=None)[0]
        rows |= {f"spread{k}": -v, f"accuracy{k}": float(np.linalg.norm(v)) / level}
    return rows
