r"""A Pyomo model as arrays: the one form that solvers, class detection and certificates all read.

.. math::

    \min_x \ \tfrac12 x'Px + c'x + c_0 \quad \text{s.t.}\quad
    \ell \le Ax \le u,\quad \underline{x} \le x \le \overline{x},\quad
    G_k x + h_k \in \mathcal{Q}_k,\quad x_j \in \mathbb{Z}\ (j \in \mathcal{I}).

A maximisation is stored as the minimisation of its negative. Each quadratic constraint becomes a
second-order cone where :mod:`fsopt.compiler.cones` can show that it is one, and is listed under
``nonconic`` with the reason where it cannot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp
from pyomo.common.gc_manager import PauseGC
from pyomo.core.expr.numvalue import value
from pyomo.gdp import Disjunction
from pyomo.mpec import Complementarity

from fsopt.compiler.cones import ConeStack, Quadratic, recognise
from fsopt.compiler.expressions import Dot, Terms, read
from fsopt.compiler.lmi import with_semidefinite
from fsopt.compiler.scaling import Scaling, equilibrate
from fsopt.errors import ParameterError
from fsopt.typing import Mask, Vector

UNSUPPORTED = (Complementarity, Disjunction, pyo.LogicalConstraint, pyo.SOSConstraint)
"""Kinds of constraints that the arrays do not hold."""


@dataclass
class Row:
    """A linear constraint as read: its terms and its two sides."""

    constraint: Any
    terms: Terms
    lo: float
    hi: float


@dataclass
class Program:
    """The arrays of a model, and the way back from them to its components.

    Attributes
    ----------
    model, variables, constraints : the Pyomo model, its variables (columns) and linear constraints (rows).
    objective : the active objective component, None if the model has none.
    sign : +1 for a minimisation, -1 for a maximisation stored as its negative.
    P, c, c0 : objective; P is symmetric (n, n).
    A, lo, hi : linear rows (m, n), sorted indices, explicit zeros kept.
    lb, ub, integer : bounds of the columns and which of them are integer.
    cones : the second-order and semidefinite cones.
    nonconic : (constraint or objective name, reason) of everything that has none of these forms.
    general : the constraints among them, as read; ``objective_terms`` : the terms (scale, node) of the objective
        that are neither linear nor quadratic, in the model's own sense.
    unsupported : kind -> name of the first one, of the constraints that the arrays do not hold.
    """

    model: pyo.ConcreteModel
    variables: list[Any]
    column: dict[int, int]
    constraints: list[Any]
    objective: Any
    sign: float
    P: sp.csc_matrix
    c: Vector
    c0: float
    A: sp.csr_matrix
    lo: Vector
    hi: Vector
    lb: Vector
    ub: Vector
    integer: Mask
    cones: ConeStack
    nonconic: list[tuple[str, str]]
    general: list[Row] = field(default_factory=list)
    objective_terms: list[tuple[float, Any]] = field(default_factory=list)
    row_of: dict[int, int] = field(default_factory=dict)
    unsupported: dict[str, str] = field(default_factory=dict)

    @cached_property
    def scaling(self) -> Scaling:
        """The units of the program as it was first read; updates in place do not change them."""
        return equilibrate(self.A, (self.lo, self.hi), (self.lb, self.ub), self.cones, self.P.diagonal(), self.integer)

    @property
    def n(self) -> int:
        """Number of columns."""
        return len(self.c)

    def append(self, rows: Sequence[Row]) -> None:
        """Append linear constraints that were read as new rows."""
        A, lo, hi = build_rows(rows, self.column)
        self.A = sp.vstack([self.A, A], format="csr")
        self.lo, self.hi = np.concatenate([self.lo, lo]), np.concatenate([self.hi, hi])
        for row in rows:
            self.row_of[id(row.constraint)] = len(self.constraints)
            self.constraints.append(row.constraint)
        self.__dict__.pop("scaling", None)

    def objective_at(self, x: Vector) -> float:
        """Return the model's own objective (its own sense) at the point x (n,)."""
        return float(self.sign * (0.5 * x @ (self.P @ x) + self.c @ x + self.c0))

    def values(self) -> Vector:
        """Return the present values (n,) of the model's variables; unset ones count as 0."""
        return np.array([0.0 if v.value is None else float(v.value) for v in self.variables])


