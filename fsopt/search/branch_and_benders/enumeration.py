"""All selections whose value is at most a cutoff, and the evidence that there are no others."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

from fsopt.search.branch_and_benders.incumbents import Incumbent
from fsopt.search.branch_and_benders.nodes import NodeHyperplane
from fsopt.search.branch_and_benders.problem import Partial
from fsopt.search.branch_and_benders.search import SelectionSearch
from fsopt.typing import Mask


@dataclass
class Enumeration(SelectionSearch):
    """A search that closes no node below the cutoff but those of one selection, which it keeps.

    Attributes
    ----------
    limit : the cutoff.
    count : the number of selections that are wanted, the best of them; None for all up to the cutoff.
    found : number of the node -> selection and its hyperplane.
    """

    limit: float = np.inf
    count: int | None = None
    found: dict[int, Incumbent] = field(default_factory=dict)

    @property
    def cutoff(self) -> float:
        """The value above which selections are not wanted, less the tolerance."""
        if self.count is None or len(self.found) < self.count:
            return self.limit
        return min(self.limit, heapq.nsmallest(self.count, (one.value for one in self.found.values()))[-1])

    @property
    def bound(self) -> float:
        """A lower bound on the values of the selections that were not found."""
        return min(self.closed, self.frontier.bound)

    def _complete(self, at: Partial) -> Mask | None:
        return None if at.free.any() else at.inside

    def _finish(self, number: int, at: Partial, selection: Mask, near: NodeHyperplane | None) -> None:
        """Keep the selection of a node, or close it by the cut of its support vector machine."""
        before = self.incumbents.best
        self.incumbents.best = None
        value, cut = self.incumbents.solve(selection)
        own = self.incumbents.best
        self.incumbents.best = before
        if own is not None and (value <= self.cutoff or cut is None):
            self.found[number] = own
            return
        assert cut is not None
        lower = cut.constant - float(cut.gains[selection].sum())
        self.closed = min(self.closed, lower)
        self.tree.leaf(number, cut.name)

    def _round(self, at: Partial, hyperplane: NodeHyperplane) -> None:
        """Look for no incumbents: every selection below the cutoff is found in its own node."""
