"""The record of a registered method, and the saved fit that its check is given."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from fsopt.answers.certificate import Certificate
from fsopt.answers.fits import Fit
from fsopt.certificates.exact.claims import Claim
from fsopt.data import Dataset
from fsopt.drivers.run import Steps
from fsopt.methods.preprocessing import THRESHOLD, SelectionRule
from fsopt.models.gbd.feature_lists import BOUNDS, CATEGORIES, WeightBounds, categories
from fsopt.models.papers import PAPERS
from fsopt.models.spec import parameters
from fsopt.typing import Vector

Value: TypeAlias = tuple[float, float]
"""Objective value, and the largest relative violation of the constraints (0 where there are none)."""


def in_units(method: str, data: Dataset, at: Mapping[str, Any], scale: Vector) -> dict[str, Any]:
    """Return parameters for features divided by a scale (p,): bounds on weights, and groups in place of a word."""
    others = {name: value for name, value in at.items() if name not in BOUNDS}
    if at.get("groups") == CATEGORIES:
        others["groups"] = categories(data)
    return others | WeightBounds.of(method, data, at).scaled(scale).words(data)


@dataclass(frozen=True)
class SavedFit:
    """A fit as it was saved, in the space of its program: the argument of each method's check.

    Attributes
    ----------
    spec : the entry of its method.
    fit : as it was saved; a check raises FileError where its details, which a file may hold, are damaged.
    raw : the data that it was fitted to.
    data : the same in the space of the hyperplane: preprocessed features, or kernel values.
    w, b : the hyperplane there.
    """

    spec: MethodSpec
    fit: Fit
    raw: Dataset
    data: Dataset
    w: Vector
    b: float

    @property
    def params(self) -> dict[str, Any]:
        """The details and the parameters, which win where both have a name (alpha); bounds on preprocessed weights."""
        at = {**self.fit.details, **self.fit.params}
        return in_units(self.fit.method, self.raw, at, self.fit.preprocessing.scale)


def selected(saved: SavedFit) -> tuple[int, ...]:
    """Return the features that a fit selects: by the threshold of its method, with a kernel the support vectors."""
    rule = SelectionRule(units="scaled", epsilon=saved.spec.threshold)
    if saved.fit.kernel is not None:
        return rule.select(saved.w, np.ones(saved.data.p))
    return rule.of(saved.raw, saved.fit.coef)


Grid: TypeAlias = tuple[tuple[str, tuple[Any, ...]], ...]
"""Names of parameters with the values among which tuning chooses."""
PENALTY_WEIGHTS: Grid = (("c", (0.1, 1.0, 10.0)),)
"""The grid of a method whose entry has none, where it has the parameter."""


def candidates(grid: Grid, known: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Return name -> values for tuning of the parameters that a method has; without any, it is not tuned."""
    return {name: values for name, values in grid if name in known}


@dataclass(frozen=True)
class MethodSpec:
    """The entry of a method, in ``SPEC`` or ``SPECS``, the last statement of its module.

    Attributes
    ----------
    name : registry name, and test id.
    fit : function of a data set, a :class:`fsopt.drivers.Run` and keywords that returns a Fit; of a method with a loop
        a generator, which yields the records of its iterations and returns the Fit.
    models : slugs of the models that ``customise`` may change; restricted programs of large data are others.
    objective : function of (preprocessed data, w, b, parameters) that returns the value of the method's own problem at
        a hyperplane and the violation of its constraints, in plain numpy, independent of models and solvers. None for
        a method whose value is that of the check, as that of its convex ``program``.
    check : function of a :class:`SavedFit` that recomputes its certificate without a solver; None for that of the
        program, :func:`fsopt.methods.verdict.check`.
    program : slug of the convex model that a hyperplane completes, whether or not a fit solves it: the problem of the
        method, or the last step of its loop; by default the first of the models, unused with ``check`` and ``exact``.
    numbers : function of a :class:`SavedFit` that returns further numbers, which follow from the data, the hyperplane
        and the evidence: they become details of the fit, and are computed again where it is verified.
    equation : its place in the paper, or its source.
    driver : name of the driver, where any of its routes is a loop; empty where one solve is all.
    resumable : whether its loop writes and reads the checkpoints of its ``Run``; the others refuse them.
    support : function of a :class:`SavedFit` that returns the features that it should select.
    weights : ``samples`` where the losses take weights of samples, ``classes`` where they take one weight for each
        class; empty where the method has no place for them.
    sparse : whether it takes sparse data, without making them dense.
    threshold : smallest size of a weight, times the deviation of its feature and relative to the largest one, that
        counts as a selected feature.
    exact : function of a :class:`SavedFit` that returns its claims with their exact intervals; None for the optimum of
        the program.
    price : function of the data, the parameters of the program, its model of some features, compiled, the multipliers y
        (m,) of that and the places of its features, that returns the excess (p,) of the reduced costs of all features,
        relative to these; None for a method that solves no models of some features.
    compare : function of the number of features that returns the parameters of the method in comparisons, where they
        are not its defaults.
    grid : parameters with the values among which ``tune`` of a comparison chooses.
    solver : whether the method calls a solver; where it does not, one that is given is refused.
    estimator : name of its class in :mod:`fsopt.estimators`; by default, and where another method has it, that of the
        method, ``MySvm`` for ``my-svm``.
    """

    name: str
    fit: Callable[..., Fit | Steps[Fit]]
    models: tuple[str, ...]
    objective: Callable[[Dataset, Vector, float, Mapping[str, Any]], Value] | None = None
    check: Callable[[SavedFit], Certificate] | None = None
    program: str = ""
    numbers: Callable[[SavedFit], Mapping[str, Any]] = lambda saved: {}
    equation: str = ""
    driver: str = ""
    resumable: bool = False
    support: Callable[[SavedFit], tuple[int, ...]] = selected
    exact: Callable[[SavedFit], list[Claim]] | None = None
    price: Callable[..., Vector] | None = None
    compare: Callable[[int], Mapping[str, Any]] = lambda p: {}
    solver: bool = True
    weights: str = ""
    sparse: bool = False
    threshold: float = THRESHOLD
    grid: Grid = PENALTY_WEIGHTS
    estimator: str = ""

    def __post_init__(self) -> None:
        if not self.program:
            object.__setattr__(self, "program", next(iter(self.models), ""))
        if not self.estimator:
            object.__setattr__(self, "estimator", "".join(word.capitalize() for word in re.split(r"\W", self.name)))

    @property
    def paper(self) -> str | None:
        """Key in :data:`fsopt.models.papers.PAPERS`, the folder of its fit; None for a baseline, and a user's own."""
        folder = self.fit.__module__.removeprefix("fsopt.methods.").partition(".")[0]
        return folder if folder in PAPERS else None

    @property
    def summary(self) -> str:
        """One line on the method: the first of the docstring of its fit."""
        return (inspect.getdoc(self.fit) or "").partition("\n")[0].removeprefix("Fit ").rstrip(".")

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Name -> default of the parameters."""
        return parameters(self.fit)

    @property
    def candidates(self) -> dict[str, tuple[Any, ...]]:
        """Name -> values for tuning."""
        return candidates(self.grid, self.parameters)
