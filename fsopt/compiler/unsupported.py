"""What a Pyomo model can say and no array holds: kinds of components, functions, numbers that are not finite."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import pyomo.environ as pyo
from pyomo.core.expr.visitor import identify_variables
from pyomo.dae import ContinuousSet
from pyomo.network import Port
from pyomo.repn.util import categorize_valid_components

from fsopt.compiler.expressions import ConstraintRow, Terms
from fsopt.compiler.jets import MOST_NESTED, TermReader
from fsopt.errors import FsoptError, ParameterError, said

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
        if isinstance(error, KeyError) and expression is not None:
            _refuse_outside(component, expression, column)
        fault = f"'{component.name}' cannot be read (Pyomo: {said(error)})"
        raise ParameterError(fault, "correct its expression and its parameters") from error


def _refuse_outside(component: Any, expression: Any, column: Mapping[int, int]) -> None:
    """Raise ParameterError for a variable of an expression that is none of the model."""
    for variable in identify_variables(expression):
        if id(variable) not in column:
            owner = variable.parent_component()  # None of a deleted one
            kind = pyo.Var.__name__ if owner is None else owner.ctype.__name__
            what = "no variable of the model" if kind == pyo.Var.__name__ else f"a {kind}, not a Var"
            raise ParameterError(
                f"'{component.name}' has '{variable.name}', which is {what}",
                "add it to the model, or apply Pyomo's transformation for its kind",
            )


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
