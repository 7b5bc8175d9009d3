"""The code behind a verdict on a fit: what :func:`fsopt.verify` recomputes gives :func:`fsopt.fit` its status."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, bound_residual, gap_allowed, make
from fsopt.answers.fits import Fit
from fsopt.answers.results import EVIDENCE, Status
from fsopt.answers.schema import is_parameter
from fsopt.certificates.points import relative_gap
from fsopt.common.arguments import ALL, own_number, plain, range_of, within
from fsopt.common.texts import counted
from fsopt.data import Dataset
from fsopt.data.kernels import KERNELS, Kernel
from fsopt.data.losses import LOSSES
from fsopt.data.matrices import largest_values
from fsopt.drivers.gbd.driver import PRESETS
from fsopt.drivers.kernel_scaling import SCALINGS
from fsopt.drivers.penalties import PENALTIES
from fsopt.errors import FileError, ParameterError, reading, shown
from fsopt.methods.gmeb.routes import ROUTES as GMEB_ROUTES
from fsopt.methods.preprocessing import SCALES, kernel_values, preprocess, scaled_hyperplane
from fsopt.methods.spec import SET_BY_METHOD, MethodSpec, SavedFit
from fsopt.methods.verdict import check, extend

PROGRAM = ("program", "program_params", "point")
"""Details of a fit that are evidence for an optimum, and for nothing else."""
WORDS: Mapping[str, Collection[str | bool]] = {
    "approx": PENALTIES,
    "gmeb.route": ("auto", *GMEB_ROUTES),
    "kernel": KERNELS,
    "loss": LOSSES,
    "preset": PRESETS,
    "scale": SCALES,
    "scaling": SCALINGS,
}
"""Name of a parameter, or ``method.name``, -> its words."""
SIMPLE = re.compile(r"(float|int|bool|str|None)( \| (float|int|bool|str|None))*")
"""Annotation of a parameter that takes neither lists nor objects."""


def judged(spec: MethodSpec, fit: Fit, data: Dataset) -> Fit:
    """Return a fit with the status that its verification supports, and the certificate of that.

    Where the claim is not supported it is ``feasible``, with the value of the classifier, and its bound where that is.
    The classifier of a fit is stated for raw features. Where the range of a feature is far from 0 and narrow, the
    rounding of its weight and of the intercept is larger than the tolerance, so that the classifier is not optimal.
    """
    own = fit.certificate
    if fit.status is Status.FEASIBLE and own is not None and own.kind is Kind.GBD:
        return _with_open_gap(fit, own, _value(spec, fit, data))
    if not fit.status.solved:
        return fit
    found = _checked(spec, fit, data)
    if found.ok and found.kind in EVIDENCE[fit.status]:
        return fit if own is not None and own.ok else replace(fit, certificate=found)
    lower = replace(fit, status=Status.FEASIBLE, objective=_value(spec, fit, data))
    if fit.status is not Status.FEASIBLE:
        large = ", ".join(f"{name} {value:.1e}" for name, value in found.refused().items())
        reason = large or "; ".join(found.notes) or f"{found.kind} is no evidence for it"
        warning = f"not {fit.status}: the classifier, as it is stated for raw features, does not verify that ({reason})"
        lower = replace(lower, warnings=(*fit.warnings, warning))
    found = _checked(spec, lower, data)
    if not found.ok:
        details = {name: value for name, value in fit.details.items() if name not in PROGRAM}
        lower = replace(lower, bound=None, details=details)
        found = _checked(spec, lower, data)
    return replace(lower, certificate=found)


def _with_open_gap(fit: Fit, own: Certificate, value: float | None) -> Fit:
    """Return the feasible fit of a search with the certificate of this claim: its value and its bound need not meet."""
    # A replay of the search could take as long as the search, which a limit has ended.
    residuals = {name: residual for name, residual in own.residuals.items() if name != "gap"}
    found = replace(own, residuals=residuals, objective=value, ok=make(own.kind, residuals).ok)
    return replace(fit, objective=value, certificate=found)


def _value(spec: MethodSpec, fit: Fit, data: Dataset) -> float | None:
    """Return the objective value of the classifier as it is stated; the stated value where it cannot be computed."""
    try:
        with reading("fit"):
            saved = saved_fit(spec, fit, data)
            if spec.objective is None:
                return (spec.check or check)(saved).objective
            return spec.objective(saved.data, saved.w, saved.b, saved.params)[0]
    except FileError:
        return fit.objective


def _checked(spec: MethodSpec, fit: Fit, data: Dataset) -> Certificate:
    """Return the recomputed certificate of a fit; one of nothing where its numbers cannot be read."""
    try:
        return check_claims(spec, fit, data)
    except (FileError, ParameterError) as error:  # of damaged numbers, or of a point without multipliers
        return Certificate(Kind.NONE, False, {}, notes=(error.message,))


def check_claims(spec: MethodSpec, fit: Fit, data: Dataset) -> Certificate:
    """Recompute the certificate of a fit from its training data.

    The objective is evaluated at the classifier, and the check of the method recomputes its evidence. Preprocessing,
    selected features and the bound are compared with what follows from the data.
    """
    saved = saved_fit(spec, fit, data)
    with reading("fit"):
        residuals = {
            "preprocessing": _preprocessing_residual(fit, data),
            "features": float(fit.features != tuple(saved.data.features[j] for j in fit.support)),
            "support": float(fit.support != spec.support(saved)),
            "kernel": _kernel_residual(fit, data),
            "program": float(fit.details.get("program") not in (None, spec.program)),
            "parameters in details": _doubled_residual(fit),
        }
        if spec.objective is not None:
            value, residuals["constraints"] = spec.objective(saved.data, saved.w, saved.b, saved.params)
            saved = replace(saved, value=value)
        certificate = (spec.check or check)(saved)
        found = certificate.objective if spec.objective is None else saved.value
        pair = (np.nan if number is None else number for number in (found, fit.objective))
        residuals["objective"] = relative_gap(*pair)
        further = {} if spec.stated is None else spec.stated(saved)
    return extend(certificate, residuals, further, _claimed_bound(fit, certificate))


def saved_fit(spec: MethodSpec, fit: Fit, data: Dataset) -> SavedFit:
    """Return a fit with its data and hyperplane in the space of its program.

    Raises
    ------
    FileError : its parameters are damaged, or the data are others.
    """
    p = len(fit.preprocessing.shift)
    if p != data.p:
        raise FileError(f"the saved fit has {counted(p, 'feature')}, the data {data.p}", "give its own data set")
    _check_params(fit, spec)
    work = data.with_X(fit.preprocessing.apply(data.X))
    if fit.kernel is None:
        w, b = scaled_hyperplane(fit.coef, fit.intercept, fit.preprocessing)
    else:
        work = _kernel_space(fit.kernel, work)
        w, b = fit.coef, fit.intercept
    return SavedFit(spec, fit, data, work, w, b)


def _check_params(fit: Fit, spec: MethodSpec) -> None:
    """Raise FileError where the parameters of a saved fit are none that its method takes."""
    if damaged := refused(spec, fit.params, fit.details):
        raise FileError(
            f"the saved parameters of '{fit.method}' are damaged: {', '.join(damaged)}",
            "compute the answer again and save it",
        )


def _preprocessing_residual(fit: Fit, data: Dataset) -> float:
    """Return the relative difference of the saved map of the features from that of the data."""
    saved = fit.preprocessing
    if saved.kind != fit.params["scale"]:
        return np.inf
    _, map_ = preprocess(data, saved.kind)
    size = np.maximum(np.abs(map_.scale), largest_values(data.X))
    off = np.maximum(np.abs(saved.shift - map_.shift), np.abs(saved.scale - map_.scale))
    return float((off / np.where(size > 0, size, 1.0)).max(initial=0.0))


def _claimed_bound(fit: Fit, certificate: Certificate) -> dict[str, float]:
    """Return the residuals of a stated bound on the optimum of the method's problem, a minimum."""
    # At an optimum it must also meet the objective value, up to the gap that a parameter of the method allows.
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
    asked, _, _ = kernel_values(work, name, fit.params.get("width"))
    if (asked.name, asked.degree, asked.offset) != (fit.kernel.name, fit.kernel.degree, fit.kernel.offset):
        return np.inf
    return abs(fit.kernel.width / asked.width - 1.0)


