"""Shared by the interfaces to Gurobi, MOSEK, Xpress and SCIP: units, bounds, fixed integers, refusals, licences."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fsopt.answers.results import Status
from fsopt.compiler import Program
from fsopt.compiler.rows import hessian, linear_part
from fsopt.errors import SolverError
from fsopt.solvers.interface import Outcome
from fsopt.solvers.powers import row_powers
from fsopt.typing import Indices, Matrix, Vector

RANK = 1e-14
"""Eigenvalues below this fraction of the largest one are rounding errors of 0."""
FAINT = 1e-8
"""Costs below this fraction of the largest one do not count in the factor of the objective."""
Solve: TypeAlias = Callable[[Program], Outcome]
"""Solves another program by the same solver with the same settings."""


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


def lorentz(size: int) -> Vector:
    """Return the diagonal of the quadratic form ``s_1^2 + ... - s_0^2``, which is at most 0 in a second-order cone."""
    return np.concatenate([[-1.0], np.ones(size - 1)])


def factor(P: sp.csc_matrix) -> tuple[Indices, Matrix]:
    """Return columns (k,) and F (r, k) with F'F = P on these columns; P, positive semidefinite, is 0 elsewhere."""
    active = np.flatnonzero(np.diff(P.indptr))
    values, vectors = np.linalg.eigh(P[active][:, active].toarray())
    keep = values > RANK * values[-1]
    return active, np.sqrt(values[keep])[:, None] * vectors[:, keep].T


def bound_kinds(low: Vector, high: Vector) -> list[str]:
    """Return ``fixed``, ``range``, ``upper``, ``lower`` or ``free`` for each pair of bounds."""
    up, down = high < np.inf, low > -np.inf
    return np.select([low == high, up & down, up, down], ["fixed", "range", "upper", "lower"], "free").tolist()  # type: ignore[no-any-return]


def present(bounds: Vector) -> Vector:
    """Return bounds with 0 for the absent ones, which a solver does not read beside the kind."""
    return np.where(np.isfinite(bounds), bounds, 0.0)


@dataclasses.dataclass(frozen=True)
class OneSided:
    """Linear constraints with one right-hand side each: one for every finite bound of a range, one for an equation.

    Attributes
    ----------
    rows : (k,) place in the program of the constraint behind each.
    sense : (k,) ``=``, ``<`` or ``>``.
    right : (k,) right-hand sides.
    """

    rows: Indices
    sense: NDArray[np.str_]
    right: Vector


def one_sided(program: Program) -> OneSided:
    """Split the linear constraints of a program by their finite bounds, for a solver without ranges."""
    low, high = program.lo, program.hi
    equal = low == high
    parts = [(equal, "=", low), (~equal & (high < np.inf), "<", high), (~equal & (low > -np.inf), ">", low)]
    rows = [np.flatnonzero(mask) for mask, _, _ in parts]
    sense = np.repeat([letter for _, letter, _ in parts], [len(k) for k in rows])
    right = np.concatenate([bound[k] for k, (_, _, bound) in zip(rows, parts, strict=True)])
    return OneSided(np.concatenate(rows), sense, right)


@dataclasses.dataclass(frozen=True)
class QuadraticConstraint:
    """A quadratic constraint ``low <= x'Qx + a'x <= high`` that is no cone, in the units of the solver."""

    Q: sp.csr_matrix
    a: Vector
    low: float
    high: float


def quadratic_constraints(program: Program, d: Vector) -> list[QuadraticConstraint]:
    """Return the quadratic constraints of a program that are no cones, for x = d x'; the largest coefficient is 1."""
    D = sp.diags(d)
    found = []
    for row in program.general:
        Q, a = D @ hessian(row.terms, program.n) @ D / 2, d * linear_part(row.terms, program.column)
        largest = np.abs(np.append(Q.data, a)).max(initial=0.0)
        unit = 2.0 ** -np.round(np.log2(largest)) if largest > 0 else 1.0
        low, high = unit * (row.lo - row.terms.constant), unit * (row.hi - row.terms.constant)
        found.append(QuadraticConstraint(sp.csr_matrix(unit * Q), unit * a, low, high))
    return found


# -- programs derived from one ----------------------------------------------------------------------------


def without_objective(program: Program) -> Program:
    """Return the program with the objective 0."""
    return dataclasses.replace(program, P=sp.csc_matrix((program.n, program.n)), c=np.zeros(program.n))


def is_feasible(program: Program, solve: Solve) -> bool:
    """Return whether a program has a point: a ray along which the objective falls does not make it unbounded alone."""
    return solve(without_objective(program)).status is not Status.INFEASIBLE


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


@dataclasses.dataclass(frozen=True)
class Errors:
    """The errors of a commercial solver, each with the next step.

    Attributes
    ----------
    solver : its name as its maker writes it.
    licence : how to get a licence and tell the solver of it.
    """

    solver: str
    licence: str

    def no_licence(self, words: object) -> SolverError:
        """Return the error for a missing or expired licence, with the solver's own words."""
        return SolverError(f"{self.solver} found no valid licence ({words})", self.licence)

    def too_large(self, words: object) -> SolverError:
        """Return the error for a model beyond the licence that comes with the package."""
        return SolverError(
            f"the size-limited licence of {self.solver} does not take a model of this size ({words})", self.licence
        )

    def failed(self, words: object) -> SolverError:
        """Return the error for every other failure."""
        return SolverError(f"{self.solver} failed: {words}", "try another solver")
