"""Blocks that the models of several papers share, and the checks of their parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.common.arguments import ends, range_of, within
from fsopt.common.clock import ENTRY, require
from fsopt.common.registry import SLUG
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.data.hyperplanes import HINGE, Loss, loss_weights
from fsopt.data.matrices import refuse_sparse
from fsopt.errors import ParameterError, shown
from fsopt.models.display import ShownModel
from fsopt.typing import Matrix, Vector

# -- the classifier and its margins ---------------------------------------------------------------------------


def new_model(name: str, data: Dataset, *, sparse: bool = False) -> pyo.ConcreteModel:
    """Return an empty model with the sets I (samples, 0..n-1) and J (features, 0..p-1); refuse data that are sparse."""
    if not sparse:
        refuse_sparse(f"model '{name}'", data.X)
    m = ShownModel(name=name)
    setattr(m, SLUG, name)
    m.I = pyo.RangeSet(0, data.n - 1)
    m.J = pyo.RangeSet(0, data.p - 1)
    return m


def add_classifier(m: pyo.ConcreteModel) -> None:
    """Add the free variables w (J) and b of the hyperplane w'x + b = 0."""
    m.w = pyo.Var(m.J, doc="w, weights")
    m.b = pyo.Var(doc="b, intercept")


def add_slacks(m: pyo.ConcreteModel, loss: Loss = HINGE) -> None:
    r"""Add the hinge slacks xi >= 0 (I); for the logistic loss slacks of any sign and its terms, convex in both.

    .. math:: \ell_i \ge \ln(1 + e^{\xi_i - 1}) \iff e^{-\ell_i} + e^{\xi_i - 1 - \ell_i} \le 1

    With the smallest slack, 1 less the margin, that is the logistic loss of the margin.
    """
    m.xi = pyo.Var(m.I, within=pyo.NonNegativeReals if loss.power else pyo.Reals, doc="xi, hinge slacks")
    if loss.power:
        return

    def logistic(m: pyo.ConcreteModel, i: int) -> Any:
        return pyo.exp(-m.logloss[i]) + pyo.exp(m.xi[i] - 1 - m.logloss[i]) <= 1

    m.logloss = pyo.Var(m.I, within=pyo.NonNegativeReals, doc="l, terms of the logistic loss")
    m.logistic = pyo.Constraint(m.I, rule=logistic, doc="l_i >= ln(1 + exp(xi_i - 1))")


def hinge_point(data: Dataset, w: Vector, b: float, **_: Any) -> dict[str, Any]:
    """Return the variables of :func:`add_classifier` and :func:`add_slacks` at a hyperplane w'x + b = 0."""
    return {"w": w, "b": b, "xi": np.maximum(1.0 - data.y * (data.X @ w + b), 0.0)}


def add_margins(m: pyo.ConcreteModel, data: Dataset, equation: str) -> None:
    """Add the constraints ``margin`` (I): y_i (w'x_i + b) >= 1 - xi_i."""
    m.margin = margin_constraint(m, data, m.w, f"{equation} y_i (w'x_i + b) >= 1 - xi_i")


def margin_constraint(m: pyo.ConcreteModel, data: Dataset, weights: pyo.Var, doc: str) -> pyo.Constraint:
    """Return the constraints y_i (u'x_i + b) + xi_i >= 1 (I) for weights u (J) and the model's own b and xi."""
    variables = tuple(weights.values())
    labels, signed = data.y.tolist(), signed_samples(data)

    def margin(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(signed[i], variables) + labels[i] * m.b + m.xi[i] >= 1

    return pyo.Constraint(m.I, rule=margin, doc=doc)


def signed_samples(data: Dataset) -> Matrix:
    """Return YX (n, p), the samples times their labels; raise MemoryLimitError where a model of them does not fit."""
    require(ENTRY * data.X.size, f"models of {data.n} samples and {data.p} features")
    return data.X * data.y[:, None]


def signed_features(data: Dataset) -> Matrix:
    """Return the same transposed, X'Y (p, n); contiguous, because a linear form is made of each of its rows."""
    return np.ascontiguousarray(signed_samples(data).T)


def row_form(matrix: Any, i: int, variables: tuple[Any, ...]) -> Any:
    """Return row i of a matrix times variables, of its nonzeros alone where it is sparse."""
    if isinstance(matrix, np.ndarray):
        return dot(matrix[i], variables)
    nonzeros = slice(matrix.indptr[i], matrix.indptr[i + 1])
    return dot(matrix.data[nonzeros], tuple(variables[j] for j in matrix.indices[nonzeros]))


# -- weights as the difference of their positive and negative parts -------------------------------------------


def add_weight_parts(m: pyo.ConcreteModel) -> None:
    """Add w+ >= 0 and w- >= 0 (J); :func:`split_constraint` makes w their difference."""
    m.w_plus = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="w+, positive part of w")
    m.w_minus = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="w-, negative part of w")


def weight_parts(w: Vector) -> dict[str, Any]:
    """Return the parts of weights w (p,), w+ and w-."""
    return {"w_plus": np.maximum(w, 0.0), "w_minus": np.maximum(-w, 0.0)}


