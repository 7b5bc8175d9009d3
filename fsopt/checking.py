"""Verification of a saved answer without any solver: the evidence for its claims is recomputed from the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.certificates.certificate import Certificate, Kind, make
from fsopt.certificates.convex import farkas
from fsopt.certificates.model import Claim, certify_point, certify_unbounded
from fsopt.certificates.residuals import relative_gap
from fsopt.compiler import Program, compile_model
from fsopt.compiler.values import all_values
from fsopt.data import Dataset
from fsopt.data.kernels import Kernel
from fsopt.errors import FileError, reading
from fsopt.methods.preprocessing import preprocess, scaled_hyperplane
from fsopt.methods.registry import method_spec
from fsopt.methods.spec import SavedFit
from fsopt.methods.verification import extend
from fsopt.models.registry import build
from fsopt.results import Fit, Point, Status
from fsopt.saved import fingerprint, fit_from, intact, point_from

_GLOBAL = frozenset({Kind.CONVEX, Kind.MIXED_INTEGER, Kind.GLOBAL, Kind.GBD})
_LOCAL = frozenset({Kind.KKT, Kind.DCA, Kind.SLA, Kind.PMM})
OLD_FORMAT = "saved by version 0.1.0, without a digest: what is not recomputed may have been changed"
EVIDENCE: Mapping[Status, frozenset[Kind]] = MappingProxyType(
    {
        Status.OPTIMAL: _GLOBAL,
        Status.STATIONARY: _LOCAL | {Kind.GLOBAL},  # a global optimum satisfies every first-order condition
        Status.FEASIBLE: _GLOBAL | _LOCAL | {Kind.MOP, Kind.FEASIBLE},
    }
)
"""Claimed status -> kinds of certificates that are sufficient evidence for it, if they hold."""


def check_record(record: Mapping[str, Any], data: Dataset, path: str) -> dict[str, Any]:
    """Recompute a saved solve or fit and return what was found.

    Returns
    -------
    dict
        ``verified`` (every recomputed number supports the claimed status), ``claimed`` status,
        ``certificate`` (recomputed), ``notes`` on what rests on a solver's word.

    Raises
    ------
    FileError : the record is damaged or belongs to other data.
    """
    if record["data_sha256"] != fingerprint(data):
        raise FileError(
            f"'{path}' was computed from other data than '{data.name}'",
            "give the data set of the saved answer, with the same --label and --missing",
        )
    with reading("answer"):
        if "method" in record:
            fit = fit_from(record, path)
            certificate = extend(check_fit(fit, data), _stated_residuals(record, fit, data))
            claimed = fit.status
        else:
            labels = float(list(record.get("labels", data.labels)) != list(data.labels))
            certificate = extend(_check_solve(record, data), {"labels": labels})
            claimed = Status(record["status"])
    if not intact(record):
        certificate = extend(certificate, {"digest": 1.0})
    if "digest" not in record:
        certificate = replace(certificate, notes=(*certificate.notes, OLD_FORMAT))
    verified = certificate.ok and certificate.kind in EVIDENCE.get(claimed, frozenset())
    return {"claimed": claimed, "verified": verified, "certificate": certificate, "notes": certificate.notes}


def _stated_residuals(record: Mapping[str, Any], fit: Fit, data: Dataset) -> dict[str, float]:
    """Return 0 or 1 for the names and scores that a file states beside the fit: whether they are those of the data."""
    train = fit.scores(data)
    stated = record.get("train", train)
    return {
        "labels": float(list(record.get("labels", data.labels)) != list(data.labels)),
        "columns": float(list(record.get("columns", data.features)) != list(data.features)),
        "train": float(np.max([abs(float(stated[name]) - score) for name, score in train.items()])),
    }


def _check_solve(record: Mapping[str, Any], data: Dataset) -> Certificate:
    """Recompute the certificate of a saved solve from the data of its model."""
    model = build(record["model"], data, **record["params"])
    program = compile_model(model)
    status = Status(record["status"])
    points = {
        name: None if record.get(name) is None else point_from(record[name], program)
        for name in ("point", "evidence", "ray", "direction")
    }
    if points["point"] is None:
        return _check_without_point(program, points, status)
    bound = record.get("bound")
    claim = Claim(
        None if bound is None else program.sign * float(bound),
        str(record.get("solver")),
        points["evidence"],
        str(record.get("evidence_source", "")),
    )
    found = certify_point(program, points["point"], claim)
    stated = {
        "objective": relative_gap(found.objective or 0.0, float(record["objective"])),
        "solution": _solution_residual(model, program, points["point"], record.get("solution")),
    }
    if status is Status.FEASIBLE:
        residuals = {"primal": found.residuals["primal"], **stated}
        return make(Kind.FEASIBLE, residuals, objective=found.objective)
    if found.kind is Kind.CONVEX:
        stated["bound"] = _bound_residual(bound, found.bound, program.sign)
    searched = found.kind in (Kind.MIXED_INTEGER, Kind.GLOBAL)
    notes = ("the bound is the solver's: its search is not repeated",) if searched else ()
    return make(found.kind, {**found.residuals, **stated}, objective=found.objective, bound=found.bound, notes=notes)


def _check_without_point(program: Program, points: Mapping[str, Point | None], status: Status) -> Certificate:
    """Recompute the certificate of a solve that found its model infeasible or unbounded."""
    ray = points["ray"]
    direction, start = points["direction"], points["evidence"]
    if status is Status.INFEASIBLE and ray is not None:
        return farkas(program, ray)
    if status is Status.UNBOUNDED and direction is not None and start is not None:
        return certify_unbounded(program, direction, start)
    return Certificate(Kind.NONE, False, {}, notes=("the saved answer has no point to check",))


def _solution_residual(model: pyo.ConcreteModel, program: Program, point: Point, solution: Any) -> float:
    """Return the largest relative difference of the stated values of the variables from those of the point."""
    if solution is None:
        return 0.0
    for variable, value in zip(program.variables, point.x.tolist(), strict=True):
        if not variable.fixed:
            variable.set_value(value, skip_validation=True)
    values = all_values(model)
    if set(values) != set(solution):
        return np.inf
    worst = 0.0
    for name, value in values.items():
        here, stated = np.asarray(value, dtype=float), np.asarray(solution[name], dtype=float)
        if here.shape != stated.shape:
            return np.inf
        worst = max(worst, float((np.abs(here - stated) / np.maximum(1.0, np.abs(here))).max(initial=0.0)))
    return worst


def _bound_residual(stated: Any, recomputed: float | None, sign: float) -> float:
    """Return by how much a stated bound claims more than the recomputed one; infinite where one of them is missing."""
    if stated is None or recomputed is None or not np.isfinite(float(stated)):
        return np.inf
    return max(sign * (float(stated) - recomputed), 0.0) / max(1.0, abs(recomputed))


def check_fit(fit: Fit, data: Dataset) -> Certificate:
    """Recompute the certificate of a fit from its training data.

    The objective of the method is evaluated at the classifier in numpy; the check of the method recomputes its
    evidence. Preprocessing, selected features and the bound are compared with what follows from the data.
    """
    p = len(fit.preprocessing.shift)
    if p != data.p:
        raise FileError(f"the saved fit has {p} features, the data {data.p}", "give its own data set")
    spec = method_spec(fit.method)
    _check_params(fit, spec.parameters)
    work = data.with_X(fit.preprocessing.apply(data.X))
    if fit.kernel is None:
        w, b = scaled_hyperplane(fit.coef, fit.intercept, fit.preprocessing)
    else:
        work = _kernel_space(fit.kernel, work)
        w, b = fit.coef, fit.intercept
    saved = SavedFit(fit, data, work, w, b)
    with reading("fit"):
        value, violation = spec.objective(work, w, b, saved.params)
        residuals = {
            "objective": relative_gap(value, float("nan") if fit.objective is None else fit.objective),
            "constraints": violation,
            "preprocessing": _preprocessing_residual(fit, spec.trained_on(data, saved.params)),
            "features": float(fit.features != tuple(work.features[j] for j in fit.support)),
            "support": float(fit.support != spec.support(replace(saved, value=value))),
        }
        certificate = spec.check(replace(saved, value=value, residuals=residuals))
    return extend(certificate, _claimed_bound(fit, certificate))


def _check_params(fit: Fit, known: Mapping[str, Any]) -> None:
    """Raise FileError where the parameters of a saved fit are not those of its method."""
    missing = [name for name, default in known.items() if default is not None and name not in fit.params]
    if missing or not set(fit.params) <= set(known):
        raise FileError(
            f"the saved parameters of '{fit.method}' are damaged: {', '.join(missing or set(fit.params) - set(known))}",
            "compute the answer again and save it with -o",
        )


def _preprocessing_residual(fit: Fit, trained: Dataset) -> float:
    """Return the relative difference of the saved map of the features from that of the training samples."""
    saved = fit.preprocessing
    if saved.kind != fit.params["scale"]:
        return np.inf
    _, map_ = preprocess(trained, saved.kind)
    size = np.maximum(np.abs(map_.scale), np.abs(trained.X).max(axis=0))
    off = np.maximum(np.abs(saved.shift - map_.shift), np.abs(saved.scale - map_.scale))
    return float((off / np.where(size > 0, size, 1.0)).max(initial=0.0))


def _claimed_bound(fit: Fit, certificate: Certificate) -> dict[str, float]:
    """Return the residual of a stated bound on the optimum of the method's problem, a minimum."""
    if fit.status is not Status.OPTIMAL and fit.bound is None:
        return {}
    return {"stated bound": _bound_residual(fit.bound, certificate.bound, 1.0)}


def _kernel_space(kernel: Kernel, data: Dataset) -> Dataset:
    """Return the kernel matrix of the data as a data set, if the samples are the patterns of the fit."""
    if kernel.patterns.shape != data.X.shape or not np.allclose(kernel.patterns, data.X, rtol=1e-9, atol=1e-9):
        raise FileError("the saved patterns are not the samples of the data", "fit again and save with -o")
    return kernel.dataset(data)