def compile_model(model: pyo.ConcreteModel) -> Program:
    """Read a Pyomo model into arrays; nothing is refused here, see ``Program.nonconic`` and ``unsupported``."""
    with PauseGC():
        variables = list(model.component_data_objects(pyo.Var, descend_into=True))
        column = {id(v): j for j, v in enumerate(variables)}
        integer = np.array([not v.is_continuous() for v in variables], dtype=bool)
        lb, ub = read_bounds(variables)
        nonconic: list[tuple[str, str]] = []
        objective, sign, terms = _read_objective(model, column, nonconic)
        rows, curved, general = _read_constraints(model, column, nonconic)
        A, lo, hi = build_rows(rows, column)
        quadratics = [
            Quadratic(r.constraint, r.terms.quadratic, r.terms.affine(column), r.terms.constant, r.lo, r.hi)
            for r in curved
        ]
        cones, refused = recognise(quadratics, lb, ub, len(variables))
        cones = with_semidefinite(cones, model, column)
    names = {name for name, _ in refused}
    return Program(
        model=model,
        variables=variables,
        column=column,
        constraints=[r.constraint for r in rows],
        objective=objective,
        sign=sign,
        P=sign * hessian(terms, len(variables)),
        c=sign * linear_part(terms, column),
        c0=sign * terms.constant,
        A=A,
        lo=lo,
        hi=hi,
        lb=lb,
        ub=ub,
        integer=integer,
        cones=cones,
        nonconic=nonconic + refused,
        general=general + [r for r in curved if r.constraint.name in names],
        objective_terms=terms.nonlinear,
        row_of={id(r.constraint): i for i, r in enumerate(rows)},
        unsupported=_read_unsupported(model),
    )


def _read_unsupported(model: pyo.ConcreteModel) -> dict[str, str]:
    found = {kind: next(model.component_data_objects(kind, active=True, descend_into=True), None) for kind in UNSUPPORTED}
    return {kind.__name__: first.name for kind, first in found.items() if first is not None}


def read_bounds(variables: Sequence[Any]) -> tuple[Vector, Vector]:
    """Return the lower and upper bounds (n,) of variables; a fixed variable has both at its value."""
    bounds = [(v.value, v.value) if v.fixed else v.bounds for v in variables]
    lb = np.array([-np.inf if b[0] is None else b[0] for b in bounds], dtype=float)
    ub = np.array([np.inf if b[1] is None else b[1] for b in bounds], dtype=float)
    return lb, ub


def _read_objective(
    model: pyo.ConcreteModel, column: dict[int, int], nonconic: list[tuple[str, str]]
) -> tuple[Any, float, Terms]:
    objectives = list(model.component_data_objects(pyo.Objective, active=True, descend_into=True))
    if len(objectives) > 1:
        names = ", ".join(o.name for o in objectives)
        raise ParameterError(f"the model has {len(objectives)} active objectives ({names})", "deactivate all but one")
    if not objectives:
        return None, 1.0, Terms()
    objective = objectives[0]
    terms = read(objective.expr, column)
    if terms.nonlinear:
        nonconic.append((objective.name, f"the term {_short(terms.nonlinear[0][1])} is not quadratic"))
    return objective, 1.0 if objective.sense == pyo.minimize else -1.0, terms


def linear_part(terms: Terms, column: dict[int, int]) -> Vector:
    """Return the linear coefficients (n,) of an expression that was read."""
    c = np.zeros(len(column))
    np.add.at(c, np.asarray(terms.columns, dtype=int), terms.values)
    for scale, d in terms.dots:
        np.add.at(c, [column[id(v)] for v in d.variables], scale * d.coefs)
    return c


