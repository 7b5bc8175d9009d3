"""The nodes of the search over cuts, one after another: in numpy, and compiled where numba is installed.

Both do the same arithmetic in the same order, so that a search finds the same whenever it goes on compiled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fsopt.typing import Indices, Matrix, Vector

DONE = -1
"""State of a search: every node is pruned."""
FOUND = -2
"""A selection is found: all features are decided, or no further one fits."""
PAUSED = -3
"""The nodes asked for are visited."""


class Rules(NamedTuple):
    """What the nodes of a search are bounded by; features in the order in which they are decided.

    Attributes
    ----------
    gains, rows : (p, s) of the cuts and (p, k) of the constraints, without that of the knapsack.
    room : (p + 1, k) largest left-hand sides of the features decided that can be completed.
    weights, step, extra : (p,) of the knapsack; for a capacity left c the row of a table is ``c // step + extra``.
    tables : (slots, rows, s) upper bounds on the gains of a completion.
    slot : (p + 1,) of each depth; -1 where its table is not there.
    least : a node with less capacity left has one completion, without any feature more; 0 where that is not known.
    """

    gains: Matrix
    rows: Matrix
    room: Matrix
    weights: Vector
    step: float
    extra: int
    tables: Vector
    slot: Indices
    least: float


class Path(NamedTuple):
    """The partial selections from the root to the node to visit next.

    Attributes
    ----------
    place : (2,) depth of the node, and the number of nodes visited.
    chosen : (p,) features selected.
    held, sides, left : (p + 1, s), (p + 1, k) and (p + 1,) of each depth the cuts of the features selected so far, the
        left-hand sides, and the capacity left.
    bounds, others : (p + 1,) of the node of each depth, and of its sibling; inf where that is pruned or visited.
    """

    place: Indices
    chosen: Vector
    held: Matrix
    sides: Matrix
    left: Vector
    bounds: Vector
    others: Vector

    @classmethod
    def at_root(cls, constants: Vector, rules: Rules, capacity: float, bound: float) -> Path:
        """Return the path to the root, of which the bound is known."""
        p, k = rules.rows.shape
        held, sides = np.zeros((p + 1, len(constants))), np.zeros((p + 1, k))
        path = cls(np.array([0, 1]), np.zeros(p), held, sides, np.zeros(p + 1), *np.full((2, p + 1), np.inf))
        path.held[0] = constants
        path.left[0] = capacity
        path.bounds[0] = bound
        return path


def largest(held: Vector, completion: Vector, cutoff: float) -> float:
    """Return the largest cut of a node, or any number from the cutoff on where that is one."""
    return (held - completion).max()  # type: ignore[no-any-return]


def largest_gains(table: Matrix, gains: Matrix) -> None:
    """Make the row q of a table (rows, s) the sum of the first q gains (k, s), of all where there are fewer."""
    most = min(len(table) - 1, len(gains))
    table[0] = 0.0
    table[1 : most + 1] = np.cumsum(gains[:most], axis=0)
    table[most + 1 :] = table[most]


def leave_out(gains: Matrix, rank: Indices, feature: int) -> None:
    """Leave a feature out of the falling gains (k, s) of those from it on; the last row is not valid any more.

    Parameters
    ----------
    rank : (p, s) places of the features among the falling gains of all.
    """
    place = rank[feature] - (rank[:feature] < rank[feature]).sum(axis=0)
    after = np.arange(len(gains) - 1)[:, None] >= place
    gains[:-1] = np.where(after, gains[1:], gains[:-1])


def advance(path: Path, rules: Rules, cutoff: float, last: int) -> int:
    """Bound both children of a node, go on with the one of smaller bound, and turn back where both are pruned."""
    place, chosen, held, sides, left, bounds, others = path
    gains, rows, room, weights, step, extra, tables, slot, least = rules
    p, depth = len(chosen), place[0]
    free = rows.shape[1] == 0
    while depth < p and left[depth] >= least:
        if place[1] >= last:
            return PAUSED
        if slot[depth + 1] < 0:
            return int(depth + 1)
        table = tables[slot[depth + 1]]
        without = with_feature = np.inf
        if free or (sides[depth] <= room[depth + 1]).all():
            without = largest(held[depth], table[int(left[depth] // step) + extra], cutoff)
        after = left[depth] - weights[depth]
        if after >= 0.0 and (free or (sides[depth] + rows[depth] <= room[depth + 1]).all()):
            with_feature = largest(held[depth] - gains[depth], table[int(after // step) + extra], cutoff)
        place[1] += 2
        first, other = min(without, with_feature), max(without, with_feature)
        if first < cutoff:
            depth += 1
            selected = with_feature <= without
            bounds[depth], others[depth] = first, other if other < cutoff else np.inf
        else:
            while depth > 0 and others[depth] == np.inf:
                depth -= 1
            if depth == 0:
                return DONE
            selected = chosen[depth - 1] == 0.0
            bounds[depth], others[depth] = others[depth], np.inf
        place[0] = depth
        above, share = depth - 1, 1.0 if selected else 0.0
        chosen[above] = share
        held[depth] = held[above] - share * gains[above]
        sides[depth] = sides[above] + share * rows[above]
        left[depth] = left[above] - share * weights[above]
    chosen[depth:] = 0.0
    return FOUND
