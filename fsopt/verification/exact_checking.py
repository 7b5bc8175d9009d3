"""Verification without any tolerance: the exact interval of every claim of an answer, or the reason why it has none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.analysis.selections import Selections
from fsopt.answers.certificate import TOLERANCE, Kind, make
from fsopt.answers.fits import Fit
from fsopt.answers.results import Point, SolveResult, Status
from fsopt.answers.saved import fit_from, read_record
from fsopt.certificates.exact.claims import (
    NOT_VERIFIED,
    VERIFIED,
    Claim,
    claim_of,
    claim_of_pair,
    not_shown,
    pair_of,
    repaired_dual,
    with_statement,
)
from fsopt.certificates.exact.forms import ZERO
from fsopt.certificates.exact.program import dual_start, exact_program
from fsopt.certificates.exact.proofs import Header, dual_data, evidence_data, program_data
from fsopt.common.arguments import FLAG, PATH, Argument, checked, optional
from fsopt.common.customising import CHANGES, Change, customised
from fsopt.compiler import Program, compile_model
from fsopt.compiler.program import MODEL as MODEL_KIND
from fsopt.data import Dataset
from fsopt.data.given import Given, dataset_of
from fsopt.errors import NotShownError, reading
from fsopt.methods.claims import about_of
from fsopt.methods.preprocessing import preprocess
from fsopt.models.registry import build
from fsopt.typing import Vector
from fsopt.verification.checking import check_record, exact_claims, verify_fit
from fsopt.verification.solve_checking import check_result, result_from
from fsopt.verification.verified import ExactCheck, Verification

MODEL = "the optimum of the model"


def exactly(fit: Fit, data: Dataset, *, numerically: bool = True) -> ExactCheck:
    """Return what rational arithmetic shows of a fit, without a numerical verification of it.

    Parameters
    ----------
    data : that it was fitted to.
    numerically : whether it was verified numerically.

    Raises
    ------
    FileError : the evidence is damaged, or the data are others.
    """
    changed = sorted(fit.details.get("customised", {}))
    header = Header(data, str(fit.params.get("scale", "none")), changed)
    return ExactCheck(fit.status, tuple(exact_claims(fit, data)), header, numerically)


@checked(exact=FLAG, customise=optional(CHANGES))
def verify(
    answer: Fit | SolveResult | Selections | str | Path,
    data: Given | pyo.ConcreteModel,
    *,
    exact: bool = False,
    customise: Mapping[str, Change] | None = None,
) -> Verification:
    """Verify an answer again, without any solver.

    Parameters
    ----------
    answer : Fit | SolveResult | Selections | str | Path
        A fit, the result of a solve, a selection path, alternatives, a necessity result, or the path of a file saved by
        ``Fit.save``, ``fsopt fit`` or ``fsopt solve``.
    data : Given | pyo.ConcreteModel
        The data of the answer, as in :func:`fsopt.fit`; of the result of :func:`fsopt.solve` the model that was solved.
    exact : bool, default False
        Also in rational arithmetic, with no tolerance anywhere.
    customise : Mapping[str, Change], optional
        The functions that changed the models of the answer, as they were given to :func:`fsopt.fit`.

    Returns
    -------
    Verification
        Whether the recomputed numbers support the claimed status, with all residuals and claims.

    Raises
    ------
    FileError : the file or the details of the answer are damaged, or the data are others.
    ParameterError : an answer of another kind, or not its data.
    """
    if isinstance(answer, SolveResult):
        MODEL_KIND.check("data", data)
        program = compile_model(data)
        found = Verification(answer.status, check_result(program, answer))
        if not exact:
            return found
        claims = tuple(_claims_of_result(program, answer))
        return replace(found, exact=ExactCheck(answer.status, claims, None, found.numerically))
    data = dataset_of(data)
    if isinstance(answer, Fit):
        found = verify_fit(answer, data, customise=customise)
        if not exact:
            return found
        with customised(customise):
            return replace(found, exact=exactly(answer, data, numerically=found.numerically))
    if isinstance(answer, Selections):
        return _verify_question(answer, data, exact=exact)
    ANSWER.check("answer", answer)
    return verify_record(read_record(answer), data, str(answer), exact=exact, customise=customise)


ANSWER = Argument(
    "an answer or a path",
    PATH.holds,
    "give a Fit, a SolveResult, an answer of fsopt.selection_path, alternatives or necessity, or a file of a fit",
)


def verify_record(
    record: Mapping[str, Any],
    data: Dataset,
    path: str,
    *,
    exact: bool = False,
    customise: Mapping[str, Change] | None = None,
) -> Verification:
    """Verify a saved answer as :func:`verify` does its file.

    Parameters
    ----------
    record, path : the content of the file, and its name for messages.
    data : raw; the preprocessing that a saved solve names is applied here.
    """
    work = data if "method" in record else preprocess(data, str(record.get("scale", "none")))[0]
    found = check_record(record, work, path, customise=customise)
    if not exact:
        return found
    shown = check_record_exactly(record, work, path, customise=customise, numerically=found.numerically, raw=data)
    return replace(found, exact=shown)


def _verify_question(answer: Selections, data: Dataset, *, exact: bool) -> Verification:
    """Verify the answer to a question by a replay of its searches, and the value of every selection."""
    with reading("answer"):
        found = Verification(answer.status, make(Kind.GBD, answer.residuals(data)))
    if not exact:
        return found
    enough = frozenset({"bounded", "infeasible"}) if answer.others is not None else None
    with reading("answer"):
        claims = answer.claims(data)
    header = Header(data, answer.scale)
    return replace(found, exact=ExactCheck(answer.status, claims, header, found.numerically, enough))


def exact_word(fit: Fit, data: Dataset, *, customise: Mapping[str, Change] | None = None) -> str:
    """Return the word of an exact check for a row of a table, with the first reason where a claim is not shown."""
    found = verify(fit, data, exact=True, customise=customise)
    word = VERIFIED if found.verified else NOT_VERIFIED
    reasons = [f"{claim.name}: {claim.reason}" for claim in found.claims if claim.reason]
    return word if found.verified or not reasons else f"{word} ({reasons[0]})"


def check_record_exactly(
    record: Mapping[str, Any],
    data: Dataset,
    path: str,
    *,
    customise: Mapping[str, Change] | None = None,
    numerically: bool = True,
    raw: Dataset | None = None,
) -> ExactCheck:
    """Return what rational arithmetic shows of a saved answer.

    Parameters
    ----------
    record, path, data, customise : as in :func:`fsopt.verification.checking.check_record`, which looks at the file
        first.
    raw : the data before the preprocessing of a saved solve; by default ``data`` had none.
    numerically : whether it was verified numerically.

    Raises
    ------
    FileError : the evidence is damaged.
    """
    with customised(customise):
        if "method" in record:
            return exactly(fit_from(record, path), data, numerically=numerically)
        scale = "none" if raw is None else str(record.get("scale", "none"))
        changed = sorted(record.get("customised", {}))
        header = Header(data if raw is None else raw, scale, changed)
        return ExactCheck(Status(record["status"]), tuple(_solve_claims(record, data)), header, numerically)


def _solve_claims(record: Mapping[str, Any], data: Dataset) -> list[Claim]:
    """Return the claim of a saved solve."""
    about = about_of(record["model"], record["params"])
    return [replace(claim, about=about) for claim in _claims_of_solve(record, data)]


def _claims_of_solve(record: Mapping[str, Any], data: Dataset) -> list[Claim]:
    with reading("answer"):
        program = compile_model(build(record["model"], data, **record["params"]))
        return _claims_of_result(program, result_from(record, program))


def _claims_of_result(program: Program, result: SolveResult) -> list[Claim]:
    """Return the claim of the result of a solve."""
    status, point = result.status, result.point
    try:
        if status is Status.INFEASIBLE and result.ray is not None:
            return [claim_infeasible(program, result.ray)]
        if point is None:
            return [not_shown(MODEL, "the answer has no point, and no multipliers that prove that there is none")]
        own = point if point.y is not None and point.z is not None else result.evidence
        return [solve_claim(program, point.x, own, status, (result.objective, result.bound))]
    except NotShownError as error:
        return [not_shown(MODEL, str(error))]


def solve_claim(
    program: Program, x: Vector, own: Point | None, status: Status, stated: tuple[float | None, float | None]
) -> Claim:
    """Return the claim of a solve.

    Parameters
    ----------
    x : (n,) its answer. ``own`` : a point with multipliers of the program; those of fixed integers bound nothing.
    stated : objective and bound, in the model's own sense.

    Raises
    ------
    NotShownError : the program has no form in rational numbers.
    """
    integer = bool(program.integer.any())
    pair = pair_of(program, x, None if integer else own)
    if integer:
        reason = "the bound: it rests on the search of a solver, which is not repeated"
        pair = replace(pair, reasons=(*pair.reasons[:-1], reason))
    claim = claim_of_pair(MODEL, "optimal" if status is Status.OPTIMAL else "feasible", pair, TOLERANCE)
    return with_statement(claim, *stated, TOLERANCE) if status is Status.OPTIMAL else claim


def claim_infeasible(program: Program, ray: Point) -> Claim:
    """Return the claim that a program has no feasible point, from multipliers y and z of either sign of y.

    Raises
    ------
    NotShownError : the program has no form in rational numbers.
    """
    exact = exact_program(program)
    bare = replace(exact, P={}, c=(ZERO,) * exact.n, c0=ZERO)
    y, z = ray.multipliers
    reason = "the multipliers prove no infeasibility in rational numbers"
    size = max(float(np.abs(y).max(initial=0.0)), float(np.abs(z).max(initial=0.0)), 1e-300)
    for sign in (1.0, -1.0):
        start = dual_start(program, bare, Point(np.zeros(program.n), sign * y / size, z / size))
        try:
            dual = repaired_dual(bare, start)
        except NotShownError as error:
            reason = error.message
            continue
        evidence = evidence_data(bare, None, [["empty", 0]], [dual_data(bare, dual)])
        claim = claim_of("there is no feasible point", "infeasible", program_data(exact), evidence)
        if claim.holds:
            return claim
    return not_shown("there is no feasible point", reason)
