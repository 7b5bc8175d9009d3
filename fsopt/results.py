"""Results of a solve, a driver and a method: frozen records with the status separate from the reason to stop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from pyomo.common.collections import ComponentMap

from fsopt.arguments import Kind, checked
from fsopt.certificates.certificate import Certificate
from fsopt.data import Dataset
from fsopt.data.dataset import DATASET, as_matrix
from fsopt.data.kernels import Kernel
from fsopt.data.scores import matthews
from fsopt.errors import DataError, ParameterError
from fsopt.figures import course, history_figure
from fsopt.typing import Matrix, Vector

if TYPE_CHECKING:
    import pyomo.environ as pyo
    from matplotlib.figure import Figure


class Status(StrEnum):
    """The strongest statement about an answer that fsopt verified; never the solver's status alone."""

    OPTIMAL = "optimal"
    """A global optimum within the optimality gap; the certificate holds."""
    STATIONARY = "stationary"
    """A point with a verified first-order condition; not known to be a global optimum."""
    FEASIBLE = "feasible"
    """A feasible point without a verified optimality condition."""
    INFEASIBLE = "infeasible"
    """The solver proved the infeasibility of the model."""
    UNBOUNDED = "unbounded"
    """The solver proved the unboundedness of the objective."""
    NONE = "none"
    """No usable point."""

    @property
    def solved(self) -> bool:
        """Whether there is a usable answer (exit code 0 of the command line)."""
        return self in (Status.OPTIMAL, Status.STATIONARY, Status.FEASIBLE)


@dataclass(frozen=True)
class Point:
    """A primal-dual point of a compiled program, in the sign convention of its minimisation form.

    Attributes
    ----------
    x : (n,) values of the variables.
    y : (m,) multipliers of the linear constraints, ``y >= 0`` at an active lower bound and ``y <= 0`` at an active
        upper bound, followed by the multipliers of the general constraints (neither linear nor cones); None if unknown.
    z : (k,) stacked multipliers of the cones, each block in the (self-dual) cone; None if unknown.
    """

    x: Vector
    y: Vector | None = None
    z: Vector | None = None

    @property
    def multipliers(self) -> tuple[Vector, Vector]:
        """The multipliers y and z; raises ParameterError if one of them is unknown."""
        if self.y is None or self.z is None:
            raise ParameterError(
                "the point has no multipliers", "choose a solver that 'fsopt solvers' lists with duals"
            )
        return self.y, self.z


@dataclass(frozen=True)
class SolveResult:
    """The outcome of one call of a solver.

    Attributes
    ----------
    status : the strongest verified statement; ``optimal`` only if ``certificate.ok``.
    stop : why the solver stopped, one of the words in :data:`fsopt.solvers.interface.STOP_WORDS`.
    objective : objective value at the point, in the model's own sense.
    bound : lower bound of a minimum, or upper bound of a maximum; None if there is none.
    solver : name of the solver.
    seconds : ``build`` (0 here), ``translate``, ``solve`` and ``load`` in seconds.
    iterations : simplex, interior-point or branch-and-bound count, as the solver counts.
    certificate : numbers recomputed by fsopt from the model and the point.
    point : the primal-dual point, for certificates and saved answers; None without a usable point.
    evidence, evidence_source : primal-dual point of another solver and its name, where the solver itself returned no
        multipliers: of the same program, or with the integers fixed at their values.
    direction : the recession direction that proves unboundedness; None where there is none.
    ray : the multipliers that prove infeasibility; None if there are none.
    cuts : the cuts of an exact search of this package, as plain data: multipliers of linear programs, from which the
        bound is recomputed without a solver; empty for other solvers.
    message : the solver's own words, if they say more than ``stop``.
    constraint_duals : pairs of a constraint and its dual variable in Pyomo's shadow-price convention; empty if the
        solver gave no multipliers.
    history : the course of a solve by :func:`fsopt.solve`, as the solver told it: records of ``incumbent``, ``bound``,
        ``gap``, ``iteration`` and ``seconds``, None for what it did not tell; empty for a solver that tells nothing.
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
    direction: Point | None = field(default=None, repr=False)
    evidence: Point | None = field(default=None, repr=False)
    evidence_source: str = ""
    cuts: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    constraint_duals: tuple[tuple[pyo.Constraint, float], ...] = field(default=(), repr=False)
    history: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)

    @cached_property
    def shadow_prices(self) -> ComponentMap:
        """Constraint -> d objective / d right-hand side.

        A ComponentMap keeps its constraints alive: Python reuses the id of a deleted object, so that a dictionary of
        ids could return the number of one constraint for another one.
        """
        return ComponentMap(self.constraint_duals)

    def plot(self) -> Any:
        """Return a figure of incumbent and bound over the seconds; raises ParameterError without a history."""
        return course(self.history, self.solver)

    @checked(component=Kind("a component", lambda value: hasattr(value, "ctype"), "give a constraint of the model"))
    def duals(self, component: pyo.Constraint) -> dict[Any, float]:
        """Return index -> dual variable of the active constraints in a Pyomo component.

        The sign is Pyomo's shadow-price convention, d objective / d right-hand side. The dual variable of a cone
        written as a quadratic constraint is nan at the apex of the cone, where the quadratic form has no multiplier.

        Raises
        ------
        ParameterError : the solver gave no multipliers, or the component was not in the model at the solve.
        """
        if not self.constraint_duals:
            raise ParameterError(
                f"solver '{self.solver}' gave no multipliers", "choose one that 'fsopt solvers' lists with duals"
            )
        active = {index: data for index, data in component.items() if data.active}
        for data in active.values():
            if data not in self.shadow_prices:
                raise ParameterError(
                    f"constraint '{data.name}' is not a constraint of the solved model",
                    "give a component of the model that was solved, as it was at the solve",
                )
        return {index: self.shadow_prices[data] for index, data in active.items()}


RESULT = Kind("a SolveResult", lambda value: isinstance(value, SolveResult), "give the result of fsopt.solve")


@dataclass(frozen=True)
class DriverResult:
    """The outcome of a driver, a loop over solves; status and bound refer to the driver's problem, not to a subproblem.

    Attributes
    ----------
    status, stop, objective, bound, iterations : as in :class:`SolveResult`, for the driver's problem.
    point : name -> array of the best iterate.
    history : one record per iteration, with the seconds of update, solve and load; ``rebuilt`` holds the reason if the
        model was translated anew, ``fallback`` the reason if another solver was needed for a subproblem.
    certificate : the evidence for the answer.
    solver : names of all solvers of the subproblems, joined by ``+``.
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
    """The map of samples before a method: an affine map of each feature, and division by the norm if ``unit_rows``.

    A sample x (p,) becomes ``z = (x - shift) / scale``, and with ``unit_rows`` then ``z / ||z||`` (0 stays 0).

    Attributes
    ----------
    kind : name of the map, for example ``standard`` or ``unit-rows``.
    shift, scale : (p,) each.
    """

    kind: str
    shift: Vector
    scale: Vector

    @property
    def unit_rows(self) -> bool:
        """Whether each sample is divided by its norm after the affine map."""
        return self.kind == "unit-rows"

    def row_norms(self, X: Matrix) -> Vector:
        """Return the divisors (n,) of the samples X (n, p): all ones unless ``unit_rows``."""
        if not self.unit_rows:
            return np.ones(len(X))
        norms: Vector = np.linalg.norm((X - self.shift) / self.scale, axis=1)
        return np.where(norms > 0, norms, 1.0)

    def apply(self, X: Matrix) -> Matrix:
        """Return the preprocessed copy of the samples X (n, p)."""
        Z: Matrix = (X - self.shift) / self.scale / self.row_norms(X)[:, None]
        return Z


