"""Shared by the interfaces: units, factors, powers of two, programs derived from one, refusals.

Powers of two bring rows and columns of odd size near 1, exactly, and leave all others as they are. Solvers have
absolute tolerances and leave out coefficients below an absolute size: a row of 1e-9 is nothing to them.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import scipy.sparse as sp

from fsopt.compiler import Program
from fsopt.compiler.scaling import segment_max
from fsopt.errors import SolverError
from fsopt.typing import Mask, Vector

FAINT = 1e-8
"""Costs below this fraction of the largest one do not count in the factor of the objective."""
ODD_ROW = 10.0
"""Logarithm from which a row is of odd size: all its coefficients are that far from 1, on the same side."""
ODD_COLUMN = 20.0
"""The same for columns."""
SMALL_MATRIX_VALUE = -38.0
"""Logarithm below which HiGHS leaves a coefficient out, at the smallest value of its option ``small_matrix_value``."""
LARGE = 30.0
"""Logarithm to which a row with a faint coefficient may grow."""


# -- arrays -----------------------------------------------------------------------------------------------


def units(program: Program) -> Vector:
    """Return d (n,) with x = d x' for the x' of the solver: 1 for integer variables, which must stay integer."""
    d: Vector = np.where(program.integer, 1.0, program.scaling.columns)
    return d


def row_factors(program: Program) -> Vector:
    """Return the factors (m,) of the linear constraints; one with integer variables gets a factor at odd sizes only.

    A large M beside a binary variable, which keeps its unit, would shrink the rest of its constraint to nothing.
    """
    mixed = np.flatnonzero(program.A[:, np.flatnonzero(program.integer)].getnnz(axis=1))
    factors = program.scaling.rows.copy()
    factors[mixed] = row_powers(sp.csr_matrix(program.A[mixed] @ sp.diags(units(program))))
    return factors


def objective_factor(program: Program, d: Vector) -> float:
    """Return the power of two that balances the costs of a program in the units x = d x'; 1 without costs.

    It brings the geometric mean of the smallest and the largest cost to about 1. The largest alone would leave small
    costs below the tolerance of the reduced costs where a large penalty weight stands beside them.
    """
    D = sp.diags(d)
    curvature = np.abs((D @ program.P @ D).data).max(initial=0.0)
    sizes = np.append(np.abs(d * program.c), curvature)
    largest = sizes.max(initial=0.0)
    if not 0.0 < largest < np.inf:
        return 1.0
    smallest = sizes[sizes >= FAINT * largest].min()
    return float(2.0 ** -np.round((np.log2(largest) + np.log2(smallest)) / 2))


def scaled_cones(program: Program, d: Vector) -> tuple[sp.csr_matrix, Vector]:
    """Return TGD (k, n) and Th (k,): the cones are TGD x' + Th, in balanced units."""
    T = program.scaling.cone
    return sp.csr_matrix(T @ program.cones.G @ sp.diags(d)), np.asarray(T @ program.cones.h)


# -- powers of two -----------------------------------------------------------------------------------------


def row_powers(A: sp.csr_matrix) -> Vector:
    """Return the factors (m,) of the rows of A."""
    smallest, largest = _ends(A)
    return np.asarray(2.0 ** _shift(smallest, largest, ODD_ROW))


def column_powers(A: sp.csr_matrix, integer: Mask) -> Vector:
    """Return d (n,) with x = d x' for rows A (m, n) in their factors; 1 for an integer column, which stays integer."""
    smallest, largest = _ends(sp.csr_matrix(A.T))
    return np.where(integer, 1.0, 2.0 ** _shift(smallest, largest, ODD_COLUMN))


def raised_powers(A: sp.csr_matrix) -> Vector:
    """Return the factors (m,) of the rows of A in which no coefficient is faint, unless others would become large."""
    smallest, largest = _ends(A)
    shift = _shift(smallest, largest, ODD_ROW)
    return np.asarray(2.0 ** np.maximum(shift, np.minimum(SMALL_MATRIX_VALUE - smallest, LARGE - largest)))


def _ends(A: sp.csr_matrix) -> tuple[Vector, Vector]:
    """Return the rounded logarithms (m,) of the smallest and the largest entry of each row; 0 for an empty one."""
    A = A.copy()
    A.eliminate_zeros()
    sizes = np.round(np.log2(np.abs(A.data)))
    return -segment_max(-sizes, A.indptr), segment_max(sizes, A.indptr)


def _shift(smallest: Vector, largest: Vector, odd: float) -> Vector:
    """Return the shift of logarithms that brings ends of odd size to 0."""
    return np.where(largest < -odd, -largest, np.where(smallest > odd, -smallest, 0.0))


