"""All selections beside those of a list: their enumeration, and the replay of its tree."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
from threadpoolctl import threadpool_limits

from fsopt.answers.results import DriverResult
from fsopt.common.clock import deferred_interruption
from fsopt.errors import OutOfTimeError
from fsopt.search.branch_and_benders.cuts import CAPACITY, Grid
from fsopt.search.branch_and_benders.evidence import cuts_by_name, replay
from fsopt.search.branch_and_benders.incumbents import Incumbent
from fsopt.search.branch_and_benders.problem import BranchSettings, Partial, SelectionProblem
from fsopt.search.branch_and_benders.search import Enumeration
from fsopt.search.branch_and_benders.tree import FORGOTTEN, LEAF
from fsopt.typing import Vector

MARGIN = 1e-8
"""Relative margin of the limit for the gap of the SVMs: without a share the optimum itself is within the limit."""
NODES = 2**62
"""Nodes of an enumeration: as many as the time limit allows."""
ENUMERATED = 1e-6
"""Relative optimality gap of the search before an enumeration."""


@dataclass(frozen=True)
class Others:
    """What an enumeration shows of all selections that are not listed.

    Attributes
    ----------
    within, count : share above the optimum, and number of selections, that were asked for.
    bound : a lower bound on their values, recomputed from the cuts of the tree.
    stop, nodes : why the enumeration ended, and its nodes.
    stream : of the tree, see :mod:`fsopt.search.branch_and_benders.tree`; its open nodes are the listed selections.
    cuts : multipliers on the grid (n,) and mu, by their numbers in the stream.
    """

    within: float
    count: int | None
    bound: float
    stop: str
    nodes: int
    stream: Sequence[int] = field(repr=False)
    cuts: Sequence[tuple[Grid, Vector]] = field(repr=False)

    def replayed(self, problem: SelectionProblem, listed: Collection[tuple[int, ...]]) -> float:
        """Return the smallest bound of all leaves by their cuts; ValueError for a cut or leaf that proves none."""

        def listing(_: int, at: Partial) -> float:
            if at.free.any() or tuple(np.flatnonzero(at.inside).tolist()) not in listed:
                raise ValueError("a leaf without a bound is not a selection of the list")
            return np.inf

        return replay(problem, self.stream, cuts_by_name(problem, dict(enumerate(self.cuts))), listing).bound


def limit_of(optimum: float, within: float) -> float:
    """Return the largest value within a share of the optimum."""
    return optimum * (1.0 + within) * (1.0 + MARGIN)


def enumerated(
    problem: SelectionProblem, best: DriverResult, limit: float, count: int | None, end: float
) -> tuple[Enumeration, str]:
    """Return the search for all selections up to a limit, as far as it came, and why it ended."""
    search = Enumeration(problem, BranchSettings(ENUMERATED), limit=limit, count=count)
    search.incumbents.gap = 0.01 * MARGIN
    with threadpool_limits(1), deferred_interruption() as interrupted:
        search.seed(best.point["seeds"][-CAPACITY // 2 :])
        root = problem.root()
        assert root is not None
        search.incumbents.best = None
        search.open_root(root)
        if best.stop != "interrupted":
            with suppress(OutOfTimeError):
                search.solve_root()
                search.run(NODES, lambda: time.perf_counter() < end and not interrupted())
        ended = "interrupted" if interrupted() else "time-limit" if search.frontier else "optimal"
    # A search for the optimum that was interrupted, or ended before its gap was closed, says why.
    return search, ended if best.stop == "optimal" else best.stop


def others_of(
    search: Enumeration, listed: Mapping[int, Incumbent], within: float, count: int | None, ended: str
) -> Others:
    """Return the tree of an enumeration, of which only the listed selections are open."""
    for node in search.frontier:
        search.tree.mark(node.number, LEAF, node.cut.name)
    for unlisted in search.found.keys() - listed.keys():
        search.tree.mark(unlisted, LEAF, FORGOTTEN)
    stream, cuts = search.tree.evidence(dict.fromkeys(listed))
    others = Others(within, count, -np.inf, ended, search.nodes, stream, cuts)
    supports = [tuple(np.flatnonzero(one.selection).tolist()) for one in listed.values()]
    with threadpool_limits(1):
        return replace(others, bound=others.replayed(search.problem, supports))
