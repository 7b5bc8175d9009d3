"""Pyomo's expressions as SCIP's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pyomo.core.base.expression import NamedExpressionData
from pyomo.core.expr import numeric_expr as pe
from pyomo.core.expr.numvalue import native_numeric_types, value

from fsopt.errors import SolverError
from fsopt.solvers.spec import Package

pyscipopt = Package("pyscipopt")
FUNCTIONS = ("exp", "log", "sqrt", "sin", "cos")
"""Functions of one argument that are translated; all others are refused by name."""


def translate(node: Any, column: Mapping[int, int], terms: Sequence[Any], where: str) -> Any:
    """Return a Pyomo expression as one of SCIP.

    Parameters
    ----------
    node : the expression.
    column : id of a Pyomo variable -> its place in ``terms``.
    terms : (n,) SCIP's expressions for the variables.
    where : name of the constraint or objective, for the message.

    Raises
    ------
    SolverError : SCIP does not have a function in it.
    """
    if node.__class__ in native_numeric_types or not node.is_potentially_variable():
        return float(value(node))
    if not node.is_expression_type():
        return terms[column[id(node)]]
    if isinstance(node, NamedExpressionData):
        return translate(node.expr, column, terms, where)
    found = _apply(node, [translate(argument, column, terms, where) for argument in node.args])
    if found is None:
        name = node.getname() if hasattr(node, "getname") else type(node).__name__
        raise SolverError(
            f"solver 'scip' does not take the function '{name}' in '{where}'",
            f"it takes sums, products, quotients, powers with a constant, abs, {', '.join(FUNCTIONS)}",
        )
    return found


def _apply(node: Any, arguments: list[Any]) -> Any:
    """Return the operator of a node applied to SCIP's arguments, None where SCIP does not have it."""
    if isinstance(node, pe.SumExpression):
        return pyscipopt.quicksum(arguments)
    if isinstance(node, pe.ProductExpression):
        return arguments[0] * arguments[1]
    if isinstance(node, pe.DivisionExpression):
        return arguments[0] / arguments[1]
    if isinstance(node, pe.NegationExpression):
        return -1.0 * arguments[0]
    if isinstance(node, pe.PowExpression):
        return _power(*arguments)
    if isinstance(node, pe.AbsExpression):
        return abs(arguments[0])
    if isinstance(node, pe.UnaryFunctionExpression) and node.getname() in FUNCTIONS:
        return getattr(pyscipopt, node.getname())(arguments[0])
    return None


def _power(base: Any, exponent: Any) -> Any:
    """Return a power with a constant exponent, or one with a positive constant base as an exponential."""
    if isinstance(exponent, float):
        return base**exponent
    if isinstance(base, float) and base > 0:
        return pyscipopt.exp(float(np.log(base)) * exponent)
    return None
