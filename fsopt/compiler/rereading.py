"""Reading parts of a model again into its program, after its parameters, bounds or fixed variables changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler.expressions import read
from fsopt.compiler.program import Program
from fsopt.compiler.rows import ConstraintRow, build_rows, hessian, linear_part, read_row
from fsopt.compiler.unsupported import reading, refuse_infinite
from fsopt.compiler.values import fixed_values, integers, read_bounds
from fsopt.typing import Indices


def reread_bounds(p: Program) -> bool:
    """Read the bounds again; return whether domains and constants are as before, and cones still cones.

    A rotated cone w^2 <= s t is one because of s, t >= 0: a head that cannot be negative is part of the class.
    """
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
    if terms.nonlinear:
        return None
    sign = 1.0 if p.objective.sense == pyo.minimize else -1.0
    if sign != p.sign:
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


def differences(p: Program, new: Program) -> dict[str, Any] | None:
    """Write the numbers of a program read anew into the one that a solver has, and return what differs.

    Returns
    -------
    dict
        What differs, by the names of :class:`fsopt.solvers.interface.Change`; None, and nothing is written, where more
        than numbers differ. Constraints of ``new`` after those of ``p`` stay unread.
    """
    m = len(p.constraints)
    head = new.A[:m]
    same = _same_parts(p, new) and np.array_equal(head.indptr, p.A.indptr) and np.array_equal(head.indices, p.A.indices)
    if not same:
        return None
    entries = np.flatnonzero(head.data != p.A.data)
    rows = np.searchsorted(p.A.indptr, entries, side="right") - 1
    moved = np.flatnonzero((new.lo[:m] != p.lo) | (new.hi[:m] != p.hi))
    rows = np.union1d(rows, moved)
    hessian = bool((new.P != p.P).nnz)
    changed = {
        "objective": hessian or not np.array_equal(p.c, new.c) or p.c0 != new.c0,
        "hessian": hessian,
        "bounds": not (np.array_equal(p.lb, new.lb) and np.array_equal(p.ub, new.ub)),
    }
    found: dict[str, Any] = {name: True for name, differs in changed.items() if differs}
    if len(rows):
        found["rows"] = rows
    p.A.data[entries] = head.data[entries]
    p.lo[:], p.hi[:] = new.lo[:m], new.hi[:m]
    for name in ("c", "c0", "lb", "ub", "objective"):
        setattr(p, name, getattr(new, name))
    if hessian:
        p.P = new.P
    return found


def _same_parts(p: Program, new: Program) -> bool:
    """Return whether the programs have the same components, types and cones, and no terms of another kind."""
    known = (p.sign == new.sign, p.constants == new.constants, len(p.constraints) <= len(new.constraints))
    other = any((p.general, p.objective_terms, p.unsupported, new.general, new.objective_terms, new.unsupported))
    return (
        all(known)
        and not other
        and _identical(p.variables, new.variables)
        and _identical(p.constraints, new.constraints[: len(p.constraints)])
        and np.array_equal(p.integer, new.integer)
        and p.cones.equals(new.cones)
    )


def _identical(first: list[Any], second: list[Any]) -> bool:
    return len(first) == len(second) and all(a is b for a, b in zip(first, second, strict=True))