@dataclass(frozen=True)
class Fit:
    """A fitted classifier ``sign(w'x + b)`` with the evidence for it and the record of its computation.

    With a ``kernel`` the classifier is ``sign(w'k(x) + b)``. The vector k(x) (n,) holds the kernel values of the
    preprocessed sample x with the n preprocessed training samples, the patterns. The patterns then take the place of
    the features in all attributes.

    Attributes
    ----------
    method, params : name of the method and its parameters.
    features, support : names and 0-based indices of the selected features (the pattern ``row 17`` has index 16).
    coef, intercept : ``w`` (p,) and ``b`` in the units of the raw features; with the preprocessing ``unit-rows`` the
        score is ``w'(x - shift) / ||(x - shift) / scale|| + b``.
    objective : objective value of the method's problem at the classifier.
    status, stop, bound, iterations, history, certificate, solver, seconds : as in :class:`DriverResult`.
    preprocessing : the map of the samples before the model, or the kernel matrix, was built.
    warnings : remarks for the user (separable data, dropped features, ...).
    details : further numbers of the method (duals, cuts, histories) that the verification of a saved fit needs.
    kernel : the kernel with its patterns; None for a hyperplane in the space of the features.
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
        """Return the scores (n,) of samples X (n, p), given in raw units; raises DataError for another array."""
        X = as_matrix(X)
        p = len(self.preprocessing.shift)
        if X.shape[1] != p or not np.isfinite(X).all():
            reason = f"{X.shape[1]} features" if X.shape[1] != p else "values that are not finite"
            raise DataError(f"the samples have {reason}", f"give finite values of the {p} features of the fit")
        if self.kernel is not None:
            score = self.kernel.matrix(self.preprocessing.apply(X)) @ self.coef
        elif self.preprocessing.unit_rows:
            score = (X - self.preprocessing.shift) @ self.coef / self.preprocessing.row_norms(X)
        else:
            score = X @ self.coef
        result: Vector = score + self.intercept
        return result

    def predict(self, X: Matrix) -> Vector:
        """Return the labels (n,) in {-1, +1} of samples X (n, p); a score of exactly 0 counts as -1."""
        return np.where(self.decision_function(X) > 0, 1.0, -1.0)

    def plot(self) -> Figure:
        """Return a figure of incumbent, bound and open nodes over time; raises ParameterError without a history."""
        if not (records := [h for h in self.history if isinstance(h.get("objective"), float)]):
            raise ParameterError(f"the fit of '{self.method}' has no history to plot", "plot a fit of a loop")
        return history_figure(records)

    @checked(data=DATASET)
    def scores(self, data: Dataset) -> dict[str, float]:
        """Return accuracy and Matthews correlation coefficient on a data set."""
        labels = self.predict(data.X)
        return {"accuracy": float(np.mean(labels == data.y)), "mcc": matthews(data.y, labels)}
