"""The components of a model: its variables, with bounds and values as arrays, and what no array holds of the others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
import pyomo.environ as pyo
from pyomo.core.base.range import NumericRange
from pyomo.core.expr.visitor import identify_variables
from pyomo.dae import ContinuousSet
from pyomo.network import Port
from pyomo.repn.util import categorize_valid_components

from fsopt.compiler.expressions import ConstraintRow, Terms
from fsopt.compiler.jets import MOST_NESTED, TermReader
from fsopt.errors import FsoptError, ParameterError, said
from fsopt.typing import Mask, Vector

HELD = frozenset(
    {pyo.Block, pyo.BooleanVar, pyo.BuildAction, pyo.BuildCheck, pyo.Constraint, ContinuousSet}
    | {pyo.Expression, pyo.ExternalFunction, pyo.Objective, pyo.Param, Port, pyo.RangeSet, pyo.Set, pyo.SetOf}
    | {pyo.Suffix, pyo.Var}
)
"""Kinds of components that are compiled, or that say nothing alone."""
TRANSFORMATIONS: Mapping[str, str] = {
    "Arc": "apply Pyomo's network.expand_arcs",
    "Complementarity": "use .nl for a file; for a solver big_m=1e4 of misclass-lpec and fsv-lpec, or transform it: "
    "Pyomo's mpec.simple_disjunction and gdp.bigm make an MILP of linear ones, mpec.simple_nonlinear makes an NLP",
    "Disjunct": "put it in a Disjunction, and transform it: Pyomo's gdp.bigm makes an MILP of linear ones",
    "Disjunction": "transform it: Pyomo's gdp.bigm makes an MILP of linear ones",
    "SOSConstraint": "state it by binaries and linear constraints",
    "LogicalConstraint": "transform it: Pyomo's core.logical_to_linear makes linear constraints and binaries",
}
"""Kind without a place in the arrays -> the transformation of Pyomo that replaces it."""
STATE = "state it by linear constraints and integers"
"""What to do about any other kind, and about functions."""
CORRECT = "correct the data of the model"
Listed: TypeAlias = Sequence[tuple[Any, Terms]]
"""Components and their terms."""


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
        if v.fixed and (v.value is None or not math.isfinite(v.value)):
            fault = f"the variable '{v.name}' is fixed at {v.value}, which is no number"
            raise ParameterError(fault, "fix it at a finite number, or unfix it")
        try:
            bounds.append((float(v.value),) * 2 if v.fixed else v.bounds)
        except (ValueError, TypeError) as error:  # of Pyomo, for bounds that are no numbers
            fault = f"'{v.name}' has no bounds that can be read (Pyomo: {said(error)})"
            raise ParameterError(fault, "correct them") from error
    lb = np.array([-np.inf if b[0] is None else b[0] for b in bounds], dtype=float)
    ub = np.array([np.inf if b[1] is None else b[1] for b in bounds], dtype=float)
    return lb, ub


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


@contextmanager
def reading(component: Any, column: Mapping[int, int]) -> Iterator[None]:
    """Raise what Pyomo raises while a component is read as a ParameterError that names it."""
    try:
        yield
    except FsoptError:
        raise
    except RecursionError as error:
        fault = f"'{component.name}' has a term nested more than {MOST_NESTED} deep"
        raise ParameterError(fault, "give its parts variables of their own, defined by equations") from error
    except Exception as error:  # of Pyomo, for a parameter without value, a division by 0 and more: of any kind
        expression = getattr(component, "expr", None)
        used = identify_variables(expression) if isinstance(error, KeyError) and expression is not None else ()
        for variable in used:
            if id(variable) not in column:
                raise ParameterError(
                    f"'{component.name}' has '{variable.name}', which is no variable of the model",
                    "add it to the model, or apply Pyomo's transformation for its kind",
                ) from error
        fault = f"'{component.name}' cannot be read (Pyomo: {said(error)})"
        raise ParameterError(fault, "correct its expression and its parameters") from error


def unsupported_kinds(model: pyo.ConcreteModel) -> dict[str, str]:
    """Return kind -> name of the first active component of each kind that is not compiled."""
    _, others = categorize_valid_components(model, active=True, valid=HELD, targets=set())
    found = {kind.__name__: str(listed[0].name) for kind, listed in others.items()}
    if "Disjunction" in found:  # names its disjuncts
        found.pop("Disjunct", None)
    return dict(sorted(found.items()))


def unsupported_functions(listed: Listed, column: dict[int, int]) -> dict[str, str]:
    """Return function -> first component with it, of those without derivatives here; ParameterError for odd terms."""
    found: dict[str, str] = {}
    for component, node in ((component, node) for component, terms in listed for _, node in terms.nonlinear):
        reader = TermReader(column)
        with reading(component, column):
            reader.operator(node)
        if bad := [number for number in reader.numbers if not math.isfinite(number)]:
            raise ParameterError(f"'{component.name}' has the number {bad[0]}", CORRECT)
        for name in reader.unsupported:
            found.setdefault(name, str(component.name))
    return found


def refuse_infinite(rows: Sequence[ConstraintRow], listed: Listed) -> None:
    """Raise ParameterError for a number that is infinite or none in listed terms, or a bound that no number meets."""
    for component, terms in listed:
        numbers = [terms.constant, *terms.values, *(scale for scale, _ in terms.nonlinear)]
        numbers += [entry for _, _, entry in terms.quadratic]
        numbers += [scale * entry for scale, form in terms.dots for entry in form.coefs.tolist()]
        if bad := [number for number in numbers if not math.isfinite(number)]:
            raise ParameterError(f"'{component.name}' has the coefficient {bad[0]}", CORRECT)
    for row in rows:
        if not (row.lo < math.inf and row.hi > -math.inf):
            raise ParameterError(f"'{row.constraint.name}' has the bounds {row.lo} and {row.hi}", CORRECT)
