"""From a hyperplane in preprocessed space to a Fit, and the evidence that a saved fit carries."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.certificates.certificate import Certificate
from fsopt.data import Dataset
from fsopt.data.kernels import Kernel
from fsopt.methods.preprocessing import Hyperplane, raw_hyperplane
from fsopt.results import DriverResult, Fit, Preprocessing, SolveResult, Status


def make_fit(
    data: Dataset,
    map_: Preprocessing,
    plane: Hyperplane,
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
    coef, intercept = raw_hyperplane(plane, map_) if kernel is None else (plane.w, plane.b)
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


def extend(certificate: Certificate, residuals: Mapping[str, float]) -> Certificate:
    """Return a certificate with further residuals, which must hold too."""
    ok = certificate.ok and all(np.isfinite(v) and v <= certificate.tolerance for v in residuals.values())
    return replace(certificate, ok=ok, residuals={**certificate.residuals, **residuals})
