r"""A program that was read from a file, as arrays, and the Pyomo model of it.

.. math::

    \min_x \ c'x + c_0 + f_0(x) \quad \text{s.t.}\quad
    \ell_i \le a_i'x + f_i(x) \le u_i,\quad \underline{x} \le x \le \overline{x},\quad
    x_j \in \mathbb{Z}\ (j \in \mathcal{I}).

The variables are ``x[name]`` and the constraints ``row[name]``, by the names of the file, whatever these contain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp
from pyomo.core.base.range import NumericRange
from pyomo.core.expr.relational_expr import EqualityExpression, InequalityExpression, RangedExpression

from fsopt.common.memory import check_size
from fsopt.compiler.expressions import Dot, dot
from fsopt.errors import FileError
from fsopt.typing import Mask, Vector

Terms: TypeAlias = Callable[[Sequence[Any]], Any]
"""Function of the variables that returns the terms of an expression which are not linear."""
Sets: TypeAlias = Sequence[tuple[int, Sequence[int], Sequence[float]]]
"""Special ordered sets: type (1 or 2), places and weights of the variables."""
INFINITE = 1e20
"""Bounds from this size on are absent, as in all of these formats."""
OBJECT = 1000
"""Bytes of a variable or constraint while a model is read and compiled, with some terms: about 300 and 600 as an object
of Pyomo, and the rows and columns of the compiled arrays."""


WORDS = 25
"""Bytes of the words of a text for each of its characters: a word of 5 is a tuple, a text and a number."""


@dataclass
class ReadProgram:
    """The arrays of a file.

    Attributes
    ----------
    name : of the model.
    columns, rows : names of the variables and constraints, in the order of the file.
    maximise : whether the objective is maximised; c and c0 are in the sense of the file.
    c, c0, objective : linear terms, constant and other terms of the objective.
    A, lo, hi : linear terms (m, n) and bounds (m,) of the constraints.
    terms : place of a constraint -> its other terms.
    lb, ub, integer : (n,) bounds of the variables, and a mask of the integer ones.
    sets : the special ordered sets.
    semi : (n,) mask of the semicontinuous and semi-integer variables, which are 0 or between their bounds.
    """

    name: str
    columns: list[str]
    rows: list[str]
    maximise: bool
    c: Vector
    c0: float
    A: sp.csr_matrix
    lo: Vector
    hi: Vector
    lb: Vector
    ub: Vector
    integer: Mask
    sets: Sets = ()
    semi: Mask | None = None
    objective: Terms | None = None
    terms: Mapping[int, Terms] = field(default_factory=dict)


def worded(text: str) -> str:
    """Return a text that is to be read word by word; raises FileError for one whose words take too much memory."""
    check_size(WORDS * len(text), "the words of the file", error=FileError)
    return text


def countable(count: int) -> int:
    """Return a number of variables or constraints of a file; raises FileError before memory is taken for too many."""
    if count < 0:
        raise FileError(f"the file states {count} variables or constraints", "check that it is whole")
    check_size(
        OBJECT * min(count, 10**15),
        f"a model of {count} variables or constraints, as the file states,",
        error=FileError,
    )
    return count


def products(triples: Sequence[tuple[int, int, float]]) -> Terms:
    """Return the terms ``v * x_i * x_j`` of triples (i, j, v)."""
    _refuse_infinite(np.array([v for _, _, v in triples]))
    return lambda x: pyo.quicksum(v * x[i] * x[j] for i, j, v in triples)


def model_of(program: ReadProgram) -> pyo.ConcreteModel:
    """Return the Pyomo model of a program that was read.

    Raises
    ------
    FileError : there is no variable, two variables or two constraints have the same name, a number is not finite, or a
        lower bound is infinite, or an upper one minus infinite.
    """
    p = program
    if not p.columns:
        raise FileError("the file has no variables", "check that it is whole")
    for what, names in (("variables", p.columns), ("constraints", p.rows)):
        if len(set(names)) < len(names):
            twice = Counter(names).most_common(1)[0][0]
            raise FileError(f"two {what} of the file have the name '{twice}'", "give each a name of its own")
    _refuse_infinite(p.c, np.array([p.c0]), p.A.data)
    if any(np.isnan(bounds).any() for bounds in (p.lo, p.hi, p.lb, p.ub)):
        raise FileError("a bound in the file is not a number", "correct the file")
    for names, least, most in ((p.columns, p.lb, p.ub), (p.rows, p.lo, p.hi)):
        if (empty := (least >= INFINITE) | (most <= -INFINITE)).any():
            name = names[int(np.argmax(empty))]
            raise FileError(f"a bound of '{name}' leaves no number: {INFINITE:g} is infinite", "scale the model")
    m = pyo.ConcreteModel(name=p.name or "model")
    m.x = pyo.Var(p.columns)
    x = tuple(m.x.values())
    for variable, low, high in zip(x, _ends(p.lb), _ends(p.ub), strict=True):
        variable.setlb(low)
        variable.setub(high)
    for j in np.flatnonzero(p.integer).tolist():
        x[j].domain = pyo.Integers
    for j in () if p.semi is None else np.flatnonzero(p.semi).tolist():
        _with_zero(x[j])
    places = np.flatnonzero(p.c)
    cost = _body(p.c[places], [x[j] for j in places.tolist()], x, p.objective) + p.c0
    m.objective = pyo.Objective(expr=cost, sense=pyo.maximize if p.maximise else pyo.minimize)
    relations = iter([*map(_relation, _bodies(p, x), _ends(p.lo), _ends(p.hi))])  # here, as Pyomo logs errors of a rule
    m.row = pyo.Constraint(p.rows, rule=lambda m, name: next(relations))
    for kind in {kind for kind, *_ in p.sets}:
        sets = [([x[j] for j in places], list(weights)) for other, places, weights in p.sets if other == kind]
        index = range(len(sets))
        m.add_component(f"sos{kind}", pyo.SOSConstraint(index, rule=lambda m, k, s=sets: s[k], sos=kind))
    return m


def _refuse_infinite(*listed: Vector) -> None:
    if not all(np.all(np.isfinite(part)) for part in listed):
        raise FileError("the file has a number that is not finite", "correct the file")


def _ends(bounds: Vector) -> list[float | None]:
    return [bound if abs(bound) < INFINITE else None for bound in bounds.tolist()]


def _with_zero(variable: pyo.Var) -> None:
    """Give a variable the domain of 0 and its bounds, where 0 is not between them."""
    low, high = variable.bounds
    if (low or 0.0) > 0 or (high is not None and high < 0):
        own = NumericRange(low, high, 0) if variable.is_continuous() else NumericRange(low, high, 1)
        variable.domain = pyo.RangeSet(ranges=(NumericRange(0, 0, 0), own))
        variable.setlb(None)
        variable.setub(None)


def _bodies(p: ReadProgram, x: Sequence[Any]) -> Iterator[Any]:
    """Yield the left-hand sides of the constraints."""
    listed, starts = [x[j] for j in p.A.indices.tolist()], p.A.indptr.tolist()
    for i, (start, end) in enumerate(pairwise(starts)):
        yield _body(p.A.data[start:end], listed[start:end], x, p.terms.get(i))


def _relation(body: Any, low: float | None, high: float | None) -> Any:
    """Return a relation as an object, as Pyomo makes it of a tuple in several steps for each."""
    if low is None or high is None:
        if low is None:
            return InequalityExpression((body, np.inf if high is None else high), False)
        return InequalityExpression((low, body), False)
    return EqualityExpression((body, low)) if low == high else RangedExpression((low, body, high), False)


def _body(values: Vector, variables: Sequence[Any], x: Sequence[Any], terms: Terms | None) -> Any:
    """Return a linear form plus terms; an empty one has the coefficient 0 of the first variable, as Pyomo needs one."""
    found = 0.0 if terms is None else terms(x)
    if isinstance(found, (int, float)):
        return (Dot(values, tuple(variables)) if len(values) else dot([0.0], x[:1])) + found
    return Dot(values, tuple(variables)) + found if len(values) else found
