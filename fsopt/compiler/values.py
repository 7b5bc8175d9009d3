"""The variables of a model: which are integer, bounds, fixed values, and values of indexed components as arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.core.base.range import NumericRange
from pyomo.core.expr.visitor import identify_variables

from fsopt.errors import ParameterError, said
from fsopt.typing import Mask, Vector


def integers(variables: Sequence[pyo.Var]) -> Mask:
    """Return a mask (n,) of the integer variables, without fixed ones; ParameterError for a domain with holes."""
    known: dict[int, bool] = {}
    mask = np.zeros(len(variables), dtype=bool)
    for j, v in enumerate(variables):
        if not v.fixed:
            if id(v.domain) not in known:
                known[id(v.domain)] = _whole(v)
            mask[j] = known[id(v.domain)]
    return mask


def _whole(variable: pyo.Var) -> bool:
    """Return whether the domain of a variable is the whole numbers of an interval, not an interval."""
    ranges = list(variable.domain.ranges())
    numbers = all(isinstance(r, NumericRange) and (math.isfinite(r.start) or r.start < r.end) for r in ranges)
    step = variable.domain.get_interval()[2] if ranges and numbers else None
    if step not in (0, 1) or any(r.start % 1 for r in ranges if step == 1):
        raise ParameterError(
            f"the domain of the variable '{variable.name}' is neither an interval nor the whole numbers of one",
            "give it Reals, Integers or Binary with bounds, and state holes by binaries and constraints",
        )
    return bool(step == 1)


def variables_of(model: pyo.ConcreteModel, objective: pyo.Objective | None) -> list[pyo.Var]:
    """Return the variables of a model; those of a block, then those around it that are in its expressions."""
    own = list(model.component_data_objects(pyo.Var, descend_into=True))
    if model.parent_block() is None:
        return own
    bodies = [data.body for data in model.component_data_objects(pyo.Constraint, active=True, descend_into=True)]
    bodies += [] if objective is None else [objective.expr]
    used = (variable for body in bodies for variable in identify_variables(body))
    return list({id(variable): variable for variable in (*own, *used)}.values())


def read_bounds(variables: Sequence[pyo.Var]) -> tuple[Vector, Vector]:
    """Return the bounds (n,) of variables, both the value of a fixed one; ParameterError where one is no number."""
    bounds = []
    for v in variables:
        try:
            bounds.append((_fixed_value(v),) * 2 if v.fixed else v.bounds)
        except (ValueError, TypeError) as error:  # of Pyomo, for bounds that are no numbers
            fault = f"'{v.name}' has no bounds that can be read (Pyomo: {said(error)})"
            raise ParameterError(fault, "correct them") from error
    lb = np.array([-np.inf if b[0] is None else b[0] for b in bounds], dtype=float)
    ub = np.array([np.inf if b[1] is None else b[1] for b in bounds], dtype=float)
    return lb, ub


def _fixed_value(variable: pyo.Var) -> float:
    if variable.value is None or not math.isfinite(variable.value):
        raise ParameterError(
            f"the variable '{variable.name}' is fixed at {variable.value}, which is no number",
            "fix it at a finite number, or unfix it",
        )
    return float(variable.value)


def fixed_values(variables: Sequence[pyo.Var]) -> dict[int, float]:
    """Return id -> value of the fixed variables."""
    return {id(v): float(v.value) for v in variables if v.fixed and v.value is not None}


def values_of(component: pyo.Var | pyo.Param) -> Vector:
    """Return the present values (k,) of an indexed variable or mutable parameter; nan for a variable without value."""
    return np.array([data.value for data in component.values()], dtype=float)


def store(parameter: pyo.Param, values: Vector | Sequence[float]) -> None:
    """Store k finite values in a parameter with k indices, its domain unchecked; ValueError for other values."""
    new = np.asarray(values, dtype=float)
    if not np.isfinite(new).all():
        raise ValueError(f"a value of the parameter '{parameter.name}' is not finite")
    parameter.store_values(dict(zip(parameter.index_set(), new.tolist(), strict=True)), check=False)


def distance_from(model: pyo.ConcreteModel, variables: Sequence[pyo.Var], x: Vector | None, stated: Any) -> float:
    """Return the largest relative difference of stated values, by name, from those of variables at x (n,), if any."""
    if x is None:
        return math.inf if stated else 0.0
    for variable, value in zip(variables, x.tolist(), strict=True):
        if not variable.fixed:
            variable.set_value(value, skip_validation=True)
    values = {name: np.array(value, dtype=float) for name, value in all_values(model).items()}
    if {name: value.shape for name, value in values.items()} != {k: np.shape(v) for k, v in (stated or {}).items()}:
        return math.inf
    # A text of digits is no number: it cannot be subtracted.
    off = [np.abs(here - stated[name]) / np.maximum(1.0, np.abs(here)) for name, here in values.items()]
    return float(np.max([part.max(initial=0.0) for part in off], initial=0.0))


def all_values(model: pyo.ConcreteModel) -> dict[str, Any]:
    """Return name -> value, or array of values, of every variable component of a model."""
    return {
        v.name: np.array([x.value for x in v.values()]) if v.is_indexed() else v.value
        for v in model.component_objects(pyo.Var)
    }
