"""Preprocessing of the features, hyperplanes before and after it, the features that they select, and their fits.

With kernel values in the place of the features each training sample is described by its similarities to all of them.

A feature is selected if the size of its weight is at least a threshold times the largest size and not 0: the rule of
Peleg & Meir, section 6.2. The size is that of the weight times the deviation of its feature, and the threshold of a
method is in its entry, :class:`fsopt.methods.spec.MethodSpec`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from fsopt.answers.certificate import Certificate
from fsopt.answers.fits import Fit
from fsopt.answers.results import DriverResult, SolveResult, Status
from fsopt.common.arguments import word
from fsopt.data import Dataset
from fsopt.data.hyperplanes import Kernel
from fsopt.data.matrices import (
    Preprocessing,
    column_means,
    constant_columns,
    exact_sums,
    refuse_sparse,
)
from fsopt.errors import ParameterError
from fsopt.models.blocks import number
from fsopt.typing import Indices, Vector

SCALES = ("standard", "center", "none", "unit-rows")
"""The words of the parameter ``scale`` of the methods, see :func:`preprocess`."""


def preprocess(data: Dataset, kind: str) -> tuple[Dataset, Preprocessing]:
    """Return the preprocessed data set and the map that was applied, by statistics of this data set.

    Parameters
    ----------
    kind : ``standard`` subtracts the means and divides by the standard deviations (1 for constant features);
        ``center`` subtracts the means; ``none`` changes nothing; ``unit-rows`` is ``standard``, and then divides each
        sample by its norm. Sparse data are divided without a shift: the means that are subtracted are 0.

    Raises
    ------
    ParameterError : another word.
    """
    map_ = map_of(data, kind)
    return (data if kind == "none" else data.with_X(map_.apply(data.X))), map_


def map_of(data: Dataset, kind: str) -> Preprocessing:
    """Return the map of :func:`preprocess`."""
    word("scale", kind, SCALES)
    shift, scale = np.zeros(data.p), np.ones(data.p)
    if kind != "none" and not data.sparse:
        shift = column_means(data.X, data.weights)
    if kind in ("standard", "unit-rows"):
        scale = np.where(constant_columns(data.X, data.deviations), 1.0, data.deviations)
    return Preprocessing(kind, shift, scale)


class UnitRms(NamedTuple):
    """The varying features ``kept`` (q,), in ``units`` (q,) of root mean square behind a map of all."""

    work: Dataset
    map_: Preprocessing
    kept: Indices
    units: Vector

    def full(self, w: Vector) -> Vector:
        """Return the weights (p,) of all preprocessed features from those (q,) of ``work``; 0 for the others."""
        weights = np.zeros(len(self.map_.scale))
        weights[self.kept] = w / self.units
        return weights


def unit_rms(data: Dataset, scale: str) -> UnitRms:
    """Return the data in units of unit root mean square, after a preprocessing.

    The problems are invariant to the units of the features, the arithmetic of solvers is not: on WDBC in raw units
    one solver stops at 84.45, another at 79.79, instead of 97.01.
    """
    centred, map_ = preprocess(data, scale)
    kept = np.flatnonzero(~constant_columns(data.X, data.deviations))
    if not len(kept):
        raise ParameterError("all features are constant, nothing can be learned", "give data that vary")
    units = np.sqrt(exact_sums(centred.X[:, kept] ** 2) / data.n)
    return UnitRms(centred.columns(kept).with_X(centred.X[:, kept] / units), map_, kept, units)


def raw_hyperplane(w: Vector, b: float, map_: Preprocessing) -> tuple[Vector, float]:
    """Return weights (p,) and intercept of a hyperplane for raw features, see :class:`fsopt.answers.fits.Fit`."""
    coef = w / map_.scale
    return coef, b if map_.unit_rows else b - float(coef @ map_.shift)


def scaled_hyperplane(coef: Vector, intercept: float, map_: Preprocessing) -> tuple[Vector, float]:
    """Return weights (p,) and intercept for preprocessed features, the inverse of :func:`raw_hyperplane`."""
    return coef * map_.scale, intercept if map_.unit_rows else intercept + float(coef @ map_.shift)


RANK = 1e-12
"""Eigenvalues of a centred Gram matrix below this, relative to the largest, are 0 up to rounding."""

FLAT = 1e-4
"""Kernel values that differ by less, relative to the largest one, are too alike for the precision of solvers."""


def kernel_values(data: Dataset, name: str, width: float | None) -> tuple[Kernel, Dataset]:
    """Return the kernel on the samples, and its values as a data set; a width None is sqrt(p v / 2), v the variance."""
    refuse_sparse("a kernel", data.X)
    if width is None:
        width = float(np.sqrt(data.p * data.X.var() / 2)) or 1.0
    kernel = Kernel(name, data.X, width)
    values = kernel.dataset(data)
    if np.ptp(values.X, axis=0).max() <= FLAT * np.abs(values.X).max():
        raise ParameterError(
            f"the {kernel.name} kernel has nearly the same values for all samples",
            "choose a smaller width, or centre the features",
        )
    return kernel, values


def centred_factor(kernel: Dataset) -> Dataset:
    """Return F (n, r) as a data set, FF' the Gram matrix of the images less their mean, r its rank."""
    K = kernel.X - kernel.X.mean(axis=0)
    K = K - K.mean(axis=1)[:, None]
    values, Q = np.linalg.eigh(0.5 * (K + K.T))
    keep = values > RANK * values[-1]
    return Dataset(Q[:, keep] * np.sqrt(values[keep]), kernel.y, name=kernel.name, weights=kernel.weights)


