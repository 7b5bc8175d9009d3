"""Linear forms with array coefficients."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from pyomo.core.expr.numeric_expr import LinearExpression, MonomialTermExpression, SumExpression

from fsopt.common import clock
from fsopt.typing import Vector


class Dot(LinearExpression):  # type: ignore[misc]
    """The linear form ``coefs'variables`` with its coefficients in one array.

    Pyomo's own expressions have an object for each term, n p objects for a data matrix of n samples and p features.
    Here a form is an array and a tuple of variables that all samples share, and the compiler reads the array
    directly. Every other reader sees a :class:`LinearExpression`: Pyomo dispatches on ``__class__``, and the terms
    are made at their first use.
    """

    __slots__ = ("_terms", "coefs", "variables")

    def __init__(self, coefs: Vector, variables: tuple[Any, ...]) -> None:
        self.coefs = coefs
        self.variables = variables
        self._terms: list[Any] | None = None
        self._nargs = len(variables)  # type: ignore[misc]

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return LinearExpression

    @property
    def _args_(self) -> list[Any]:
        if self._terms is None:
            self._terms = list(map(MonomialTermExpression, zip(self.coefs.tolist(), self.variables, strict=True)))
        return self._terms

    def _trunc_append(self, other: Any) -> SumExpression:
        return SumExpression([self, other])

    def _trunc_extend(self, other: Any) -> SumExpression:
        return SumExpression([self, other])

    def __deepcopy__(self, memo: dict[int, Any]) -> Dot:
        return Dot(self.coefs, copy.deepcopy(self.variables, memo))

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return Dot, (self.coefs, self.variables)


def dot(coefs: ArrayLike, variables: Sequence[Any]) -> Dot:
    """Return the expression ``sum_j coefs[j] * variables[j]``.

    Parameters
    ----------
    coefs : (p,) finite numbers.
    variables : p Pyomo variables; pass the same tuple for every row of a matrix, then it is read only once.

    Raises
    ------
    ValueError : another number of coefficients than variables.
    OutOfTimeError : a time limit passed, and there is no point yet.
    """
    clock.look()
    values = np.asarray(coefs, dtype=float)
    if values.shape != (len(variables),):
        raise ValueError(f"{len(variables)} variables need as many coefficients, not an array {values.shape}")
    return Dot(values, variables if isinstance(variables, tuple) else tuple(variables))
