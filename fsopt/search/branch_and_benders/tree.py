"""The tree of a search, node for node, with the cut that closes each leaf, and its open nodes.

It is a stream of whole numbers in preorder. A node begins with any number of pegs (features whose other value one cut
closes) and ends as a leaf, as a branching on one feature, or as empty where the constraints leave nothing.
"""

from __future__ import annotations

import heapq
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
"""The marks of the stream: ``PEG cut count features``, ``LEAF cut``, ``BRANCH feature`` with the subtree without the
feature and the one with it, ``EMPTY``, and ``NODE number`` for a node whose part is elsewhere, or that is open. A
pegged feature j is j + 1 where it is selected, -(j + 1) where it is not."""
FORGOTTEN = -1
"""Number of a cut that was not kept: the leaf is closed by its own relaxation, solved again."""
COVERED = -2
"""Number of the coverage cut, which the problem says."""


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
        """Return the stream from the root, open nodes as leaves with their cuts, or, not ``closed``, as ``NODE``."""
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


def marks_of(stream: Sequence[int]) -> Iterator[tuple[int, int, Sequence[int]]]:
    """Yield the marks of a stream: each with its cut, feature or node (0 for none), and the features of a peg."""
    place = 0
    while place < len(stream):
        mark, here = stream[place], place
        if mark not in (PEG, LEAF, BRANCH, EMPTY, NODE) or len(stream) < place + 3 * (mark == PEG):
            raise ValueError("the tree ends early")
        place += size_of(stream, place)
        if place > len(stream):
            raise ValueError("the tree ends early")
        yield mark, 0 if mark == EMPTY else stream[here + 1], stream[here + 3 : place] if mark == PEG else ()


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


@dataclass
class Frontier:
    """The open nodes of a search, a heap by bound and number."""

    heap: list[tuple[float, int, Any]] = field(default_factory=list)

    def __len__(self) -> int:
        """Return the number of open nodes."""
        return len(self.heap)

    @property
    def bound(self) -> float:
        """The smallest bound, infinite without an open node."""
        return self.heap[0][0] if self.heap else np.inf

    @property
    def best(self) -> Any:
        """The node of the smallest bound."""
        return self.heap[0][2]

    @property
    def nodes(self) -> list[Any]:
        """The nodes by bound and number."""
        return [node for *_, node in sorted(self.heap, key=lambda entry: entry[:2])]

    def push(self, *nodes: Any) -> None:
        """Add open nodes."""
        for node in nodes:
            heapq.heappush(self.heap, (node.bound, node.number, node))

    def pop(self) -> Any:
        """Remove the node of the smallest bound, and return it."""
        return heapq.heappop(self.heap)[2]

    def replace(self, *nodes: Any) -> None:
        """Make these nodes the open ones."""
        self.heap.clear()
        self.push(*nodes)

    def shared(self, idle: int, most: int) -> list[Any]:
        """Remove every k-th node, and return at most so many: each of k tasks gets a share of the best."""
        nodes = self.nodes
        given = nodes[::idle][:most]
        taken = {node.number for node in given}
        self.replace(*(node for node in nodes if node.number not in taken))
        return given
