"""What a solve, a driver and a method return: frozen records, status kept apart from the reason to stop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from pyomo.common.collections import ComponentMap

from fsopt.certificates.certificate import Certificate
from fsopt.data import Dataset
from fsopt.data.kernels import Kernel
from fsopt.errors import ParameterError
from fsopt.typing import Matrix, Vector


class Status(StrEnum):
    """What is held at the end: the strongest claim that was checked, never the solver's word alone."""

    OPTIMAL = "optimal"
    """A global optimum within the gap; the certificate holds."""
    STATIONARY = "stationary"
    """A point that satisfies a first-order condition, checked; not known to be global."""
    FEASIBLE = "feasible"
    """A feasible point and nothing more."""
    INFEASIBLE = "infeasible"
    """The solver proved that there is no feasible point."""
    UNBOUNDED = "unbounded"
    """The solver proved that the objective is unbounded."""
    NONE = "none"
    """No usable point."""

    @property
    def solved(self) -> bool:
        """Whether there is an answer that a user can work with (exit code 0 of the command line)."""
        return self in (Status.OPTIMAL, Status.STATIONARY, Status.FEASIBLE)


@dataclass(frozen=True)
class Point:
    """A primal-dual point of a compiled program, in the sign convention of its minimisation form.

    Attributes
    ----------
    x : (n,) values of the columns.
    y : (m,) multipliers of the linear rows, ``y >= 0`` where the lower side is active; None if unknown. Those of
        general rows (neither linear nor cones) follow.
    z : (k,) stacked multipliers of the cones, each block in the (self-dual) cone; None if unknown.
    """

    x: Vector
    y: Vector | None = None
    z: Vector | None = None


@dataclass(frozen=True)
class SolveResult:
    """The outcome of one call of a solver.

    Attributes
    ----------
    status : what is held; ``optimal`` only where ``certificate.ok``.
    stop : why the solver stopped, one of the words in :data:`fsopt.solvers.base.STOP_WORDS`.
    objective : value of the model's objective at the point held, in the model's own sense.
    bound : best proved bound on the optimum, in the model's own sense; None if there is none.
    solver : name of the solver that was called.
    seconds : ``build`` (0 here), ``translate``, ``solve`` and ``load`` in seconds.
    iterations : simplex, interior-point or branch-and-bound count, as the solver counts.
    certificate : numbers recomputed by fsopt from the model and the point.
    point : the primal-dual point, for certificates and saved answers; None where there is no usable one.
    ray : the multipliers that prove infeasibility; None where there are none.
    message : the solver's own words, where they say more than ``stop``.
    priced : pairs of a constraint and its shadow price; empty where the solver gave no multipliers.
    """

    status: Status
    stop: str
    objective: float | None
    bound: float | None
    solver: str
    seconds: Mapping[str, float]
    iterations: int
    certificate: Certificate | None = None
    point: Point | None = field(default=None, repr=False)
    message: str = ""
    ray: Point | None = field(default=None, repr=False)
    priced: tuple[tuple[Any, float], ...] = field(default=(), repr=False)

    @cached_property
    def shadow_prices(self) -> ComponentMap:
        """Constraint -> d objective / d right-hand side; a map that holds its constraints, as their ids are reused."""
        return ComponentMap(self.priced)

    def duals(self, component: Any) -> dict[Any, float]:
        """Return index -> shadow price (d objective / d right-hand side) of a Pyomo constraint component.

        The price of a cone written as a quadratic constraint is nan at the cone's apex, where the
        quadratic form has no multiplier.

        Raises
        ------
        ParameterError : the solver gave no multipliers, or the component was not in the model that was solved.
        """
        if not self.priced:
            raise ParameterError(
                f"solver '{self.solver}' gave no multipliers", "take one that 'fsopt solvers' lists with duals"
            )
        active = {index: data for index, data in component.items() if data.active}
        for data in active.values():
            if data not in self.shadow_prices:
                raise ParameterError(
                    f"constraint '{data.name}' is not one of the model that was solved",
                    "give a component of that model as it was at the solve",
                )
        return {index: self.shadow_prices[data] for index, data in active.items()}


