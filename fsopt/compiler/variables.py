"""Variables of a Pyomo model as arrays: bounds, types and the values of the fixed ones."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyomo.environ as pyo
from pyomo.core.expr.visitor import identify_variables

from fsopt.errors import ParameterError, said
from fsopt.typing import Vector


def variables_of(model: pyo.ConcreteModel, objective: pyo.Objective | None) -> list[pyo.Var]:
    """Return the variables of a model; those of a block, then those around it that are in its expressions."""
    own = list(model.component_data_objects(pyo.Var, descend_into=True))
    if model.parent_block() is None:
        return own
    bodies = [data.body for data in model.component_data_objects(pyo.Constraint, active=True, descend_into=True)]
    bodies += [] if objective is None else [objective.expr]
    used = (variable for body in bodies for variable in identify_variables(body))
    sets = model.component_data_objects(pyo.SOSConstraint, active=True, descend_into=True)
    members = (variable for data in sets for variable in data.get_variables())
    return list({id(variable): variable for variable in (*own, *used, *members)}.values())


def read_bounds(variables: Sequence[pyo.Var]) -> tuple[Vector, Vector]:
    """Return the lower and upper bounds (n,) of variables; both bounds of a fixed variable are its value.

    Raises
    ------
    ParameterError : a bound cannot be read, or a fixed variable has no finite value.
    """
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
