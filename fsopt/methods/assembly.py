"""Assembly of a Fit from a hyperplane in preprocessed space and the outcome of the solver or driver behind it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fsopt.answers.certificate import Certificate
from fsopt.answers.fits import Fit
from fsopt.answers.results import DriverResult, SolveResult, Status
from fsopt.data import Dataset
from fsopt.data.kernels import Kernel
from fsopt.data.matrices import Preprocessing
from fsopt.methods.preprocessing import Hyperplane, raw_hyperplane


def certified(outcome: SolveResult | DriverResult, certificate: Certificate) -> SolveResult | DriverResult:
    """Return an outcome with a convex certificate of its own, and objective value, bound and status of that."""
    status = Status.OPTIMAL if certificate.ok else Status.FEASIBLE
    return replace(
        outcome, status=status, objective=certificate.objective, bound=certificate.bound, certificate=certificate
    )


def make_fit(
    data: Dataset,
    map_: Preprocessing,
    hyperplane: Hyperplane,
    outcome: SolveResult | DriverResult,
    *,
    started: float,
    warnings: tuple[str, ...] = (),
    details: Mapping[str, Any] | None = None,
    kernel: Kernel | None = None,
) -> Fit:
    """Return the Fit of a hyperplane; :func:`fsopt.fit` adds the name of the method and its parameters.

    Parameters
    ----------
    data : names the features: the raw or preprocessed data set, or, with a kernel, that of the kernel values.
    map_ : the preprocessing of the raw features.
    hyperplane : in the preprocessed space, or, with a kernel, in the space of the kernel values.
    outcome : objective value, status, bound, certificate, iterations and history of the Fit.
    started : value of ``time.perf_counter`` when the method began.
    warnings : remarks that the user should read.
    details : evidence and further numbers of the method.
    kernel : the kernel function; None for a hyperplane in the space of the features.
    """
    coef, intercept = (hyperplane.w, hyperplane.b) if kernel is not None else raw_hyperplane(hyperplane, map_)
    return Fit(
        method="",
        params={},
        features=tuple(data.features[j] for j in hyperplane.support),
        support=hyperplane.support,
        coef=coef,
        intercept=intercept,
        objective=outcome.objective,
        status=outcome.status,
        stop=outcome.stop,
        bound=outcome.bound,
        iterations=outcome.iterations,
        history=outcome.history if isinstance(outcome, DriverResult) else (),
        certificate=outcome.certificate,
        solver=outcome.solver,
        seconds={**outcome.seconds, "total": time.perf_counter() - started},
        preprocessing=map_,
        warnings=warnings,
        details={} if details is None else details,
        kernel=kernel,
    )
