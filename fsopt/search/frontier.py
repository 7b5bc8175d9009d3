"""The open nodes of a search, best bound first."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Any

import numpy as np


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
