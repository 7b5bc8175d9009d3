"""Values of Pyomo's indexed components as arrays, in the order of their index sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.typing import Vector


def values_of(component: pyo.Var | pyo.Param) -> Vector:
    """Return the present values (k,) of an indexed variable or mutable parameter; nan for a variable without value."""
    return np.array([data.value for data in component.values()], dtype=float)


def store(parameter: pyo.Param, values: Vector | Sequence[float]) -> None:
    """Store k finite values in an indexed mutable parameter with k indices, without Pyomo's check of each domain.

    Raises
    ------
    ValueError : another number of values than indices, or one that is not finite.
    """
    new = np.asarray(values, dtype=float)
    if not np.isfinite(new).all():
        raise ValueError(f"a value of the parameter '{parameter.name}' is not finite")
    parameter.store_values(dict(zip(parameter.index_set(), new.tolist(), strict=True)), check=False)


def all_values(model: pyo.ConcreteModel) -> dict[str, Any]:
    """Return name -> value, or array of values, of every variable component of a model."""
    return {
        v.name: np.array([x.value for x in v.values()]) if v.is_indexed() else v.value
        for v in model.component_objects(pyo.Var)
    }