def hessian(terms: Terms, n: int) -> sp.csc_matrix:
    """Return the symmetric matrix (n, n) of the quadratic part of an expression that was read."""
    if not terms.quadratic:
        return sp.csc_matrix((n, n))
    i, j, v = (np.array(a) for a in zip(*terms.quadratic, strict=True))
    q = sp.coo_matrix((v.astype(float), (i.astype(int), j.astype(int))), shape=(n, n))
    return (q + q.T).tocsc()


def _read_constraints(
    model: pyo.ConcreteModel, column: dict[int, int], nonconic: list[tuple[str, str]]
) -> tuple[list[Row], list[Row], list[Row]]:
    """Return the linear, the quadratic and the other constraints."""
    rows: list[Row] = []
    curved: list[Row] = []
    general: list[Row] = []
    for data in model.component_data_objects(pyo.Constraint, active=True, descend_into=True):
        row = read_row(data, column)
        if row.terms.nonlinear:
            nonconic.append((data.name, f"the term {_short(row.terms.nonlinear[0][1])} is not quadratic"))
            general.append(row)
        elif row.terms.quadratic:
            curved.append(row)
        else:
            rows.append(row)
    return rows, curved, general


def read_row(data: Any, column: dict[int, int]) -> Row:
    """Read one constraint; its sides are those of the body without its constant for a linear one."""
    lower, body, upper = data.to_bounded_expression()
    terms = read(body, column)
    lo = -np.inf if lower is None else value(lower)
    hi = np.inf if upper is None else value(upper)
    return Row(data, terms, lo, hi)


def build_rows(rows: Sequence[Row], column: dict[int, int]) -> tuple[sp.csr_matrix, Vector, Vector]:
    """Return A (m, n), lo and hi (m,) of linear rows; rows that share a tuple of variables are read at once."""
    shared: dict[int, list[tuple[int, float, Dot]]] = {}
    plain_row: list[int] = []
    plain_col: list[int] = []
    plain_val: list[float] = []
    for i, row in enumerate(rows):
        plain_row.extend([i] * len(row.terms.columns))
        plain_col.extend(row.terms.columns)
        plain_val.extend(row.terms.values)
        for scale, d in row.terms.dots:
            shared.setdefault(id(d.variables), []).append((i, scale, d))
    ij = [_dot_entries(listed, column) for listed in shared.values()]
    ij.append((np.array(plain_row, dtype=int), np.array(plain_col, dtype=int), np.array(plain_val, dtype=float)))
    i_all, j_all, v_all = (np.concatenate(part) for part in zip(*ij, strict=True))
    A = sp.coo_matrix((v_all, (i_all, j_all)), shape=(len(rows), len(column))).tocsr()
    A.sum_duplicates()
    shift = np.array([r.terms.constant for r in rows])
    lo = np.array([r.lo for r in rows], dtype=float) - shift
    hi = np.array([r.hi for r in rows], dtype=float) - shift
    return A, lo, hi


def _dot_entries(listed: list[tuple[int, float, Dot]], column: dict[int, int]) -> tuple[Any, Any, Any]:
    """Return row, column and value of the nonzeros of linear forms (row, scale, Dot) over the same variables."""
    columns = np.array([column[id(v)] for v in listed[0][2].variables], dtype=int)
    numbers = np.array([i for i, _, _ in listed])
    block = np.array([d.coefs for _, _, d in listed]) * np.array([scale for _, scale, _ in listed])[:, None]
    if block.all():
        return np.repeat(numbers, len(columns)), np.tile(columns, len(numbers)), block.ravel()
    i, j = np.nonzero(block)
    return numbers[i], columns[j], block[i, j]


def _short(expression: Any) -> str:
    text = str(expression)
    return text if len(text) <= 60 else text[:57] + "..."
