"""Checking a saved answer without any solver: everything it claims is recomputed from the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsopt.certify import Certificate, certify_point, dual_point, make, relative_gap
from fsopt.compiler import Program, compile_model
from fsopt.data import Dataset
from fsopt.data.kernels import Kernel
from fsopt.drivers.penalties import approximation
from fsopt.errors import FileError
from fsopt.methods.claim import Claim
from fsopt.methods.common import scaled_plane
from fsopt.methods.filters import SCORES, check_filter
from fsopt.methods.gbd_proof import check_gbd
from fsopt.methods.generated import check_one_norm
from fsopt.methods.gmeb_proof import check_gmeb
from fsopt.methods.mopfs import check_mopfs
from fsopt.methods.mpm_space import worst_case
from fsopt.methods.objectives import OBJECTIVES, moments_of
from fsopt.methods.penalised import check_penalised
from fsopt.methods.pmm import check_pmm
from fsopt.methods.polyhedral import check_generated_step, wrong_step
from fsopt.methods.rsvm import check_rsvm
from fsopt.methods.s_mpm import Weighted
from fsopt.methods.vs_ssvm import check_vs_ssvm
from fsopt.models.mpm_biased import penalised_ratio
from fsopt.models.polyhedral import step_costs
from fsopt.models.registry import build
from fsopt.results import Fit, Point, Status
from fsopt.saved import fingerprint, fit_from, point_from

Vector = NDArray[np.float64]
LOCAL_TOLERANCE = 1e-5
CHECKS: Mapping[str, Callable[[Claim], Certificate]] = MappingProxyType(
    {
        "gbd": check_gbd,
        "gbd-lambda": check_gbd,
        "gmeb": check_gmeb,
        "gmeb-penalised": check_penalised,
        "mopfs": check_mopfs,
        "pmm": check_pmm,
        "rsvm": check_rsvm,
        **dict.fromkeys(SCORES, check_filter),
        "vs-ssvm": check_vs_ssvm,
    }
)
"""Method -> its own check; the others are certified again by the convex program of their last step."""
GENERATED: Mapping[str, Callable[[Claim], Certificate]] = MappingProxyType(
    {"onsvm": check_one_norm, "l1-svm": check_one_norm, "misclass": check_generated_step, "fsv": check_generated_step}
)
"""Method -> its check where the answer was found by rows and columns."""


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
    if "method" in record:
        fit = fit_from(record, path)
        certificate = check_fit(fit, data)
        claimed = fit.status
    else:
        certificate = _check_solve(record, data)
        claimed = Status(record["status"])
    verified = certificate.ok and _supports(certificate, claimed)
    return {"claimed": claimed, "verified": verified, "certificate": certificate, "notes": certificate.notes}


def _supports(certificate: Certificate, claimed: Status) -> bool:
    """Return whether a certificate of this kind is enough for the claim."""
    needed = {
        Status.OPTIMAL: ("convex", "mixed-integer", "global", "gbd"),
        Status.STATIONARY: ("kkt", "dca", "sla", "pmm"),
        Status.FEASIBLE: ("convex", "mixed-integer", "global", "gbd", "kkt", "dca", "sla", "pmm", "mop", "feasible"),
    }
    return certificate.kind in needed.get(claimed, ())


def _check_solve(record: Mapping[str, Any], data: Dataset) -> Certificate:
    point = point_from(record["point"])
    if point is None:
        return Certificate("none", False, {}, notes=("the saved answer has no point to check",))
    program = compile_model(build(record["model"], data, **record["params"]))
    point = _fitting(program, point)
    bound = record.get("bound")
    found = certify_point(
        program,
        point,
        bound=None if bound is None else program.sign * bound,
        source=str(record.get("solver")),
    )
    claim = relative_gap(found.objective or 0.0, record["objective"])
    notes = (
        ("the bound is the solver's: its search is not repeated",) if found.kind in ("mixed-integer", "global") else ()
    )
    if record["status"] == Status.FEASIBLE:
        return make("feasible", {"primal": found.residuals["primal"], "objective": claim}, objective=found.objective)
    return make(
        found.kind,
        {**found.residuals, "objective": claim},
        objective=found.objective,
        bound=found.bound,
        notes=notes,
    )


def _fitting(program: Program, point: Point) -> Point:
    """Return the point if its parts have the program's lengths."""
    lengths = {"x": program.n, "y": program.A.shape[0] + len(program.general), "z": len(program.cones.h)}
    for name, length in lengths.items():
        part = getattr(point, name)
        if part is not None and part.shape != (length,):
            raise FileError(
                f"the saved point is damaged: {name} has {part.size} entries, not {length}",
                "solve and save again",
            )
    return point


