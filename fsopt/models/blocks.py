"""Pieces that the models share: index sets, the margin rows, norms, and checks of parameters."""

from __future__ import annotations

from fsopt.typing import Vector

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike, NDArray

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.errors import ParameterError



def new_model(name: str, data: Dataset) -> pyo.ConcreteModel:
    """Return an empty model with the index sets I (samples, 0..n-1) and J (features, 0..p-1)."""
    m = pyo.ConcreteModel(name=name)
    m.I = pyo.RangeSet(0, data.n - 1)
    m.J = pyo.RangeSet(0, data.p - 1)
    return m


def add_classifier(m: pyo.ConcreteModel) -> None:
    """Add the free variables w (J) and b of the plane w'x + b = 0."""
    m.w = pyo.Var(m.J, doc="w, weights")
    m.b = pyo.Var(doc="b, intercept")


def add_margins(m: pyo.ConcreteModel, data: Dataset, equation: str) -> None:
    """Add slacks xi >= 0 and the rows y_i (w'x_i + b) >= 1 - xi_i."""
    m.xi = pyo.Var(m.I, within=pyo.NonNegativeReals, doc="xi, hinge slacks")
    m.margin = margin_rows(m, data.X * data.y[:, None], data.y, equation)


def margin_rows(m: pyo.ConcreteModel, yX: Vector, y: Vector, equation: str) -> pyo.Constraint:
    """Return the rows y_i (w'x_i + b) + xi_i >= 1 for the variables w, b, xi of the model."""
    weights, labels = tuple(m.w.values()), y.tolist()

    def margin(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(yX[i], weights) + labels[i] * m.b + m.xi[i] >= 1

    return pyo.Constraint(m.I, rule=margin, doc=f"{equation} margin: y_i (w'x_i + b) >= 1 - xi_i")


def squares(variables: Sequence[Any]) -> Any:
    """Return the sum of squares of variables."""
    return sum(v**2 for v in variables)


def number(
    model: str, name: str, value: Any, *, low: float = -np.inf, high: float = np.inf, strict: bool = False
) -> float:
    """Return a parameter as a float in [low, high], or in (low, high) where ``strict``; else ParameterError."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ParameterError(
            f"parameter '{name}' of '{model}' must be a number, not {value!r}", f"for example {name}=1.0"
        )
    number = float(value)
    inside = low < number < high if strict else low <= number <= high
    if not inside:
        left, right = ("(", ")") if strict else ("[", "]")
        raise ParameterError(
            f"parameter '{name}' of '{model}' is {number:g}, outside {left}{low:g}, {high:g}{right}",
            f"give a value inside {left}{low:g}, {high:g}{right}",
        )
    return number


def whole(model: str, name: str, value: Any, *, low: int, high: int, why: str = "") -> int:
    """Return a parameter as an int in [low, high]; else ParameterError."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ParameterError(
            f"parameter '{name}' of '{model}' must be a whole number, not {value!r}",
            f"for example {name}={low}",
        )
    if not low <= value <= high:
        raise ParameterError(
            f"parameter '{name}' of '{model}' is {value}, outside [{low}, {high}]{why}",
            f"give a whole number from {low} to {high}",
        )
    return int(value)


def vector(
    model: str, name: str, value: ArrayLike, length: int, *, low: float = -np.inf, high: float = np.inf
) -> Vector:
    """Return a parameter as a float array (length,) with entries in [low, high]; else ParameterError."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        array = np.full(0, np.nan)
    if array.shape != (length,) or not np.all(np.isfinite(array)):
        raise ParameterError(
            f"parameter '{name}' of '{model}' must be a list of {length} finite numbers, not {_brief(value)}",
            "give one number for each entry",
        )
    if np.any(array < low) or np.any(array > high):
        raise ParameterError(
            f"parameter '{name}' of '{model}' has entries outside [{low:g}, {high:g}]", "correct the entries"
        )
    return array


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
