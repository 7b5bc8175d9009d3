r"""Coefficients that are rounding errors of 0, and programs without them, for solvers and for files.

A standardised column with imputed means has entries of 1e-16 where the exact number is 0. Some solvers divide by them
when they scale, and stop at a wrong point. An entry :math:`a_{ij}` of the linear constraints is dust if it is below
:data:`DUST` times the largest entry of its row and below :data:`DUST` times the largest entry of its column, both as it
stands and as :math:`a'_{ij} = r_i a_{ij} d_j` with the factor :math:`r_i` of its row in
:class:`fsopt.compiler.scaling.Scaling` and the larger of the unit and the bound of its variable, :math:`d_j`.

* Columns or rows in other units lose nothing: a feature of size 1e-8 beside one of size 1e8 has large entries for its
  column, and rows and columns that are both badly scaled are balanced.
* A small coefficient of a variable with a large bound stays: 1e-16 times 1e12 is 1e-4. So without k entries a
  constraint on bounded variables, :math:`|x_j| \le d_j`, moves by at most :math:`10^{-13} k` of its largest
  :math:`|a_{ij}| d_j`.
* For a variable without bounds the change is :math:`10^{-13}|x_j| / d_j`, which nothing limits beforehand. Solvers get
  the program without dust, but certificates are computed from the program as it was stated.

Costs, cones and other nonlinear constraints are left as they are.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from pyomo.core.expr.numeric_expr import LinearExpression
from pyomo.environ import ConcreteModel

from fsopt.compiler.program import Program, compile_model
from fsopt.typing import Indices, Mask, Vector

DUST = 1e-13
"""Fraction of the largest entries of row and column below which a coefficient is a rounding error of 0."""


def dust(program: Program) -> Mask:
    """Return which entries of ``program.A.data`` are dust."""
    A = program.A
    sizes = np.abs(A.data)
    found: Mask = (sizes > 0.0) & (sizes < DUST * sizes.max(initial=0.0))
    if not found.any():
        return found
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    found &= _faint(sizes, rows, A.indices)
    if found.any():
        units, bounds = program.scaling, np.maximum(-program.lb, program.ub)
        reach = np.maximum(units.columns, np.where(np.isfinite(bounds), bounds, 0.0))
        found &= _faint(sizes * units.rows[rows] * reach[A.indices], rows, A.indices)
    return found


def _faint(sizes: Vector, rows: Indices, columns: Indices) -> Mask:
    """Return which entries are below :data:`DUST` times the largest of their row, and of their column."""
    largest = [np.zeros(places.max() + 1) for places in (rows, columns)]
    for maxima, places in zip(largest, (rows, columns), strict=True):
        np.maximum.at(maxima, places, sizes)
    faint: Mask = sizes < DUST * np.minimum(largest[0][rows], largest[1][columns])
    return faint


def without_dust(program: Program) -> Program:
    """Return a program with 0 in the place of its dust, and the same units; the program itself if it has none."""
    found = dust(program)
    if not found.any():
        return program
    A = program.A.copy()
    A.data[found] = 0.0
    clean = dataclasses.replace(program, A=A)
    clean.scaling = program.scaling
    return clean


def model_without_dust(model: ConcreteModel) -> ConcreteModel:
    """Return a copy of a model whose linear constraints have no dust; the model itself if it has none."""
    if not dust(compile_model(model)).any():
        return model
    copy = model.clone()
    program = compile_model(copy)
    found, A = dust(program), program.A
    for i in np.unique(np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))[found]).tolist():
        at = np.arange(A.indptr[i], A.indptr[i + 1])
        kept = at[~found[at]]
        variables = [program.variables[j] for j in A.indices[kept].tolist()]
        body = LinearExpression(linear_coefs=A.data[kept].tolist(), linear_vars=variables)
        low, high = (float(bound) if np.isfinite(bound) else None for bound in (program.lo[i], program.hi[i]))
        program.constraints[i].set_value((low, body, high) if low != high else body == low)
    return copy