def check_fit(fit: Fit, data: Dataset) -> Certificate:
    """Recompute the certificate of a fit from the data it was fitted to.

    The objective is evaluated at the classifier in numpy; a proof by a convex program is certified again from
    the saved primal-dual point; GBD's cuts are recomputed from their multipliers.
    """
    p = len(fit.preprocessing.shift)
    if p != data.p:
        raise FileError(f"the saved fit has {p} features, the data {data.p}", "give its own data set")
    work = data.with_X(fit.preprocessing.apply(data.X))
    if fit.kernel is None:
        w, b = scaled_plane(fit.coef, fit.intercept, fit.preprocessing)
    else:
        work, w, b = _kernel_space(fit.kernel, work), fit.coef, fit.intercept
    value, violation = OBJECTIVES[fit.method](work, w, b, {**fit.params, **_given(fit)})
    stated = float("nan") if fit.objective is None else float(fit.objective)
    residuals = {"objective": relative_gap(value, stated), "constraints": violation}
    if "worst_case" in fit.details:
        found = worst_case(w, b, moments_of(work, {**fit.params, **_given(fit)}))
        residuals["worst case"] = float(np.abs(np.subtract(found, fit.details["worst_case"])).max())
    claim = Claim(fit, data, work, w, b, value, residuals)
    if fit.method in CHECKS:
        return CHECKS[fit.method](claim)
    if fit.method in GENERATED and "alpha" in fit.details:
        return GENERATED[fit.method](claim)
    if fit.details.get("program") is None or fit.details.get("point") is None:
        return make("feasible", residuals, objective=value)
    return _check_proof(fit, work, w, b, value, residuals)


def _kernel_space(kernel: Kernel, data: Dataset) -> Dataset:
    """Return the kernel matrix of the data as a data set, if its rows are the patterns of the fit."""
    if kernel.patterns.shape != data.X.shape or not np.allclose(kernel.patterns, data.X, rtol=1e-9, atol=1e-9):
        raise FileError("the saved patterns are not the rows of the data", "fit again and save with -o")
    return kernel.dataset(data)


def _given(fit: Fit) -> dict[str, Any]:
    """Return the parameters that the method chose itself."""
    return {k: fit.details[k] for k in ("delta", "ridge", "beta", "w_cap", "sigma") if k in fit.details}


def _check_proof(
    fit: Fit, work: Dataset, w: Vector, b: float, value: float, residuals: dict[str, float]
) -> Certificate:
    details = fit.details
    program = compile_model(build(details["program"], work, **details["program_params"]))
    point = details["point"] if isinstance(details["point"], Point) else point_from(details["point"])
    assert point is not None
    point = _fitting(program, point)
    proof = certify_point(program, point)
    local = {"l0-mpm": "dca", "misclass": "sla", "fsv": "sla", "s-mpm": "kkt"}.get(fit.method)
    if local is None:
        bound = float("nan") if proof.bound is None else proof.bound
        residuals |= {**proof.residuals, "bound": relative_gap(value, bound)}
        return make("convex", residuals, objective=value, bound=bound, bound_source="dual point")
    if fit.method == "s-mpm":
        residuals |= _outer(fit, work, w)
    least, dual = dual_point(program, point)
    here = _step_value(fit, work, w, b)
    residuals |= {"dual": dual["dual"], "first order": max(here - least, 0.0) / (1.0 + abs(here))}
    if fit.method == "l0-mpm":
        residuals["linearisation"] = _wrong_step(fit, w)
    if local == "sla":
        residuals["linearisation"] = wrong_step(fit, work, w, b)
    return make(local, residuals, objective=value, tolerance=LOCAL_TOLERANCE)


def _outer(fit: Fit, data: Dataset, w: Vector) -> dict[str, float]:
    """Return how far S-MPM's last step is from its parameters, and the slope where the answer claims a maximum."""
    at = {**fit.params, **_given(fit)}
    last = fit.details["program_params"]
    names = ("beta", "lam", "unbiased", "ridge")
    residuals = {"parameters": max(abs(float(last[k]) - float(at[k])) for k in names)}
    if fit.status is Status.STATIONARY:
        here = Weighted.at(moments_of(data, at), w, at["beta"], at["lam"], fit.details["theta"])
        residuals["slope"] = abs(here.slope)
    return residuals


def _wrong_step(fit: Fit, w: Vector) -> float:
    """Return by how much the saved step of DCA is not the one of the fit's own parameters and penalty at w."""
    own, at = {**fit.params, **_given(fit)}, fit.details["program_params"]
    penalty, v, rounding = approximation(own["approx"], own["alpha"]), np.asarray(at["v"]), 1e-9 * (1 + np.abs(w))
    # h is convex: its subgradients at w lie between the gradients on either side.
    excess = np.maximum(v - penalty.gradient(w + rounding), penalty.gradient(w - rounding) - v)
    wrong = max(float(excess.max()), abs(at["alpha"] - penalty.slope)) / penalty.slope
    return float(max(wrong, *(abs(at[k] - own[k]) for k in ("delta", "ridge", "unbiased"))))


def _step_value(fit: Fit, data: Dataset, w: Vector, b: float) -> float:
    """Return the objective of the last linearised step at the answer itself."""
    at = fit.details["program_params"]
    if fit.method == "s-mpm":
        return -penalised_ratio(moments_of(data, at), w, at["beta"], at["lam"])
    if fit.method == "l0-mpm":
        return float(at["alpha"] * np.abs(w).sum() - np.asarray(at["v"]) @ w)
    errors = np.maximum(1.0 - data.y * (data.X @ w + b), 0.0)
    y, z = errors[data.y > 0], errors[data.y < 0]
    slopes = {k: step_costs(at["alpha"], np.asarray(at[k], dtype=float)) for k in ("y", "z", "v") if k in at}
    if fit.method == "misclass":
        return float(slopes["y"] @ y + slopes["z"] @ z)
    return float((1 - at["lam"]) * (y.mean() + z.mean()) + at["lam"] * slopes["v"] @ np.abs(w))