def split_constraint(m: pyo.ConcreteModel, equation: str) -> pyo.Constraint:
    """Return the constraints w = w+ - w- (J)."""

    def split(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] == m.w_plus[j] - m.w_minus[j]

    return pyo.Constraint(m.J, rule=split, doc=f"{equation} w = w+ - w-")


def one_norm(m: pyo.ConcreteModel) -> Any:
    """Return e'(w+ + w-), which is the one-norm of w where it is minimised."""
    return pyo.quicksum([*m.w_plus.values(), *m.w_minus.values()])


def perspective_constraint(m: pyo.ConcreteModel, scales: pyo.Var, doc: str) -> pyo.Constraint:
    """Return the rotated cones w_j^2 <= scales_j t_j (J), the closure of w_j^2 / scales_j <= t_j."""

    def perspective(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] ** 2 <= scales[j] * m.t[j]

    return pyo.Constraint(m.J, rule=perspective, doc=doc)


# -- expressions and parameters of indexed components ---------------------------------------------------------


def total(variable: pyo.Var) -> Any:
    """Return the sum of an indexed variable."""
    return pyo.quicksum(variable.values())


def hinge_cost(m: pyo.ConcreteModel, data: Dataset, c: Any = 1.0, loss: Loss = HINGE) -> Any:
    """Return C e'xi, C a number or parameter; with weights of the samples sum_i C_i xi_i, where C_i is C times that.

    For the squared hinge loss the slacks are squared, and the logistic one has its own terms.
    """
    if loss.power != 1:
        weights = np.broadcast_to(loss_weights(c, data.weights), data.n).tolist()
        terms = [v**2 for v in m.xi.values()] if loss.power else m.logloss.values()
        return sum(weight * term for weight, term in zip(weights, terms, strict=True))
    if data.weights is not None:
        return c * dot(data.weights, tuple(m.xi.values()))
    return c * total(m.xi)


def multiplier_bounds(data: Dataset, c: Any) -> Any:
    """Return the bounds 0 and C_i of the multipliers of the margins, for a variable over the samples."""
    if data.weights is None:
        return 0, c
    weights = data.weights.tolist()
    return lambda _, i: (0, c * weights[i])


def squares(variable: pyo.Var) -> Any:
    """Return the sum of squares of an indexed variable."""
    return sum(v**2 for v in variable.values())


def add_parameter(m: pyo.ConcreteModel, name: str, value: Any, doc: str, *, inside: str = "") -> None:
    """Add a mutable parameter, a :func:`number` at first: a session reads its next value at its next solve."""
    m.add_component(name, pyo.Param(initialize=number(m.name, name, value, inside=inside), mutable=True, doc=doc))


def mutable(index: pyo.Set, values: Vector, doc: str) -> pyo.Param:
    """Return a mutable parameter over an index set with these values (k,), in its order."""
    return pyo.Param(index, initialize=dict(zip(index, values.tolist(), strict=True)), mutable=True, doc=doc)


# -- checks of a builder's parameters -------------------------------------------------------------------------


def number(model: str, name: str, value: Any, *, inside: str = "") -> float:
    """Return a parameter as a float in an interval, by default the one of its name in RANGES; else ParameterError."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ParameterError(
            f"parameter '{name}' of '{model}' must be a number, not {shown(value)}", f"for example {name}=1.0"
        )
    try:
        number = float(value)
    except OverflowError:  # an integer of more than 308 digits
        number = np.inf if value > 0 else -np.inf
    inside = inside or range_of(model, name)
    if not within(number, inside):
        raise ParameterError(
            f"parameter '{name}' of '{model}' is {number:g}, outside {inside}", f"give a value inside {inside}"
        )
    return number


def whole(
    model: str, name: str, value: Any, *, low: float | None = None, high: float | None = None, why: str = ""
) -> int:
    """Return a parameter as an int in [low, high], by default the range of its name in RANGES; else ParameterError."""
    least, most = ends(range_of(model, name))
    low, high = least if low is None else low, most if high is None else high
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ParameterError(
            f"parameter '{name}' of '{model}' must be a whole number, not {shown(value)}",
            f"for example {name}={low}",
        )
    if not low <= value <= high:
        raise ParameterError(
            f"parameter '{name}' of '{model}' is {shown(value)}, outside [{low}, {high}]{why}",
            f"give a whole number from {low} to {high}",
        )
    return int(value)


def vector(
    model: str, name: str, value: ArrayLike, length: int, *, low: float = -np.inf, high: float = np.inf
) -> Vector:
    """Return a parameter as a float array (length,) with entries in [low, high]; else ParameterError."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError, RecursionError):
        array = np.full(0, np.nan)
    if array.shape != (length,) or not np.all(np.isfinite(array)):
        raise ParameterError(
            f"parameter '{name}' of '{model}' must be a list of {length} finite numbers, not {shown(value)}",
            "give one number for each entry",
        )
    if np.any(array < low) or np.any(array > high):
        raise ParameterError(
            f"parameter '{name}' of '{model}' has entries outside [{low:g}, {high:g}]", "correct the entries"
        )
    return array
