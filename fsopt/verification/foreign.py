"""Answers of other software: evidence for their claims, found here, and the reason why a claim is refused."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import FEASIBLE, TOLERANCE, Kind
from fsopt.answers.results import Point, SolveResult, Status
from fsopt.certificates.points import infeasibility, integrality
from fsopt.compiler import Program, compile_model
from fsopt.compiler.classes import CONVEX, program_class
from fsopt.errors import SolverError
from fsopt.formats.names import name_of
from fsopt.search.branch_and_bound.driver import prove
from fsopt.solvers.auxiliary import BRIEF, with_evidence
from fsopt.solvers.interface import Outcome, Settings
from fsopt.solvers.mending import mended, moved
from fsopt.solvers.outcome import certified_result
from fsopt.typing import Vector
from fsopt.verification.verified import Verification

NO_BOUND = "nothing in the file bounds the optimum"
SAME = 1e-6
"""Largest difference of the values of two points that are the same one, with its integers rounded."""
EXPLAINED: Mapping[str, str] = {
    "infeasibility": "the point violates a constraint",
    "integrality": "an integer variable is no whole number",
    "bounds": "the point violates a bound",
    "objective": "the stated objective value is not that of the point",
    "remainder": "the multipliers prove no bound",
    "gap": "the optimum is bounded elsewhere",
    "stated bound": "the optimum is not bounded by the stated value",
    "farkas": "the multipliers prove no infeasibility",
}
"""Residual -> what it means where it is too large."""


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


def supported(model: pyo.ConcreteModel, answer: SolveResult, time_limit: float | None) -> SolveResult:
    """Return an answer with evidence that is found here: multipliers, a Farkas vector, or a tree of branch and bound.

    The point and the claim stay those of the answer; where no more than feasibility is claimed and the evidence shows
    an optimum, the result says so. Without a convex relaxation of the model the answer is returned as it is.

    Parameters
    ----------
    time_limit : seconds; None for no limit.
    """
    program = compile_model(model)
    if program_class(program) not in CONVEX:
        return _with_tree(model, answer, time_limit)
    point = None if answer.point is None else Point(answer.point.x)
    outcome = Outcome(answer.status, "", point, None, 0, 0.0, "")
    found = with_evidence(program, outcome, Settings(), time_limit, answer.solver)
    evidence: dict[str, Any] = {"evidence": found.evidence, "evidence_source": found.evidence_source, "ray": found.ray}
    result = replace(answer, point=point, direction=found.direction, **evidence)
    if answer.status is Status.OPTIMAL:
        return replace(result, bound=answer.objective)
    shown = certified_result(program, found, answer.solver)
    if answer.status is Status.FEASIBLE and shown.status is Status.OPTIMAL:
        return replace(result, status=Status.OPTIMAL, bound=shown.bound)
    return result


def _with_tree(model: pyo.ConcreteModel, answer: SolveResult, time_limit: float | None) -> SolveResult:
    """Return an answer with the tree of its proof, which starts from its point."""
    try:
        found = prove(model, answer, time_limit=time_limit)
    except SolverError:  # no convex relaxation of the model is known
        return answer
    if answer.point is None:
        return replace(answer, tree=found.tree) if found.status is Status.INFEASIBLE else answer
    if answer.status is Status.OPTIMAL:
        return replace(answer, tree=found.tree, bound=answer.objective)
    own = found.point is not None and np.allclose(found.point.x, answer.point.x, rtol=0.0, atol=SAME)
    if own and found.status is Status.OPTIMAL:
        return replace(found, objective=answer.objective)
    return replace(answer, tree=found.tree, bound=found.bound)


def reason(found: Verification, answer: SolveResult, program: Program) -> str:
    """Return why a claim is not supported, in one line; empty for one that is."""
    if found.verified and found.recomputed is answer.status:
        return ""
    if found.numerically:
        return found.reason
    if answer.point is None:
        return f"the file claims that the model is {answer.status} and has nothing that proves it"
    certificate = found.certificate
    large = certificate.refused()
    unbounded = answer.status is Status.OPTIMAL and certificate.kind in (Kind.FEASIBLE, Kind.KKT)
    if unbounded and set(large) <= {"stated bound", "evidence"}:
        return NO_BOUND
    for name, words in EXPLAINED.items():
        if name in large:
            return f"{words}{_place(program, answer, name)} ({name} {large[name]:.1e})" + _values(name, found, answer)
    return found.reason


def _place(program: Program, answer: SolveResult, name: str) -> str:
    """Return the variable that is farthest from a whole number."""
    if name != "integrality" or answer.point is None:
        return ""
    off = np.where(program.integer, np.abs(answer.point.x - np.round(answer.point.x)), 0.0)
    j = int(np.argmax(off))
    return f": '{name_of(program.model, program.variables[j])}' is {answer.point.x[j]:.9g}"


def _values(name: str, found: Verification, answer: SolveResult) -> str:
    certificate = found.certificate
    if name == "objective":
        return f": stated {answer.objective:.9g}, recomputed {certificate.objective:.9g}"
    if name in ("gap", "stated bound") and certificate.bound is not None:
        return f": objective {certificate.objective:.9g}, bound {certificate.bound:.9g} ({certificate.bound_source})"
    return ""
