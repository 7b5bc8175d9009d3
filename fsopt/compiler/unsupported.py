"""What a Pyomo model can say and no array holds: kinds of components, functions, numbers that are not finite."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import pyomo.environ as pyo
from pyomo.core.base.expression import NamedExpressionData
from pyomo.core.expr import numeric_expr as nodes
from pyomo.core.expr.numvalue import native_numeric_types, value
from pyomo.core.expr.visitor import identify_variables
from pyomo.dae import ContinuousSet
from pyomo.network import Port
from pyomo.repn.util import categorize_valid_components

from fsopt.compiler.expressions import Terms
from fsopt.compiler.forms import Dot
from fsopt.compiler.jets import UNARY
from fsopt.compiler.rows import ConstraintRow
from fsopt.errors import FsoptError, ParameterError, said

HELD = frozenset(
    {pyo.Block, pyo.BooleanVar, pyo.BuildAction, pyo.BuildCheck, pyo.Constraint, ContinuousSet}
    | {pyo.Expression, pyo.ExternalFunction, pyo.Objective, pyo.Param, Port, pyo.RangeSet, pyo.Set, pyo.SetOf}
    | {pyo.Suffix, pyo.Var}
)
"""Kinds of components that are compiled, or that say nothing alone."""
OPERATORS = (
    *(nodes.SumExpression, nodes.MonomialTermExpression, nodes.ProductExpression, nodes.DivisionExpression),
    *(nodes.PowExpression, nodes.NegationExpression, NamedExpressionData),
)
"""Nodes of expressions that are compiled, beside functions of one argument."""
WORDS: Mapping[type, str] = {
    nodes.Expr_ifExpression: "if",
    nodes.MinExpression: "min",
    nodes.MaxExpression: "max",
    nodes.ExternalFunctionExpression: "external function",
}
"""Other nodes -> the word for them."""
TRANSFORMATIONS: Mapping[str, str] = {
    "Arc": "apply Pyomo's network.expand_arcs",
    "Complementarity": "use .nl for a file; for a solver big_m=1e4 of misclass-lpec and fsv-lpec, or transform it: "
    "Pyomo's mpec.simple_disjunction and gdp.bigm make an MILP of linear ones, mpec.simple_nonlinear makes an NLP",
    "Disjunct": "put it in a Disjunction, and transform it: Pyomo's gdp.bigm makes an MILP of linear ones",
    "Disjunction": "transform it: Pyomo's gdp.bigm makes an MILP of linear ones",
    "SOSConstraint": "use .nl, .lp or .mps, or state it by binaries",
    "LogicalConstraint": "transform it: Pyomo's core.logical_to_linear makes linear constraints and binaries",
}
"""Kind without a place in the arrays -> the transformation of Pyomo that replaces it."""
STATE = "state it by linear constraints and integers"
"""What to do about any other kind, and about functions."""
CORRECT = "correct the data of the model"
MOST_NESTED = 200
"""Functions of functions: every reader of an expression, of fsopt or not, takes some calls within calls for each."""


@contextmanager
def reading(component: Any, column: Mapping[int, int]) -> Iterator[None]:
    """Raise what Pyomo raises while a component is read as a ParameterError that names it."""
    try:
        yield
    except FsoptError:
        raise
    except Exception as error:  # of Pyomo, for a parameter without value, a division by 0 and more: of any kind
        expression = getattr(component, "expr", None)
        if isinstance(error, KeyError) and expression is not None:
            refuse_outside(component, expression, column)
        if isinstance(error, RecursionError):
            raise too_deep(component) from error
        fault = f"'{component.name}' cannot be read (Pyomo: {said(error)})"
        raise ParameterError(fault, "correct its expression and its parameters") from error


def refuse_outside(component: Any, expression: Any, column: Mapping[int, int]) -> None:
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


Listed: TypeAlias = Sequence[tuple[Any, Terms]]
"""Components and their terms."""


def unsupported_functions(listed: Listed, column: Mapping[int, int]) -> dict[str, str]:
    """Return function -> name of the first component with it, of those without derivatives here.

    Parameters
    ----------
    column : id of a variable of the model -> its column.

    Raises
    ------
    ParameterError : a variable is none of the model.
    """
    found: dict[str, str] = {}
    known: set[int] = set()
    for component, terms in listed:
        for _, node in terms.nonlinear:
            for leaf in _leaves(node, known):
                if leaf.is_expression_type():
                    found.setdefault(word_of(leaf), str(component.name))
                elif id(leaf) not in column:
                    refuse_outside(component, leaf, column)
    return found


def _leaves(node: Any, known: set[int]) -> Iterator[Any]:
    """Yield the variables of an expression not in ``known`` named expressions, and its nodes not compiled."""
    stack = [node]
    while stack:
        node = stack.pop()
        if node.__class__ in native_numeric_types or not node.is_potentially_variable() or id(node) in known:
            continue
        if isinstance(node, NamedExpressionData):
            known.add(id(node))
        if isinstance(node, OPERATORS) or (isinstance(node, nodes.UnaryFunctionExpression) and node.getname() in UNARY):
            stack.extend(node.args)
        else:
            yield node


def word_of(node: Any) -> str:
    """Return the word for a node of an expression that is not compiled."""
    if isinstance(node, nodes.UnaryFunctionExpression):
        return str(node.getname())
    return next((word for kind, word in WORDS.items() if isinstance(node, kind)), type(node).__name__)


def refuse_infinite(rows: Sequence[ConstraintRow], listed: Listed) -> None:
    """Raise ParameterError for a number of constraints or of the objective that is infinite or no number.

    Parameters
    ----------
    rows : all constraints. A bound that no number meets is refused, too.
    listed : components and their terms.
    """
    for component, terms in listed:
        numbers = _numbers(terms)
        if not math.isfinite(sum(numbers)):  # finite numbers may have an infinite sum: one by one only here
            bad = next((number for number in numbers if not math.isfinite(number)), None)
            if bad is not None:
                raise ParameterError(f"'{component.name}' has the coefficient {bad}", CORRECT)
    for row in rows:
        if not (row.lo < math.inf and row.hi > -math.inf):
            raise ParameterError(f"'{row.constraint.name}' has the bounds {row.lo} and {row.hi}", CORRECT)


def _numbers(terms: Terms) -> list[float]:
    """Return the numbers of terms."""
    inner = [scale * value for scale, form in terms.dots for value in form.coefs.tolist()]
    return [
        *(terms.constant, *terms.values, *inner),
        *(value for _, _, value in terms.quadratic),
        *(scale for scale, _ in terms.nonlinear),
    ]


def check_nesting(listed: Sequence[tuple[Any, Terms]]) -> None:
    """Raise ParameterError for a component (component, terms) with a nonlinear term that no reader takes."""
    known: dict[int, tuple[int, Any]] = {}
    for component, terms in listed:
        for _, node in terms.nonlinear:
            constants: list[float] = []
            if _depth(node, known, constants) > MOST_NESTED:
                raise too_deep(component)
            if bad := [number for number in constants if not math.isfinite(number)]:
                raise ParameterError(f"'{component.name}' has the number {bad[0]}", "correct the data of the model")


def too_deep(component: Any) -> ParameterError:
    """Return the error for a component with a term that no reader takes."""
    fault = f"'{component.name}' has a term nested more than {MOST_NESTED} deep"
    return ParameterError(fault, "give its parts variables of their own, defined by equations")


def _depth(root: Any, known: dict[int, tuple[int, Any]], constants: list[float]) -> int:
    """Return the depth of an expression, and list its constants; ``known`` has the depths of parts by their id."""
    stack = [root]
    while stack:
        node = stack[-1]
        inner = () if id(node) in known else _parts(node, constants)
        if waiting := [part for part in inner if id(part) not in known]:
            stack += waiting
            continue
        stack.pop()
        if id(node) not in known:
            known[id(node)] = 1 + max((known[id(part)][0] for part in inner), default=0), node
    return known[id(root)][0]


def _parts(node: Any, constants: list[float]) -> Sequence[Any]:
    """Return the arguments of a node that have variables; those without are listed by value."""
    if type(node) is Dot or not node.is_expression_type():
        return ()
    parts = []
    for arg in node.args:
        if arg.__class__ in native_numeric_types or not arg.is_potentially_variable():
            constants.append(float(value(arg)))
        else:
            parts.append(arg)
    return parts
