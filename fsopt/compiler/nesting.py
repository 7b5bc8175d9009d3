"""Expressions that are nested too deeply for their readers, and constants in them that are not finite."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pyomo.core.expr.numvalue import native_numeric_types, value

from fsopt.compiler.expressions import Terms
from fsopt.compiler.forms import Dot
from fsopt.errors import ParameterError

MOST_NESTED = 200
"""Functions of functions: every reader of an expression, of fsopt or not, takes some calls within calls for each."""


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
