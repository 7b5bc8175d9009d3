"""Verification of a solve: the certificate of its model, the stated numbers, and its claim in rational arithmetic."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.answers.certificate import TOLERANCE, Certificate
from fsopt.answers.results import Point, SolveResult, Status
from fsopt.answers.saved import point_from
from fsopt.certificates.bounds import crossed
from fsopt.certificates.exact.claims import (
    Claim,
    claim_of,
    claim_of_pair,
    not_shown,
    pair_of,
    repaired_dual,
    with_statement,
)
from fsopt.certificates.exact.program import dual_start, exact_program
from fsopt.certificates.exact.proofs import dual_data, evidence_data, program_data
from fsopt.certificates.model import certify_result
from fsopt.compiler import Program
from fsopt.errors import NotShownError
from fsopt.methods.verdict import extend, stated_residuals
from fsopt.solvers.outcome import supporting
from fsopt.verifier.rationals import ZERO

MODEL = "the optimum of the model"
NO_POINT = "there is no feasible point"


def result_from(record: Mapping[str, Any], program: Program) -> SolveResult:
    """Return the result of a saved solve of a program; raises FileError where a point does not fit the program."""
    names = ("point", "evidence", "ray", "direction")
    points: dict[str, Any] = {k: point_from(record[k], program) for k in names if record.get(k) is not None}
    return SolveResult(
        status=Status(record["status"]),
        stop=str(record.get("stop", "")),
        objective=record.get("objective"),
        bound=record.get("bound"),
        solver=str(record.get("solver")),
        seconds={},
        iterations=0,
        evidence_source=str(record.get("evidence_source", "")),
        **points,
    )


def check_result(program: Program, result: SolveResult) -> Certificate:
    """Recompute the certificate of the result of a solve from the program.

    The bound of a program with integers, or of one that is not convex, rests on the solver's word, and the source of
    the bound says so.
    """
    found = certify_result(program, result)
    bound, sign = result.bound, program.sign
    if result.point is None or crossed(program):  # there are no numbers, but infinite bounds
        highest = math.inf if result.status is Status.INFEASIBLE else -math.inf
        true = bound is None or (math.isinf(bound) and sign * bound <= highest)
        none = {"objective": result.objective is None, "stated bound": true}
        return extend(found, {name: 0.0 if holds else math.inf for name, holds in none.items()})
    found = supporting(program, found, result.status, bounded=bound is not None)
    stated = stated_residuals(result, found, sign=sign)
    if result.status is Status.STATIONARY and bound is not None:
        stated["stated bound"] = math.inf  # of a local answer
    return extend(found, stated)


def claim_of_result(program: Program, result: SolveResult) -> Claim:
    """Return the claim of the result of a solve."""
    status, point = result.status, result.point
    try:
        if status is Status.INFEASIBLE and result.ray is not None:
            return claim_infeasible(program, result.ray)
        if point is None:
            return not_shown(MODEL, "the answer has no point, and no multipliers that prove that there is none")
        own = point if point.y is not None and point.z is not None else result.evidence
        pair = pair_of(program, point.x, None if program.discrete else own)
        if program.discrete:  # the multipliers of fixed integers bound nothing
            reason = "the bound: it rests on the search of a solver, which is not repeated"
            pair = replace(pair, reasons=(*pair.reasons[:-1], reason))
        claim = claim_of_pair(MODEL, "optimal" if status is Status.OPTIMAL else "feasible", pair, TOLERANCE)
    except NotShownError as error:
        return not_shown(MODEL, str(error))
    return with_statement(claim, result.objective, result.bound, TOLERANCE) if status is Status.OPTIMAL else claim


def claim_infeasible(program: Program, ray: Point) -> Claim:
    """Return the claim that a program has no feasible point, from multipliers y and z of either sign of y."""
    exact = exact_program(program)
    bare = replace(exact, P={}, c=(ZERO,) * exact.n, c0=ZERO)
    y, z = ray.multipliers
    size = max(float(np.abs(y).max(initial=0.0)), float(np.abs(z).max(initial=0.0)), 1e-300)
    for sign in (1.0, -1.0):
        start = dual_start(program, bare, Point(np.zeros(program.n), sign * y / size, z / size))
        with suppress(NotShownError):
            evidence = evidence_data(bare, None, [["empty", 0]], [dual_data(bare, repaired_dual(bare, start))])
            claim = claim_of(NO_POINT, "infeasible", program_data(exact), evidence)
            if claim.holds:
                return claim
    return not_shown(NO_POINT, "the multipliers prove no infeasibility in rational numbers")
