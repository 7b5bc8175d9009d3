"""Claims of solvers about small programs, held against the exact optimum."""

import warnings
from dataclasses import replace

from small_programs import Change, Small, build

import fsopt
from fsopt.answers.results import Point
from fsopt.compiler import compile_model
from fsopt.errors import SolverError

WITHIN = 1e-6
"""Largest difference of a claimed optimum from the exact one, relative to the larger of 1 and the exact one."""
CLAIMS = ("optimal", "infeasible", "unbounded")


def solved(program: Small, solver: str, model=None) -> fsopt.SolveResult | None:
    """Return the answer of a solver; None where it does not take the class."""
    if program.kind not in fsopt.SOLVERS[solver].classes:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            return fsopt.solve(model or build(program), solver, time_limit=20)
    except SolverError:
        return None


def near(program: Small, value: float | None) -> bool:
    """Return whether a value of the model's own sense is the exact optimum."""
    truths = [truth for truth in (program.truth, program.also) if not isinstance(truth, str)]
    return value is not None and any(abs(program.sense * value - v) <= WITHIN * max(1.0, abs(v)) for v in truths)


def contradiction(program: Small, result: fsopt.SolveResult) -> str:
    """Return what the exact optimum says against a claim, empty where nothing is claimed or the claim is right."""
    if result.status not in CLAIMS or result.status in (program.truth, program.also):
        return ""
    kind = result.certificate and result.certificate.kind
    said = f"{result.status} {result.objective}, bound {result.bound}, {kind}; the minimum is {program.truth}"
    if result.status != "optimal" or not near(program, result.objective):
        return said
    beyond = 0.0 if result.bound is None else program.sense * (result.bound - result.objective)
    return said if beyond > WITHIN * max(1.0, abs(result.objective)) else ""


def unproved(program: Small, result: fsopt.SolveResult) -> bool:
    """Return whether an answer has the right value, or no value for a program without one, and claims nothing."""
    without = isinstance(program.truth, str) and result.objective is None
    return result.status not in CLAIMS and (without or near(program, result.objective))


def carried(result: fsopt.SolveResult, change: Change, model) -> fsopt.SolveResult:
    """Return an answer to a program as an answer to its exact rescaling, whose model is given."""
    program = compile_model(model)
    columns = [change.columns[v.index()] if v.parent_component() is model.x else 1.0 for v in program.variables]
    rows = [change.rows[r.index()] if r.parent_component() is model.row else 1.0 for r in program.constraints]

    def moved(point: Point | None) -> Point | None:
        if point is None:
            return None
        return Point(point.x / columns, None if point.y is None else point.y / rows, point.z)

    parts = {name: moved(getattr(result, name)) for name in ("point", "evidence", "ray", "direction")}
    return replace(result, **parts, constraint_duals=())


def verdict(certificate) -> tuple[str, bool]:
    return str(certificate.kind), certificate.ok