# -- programs derived from one ----------------------------------------------------------------------------


def without_objective(program: Program) -> Program:
    """Return the program with the objective 0."""
    return dataclasses.replace(program, P=sp.csc_matrix((program.n, program.n)), c=np.zeros(program.n))


def elastic_program(program: Program) -> Program:
    r"""Return the convex program of the smallest violation: constraints may be violated at a cost.

    .. math:: \min e't^+ + e't^- + e'r \quad\text{s.t.}\quad \ell \le Ax + R^{-1}(t^+ - t^-) \le u,\quad
              Gx + h + T^{-1} E r \in \mathcal{Q},\quad \underline{x} \le x \le \overline{x},\quad t^\pm, r \ge 0,

    where E puts :math:`r_k` on the head of cone k. It always has a point, and its multipliers of the linear constraints
    are bounded: :math:`|R^{-1}y| \le 1`. A positive optimum shows that the program has no point, and its multipliers y
    and z are a Farkas vector: stationarity in x is that of a program without an objective, and the dual value is
    positive. R and T are the units of the scaling, so that one unit of violation costs the same in every constraint,
    whatever the units of the data.
    """
    p, m = program, program.A.shape[0]
    k, cones = len(p.cones.h), len(p.cones)
    unit = sp.diags(1 / p.scaling.rows)
    heads = sp.csr_matrix((np.ones(cones), (p.cones.starts[:-1], np.arange(cones))), shape=(k, cones))
    moved = p.scaling.uncone @ heads if k else heads
    more = 2 * m + cones
    return _derived(
        p,
        c=np.concatenate([np.zeros(p.n), np.ones(more)]),
        A=sp.csr_matrix(sp.hstack([p.A, unit, -unit, sp.csr_matrix((m, cones))])),
        lb=np.concatenate([p.lb, np.zeros(more)]),
        ub=np.concatenate([p.ub, np.full(more, np.inf)]),
        cones=dataclasses.replace(p.cones, G=sp.csr_matrix(sp.hstack([p.cones.G, sp.csr_matrix((k, 2 * m)), moved]))),
    )


def recession_program(program: Program) -> Program:
    r"""Return the program of the steepest direction in which a convex program's objective falls for ever.

    A convex program with a point is unbounded if there is a direction d with :math:`c'd < 0` along which it stays
    feasible and its objective is linear; without cones only if there is one (Rockafellar, Convex Analysis, section 27):

    .. math:: \min c'd \quad\text{s.t.}\quad Pd = 0,\quad Gd \in \mathcal{Q},\quad
              (Ad)_i \ge 0 \text{ if } \ell_i > -\infty,\ \le 0 \text{ if } u_i < \infty, \text{ and the same of } d.

    The remaining components of d are bounded by the units of the variables: directions may have any length, and without
    these bounds this program would be unbounded itself.
    """
    p = program
    # Pd = 0 needs the nonzero rows of P only.
    flat = sp.csr_matrix(p.P)[np.flatnonzero(np.diff(p.P.indptr))]
    still = np.zeros(flat.shape[0])
    return _derived(
        p,
        c=p.c,
        A=sp.vstack([p.A, flat], format="csr"),
        lo=np.append(np.where(np.isfinite(p.lo), 0.0, -np.inf), still),
        hi=np.append(np.where(np.isfinite(p.hi), 0.0, np.inf), still),
        lb=np.where(np.isfinite(p.lb), 0.0, -p.scaling.columns),
        ub=np.where(np.isfinite(p.ub), 0.0, p.scaling.columns),
        cones=dataclasses.replace(p.cones, h=np.zeros_like(p.cones.h)),
    )


def _derived(program: Program, **arrays: Any) -> Program:
    """Return a continuous minimisation with a linear objective and other arrays in the place of the program's own."""
    n = len(arrays["c"])
    flat = {"P": sp.csc_matrix((n, n)), "c0": 0.0, "sign": 1.0, "integer": np.zeros(n, dtype=bool)}
    return dataclasses.replace(program, **flat, **arrays)


# -- refusals ---------------------------------------------------------------------------------------------


def refuse_other_than_quadratic(program: Program, solver: str) -> None:
    """Raise SolverError for the first constraint, else the objective, that is not quadratic."""
    names = [row.constraint.name for row in program.general if row.terms.nonlinear]
    names += [program.objective_name] if program.objective_terms else []
    if names:
        reason = dict(program.nonconic)[names[0]]
        raise SolverError(
            f"solver '{solver}' does not take '{names[0]}' ({reason})", "use a solver for NLP: ipopt, scip"
        )
