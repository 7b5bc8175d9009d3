"""Shared by the interfaces: the factor of the objective, programs derived from one, refusals."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import scipy.sparse as sp

from fsopt.compiler import Program
from fsopt.errors import SolverError

FAINT = 1e-8
"""Costs below this fraction of the largest one do not count in the factor of the objective."""
ODD = 10.0
"""Logarithm from which costs are of odd size; others stay as they are."""


def objective_factor(program: Program) -> float:
    """Return the power of two that balances costs of odd size in the units of the program, else 1.

    It brings the nearest one of the smallest and the largest cost to about 1, as the factors of rows do. Costs on both
    sides of 1 stay: smaller, a large penalty weight would leave the others below the tolerances of the solver.
    """
    d = program.scaling.columns
    D = sp.diags(d)
    curvature = np.abs((D @ program.P @ D).data).max(initial=0.0)
    sizes = np.array([*np.abs(d * program.c), curvature, *(abs(scale) for scale, _ in program.objective_terms)])
    largest = sizes.max(initial=0.0)
    if not 0.0 < largest < np.inf:
        return 1.0
    nearest = np.round(np.clip(0.0, np.log2(sizes[sizes >= FAINT * largest].min()), np.log2(largest)))
    return float(2.0**-nearest) if abs(nearest) >= ODD else 1.0


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
