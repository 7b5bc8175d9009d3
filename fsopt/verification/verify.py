"""Verification of an answer without any solver: numerically, and without any tolerance in rational arithmetic.

An answer is a fit, a solve, or one to a question; of a file it is decoded first. The evidence for its claims is
recomputed from the data, and every claim has an exact interval, or the reason why it has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.analysis.selections import Selections
from fsopt.answers.certificate import Kind, make
from fsopt.answers.fits import Fit
from fsopt.answers.records import plain
from fsopt.answers.results import SolveResult
from fsopt.answers.saved import fit_from, intact, read_record
from fsopt.answers.schema import file_of
from fsopt.answers.trained import Trained, fingerprint
from fsopt.certificates.exact.claims import NOT_VERIFIED, VERIFIED, not_shown
from fsopt.certificates.exact.proofs import Header
from fsopt.common.arguments import FLAG, PATH, Argument, checked, optional
from fsopt.common.registry import CHANGES, Change, Changes, customised, same_changes
from fsopt.compiler import compile_model
from fsopt.compiler.program import MODEL as MODEL_KIND
from fsopt.compiler.values import distance_from
from fsopt.data import Dataset
from fsopt.data.given import Given, dataset_of
from fsopt.data.hyperplanes import measures
from fsopt.data.matrices import column_deviations
from fsopt.data.validation import values_of_labels
from fsopt.errors import FileError, reading
from fsopt.methods.checking import check_claims, saved_fit
from fsopt.methods.claims import about_of, claims_of
from fsopt.methods.gbd.problems import selection_claims
from fsopt.methods.large_programs import MODELLED
from fsopt.methods.preprocessing import preprocess
from fsopt.methods.registry import METHODS
from fsopt.methods.verdict import extend
from fsopt.models.registry import build
from fsopt.verification.solves import check_result, claim_of_result, result_from
from fsopt.verification.verified import ExactCheck, Verification

ANSWER = Argument(
    "an answer or a path",
    PATH.holds,
    "give a Fit, a SolveResult, an answer of fsopt.selection_path, alternatives or necessity, or a file of a fit",
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
        found = Verification(answer.status, check_result(program, answer))
        return found.with_claims([claim_of_result(program, answer)], answer.status) if exact else found
    data = dataset_of(data)
    if isinstance(answer, Fit):
        return verify_fit(answer, data, "the fit", {}, exact=exact, customise=customise)
    if isinstance(answer, Selections):
        with reading("answer"):
            found = Verification(answer.status, make(Kind.GBD, answer.residuals(data)))
            status = answer.status if answer.others is None else None
            return found.with_claims(answer.claims(data), status, Header(data, answer.scale)) if exact else found
    ANSWER.check("answer", answer)
    return verify_record(read_record(answer), data, str(answer), exact=exact, customise=customise)


def verify_record(
    record: Mapping[str, Any], data: Dataset, path: str, *, exact: bool = False, customise: Changes = None
) -> Verification:
    """Verify a saved answer as :func:`verify` does its file, with raw data, and the path in messages."""
    file_of(record, path)
    sealed = {} if intact(record) else {"digest": 1.0}
    if "method" in record:
        return verify_fit(fit_from(record, path), data, path, sealed, exact=exact, customise=customise)
    scale = str(record.get("scale", "none"))
    work, _ = preprocess(data, scale)
    header = Header(data, scale, _changed(None, record["data_sha256"], work, path, customise))
    with reading("answer"), customised(customise):
        model = build(record["model"], work, **record["params"])
        program = compile_model(model)
        result = result_from(record, program)
        x = None if result.point is None else result.point.x
        off = distance_from(model, program.variables, x, record.get("solution"))
        stated = {**sealed, "labels": _other_labels(tuple(record["labels"]), data), "solution": off}
        found = Verification(result.status, extend(check_result(program, result), stated))
        if not exact:
            return found
        claim = replace(claim_of_result(program, result), about=about_of(record["model"], record["params"]))
        return found.with_claims([claim], result.status, header)


def verify_fit(
    fit: Fit, data: Dataset, path: str, stated: Mapping[str, float], *, exact: bool, customise: Changes
) -> Verification:
    """Verify a fit again from its training data, with the residuals that are stated of the file that holds it."""
    trained = fit.trained or fit.kept_of(data)
    _changed(fit.details.get("customised"), trained.data_sha256, data, path, customise)
    with reading("answer"), customised(customise):
        recomputed = check_claims(METHODS[fit.method], fit, data)
        found = Verification(fit.status, extend(recomputed, _of_data(trained, fit, data), stated))
        return replace(found, exact=exactly(fit, data, numerically=found.numerically)) if exact else found


def exactly(fit: Fit, data: Dataset, *, numerically: bool = True) -> ExactCheck:
    """Return what rational arithmetic shows of a fit, without a numerical verification of it.

    Programs of models are of dense data: sparse ones are made dense here up to 5 million entries, but for selections.
    """
    spec = METHODS[fit.method]
    saved = saved_fit(spec, fit, data)
    header = Header(data, str(fit.params.get("scale", "none")), sorted(fit.details.get("customised", {})))
    dense = data.sparse and spec.exact is not selection_claims
    if dense and data.n * data.p > MODELLED:
        claims = [not_shown("the claims", f"their program of {data.n} x {data.p} numbers is too large to be exact")]
    else:
        if dense:
            saved = replace(saved, data=saved.data.with_X(saved.data.X.toarray()))  # type: ignore[attr-defined]
        with reading("fit"):
            claims = (spec.exact or claims_of)(saved)
    return ExactCheck(tuple(claims), fit.status, header, numerically)


def exact_word(fit: Fit, data: Dataset, *, customise: Changes = None) -> str:
    """Return the word of an exact check for a row of a table, with the reason where something is not shown."""
    found = verify(fit, data, exact=True, customise=customise)
    return VERIFIED if found.verified else NOT_VERIFIED + f" ({found.reason})" * bool(found.reason)


def _changed(stated: Any, digest: str, data: Dataset, path: str, customise: Changes) -> list[str]:
    """Return the slugs of the changed models; FileError for an answer of other data, or of other slugs' functions."""
    changed = sorted(stated) if isinstance(stated, Mapping) else []
    same_changes(changed, customise, path, stated)
    if digest != fingerprint(data):
        raise FileError(
            f"'{path}' was computed from other data than '{data.name}'",
            "give the data set of the saved answer, with the same target= and missing=, sparse or dense as it was",
        )
    return changed