def _doubled_residual(fit: Fit) -> float:
    """Return the largest difference of parameters that were given from those in the details, which a check may use."""
    twice = [k for k in SET_BY_METHOD if fit.params.get(k) is not None and k in fit.details]
    return max((abs(float(fit.details[k]) - float(fit.params[k])) for k in twice), default=0.0)


def _kernel_space(kernel: Kernel, data: Dataset) -> Dataset:
    """Return the kernel matrix of the data as a data set, if the samples are the patterns of the fit."""
    if kernel.patterns.shape != data.X.shape or not np.allclose(kernel.patterns, data.X, rtol=1e-9, atol=1e-9):
        raise FileError("the saved patterns are not the samples of the data", "fit again and save it")
    return kernel.dataset(data)


def refused(spec: MethodSpec, params: Mapping[str, Any], details: Mapping[str, Any]) -> list[str]:
    """Return the names of saved parameters that are missing, unknown, of another kind, or out of their range.

    Parameters
    ----------
    spec : of the method.
    params : the saved parameters.
    details : of the saved fit, with the parameters that its method set itself.
    """
    known = inspect.signature(spec.fit).parameters
    names = [name for name, default in spec.parameters.items() if default is not None and name not in params]
    params = {name: v for name, v in params.items() if plain(v) or name not in spec.objects}  # no file has objects
    names += [name for name in params if name not in spec.parameters]
    kinds = {name: known[name].annotation if name in known else None for name in params}
    names += [name for name, v in params.items() if name in spec.parameters and _fault(spec.name, kinds[name], name, v)]
    return names + [k for k in SET_BY_METHOD if k in details and _fault(spec.name, None, k, details[k])]


def check_values(method: str, fit: Callable[..., Any], params: Mapping[str, Any]) -> None:
    """Raise ParameterError for the first number or word that a method, its fit, refuses whatever the data."""
    known = inspect.signature(fit).parameters
    for name, given in params.items():
        value = own_number(given)
        if not isinstance(value, str | bool | int | float):
            continue
        kind = known[name].annotation if name in known else None
        simple = isinstance(kind, str) and SIMPLE.fullmatch(kind)
        if hint := _fault(method, kind if simple else None, name, value):
            raise ParameterError(f"parameter '{name}' of '{method}' is {shown(value)}", hint)


def _fault(method: str, kind: Any, name: str, value: Any) -> str:
    """Return why a method does not take a value; empty where it does, or looks at it itself, as at lists."""
    if not is_parameter(kind, value):
        return f"its type is {kind}"
    words, interval = WORDS.get(f"{method}.{name}", WORDS.get(name)), range_of(method, name)
    if value is None or isinstance(value, list | tuple):
        return ""
    if words is not None:
        taken, allowed = isinstance(value, str | bool) and value in words, f"of {', '.join(map(str, words))}"
    else:
        taken = interval == ALL or (isinstance(value, int | float) and within(value, interval))
        allowed = f"inside {interval}"
    return "" if taken else f"give a value {allowed}"
