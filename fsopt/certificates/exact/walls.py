"""Bounds that rows imply, as branchings whose other side is empty: what a shifted square needs and a file leaves out.

A matrix that rounding made indefinite is shifted where its variables have bounds (Lemma 3b of docs/exact.md). Where
rows bound a variable, as the sum of a portfolio does, a tree has a branching a little beyond that bound: multipliers of
the rows show that nothing is there.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from fsopt.answers.results import Point
from fsopt.certificates.exact.claims import Claim, claim_of
from fsopt.certificates.exact.intervals import Pair, bound_of, repaired_dual
from fsopt.certificates.exact.program import ExactProgram, dual_start
from fsopt.certificates.exact.proofs import Part, dual_data, evidence_data, program_data
from fsopt.certificates.exact.repair import repaired
from fsopt.certificates.exact.trees import without_objective
from fsopt.compiler import Program
from fsopt.errors import NotShownError
from fsopt.typing import Vector
from fsopt.verifier.grammar import written

BEYOND = Fraction(1, 100)
"""Distance of a branching from the bound that rows imply, relative to it: room for the rounding of multipliers."""


def claim_of_walls(name: str, program: Program, pair: Pair, multipliers: Point, gap: float) -> Claim:
    """Return the claim of an optimum whose bound needs bounds of variables that rows imply.

    Parameters
    ----------
    pair : of the program, with a point and without a dual one.

    Raises
    ------
    NotShownError : the program needs none, or the rows imply none, or the bound is not shown with them.
    """
    boxed, nodes, duals = _walled(program, pair.program)
    dual = repaired_dual(boxed, dual_start(program, boxed, multipliers))
    evidence = evidence_data(pair.program, pair.x, nodes, [*duals, dual_data(boxed, dual)])
    return claim_of(name, "optimal", program_data(pair.program), evidence, gap)


def _walled(program: Program, exact: ExactProgram) -> tuple[ExactProgram, list[Any], list[Part]]:
    """Return a program with all bounds that its shift needs, and the tree and multipliers that prove them."""
    nodes: list[Any] = []
    after: list[Any] = []
    duals: list[Part] = []
    for j in exact.shift:
        for sign, ends in ((-1, exact.lb), (1, exact.ub)):
            if ends[j] is not None:
                continue
            value, y = _implied(program, j, sign)
            wall = Fraction(value) + sign * BEYOND * max(Fraction(1), abs(Fraction(value)))
            bare = without_objective(_bounded(exact, j, -sign, wall))
            dual = repaired(bare.duals, dual_start(program, bare, Point(np.zeros(program.n), y, np.zeros(0))))
            if bound_of(bare, dual) <= 0:
                raise NotShownError("the rows imply no bound of a variable in rational numbers")
            nodes.append(["split", j, written(wall)])
            empty = ["empty", len(duals)]
            nodes, after = ([*nodes, empty], after) if sign < 0 else (nodes, [empty, *after])
            duals.append(dual_data(bare, dual))
            exact = _bounded(exact, j, sign, wall)
    if not duals:
        raise NotShownError("no bound of a variable is missing")
    return exact, [*nodes, ["leaf", len(duals)], *after], duals


def _bounded(exact: ExactProgram, j: int, sign: int, value: Fraction) -> ExactProgram:
    """Return a program with an upper bound of a variable, or a lower one."""
    ends = list(exact.ub if sign > 0 else exact.lb)
    ends[j] = value
    return replace(exact, ub=tuple(ends)) if sign > 0 else replace(exact, lb=tuple(ends))


def _implied(program: Program, j: int, sign: int) -> tuple[float, Vector]:
    """Return the largest or smallest value of a variable, and the multipliers (m,) of the rows there, in floats."""
    from scipy.optimize import linprog

    upper, lower = np.isfinite(program.hi), np.isfinite(program.lo)
    cost = np.zeros(program.n)
    cost[j] = -sign
    A = program.A.tocsr()
    found = linprog(
        cost,
        A_ub=sp.vstack([A[upper], -A[lower]]).tocsr(),
        b_ub=np.concatenate([program.hi[upper], -program.lo[lower]]),
        bounds=np.column_stack([program.lb, program.ub]),
        method="highs",
    )
    if found.x is None or len(program.cones):
        raise NotShownError("the quadratic objective is not convex in rational numbers, and a variable has no bounds")
    y = np.zeros(len(program.lo))
    y[upper] += found.ineqlin.marginals[: upper.sum()]
    y[lower] -= found.ineqlin.marginals[upper.sum() :]
    return float(found.x[j]), y
