"""Proof files and data: each program is built anew by the package's own builders, and its digest compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyomo.environ as pyo

from fsopt.answers.saved import numbers
from fsopt.answers.trained import fingerprint
from fsopt.certificates.exact.program import exact_program
from fsopt.certificates.exact.proofs import Part, program_data
from fsopt.common.registry import Changes, customised, same_changes
from fsopt.compiler import compile_model
from fsopt.data import Dataset
from fsopt.errors import FileError, reading
from fsopt.methods.claims import CONCAVE, concave_terms
from fsopt.methods.gbd.problems import SELECTION, problem_of
from fsopt.methods.gbd.proofs import selection_program
from fsopt.methods.large_programs import MODELLED
from fsopt.methods.preprocessing import SCALES, preprocess, unit_rms
from fsopt.methods.spec import in_units
from fsopt.models.blocks import number
from fsopt.models.gbd.feature_lists import BOUNDS, ENDS
from fsopt.models.registry import MODELS, build
from fsopt.verification.verified import first_statement
from fsopt.verifier import verify
from fsopt.verifier.rationals import Refuted, need, one_of, or_none, places, read, refuse

ORIGIN = {
    "model": one_of(*MODELS, "selection"),
    "parameters": dict,
    "scale": one_of(*SCALES),
    "columns": or_none(places),
    "units": one_of("given", "rms"),
    "changed": [str],
    "data": str,
}


@dataclass(frozen=True)
class ProofCheck:
    """What was found of a proof file: why it is refuted, or its statements as ``fsopt-verify`` found them.

    Each has the ``origin`` of its program, compared by its digest; None for a model file.
    """

    reason: str
    statements: tuple[Mapping[str, Any], ...] = ()

    def record(self) -> dict[str, Any]:
        """Return what ``fsopt check --json`` prints of a proof: ends as fractions, the first statement above."""
        first = first_statement(self.statements)
        return {"confirmed": not self.reason, "reason": self.reason, "all": list(self.statements), **first}


def check_proof(path: str | Path, source: Dataset | pyo.ConcreteModel, customise: Changes = None) -> ProofCheck:
    """Check a proof file against data before preprocessing, or a model: the proof, and the digests of its programs.

    FileError where it is no proof, takes too much work, or does not say from what its programs are built.
    """
    code, reason, found = verify.verdict(str(path))
    if code == 2:
        raise FileError(f"'{path}' is no proof that can be checked: {reason}", "write it by 'fsopt check --proof'")
    if code == 1:
        return ProofCheck(reason)
    digests: dict[str, str] = {}
    try:
        for statement, claim in zip(found, verify.opened(str(path)), strict=True):
            origin = statement["origin"] = claim["statement"]["origin"] if isinstance(source, Dataset) else None
            key = json.dumps(origin, sort_keys=True)
            if key not in digests:
                digests[key] = verify.digest(_program(origin, source, str(path), customise))
            same = statement["program"] == digests[key]
            need(same, "the program that is built here is another one than the program in the proof")
    except Refuted as error:
        return ProofCheck(str(error))
    return ProofCheck("", tuple(found))


def _program(origin: Any, source: Dataset | pyo.ConcreteModel, path: str, customise: Changes) -> Part:
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
    same_changes(origin["changed"], customise, path)
    need(origin["data"] == fingerprint(source), "the data are other ones: their SHA-256 is not that of the proof")
    with customised(customise), reading("proof"):
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
