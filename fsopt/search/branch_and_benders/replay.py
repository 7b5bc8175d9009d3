"""The replay of a tree: the bound of each leaf and of each peg from its cut, without a search.

Their minimum bounds the problem. Time is linear in the number of leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from fsopt.search.branch_and_benders.cuts import BendersCut, Grid, bound, make_cut, on_grid, valid_grid
from fsopt.search.branch_and_benders.interior_point import Goal
from fsopt.search.branch_and_benders.nodes import NodeSolver
from fsopt.search.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.search.branch_and_benders.tree import LEAF, NODE, PEG, pegged, walk
from fsopt.typing import Vector

RESOLVED = 1e-9
"""Relative gap to which the relaxation of a leaf without a cut is solved again."""
CutOf = Callable[[int], BendersCut | None]


@dataclass(frozen=True)
class Replayed:
    """What a replay found: a lower bound on the problem, and the numbers of leaves and of relaxations solved again."""

    bound: float
    leaves: int
    solved: int


def cuts_by_name(problem: SelectionProblem, multipliers: Mapping[int, tuple[Grid, Vector]]) -> CutOf:
    """Return a function name -> cut, None for one that was not kept.

    It raises ValueError where multipliers are not dual feasible.
    """

    @cache
    def cut_of(name: int) -> BendersCut | None:
        if name not in multipliers:
            return None
        check_feasible(problem, name, multipliers[name])
        return make_cut(problem, name, *multipliers[name])

    return cut_of


def check_feasible(problem: SelectionProblem, name: int, multipliers: tuple[Grid, Vector]) -> None:
    """Raise ValueError where the multipliers of a cut are not dual feasible."""
    grid, mu = multipliers
    if not valid_grid(grid, problem.y, problem.tops) or not np.isfinite(mu).all() or mu.min(initial=0.0) < 0.0:
        raise ValueError(f"the multipliers of cut {name} are not dual feasible")


def replay(
    problem: SelectionProblem,
    stream: Sequence[int],
    cut_of: CutOf,
    opened: Callable[[int, Partial], float] | None = None,
) -> Replayed:
    """Recompute the bound that a tree proves.

    Parameters
    ----------
    stream : see :mod:`fsopt.search.branch_and_benders.tree`.
    cut_of : see :func:`cuts_by_name`; a leaf whose cut was not kept is bounded by its relaxation, solved again.
    opened : returns the bound of an open node by its number and its partial selection; None refuses open nodes.

    Raises
    ------
    ValueError : the stream is no complete tree, or multipliers are not dual feasible.
    """
    values = [np.inf]
    leaves = solved = 0
    for at, mark, name, features in walk(problem, stream):
        if at is None:
            continue
        if mark == NODE:
            if opened is None:
                raise ValueError("the tree ends early")
            values.append(opened(name, at))
        elif mark == LEAF:
            values.append(leaf_bound(problem, at, cut := cut_of(name)))
            leaves, solved = leaves + 1, solved + (cut is None)
        elif mark == PEG:
            found, again = _pegs(problem, at, cut_of(name), features)
            values += found
            leaves, solved = leaves + len(features), solved + again
    return Replayed(float(min(values)), leaves, solved)


def leaf_bound(problem: SelectionProblem, at: Partial, cut: BendersCut | None) -> float:
    """Return the bound of a node by a cut, None for that of its relaxation; minus infinity where this fails."""
    if cut is None:
        multipliers = relaxed(problem, at)
        if multipliers is None:
            return -np.inf
        cut = make_cut(problem, 0, *multipliers)
    return bound(problem, cut, at).value


def relaxed(problem: SelectionProblem, at: Partial) -> tuple[Grid, Vector] | None:
    """Return the multipliers of the relaxation of a node on the grid, and mu; None where it is not solved."""
    found = NodeSolver(problem).solve(at, None, Goal(RESOLVED))
    grid = None if found is None else on_grid(found.alpha, problem.y, problem.caps)
    return None if found is None or grid is None else (grid, np.maximum(found.mu, 0.0))


def _pegs(
    problem: SelectionProblem, at: Partial, cut: BendersCut | None, features: Sequence[int]
) -> tuple[list[float], int]:
    """Return the bounds with one pegged feature at its other value, and the number of relaxations solved."""
    if cut is not None:
        found, (selected, others) = bound(problem, cut, at), pegged(features)
        return [*found.if_not[selected].tolist(), *found.if_selected[others].tolist()], 0
    nodes = [problem.propagated(at.decided(abs(f) - 1, selected=f < 0)) for f in features]
    return [np.inf if node is None else leaf_bound(problem, node, None) for node in nodes], len(nodes)
