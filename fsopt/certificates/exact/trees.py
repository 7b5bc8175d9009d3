r"""Trees of branch and bound in rational numbers: each leaf with multipliers that are feasible exactly.

The program on the box of a leaf has the dual feasible points of the root, but where a bound appears or vanishes: which
bounds are finite decides the signs of reduced costs, their values enter the bound alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fsopt.answers.results import Point
from fsopt.answers.trees import LEAF, NOTHING, Tree
from fsopt.certificates.exact.forms import ZERO
from fsopt.certificates.exact.intervals import bound_of
from fsopt.certificates.exact.program import ExactProgram, dual_start, limits_of
from fsopt.certificates.exact.repair import repaired
from fsopt.certificates.trees import curved
from fsopt.compiler import Program
from fsopt.errors import NotShownError
from fsopt.verifier.grammar import written

Limits = tuple["Fraction | None", ...]
SHARED = ("shift", "curved", "reduced_costs", "offsets", "dual_size", "duals")
"""Parts of a program that its boxes with bounds in the same places share."""


class Boxes:
    """A program on boxes of its variables."""

    def __init__(self, program: ExactProgram) -> None:
        self.program = program
        self.made: dict[tuple[bool, ...], ExactProgram] = {}

    def at(self, lb: Limits, ub: Limits) -> ExactProgram:
        """Return the program on a box."""
        box = replace(self.program, lb=lb, ub=ub)
        first = self.made.setdefault(tuple(v is None for v in (*lb, *ub)), box)
        # The costs below a shifted square depend on the box itself.
        shared = SHARED[:1] if first.shift else SHARED
        box.__dict__.update({name: getattr(first, name) for name in shared})
        return box


def without_objective(program: ExactProgram) -> ExactProgram:
    """Return the program of a Farkas vector."""
    return replace(program, P={}, c=(ZERO,) * program.n, c0=ZERO)


def tree_evidence(
    program: Program, exact: ExactProgram, tree: Tree, dual_data: Callable[..., Any]
) -> tuple[list[list[Any]], list[Any]]:
    """Return the nodes of a tree and the multipliers of its leaves as plain data, feasible in rational numbers.

    Parameters
    ----------
    dual_data : :func:`fsopt.certificates.exact.proofs.dual_data`.

    Raises
    ------
    NotShownError : a leaf is not closed in rational numbers.
    """
    boxes, bare = Boxes(exact), Boxes(without_objective(exact))
    found: dict[tuple[int, ...], int] = {}
    duals: list[Any] = []
    leaves: list[list[Any]] = []
    failed = 0
    for place, low, high in tree.boxes(program.lb, program.ub, program.integer):
        ray = place != NOTHING and bool(tree.ray[place])
        box = (bare if ray else boxes).at(limits_of(low), limits_of(high)).relaxed
        key = (place, *(v is None for v in (*box.lb, *box.ub)))
        if key not in found:
            try:
                dual = _leaf_dual(program, box, tree, place)
            except NotShownError:
                failed += 1
                continue
            found[key] = len(duals)
            duals.append(dual_data(box, dual))
        leaves.append(["empty" if ray else "leaf", found[key]])
    if failed:
        raise NotShownError(f"{failed} of {tree.leaves} leaves are not closed in rational numbers")
    rest = iter(leaves)
    pairs = zip(tree.column.tolist(), tree.value.tolist(), strict=True)
    return [next(rest) if j == LEAF else ["split", j, written(Fraction(v))] for j, v in pairs], duals


def _leaf_dual(program: Program, box: ExactProgram, tree: Tree, place: int) -> Sequence[Fraction]:
    """Return an exactly feasible dual point near the multipliers of a leaf; of a ray one that excludes all points."""
    if place == NOTHING:
        raise NotShownError("nothing bounds it")
    numbers = tree.multipliers[[place]].toarray()[0]
    m, k = program.A.shape[0], len(program.cones.h)
    x = np.zeros(program.n)
    x[curved(program)] = numbers[m + k :]
    y, z = numbers[:m], numbers[m : m + k]
    if not tree.ray[place]:
        return repaired(box.duals, dual_start(program, box, Point(x, y, z)))
    # A contradiction of the rows alone leaves the multipliers of cones no interior: they are 0.
    linear = box if z.any() else replace(box, cones=(), matrices=())
    for sign in (1.0, -1.0):
        start = dual_start(program, box, Point(x, sign * y, z))[: linear.dual_size]
        try:
            dual = [*repaired(linear.duals, start), *[ZERO] * (box.dual_size - linear.dual_size)]
        except NotShownError:
            continue
        if bound_of(box, dual) > 0:
            return dual
    raise NotShownError("its multipliers exclude nothing")
