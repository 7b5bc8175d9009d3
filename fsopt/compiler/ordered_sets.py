r"""Special ordered sets: of the variables of a set, in their order, one (type 1) or two neighbours (type 2) are not 0.

Beale and Tomlin, Special facilities in a general mathematical programming system for non-convex problems using ordered
sets of variables, in: Lawrence (ed.), OR 69, Tavistock, 1970.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
import pyomo.environ as pyo

from fsopt.errors import ParameterError
from fsopt.typing import Indices, Mask, Vector


@dataclass(frozen=True)
class OrderedSet:
    """A special ordered set.

    Attributes
    ----------
    name : of the constraint in the model.
    kind : 1 or 2, how many neighbours may differ from 0.
    columns : (k,) its variables, in their order.
    """

    name: str
    kind: int
    columns: Indices


def read_ordered_sets(model: pyo.ConcreteModel, column: Mapping[int, int]) -> list[OrderedSet]:
    """Return the active special ordered sets of a model that have variables.

    Raises
    ------
    ParameterError : a set is of another type than 1 and 2, has no order, as two weights are equal, or a variable that
        is none of the model.
    """
    found = []
    for data in model.component_data_objects(pyo.SOSConstraint, active=True, descend_into=True):
        items = sorted(((float(pyo.value(weight)), v) for v, weight in data.get_items()), key=itemgetter(0))
        if reason := _fault(data.level, items, column):
            raise ParameterError(
                f"the special ordered set '{data.name}' has {reason}",
                "give it type 1 or 2, variables of the model and different weights",
            )
        if items:
            found.append(OrderedSet(data.name, int(data.level), np.array([column[id(v)] for _, v in items], dtype=int)))
    return found


def _fault(level: int, items: Sequence[tuple[float, pyo.Var]], column: Mapping[int, int]) -> str:
    """Return what is wrong with a set of pairs of a weight and a variable, empty if nothing is."""
    if level not in (1, 2):
        return f"the type {level}"
    if level == 2 and len({weight for weight, _ in items}) < len(items):
        return "no order, as weights are equal"
    outside = next((v.name for _, v in items if id(v) not in column), "")
    return outside and f"'{outside}', which is no variable of the model"


def outside(sets: Sequence[OrderedSet], sizes: Vector) -> Mask:
    """Return which variables are 0 at the point of the sets that is closest to one with these absolute values (n,)."""
    found = np.zeros(len(sizes), dtype=bool)
    for one in sets:
        width = min(one.kind, len(one.columns))
        sums = np.convolve(sizes[one.columns] ** 2, np.ones(width), mode="valid")
        first = int(np.argmax(sums))
        found[np.delete(one.columns, np.arange(first, first + width))] = True
    return found