THRESHOLD = 1e-6
"""The threshold of a method whose entry states no other one: above the noise of solvers in place of zeros."""
ROUNDING = 1e-10
"""Change of a score, next to the margin 1, below which a weight is a rounded 0 of the solver."""


@dataclass(frozen=True)
class SelectionRule:
    r"""The rule by which a linear classifier selects features, by the size of their weights.

    .. math::

        \text{absolute: } |w_j| \ge \epsilon, \qquad
        \text{relative: } |w_j| \ge \epsilon \max_k |w_k|

    A weight of 0 is never selected. Raw weights depend on the units of the features, scaled ones do not.

    Attributes
    ----------
    rule : ``relative`` (default), ``absolute``, or ``either`` of them.
    units : ``raw`` (default): the weights themselves; ``scaled``: weight times deviation.
    epsilon : >= 0; 0.01 in the paper.

    Raises
    ------
    ParameterError : another word, or an epsilon that is not a number >= 0.

    Notes
    -----
    Peleg & Meir, section 6.2, whose text is ``either``; the counts in its tables agree with ``relative``.
    """

    rule: str = "relative"
    units: str = "raw"
    epsilon: float = 0.01

    def __post_init__(self) -> None:
        for name, words in (("rule", ("relative", "absolute", "either")), ("units", ("raw", "scaled"))):
            word(name, getattr(self, name), words)
        number("selection rule", "epsilon", self.epsilon)

    def of(self, data: Dataset, coef: Vector) -> tuple[int, ...]:
        """Return the features that weights (p,) of the raw features of a data set select, rounded zeros apart."""
        return self.select(without_rounding(coef, data.deviations), data.deviations)

    def select(self, coef: Vector, deviation: Vector) -> tuple[int, ...]:
        """Return the features that weights (p,) of raw features with standard deviations (p,) select."""
        size = np.abs(coef) if self.units == "raw" else np.abs(coef) * deviation
        limits = {"relative": self.epsilon * size.max(initial=0.0), "absolute": self.epsilon}
        limit = limits.get(self.rule, min(limits.values()))
        return tuple(np.flatnonzero((size >= limit) & (size > 0)).tolist())


def without_rounding(w: Vector, spread: Vector) -> Vector:
    """Return weights (p,) with 0 where, times the ``spread`` (p,) of the features, they are below :data:`ROUNDING`."""
    return np.where(np.abs(w) * spread > ROUNDING, w, 0.0)


def with_certificate(outcome: SolveResult | DriverResult, certificate: Certificate) -> SolveResult | DriverResult:
    """Return an outcome with a convex certificate of its own, and objective value, bound and status of that."""
    status = Status.OPTIMAL if certificate.ok else Status.FEASIBLE
    return replace(
        outcome, status=status, objective=certificate.objective, bound=certificate.bound, certificate=certificate
    )


def unproved(objective: float) -> DriverResult:
    """Return the outcome of a hyperplane without a program: ``feasible``, at a value of the method's ``objective``."""
    return DriverResult(Status.FEASIBLE, "complete", objective, None, 1, {}, (), None, "", {})


def make_fit(
    map_: Preprocessing,
    w: Vector,
    b: float,
    outcome: SolveResult | DriverResult,
    *,
    params: Mapping[str, Any] = MappingProxyType({}),
    warnings: tuple[str, ...] = (),
    details: Mapping[str, Any] | None = None,
    kernel: Kernel | None = None,
) -> Fit:
    """Return the Fit of a hyperplane; :func:`fsopt.fit` adds the method, its parameters, and the selected features.

    Parameters
    ----------
    map_ : the preprocessing of the raw features.
    w, b : (p,) weights and intercept in the preprocessed space, or, with a kernel, in that of the kernel values.
    outcome : objective value, status, bound, certificate, iterations and history of the Fit.
    params : parameters whose values follow from the data, where the user gives none.
    warnings : remarks that the user should read.
    details : evidence: ``point``, primal-dual, of the program of the method, or what its own check looks at; and
        parameters of the program that the method has not.
    kernel : the kernel function; None for a hyperplane in the space of the features.
    """
    coef, intercept = (w, b) if kernel is not None else raw_hyperplane(w, b, map_)
    same = ("objective", "status", "stop", "bound", "iterations", "certificate", "solver", "seconds")
    return Fit(
        method="",
        params=params,
        features=(),
        support=(),
        coef=coef,
        intercept=intercept,
        history=outcome.history if isinstance(outcome, DriverResult) else (),
        preprocessing=map_,
        warnings=warnings,
        details={} if details is None else details,
        kernel=kernel,
        **{name: getattr(outcome, name) for name in same},
    )