@dataclass(frozen=True)
class DriverResult:
    """The outcome of a driver (a loop over solves); status and bound are the driver's own.

    Attributes
    ----------
    status, stop, objective, bound, iterations : as in :class:`SolveResult`, but for the driver's problem.
    point : name -> array of the best iterate.
    history : one record per iteration, with the seconds of update, solve and load, and ``rebuilt`` set to
        the reason where the model had to be translated anew.
    certificate : what was checked about the answer.
    solver : name of the solver that the subproblems were sent to.
    seconds : total ``build``, ``translate``, ``update``, ``solve`` and ``load`` seconds.
    """

    status: Status
    stop: str
    objective: float | None
    bound: float | None
    iterations: int
    point: Mapping[str, Any]
    history: tuple[Mapping[str, Any], ...]
    certificate: Certificate | None
    solver: str
    seconds: Mapping[str, float]


@dataclass(frozen=True)
class Preprocessing:
    """The affine map of the columns that a method applied, and whether rows were then put on the sphere.

    ``z = (x - shift) / scale`` and, where ``unit_rows``, ``z / ||z||`` (a zero row stays zero).
    """

    kind: str
    shift: Vector
    scale: Vector

    @property
    def unit_rows(self) -> bool:
        """Whether rows are divided by their norm after the affine map."""
        return self.kind == "unit-rows"

    def row_norms(self, X: Matrix) -> Vector:
        """Return the (n,) divisors of the rows of X (n, p): all ones unless ``unit_rows``."""
        if not self.unit_rows:
            return np.ones(len(X))
        norms: Vector = np.linalg.norm((X - self.shift) / self.scale, axis=1)
        return np.where(norms > 0, norms, 1.0)

    def apply(self, X: Matrix) -> Matrix:
        """Return the preprocessed copy of X (n, p)."""
        Z: Matrix = (X - self.shift) / self.scale / self.row_norms(X)[:, None]
        return Z


@dataclass(frozen=True)
class Fit:
    """A fitted classifier ``sign(w'x + b)`` and everything that is known about how it was found.

    With a ``kernel`` it is ``sign(w'k(x) + b)``, where k(x) (n,) are the kernel values of the preprocessed row with
    the n training rows, the patterns: these take the place of the features in what follows.

    Attributes
    ----------
    method, params : what was run.
    features, support : names and 0-based indices of the selected features (``row 17`` has index 16).
    coef, intercept : ``w`` (p,) and ``b`` for raw columns; with the preprocessing ``unit-rows`` the score is
        ``w'(x - shift) / ||(x - shift) / scale|| + b``.
    objective : value of the method's own problem at the classifier returned.
    status, stop, bound, iterations, history, certificate, solver, seconds : as in :class:`DriverResult`.
    preprocessing : the map applied to the columns before the model, or the kernel matrix, was built.
    warnings : remarks that the user should read (separable data, dropped columns, ...).
    details : further numbers of the method (duals, cuts, histories), kept so that the answer can be re-checked.
    kernel : the kernel and the preprocessed training rows; None for a plane in the space of the features.
    """

    method: str
    params: Mapping[str, Any]
    features: tuple[str, ...]
    support: tuple[int, ...]
    coef: Vector
    intercept: float
    objective: float | None
    status: Status
    stop: str
    bound: float | None
    iterations: int
    history: tuple[Mapping[str, Any], ...]
    certificate: Certificate | None
    solver: str
    seconds: Mapping[str, float]
    preprocessing: Preprocessing
    warnings: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict, repr=False)
    kernel: Kernel | None = None

    def decision_function(self, X: Matrix) -> Vector:
        """Return the scores (n,) of the rows of X (n, p), given in raw units."""
        X = np.asarray(X, dtype=float)
        if self.kernel is not None:
            score = self.kernel.matrix(self.preprocessing.apply(X)) @ self.coef
        elif self.preprocessing.unit_rows:
            score = (X - self.preprocessing.shift) @ self.coef / self.preprocessing.row_norms(X)
        else:
            score = X @ self.coef
        result: Vector = score + self.intercept
        return result

    def predict(self, X: Matrix) -> Vector:
        """Return the labels (n,) in {-1, +1}; a score of exactly 0 counts as -1."""
        return np.where(self.decision_function(X) > 0, 1.0, -1.0)

    def scores(self, data: Dataset) -> dict[str, float]:
        """Return accuracy and Matthews correlation on a data set."""
        from sklearn.metrics import accuracy_score, matthews_corrcoef

        labels = self.predict(data.X)
        return {
            "accuracy": float(accuracy_score(data.y, labels)),
            "mcc": float(matthews_corrcoef(data.y, labels)),
        }
