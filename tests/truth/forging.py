"""Results that claim a point which no solver returned: a certificate must see through them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyomo.environ as pyo

import fsopt
from fsopt.answers.results import Point


def forge(model: Any, values: Mapping[str, Any]) -> fsopt.SolveResult:
    """Return a result that claims values of a model's variables as its optimum, with their objective as the bound.

    Parameters
    ----------
    values : component name -> its values, in the order of the component.
    """
    session = fsopt.Session(model)
    x: dict[int, float] = {}
    for component in model.component_objects(pyo.Var, active=True):
        claimed = values.get(component.name, [v.value for v in component.values()])  # fixed variables keep their values
        places = session.columns(component).tolist()
        for place, variable, value in zip(places, component.values(), np.atleast_1d(claimed), strict=True):
            x[place] = float(value)
            variable.set_value(x[place], skip_validation=True)
    objective = float(pyo.value(model.objective))
    return fsopt.SolveResult(
        status=fsopt.Status.OPTIMAL,
        stop="optimal",
        objective=objective,
        bound=objective,
        solver=session.spec.name,
        seconds={},
        iterations=0,
        point=Point(np.array([x[place] for place in sorted(x)])),
    )
