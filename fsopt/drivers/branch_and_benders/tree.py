"""The evidence of a search: its tree, node for node, with the cut that closes each leaf; and its replay.

The tree is a stream of whole numbers in preorder. A node begins with any number of pegs (features whose other value
one cut closes) and ends as a leaf, as a branching on one feature, or as empty where the constraints leave nothing.
A replay recomputes the bound of each leaf and of each peg from its cut, without search; their minimum bounds the
problem. Time is linear in the number of leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from fsopt.drivers.branch_and_benders.cuts import Cut, Grid, bound
from fsopt.drivers.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.typing import Indices, Vector

PEG, LEAF, BRANCH, EMPTY = -1, -2, -3, -4
"""The marks of the stream: ``PEG cut count features``, ``LEAF cut``, ``BRANCH feature`` with the subtree without the
feature and the one with it, ``EMPTY``. A pegged feature j is j + 1 where it is selected, -(j + 1) where it is not."""
FORGOTTEN = -1
"""Number of a cut that was not kept: the leaf is closed by its own relaxation, solved again."""


@dataclass
class Tree:
    """The nodes of a search, and the multipliers behind their cuts.

    Attributes
    ----------
    marks : node -> its part of the stream.
    children : node -> the two nodes it was branched to.
    cuts : number -> multipliers on the grid and mu of all cuts that may be needed.
    used : numbers of the cuts that close something.
    next : number of the next node or cut.
    """

    marks: dict[int, list[int]] = field(default_factory=dict)
    children: dict[int, tuple[int, int]] = field(default_factory=dict)
    cuts: dict[int, tuple[Grid, Vector]] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    next: int = 1

    def number(self) -> int:
        """Return a new number, of a node or a cut."""
        self.next += 1
        return self.next - 1

    def peg(self, node: int, cut: int, selected: Indices, not_selected: Indices) -> None:
        """Record the features that a cut decides at a node."""
        features = [*(selected + 1).tolist(), *(-not_selected - 1).tolist()]
        self.marks.setdefault(node, []).extend([PEG, cut, len(features), *features])
        self.used.add(cut)

    def leaf(self, node: int, cut: int) -> None:
        """Record that a cut closes a node."""
        self.marks.setdefault(node, []).extend([LEAF, cut])
        self.used.add(cut)

    def empty(self, node: int) -> None:
        """Record that the constraints leave no selection at a node."""
        self.marks.setdefault(node, []).append(EMPTY)

    def branch(self, node: int, feature: int) -> tuple[int, int]:
        """Record a branching, and return the nodes without and with the feature."""
        self.marks.setdefault(node, []).extend([BRANCH, feature])
        self.children[node] = self.number(), self.number()
        return self.children[node]

    def forget(self, needed: set[int], most: int) -> None:
        """Drop the multipliers that close nothing and are not needed, and more where they take over ``most`` bytes."""
        kept = self.used | needed
        self.cuts = {name: held for name, held in self.cuts.items() if name in kept}
        while sum(grid.nbytes for grid, _ in self.cuts.values()) > most and self.cuts:
            for name in sorted(set(self.cuts) - needed)[: max(1, len(self.cuts) // 8)]:
                del self.cuts[name]
            if not set(self.cuts) - needed:
                break

    def stream(self, open_nodes: Mapping[int, int]) -> Indices:
        """Return the stream; open nodes, node -> cut, are leaves."""
        out: list[int] = []
        stack = [0]
        while stack:
            node = stack.pop()
            out += self.marks.get(node, [])
            if node in self.children:
                stack += reversed(self.children[node])
            elif node in open_nodes:
                out += [LEAF, open_nodes[node]]
        return np.array(out, dtype=np.int64)


@dataclass(frozen=True)
class Replayed:
    """What a replay found: a lower bound on the problem, and the numbers of leaves and of relaxations solved again."""

    bound: float
    leaves: int
    solved: int


def replay(
    problem: SelectionProblem,
    stream: Indices,
    cut_of: Callable[[int], Cut | None],
    relaxation: Callable[[Partial], float],
) -> Replayed:
    """Recompute the bound that a tree proves.

    Parameters
    ----------
    stream : of :meth:`Tree.stream`.
    cut_of : returns the cut of a number, None where it was not kept.
    relaxation : returns the bound of a node by its own relaxation.

    Raises
    ------
    ValueError : the stream is no complete tree.
    """
    at = problem.root()
    pending: list[Partial | None] = [at]
    lowest, leaves, solved, place = np.inf, 0, 0, 0
    stream_list = [int(v) for v in stream]
    while pending:
        at = pending.pop()
        while True:
            mark = stream_list[place] if place < len(stream_list) else 0
            if at is None and mark != EMPTY:
                raise ValueError("a node is not marked as empty")
            if mark == EMPTY:
                if at is not None:
                    raise ValueError("a node marked as empty has selections")
                place += 1
                break
            assert at is not None
            if mark == LEAF:
                cut = cut_of(stream_list[place + 1])
                solved += cut is None
                lowest = min(lowest, relaxation(at) if cut is None else bound(problem, cut, at).value)
                leaves += 1
                place += 2
                break
            if mark == BRANCH:
                feature = _feature(stream_list[place + 1], at)
                pending += [problem.propagated(at.decided(feature, selected=chosen)) for chosen in (True, False)]
                place += 2
                break
            if mark != PEG:
                raise ValueError("the tree ends early")
            count = stream_list[place + 2]
            features = stream_list[place + 3 : place + 3 + count]
            value, again, at = _pegged(problem, at, cut_of(stream_list[place + 1]), features, relaxation)
            lowest, solved, leaves = min(lowest, value), solved + again, leaves + count
            place += 3 + count
    if place != len(stream_list):
        raise ValueError("the tree has parts that belong to no node")
    return Replayed(lowest, leaves, solved)


def _feature(feature: int, at: Partial) -> int:
    if not 0 <= feature < len(at.inside) or not at.free[feature]:
        raise ValueError(f"feature {feature} is not free at its node")
    return feature


def _pegged(
    problem: SelectionProblem,
    at: Partial,
    cut: Cut | None,
    features: list[int],
    relaxation: Callable[[Partial], float],
) -> tuple[float, int, Partial | None]:
    """Return the smallest bound with one pegged feature at its other value, relaxations solved, and what is left."""
    places = [_feature(abs(f) - 1, at) for f in features]
    selected = np.array([j for j, f in zip(places, features, strict=True) if f > 0], dtype=np.intp)
    others = np.array([j for j, f in zip(places, features, strict=True) if f < 0], dtype=np.intp)
    solved = 0
    if cut is not None:
        found = bound(problem, cut, at)
        values = [*found.if_not[selected], *found.if_selected[others]]
    else:
        sides = [(j, f < 0) for j, f in zip(places, features, strict=True)]
        nodes = [problem.propagated(at.decided(j, selected=chosen)) for j, chosen in sides]
        values = [np.inf if node is None else relaxation(node) for node in nodes]
        solved = len(values)
    left = at.decided(selected, selected=True).decided(others, selected=False)
    return float(min(values, default=np.inf)), solved, problem.propagated(left)
