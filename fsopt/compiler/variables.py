"""Variables of a Pyomo model as arrays: bounds, types and the values of the fixed ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyomo.environ as pyo

from fsopt.typing import Mask, Vector


def read_bounds(variables: Sequence[pyo.Var]) -> tuple[Vector, Vector]:
    """Return the lower and upper bounds (n,) of variables; both bounds of a fixed variable are its value."""
    bounds = [(v.value, v.value) if v.fixed else v.bounds for v in variables]
    lb = np.array([-np.inf if b[0] is None else b[0] for b in bounds], dtype=float)
    ub = np.array([np.inf if b[1] is None else b[1] for b in bounds], dtype=float)
    return lb, ub


def read_integer(variables: Sequence[pyo.Var]) -> Mask:
    """Return a mask (n,) of the integer variables; a fixed one is a constant, whatever its domain."""
    return np.array([not (v.fixed or v.is_continuous()) for v in variables], dtype=bool)


def fixed_values(variables: Sequence[pyo.Var]) -> dict[int, float]:
    """Return id -> value of the fixed variables."""
    return {id(v): float(v.value) for v in variables if v.fixed and v.value is not None}
