"""Verification of an answer that trusts no solver: numerically, and without any tolerance in rational arithmetic.

An answer is a fit, a solve, or one to a question; of a file it is decoded first. The evidence for its claims is
recomputed from the data, and every claim has an exact interval, or the reason why it has none. What is searched for
here is checked afterwards. The programs of a proof are built anew from the data, and their digests compared.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.analysis.selections import Selections
from fsopt.answers.certificate import TOLERANCE, Certificate, Kind, make
from fsopt.answers.fits import Fit
from fsopt.answers.records import plain
from fsopt.answers.results import Point, SolveResult, Status
from fsopt.answers.saved import FitFile, SolveFile, file_of, fit_from, intact, numbers, point_from, read_record
from fsopt.answers.trained import Trained, fingerprint
from fsopt.certificates.bounds import crossed
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
from fsopt.certificates.exact.program import dual_start, exact_program
from fsopt.certificates.exact.proofs import Header, Part, evidence_data, program_data
from fsopt.certificates.model import certify_result
from fsopt.common.arguments import FLAG, PATH, Argument, checked, optional
from fsopt.common.registry import CHANGES, Change, Changes, customised
from fsopt.compiler import Program, compile_model
from fsopt.compiler.program import MODEL as MODEL_KIND
from fsopt.compiler.values import distance_from
from fsopt.data import Dataset
from fsopt.data.given import Given, dataset_of
from fsopt.data.hyperplanes import measures
from fsopt.data.layout import label_key
from fsopt.data.matrices import column_deviations
from fsopt.errors import FileError, NotShownError, reading
from fsopt.methods.checking import recomputed_certificate, saved_fit
from fsopt.methods.claims import CONCAVE, about_of, claims_of, concave_terms
from fsopt.methods.gbd.problems import SELECTION, problem_of, selection_claims
from fsopt.methods.gbd.proofs import selection_program
from fsopt.methods.large_programs import MODELLED
from fsopt.methods.preprocessing import SCALES, preprocess, unit_rms
from fsopt.methods.registry import METHODS
from fsopt.methods.spec import in_units
from fsopt.methods.verdict import extend, stated_residuals
from fsopt.models.blocks import number
from fsopt.models.gbd.feature_lists import BOUNDS, ENDS
from fsopt.models.registry import MODELS, build
from fsopt.solvers.outcome import supporting
from fsopt.verification.verified import SUPPORT, Verification, first_statement
from fsopt.verifier import verify as verifier
from fsopt.verifier.rationals import ZERO, Refuted, need, one_of, or_none, places, read, refuse

OPTIMUM = "the optimum of the model"
NO_POINT = "there is no feasible point"
ORIGIN = {
    "model": one_of(*MODELS, "selection"),
    "parameters": dict,
    "scale": one_of(*SCALES),
    "columns": or_none(places),
    "units": one_of("given", "rms"),
    "changed": [str],
    "data": str,
}
ANSWER = Argument(
    "an answer or a path",
    PATH.holds,
    "give a Fit (the proof of select), a SolveResult, an answer of selection_path, alternatives, necessity, or a file",
)


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
        found = check_result(program, answer)
        return Verification(answer.status, found, exact, (claim_of_result(program, answer),) if exact else ())
    data = dataset_of(data)
    if isinstance(answer, Fit):
        return verify_fit(answer, data, "the fit", {}, exact=exact, customise=customise)
    if isinstance(answer, Selections):
        with reading("answer"):
            found, claims = make(Kind.GBD, answer.residuals(data)), answer.claims(data) if exact else ()
            support = SUPPORT[answer.status if answer.others is None else None]
            return Verification(answer.status, found, exact, claims, Header(data, answer.scale), support)
    ANSWER.check("answer", answer)
    return verify_record(read_record(answer), data, str(answer), exact=exact, customise=customise)


def verify_record(
    record: Mapping[str, Any], data: Dataset, path: str, *, exact: bool = False, customise: Changes = None
) -> Verification:
    """Verify a saved answer as :func:`verify` does its file, with raw data, and the path in messages."""
    file, sealed = file_of(record, path), {} if intact(record) else {"digest": 1.0}
    if isinstance(file, FitFile):
        return verify_fit(fit_from(record, path), data, path, sealed, exact=exact, customise=customise)
    work, _ = preprocess(data, file.scale)
    header = Header(data, file.scale, _changed(None, file.data_sha256, work, path, customise))
    with reading("answer"), customised(customise):
        model = build(file.model, work, **file.params)
        program = compile_model(model)
        result = result_from(file, program)
        x = None if result.point is None else result.point.x
        off = distance_from(model, program.variables, x, file.solution)
        stated = {**sealed, "labels": _other_labels(file.labels, data), "solution": off}
        found = extend(check_result(program, result), stated)
        claims = (replace(claim_of_result(program, result), about=about_of(file.model, file.params)),) if exact else ()
        return Verification(result.status, found, exact, claims, header)


def verify_fit(
    fit: Fit, data: Dataset, path: str, stated: Mapping[str, float], *, exact: bool, customise: Changes
) -> Verification:
    """Verify a fit again from its training data, with the residuals that are stated of the file that holds it."""
    trained = fit.trained or fit.kept_of(data)
    changed = _changed(fit.details.get("customised"), trained.data_sha256, data, path, customise)
    with reading("answer"), customised(customise):
        recomputed = recomputed_certificate(METHODS[fit.method], fit, data)
        found = extend(recomputed, _of_data(trained, fit, data), stated)
        header = Header(data, str(fit.params.get("scale", "none")), changed)
        return Verification(fit.status, found, exact, tuple(exact_claims(fit, data)) if exact else (), header)


def exact_claims(fit: Fit, data: Dataset) -> Sequence[Claim]:
    """Return what rational arithmetic shows of a fit.

    Programs of models are of dense data: sparse ones are made dense here up to 5 million entries, but for selections.
    """
    spec = METHODS[fit.method]
    saved = saved_fit(spec, fit, data)
    if data.sparse and spec.exact is not selection_claims:
        if data.n * data.p > MODELLED:
            reason = f"their program of {data.n} x {data.p} numbers is too large to be exact"
            return [not_shown("the claims", reason)]
        saved = replace(saved, data=saved.data.with_X(saved.data.X.toarray()))  # type: ignore[attr-defined]
    with reading("fit"):
        return (spec.exact or claims_of)(saved)


def exact_word(fit: Fit, data: Dataset, *, customise: Changes = None) -> str:
    """Return the word of an exact check for a row of a table, with the reason where something is not shown."""
    found = verify(fit, data, exact=True, customise=customise)
    return VERIFIED if found.verified else NOT_VERIFIED + f" ({found.reason})" * bool(found.reason)


def _changed(stated: Any, digest: str, data: Dataset, path: str, customise: Changes) -> list[str]:
    """Return the slugs of the changed models; FileError for an answer of other data, or of other slugs' functions."""
    changed = sorted(stated) if isinstance(stated, Mapping) else []
    _same_changes(changed, customise, path)
    if digest != fingerprint(data):
        raise FileError(
            f"'{path}' was computed from other data than '{data.name}'",
            "give the data set of the saved answer, with the same target= and missing=, sparse or dense as it was",
        )
    return changed


