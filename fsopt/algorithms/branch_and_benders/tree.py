"""The evidence of a search: its tree, node for node, with the cut that closes each leaf; and its replay.

The tree is a stream of whole numbers in preorder. A node begins with any number of pegs (features whose other value
one cut closes) and ends as a leaf, as a branching on one feature, or as empty where the constraints leave nothing.
A replay recomputes the bound of each leaf and of each peg from its cut, without search; their minimum bounds the
problem. Time is linear in the number of leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fsopt.algorithms.branch_and_benders.cuts import BendersCut, Grid, bound
from fsopt.algorithms.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.typing import Indices, Vector

PEG = -1
LEAF = -2
BRANCH = -3
EMPTY = -4
NODE = -5
"""The marks of the stream: ``PEG cut count features``, ``LEAF cut``, ``BRANCH feature`` with the subtree without the
feature and the one with it, ``EMPTY``, and ``NODE number`` for a node whose part is elsewhere, or that is open. A
pegged feature j is j + 1 where it is selected, -(j + 1) where it is not."""
FORGOTTEN = -1
"""Number of a cut that was not kept: the leaf is closed by its own relaxation, solved again."""


@dataclass
class SelectionTree:
    """The nodes of a search, and the multipliers behind their cuts.

    Attributes
    ----------
    marks : node -> its part of the stream.
    cuts : number -> multipliers on the grid and mu of all cuts that may be needed.
    used : numbers of the cuts that close something.
    next : number of the next node or cut.
    """

    marks: dict[int, list[int]] = field(default_factory=dict)
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
        without, with_feature = self.number(), self.number()
        self.marks.setdefault(node, []).extend([BRANCH, feature, NODE, without, NODE, with_feature])
        return without, with_feature

    def cut_back(self, node: int, kept: int, first: int) -> None:
        """Drop the marks of a node behind the first ``kept`` ones, and all nodes with numbers from ``first`` on."""
        self.marks = {k: marks for k, marks in self.marks.items() if k < first}
        if node in self.marks:
            del self.marks[node][kept:]

    def forget(self, needed: set[int], most: int) -> None:
        """Drop the multipliers that close nothing and are not needed; of the others too where they take over ``most``
        bytes, the oldest first.
        """
        self.cuts = {name: cut for name, cut in self.cuts.items() if name in self.used or name in needed}
        size = sum(grid.nbytes for grid, _ in self.cuts.values())
        for name in sorted(set(self.cuts) - needed):
            if size <= most:
                break
            size -= self.cuts.pop(name)[0].nbytes

    def stream(self, open_nodes: Mapping[int, int], *, closed: bool = True) -> list[int]:
        """Return the stream from the root.

        Parameters
        ----------
        open_nodes : node -> cut.
        closed : whether open nodes are leaves with these cuts, or stay marked as ``NODE``.
        """
        out: list[int] = []
        stack = [(0, self.marks.get(0, []), 0)]
        while stack:
            number, marks, place = stack.pop()
            while place < len(marks) and marks[place] != NODE:
                size = size_of(marks, place)
                out += marks[place : place + size]
                place += size
            if place < len(marks):
                child = marks[place + 1]
                stack += [(number, marks, place + 2), (child, self.marks.get(child, []), 0)]
            elif number in open_nodes:
                out += [LEAF, open_nodes[number]] if closed else [NODE, number]
        return out

    def merge(self, other: SelectionTree) -> None:
        """Take over the part of the tree below some nodes that another search made."""
        for node, marks in other.marks.items():
            self.marks.setdefault(node, []).extend(marks)
        self.cuts.update(other.cuts)
        self.used |= other.used


def size_of(stream: Sequence[int], place: int) -> int:
    """Return the length of the mark at a place of a stream; raises ValueError for a negative one."""
    if stream[place] == PEG:
        if stream[place + 2] < 0:
            raise ValueError(f"{stream[place + 2]} features are pegged at a node")
        return 3 + stream[place + 2]
    return 1 if stream[place] == EMPTY else 2


@dataclass(frozen=True)
class Replayed:
    """What a replay found: a lower bound on the problem, and the numbers of leaves and of relaxations solved again."""

    bound: float
    leaves: int
    solved: int


def replay(
    problem: SelectionProblem,
    stream: Sequence[int],
    cut_of: Callable[[int], BendersCut | None],
    relaxation: Callable[[Partial], float],
    opened: Callable[[int, Partial], None] | None = None,
) -> Replayed:
    """Recompute the bound that a tree proves.

    Parameters
    ----------
    stream : of :meth:`SelectionTree.stream`.
    cut_of : returns the cut of a number, None where it was not kept.
    relaxation : returns the bound of a node by its own relaxation.
    opened : called with the number of each open node and its partial selection, which then add nothing to the bound;
        None refuses them.

    Raises
    ------
    ValueError : the stream is no complete tree.
    """
    at = problem.root()
    pending: list[Partial | None] = [at]
    lowest = np.inf
    leaves = solved = place = 0
    while pending:
        at = pending.pop()
        while True:
            mark = stream[place] if place < len(stream) else 0
            if (at is None) != (mark == EMPTY):
                raise ValueError("a node is wrongly marked as empty")
            if mark not in (EMPTY, LEAF, BRANCH, PEG) and (mark != NODE or opened is None):
                raise ValueError("the tree ends early")
            here, place = place, place + size_of(stream, place)
            if at is None:
                break
            if mark == LEAF:
                cut = cut_of(stream[here + 1])
                solved += cut is None
                lowest = min(lowest, relaxation(at) if cut is None else bound(problem, cut, at).value)
                leaves += 1
                break
            if mark == BRANCH:
                feature = _feature(stream[here + 1], at)
                pending += [problem.propagated(at.decided(feature, selected=chosen)) for chosen in (True, False)]
                break
            if mark == NODE and opened is not None:
                opened(stream[here + 1], at)
                break
            features = stream[here + 3 : place]
            value, again, at = _pegged(problem, at, cut_of(stream[here + 1]), features, relaxation)
            lowest = min(lowest, value)
            solved += again
            leaves += len(features)
    if place != len(stream):
        raise ValueError("the tree has parts that belong to no node")
    return Replayed(lowest, leaves, solved)


def _feature(feature: int, at: Partial) -> int:
    if not 0 <= feature < len(at.inside) or not at.free[feature]:
        raise ValueError(f"feature {feature} is not free at its node")
    return feature


def _pegged(
    problem: SelectionProblem,
    at: Partial,
    cut: BendersCut | None,
    features: Sequence[int],
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