def _other_labels(stated: tuple[str, str], data: Dataset) -> float:
    """Return 0 for the labels of the data, in whatever spelling of their values ("1" and "+1"), and 1 for others."""
    return float(stated != data.labels and list(values_of_labels(stated)) != list(values_of_labels(data.labels)))


def _of_data(trained: Trained, fit: Fit, data: Dataset) -> dict[str, float]:
    """Return 0 or 1 for the names and scores that a fit states of its data: whether they are those of the data."""
    train, scores = measures(data.y, fit.decision_function(data.X)) if fit.status.solved else {}, trained.train
    here = None if data.encoded is None else data.encoded.encoding
    encodings = [None if encoding is None else plain(encoding.plain) for encoding in (trained.encoding, here)]
    deviation = column_deviations(data.X)
    off = np.abs(np.reshape(trained.deviation, data.p) - deviation) / np.where(deviation > 0, deviation, 1.0)
    apart = [abs(scores.get(name, np.inf) - train.get(name, -np.inf)) for name in scores.keys() | train.keys()]
    return {
        "labels": _other_labels(trained.labels, data),
        "columns": float(trained.columns != data.features),
        "encoding": float(encodings[0] != encodings[1]),
        "deviation": float(off.max(initial=0.0)),
        "train": float(np.max(apart, initial=0)),
    }