def _same_changes(changed: list[str], given: Changes, path: str) -> None:
    """Raise FileError for an answer or a proof of changed models beside functions of other slugs."""
    if changed != sorted(given or {}):
        models = f"changed models: {', '.join(changed)}" if changed else "unchanged models"
        raise FileError(f"'{path}' is of {models}", "give fsopt.verify their functions by customise=, and no others")


def _other_labels(stated: tuple[str, str], data: Dataset) -> float:
    """Return 0 for the labels of the data, in whatever spelling of their values ("1" and "+1"), and 1 for others."""
    return float([*map(label_key, stated)] != [*map(label_key, data.labels)])


def _of_data(trained: Trained, fit: Fit, data: Dataset) -> dict[str, float]:
    """Return 0 or 1 for the names and scores that a fit states of its data: whether they are those of the data."""
    train, scores = measures(data.y, fit.decision_function(data.X)) if fit.status.solved else {}, trained.train
    here = None if data.encoded is None else data.encoded.encoding
    deviation = column_deviations(data.X)
    off = np.abs(np.reshape(trained.deviation, data.p) - deviation) / np.where(deviation > 0, deviation, 1.0)
    apart = [abs(scores.get(name, np.inf) - train.get(name, -np.inf)) for name in scores.keys() | train.keys()]
    return {
        "labels": _other_labels(trained.labels, data),
        "columns": float(trained.columns != data.features),
        "encoding": float(plain(trained.encoding) != plain(here)),
        "deviation": float(off.max(initial=0.0)),
        "train": float(np.max(apart, initial=0)),
    }


def result_from(file: SolveFile, program: Program) -> SolveResult:
    """Return the result of a saved solve of a program; raises FileError where a point does not fit the program."""
    names = ("point", "evidence", "ray", "direction")
    points: dict[str, Any] = {k: point_from(getattr(file, k), program) for k in names if getattr(file, k) is not None}
    same = {k: getattr(file, k) for k in ("status", "stop", "objective", "bound", "solver", "evidence_source")}
    return SolveResult(**same, **points, seconds={}, iterations=0)


