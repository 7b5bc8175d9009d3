r"""The size up to which a solver's bound of an integer program counts: integer tolerance times the largest big-M.

A solver takes an integer within :math:`\epsilon` of a whole number for it. In :math:`w \le Mt` this allows
:math:`w = \epsilon M` at "t = 0". The *leak* of a program is the largest :math:`\epsilon |a_{ij}|` of an integer
variable in a linear constraint or a cone, relative to the largest term of its continuous variables at unit size, in
balanced units. From a leak of 1 on the integers bind nothing: a relaxation looks integer, the solver ends its branch
with the value of the rounded point, and what it calls a bound excludes the optimum. Within a leak of :data:`LEAK` an
integer moves no continuous variable by more than this fraction of its unit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from fsopt.answers.results import Status
from fsopt.compiler import Program
from fsopt.compiler.scaling import segment_max
from fsopt.solvers.interface import Outcome
from fsopt.typing import Vector

LEAK = 1e-3
"""Largest leak at which a solver's bound counts. False optima of CBC and SCIP were found from 0.03 on."""


def big_m(program: Program) -> float:
    """Return the largest coefficient of an integer variable relative to the continuous terms beside it, 0 without one.

    A constraint on integers alone has no such coefficient: nothing leaks through it.
    """
    p, units = program, program.scaling
    continuous, integer = np.where(p.integer, 0.0, units.columns), p.integer.astype(float)
    whole, rest = _largest_term(p.A, integer), _largest_term(p.A, continuous)
    if len(p.cones):
        G, starts = (units.cone @ p.cones.G).tocsr(), p.cones.starts[:-1]
        whole = np.append(whole, np.maximum.reduceat(_largest_term(G, integer), starts))
        rest = np.append(rest, np.maximum.reduceat(_largest_term(G, continuous), starts))
    both = rest > 0.0
    return float((whole[both] / rest[both]).max(initial=0.0))


def believed(program: Program, outcome: Outcome, solver: str) -> tuple[Outcome, str]:
    """Return an outcome without the claims that a large leak invalidates, and the reason; else as it is, and "".

    Above :data:`LEAK` the solver's bound is dropped, and its words infeasible, without a Farkas vector, and unbounded
    become the status ``none``.
    """
    if not program.integer.any() or (outcome.bound is None and outcome.point is not None):
        return outcome, ""
    largest = big_m(program)
    leak = outcome.integer_tolerance * largest
    if leak <= LEAK:
        return outcome, ""
    reason = (
        f"the bound of {solver} does not count: its integer tolerance {outcome.integer_tolerance:.0e} times a "
        f"coefficient of {largest:.1e} moves a continuous variable by {leak:.0e} of its unit, and {LEAK:g} is safe; "
        "take a smaller big-M, features of size 1 or a solver with a smaller tolerance"
    )
    stated = outcome.status in (Status.INFEASIBLE, Status.UNBOUNDED) and outcome.ray is None
    status, stop = (Status.NONE, "numerical") if stated else (outcome.status, outcome.stop)
    return replace(outcome, bound=None, status=status, stop=stop, message=reason), reason


def _largest_term(matrix: sp.csr_matrix, x: Vector) -> Vector:
    """Return the largest absolute term of each row of ``matrix @ x``."""
    return segment_max(np.abs(matrix.data * x[matrix.indices]), matrix.indptr)
