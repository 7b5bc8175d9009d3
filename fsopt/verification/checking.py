"""Verification of an answer without any solver: the evidence for its claims is recomputed from the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate
from fsopt.answers.fits import Fit
from fsopt.answers.records import plain
from fsopt.answers.results import Status
from fsopt.answers.saved import fit_from, intact
from fsopt.answers.schema import check_parts
from fsopt.answers.trained import Trained, fingerprint
from fsopt.certificates.exact.claims import Claim, not_shown
from fsopt.common.customising import Change, customised
from fsopt.data import Dataset
from fsopt.data.encoding import Encoding
from fsopt.data.hyperplanes import measures
from fsopt.data.matrices import column_deviations
from fsopt.data.validation import values_of_labels
from fsopt.errors import FileError, reading
from fsopt.methods.checking import check_claims, saved_fit
from fsopt.methods.claims import claims_of
from fsopt.methods.large_programs import MODELLED
from fsopt.methods.registry import METHODS
from fsopt.methods.verdict import extend
from fsopt.verification.solve_checking import check_solve
from fsopt.verification.verified import Verification


def check_record(
    record: Mapping[str, Any], data: Dataset, path: str, *, customise: Mapping[str, Change] | None = None
) -> Verification:
    """Recompute a saved solve or fit and return what was found.

    Parameters
    ----------
    record, path : the saved answer, and its name for messages.
    data : the data that it was computed from.
    customise : the functions that changed its models, as they were given to :func:`fsopt.fit`.

    Raises
    ------
    FileError : the record is damaged, belongs to other data, or is of models that were changed by other functions.
    """
    check_parts(record, path)
    if "method" in record:
        found = verify_fit(fit_from(record, path), data, path, customise=customise)
    else:
        _check_origin(record.get("customised"), record["data_sha256"], data, path, customise or {})
        with reading("answer"), customised(customise):
            labels = _other_labels(tuple(record["labels"]), data)
            certificate = extend(check_solve(record, data), {"labels": labels})
        found = Verification(Status(record["status"]), certificate)
    return found if intact(record) else replace(found, certificate=extend(found.certificate, {"digest": 1.0}))


def verify_fit(
    fit: Fit, data: Dataset, path: str = "the fit", *, customise: Mapping[str, Change] | None = None
) -> Verification:
    """Recompute a fit from its training data and return what was found.

    Parameters
    ----------
    path : the name of the fit for messages.
    data, customise : as in :func:`check_record`.

    Raises
    ------
    FileError : the details of the fit are damaged, the data are others, or the functions are.
    """
    trained = fit.trained or fit.kept_of(data)
    _check_origin(fit.details.get("customised"), trained.digest, data, path, customise or {})
    with reading("answer"), customised(customise):
        certificate = extend(check_fit(fit, data), _stated_residuals(trained, fit, data))
    return Verification(fit.status, certificate)


def _check_origin(stated: Any, digest: str, data: Dataset, path: str, customise: Mapping[str, Change]) -> None:
    """Raise FileError where an answer is of other data, or of models that functions of other slugs changed."""
    changed = sorted(stated) if isinstance(stated, Mapping) else []
    if changed != sorted(customise):
        if not changed:
            raise FileError(f"'{path}' is an answer of unchanged models", "check it without functions that change them")
        raise FileError(
            f"'{path}' is an answer of changed models: {', '.join(f'{k} by {stated[k]}' for k in changed)}",
            "give the functions again, by customise=",
        )
    if digest != fingerprint(data):
        raise FileError(
            f"'{path}' was computed from other data than '{data.name}'",
            "give the data set of the saved answer, with the same target= and missing=, sparse or dense as it was",
        )


def _other_labels(stated: tuple[str, str], data: Dataset) -> float:
    """Return 0 for the labels of the data, in whatever spelling of their values ("1" and "+1"), and 1 for others."""
    pairs = (values_of_labels(stated), values_of_labels(data.labels))
    return float(stated != data.labels and list(pairs[0]) != list(pairs[1]))


def _stated_residuals(trained: Trained, fit: Fit, data: Dataset) -> dict[str, float]:
    """Return 0 or 1 for the names and scores that a fit states of its data: whether they are those of the data."""
    train, scores = measures(data.y, fit.decision_function(data.X)) if fit.status.solved else {}, trained.scores
    encoding, here = (None if e is None else plain(e.plain) for e in (trained.encoding, _encoding_of(data)))
    deviation = column_deviations(data.X)
    off = np.abs(np.reshape(trained.deviation, data.p) - deviation) / np.where(deviation > 0, deviation, 1.0)
    apart = [abs(scores.get(name, np.inf) - train.get(name, -np.inf)) for name in scores.keys() | train.keys()]
    return {
        "labels": _other_labels(trained.labels, data),
        "columns": float(trained.features != data.features),
        "encoding": float(encoding != here),
        "deviation": float(off.max(initial=0.0)),
        "train": float(np.max(apart, initial=0)),
    }


def _encoding_of(data: Dataset) -> Encoding | None:
    return None if data.encoded is None else data.encoded.encoding


def check_fit(fit: Fit, data: Dataset) -> Certificate:
    """Recompute the certificate of a fit from its training data, as :func:`fsopt.fit` did for its status."""
    return check_claims(METHODS[fit.method], fit, data)


def exact_claims(fit: Fit, data: Dataset) -> list[Claim]:
    """Return the claims of a fit with the exact intervals that its evidence proves, or the reasons why it proves none.

    Programs in rational numbers are of dense data: sparse ones are made dense here up to 5 million entries.

    Raises
    ------
    FileError : the evidence is damaged, or the data are others.
    """
    spec = METHODS[fit.method]
    saved = saved_fit(spec, fit, data)
    if data.sparse:
        if data.n * data.p > MODELLED:
            return [not_shown("the claims", f"their program of {data.n} x {data.p} numbers is too large to be exact")]
        saved = replace(saved, data=saved.data.with_X(saved.data.X.toarray()))  # type: ignore[attr-defined]
    with reading("fit"):
        return (spec.exact or claims_of)(saved)