def check_result(program: Program, result: SolveResult) -> Certificate:
    """Recompute the certificate of the result of a solve, and compare the numbers that it states."""
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
            return not_shown(OPTIMUM, "the answer has no point, and no multipliers that prove that there is none")
        own = point if point.y is not None and point.z is not None else result.evidence
        pair = pair_of(program, point.x, None if program.discrete else own)
        if program.discrete:  # the multipliers of fixed integers bound nothing
            reason = "the bound: it rests on the search of a solver, which is not repeated"
            pair = replace(pair, reasons=(*pair.reasons[:-1], reason))
        claim = claim_of_pair(OPTIMUM, "optimal" if status is Status.OPTIMAL else "feasible", pair, TOLERANCE)
    except NotShownError as error:
        return not_shown(OPTIMUM, str(error))
    return with_statement(claim, result.objective, result.bound, TOLERANCE) if status is Status.OPTIMAL else claim


def claim_infeasible(program: Program, ray: Point) -> Claim:
    """Return the claim that a program has no feasible point, from multipliers y and z of either sign of y."""
    exact = exact_program(program)
    bare = replace(exact, P={}, c=(ZERO,) * program.n, c0=ZERO)
    y, z = ray.multipliers
    size = max(float(np.abs(y).max(initial=0.0)), float(np.abs(z).max(initial=0.0)), 1e-300)
    for sign in (1.0, -1.0):
        start = dual_start(program, bare, Point(np.zeros(program.n), sign * y / size, z / size))
        with suppress(NotShownError):
            evidence = evidence_data(bare, None, repaired_dual(bare, start), empty=True)
            claim = claim_of(NO_POINT, "infeasible", program_data(exact), evidence)
            if claim.holds:
                return claim
    return not_shown(NO_POINT, "the multipliers prove no infeasibility in rational numbers")


def check_proof(path: str | Path, source: Dataset | pyo.ConcreteModel) -> dict[str, Any]:
    """Check a proof file against data before preprocessing, or a model: the proof, and the digests of its programs.

    Returns what ``fsopt check --json`` prints: whether the proof is ``confirmed``, or the ``reason``, and ``all`` the
    statements of ``fsopt-verify``, each with the ``origin`` of its program, None for a model file; ends as fractions.
    FileError where the file is no proof, or does not say from what its programs are built.
    """
    code, reason, found = verifier.verdict(str(path))
    if code == 2:
        raise FileError(f"'{path}' is no proof that can be checked: {reason}", "write it by 'fsopt check --proof'")
    try:
        for statement, claim in zip(found, verifier.opened(str(path)) if found else (), strict=True):
            origin = statement["origin"] = claim["statement"]["origin"] if isinstance(source, Dataset) else None
            same = statement["program"] == verifier.digest(_program(origin, source, str(path)))
            need(same, "the program that is built here is another one than the program in the proof")
    except Refuted as error:
        reason, found = str(error), []
    return {"confirmed": bool(found), "reason": reason, "all": found, **first_statement(found)}


def _program(origin: Any, source: Dataset | pyo.ConcreteModel, path: str) -> Part:
    """Return the program that follows from data, or from the model of a file."""
    if not isinstance(source, Dataset):
        return program_data(exact_program(compile_model(source)))
    if origin is None:
        raise FileError(f"'{path}' is a proof of a model file", "give the model of that file")
    with reading("proof"):
        origin = read(origin, ORIGIN, "an origin")
        slug, parameters = origin["model"], origin["parameters"]
        absent = {k for k in BOUNDS if k not in ENDS or not parameters.get(k)}  # of a model without such bounds
        known = SELECTION if slug == "selection" else sorted({*MODELS[slug].parameters} - absent)
        read(parameters, dict.fromkeys(known, lambda value: value), f"the parameters of '{slug}'")
        if origin["units"] == "rms" and origin["columns"] is not None:
            refuse("in units of root mean squares its program has all columns")
        _same_changes(origin["changed"], None, path)
        need(origin["data"] == fingerprint(source), "the data are other ones: their SHA-256 is not that of the proof")
        return program_of(origin, source)


def program_of(origin: Mapping[str, Any], raw: Dataset) -> Part:
    """Return the program of an origin, built from data before preprocessing."""
    slug, params = origin["model"], numbers(origin["parameters"])
    if origin["units"] == "rms":
        work = unit_rms(raw, origin["scale"]).work
    else:
        work, map_ = preprocess(raw, origin["scale"])
        params = in_units(slug, raw, params, map_.scale) if slug == "selection" else params
        work = work if origin["columns"] is None else work.columns(origin["columns"])
    if slug == "selection":
        return selection_program(problem_of(work, {**params, "c": number(slug, "c", params["c"])}))
    if work.sparse and work.n * work.p <= MODELLED:
        work = work.with_X(work.X.toarray())  # type: ignore[attr-defined]
    step = f"{slug}-step" if f"{slug}-step" in CONCAVE else ""
    model = build(step or slug, work, **params)
    program = compile_model(model)
    return program_data(exact_program(program), concave_terms(step, model, program, params) if step else ())
