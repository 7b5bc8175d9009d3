"""Verification of an answer without any solver: the evidence for its claims is recomputed from the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, gap_allowed
from fsopt.answers.fits import Fit
from fsopt.answers.records import plain
from fsopt.answers.results import Status
from fsopt.answers.saved import fit_from, intact
from fsopt.answers.schema import check_parts
from fsopt.answers.trained import Trained, fingerprint
from fsopt.certificates.exact.claims import Claim, not_shown
from fsopt.certificates.points import relative_gap
from fsopt.common.customising import Change, customised
from fsopt.data import Dataset
from fsopt.data.kernels import Kernel
from fsopt.data.matrices import column_deviations, largest_values
from fsopt.data.scores import measures
from fsopt.data.tables.encoding import Encoding
from fsopt.errors import FileError, reading
from fsopt.methods.calibration import calibration_residual
from fsopt.methods.exact.programs import by_program
from fsopt.methods.kernel_values import DEGREE, kernel_values
from fsopt.methods.large_programs import MODELLED
from fsopt.methods.preprocessing import preprocess, scaled_hyperplane
from fsopt.methods.registry import METHODS
from fsopt.methods.saved_parameters import refused
from fsopt.methods.spec import SET_BY_METHOD, MethodSpec, SavedFit
from fsopt.methods.verification import extend
from fsopt.verification.solve_checking import bound_residual, check_solve
from fsopt.verification.verified import Verification

OLD_FORMAT = "saved by version 0.1.0, without a digest: what is not recomputed may have been changed"


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
        fit = fit_from(record, path)
        if "columns" not in record and fit.trained is not None:  # of version 0.1.0: it states none
            fit = replace(fit, trained=replace(fit.trained, features=data.features))
        found = verify_fit(fit, data, path, customise=customise)
    else:
        _check_origin(record.get("customised"), record["data_sha256"], data, path, customise or {})
        with reading("answer"), customised(customise):
            labels = float(list(record.get("labels", data.labels)) != list(data.labels))
            certificate = extend(check_solve(record, data), {"labels": labels})
        found = Verification(Status(record["status"]), certificate)
    certificate = found.certificate
    if not intact(record):
        certificate = extend(certificate, {"digest": 1.0})
    if "digest" not in record:
        certificate = replace(certificate, notes=(*certificate.notes, OLD_FORMAT))
    return replace(found, certificate=certificate)


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
        if "calibration" in fit.details:
            certificate = extend(certificate, {"calibration": calibration_residual(fit, data)})
    return Verification(fit.status, certificate)


def _check_origin(stated: Any, digest: str, data: Dataset, path: str, customise: Mapping[str, Change]) -> None:
    """Raise FileError where an answer is of other data, or of models that functions of other slugs changed.

    Parameters
    ----------
    stated : slug -> name of the function that changed the model, as the answer states it.
    digest : of the data of the answer.
    """
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


def _stated_residuals(trained: Trained, fit: Fit, data: Dataset) -> dict[str, float]:
    """Return 0 or 1 for the names and scores that a fit states of its data: whether they are those of the data."""
    train = measures(data.y, fit.decision_function(data.X))
    encoding, here = (None if e is None else plain(e.plain) for e in (trained.encoding, _encoding_of(data)))
    deviation = column_deviations(data.X)
    stated = np.array(trained.deviation) if len(trained.deviation) else deviation
    off = np.abs(stated - deviation) / np.where(deviation > 0, deviation, 1.0)
    return {
        "labels": float(trained.labels != data.labels),
        "columns": float(trained.features != data.features),
        "encoding": float(encoding != here),
        "deviation": float(off.max(initial=0.0)),
        "train": float(np.max([abs(float(score) - train[name]) for name, score in trained.scores.items()], initial=0)),
    }


def _encoding_of(data: Dataset) -> Encoding | None:
    return None if data.encoded is None else data.encoded.encoding


def check_fit(fit: Fit, data: Dataset) -> Certificate:
    """Recompute the certificate of a fit from its training data.

    The objective of the method is evaluated at the classifier in numpy; the check of the method recomputes its
    evidence. Preprocessing, selected features and the bound are compared with what follows from the data.
    """
    spec, saved = _saved_fit(fit, data)
    work, w = saved.data, saved.w
    b = saved.b
    with reading("fit"):
        value, violation = spec.objective(work, w, b, saved.params)
        residuals = {
            "objective": relative_gap(value, float("nan") if fit.objective is None else fit.objective),
            "constraints": violation,
            "preprocessing": _preprocessing_residual(fit, spec.trained_on(data, saved.params)),
            "features": float(fit.features != tuple(work.features[j] for j in fit.support)),
            "support": float(fit.support != spec.support(replace(saved, value=value))),
            "kernel": _kernel_residual(fit, data),
            "program": float(fit.details.get("program") not in (None, *spec.models)),
            "parameters in details": _doubled_residual(fit),
        }
        certificate = spec.check(replace(saved, value=value, residuals=residuals))
    return extend(certificate, _claimed_bound(fit, certificate))


def _saved_fit(fit: Fit, data: Dataset) -> tuple[MethodSpec, SavedFit]:
    """Return the method of a fit, and the fit with its data and hyperplane in the space of its program."""
    p = len(fit.preprocessing.shift)
    if p != data.p:
        raise FileError(f"the saved fit has {p} features, the data {data.p}", "give its own data set")
    spec = METHODS[fit.method]
    _check_params(fit, spec)
    work = data.with_X(fit.preprocessing.apply(data.X))
    if fit.kernel is None:
        w, b = scaled_hyperplane(fit.coef, fit.intercept, fit.preprocessing)
    else:
        work = _kernel_space(fit.kernel, work)
        w, b = fit.coef, fit.intercept
    return spec, SavedFit(fit, data, work, w, b, threshold=spec.threshold)


def exact_claims(fit: Fit, data: Dataset) -> list[Claim]:
    """Return the claims of a fit with the exact intervals that its evidence proves, or the reasons why it proves none.

    Programs in rational numbers are of dense data: sparse ones are made dense here up to 5 million entries.

    Raises
    ------
    FileError : the evidence is damaged, or the data are others.
    """
    spec, saved = _saved_fit(fit, data)
    if data.sparse:
        if data.n * data.p > MODELLED:
            return [not_shown("the claims", f"their program of {data.n} x {data.p} numbers is too large to be exact")]
        saved = replace(saved, data=saved.data.with_X(saved.data.X.toarray()))  # type: ignore[attr-defined]
    with reading("fit"):
        return by_program(saved) if spec.exact is None else spec.exact(saved)


def _check_params(fit: Fit, spec: MethodSpec) -> None:
    """Raise FileError where the parameters of a saved fit are none that its method takes."""
    damaged = refused(spec, fit.params, fit.details)
    if damaged:
        raise FileError(
            f"the saved parameters of '{fit.method}' are damaged: {', '.join(damaged)}",
            "compute the answer again and save it",
        )


def _preprocessing_residual(fit: Fit, trained: Dataset) -> float:
    """Return the relative difference of the saved map of the features from that of the training samples."""
    saved = fit.preprocessing
    if saved.kind != fit.params["scale"]:
        return np.inf
    _, map_ = preprocess(trained, saved.kind)
    size = np.maximum(np.abs(map_.scale), largest_values(trained.X))
    off = np.maximum(np.abs(saved.shift - map_.shift), np.abs(saved.scale - map_.scale))
    return float((off / np.where(size > 0, size, 1.0)).max(initial=0.0))


def _claimed_bound(fit: Fit, certificate: Certificate) -> dict[str, float]:
    """Return the residuals of a stated bound on the optimum of the method's problem, a minimum.

    The bound must not exceed the recomputed one. At an optimum it must also meet the objective value, up to the gap
    that a parameter of the method allows.
    """
    if fit.status is not Status.OPTIMAL and fit.bound is None:
        return {}
    residuals = {"stated bound": bound_residual(fit.bound, certificate.bound, 1.0)}
    if fit.status is Status.OPTIMAL and fit.bound is not None and fit.objective is not None:
        allowed = gap_allowed(fit.params.get("tolerance", 0.0))
        residuals["stated gap"] = max(relative_gap(fit.objective, fit.bound) - allowed, 0.0)
    return residuals


def _kernel_residual(fit: Fit, data: Dataset) -> float:
    """Return the relative distance of the saved kernel from that of the parameters."""
    name = fit.params.get("kernel")
    if name is None or fit.kernel is None:
        return 0.0 if name is None and fit.kernel is None else np.inf
    work = data.with_X(fit.preprocessing.apply(data.X))
    asked, _, _ = kernel_values(work, name, fit.params.get("width"), _degree(fit))
    if (asked.name, asked.degree, asked.offset) != (fit.kernel.name, fit.kernel.degree, fit.kernel.offset):
        return np.inf
    return abs(fit.kernel.width / asked.width - 1.0)


def _doubled_residual(fit: Fit) -> float:
    """Return the largest difference of parameters that were given from those in the details, which a check may use."""
    twice = [k for k in SET_BY_METHOD if fit.params.get(k) is not None and k in fit.details]
    return max((abs(float(fit.details[k]) - float(fit.params[k])) for k in twice), default=0.0)


def _degree(fit: Fit) -> int:
    """Return the degree of the polynomial kernel in the parameters, which may leave it open."""
    given: int | None = fit.params.get("degree")
    return DEGREE if given is None else given


def _kernel_space(kernel: Kernel, data: Dataset) -> Dataset:
    """Return the kernel matrix of the data as a data set, if the samples are the patterns of the fit."""
    if kernel.patterns.shape != data.X.shape or not np.allclose(kernel.patterns, data.X, rtol=1e-9, atol=1e-9):
        raise FileError("the saved patterns are not the samples of the data", "fit again and save it")
    return kernel.dataset(data)
