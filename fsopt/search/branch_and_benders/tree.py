"""The tree of a search, node for node, with the cut that closes each leaf, and its open nodes.

It is a stream of marks in preorder. A node begins with any number of pegs (features fixed by one
cut, which closes their other value: variable fixing by reduced costs) and ends as a leaf, as a branching on one
feature, or as empty where the constraints leave nothing.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fsopt.search.branch_and_benders.cuts import Grid
from fsopt.search.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.typing import Indices, Vector

PEG = -1
LEAF = -2
BRANCH = -3
EMPTY = -4
NODE = -5
"""The marks of the stream: a peg and a leaf, with their cut; a branching, with its feature, before the subtree without
the feature and the one with it; an empty node; and one whose part is elsewhere, or that is open, with its number."""
Mark = tuple[int, int, Sequence[int]]
"""A mark; its cut, the feature j of a branching, or a node, 0 for none; and the features of a peg: j + 1 for a feature
j that is selected, -(j + 1) for one that is not."""
FORGOTTEN = -1
"""Number of a cut that was not kept: the leaf, or each peg, is closed by its own relaxation, solved again."""
COVERED = -2
"""Number of the coverage cut, which the problem says."""


@dataclass
class SelectionTree:
    """The nodes of a search, each with its part of the stream, and the multipliers of all cuts that may be needed.

    Nodes and cuts have numbers; next is that of the next one.
    """

    marks: dict[int, list[Mark]] = field(default_factory=dict)
    cuts: dict[int, tuple[Grid, Vector]] = field(default_factory=dict)
    next: int = 1

    def number(self) -> int:
        """Return a new number, of a node or a cut."""
        self.next += 1
        return self.next - 1

    def mark(self, node: int, mark: int, name: int = 0, features: Sequence[int] = ()) -> None:
        """Add a mark to the part of a node."""
        self.marks.setdefault(node, []).append((mark, name, features))

    def branch(self, node: int, feature: int) -> tuple[int, int]:
        """Record a branching, and return the nodes without and with the feature."""
        without, within = self.number(), self.number()
        for mark, name in ((BRANCH, feature), (NODE, without), (NODE, within)):
            self.mark(node, mark, name)
        return without, within

    def cut_back(self, node: int, kept: int, first: int) -> None:
        """Drop the marks of a node behind the first ``kept`` ones, and all nodes with numbers from ``first`` on."""
        self.marks = {k: marks for k, marks in self.marks.items() if k < first}
        if node in self.marks:
            del self.marks[node][kept:]

    def forget(self, needed: set[int], most: int) -> None:
        """Drop the multipliers that close nothing and are not needed; of the others too where they take over ``most``
        bytes, the oldest first.
        """
        used = {name for marks in self.marks.values() for mark, name, _ in marks if mark in (PEG, LEAF)}
        self.cuts = {name: cut for name, cut in self.cuts.items() if name in used or name in needed}
        size = sum(grid.nbytes for grid, _ in self.cuts.values())
        for name in sorted(set(self.cuts) - needed):
            if size <= most:
                break
            size -= self.cuts.pop(name)[0].nbytes

    def stream(self, opened: Mapping[int, int | None]) -> Iterator[Mark]:
        """Yield the marks from the root, open nodes as leaves with their cuts, or for None as ``NODE``."""
        stack = [(0, iter(self.marks.get(0, ())))]
        while stack:
            number, rest = stack[-1]
            mark = next(rest, None)
            if mark is None:
                stack.pop()
                if number in opened:
                    cut = opened[number]
                    yield (NODE, number, ()) if cut is None else (LEAF, cut, ())
            elif mark[0] == NODE:
                stack.append((mark[1], iter(self.marks.get(mark[1], ()))))
            else:
                yield mark

    def evidence(self, opened: Mapping[int, int | None]) -> tuple[list[int], list[tuple[Grid, Vector]]]:
        """Return the stream as whole numbers, its cuts numbered by their first use, and the multipliers of these.

        A mark is followed by its name, the number of its features, and these.
        """
        used: dict[int, int] = {}
        numbers: list[int] = []
        for mark, name, features in self.stream(opened):
            if mark in (PEG, LEAF) and name != COVERED:
                name = used.setdefault(name, len(used)) if name in self.cuts else FORGOTTEN
            numbers += mark, name, len(features), *features
        return numbers, [self.cuts[name] for name in used]


def marks_of(stream: Sequence[int]) -> Iterator[Mark]:
    """Yield the marks of whole numbers; raises ValueError where they are no marks."""
    place = 0
    while place < len(stream):
        mark, name, count = (*stream[place : place + 3], -1, -1)[:3]
        place += 3 + count
        if mark not in (PEG, LEAF, BRANCH, EMPTY, NODE) or count < 0 or place > len(stream):
            raise ValueError("the tree ends early")
        yield mark, name, stream[place - count : place]


def walk(problem: SelectionProblem, stream: Sequence[int]) -> Iterator[tuple[Partial | None, int, int, Sequence[int]]]:
    """Yield the marks of a tree behind the partial selection of its node, None if empty; ValueError if damaged."""
    pending = [problem.root()]
    for mark, name, features in marks_of(stream):
        if not pending:
            raise ValueError("the tree has parts that belong to no node")
        at = pending.pop()
        if (at is None) != (mark == EMPTY):
            raise ValueError("a node is wrongly marked as empty")
        decided = [name] if mark == BRANCH else [abs(f) - 1 for f in features]
        if at is not None and not set(decided) <= set(at.free.nonzero()[0].tolist() if decided else ()):
            raise ValueError("a feature is not free at its node")
        yield at, mark, name, features
        if at is not None and mark == BRANCH:
            pending += [problem.propagated(at.decided(name, selected=chosen)) for chosen in (True, False)]
        elif at is not None and mark == PEG:
            selected, others = pegged(features)
            pending.append(problem.propagated(at.decided(selected, selected=True).decided(others, selected=False)))
    if pending:
        raise ValueError("the tree ends early")


def pegged(features: Sequence[int]) -> tuple[Indices, Indices]:
    """Return the places of the features that a peg selects, and of those that it does not."""
    found = np.array(features, dtype=np.intp)
    return found[found > 0] - 1, -found[found < 0] - 1


class Frontier(list[Any]):
    """The open nodes of a search by bound and number."""

    @property
    def bound(self) -> float:
        """The smallest bound, infinite without an open node."""
        return self[0].bound if self else np.inf

    def push(self, *nodes: Any) -> None:
        """Add open nodes."""
        for node in nodes:
            insort(self, node, key=lambda one: (one.bound, one.number))

    def replace(self, *nodes: Any) -> None:
        """Make these nodes the open ones."""
        self.clear()
        self.push(*nodes)
