"""Reading parts of a model again into its program, after its parameters, bounds or fixed variables changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from operator import attrgetter, is_
from typing import Any, NamedTuple

import numpy as np
import pyomo.environ as pyo
from pyomo.core.base.param import ParamData
from pyomo.core.expr.numeric_expr import MonomialTermExpression
from pyomo.core.expr.numvalue import native_numeric_types

from fsopt.compiler.expressions import Dot, read
from fsopt.compiler.program import Program
from fsopt.compiler.rows import ConstraintRow, build_rows, hessian, linear_part, read_row
from fsopt.compiler.unsupported import HELD, reading, refuse_infinite
from fsopt.compiler.values import fixed_values, integers, read_bounds
from fsopt.typing import Indices

MADE_OF = {
    pyo.Var: attrgetter("_lb", "_ub", "_domain", "_fixed"),
    pyo.Constraint: attrgetter("_active", "_expr"),
    pyo.Objective: attrgetter("_active", "_sense", "expr"),
    pyo.Expression: attrgetter("_args_"),
}
"""Kind of a component -> the objects that its members are made of, by Pyomo's own names: its functions are slower."""


class _Known(NamedTuple):
    """A component as it was read: what it was made of, and id -> parameter in it and its value."""

    component: Any
    parts: list[Any]
    numbers: dict[int, tuple[ParamData, Any]]

    @property
    def changed(self) -> bool:
        """Whether it is not as it was read."""
        same = _identical(self.parts, _parts(self.component))
        return not same or any(data._value != number for data, number in self.numbers.values())


class Reading:
    """What a program was read from, by which a change of the model since then is noticed.

    Pyomo's expressions are not changed in place: a component is as it was read where its members are made of the same
    objects, and the parameters in them have the same values. A thousand of either takes a fifth of a millisecond.
    """

    def __init__(self, model: pyo.ConcreteModel) -> None:
        self.model = model
        self.known = {id(c): _read(c, _parts(c)) for c in self._components()}

    def _components(self) -> list[Any]:
        listed, root = [*self.model.component_objects(active=True)], self.model.model()
        if root is not self.model:  # expressions of a block may have variables of the model around it
            listed += root.component_objects((pyo.Var, pyo.Expression))
        return [c for c in listed if c.ctype in MADE_OF or c.ctype not in HELD]

    def note(self, components: Iterable[Any], added: int = 0) -> None:
        """Take note of components that were read again, or of one that so many constraints were added to."""
        named = list(components)
        if any(c.ctype is pyo.Var for c in named):  # the bounds of all variables are read together
            named += [known.component for known in self.known.values() if known.component.ctype is pyo.Var]
        for c in named:
            known, parts = self.known.get(id(c)), _parts(c)
            if added:  # its other members may have changed since they were read
                old = known or _Known(c, [], {})
                new = _read(c, parts[len(old.parts) :])
                self.known[id(c)] = _Known(c, old.parts + new.parts, new.numbers | old.numbers)
            elif known and _identical(known.parts, parts):
                values = {key: (data, data._value) for key, (data, _) in known.numbers.items()}
                self.known[id(c)] = known._replace(numbers=values)
            elif known:
                self.known[id(c)] = _read(c, parts)

    def changed(self) -> list[Any] | None:
        """Return the components that are not as they were read; None where there are others than those."""
        if {id(c) for c in self._components()} != self.known.keys():
            return None
        return [known.component for known in self.known.values() if known.changed]


def _identical(first: list[Any], second: list[Any]) -> bool:
    return len(first) == len(second) and all(map(is_, first, second))


def _parts(component: Any) -> list[Any]:
    """Return what the members of a component are made of."""
    if component.ctype not in MADE_OF:
        return []
    try:
        members = component._data.values()
        parts = list(chain.from_iterable(map(MADE_OF[component.ctype], members)))
    except AttributeError:  # of a MatrixConstraint, whose arrays may change in place
        return [object()]
    if component.ctype is pyo.Var:
        parts += [v._value for v in members if v._fixed]
    return parts


def _read(component: Any, parts: list[Any]) -> _Known:
    """Return a component that was read with these parts; of a named expression, the parameters are where it is in."""
    mutable = any(parameter.mutable for parameter in component.model().component_objects(pyo.Param))
    numbers, stack = {}, [*parts] if mutable and component.ctype is not pyo.Expression else []
    while stack:
        node = stack.pop()
        if isinstance(node, ParamData):
            numbers[id(node)] = (node, node._value)
        elif type(node) is not Dot and getattr(node, "is_expression_type", bool)():
            stack.extend(part for part in node.args if not _monomial(part))
    return _Known(component, parts, numbers)


def _monomial(node: Any) -> bool:
    """Return whether an expression is a number times a variable, as most terms of long sums are."""
    return type(node) is MonomialTermExpression and type(node._args_[0]) in native_numeric_types


def reread_bounds(p: Program) -> bool:
    """Read the bounds again; return whether domains and constants are as before, and cones still cones."""
    same = np.array_equal(p.integer, integers(p.variables))
    lb, ub = read_bounds(p.variables)
    same &= not p.constants or p.constants == fixed_values(p.variables)
    if len(p.cones):
        before, now = p.cones.heads_at_least(p.lb, p.ub), p.cones.heads_at_least(lb, ub)
        same &= bool(np.all((now >= 0) | (now >= before)))
    p.lb, p.ub = lb, ub
    return bool(same)


def reread_objective(p: Program) -> bool | None:
    """Read the objective again; return whether its quadratic part changed, None where it cannot be read."""
    if p.objective is None or not p.objective.active:
        return None
    with reading(p.objective, p.column):
        terms = read(p.objective.expr, p.column)
    refuse_infinite([], [(p.objective, terms)])
    if terms.nonlinear or (p.objective.sense == pyo.minimize) != (p.sign > 0.0):
        return None
    p.c, p.c0 = p.sign * linear_part(terms, p.column), p.sign * terms.constant
    P = p.sign * hessian(terms, p.n)
    if not (P != p.P).nnz:
        return False
    p.P = P
    return True


def reread_rows(p: Program, rows: list[Any]) -> Indices | None:
    """Write new coefficients and bounds into the program; return its rows, None for another pattern of them."""
    if any(id(data) not in p.row_of or not data.active for data in rows):
        return None
    numbers = np.array([p.row_of[id(data)] for data in rows])
    read_anew = read_rows(p, rows)
    if not all(row.terms.linear for row in read_anew):
        return None
    A, lo, hi = build_rows(read_anew, p.column)
    if not np.isfinite(A.data).all():
        refuse_infinite([], [(row.constraint, row.terms) for row in read_anew])
    places = np.concatenate([np.arange(p.A.indptr[i], p.A.indptr[i + 1]) for i in numbers])
    if len(places) != A.nnz or not np.array_equal(p.A.indices[places], A.indices):
        return None
    p.A = p.A.copy()
    p.A.data[places] = A.data
    p.lo[numbers], p.hi[numbers] = lo, hi
    return numbers


def read_rows(p: Program, rows: Sequence[Any]) -> list[ConstraintRow]:
    """Read constraints; raise ParameterError for one without a value, or with a bound that no number meets."""
    found = []
    for data in rows:
        with reading(data, p.column):
            found.append(read_row(data, p.column))
    refuse_infinite(found, [])
    return found
