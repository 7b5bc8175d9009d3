"""Answers of other software: evidence for their claims, found here, and the reason why a claim is refused."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import FEASIBLE, TOLERANCE
from fsopt.answers.results import Point, SolveResult
from fsopt.certificates.points import infeasibility, integrality
from fsopt.compiler import compile_model
from fsopt.compiler.classes import CONVEX, program_class
from fsopt.solvers.auxiliary import BRIEF
from fsopt.solvers.mending import mended, moved
from fsopt.typing import Vector


def unrounded(model: pyo.ConcreteModel, answer: SolveResult) -> SolveResult:
    """Return an answer whose numbers a file rounded, at the nearest point that meets every constraint.

    Point and multipliers that this would change by more than :data:`fsopt.answers.certificate.TOLERANCE` of their
    largest entry are not rounded but wrong, and stay. The message says by how much the point was moved; the claim and
    the stated value stay those of the file.
    """
    program, stated = compile_model(model), answer.point
    if stated is None or max(infeasibility(program, stated.x), integrality(program, stated.x)) > TOLERANCE:
        return answer
    deadline = time.perf_counter() + BRIEF
    if program_class(program) in CONVEX:
        found = mended(program, stated, deadline)
    else:
        found = replace(stated, x=moved(program, stated.x, deadline))
    if infeasibility(program, found.x) > FEASIBLE or not _near(found.x, stated.x):
        return answer
    if stated.y is not None and not _near(np.concatenate(found.multipliers), np.concatenate(stated.multipliers)):
        found = Point(found.x, *stated.multipliers)
    away = float(np.abs(found.x - stated.x).max(initial=0.0))
    words = f"at a point at most {away:.1e} from the one in the file, which meets every constraint" if away else ""
    return replace(answer, point=found, message=words)


def _near(found: Vector, stated: Vector) -> bool:
    """Return whether numbers can be stated ones before they were rounded."""
    return float(np.abs(found - stated).max(initial=0.0)) <= TOLERANCE * float(np.abs(stated).max(initial=0.0))
