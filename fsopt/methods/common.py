"""What all methods share: preprocessing, the selection rule, and the way from a plane to a Fit."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsopt.certify import Certificate
from fsopt.data import Dataset
from fsopt.data.kernels import Kernel
from fsopt.drivers.recorder import Progress
from fsopt.errors import ParameterError
from fsopt.models.blocks import number
from fsopt.results import DriverResult, Fit, Point, Preprocessing, SolveResult, Status

Vector = NDArray[np.float64]
SCALES = ("standard", "center", "none", "unit-rows")
RULES = ("relative", "absolute", "either")
UNITS = ("raw", "scaled")
NOISE = 1e-10
"""What moves scores by less than this, next to a margin of 1, is a solver's rounding."""


@dataclass(frozen=True)
class Run:
    """How a method is run, apart from its own parameters.

    Attributes
    ----------
    solver : registry name for the continuous subproblems; None for the preferred one.
    time_limit : seconds for the whole method; None for no limit.
    options : options of the solver.
    progress : called with the record of each iteration of a driver.
    checkpoint, resume : file that a driver replaces after each iteration, and one to go on from; None for none.
    """

    solver: str | None = None
    time_limit: float | None = None
    options: Mapping[str, Any] | None = None
    progress: Progress | None = None
    checkpoint: Path | None = None
    resume: Path | None = None


def preprocess(data: Dataset, kind: str) -> tuple[Dataset, Preprocessing]:
    """Return the preprocessed data set and the map that was applied, by statistics of this data set.

    ``standard``: centre, unit deviation (constant columns keep scale 1); ``center``: centre only; ``none``;
    ``unit-rows``: standard, then each row divided by its norm.
    """
    if kind not in SCALES:
        raise ParameterError(f"scale is {kind!r}", f"one of {', '.join(SCALES)}")
    shift, scale = np.zeros(data.p), np.ones(data.p)
    if kind != "none":
        shift = data.X.mean(axis=0)
    if kind in ("standard", "unit-rows"):
        deviation = data.X.std(axis=0)
        scale = np.where(flat(data.X), 1.0, deviation)
    map_ = Preprocessing(kind, shift, scale)
    return (data if kind == "none" else data.with_X(map_.apply(data.X))), map_


def flat(X: Vector) -> NDArray[np.bool_]:
    """Return which columns (p,) of X (n, p) are constant up to rounding, in whatever units."""
    constant: NDArray[np.bool_] = X.std(axis=0) <= 1e-12 * np.abs(X).max(axis=0)
    return constant


def check_rule(rule: str, units: str, epsilon: float) -> None:
    """Raise ParameterError for a selection rule that :func:`choose` does not know, before anything is solved."""
    for name, value, words in (("rule", rule, RULES), ("units", units, UNITS)):
        if value not in words:
            raise ParameterError(f"{name} is {value!r}", f"one of {', '.join(words)}")
    number("selection rule", "epsilon", epsilon, low=0.0)


def choose(
    coef: Vector, deviation: Vector, *, rule: str = "relative", units: str = "raw", epsilon: float = 0.01
) -> tuple[int, ...]:
    r"""Return the features that a linear classifier selects by the size of their weights.

    .. math::

        \text{absolute: } |w_j| \ge \epsilon, \qquad
        \text{relative: } |w_j| \ge \epsilon \max_k |w_k|

    A weight of 0 is never selected. Raw weights depend on the units of the columns, scaled ones do not.

    Parameters
    ----------
    coef : (p,) weights w of raw columns.
    deviation : (p,) training standard deviations of raw columns.
    rule : ``relative`` (default), ``absolute``, or ``either`` of them.
    units : ``raw`` (default): the weights themselves; ``scaled``: weight times deviation.
    epsilon : >= 0, the paper has 0.01.

    Raises
    ------
    ParameterError : another word, or a negative epsilon.

    Notes
    -----
    Paper 1, section 6.2, whose text is ``either``; the counts in its tables agree with ``relative``.
    """
    check_rule(rule, units, epsilon)
    size = np.abs(coef) if units == "raw" else np.abs(coef) * deviation
    limits = {"relative": epsilon * size.max(initial=0.0), "absolute": epsilon}
    limit = limits.get(rule, min(limits.values()))
    return tuple(np.flatnonzero((size >= limit) & (size > 0)).tolist())


def felt(w: Vector, X: Vector) -> Vector:
    """Return weights (p,) without those that move no score of X (n, p) beyond :data:`NOISE`: rounded zeros."""
    return np.where(np.abs(w) * np.abs(X).max(axis=0) > NOISE, w, 0.0)


def select(w: Vector, threshold: float) -> tuple[int, ...]:
    """Return the features that preprocessed weights select: rule 6.2 of paper 1, relative, in their own units."""
    return choose(w, np.ones(len(w)), epsilon=threshold)


@dataclass(frozen=True)
class Plane:
    """A plane in the preprocessed space, ``sign(w'z + b)``, and the selection that goes with it."""

    w: Vector
    b: float
    support: tuple[int, ...]


def raw_plane(plane: Plane, map_: Preprocessing) -> tuple[Vector, float]:
    """Return (coef, intercept) for raw columns, see :class:`fsopt.results.Fit`."""
    coef = plane.w / map_.scale
    return coef, plane.b if map_.unit_rows else plane.b - float(coef @ map_.shift)


def scaled_plane(coef: Vector, intercept: float, map_: Preprocessing) -> tuple[Vector, float]:
    """Return (w, b) in the preprocessed space, the inverse of :func:`raw_plane`."""
    return coef * map_.scale, intercept if map_.unit_rows else intercept + float(coef @ map_.shift)


def make_fit(
    data: Dataset,
    map_: Preprocessing,
    plane: Plane,
    *,
    objective: float,
    outcome: SolveResult | DriverResult,
    started: float,
    status: Status | None = None,
    bound: float | None = None,
    certificate: Certificate | None = None,
    warnings: tuple[str, ...] = (),
    details: Mapping[str, Any] | None = None,
    kernel: Kernel | None = None,
) -> Fit:
    """Return the Fit of a plane; name and parameters are filled in by :func:`fsopt.fit`.

    With a kernel, data and plane are in the space of the patterns, and ``map_`` is of the columns.
    """
    coef, intercept = raw_plane(plane, map_) if kernel is None else (plane.w, plane.b)
    seconds = {**outcome.seconds, "total": time.perf_counter() - started}
    return Fit(
        method="",
        params={},
        features=tuple(data.features[j] for j in plane.support),
        support=plane.support,
        coef=coef,
        intercept=intercept,
        objective=objective,
        status=outcome.status if status is None else status,
        stop=outcome.stop,
        bound=outcome.bound if bound is None else bound,
        iterations=outcome.iterations,
        history=outcome.history if isinstance(outcome, DriverResult) else (),
        certificate=outcome.certificate if certificate is None else certificate,
        solver=outcome.solver,
        seconds=seconds,
        preprocessing=map_,
        warnings=warnings,
        details={} if details is None else details,
        kernel=kernel,
    )


def proof(program: str, params: Mapping[str, Any], point: Point | None, **rest: Any) -> dict[str, Any]:
    """Return the details by which an answer can be checked later: a program and a primal-dual point of it."""
    return {"program": program, "program_params": dict(params), "point": point, **rest}


def extend(certificate: Certificate, residuals: Mapping[str, float]) -> Certificate:
    """Return a certificate with further residuals, which must hold too."""
    ok = certificate.ok and all(np.isfinite(v) and v <= certificate.tolerance for v in residuals.values())
    return replace(certificate, ok=ok, residuals={**certificate.residuals, **residuals})
