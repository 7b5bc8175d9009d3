"""Verification of a saved answer without any solver: the evidence for its claims is recomputed from the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from fsopt.certificates.certificate import Certificate, Kind, make
from fsopt.certificates.model import Claim, certify_point
from fsopt.certificates.residuals import relative_gap
from fsopt.compiler import compile_model
from fsopt.data import Dataset
from fsopt.data.kernels import Kernel
from fsopt.errors import FileError, reading
from fsopt.methods.preprocessing import scaled_hyperplane
from fsopt.methods.registry import method_spec
from fsopt.methods.spec import SavedFit
from fsopt.models.registry import build
from fsopt.results import Fit, Status
from fsopt.saved import fingerprint, fit_from, point_from

_GLOBAL = frozenset({Kind.CONVEX, Kind.MIXED_INTEGER, Kind.GLOBAL, Kind.GBD})
_LOCAL = frozenset({Kind.KKT, Kind.DCA, Kind.SLA, Kind.PMM})
EVIDENCE: Mapping[Status, frozenset[Kind]] = MappingProxyType(
    {
        Status.OPTIMAL: _GLOBAL,
        Status.STATIONARY: _LOCAL | {Kind.GLOBAL},  # a global optimum satisfies every first-order condition
        Status.FEASIBLE: _GLOBAL | _LOCAL | {Kind.MOP, Kind.FEASIBLE},
    }
)
"""Claimed status -> kinds of certificates that are sufficient evidence for it, if they hold."""


def check_record(record: Mapping[str, Any], data: Dataset, path: str) -> dict[str, Any]:
    """Recompute the evidence of a saved solve or fit.

    Returns
    -------
    dict
        ``verified`` (every recomputed number supports the claimed status), ``claimed`` (the status),
        ``certificate`` (recomputed), ``notes`` (the parts of the claim that only the solver vouches for).

    Raises
    ------
    FileError : the record is damaged or belongs to other data.
    """
    if record["data_sha256"] != fingerprint(data):
        raise FileError(
            f"'{path}' was computed from other data than '{data.name}'",
            "give the data set of the saved answer, with the same --label and --missing",
        )
    if "method" in record:
        fit = fit_from(record, path)
        certificate = check_fit(fit, data)
        claimed = fit.status
    else:
        certificate = _check_solve(record, data)
        claimed = Status(record["status"])
    verified = certificate.ok and certificate.kind in EVIDENCE.get(claimed, frozenset())
    return {"claimed": claimed, "verified": verified, "certificate": certificate, "notes": certificate.notes}


def _check_solve(record: Mapping[str, Any], data: Dataset) -> Certificate:
    """Recompute the certificate of a saved solve from the data of its model."""
    if record["point"] is None:
        return Certificate(Kind.NONE, False, {}, notes=("the saved answer has no point to check",))
    program = compile_model(build(record["model"], data, **record["params"]))
    bound = record.get("bound")
    evidence = None if record.get("evidence") is None else point_from(record["evidence"], program)
    claim = Claim(
        None if bound is None else program.sign * bound,
        str(record.get("solver")),
        evidence,
        str(record.get("evidence_source", "")),
    )
    found = certify_point(program, point_from(record["point"], program), claim)
    stated = {"objective": relative_gap(found.objective or 0.0, record["objective"])}
    if record["status"] == Status.FEASIBLE:
        residuals = {"primal": found.residuals["primal"], **stated}
        return make(Kind.FEASIBLE, residuals, objective=found.objective)
    searched = found.kind in (Kind.MIXED_INTEGER, Kind.GLOBAL)
    notes = ("the bound is the solver's: its search is not repeated",) if searched else ()
    return make(found.kind, {**found.residuals, **stated}, objective=found.objective, bound=found.bound, notes=notes)


def check_fit(fit: Fit, data: Dataset) -> Certificate:
    """Recompute the certificate of a fit from its training data.

    The objective of the method is evaluated at the classifier in numpy; the check of the method recomputes the rest.
    """
    p = len(fit.preprocessing.shift)
    if p != data.p:
        raise FileError(f"the saved fit has {p} features, the data {data.p}", "give its own data set")
    spec = method_spec(fit.method)
    work = data.with_X(fit.preprocessing.apply(data.X))
    if fit.kernel is None:
        w, b = scaled_hyperplane(fit.coef, fit.intercept, fit.preprocessing)
    else:
        work = _kernel_space(fit.kernel, work)
        w, b = fit.coef, fit.intercept
    saved = SavedFit(fit, data, work, w, b)
    with reading("parameters"):
        value, violation = spec.objective(work, w, b, saved.params)
        stated = float("nan") if fit.objective is None else float(fit.objective)
    residuals = {"objective": relative_gap(value, stated), "constraints": violation}
    with reading("evidence"):
        return spec.check(replace(saved, value=value, residuals=residuals))


def _kernel_space(kernel: Kernel, data: Dataset) -> Dataset:
    """Return the kernel matrix of the data as a data set, if the samples are the patterns of the fit."""
    if kernel.patterns.shape != data.X.shape or not np.allclose(kernel.patterns, data.X, rtol=1e-9, atol=1e-9):
        raise FileError("the saved patterns are not the samples of the data", "fit again and save with -o")
    return kernel.dataset(data)
