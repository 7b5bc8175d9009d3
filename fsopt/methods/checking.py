"""From evidence to status: what both :func:`fsopt.fit` and :func:`fsopt.verify` recompute around a method's check."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, gap_allowed, make
from fsopt.answers.fits import Fit
from fsopt.answers.results import EVIDENCE, Status
from fsopt.answers.saved import is_parameter
from fsopt.common.arguments import ALL, native, range_of, within
from fsopt.common.texts import counted
from fsopt.data import Dataset
from fsopt.data.hyperplanes import KERNELS, LOSSES
from fsopt.data.matrices import largest_values
from fsopt.drivers.gbd.driver import PRESETS
from fsopt.drivers.kernel_scaling import SCALINGS
from fsopt.drivers.penalties import PENALTIES
from fsopt.errors import FileError, ParameterError, reading, shown
from fsopt.methods.gmeb.gmeb import ROUTES as GMEB_ROUTES
from fsopt.methods.preprocessing import SCALES, map_of, scaled_hyperplane
from fsopt.methods.spec import MethodSpec, SavedFit
from fsopt.methods.verdict import check, extend, stated_residuals

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
ROUNDED = 1e-8
"""Size of what rounding changes of a mean or deviation, relative to the largest value of a feature, over 1e-6."""
SIMPLE = re.compile(r"(float|int|bool|str|None)( \| (float|int|bool|str|None))*")
"""Annotation of a parameter that takes neither lists nor objects."""
ANY = re.compile(".*")


def with_verified_status(spec: MethodSpec, fit: Fit, data: Dataset) -> Fit:
    """Return a fit with what follows from it, the status that its verification supports, and its certificate.

    Without support it is ``feasible``: rounding of weights of raw features far from 0 and narrow may be too large.
    """
    saved = saved_fit(spec, fit, data)
    support = spec.support(saved)
    features = tuple(saved.data.features[j] for j in support)
    fit = replace(fit, support=support, features=features, details={**fit.details, **spec.numbers(saved)})
    if not fit.coef.any():
        fit = replace(fit, warnings=(*fit.warnings, "w = 0: every sample has the same score"))
    own = fit.certificate
    bare = replace(fit, status=Status.FEASIBLE, bound=None)
    if fit.status is Status.FEASIBLE and own is not None and own.kind is Kind.GBD:
        # A replay of the search could take as long as the search, which a limit has ended; its gap may be open.
        value = _checked(spec, bare, data).objective
        residuals = {name: residual for name, residual in own.residuals.items() if name != "gap"}
        found = replace(own, residuals=residuals, objective=value, ok=make(own.kind, residuals).ok)
        return replace(fit, objective=value, certificate=found)
    if not fit.status.solved:
        return fit
    found = _checked(spec, fit, data)
    if found.ok and found.kind in EVIDENCE[fit.status]:
        return fit if own is not None and own.ok else replace(fit, certificate=found)
    if fit.status is not Status.FEASIBLE:
        large = ", ".join(f"{name} {value:.1e}" for name, value in found.refused().items())
        reason = large or "; ".join(found.notes) or f"{found.kind} is no evidence for it"
        warning = f"not {fit.status}: the classifier, as it is stated for raw features, does not verify that ({reason})"
        fit = replace(fit, warnings=(*fit.warnings, warning))
    details = {name: value for name, value in fit.details.items() if name != "point"}
    bare = replace(bare, details=details, warnings=fit.warnings)
    lower = replace(bare, objective=_checked(spec, bare, data).objective)
    return replace(lower, certificate=_checked(spec, lower, data))


def _checked(spec: MethodSpec, fit: Fit, data: Dataset) -> Certificate:
    """Return the recomputed certificate of a fit; one of nothing where its numbers cannot be read."""
    try:
        return _recomputed(saved_fit(spec, fit, data))
    except (FileError, ParameterError) as error:  # of damaged numbers, or of a point without multipliers
        return Certificate(Kind.NONE, False, {}, fit.objective, notes=(error.message,))


def recomputed_certificate(spec: MethodSpec, fit: Fit, data: Dataset) -> Certificate:
    """Recompute the certificate of a fit from its training data, beside the selected features and further numbers."""
    saved = saved_fit(spec, fit, data)
    certificate = _recomputed(saved)
    with reading("fit"):
        residuals = {
            "features": float(fit.features != tuple(saved.data.features[j] for j in fit.support)),
            "support": float(fit.support != spec.support(saved)),
        }
        residuals |= {name: _distance(fit.details[name], here) for name, here in spec.numbers(saved).items()}
    return extend(certificate, residuals)


def _recomputed(saved: SavedFit) -> Certificate:
    """Return the certificate of the evidence of a fit, beside its preprocessing, objective value and bound."""
    spec, fit = saved.spec, saved.fit
    with reading("fit"):
        residuals = {"preprocessing": _preprocessing_residual(fit, saved.raw)}
        certificate = (spec.check or check)(saved)
        if spec.objective is not None:
            value, residuals["constraints"] = spec.objective(saved.data, saved.w, saved.b, saved.params)
            certificate = replace(certificate, objective=value)
        stated = stated_residuals(fit, certificate, allowed=gap_allowed(fit.params.get("tolerance", 0.0)))
    return extend(certificate, residuals, stated)


def _distance(stated: Any, here: Any) -> float:
    """Return the largest difference of numbers from recomputed ones, relative to these; ValueError for other shapes."""
    one, other = np.array(stated, dtype=float), np.array(here, dtype=float)
    if one.shape != other.shape or np.isnan(one).any():
        raise ValueError(f"numbers of the shape {other.shape} are needed")
    with np.errstate(invalid="ignore"):  # infinite ones are equal or not
        off = np.where(one == other, 0.0, np.abs(one - other) / np.maximum(1.0, np.abs(other)))
    return float(np.where(np.isnan(off), np.inf, off).max(initial=0.0))


def saved_fit(spec: MethodSpec, fit: Fit, data: Dataset) -> SavedFit:
    """Return a fit with its data and hyperplane in the space of its program."""
    p = len(fit.preprocessing.shift)
    if p != data.p:
        raise FileError(f"the saved fit has {counted(p, 'feature')}, the data {data.p}", "give its own data set")
    if damaged := refused(spec, fit.params):
        raise FileError(
            f"the saved parameters of '{fit.method}' are damaged: {', '.join(damaged)}",
            "compute the answer again and save it",
        )
    work, kernel = data.with_X(fit.preprocessing.apply(data.X)), fit.kernel
    asked = [fit.params.get(name) for name in ("kernel", "width")]
    if asked[0] != (kernel and kernel.name) or (kernel is not None and asked[1] != kernel.width):
        raise FileError("the saved kernel is not that of the parameters", "fit again and save it")
    if kernel is None:
        return SavedFit(spec, fit, data, work, *scaled_hyperplane(fit.coef, fit.intercept, fit.preprocessing))
    same = kernel.patterns.shape == work.X.shape
    if not same or (np.abs(kernel.patterns - work.X) > 1e-9 * largest_values(work.X)).any():
        raise FileError("the saved patterns are not the samples of the data", "fit again and save it")
    return SavedFit(spec, fit, data, kernel.dataset(work), fit.coef, fit.intercept)


def _preprocessing_residual(fit: Fit, data: Dataset) -> float:
    """Return the relative difference of the saved map of the features from that of the data."""
    saved = fit.preprocessing
    if saved.kind != fit.params["scale"]:
        return np.inf
    map_ = map_of(data, saved.kind)
    size = np.maximum(np.abs(map_.scale), ROUNDED * largest_values(data.X))
    off = np.maximum(np.abs(saved.shift - map_.shift), np.abs(saved.scale - map_.scale))
    return float((off / np.where(size > 0, size, 1.0)).max(initial=0.0))


def refused(spec: MethodSpec, params: Mapping[str, Any]) -> list[str]:
    """Return the names of saved parameters that are missing, unknown, of another kind, or out of their range."""
    names = [name for name, default in spec.parameters.items() if default is not None and name not in params]
    names += [name for name in params if name not in spec.parameters]
    known = {name: params[name] for name in params if name in spec.parameters}
    return names + [name for name, _ in faults(spec.name, spec.fit, known)]


def check_values(method: str, fit: Callable[..., Any], params: Mapping[str, Any]) -> None:
    """Raise ParameterError for the first number or word that a method, its fit, refuses whatever the data."""
    for name, hint in faults(method, fit, {name: native(value) for name, value in params.items()}, SIMPLE):
        raise ParameterError(f"parameter '{name}' of '{method}' is {shown(params[name])}", hint)


def faults(
    method: str, fit: Callable[..., Any], params: Mapping[str, Any], kinds: re.Pattern[str] = ANY
) -> Iterator[tuple[str, str]]:
    """Yield each parameter whose value a method does not take, and why, of those whose annotation matches ``kinds``."""
    signature = inspect.signature(fit).parameters
    for name, value in params.items():
        kind = signature[name].annotation
        if isinstance(kind, str) and kinds.fullmatch(kind) and not is_parameter(kind, value):
            noun = {"float": "a number", "int": "a whole number"}.get(kind.partition(" ")[0], kind)
            yield name, f"it must be {noun}, not {shown(value)}"
        elif value is not None and not isinstance(value, list | tuple):
            words, interval = WORDS.get(f"{method}.{name}", WORDS.get(name)), range_of(method, name)
            if words is not None and isinstance(value, str | bool) and value not in words:
                yield name, f"give a value of {', '.join(map(str, words))}"
            elif words is None and interval != ALL and not (isinstance(value, int | float) and within(value, interval)):
                yield name, f"give a value inside {interval}"
